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
--
-- A new function is one entry here and one definition in each kernels/prelude/.

local types = require 'mare.dialect.types'

local operations = {}

operations.atom, operations.unary = 20, 15        -- the levels of names and calls, and of -x

local function define(name, operands, op)
    op.name, op.operands = name, operands
    op.level = op.level or operations.atom
    operations[name] = op
end

local function is_real(type)
    return type ~= 'float' and type ~= 'double'
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

-- ---- functions of reals ----

local function real(name, operands, plain, more)
    local op = more or {}
    op.call = op.call or not op.prefix and 'mr_' .. name or nil
    op.plain, op.domain, op.on_reals = plain, 'reals', true
    function op.result(...)
        for k = 1, operands do
            if not is_real((select(k, ...))) then return nil end
        end
        return 'real'
    end
    define(name, operands, op)
end

real('sqrt', 1, math.sqrt)
real('cbrt', 1, function(a) return a < 0 and -(-a) ^ (1 / 3) or a ^ (1 / 3) end)
real('rcp', 1, function(a) return 1 / a end)
real('rsqrt', 1, function(a) return 1 / math.sqrt(a) end)
real('abs', 1, math.abs)
real('min', 2, math.min, { repeats = true })
real('max', 2, math.max, { repeats = true })
real('fma', 3, function(a, b, c) return a * b + c end)
real('copysign', 2, function(a, b)
    return (b < 0 or 1 / b < 0) and -math.abs(a) or math.abs(a)
end)

-- sqrt(a / b) is times_root(ratio_root(a, b)). They are two operations so that
-- an expression applies the factor MR_ROOT once.
real('ratio_root', 2, function(a, b) return math.sqrt(a / b) end)
real('times_root', 1, function(a) return a end, { prefix = 'MR_ROOT * ', level = 13, inner = 14 })

-- ---- conversions ----

for _, type in ipairs { 'int32', 'int64', 'float', 'real', 'double' } do
    define(type, 1, { prefix = ('(%s)'):format(types.all[type].written), level = operations.unary,
        converts = type, domain = 'numbers', result = function() return type end,
        plain = function(a)
            if types.all[type].has_fractions then return a end
            return a < 0 and math.ceil(a) or math.floor(a)
        end })
end

return operations
