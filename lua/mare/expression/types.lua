-- The types of elements, and the common type of two. One rule decides it: the higher kind (truth
-- values, whole numbers, reals, complex numbers), and of one kind the wider type. An int and a
-- uint need a type that holds both. A number of Lua takes the type of the array that it is
-- combined with, but a fraction makes floats of whole numbers, and any number makes int32 of
-- truth values.
--
-- Each entry has
--     name: Mare's name of it, which is also that of buffers
--     kind: 0 to 3, in the order above; bits: of a part; signed
--     stored: how a kernel declares it in memory
--     computed: the type of dialect/types.lua that kernels compute it in; of
--         complex numbers that of their parts
--     size: bytes of an element
--     structure, structure_of_numbers: of leaves of the type, see straight.lua
--     narrow: whether a value computed must be cut to the type

local errors = require 'bindings.errors'

local types = { names = {} }

local function define(name, kind, bits, size, stored, computed)
    local type = { name = name, kind = kind, bits = bits, size = size, stored = stored,
        computed = computed, signed = not name:find '^u', structure = {},
        structure_of_numbers = {} }
    types[name] = type
    types.names[#types.names + 1] = name
    return type
end

define('bool', 0, 1, 1, 'mr_bool', 'bool')
define('int8', 1, 8, 1, 'char', 'int32').narrow = true
define('uint8', 1, 8, 1, 'uchar', 'int32').narrow = true
define('int16', 1, 16, 2, 'short', 'int32').narrow = true
define('uint16', 1, 16, 2, 'ushort', 'int32').narrow = true
define('int32', 1, 32, 4, 'int', 'int32')
define('uint32', 1, 32, 4, 'uint', 'uint32')
define('int64', 1, 64, 8, 'int64_t', 'int64')
define('uint64', 1, 64, 8, 'uint64_t', 'uint64')
define('half', 2, 16, 2, 'mr_half', 'float').narrow = true
define('float', 2, 32, 4, 'float', 'float')
define('double', 2, 64, 8, 'double', 'double')
define('complex_float', 3, 32, 8, 'mr_complex_float', 'float')
define('complex_double', 3, 64, 16, 'mr_complex_double', 'double')

for _, type in ipairs { 'complex_float', 'complex_double' } do types[type].complex = true end

-- Returns the type of that name. what: the beginning of an error message
function types.named(name, what)
    local found = type(name) == 'string' and types[name]
    if type(found) ~= 'table' or not found.stored then
        errors.argument("%s: type '%s' (allowed: %s)", what, tostring(name),
            table.concat(types.names, ', '))
    end
    return found
end

-- ---- two types ----

local function whole(a, b)
    if a.signed == b.signed then return a.bits > b.bits and a or b end
    local signed, unsigned = a.signed and a or b, a.signed and b or a
    if signed.bits > unsigned.bits then return signed end
    return types['int' .. 2 * unsigned.bits]        -- none holds int64 and uint64
end

local function promoted(a, b)
    local high, low = a, b
    if b.kind > a.kind or b.kind == a.kind and b.bits > a.bits then high, low = b, a end
    if high.kind == 1 and low.kind == 1 then return whole(a, b) end
    local is_short = high.kind == 3 and low.kind == 2 and low.bits > high.bits
    if is_short then return types.complex_double end
    return high
end

for _, a in ipairs(types.names) do
    types[a].with = {}
    for _, b in ipairs(types.names) do types[a].with[types[b]] = promoted(types[a], types[b]) end
end

-- Returns the common type of two, or nil if there is none.
function types.common(a, b)
    if a == b then return a end
    return a.with[b]
end

-- Returns the type that an array of this type and a number of Lua make.
function types.with_number(type, value)
    if type.kind >= 2 then return type end
    if value % 1 ~= 0 or value - value ~= 0 then return types.float end
    return type.kind == 0 and types.int32 or type
end

-- Returns the type of a quotient, or of a function of reals.
function types.real(type)
    return type.kind < 2 and types.float or type
end

-- Returns the type of a real and an imaginary part.
function types.part(type)
    return type.complex and types[type.computed] or type
end

-- ---- ranges ----

for _, name in ipairs(types.names) do
    local type = types[name]
    if type.kind == 1 then
        type.least = type.signed and -2 ^ (type.bits - 1) or 0
        type.most = 2 ^ (type.signed and type.bits - 1 or type.bits) - 1
    end
end

-- Raises an error if a number does not fit a type of whole numbers.
function types.check(type, value, what)
    if type.kind ~= 1 then return value end
    if value % 1 ~= 0 or value < type.least or value > type.most then
        errors.argument('%s: the number %.17g does not fit %s (%.0f to %.0f)', what, value,
            type.name, type.least, type.most)
    end
    return value
end

return types
