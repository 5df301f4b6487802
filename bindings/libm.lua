-- libm.lua - the functions of C's mathematics library on doubles that Lua's `math` lacks, and those
-- that it has, by C's names.

local ffi = require 'ffi'

local one = { 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh',
    'atanh', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sqrt', 'cbrt', 'floor',
    'ceil', 'trunc', 'rint', 'fabs', 'erf', 'erfc', 'lgamma', 'tgamma' }
local two = { 'pow', 'atan2', 'hypot', 'fmod', 'copysign', 'fmin', 'fmax', 'nextafter' }

for _, name in ipairs(one) do ffi.cdef(('double %s(double);'):format(name)) end
for _, name in ipairs(two) do ffi.cdef(('double %s(double, double);'):format(name)) end

ffi.cdef 'float nextafterf(float, float);'
local library = ffi.load('libm.so.6')
local M = {}

-- A function of C refuses more arguments than it has; one of Lua does not look at them.
for _, name in ipairs(one) do
    local f = library[name]
    M[name] = function(a) return f(a) end
end
for _, name in ipairs(two) do
    local f = library[name]
    M[name] = function(a, b) return f(a, b) end
end

-- The next float, where the numbers are floats.
function M.nextafterf(a, b) return library.nextafterf(a, b) end

return M
