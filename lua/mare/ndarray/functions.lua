-- Functions of elements, which scripts call as mare.sin(a) or a:sin(), and the operators.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local m = require 'mare.dialect.maths'
local operations = require 'mare.expression.operations'

local functions = {}
local Array = array.methods

-- Functions of one array, or of a number, which Lua computes itself.
for _, name in ipairs { 'sqrt', 'cbrt', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh',
    'tanh', 'asinh', 'acosh', 'atanh', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p',
    'erf', 'erfc', 'lgamma', 'tgamma', 'floor', 'ceil', 'trunc', 'rint', 'abs' } do
    local op, plain = operations[name], m[name]
    -- Returns the function of each element: sqrt, cbrt, sin to atanh, exp, exp2, expm1, log,
    -- log2, log10, log1p, erf, erfc, lgamma, tgamma, and floor, ceil, trunc, rint (to even), abs.
    -- Whole numbers and truth values become floats, but for the last five. Of complex numbers there
    -- are sqrt, exp, log, log2, log10, sin, cos, tan, sinh, cosh, tanh and abs.
    functions[name] = function(a)
        if type(a) == 'number' then return plain(a) end
        return (array.unary(op, a))
    end
    Array[name] = functions[name]
end

for _, name in ipairs { 'sign', 'isnan', 'isinf', 'isfinite', 'real', 'imag', 'conj', 'angle',
    'logical_not' } do
    local op = operations[name]
    -- Returns of each element: sign, -1, 0, 1 or NaN; isnan, isinf, isfinite, logical_not, a truth
    -- value; of complex numbers real, imag, conj, angle (their argument).
    functions[name] = function(a) return (array.unary(op, a)) end
    Array[name] = functions[name]
end

for _, name in ipairs { 'minimum', 'maximum', 'atan2', 'hypot', 'copysign', 'nextafter',
    'logical_and', 'logical_or', 'bit_and', 'bit_or', 'bit_xor', 'shift_left', 'shift_right',
    'complex', 'lt', 'le', 'gt', 'ge', 'eq', 'ne' } do
    local op = operations[name]
    -- Returns the function of the elements of two arrays, or of an array and a number: minimum,
    -- maximum (NaN if one is NaN), atan2(y, x), hypot, copysign, nextafter(from, to), complex(re,
    -- im), logical_and, logical_or, bit_and, bit_or, bit_xor, shift_left, shift_right, and the
    -- comparisons lt, le, gt, ge, eq, ne, which give truth values: a:gt(5).
    functions[name] = function(a, b) return (array.binary(op, a, b)) end
    Array[name] = functions[name]
end

-- Returns the elements of yes where the condition holds, otherwise those of no:
-- mare.where(a:gt(5), a, -a). The condition has the type bool; yes and no may be numbers.
functions.where = array.where

-- Returns each element, or the nearer limit where it is outside of them.
function Array:clip(least, most)
    return functions.minimum(functions.maximum(self, least), most)
end

-- ---- powers ----

-- Returns the product of n factors a.
local function product(a, n)
    if n == 1 then return a end
    local half = product(a, math.floor(n / 2))
    local square = array.binary(operations['*'], half, half)
    return n % 2 == 0 and square or array.binary(operations['*'], square, a)
end

local function power_of_number(a, n)
    local kind = array.node(a).type.kind
    local most = kind == 2 and 4 or 64
    if n % 1 == 0 and n >= 1 and n <= most then return product(a, n) end
    if n == 0.5 then return functions.sqrt(a) end
    if n == -1 then return (array.binary(operations['/'], 1, a)) end
    return array.binary(operations.pow, a, n)
end

-- a ^ 2 and other small whole powers are products, of whole numbers up to 64; all
-- other powers are pow's.
local function power(a, b)
    if type(b) == 'number' and type(a) ~= 'number' then return power_of_number(a, b) end
    return array.binary(operations.pow, a, b)
end

-- ---- operators ----

local function no_comparison()
    errors.argument('arrays are compared by a:lt(b), le, gt, ge, eq and ne, which give arrays: '
        .. '< of Lua is true or false at once')
end

local function no_text()
    errors.argument "an array is no text: '..' takes tostring(a)"
end

local add, subtract, multiply, divide, remainder, negative = operations['+'], operations['-'],
    operations['*'], operations['/'], operations['%'], operations.negative

functions.meta = {
    __add = function(a, b) return (array.binary(add, a, b)) end,
    __sub = function(a, b) return (array.binary(subtract, a, b)) end,
    __mul = function(a, b) return (array.binary(multiply, a, b)) end,
    __div = function(a, b) return (array.binary(divide, a, b)) end,
    __mod = function(a, b) return (array.binary(remainder, a, b)) end,
    __pow = power,
    __unm = function(a) return (array.unary(negative, a)) end,
    __concat = no_text,
    __lt = no_comparison,
    __le = no_comparison,
}

return functions
