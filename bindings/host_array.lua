-- host_array.lua - numbers on the host that nobody reads past their ends: what a download
-- returns, and what a field and pinned memory hold in `data`. x[i] counts from 0, and an index that
-- is none is an error. The numbers are frozen, except those of pinned memory. x:pointer() is the C
-- array, without checks and for C functions; x:totable() is a Lua array.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local C = require('bindings.ffi').C

local M = {}
local methods = {}
local contents = setmetatable({}, { __mode = 'k' })    -- { data, type, label, ... } of each

local function refuse(self, key)
    errors.argument("array '%s': element %s: it has %d, from 0", contents[self].label,
        tostring(key), self.count)
end

-- LuaJIT compiles x[i] in a loop to comparisons of whole numbers, hence the 32 bits of the
-- count: a C array of LuaJIT has less than 2 GiB. LuaJIT starts no trace at a function with
-- `...`: it would give up on this one after some refusals, and then never compile a loop that
-- calls it, which is 70 times as slow.
local function index(self, key, ...)     -- luacheck: no unused args
    if type(key) == 'number' then
        if key >= 0 and key < self.count and key % 1 == 0 then return self.address[key] end
        refuse(self, key)
    end
    if key == 'type' or key == 'label' then return contents[self][key] end
    return methods[key]
end

local function freeze(self)
    errors.argument("array '%s' is a frozen copy: x:totable() makes a Lua array to change, "
        .. 'x:pointer() is the C array', contents[self].label)
end

local function assign(self, key, value, ...)     -- luacheck: no unused args
    if type(key) == 'number' and key >= 0 and key < self.count and key % 1 == 0 then
        self.address[key] = value
    else
        refuse(self, key)
    end
end

local function describe(self)
    return ("array '%s': %d of %s"):format(contents[self].label, self.count, contents[self].type)
end

local types = {}        -- by their fields

local function type_of(element, count, newindex)
    local fields = ('struct { %s *const address; const %s count; }'):format(element, count)
    types[fields] = types[fields] or ffi.metatype(fields, { __index = index,
        __newindex = newindex, __tostring = describe,
        __len = function(self) return tonumber(self.count) end })
    return types[fields]
end

-- Makes one of a C array of `count` numbers, which it keeps. type_name: Mare's name of the
-- element type, c_type: C's; label: what messages call it.
function M.wrap(data, count, type_name, c_type, label)
    local self = type_of('const ' .. c_type, 'int32_t', freeze)(data, count)
    contents[self] = { data = data, type = type_name, label = label, is_frozen = true }
    return self
end

-- Makes one whose numbers can be assigned, of a pointer into memory that `owner` keeps, until
-- M.close(), after which it has none.
function M.over(data, count, type_name, c_type, label, owner)
    local self = type_of(c_type, count < 2 ^ 31 and 'int32_t' or 'double', assign)(data, count)
    contents[self] = { data = data, type = type_name, label = label, owner = owner }
    return self
end

-- The same, of numbers that cannot be assigned, of which there are less than 2^31.
function M.view(data, count, type_name, c_type, label, owner)
    local self = type_of('const ' .. c_type, 'int32_t', freeze)(data, count)
    contents[self] = { data = data, type = type_name, label = label, owner = owner,
        is_frozen = true }
    return self
end

function M.close(self)
    local place = ffi.cast('char *', self) + ffi.offsetof(self, 'count')
    ffi.fill(place, ffi.sizeof(self) - ffi.offsetof(self, 'count'))
    contents[self].data, contents[self].owner = nil, nil
end

-- Whether this is such an array.
function M.is(value)
    return type(value) == 'cdata' and contents[value] ~= nil
end

-- Whether its numbers cannot be assigned.
function M.is_frozen(value)
    return M.is(value) and contents[value].is_frozen
end

-- The C array, 0-based. It lives as long as what this returns, or as the pinned memory.
function methods:pointer()
    local data = contents[self].data
    if data == nil then
        errors.argument("array '%s': its memory has been released", contents[self].label)
    end
    return data
end

local function as_it_is(value) return value end
local readers = { bool = as_it_is, complex_float = as_it_is, complex_double = as_it_is,
                  half = function(half) return C.mare_half_value(half) end }

-- The elements as a Lua array, which begins at 1: numbers, truth values, complex numbers of
-- LuaJIT's.
function methods:totable()
    local values, read = {}, readers[contents[self].type] or tonumber
    for i = 1, self.count do values[i] = read(self.address[i - 1]) end
    return values
end

return M
