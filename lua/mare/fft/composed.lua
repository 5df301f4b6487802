-- Transforms that no kernel does. They are made of operations on arrays and of other transforms:
-- real ones of more points than a kernel has, and long ones whose factors are not all small.

local array = require 'mare.ndarray.array'
local axis = require 'mare.fft.axis'
local creation = require 'mare.ndarray.creation'
local bound = require 'bindings.array'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local factors = require 'mare.stages.factors'
local functions = require 'mare.ndarray.functions'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local tables = require 'mare.stages.tables'
local types = require 'mare.expression.types'

local composed = {}

-- ---- arrays and leaves ----

local function complex_of(step) return types['complex_' .. step.real] end

-- Returns a view of the places `first` to `last` along an axis.
local function slice(x, along, first, last)
    local places = {}
    for k = 1, along do places[k] = {} end
    places[along] = { first, last }
    return x(places)
end

-- Returns an array of zeros, in memory of its own.
local function zeros(device, type, shape)
    return array.of(array.filled(device, type, shape, 0)):eval()
end

-- Transforms an array along an axis, in place if that is allowed.
local function transformed(step, x, is_inverse, scale, load)
    local from = array.leaf(x, 'fft')
    local inner = { kind = 'complex', axis = step.axis, n = from.shape[step.axis],
        is_inverse = is_inverse, real = step.real, scale = scale, load = load,
        many = step.many, is_of_columns = step.is_of_columns }
    local to = nodes.new_leaf(from.device, complex_of(step), from.shape)
    if axis.is_direct(from.device, inner) then
        axis.run(inner, from, to, function()
            return nodes.new_leaf(from.device, complex_of(step), from.shape)
        end)
    else
        composed.run(inner, from, to)
    end
    nodes.release(from)
    return array.drop(to, array.of(to))
end

-- Stores an array in a leaf.
local function finish(x, to)
    local node = array.hold(x, 'fft')
    evaluate.into(node, to.shape, { version = to.version, offset = 0, strides = false })
    nodes.release(node)
end

-- ---- lengths with other factors ----

-- Returns an array of the complex numbers value(k), in double where the device has that.
local function complex_array(device, count, value)
    local part = types[device.info.has_double and 'double' or 'float']
    local numbers = {}
    for k = 0, count - 1 do numbers[2 * k + 1], numbers[2 * k + 2] = value(k) end
    local data = bound.from_table('fft', numbers, part.name)
    local both = creation.uploaded(device, part, data, shapes.line(2 * count)):reshape(count, 2)
    return functions.complex(slice(both, 2, 0, 1), slice(both, 2, 1, 2)):reshape(count):eval()
end

-- Returns the factors of Bluestein's convolution of so many points: those before and after it (the
-- chirp), and those in between (the transform of what is convolved with).
local function factors_of(step, device, rank, points)
    local chirp = complex_array(device, step.n, function(k) return tables.chirp(k, step.n) end)
    local kernel = complex_array(device, points, function(k)
        return tables.conjugate_chirp(k, step.n, points)
    end)
    local inner = { axis = 1, real = device.info.has_double and 'double' or 'float' }
    local convolver = transformed(inner, kernel, false, 1 / points)
    local sizes = {}
    for k = 1, rank do sizes[k] = 1 end
    local function along(x, count)
        sizes[step.axis] = count
        return x:to(complex_of(step).name):reshape(sizes):eval()
    end
    return along(chirp, step.n), along(convolver, points)
end

local function run_bluestein(step, x, to)
    local n, points, rank = step.n, factors.good(2 * step.n - 1), to.shape.rank
    if not axis.is_long(to.device, step.real, points) then
        errors.argument('fft: length %d has a factor above 13 and is too long: at most %d', n,
            axis.longest(to.device, step.real) / 4)
    end
    local chirp, convolver = factors_of(step, to.device, rank, points)
    local padded = zeros(to.device, complex_of(step), axis.shape_with(to.shape, step.axis, points))
    local count = math.min(n, x.shape[step.axis])
    local given = slice(x, step.axis, 0, count):to(complex_of(step).name)
    if step.is_inverse then given = given:conj() end
    slice(padded, step.axis, 0, count):assign(given * slice(chirp, step.axis, 0, count))
    local product = transformed(step, padded, false, 1) * convolver
    local y = slice(transformed(step, product, true, 1), step.axis, 0, n) * chirp * step.scale
    finish(step.is_inverse and y:conj() or y, to)
end

-- ---- real numbers ----

-- Returns all n numbers of the transform of n real numbers, of which x has those to the middle.
local function whole(step, x, device)
    local half, n, along = math.floor(step.n / 2), step.n, step.axis
    local shape = axis.shape_with(shapes.of(x.shape, #x.shape), along, n)
    local made = zeros(device, complex_of(step), shape)
    local count = math.min(half + 1, x.shape[along])
    slice(made, along, 0, count):assign(slice(x, along, 0, count))
    local first = n % 2 == 0 and half - 1 or half
    if first >= 1 then
        local low = slice(made, along, 1, first + 1):copy()
        slice(made, along, n - first, n):assign(low:flip(along - 1):conj())
    end
    return made
end

local function run_real(step, x, to)
    if step.kind == 'rfft' then
        local shape = axis.shape_with(to.shape, step.axis, step.n)
        local padded = zeros(to.device, types[step.real], shape)
        local count = math.min(step.n, x.shape[step.axis])
        slice(padded, step.axis, 0, count):assign(slice(x, step.axis, 0, count))
        local y = transformed(step, padded, false, step.scale)
        return finish(slice(y, step.axis, 0, math.floor(step.n / 2) + 1), to)
    end
    finish(transformed(step, whole(step, x, to.device), true, step.scale):real(), to)
end

-- Runs a step that axis.is_direct denies. from, to: leaves
function composed.run(step, from, to)
    if step.load or step.store then
        errors.argument('fft: functions load and store are for lengths that one or two kernels '
            .. 'take, not for %d', step.n)
    end
    local x = array.of(from)
    if step.kind == 'complex' then return run_bluestein(step, x, to) end
    run_real(step, x, to)
end

return composed
