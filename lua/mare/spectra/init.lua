-- Spectra: of signals by Welch's method, over time, and of the energy of fields by wave number.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local fft = require 'mare.fft'
local m = require 'mare.dialect.maths'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local strides = require 'mare.expression.strides'
local types = require 'mare.expression.types'
local wav = require 'bindings.wav'
local waves = require 'mare.spectra.waves'

local spectrum = { gaussian = require('mare.spectra.gaussian').new,
    frames = require('mare.spectra.frames').open, shown = require('mare.spectra.shown').new }

-- ---- segments of signals ----

-- Weights of the samples of a segment, by their number i, of n.
local tapers = {
    hann = function(i, n) return 0.5 - 0.5 * m.cos(i * (2 * math.pi / n)) end,
    hamming = function(i, n) return 0.54 - 0.46 * m.cos(i * (2 * math.pi / n)) end,
    blackman = function(i, n)
        local turn = 2 * math.pi / n
        return 0.42 - 0.5 * m.cos(i * turn) + 0.08 * m.cos(i * (2 * turn))
    end,
    boxcar = function() return 1 end,
}

local allowed = { rate = 'number', length = 'number', overlap = 'number', taper = 'any',
    detrend = 'any', scaling = { density = true, spectrum = true } }

local function whole(what, name, value, least, most)
    if value % 1 ~= 0 or value < least or value > most then
        errors.argument('%s: %s = %g (allowed: a whole number from %d to %d)', what, name, value,
            least, most)
    end
    return value
end

-- Returns the options of a spectrum of a signal of `count` samples, complete.
local function settings(what, given, count)
    given = errors.fields(what, given or {}, allowed)
    if count < 1 then errors.argument('%s: the signal has no samples', what) end
    local s = { rate = given.rate or 1, detrend = given.detrend, taper = given.taper or 'hann' }
    s.length = whole(what, 'length', given.length or math.min(256, count), 1, count)
    s.overlap = whole(what, 'overlap', given.overlap or math.floor(s.length / 2), 0, s.length - 1)
    s.step = s.length - s.overlap
    s.count = math.floor((count - s.length) / s.step) + 1
    s.scaling = given.scaling or 'density'
    s.weight = type(s.taper) == 'function' and s.taper or tapers[s.taper]
    if s.detrend == nil then s.detrend = 'constant' end
    if s.detrend ~= 'constant' and s.detrend ~= false then
        errors.argument("%s: detrend = '%s' (allowed: constant, false)", what, tostring(s.detrend))
    end
    if not (s.rate > 0 and s.rate < math.huge) then
        errors.argument('%s: rate = %g: it must be above 0', what, s.rate)
    end
    if not s.weight then
        errors.argument("%s: taper = '%s' (allowed: blackman, boxcar, hamming, hann, a function)",
            what, tostring(s.taper))
    end
    return s
end

-- Returns what powers are multiplied by.
local function scale_of(s)
    local sum, squares = 0, 0
    for i = 0, s.length - 1 do
        local weight = s.weight(i, s.length)
        sum, squares = sum + weight, squares + weight * weight
    end
    if not (squares > 0 and sum ~= 0 and squares < math.huge) then
        errors.argument('spectrum: the taper of %d samples weighs nothing', s.length)
    end
    return s.scaling == 'density' and 1 / (s.rate * squares) or 1 / (sum * sum)
end

-- Returns a view of the segments of a signal, along a new axis before the last one.
local function segments_of(x, s)
    local leaf = array.leaf(x, 'spectrum')
    local own, sizes, list, rank = strides.own(leaf), {}, {}, leaf.shape.rank
    for k = 1, rank - 1 do sizes[k], list[k] = leaf.shape[k], own[k] end
    sizes[rank], list[rank] = s.count, s.step * own[rank]
    sizes[rank + 1], list[rank + 1] = s.length, own[rank]
    local shape = shapes.of(sizes, rank + 1)
    local view = nodes.leaf(leaf.version, leaf.type, shape, leaf.offset,
        not strides.are_dense(shape, list) and list)
    return array.drop(leaf, array.of(view)), sizes
end

-- Returns the powers of the segments of a real signal along its last axis, one-sided, by one
-- kernel, and the settings.
local function powers(what, x, given)
    local node = array.hold(x, what)
    local type, shape = node.type, array.drop(node, node.shape)
    if type.complex or shape.rank < 1 then
        errors.argument('%s: an array of real numbers with an axis is wanted, not %s %s', what,
            type.name, tostring(shape))
    end
    local s = settings(what, given, shape[shape.rank])
    local segments, sizes = segments_of(x, s)
    if s.detrend then
        segments = segments - segments:mean { axis = -1, keep = true }
    end
    local scale, middle = scale_of(s), s.length % 2 == 0 and s.length / 2 or -1
    local plan = fft.plan { shape = sizes, type = segments.type, device = segments.device,
        transform = 'rfft', load = function(value, i) return value * s.weight(i, s.length) end,
        store = function(y, k)
            local is_single = m.logical_or(m.eq(k, 0), m.eq(k, middle))
            return (y.re * y.re + y.im * y.im) * m.where(is_single, scale, 2 * scale)
        end }
    return plan(segments), s
end

-- Returns the frequencies of a transform of n real numbers that are 1 / rate apart.
local function frequencies(x, s)
    local count = math.floor(s.length / 2) + 1
    return creation.arange(count, { device = x.device, type = 'float' }) * (s.rate / s.length)
