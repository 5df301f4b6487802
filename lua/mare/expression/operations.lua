-- Lists the operations that compute elements. Each operation has:
--
--     rule(a, b, c)  the types of the operands, nil where one is a number. Returns the
--                    type of the result and the type that operands are converted to,
--                    or nothing if there is no such operation on these types
--     tree(a, b, c)  the operation on trees of dialect/nodes.lua, or on complex
--                    numbers of them, { re, im }; its last argument is the type that
--                    operands were converted to
--     domain         which types it takes, for messages
--
-- `sigs` is where evaluate.lua keeps the structures that begin with the operation.

local complex_functions = require 'mare.expression.complex'
local m = require 'mare.dialect.maths'
local types = require 'mare.expression.types'

local operations = {}

local function define(name, domain, rule, tree)
    operations[name] = { name = name, domain = domain, rule = rule, tree = tree, sigs = {},
        structures = { times = 0 }, wants_type = false }
    return operations[name]
end

-- Returns the type of two operands, one of which may be a number.
local function common(a, b)
    if not a then return b or types.float end
    if not b then return a end
    return (types.common(a, b))
end

-- ---- sums and products ----

local function sum(a, b)
    local type = common(a, b)
    if type == types.bool then type = types.int32 end
    return type, type
end

local function quotient(a, b)
    local type = common(a, b)
    type = type and types.real(type)
    return type, type
end

local function complex(re, im) return { re = re, im = im } end

-- Makes of a function of reals and one of complex numbers one that takes both.
local function of_both(real, of_complex)
    return function(a, b)
        if a.re then return of_complex(a, b) end
        return real(a, b)
    end
end

define('+', 'numbers', sum, of_both(function(a, b) return a + b end,
    function(a, b) return complex(a.re + b.re, a.im + b.im) end))
define('-', 'numbers', sum, of_both(function(a, b) return a - b end,
    function(a, b) return complex(a.re - b.re, a.im - b.im) end))
define('*', 'numbers', sum, of_both(function(a, b) return a * b end,
    function(a, b)
        return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
    end))
define('/', 'numbers', quotient, of_both(function(a, b) return a / b end,
    complex_functions.quotient))
define('negative', 'numbers', sum, of_both(function(a) return -a end,
    function(a) return complex(-a.re, -a.im) end))

-- ---- whole numbers ----

local function on_reals(rule)
    return function(a, b)
        local type, computed = rule(a, b)
        if type and type.kind <= 2 then return type, computed end
    end
end

-- In C a remainder of division by 0, or of the least number by -1, is undefined and ends the
-- program on processors.
local function whole_remainder(a, b, type)
    local is_zero = m.eq(b, 0)
    if not type.signed then return m.remainder(a, m.where(is_zero, 1, b)) end
    local unsafe = m.logical_or(is_zero, m.eq(b, -1))
    local r = m.remainder(a, m.where(unsafe, 1, b))
    return m.where(m.logical_and(m.ne(r, 0), m.lt(m.bit_xor(r, b), 0)), r + b, r)
end

local function real_remainder(a, b)
    local r = m.fmod(a, b)
    return m.where(m.logical_and(m.ne(r, 0), m.ne(m.lt(r, 0), m.lt(b, 0))), r + b, r)
end

define('%', 'reals', on_reals(sum), function(a, b, type)
    if type.kind == 1 then return whole_remainder(a, b, type) end
    return real_remainder(a, b)
end).wants_type = true

local function whole(a, b)
    local type = sum(a, b)
    if type and type.kind == 1 then return type, type end
end

for _, name in ipairs { 'bit_and', 'bit_or', 'bit_xor' } do
    define(name, 'whole numbers', whole, m[name])
end

-- In C a shift by the width of a number or more, or by less than 0, is undefined. It moves out all
-- bits here, as in NumPy: 0 is left, of shifts to the right the sign.
local function shift(name)
    return function(a, b, type)
        local is_within = m.lt(b, type.bits)
        if type.signed then is_within = m.logical_and(m.ge(b, 0), is_within) end
        if name == 'shift_right' and type.signed then
            return m.shift_right(a, m.where(is_within, b, type.bits - 1))
        end
        return m.where(is_within, m[name](a, m.where(is_within, b, 0)), 0)
    end
end

for _, name in ipairs { 'shift_left', 'shift_right' } do
    define(name, 'whole numbers', whole, shift(name)).wants_type = true
end

-- ---- comparisons and choices ----

local function comparison(a, b)
    local type = common(a, b)
    if type and type.kind <= 2 then return types.bool, type end
end

for _, name in ipairs { 'lt', 'le', 'gt', 'ge' } do
    define(name, 'reals', comparison, m[name])
end

local function equality(a, b)
    local type = common(a, b)
    if type then return types.bool, type end
end

define('eq', 'numbers', equality, of_both(m.eq, function(a, b)
    return m.logical_and(m.eq(a.re, b.re), m.eq(a.im, b.im))
end))
define('ne', 'numbers', equality, of_both(m.ne, function(a, b)
    return m.logical_or(m.ne(a.re, b.re), m.ne(a.im, b.im))
end))

local function truths(a, b)
    if a == types.bool and (b or a) == types.bool then return types.bool, types.bool end
