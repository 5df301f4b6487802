-- home.lua - where Mare lives, when no launcher has said so: `luajit script.lua` with this tree
-- in package.path. The launcher puts a table of the same shape into package.loaded['bindings.home']
-- before any Lua runs.

local root = debug.getinfo(1, 'S').source:match '^@(.*)/bindings/home%.lua$' or '.'

local function first(paths)
    for _, path in ipairs(paths) do
        local file = io.open(path, 'rb')
        if file then
            file:close()
            return path
        end
    end
    return paths[1]
end

return {
    root = root,
    header = root .. '/core/mare.h',
    library = first{ root .. '/build/libmare.so', root .. '/../../lib/libmare.so.0' },
    interrupted = function() return false end,
    hold = function() end,
    call = xpcall,
}