end

-- Returns the frequencies and the density of power of a real signal, along its last axis, by
-- Welch's method: the mean over segments that overlap. rate: samples per time (1); length of
-- segments (256); overlap (half); taper: 'hann', 'hamming', 'blackman', 'boxcar' or a function of
-- (i, n); detrend: 'constant' subtracts each segment's mean, false does not; scaling: 'density' or
-- 'spectrum', of squared amplitudes:
--     local frequency, density = mare.spectrum.welch(x, { rate = 44100, length = 1024 })
function spectrum.welch(x, options)
    local power, s = powers('spectrum.welch', x, options)
    return frequencies(x, s), power:mean { axis = -2 }
end

-- Returns the frequencies, the times of the middles of segments, and their powers, the segments
-- along the last axis but one. Options as of welch:
--     local frequency, time, power = mare.spectrum.spectrogram(x, { rate = 44100 })
function spectrum.spectrogram(x, options)
    local power, s = powers('spectrum.spectrogram', x, options)
    local first, apart = s.length / 2 / s.rate, s.step / s.rate
    local times = creation.arange(s.count, { device = x.device, type = 'float' }) * apart + first
    return frequencies(x, s), times, power
end

-- ---- energy of fields ----

-- Returns the shape of the fields, which is the same for all.
local function shape_of(what, fields)
    local shape
    for k, field in ipairs(errors.wanted(what, 'table', fields)) do
        local node = array.hold(field, what)
        if node.type.complex then
            errors.argument('%s: field %d is %s: real numbers are wanted', what, k, node.type.name)
        end
        local own = array.drop(node, node.shape)
        if own.rank < 1 or own.count == 0 or shape and own ~= shape then
            errors.argument('%s: field %d has the shape %s: all have one, of one element or more',
                what, k, tostring(own))
        end
        shape = own
    end
    return shape or errors.argument('%s: no field is given', what)
end

-- Returns the size of the waves of all numbers of a transform, in those along the longest side, as
-- an array of whole numbers that is not computed yet, and the largest.
local function sizes_of_waves(device, shape, lengths)
    local sum, most, rank = 0, 0, shape.rank
    local longest = math.max(unpack(lengths))
    for k = 1, rank do
        local n, sizes, ratio = shape[k], {}, longest / lengths[k]
        local place = creation.arange(k == rank and math.floor(n / 2) + 1 or n,
            { device = device, type = 'float' })
        for j = 1, rank do sizes[j] = j == k and place.shape[1] or 1 end
        local number = array.where((place * 2):gt(n), place - n, place):reshape(sizes) * ratio
        sum, most = number * number + sum, most + (math.floor(n / 2) * ratio) ^ 2
    end
    return sum:sqrt():rint():to 'int32', math.floor(math.sqrt(most) + 0.5)
end

-- Returns the wave numbers 0, 1, 2, ... along the longest side of a periodic box, and the energy of
-- all waves of about each: half the mean square of the fields, which are components of a velocity,
-- is their sum. lengths: of the sides, all 1 if they are not given:
--     local number, energy = mare.spectrum.energy({ u, v }, { lengths = { 1, 2 } })
function spectrum.energy(fields, options)
    local what = 'spectrum.energy'
    local shape = shape_of(what, fields)
    options = errors.fields(what, options or {}, { lengths = 'table' })
    local lengths, axes, total = options.lengths, {}, nil
    if lengths and #lengths ~= shape.rank then
        errors.argument('%s: %d lengths for %d axes', what, #lengths, shape.rank)
    end
    lengths = lengths and { unpack(lengths) } or {}
    for k = 1, shape.rank do
        axes[k], lengths[k] = k - 1, lengths[k] or 1
        if errors.wanted(what .. ': lengths', 'number', lengths[k]) <= 0 then
            errors.argument('%s: length %g along axis %d: it must be above 0', what, lengths[k],
                k - 1)
        end
    end
    local n = shape[shape.rank]
    local function store(y, first, number)
        local last = waves.places(shape, first, number)[shape.rank]
        local is_single = m.logical_or(m.eq(last, 0), m.eq(2 * last, n))
        return (y.re * y.re + y.im * y.im) * m.where(is_single, 0.5, 1)
    end
    for _, field in ipairs(fields) do
        local own = fft.plan { shape = { unpack(shape, 1, shape.rank) }, type = field.type,
            device = field.device, axes = axes, transform = 'rfft', norm = 'forward',
            store = store } (field)
        total = total and total + own or own
    end
    local size, most = sizes_of_waves(total.device, shape, lengths)
    local numbers = creation.arange(most + 1, { device = total.device })
    local energy = creation.zeros({ most + 1 }, { device = total.device, type = total.type })
    return numbers, energy:add(size, total)
end

-- ---- files ----

-- Returns what is in a WAVE file: { rate: samples per second, samples: an array of samples x
-- channels, floats from -1 to 1 }:
--     local sound = mare.spectrum.wav 'a.wav'
--     local frequency, density = mare.spectrum.welch(sound.samples:mean { axis = 1 },
--         { rate = sound.rate })
function spectrum.wav(path, device)
    local sound = wav.read(errors.wanted('spectrum.wav: path', 'string', path))
    local flat = creation.uploaded(array.device(device, 'spectrum.wav'), types.float, sound.data,
        shapes.line(sound.count * sound.channels))
    return { rate = sound.rate, samples = flat:reshape(sound.count, sound.channels):eval() }
end

return spectrum