end

for _, name in ipairs { 'logical_and', 'logical_or', 'logical_not' } do
    define(name, 'truth values', truths, m[name])
end

-- The condition is not converted, only the other two operands.
define('where', 'truth values and two of any type', function(a, b, c)
    local type = common(b, c)
    if a == types.bool and type then return type, type end
end, function(a, b, c)
    if b.re then return complex(m.where(a, b.re, c.re), m.where(a, b.im, c.im)) end
    return m.where(a, b, c)
end).first_as_it_is = true

define('minimum', 'reals', on_reals(sum), function(a, b, type)
    local is_less = m.lt(a, b)
    return m.where(type.kind == 2 and m.logical_or(is_less, m.ne(a, a)) or is_less, a, b)
end).wants_type = true
define('maximum', 'reals', on_reals(sum), function(a, b, type)
    local is_more = m.gt(a, b)
    return m.where(type.kind == 2 and m.logical_or(is_more, m.ne(a, a)) or is_more, a, b)
end).wants_type = true
define('sign', 'reals', on_reals(sum), function(a)
    return m.where(m.gt(a, 0), 1, m.where(m.lt(a, 0), -1, a))
end)

-- ---- functions of reals ----

local function real(a, b)
    local type = quotient(a, b)
    if type and type.kind == 2 then return type, type end
end

for _, name in ipairs { 'cbrt', 'asin', 'acos', 'atan', 'asinh', 'acosh', 'atanh', 'exp2', 'expm1',
    'log1p', 'erf', 'erfc', 'lgamma', 'tgamma', 'atan2', 'hypot', 'copysign' } do
    define(name, 'reals', real, m[name])
end

-- A half is computed as a float, whose next one it would be.
define('nextafter', 'float and double', function(a, b)
    local type = quotient(a, b)
    if type == types.float or type == types.double then return type, type end
end, m.nextafter)

local of_complex = { log2 = complex_functions.log_to(1 / math.log(2)),
    log10 = complex_functions.log_to(1 / math.log(10)) }
for _, name in ipairs { 'sqrt', 'sin', 'cos', 'tan', 'sinh', 'cosh', 'tanh', 'exp', 'log', 'log2',
    'log10', 'pow' } do
    define(name, 'numbers', quotient, of_both(m[name],
        of_complex[name] or complex_functions[name]))
end

local function rounded(name, f)
    define(name, 'reals', on_reals(sum), function(a, type)
        return type.kind == 1 and a or f(a)
    end).wants_type = true
end

rounded('floor', m.floor)
rounded('ceil', m.ceil)
rounded('trunc', m.trunc)
rounded('rint', m.rint)

-- Defines what is asked of each part; of complex numbers `join` joins the answers.
local function asked(name, f, join)
    define(name, 'numbers', equality, of_both(f, function(a) return join(f(a.re), f(a.im)) end))
end

asked('isnan', function(a) return m.ne(a, a) end, m.logical_or)
asked('isfinite', function(a) return m.eq(a - a, 0) end, m.logical_and)
asked('isinf', function(a) return m.logical_and(m.eq(a, a), m.ne(a - a, 0)) end, m.logical_or)

-- ---- complex numbers ----

local function part(a)
    return types.part(a), a
end

define('abs', 'numbers', function(a)
    return types.part(a == types.bool and types.int32 or a), a
end, function(a, type)
    if a.re then return m.hypot(a.re, a.im) end
    if type.kind == 2 then return m.abs(a) end
    return m.where(m.lt(a, 0), -a, a)
end).wants_type = true
define('real', 'numbers', part, function(a) return a.re or a end)
define('imag', 'complex numbers', function(a)
    if a.complex then return part(a) end
end, function(a) return a.im end)
define('conj', 'numbers', function(a) return a, a end, of_both(function(a) return a end,
    function(a) return complex(a.re, -a.im) end))
define('angle', 'complex numbers', function(a)
    if a.complex then return part(a) end
end, function(a) return m.atan2(a.im, a.re) end)
define('complex', 'reals', function(a, b)
    local type = quotient(a, b)
    if not type or type.kind > 2 then return nil end
    return type == types.double and types.complex_double or types.complex_float,
        type == types.half and types.float or type
end, complex)

-- Gives an element's word of random bits, from its number and the two words of the key.
local function word_of_key() return types.uint32, types.int64 end
define('random_word', 'whole numbers', word_of_key, m.philox)
-- The same of the number that is the sum of an element's and one that is a multiple of 4, or not.
define('random_word_from', 'whole numbers', word_of_key, function(number, low, high)
    return m.philox_from(number[1], m.philox_key(low, high), number[2])
end)
define('random_word_any', 'whole numbers', word_of_key, m.philox_any)

-- ---- conversions and constants ----

-- Operations that only convert their operand to a type.
operations.to, operations.fill = {}, {}
for _, name in ipairs(types.names) do
    local type = types[name]
    operations.to[type] = define('to ' .. name, 'numbers', function(a)
        if a.complex and not type.complex then return nil end
        return type, type
    end, function(a) return a end)
    operations.fill[type] = define('fill ' .. name, 'a number', function() return type, type end,
        function(a) return a end)
end

return operations
