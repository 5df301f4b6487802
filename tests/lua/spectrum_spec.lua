-- Convolutions, spectra and Poisson's equation beside their definitions.

local device = require 'bindings.device'
local events = require 'mare.base.events'
local fails = require 'tests.fails'
local mare = require 'mare'
local terminal = require 'bindings.terminal'

local null = device.open 'null'

local function numbers(shape, seed, is_complex)
    local options = { seed = seed, device = null, type = 'double' }
    local x = mare.rand(shape, options) - 0.5
    if not is_complex then return x:eval() end
    options.seed = seed + 1
    return x:complex(mare.rand(shape, options) - 0.5):eval()
end

local function largest(x) return x:abs():max():item() end

-- ---- convolution ----

-- The sums of a[j] b[k - j] of lists of numbers.
local function convolved(a, b)
    local c = {}
    for k = 1, #a + #b - 1 do c[k] = 0 end
    for j = 1, #a do
        for k = 1, #b do c[j + k - 1] = c[j + k - 1] + a[j] * b[k] end
    end
    return c
end

it('convolutions are sums of products, of any mode', function()
    for _, sizes in ipairs { { 7, 4 }, { 3, 5 }, { 6, 6 } } do
        local a, b = numbers({ sizes[1] }, 1), numbers({ sizes[2] }, 3)
        local sums = convolved(a:totable(), b:totable())
        local c = mare.array(sums, { device = null, type = 'double' })
        assert.is_true(largest(mare.fft.convolve(a, b) - c) < 1e-14)
        local first = math.floor((sizes[2] - 1) / 2)
        assert.is_true(largest(mare.fft.convolve(a, b, { mode = 'same' })
            - c { { first, first + sizes[1] } }) < 1e-14)
        local least, most = math.min(unpack(sizes)), math.max(unpack(sizes))
        assert.is_true(largest(mare.fft.convolve(a, b, { mode = 'valid' })
            - c { { least - 1, most } }) < 1e-14)
    end
end)

it('convolutions go along all axes, and of complex numbers', function()
    local a, b = numbers({ 4 }, 1, true), numbers({ 3 }, 3, true)
    local c, d = numbers({ 5 }, 5, true), numbers({ 2 }, 7, true)
    local function outer(x, y) return x:unsqueeze(1) * y:unsqueeze(0) end
    local whole = mare.fft.convolve(outer(a, c), outer(b, d))
    local of_axes = outer(mare.fft.convolve(a, b), mare.fft.convolve(c, d))
    assert.same({ 6, 6 }, whole.shape)
    assert.is_true(largest(whole - of_axes) < 1e-14)
end)

it('correlations are largest where an array is found again', function()
    local x = numbers({ 50 }, 1, true)
    local y = mare.fft.correlate(x, x { { 12, 20 } }:copy(), { mode = 'valid' })
    assert.equal(12, y:abs():argmax():item())
    local power = (x { { 12, 20 } }:abs() ^ 2):sum():item()
    assert.is_true(math.abs(y:at(12).re - power) + math.abs(y:at(12).im) < 1e-14)
end)

-- ---- signals ----

-- The one-sided density of power of a list of numbers, with Hann's weights.
local function density(x, rate)
    local n, squares, list = #x, 0, {}
    local function weight(j) return 0.5 - 0.5 * math.cos(2 * math.pi * j / n) end
    for j = 0, n - 1 do squares = squares + weight(j) ^ 2 end
    for k = 0, math.floor(n / 2) do
        local re, im = 0, 0
        for j = 0, n - 1 do
            local angle = 2 * math.pi * j * k / n
            re, im = re + x[j + 1] * weight(j) * math.cos(angle),
                im + x[j + 1] * weight(j) * math.sin(angle)
        end
        list[k + 1] = (re * re + im * im) * ((k == 0 or 2 * k == n) and 1 or 2) / squares / rate
    end
    return list
end

it('spectra of signals are means over segments', function()
    local x = numbers({ 2, 40 }, 1)
    for _, length in ipairs { 16, 9 } do
        local step = length - 5
        local options = { rate = 8, length = length, overlap = 5, detrend = false }
        local f, t, power = mare.spectrum.spectrogram(x, options)
        local count = math.floor((40 - length) / step) + 1
        assert.same({ 2, count, math.floor(length / 2) + 1 }, power.shape)
        for k = 1, count do
            local segment = x { 1, { (k - 1) * step, (k - 1) * step + length } }:totable()
            local expected = mare.array(density(segment, 8), { device = null, type = 'double' })
            assert.is_true(largest(power { 1, k - 1 } - expected) < 1e-14)
            assert.is_true(math.abs(t:at(k - 1) - ((k - 1) * step + length / 2) / 8) < 1e-6)
        end
        assert.is_true(math.abs(f:at(1) - 8 / length) < 1e-6)
        local _, mean = mare.spectrum.welch(x, options)
        assert.is_true(largest(mean - power:mean { axis = 1 }) < 1e-15)
    end
end)

it('a wave has its power, whatever its mean', function()
    local i = mare.arange(256, { device = null }):double()
    local x = 3 * mare.cos(i * (2 * math.pi / 16)) + 100
    local _, power = mare.spectrum.welch(x, { length = 64, scaling = 'spectrum' })
    assert.is_true(math.abs(power:at(4) - 4.5) < 1e-12)
    assert.is_true(power:at(0) < 1e-12)
    local _, all = mare.spectrum.welch(x, { length = 64, taper = 'boxcar' })
    assert.is_true(math.abs(all:sum():item() / 64 - 4.5) < 1e-12)
end)

