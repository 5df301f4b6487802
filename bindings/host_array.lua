-- host_array.lua - numbers on the host that nobody reads past their ends: what a download
-- returns and a field holds. x[i] counts from 0, an index that is none is an error, and the
-- numbers are frozen. x:pointer() is the C array, without checks and for C functions;
-- x:totable() is a Lua array.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local C = require('bindings.ffi').C

local M = {}
local methods = {}
local contents = setmetatable({}, { __mode = 'k' })    -- { data, type, label } of each

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

local function describe(self)
    return ("array '%s': %d of %s"):format(contents[self].label, self.count, contents[self].type)
end

local types = {}        -- by the C type of the elements

local function type_of(c_type)
    types[c_type] = types[c_type] or ffi.metatype(
        ('struct { const %s *const address; const int32_t count; }'):format(c_type),
        { __index = index, __newindex = freeze, __tostring = describe,
          __len = function(self) return self.count end })
    return types[c_type]
end

-- Makes one of a C array of `count` numbers, which it keeps. type_name: Mare's name of the
-- element type, c_type: C's; label: what messages call it.
function M.wrap(data, count, type_name, c_type, label)
    local self = type_of(c_type)(data, count)
    contents[self] = { data = data, type = type_name, label = label }
    return self
end

-- Whether this is such an array.
function M.is(value)
    return type(value) == 'cdata' and contents[value] ~= nil
end

-- The C array, 0-based. It lives as long as what this returns.
function methods:pointer()
    return contents[self].data
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
