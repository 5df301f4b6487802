-- The types of values in kernels, and what becomes of two of them. A number that stands in Lua has
-- none of these: it takes the type of what it meets, so that it never widens an array. `whole` and
-- `fraction` tell what it may become.

local errors = require 'bindings.errors'

local types = {}

-- rank: of two types the result has the higher one. written: the type's name in the dialect.
-- literal: how a number of the type is written.
types.all = {
    whole = { rank = 0 },
    fraction = { rank = 0 },
    bool = { rank = 1, written = 'int', literal = '%s' },
    int32 = { rank = 2, written = 'int', literal = '%s' },
    int64 = { rank = 3, written = 'int64_t', literal = '%s' },
    float = { rank = 4, written = 'float', literal = '%sf', has_fractions = true },
    real = { rank = 5, written = 'real', literal = 'R(%s)', has_fractions = true },
    double = { rank = 6, written = 'double', literal = '%s', has_fractions = true },
}

-- The type of a number that stands in Lua.
function types.of_number(value)
    return value % 1 == 0 and math.abs(value) < 2 ^ 53 and 'whole' or 'fraction'
end

-- What two types become where they meet; numbers of Lua alone become real.
function types.common(a, b)
    local all = types.all
    local high, low = a, b
    if all[b].rank > all[a].rank then high, low = b, a end
    if all[high].rank == 0 then return 'real' end
    local is_short = low == 'fraction' and not all[high].has_fractions
    return is_short and 'real' or high
end

-- What + - * make of two types: numbers, of truths too.
function types.sum(a, b)
    local common = types.common(a, b)
    return common == 'bool' and 'int32' or common
end

-- What a quotient or a word on reals makes of a type.
function types.real(a)
    return types.all[a].has_fractions and a or 'real'
end

local function digits(value)
    local short = string.format('%.15g', value)
    return tonumber(short) == value and short or string.format('%.17g', value)
end

-- A number as the dialect writes it in a type.
function types.literal(value, type)
    local all = types.all[type]
    if value - value ~= 0 then
        errors.argument('%s is no number that a kernel can hold: give it as a parameter',
            tostring(value))
    end
    if not all.has_fractions then
        if value % 1 ~= 0 then
            errors.argument('%s is no whole number, as %s wants', tostring(value), type)
        end
        return all.literal:format(string.format('%.0f', value))
    end
    local text = digits(value)
    if not text:find '[.e]' then text = text .. '.0' end
    return all.literal:format(text)
end

return types
