-- A filter of pictures by a Gaussian of the wave numbers, turned and of two widths, as that of
-- Fritzenwallner's thesis (2023, listing 2.10), by three kernels; the middle one also draws the
-- spectrum.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local fft = require 'mare.fft'
local m = require 'mare.dialect.maths'

require 'mare.ndarray'

local gaussian = {}

local least_width = 1e-3        -- of waves: less is 0 everywhere but at 0

-- Returns the place of wave k of n where wave 0 is in the middle.
local function shifted(k, n)
    local half = math.floor(n / 2)
    return m.where(m.ge(k, n - half), k - (n - half), k + half)
end

-- Returns the place of the wave opposite to k.
local function opposite(k, n) return m.where(m.eq(k, 0), 0, n - k) end

-- Returns a plan. What it stores beside is the logarithm of the power of each wave, from 0 to 255
-- for that of the brightest picture.
local function plan_of(height, width, type, device)
    local scale = 255 / (2 * math.log(255 * height * width))
    return fft.plan { shape = { height, width }, type = type, result = 'uint8', device = device,
        transform = 'filter', axes = { 0, 1 }, numbers = { 'xx', 'xy', 'yy' },
        filter = function(y, k, number, p)
            local across, down = number, m.where(m.gt(2 * k, height), k - height, k)
            local factor = m.exp(-(across * across * p.xx + across * down * p.xy
                + down * down * p.yy))
            return { re = y.re * factor, im = y.im * factor }
        end,
        aside = function(y, k, number)
            local byte = scale * m.log(1 + y.re * y.re + y.im * y.im)
            local row, column = shifted(k, height), shifted(number, width)
            local other_row = shifted(opposite(k, height), height)
            local other_column = shifted(opposite(number, width), width)
            return { { row * width + column, byte }, { other_row * width + other_column, byte } }
        end }
end

-- Returns the factors of the Gaussian's exponent.
local function numbers_of(what, given)
    given = errors.fields(what, given, { widths = 'table', angle = 'number' })
    local sizes, angle = {}, math.rad(given.angle or 0)
    if angle - angle ~= 0 then
        errors.argument('%s: angle = %g, must be a number of degrees', what, given.angle)
    end
    for k = 1, 2 do
        local width = errors.wanted(what .. ': widths', 'number',
            errors.wanted(what .. ': widths', 'table', given.widths)[k])
        if width ~= width or width < least_width then
            errors.argument('%s: width %g of the Gaussian (at least %g waves)', what, width,
                least_width)
        end
        sizes[k] = 1 / width ^ 2
    end
    local c, s = math.cos(angle), math.sin(angle)
    return { xx = c * c * sizes[1] + s * s * sizes[2], xy = 2 * s * c * (sizes[2] - sizes[1]),
        yy = s * s * sizes[1] + c * c * sizes[2] }
end

-- Returns a function of pictures of height x width bytes (or numbers of another type, from 0 to
-- 255) that returns the filtered picture and its spectrum, both of bytes, which it stores in the
-- same arrays each time:
--     local smooth = mare.spectrum.gaussian { height = 1024, width = 1024 }
--     local picture, spectrum = smooth(x, { widths = { 40, 10 }, angle = 30 })
-- widths: in waves, across and down where the angle, in degrees from the first to the second, is 0.
-- The spectrum is the logarithm of the power, with wave 0 in the middle.
function gaussian.new(given)
    local what = 'spectrum.gaussian'
    errors.fields(what, given, { height = 'number', width = 'number', type = 'string',
        device = 'any' })
    for _, name in ipairs { 'height', 'width' } do
        local size = errors.wanted(what .. ': ' .. name, 'number', given[name])
        if size % 1 ~= 0 or size < 2 or size > 32768 then
            errors.argument('%s: %s = %g (allowed: a whole number from 2 to 32768)', what, name,
                size)
        end
    end
    local on = array.device(given.device, what)
    local sizes, kind = { given.height, given.width }, { device = on, type = 'uint8' }
    local plan = plan_of(given.height, given.width, given.type or 'uint8', on)
    local out = creation.zeros(sizes, kind):copy():eval()
    local spectrum = creation.zeros(sizes, kind):copy():eval()
    return function(x, options)
        plan(x, { out = out, aside = spectrum, numbers = numbers_of(what, options) })
        return out, spectrum
    end
end

return gaussian
