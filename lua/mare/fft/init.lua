-- Fourier transforms of arrays, with the names and norms of SciPy:
--
--     local x = mare.rand { 16, 1024 }
--     local power = mare.fft.rfft(x):abs() ^ 2
--     local back = mare.fft.irfft(mare.fft.rfft(x))
--
-- Options of all: axes (a number or a list, counted from 0, -1 is the last), n (the lengths
-- along them: what is longer is cut, what is shorter goes on with zeros) and norm:
-- 'backward' (the inverse divides by the number of points), 'ortho' (both divide by its
-- root), 'forward' (the other one divides); and backend = 'cufft', NVIDIA's library instead of
-- kernels of Mare's own, where it is there. Halves and whole numbers are transformed as
-- floats. Any length is allowed; factors up to 13 are fastest. Divided arrays (mare.divide), with
-- two axes or more, are transformed where their rows are, or by exchanging columns.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local halves = require 'mare.fft.halves'
local plans = require 'mare.fft.plan'
local shapes = require 'mare.expression.shapes'

local fft = {}

local allowed = { axes = 'any', norm = 'any', n = 'any', load = 'function', store = 'function',
    backend = 'any' }

-- Returns the last `count` axes of a shape, all if it is nil.
local function last_axes(what, shape, count)
    local list = {}
    if shape.rank < (count or 1) then
        errors.argument('%s: the shape is %s: %d axes are wanted', what, tostring(shape),
            count or 1)
    end
    for k = shape.rank - (count or shape.rank), shape.rank - 1 do list[#list + 1] = k end
    return list
end

-- Transforms x along the axes that are given, or the last `count` ones.
local function run(name, transform, count, x, given)
    local what = 'fft.' .. name
    given = errors.fields(what, given or {}, allowed)
    if array.divided and array.divided.is(x) then
        return plans.divided(what, transform, x, given,
            given.axes or last_axes(what, x.shape, count))
    end
    local node = array.hold(x, what)
    local desc = { what = what, transform = transform, shape = node.shape, type = node.type,
        device = node.device, n = given.n, norm = given.norm, load = given.load,
        store = given.store, backend = given.backend,
        axes = given.axes or last_axes(what, node.shape, count) }
    return array.drop(node, plans.of(desc)(x))
end

-- Returns the transform along the last axis, sum of x[j] exp(-2 pi i j k / n): complex.
function fft.fft(x, options) return run('fft', 'fft', 1, x, options) end

-- Returns the inverse of fft.
function fft.ifft(x, options) return run('ifft', 'ifft', 1, x, options) end

-- Returns the transform of real numbers along the last axis: the numbers 0 to n / 2 of it, of
-- which the others are conjugates.
function fft.rfft(x, options) return run('rfft', 'rfft', 1, x, options) end

-- Returns the inverse of rfft: real numbers, 2 (m - 1) of m if n says nothing else.
function fft.irfft(x, options) return run('irfft', 'irfft', 1, x, options) end

-- Returns the transform along the last two axes.
function fft.fft2(x, options) return run('fft2', 'fft', 2, x, options) end

-- Returns the inverse of fft2.
function fft.ifft2(x, options) return run('ifft2', 'ifft', 2, x, options) end

-- Returns the transform of real numbers along the last two axes, of which the last is halved.
function fft.rfft2(x, options) return run('rfft2', 'rfft', 2, x, options) end

-- Returns the inverse of rfft2.
function fft.irfft2(x, options) return run('irfft2', 'irfft', 2, x, options) end

-- Returns the transform along all axes.
function fft.fftn(x, options) return run('fftn', 'fft', nil, x, options) end

-- Returns the inverse of fftn.
function fft.ifftn(x, options) return run('ifftn', 'ifft', nil, x, options) end

-- Returns the transform of real numbers along all axes, of which the last is halved.
function fft.rfftn(x, options) return run('rfftn', 'rfft', nil, x, options) end

-- Returns the inverse of rfftn.
function fft.irfftn(x, options) return run('irfftn', 'irfft', nil, x, options) end

local transforms = { fft = true, ifft = true, rfft = true, irfft = true, filter = true }
local plan_fields = { shape = 'table', type = 'string', device = 'any', axes = 'any', n = 'any',
    norm = 'any', transform = transforms, load = 'function', store = 'function', backend = 'any',
    filter = 'function', aside = 'function', numbers = 'table', result = 'string' }

-- Returns a plan, a function of arrays of one shape and type, with all that was given checked:
--     local power = mare.fft.plan { shape = { 64, 1024 }, type = 'float', transform = 'rfft',
--         load = function(x, i) return x * hann(i) end,
--         store = function(y, k) return y.re ^ 2 + y.im ^ 2 end }
--     local spectra = power(x)
--     power(x, { out = spectra })         -- into an array that is there; of x itself in place
-- transform: 'fft' (default), 'ifft', 'rfft', 'irfft', 'filter'; axes: the last one. load is called
-- with each number x, or { re =, im = }, its place i along the first axis that is transformed and
-- the number of the transform; store with each result. They become parts of the kernel, and are
-- written with operators and the functions of mare.fft.maths. numbers: names of what they get as
-- fourth argument, a table, by the call: power(x, { numbers = { width = 3 } }). result: the type
-- that real results are rounded to. type = 'complex_half': the array is one of halves that has one
-- axis more, of 2 numbers, the real and the imaginary part, and so has the result; with
-- result = 'complex_half' that of other numbers. Kernels compute in float and round once, so that
-- each part has a relative error of up to 2^-11 of itself; those above 65504 become infinite, for
-- which norm = 'ortho' is: the sum of n numbers grows with n.
-- 'filter' transforms, takes filter(y, k, number, numbers) for each number of the transform, k
-- being its place along the first of the axes, and transforms back, the middle by one kernel.
-- aside(y, k, number, numbers) returns a list of { place, value }: bytes that are stored at places
-- of an array that the call is given, of what filter has returned: smooth(x, { aside = picture }).
function fft.plan(desc)
    local what = 'fft.plan'
    errors.fields(what, desc, plan_fields)
    local shape = shapes.given(what, errors.wanted('fft.plan: shape', 'table', desc.shape))
    return plans.of { what = what, transform = desc.transform or 'fft', shape = shape,
        type = halves.named(desc.type or 'complex_float', what),
        device = array.device(desc.device, what), axes = desc.axes or last_axes(what, shape, 1),
        n = desc.n, norm = desc.norm, load = desc.load, store = desc.store,
        backend = desc.backend, filter = desc.filter, aside = desc.aside, numbers = desc.numbers,
        result = desc.result }
end

-- The functions that load and store are written with: cos, exp, where, lt, ...
fft.maths = setmetatable({}, { __index = require 'mare.dialect.maths' })

return fft
