-- The spectrogram of a sound: the power of its frequencies over time, by Hann windows that overlap
-- (Welch 1967). Window, transform and power are one kernel. Without a file it is a chirp, whose
-- frequency rises with time, beside a steady tone, so that the loudest frequency is known.

local mare = require 'mare'

local o = mare.options {
    title = 'Spectrogram of a sound',
    help = 'Power of frequencies over time, of a WAVE file or of a chirp; draws a picture.',
    mare.options.device,
    { name = 'file', type = 'string',
        help = 'WAVE file of integers or floats; without it: a chirp' },
    { name = 'length', default = 1024, range = { 16, 2 ^ 20 }, help = 'samples of a window' },
    { name = 'overlap', default = 0.75, type = 'number', range = { 0, 0.999 },
        help = 'share of a window' },
    { name = 'decibels', default = 80.0, type = 'number', range = { 1, 400 },
        help = 'below the loudest, shown' },
    { name = 'image', default = 'spectrogram.png', type = 'path', writes = 'png',
        help = "PNG file to draw, or 'none'" },
    { name = 'quiet', default = false, help = 'print nothing' },
}
local print = o.quiet and function() end or print
local device = mare.options.apply('device', mare.device.open, o.device)

-- Two seconds that rise from 500 Hz to 6500 Hz, and a tone of 1 kHz, a tenth as loud.
local function chirp(rate)
    local t = mare.arange(2 * rate, { device = device, type = 'double' }) / rate
    local turns = t * (1500 * t + 500)
    local x = mare.sin(2 * math.pi * (turns - turns:floor()))
        + 0.1 * mare.sin(2 * math.pi * ((1000 * t) - (1000 * t):floor()))
    return x:float():eval(), rate
end

-- The mean of all channels.
local function sound(path)
    local read = mare.options.apply('file', mare.spectrum.wav, path, device)
    return read.samples:mean { axis = 1 }:eval(), read.rate
end

local x, rate
if o.file then x, rate = sound(o.file) else x, rate = chirp(16000) end
local count = x.shape[1]
local length = math.min(o.length, count)
local frequency, time, power = mare.spectrum.spectrogram(x, { rate = rate, length = length,
    overlap = math.min(math.floor(o.overlap * length), length - 1), scaling = 'spectrum' })
local loudest = power:max():item()
local share = mare.maximum(power / math.max(loudest, 1e-30), 1e-30)
local level = (10 * mare.log10(share)):eval()
local segments, lines = power.shape[1], power.shape[2]
local tone = frequency:at(power:max { axis = 0 }:argmax():item())
print(('%d samples at %g Hz, %.3g s: %d windows of %d; the loudest tone is at %.0f Hz'):format(
    count, rate, count / rate, segments, length, tone))

-- A window is as many cells wide as makes the picture wider than high.
if o.image then
    local across = math.floor(1.6 * lines)
    local nearest = (mare.arange(across, { device = device }) * segments / across):int32()
    mare.image.field { path = o.image, nx = across, ny = lines, width = 1200, shape = 0.6,
        data = level:take(nearest, { axis = 0 }):transpose():data(), range = { -o.decibels, 0 },
        x = { 0, count / rate }, y = { 0, rate / 2 }, xlabel = 's', ylabel = 'Hz', label = 'dB',
        title = o.file and o.file:match '[^/]*$' or 'A rising tone' }
    print('wrote ' .. o.image)
end
return { frequency = frequency, time = time, power = power, rate = rate }
