-- Finds the types of a function's parameters from the arguments of a call; a kernel is
-- compiled for these types. Kernels compute in double if one of their arrays holds
-- doubles, otherwise in float.

local buffer = require 'bindings.buffer'
local errors = require 'bindings.errors'

local signature = {}

-- For each type of a buffer: the type that a kernel reads it as, and its name in the
-- dialect.
local memory = {
    int8 = { 'int32', 'signed char' }, uint8 = { 'int32', 'unsigned char' },
    int16 = { 'int32', 'short' }, uint16 = { 'int32', 'unsigned short' },
    int32 = { 'int32', 'int32_t' }, uint32 = { 'int64', 'uint32_t' },
    int64 = { 'int64', 'int64_t' }, bool = { 'bool', 'mr_bool' }, half = { 'float', 'mr_half' },
    float = { 'float', 'float' }, double = { 'double', 'double' },
}

-- Returns the type of an array. real: 'float' or 'double', the type of the kernel's reals
function signature.array(stored, count, real)
    local found = memory[stored]
    if not found then return nil end
    local element = found[1] == real and 'real' or found[1]
    return { kind = 'array', element = element, stored = stored,
        written = stored == real and 'real' or found[2],
        count = count < 2 ^ 31 and 'int32' or 'int64' }
end

function signature.is_array(value)
    return buffer.is(value)
end

-- Returns 'float' or 'double' for these arguments.
function signature.real(arguments)
    for _, value in pairs(arguments) do
        if buffer.is(value) and value.type == 'double' then return 'double' end
    end
    return 'float'
end

local function number_type(symbol, value)
    local is_count = symbol.is_index and value % 1 == 0 and math.abs(value) < 2 ^ 31
    return is_count and 'int32' or 'real'
end

-- Returns the type of a parameter for a value. who: the beginning of a message
function signature.of(who, symbol, value, real)
    if type(value) == 'number' then return number_type(symbol, value) end
    if type(value) == 'boolean' then return 'bool' end
    if not buffer.is(value) then
        errors.check_argument(("%s: argument '%s'"):format(who, symbol.name), value)
        errors.argument("%s: argument '%s': a number, a boolean or a buffer is wanted, not %s", who,
            symbol.name, type(value))
    elseif not memory[value.type] then
        errors.argument("%s: argument '%s': buffer '%s' is of type %s, which functions of Lua do "
            .. 'not compute with', who, symbol.name, value.label, tostring(value.type))
    end
    return signature.array(value.type, value.count, real)
end

-- Whether a value still has the type that a parameter was compiled for.
function signature.fits(type, value)
    local kind = _G.type(value)
    if kind == 'number' then
        return type == 'real' or type == 'int32' and value % 1 == 0 and math.abs(value) < 2 ^ 31
    elseif kind == 'boolean' then
        return type == 'bool'
    end
    return type.kind == 'array' and buffer.is(value) and value.type == type.stored
        and (value.count < 2 ^ 31) == (type.count == 'int32')
end

return signature
