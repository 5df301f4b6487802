-- garbage.lua - measures the bytes of Lua memory that a loop leaves behind:
-- garbage(loop), where loop() runs it once. LuaJIT's compilation makes garbage
-- too, once an exit from a trace has been taken ten times, so the loop is run
-- until it has been quiet for longer than that. The least of five passes
-- counts: garbage of every launch is in all of them, a late trace is in one.

local quiet_passes, most_passes = 15, 300

local function compiles(loop)
    local busy = false
    local function on_trace() busy = true end
    jit.attach(on_trace, 'trace')
    loop()
    jit.attach(on_trace)
    return busy
end

local function growth(loop)
    collectgarbage()
    collectgarbage()
    collectgarbage 'stop'
    local before = collectgarbage 'count'
    loop()
    local grown = collectgarbage 'count' - before
    collectgarbage 'restart'
    return grown * 1024
end

return function(loop)
    local quiet, passes = 0, 0
    while quiet < quiet_passes do
        quiet = compiles(loop) and 0 or quiet + 1
        passes = passes + 1
        if passes > most_passes then error('the loop is compiled again and again', 2) end
    end
    local least = math.huge
    for _ = 1, 5 do least = math.min(least, growth(loop)) end
    return least
end
