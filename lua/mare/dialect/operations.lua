-- The operations of expressions. Each entry says:
--
--     infix, prefix: the token of an operator; or call: the name of a function
--         or macro of the dialect
--     level: how tightly it binds, as in C
--     inner: the least level of operands that need no parentheses
--     result(types of the operands): the type of the result, or nil if the
--         operation does not take such operands
--     domain: which operands it takes, for error messages
--     plain(operands): the same operation on numbers and booleans of Lua
--     repeats: whether its macro evaluates operands more than once
--     include: the header of kernels/ that defines the function
--     own: the name that takes floats and doubles in both languages, where `call` is for `real`
--
-- A new function is one entry here and one definition in each kernels/prelude/.

local bit = require 'bit'

local libm = require 'bindings.libm'
local philox = require 'mare.dialect.philox'
local types = require 'mare.dialect.types'

local operations = {}

operations.atom, operations.unary = 20, 15        -- the levels of names and calls, and of -x

local function define(name, operands, op)
    op.name, op.operands = name, operands
    op.level = op.level or operations.atom
    operations[name] = op
end

-- ---- arithmetic ----

local function arithmetic(token, level, plain, result)
    define(token, 2, { infix = token, level = level, plain = plain, domain = 'numbers',
        result = result or types.sum })
end

arithmetic('+', 12, function(a, b) return a + b end)
arithmetic('-', 12, function(a, b) return a - b end)
arithmetic('*', 13, function(a, b) return a * b end)
arithmetic('/', 13, function(a, b) return a / b end, function(a, b)
    return types.real(types.common(a, b))
end)

define('negative', 1, { prefix = '-', level = operations.unary, inner = operations.unary + 1,
    domain = 'numbers', plain = function(a) return -a end,
    result = function(a) return types.sum(a, a) end })

-- ---- comparisons and choices ----

local function comparison(name, token, level, plain)
    define(name, 2, { infix = token, level = level, inner = 11, plain = plain, compares = true,
        domain = 'numbers', result = function() return 'bool' end })
end

comparison('lt', '<', 10, function(a, b) return a < b end)
comparison('le', '<=', 10, function(a, b) return a <= b end)
comparison('gt', '>', 10, function(a, b) return a > b end)
comparison('ge', '>=', 10, function(a, b) return a >= b end)
comparison('eq', '==', 9, function(a, b) return a == b end)
comparison('ne', '~=', 9, function(a, b) return a ~= b end)
operations.ne.infix = '!='

local function of_booleans(a, b)
    return a == 'bool' and (b or a) == 'bool' and 'bool' or nil
end

-- Both operands are computed, unlike those of && in C: there is no branch.
define('logical_and', 2, { infix = '&', level = 8, inner = operations.unary, result = of_booleans,
    domain = 'booleans', plain = function(a, b) return a and b end })
define('logical_or', 2, { infix = '|', level = 6, inner = operations.unary, result = of_booleans,
    domain = 'booleans', plain = function(a, b) return a or b end })
define('logical_not', 1, { prefix = '!', level = operations.unary, result = of_booleans,
    domain = 'a boolean', plain = function(a) return not a end })

define('where', 3, { call = 'mr_select', domain = 'a boolean and two numbers',
    plain = function(condition, yes, no)
        if condition then return yes end
        return no
    end,
    result = function(condition, yes, no)
        return condition == 'bool' and types.common(yes, no) or nil
    end })

-- ---- whole numbers ----

local function is_whole(type)
    local known = types.all[type]
    return not known.has_fractions and known.rank > 1 or type == 'whole'
end

local function of_whole_numbers(a, b)
    return is_whole(a) and is_whole(b) and types.common(a, b) or nil
end

-- Operators of C on whole numbers. Those of bits bind less than comparisons, so
-- their operands get parentheses.
local function whole(name, token, level, plain)
    define(name, 2, { infix = token, level = level, plain = plain, domain = 'whole numbers',
        inner = level < 12 and operations.unary or nil, result = of_whole_numbers })
end

whole('remainder', '%', 13, libm.fmod)
whole('bit_and', '&', 8, bit.band)
whole('bit_xor', '^', 7, bit.bxor)
whole('bit_or', '|', 6, bit.bor)
whole('shift_left', '<<', 11, bit.lshift)
whole('shift_right', '>>', 11, bit.arshift)

-- ---- functions of reals ----

-- Returns the type of a function of reals. One that has a name of its own for
-- floats and doubles is of the widest operand.
local function real_type(own, ...)
    local type = 'real'
    for k = 1, select('#', ...) do
        local given = select(k, ...)
        if given == 'float' or given == 'double' then
            if not own then return nil end
            type = type == 'real' and given or types.common(type, given)
        end
    end
    return type
