-- A short text that is another where a tuning is another one: of sources, defines, options, the
-- arguments' contents and functions, by their code and what they close over: values, functions and
-- plain tables, not objects and modules, whose state is nobody's intention.

local device = require 'bindings.device'
local files = require 'bindings.files'
local host = require 'bindings.host'
local lfs = require 'lfs'
local source = require 'mare.base.source'
local zlib = require 'bindings.zlib'

local digest = {}

local function add(state, text)
    state.crc, state.size = zlib.crc32(state.crc, text, #text), state.size + #text
end

-- Numbers data[first], ...
local function add_numbers(state, data, first, count)
    state.crc, state.size = zlib.crc32_numbers(state.crc, data, first, count), state.size + count
end

local walk

local function is_module(value)
    for _, module in pairs(package.loaded) do
        if module == value then return true end
    end
end

local own = '@' .. host.root .. '/lua/'

local function walk_function(state, f)
    local ok, code = pcall(string.dump, f, 'sd')        -- stripped, always the same
    add(state, ok and code or 'function')
    if debug.getinfo(f, 'S').source:sub(1, #own) == own then return end
    local outer = state.is_closed_over
    state.is_closed_over = true
    for k = 1, math.huge do
        local name, value = debug.getupvalue(f, k)
        if not name then break end
        walk(state, value)
    end
    state.is_closed_over = outer
end

local function walk_table(state, t)
    if t.data and t.count then return add_numbers(state, t.data, 0, t.count) end
    if state.is_closed_over and (getmetatable(t) or is_module(t)) then return end
    local count, keys = #t, {}
    local is_array = type(t[1]) == 'number' and pcall(add_numbers, state, t, 1, count)
    for key in pairs(t) do
        if not (is_array and type(key) == 'number' and key >= 1 and key <= count) then
            keys[#keys + 1] = key
        end
    end
    table.sort(keys, function(a, b)
        return type(a) .. tostring(a) < type(b) .. tostring(b)
    end)
    for _, key in ipairs(keys) do
        walk(state, key)
        walk(state, t[key])
    end
end

-- What is in the memory of a device is told by its type and size alone.
function walk(state, value)
    local kind = type(value)
    add(state, '\n' .. kind .. ' ')
    if kind == 'function' or kind == 'table' then
        local number = state.seen[value]
        if number then return add(state, number) end
        state.visited = state.visited + 1
        state.seen[value] = 'number ' .. state.visited
    end
    if kind == 'function' then return walk_function(state, value) end
    if kind == 'table' and value.handle and value.download then
        return walk(state, ('%s %d'):format(value.type, value.count))
    end
    if kind == 'table' then return walk_table(state, value) end
    if kind == 'number' then return add(state, ('%.17g'):format(value)) end
    if kind == 'string' or kind == 'boolean' then add(state, tostring(value)) end
end

-- Eight digits and the number of bytes that they are of.
function digest.of(value)
    local state = { crc = 0, size = 0, seen = {}, visited = 0 }
    walk(state, value)
    return ('%08x-%d'):format(state.crc, state.size)
end

-- Adds the texts of what a source includes from these folders to a list, each once.
local function add_included(list, text, folders)
    for name in text:gmatch '#%s*include%s*["<]([^">\n]+)' do
        for _, folder in ipairs(folders) do
            local path = folder .. '/' .. name
            local found = not list[path] and files.read(path)
            if found then
                list[path] = found
                add_included(list, found, folders)
            end
        end
    end
end

-- The texts of what a source includes from these folders, by path.
function digest.included(text, folders)
    local list = {}
    add_included(list, text, folders)
    return list
end

local function add_folder(list, folder)
    for name in lfs.dir(folder) do
        local path = folder .. '/' .. name
        local mode = name:sub(1, 1) ~= '.' and lfs.attributes(path, 'mode')
        if mode == 'directory' then add_folder(list, path) end
        if mode == 'file' then list[path:sub(#source.folder + 1)] = files.read(path) end
    end
end

-- Of Mare's own kernels, prelude and version.
function digest.of_mare()
    local list = { version = device.version }
    add_folder(list, source.folder)
    return digest.of(list)
end

return digest
