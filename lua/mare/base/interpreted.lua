-- Calls f(...) while LuaJIT compiles nothing: for code that goes through a tree once. A function
-- of Lua is translated several times as fast so, since traces cost more than they save there.

local function finish(ok, ...)
    jit.on()
    if not ok then error((...), 0) end
    return ...
end

return function(f, ...)
    if not jit.status() then return f(...) end
    jit.off()
    return finish(pcall(f, ...))
end
