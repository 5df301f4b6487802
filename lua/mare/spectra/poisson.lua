-- Poisson's equation in a periodic box, by transforms: those of the right-hand side are divided by
-- what the Laplacian multiplies waves by, in the kernel that transforms along the last axis.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local m = require 'mare.dialect.maths'
local waves = require 'mare.spectra.waves'

local poisson = {}

-- What the second derivative multiplies wave k of n points by, which are length / n apart.
local factors = {
    spectral = function(k, n, length)
        local number = waves.number(k, n) * (2 * math.pi / length)
        return -(number * number)
    end,
    second = function(k, n, length)
        return (m.cos(k * (2 * math.pi / n)) - 1) * (2 * n * n / length / length)
    end,
}

local function check(f, given)
    local what = 'fft.poisson'
    given = errors.fields(what, given or {}, { lengths = 'table', order = 'any' })
    array.check_whole(f, what)
    local node = array.hold(f, what)
    local shape, type = array.drop(node, node.shape), node.type
    if type.name ~= 'float' and type.name ~= 'double' then
        errors.argument('%s: floats or doubles are wanted, not %s', what, type.name)
    elseif shape.rank < 1 or shape.count == 0 then
        errors.argument('%s: the shape is %s: at least one element is wanted', what,
            tostring(shape))
    end
    local order, lengths = given.order or 'spectral', given.lengths or {}
    if not factors[order] then
        errors.argument("%s: order = '%s' (allowed: spectral, second)", what, tostring(order))
    elseif given.lengths and #lengths ~= shape.rank then
        errors.argument('%s: %d lengths for %d axes', what, #lengths, shape.rank)
    end
    for k, length in ipairs(lengths) do
        if errors.wanted(what .. ': lengths', 'number', length) <= 0 then
            errors.argument('%s: length %g along axis %d: it must be above 0', what, length, k - 1)
        end
    end
    return shape, type, order, lengths
end

-- Returns a function that a plan stores with, of a transform of this shape whose last axis is
-- halved and whose first one is transformed last: what is stored is the transform of the solution.
local function divider(shape, order, lengths)
    return function(y, first, number)
        local sum, places = 0, waves.places(shape, first, number)
        for k, place in ipairs(places) do
            sum = sum + factors[order](place, shape[k], lengths[k] or 2 * math.pi)
        end
        local is_mean = m.eq(sum, 0)
        local ratio = m.where(is_mean, 0, 1 / m.where(is_mean, 1, sum))
        return { re = y.re * ratio, im = y.im * ratio }
    end
end

-- Adds the function to the module.
function poisson.add(fft)
    -- Returns the solution u of the equation that the sum of its second derivatives along all axes
    -- is f, less the mean of f, in a periodic box; the mean of u is 0. lengths: of the box, 2 pi
    -- along each axis if they are not given; order: 'spectral' (default), or 'second' for second
    -- differences of neighbours instead of derivatives:
    --     local potential = mare.fft.poisson(charge, { lengths = { 1, 1 } })
    function fft.poisson(f, options)
        local shape, type, order, lengths = check(f, options)
        local axes = {}
        for k = 1, shape.rank do axes[k] = k - 1 end
        local sizes = { unpack(shape, 1, shape.rank) }
        local divided = fft.plan { shape = sizes, type = type.name, device = f.device, axes = axes,
            transform = 'rfft', store = divider(shape, order, lengths) }
        return fft.irfft(divided(f), { axes = axes, n = sizes })
    end
end

return poisson
