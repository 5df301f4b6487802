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

-- The name of the library that goes with the header, which has its number.
local function installed(header)
    local file = io.open(header, 'rb')
    local number = file and file:read '*a':match 'MARE_API_VERSION = (%d+)'
    if file then file:close() end
    return root .. '/../../lib/libmare.so.' .. (number or '')
end

local header = root .. '/core/mare.h'

return {
    root = root,
    header = header,
    library = first{ root .. '/build/libmare.so', installed(header) },
    interrupted = function() return false end,
    hold = function() end,
    call = xpcall,
}
