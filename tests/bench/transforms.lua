-- transforms.lua - Fourier transforms: rates of many lengths, beside the device's copy.
--     mare tests/bench/transforms.lua [DEVICE [LOG2 [NAME...]]]
--     mare tests/bench/transforms.lua table FILE...
-- LOG2: of the points in all (26 on a GPU, 22 elsewhere); NAME: a part of the names of those that
-- are wanted. A rate counts each point read and written once, as for one pass; real points have
-- half the bytes. Where cuFFT is, it is measured in turn. The table shows rates of Mare beside
-- those of cuFFT and transforms_peers.py, from files with the records.

local bandwidth = require 'mare.measure.bandwidth'
local cufft = require 'bindings.cufft'
local mare = require 'mare'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

if arg[1] == 'table' then
    return require 'tests.bench.transforms_table' ({ unpack(arg, 2) },
        { benchmark = 'transforms', value = 'rate', unit = 'GB/s', by = 1e9 })
end

-- ---- what is measured ----

local device = words.device(arg[1])
local is_gpu = device.info.kind == 'gpu'
local log2 = words.count('transforms: LOG2', arg[2], record.few(is_gpu and 26 or 22, 12), 30)
local points = 2 ^ log2
local copy = bandwidth.measure(device)

local function numbers(type, shape)
    local x = mare.rand(shape, { seed = 1, device = device })
    return (type:find 'complex' and mare.complex(x - 0.5, x) or x):to(type):eval()
end

local has_cufft = cufft.is_there(device)

-- Measures a plan that stores into an array that is there. Returns { seconds, fastest, slowest }.
local function times_of(desc, x)
    local plan = mare.fft.plan(desc)
    local y = plan(x)
    return { record.time(device, function() plan(x, { out = y }) end, 0.15) }
end

local function write(name, times, bytes, peer)
    local rate = bytes / times[1]
    record.write(device, { benchmark = 'transforms', transform = name, points = points,
        peer = peer, seconds = times[1], fastest = times[2], slowest = times[3], rate = rate,
        copy_bandwidth = copy, share_of_copy = copy and rate / copy },
        ('%-9s %-7s %-30s %9.4g ms %8.4g GB/s%s'):format(device.name, peer or '', name,
        1e3 * times[1], rate / 1e9, copy and (', %.2f of copy'):format(rate / copy) or ''))
end

-- desc: { type, shape, axes, transform, load, store }; name: what the row and the record say
local function report(name, desc, bytes)
    local is_wanted = not arg[3]
    for k = 3, #arg do is_wanted = is_wanted or name:find(arg[k], 1, true) end
    if not is_wanted then return end
    local x = numbers(desc.type, desc.shape)
    write(name, times_of(desc, x), bytes)
    if has_cufft and not desc.load then
        desc.backend = 'cufft'
        write(name, times_of(desc, x), bytes, 'cufft')
    end
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

rows('complex_float', 'fft', record.few({ 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
    16384, 65536, 2 ^ 20, 2 ^ 24, 1000, 1536, 2187, 1009, 10007 }, { 8, 60, 11 }))
rows('float', 'rfft', record.few({ 256, 1024, 4096 }, { 64 }))
if device.info.has_double then
    rows('complex_double', 'fft', record.few({ 256, 1024, 4096 }, { 64 }))
end
squares(record.few({ 512, 1024, 2048, 4096, 8192 }, { 16 }))
spectra(record.few(1024, 64))
