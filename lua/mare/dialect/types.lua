-- The types of values in kernels, and the type that two of them have together.
-- A number written in Lua has the type `whole` or `fraction` instead: it takes
-- the type of the value that it is combined with, so that it never makes an
-- array's type wider.

local errors = require 'bindings.errors'

local types = {}

-- rank: two types combine to the one of higher rank. written: the type's name
-- in the dialect. literal: the format of a number of this type.
types.all = {
    whole = { rank = 0 },
    fraction = { rank = 0 },
    bool = { rank = 1, written = 'int', literal = '%s' },
    int32 = { rank = 2, written = 'int', literal = '%s' },
    uint32 = { rank = 2.5, written = 'uint', literal = '%su' },
    int64 = { rank = 3, written = 'int64_t', literal = '%s' },
    uint64 = { rank = 3.5, written = 'uint64_t', literal = '%s' },
    float = { rank = 4, written = 'float', literal = '%sf', has_fractions = true },
    real = { rank = 5, written = 'real', literal = 'R(%s)', has_fractions = true },
    double = { rank = 6, written = 'double', literal = '%s', has_fractions = true },
}

-- Returns the type of a number written in Lua.
function types.of_number(value)
    return value % 1 == 0 and math.abs(value) < 2 ^ 53 and 'whole' or 'fraction'
end

-- Returns the type that two types have together; two numbers of Lua are real.
function types.common(a, b)
    local all = types.all
    local high, low = a, b
    if all[b].rank > all[a].rank then high, low = b, a end
    if all[high].rank == 0 then return 'real' end
    local is_short = low == 'fraction' and not all[high].has_fractions
    return is_short and 'real' or high
end

-- Returns the type of a sum, difference or product; booleans count as numbers.
function types.sum(a, b)
    local common = types.common(a, b)
    return common == 'bool' and 'int32' or common
end

-- Returns the type of a quotient of operands that have this type together.
function types.real(a)
    return types.all[a].has_fractions and a or 'real'
end

local function digits(value)
    local short = string.format('%.15g', value)
    return tonumber(short) == value and short or string.format('%.17g', value)
end

-- Returns the text of a number in the dialect.
function types.literal(value, type)
    local all = types.all[type]
    if value - value ~= 0 then
        errors.argument('%s cannot be written into a kernel: give it as a parameter',
            tostring(value))
    end
    if not all.has_fractions then
        if value % 1 ~= 0 then
            errors.argument('%s must be a whole number to have type %s', tostring(value), type)
        end
        return all.literal:format(string.format('%.0f', value))
    end
    local text = digits(value)
    if not text:find '[.e]' then text = text .. '.0' end
    return all.literal:format(text)
end

return types
