-- digest.lua - makes a short text by which the results of a tuning are recognised. It is the CRC-32
-- and the size of sources, defines, options and arguments. One change of up to 32 bits in a row
-- always changes it; of other changes that keep the size one in 2^32 does not, and then old times
-- are taken for those of the new source. Shapes are chosen by times, but change no result of a run.
-- Each value adds its kind and then its contents. A function adds its code and the values that it
-- closes over; a buffer adds its type and size, but not its contents.
--
-- Objects and modules that a function closes over (tables with a metatable, and those in
-- package.loaded) are left out, since their state changes from run to run.

local buffer = require 'bindings.buffer'
local device = require 'bindings.device'
local files = require 'bindings.files'
local home = require 'bindings.home'
local host_array = require 'bindings.host_array'
local folders = require 'bindings.folders'
local posix = require 'bindings.posix'
local source = require 'mare.base.source'
local zlib = require 'bindings.zlib'

local digest = {}

local Digest = {}
Digest.__index = Digest

local function new()
    return setmetatable({ crc = 0, size = 0, seen = {}, visited = 0 }, Digest)
end

function Digest:add(text)
    self.crc, self.size = zlib.crc32(self.crc, text, #text), self.size + #text
end

-- Adds data[first], data[first + 1], ... as doubles. If one of them is not a number, raises an
-- error and adds nothing.
function Digest:add_numbers(data, first, count)
    self.crc, self.size = zlib.crc32_numbers(self.crc, data, first, count), self.size + count
end

local function is_module(value)
    for _, module in pairs(package.loaded) do
        if module == value then return true end
    end
end

local own = '@' .. home.root .. '/lua/'

-- Of Mare's own functions only the code is added: of_mare() covers the modules they close over.
function Digest:add_function(f)
    local ok, code = pcall(string.dump, f, 'sd')        -- stripped and deterministic
    self:add(ok and code or 'function')
    if debug.getinfo(f, 'S').source:sub(1, #own) == own then return end
    local outer = self.is_closed_over
    self.is_closed_over = true
    for k = 1, math.huge do
        local name, value = debug.getupvalue(f, k)
        if not name then break end
        self:add_value(value)
    end
    self.is_closed_over = outer
end

-- Returns the keys in a deterministic order, without 1 to `count`.
local function sorted_keys(t, count)
    local keys = {}
    for key in pairs(t) do
        if not (type(key) == 'number' and key >= 1 and key <= count) then keys[#keys + 1] = key end
    end
    table.sort(keys, function(a, b)
        return type(a) .. tostring(a) < type(b) .. tostring(b)
    end)
    return keys
end

-- Adds an array of numbers in one call, and the rest of the table key by key.
function Digest:add_table(t)
    if rawget(t, 'data') and rawget(t, 'count') then return self:add_numbers(t.data, 0, t.count) end
    if self.is_closed_over and (getmetatable(t) or is_module(t)) then return end
    local is_array = type(t[1]) == 'number' and pcall(self.add_numbers, self, t, 1, #t)
    for _, key in ipairs(sorted_keys(t, is_array and #t or 0)) do
        self:add_value(key)
        self:add_value(t[key])
    end
end

-- Returns whether a table or function was added before; then its number is added instead.
function Digest:is_known(value)
    local number = self.seen[value]
    if number then
        self:add(number)
        return true
    end
    self.visited = self.visited + 1
    self.seen[value] = 'number ' .. self.visited
end

local adders = {
    string = Digest.add,
    boolean = function(self, value) self:add(tostring(value)) end,
    number = function(self, value) self:add(('%.17g'):format(value)) end,
    ['function'] = function(self, f)
        if not self:is_known(f) then self:add_function(f) end
    end,
    table = function(self, t)
        if self:is_known(t) then return end
        if buffer.is(t) then return self:add_value(('%s %d'):format(t.type, t.count)) end
        self:add_table(t)
    end,
}

function Digest:add_value(value)
    local kind = type(value)
    if host_array.is(value) then value, kind = { data = value, count = value.count }, 'table' end
    self:add('\n' .. kind .. ' ')
    if adders[kind] then adders[kind](self, value) end
end

-- Returns eight digits and the number of bytes that they cover.
function digest.of(value)
    local state = new()
    state:add_value(value)
    return ('%08x-%d'):format(state.crc, state.size)
end

-- Adds the texts that a source includes from these folders to a list, each once.
local function add_included(list, text, places)
    for name in text:gmatch '#%s*include%s*["<]([^">\n]+)' do
        for _, folder in ipairs(places) do
            local path = folder .. '/' .. name
            local found = not list[path] and files.read(path)
            if found then
                list[path] = found
                add_included(list, found, places)
            end
        end
    end
end

-- Returns the texts that a source includes from these folders, by path.
function digest.included(text, places)
    local list = {}
    add_included(list, text, places)
    return list
end

local function add_folder(list, path)
    for _, name in ipairs(folders.names(path)) do
        local inner = path .. '/' .. name
        local status = name:sub(1, 1) ~= '.' and posix.status(inner) or {}
        if status.is_folder then add_folder(list, inner) end
        if status.is_file then list[inner:sub(#source.folder + 1)] = files.read(inner) end
    end
end

-- Returns the digest of Mare's own kernels, prelude and version.
function digest.of_mare()
    local list = { version = device.version }
    add_folder(list, source.folder)
    return digest.of(list)
end

return digest
