-- The words of expressions: what each is called, how it is written in the dialect, which type it
-- gives, and what it is as plain Lua. A row here and a word of kernels/prelude/ is all that a
-- function takes.
--
--     infix, prefix: the token of an operator; call: the name of a function or macro
--     level: how tightly it binds, as in C; inner: what its operands must bind with at least
--     result(types of operands): the type, or nil where it takes no such operands; domain: which
--         it takes, in words
--     plain(operands): on numbers and truths of Lua
--     repeats: a macro that writes its operands more than once

local types = require 'mare.dialect.types'

local words = {}

words.atom, words.unary = 20, 15        -- levels of what needs no parentheses, of -x

local function define(name, operands, word)
    word.name, word.operands = name, operands
    word.level = word.level or words.atom
    words[name] = word
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

define('negative', 1, { prefix = '-', level = words.unary, inner = words.unary + 1,
    domain = 'numbers', plain = function(a) return -a end,
    result = function(a) return types.sum(a, a) end })

-- ---- comparisons, and what they lead to ----

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
words.ne.infix = '!='

local function of_truths(a, b)
    return a == 'bool' and (b or a) == 'bool' and 'bool' or nil
end

-- Both sides are computed: no branch depends on the first.
define('logical_and', 2, { infix = '&', level = 8, inner = words.unary, result = of_truths,
    domain = 'truths', plain = function(a, b) return a and b end })
define('logical_or', 2, { infix = '|', level = 6, inner = words.unary, result = of_truths,
    domain = 'truths', plain = function(a, b) return a or b end })
define('logical_not', 1, { prefix = '!', level = words.unary, result = of_truths,
    domain = 'a truth', plain = function(a) return not a end })

define('where', 3, { call = 'mr_select', domain = 'a truth and two numbers',
    plain = function(condition, yes, no)
        if condition then return yes end
        return no
    end,
    result = function(condition, yes, no)
        return condition == 'bool' and types.common(yes, no) or nil
    end })

-- ---- words on reals ----

local function real(name, operands, plain, more)
    local word = more or {}
    word.call = word.call or not word.prefix and 'mr_' .. name or nil
    word.plain, word.domain, word.on_reals = plain, 'reals', true
    function word.result(...)
        for k = 1, operands do
            if not is_real((select(k, ...))) then return nil end
        end
        return 'real'
    end
    define(name, operands, word)
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

-- sqrt(a / b) is times_root(ratio_root(a, b)): the factor MR_ROOT comes once, at the end.
real('ratio_root', 2, function(a, b) return math.sqrt(a / b) end)
real('times_root', 1, function(a) return a end, { prefix = 'MR_ROOT * ', level = 13, inner = 14 })

-- ---- conversions ----

for _, type in ipairs { 'int32', 'int64', 'float', 'real', 'double' } do
    define(type, 1, { prefix = ('(%s)'):format(types.all[type].written), level = words.unary,
        converts = type, domain = 'numbers', result = function() return type end,
        plain = function(a)
            if types.all[type].has_fractions then return a end
            return a < 0 and math.ceil(a) or math.floor(a)
        end })
end

return words