-- ---- fields ----

it('the energy of fields is that of their waves', function()
    local u, v = numbers({ 12, 8 }, 1), numbers({ 12, 8 }, 3)
    local number, energy = mare.spectrum.energy { u, v }
    local mean = ((u ^ 2 + v ^ 2) / 2):mean():item()
    assert.is_true(math.abs(energy:sum():item() - mean) < 1e-15)
    assert.equal(7, number:max():item())
    local i = mare.arange(12, { device = null }):double()
    local j = mare.arange(8, { device = null }):double()
    local wave = mare.sin(i:unsqueeze(1) * (2 * math.pi * 3 / 12) + j * (2 * math.pi * 2 / 8))
    local _, of_wave = mare.spectrum.energy { wave }
    assert.is_true(math.abs(of_wave:at(4) - 0.25) < 1e-15)         -- of (3, 2): 3.6
    local _, of_long = mare.spectrum.energy({ wave }, { lengths = { 1, 2 } })
    assert.is_true(math.abs(of_long:at(6) - 0.25) < 1e-15)         -- of (6, 2): 6.3
end)

it("Poisson's equation is solved to the last bits", function()
    local i = mare.arange(8, { device = null }):double()
    local j = mare.arange(9, { device = null }):double()
    local wave = mare.cos(i:unsqueeze(1) * (2 * math.pi * 3 / 8) - j * (2 * math.pi * 2 / 9))
    local factor = -(2 * math.pi) ^ 2 * (3 ^ 2 / 4 + 2 ^ 2)
    local solved = mare.fft.poisson(wave * factor + 5, { lengths = { 2, 1 } })
    assert.is_true(largest(solved - wave) < 1e-14)
    local function second(x, axis)
        local n = x.shape[axis + 1]
        local k = mare.arange(n, { device = null })
        return x:take((k + 1) % n, { axis = axis }) + x:take((k + n - 1) % n, { axis = axis })
            - 2 * x
    end
    local f = numbers({ 4, 5, 6 }, 1)
    local u = mare.fft.poisson(f, { lengths = { 4, 10, 6 }, order = 'second' })
    local back = second(u, 0) + second(u, 1) / 4 + second(u, 2)
    assert.is_true(largest(back - (f - f:mean())) < 1e-14)
end)

-- ---- refusals ----

it('keys change a filter while pictures follow each other', function()
    local typed, waited, shown_at = { '', '+\27[C', '', '', 'q' }, {}, {}
    local look_ahead, tell, calls = terminal.look_ahead, events.tell, 0
    terminal.look_ahead = function(milliseconds)
        waited[#waited + 1] = milliseconds
        return table.remove(typed, 1), false
    end
    events.tell = function(_, event)
        shown_at[#shown_at + 1] = event.message:match 'widths.-angle %d+'
    end
    local gauss = { widths = { 10, 20 }, angle = 0 }
    local picture = mare.zeros({ 8, 8 }, { device = null })
    local ok, reason = pcall(function()
        mare.spectrum.shown(8, 8, null):by_keys(gauss, function()
            calls = calls + 1
            return picture, picture, calls < 4
        end, 7)
    end)
    terminal.look_ahead, events.tell = look_ahead, tell
    assert(ok, reason)
    assert.same({ 7, 7, 7, -1, -1 }, waited)
    assert.equal('widths 10, 20, angle 0', shown_at[2])
    assert.equal('widths 11, 22, angle 5', shown_at[3])
end)

it('what has no spectrum is named', function()
    local function refused(f, ...) fails(f, 'MARE_ERROR_ARGUMENT', ...) end
    local x, c = numbers({ 4, 6 }, 1), numbers({ 4 }, 1, true)
    refused(function() mare.fft.convolve(x, c) end, '{ 4, 6 }', '{ 4 }')
    refused(function() mare.fft.convolve(x, x, { mode = 'some' }) end, 'some', 'valid')
    refused(function()
        mare.fft.correlate(x, numbers({ 6, 4 }, 1), { mode = 'valid' })
    end, '{ 6, 4 }')
    refused(function() mare.spectrum.welch(c) end, 'complex_double')
    refused(function() mare.spectrum.welch(x, { length = 7 }) end, 'length = 7', '6')
    refused(function() mare.spectrum.welch(x, { overlap = 6 }) end, 'overlap = 6', '5')
    refused(function() mare.spectrum.welch(x, { taper = 'kaiser' }) end, 'kaiser', 'hann')
    refused(function() mare.spectrum.welch(x, { detrend = 'linear' }) end, 'linear')
    refused(function() mare.spectrum.welch(x, { rate = 0 }) end, 'rate = 0')
    refused(function() mare.spectrum.energy {} end, 'no field')
    refused(function() mare.spectrum.energy { x, numbers({ 6 }, 1) } end, 'field 2', '{ 6 }')
    refused(function() mare.spectrum.energy({ x }, { lengths = { 1 } }) end, '1 lengths', '2 axes')
    refused(function() mare.fft.poisson(c) end, 'complex_double')
    refused(function() mare.fft.poisson(x, { order = 'third' }) end, 'third', 'spectral')
    refused(function() mare.fft.poisson(x, { lengths = { 1, 0 } }) end, 'length 0', 'axis 1')
end)