end

local function real(name, operands, plain, more)
    local op = more or {}
    op.call = op.call or not op.prefix and 'mr_' .. name or nil
    op.plain, op.domain, op.on_reals = plain, 'reals', true
    function op.result(...) return real_type(op.own, ...) end
    define(name, operands, op)
end

real('sqrt', 1, math.sqrt, { own = 'sqrt' })
real('cbrt', 1, libm.cbrt, { own = 'cbrt' })
real('rcp', 1, function(a) return 1 / a end)
real('rsqrt', 1, function(a) return 1 / math.sqrt(a) end)
real('abs', 1, math.abs, { own = 'fabs' })
real('min', 2, math.min, { repeats = true })
real('max', 2, math.max, { repeats = true })
real('fma', 3, function(a, b, c) return a * b + c end, { own = 'fma' })
real('copysign', 2, libm.copysign, { own = 'copysign' })

-- Functions of C that both languages have by one name, for floats and doubles.
for _, name in ipairs { 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh',
    'asinh', 'acosh', 'atanh', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p', 'floor',
    'ceil', 'trunc', 'rint', 'erf', 'erfc', 'lgamma', 'tgamma' } do
    real(name, 1, libm[name], { call = name, own = name })
end
for _, name in ipairs { 'pow', 'atan2', 'hypot', 'fmod', 'nextafter' } do
    real(name, 2, libm[name], { call = name, own = name })
end

-- sqrt(a / b) is times_root(ratio_root(a, b)). They are two operations so that
-- an expression applies the factor MR_ROOT once.
real('ratio_root', 2, function(a, b) return math.sqrt(a / b) end)
real('times_root', 1, function(a) return a end, { prefix = 'MR_ROOT * ', level = 13, inner = 14 })

-- ---- random numbers ----

-- The word of element `number`, of a key of two words: kernels/ndarray/philox.h.
define('philox', 3, { call = 'mr_philox', domain = 'whole numbers', plain = philox.word,
    include = 'ndarray/philox.h', result = function() return 'uint32' end })
-- The same of element `number` + `first`, a multiple of 4, of a key in one word.
define('philox_key', 2, { call = 'mr_philox_key', domain = 'whole numbers', plain = philox.key,
    include = 'ndarray/philox.h', result = function() return 'uint64' end })
define('philox_from', 3, { call = 'mr_philox_from', domain = 'whole numbers',
    plain = philox.word_from, include = 'ndarray/philox.h',
    result = function() return 'uint32' end })
-- The same of any number, whose neighbours do not share a block of words.
define('philox_any', 3, { call = 'mr_philox_any', domain = 'whole numbers', plain = philox.word,
    include = 'ndarray/philox.h', result = function() return 'uint32' end })

-- ---- conversions ----

local function truncated(a) return a < 0 and math.ceil(a) or math.floor(a) end

for _, type in ipairs { 'int32', 'uint32', 'int64', 'uint64', 'float', 'real', 'double' } do
    define(type, 1, { prefix = ('(%s)'):format(types.all[type].written), level = operations.unary,
        converts = type, domain = 'numbers', result = function() return type end,
        plain = function(a) return types.all[type].has_fractions and a or truncated(a) end })
end

-- Reals as whole numbers, rounded toward 0, on every device alike: those beyond the type become the
-- least or the most of it, NaN becomes 0. (What C's own conversion makes of these is undefined.)
for _, type in ipairs { 'int32', 'uint32', 'int64', 'uint64' } do
    define('saturated_' .. type, 1, { call = 'mr_to_' .. type, converts = type,
        saturates = true, repeats = true, domain = 'numbers', plain = truncated,
        result = function() return type end })
end

-- Halves are computed as floats, which this rounds; doubles, by the other, are rounded once.
for name, from in pairs { half = 'float', half_of_double = 'double' } do
    define(name, 1, { call = from == 'float' and 'mr_half_round' or 'mr_half_round_double',
        converts = from, narrows = 'half', domain = 'numbers',
        result = function() return 'float' end, plain = function(a) return a end })
end

-- Whole numbers of 8 and 16 bits are computed as those of 32, and cut to their
-- bits by these.
local function narrow(type, written, size, least)
    define(type, 1, { prefix = ('(%s)'):format(written), level = operations.unary,
        converts = 'int32', narrows = type, domain = 'numbers',
        result = function() return 'int32' end,
        plain = function(a) return (truncated(a) - least) % size + least end })
end

narrow('int8', 'char', 256, -128)
narrow('uint8', 'uchar', 256, 0)
narrow('int16', 'short', 65536, -32768)
narrow('uint16', 'ushort', 65536, 0)

return operations
