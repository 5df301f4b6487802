-- transforms.lua - Fourier transforms: rates of many lengths, beside the device's copy.
--     mare tests/bench/transforms.lua [DEVICE [LOG2]]
-- LOG2: of the points in all (26 on a GPU, 22 elsewhere). A rate counts each point read and written
-- once, as for one pass; real points have half the bytes.

local bandwidth = require 'mare.measure.bandwidth'
local devices = require 'bindings.device'
local mare = require 'mare'
local record = require 'tests.bench.record'

local device = devices.open(arg[1])
local is_gpu = device.info.kind == 'gpu'
local log2 = tonumber(arg[2]) or record.few(is_gpu and 26 or 22, 12)
local points = 2 ^ log2
local copy = bandwidth.measure(device)

local function numbers(type, shape)
    local x = mare.rand(shape, { seed = 1, device = device })
    return (type:find 'complex' and mare.complex(x - 0.5, x) or x):to(type):eval()
end

-- desc: { type, shape, axes, transform, load, store }; name: what the row and the record say
local function report(name, desc, bytes)
    local x, plan = numbers(desc.type, desc.shape), mare.fft.plan(desc)
    local seconds, fastest, slowest = record.time(device, function() plan(x) end, 0.15)
    local rate = bytes / seconds
    record.write(device, { benchmark = 'transforms', transform = name, points = points,
        seconds = seconds, fastest = fastest, slowest = slowest, rate = rate,
        copy_bandwidth = copy, share_of_copy = copy and rate / copy },
        ('%-9s %-30s %9.4g ms %8.4g GB/s%s'):format(device.name, name, 1e3 * seconds, rate / 1e9,
        copy and (', %.2f of copy'):format(rate / copy) or ''))
    collectgarbage()
end

local function rows(type, transform, lengths)
    for _, n in ipairs(lengths) do
        if n <= points then
            local batch = math.floor(points / n)
            local bytes = batch * n * (type:find 'double' and 16 or 8)
                * (transform == 'fft' and 2 or 1)
            report(('%s %s of %d'):format(type, transform, n), { type = type, device = device,
                shape = { batch, n }, transform = transform }, bytes)
        end
    end
end

local function squares(sides)
    for _, n in ipairs(sides) do
        if n * n <= points then
            local batch = math.floor(points / n / n)
            report(('2-D, %d x %d'):format(n, n), { type = 'complex_float', device = device,
                shape = { batch, n, n }, axes = { -2, -1 } }, 16 * batch * n * n)
        end
    end
end

-- The power spectra of windowed signals, by one kernel.
local function spectra(n)
    local maths = mare.fft.maths
    report(('window, real %d, power'):format(n), { type = 'float', device = device,
        shape = { math.floor(points / n), n }, transform = 'rfft',
        load = function(x, i) return x * (0.5 - 0.5 * maths.cos(i * (2 * math.pi / n))) end,
        store = function(y) return y.re * y.re + y.im * y.im end }, 4 * points * 1.5)
end

rows('complex_float', 'fft', record.few({ 8, 16, 32, 64, 256, 1024, 2048, 4096, 8192, 16384, 65536,
    2 ^ 20, 2 ^ 24, 1000, 1536, 2187, 1009, 10007 }, { 8, 60, 11 }))
rows('float', 'rfft', record.few({ 256, 1024, 4096 }, { 64 }))
if device.info.has_double then
    rows('complex_double', 'fft', record.few({ 256, 1024, 4096 }, { 64 }))
end
squares(record.few({ 512, 1024, 2048, 4096, 8192 }, { 16 }))
spectra(record.few(1024, 64))
