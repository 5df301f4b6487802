-- fft.lua - the tables and figures of Fritzenwallner's thesis (2023), chapters 2 and 4, on this
-- device: times of single transforms of real numbers by length, of batches, of lengths with small
-- factors and of primes, of two dimensions, with a window, errors by precision, and the kernels of
-- a filtered picture.
--     mare tests/bench/fft.lua [DEVICE [IMAGE [PART...]]]
--     mare tests/bench/fft.lua table FILE...
-- Where cuFFT is, it is measured in turn. IMAGE (fft.png; none): the times by length, of `lengths`
-- or `sizes`. PART: lengths, batches, factors, squares, window, errors, exact, picture and peers,
-- which are the default; sizes: 155 plans, sizes:N those from length N on. peers: SciPy, MKL and
-- FFTW on two threads of the processor (fft_peers.py), as far as the Python of $MARE_PYTHON, or
-- python3, has them. The table is made of files with the records.

local cufft = require 'bindings.cufft'
local exact_transform = require 'tests.bench.exact_transform'
local home = require 'bindings.home'
local json = require 'dkjson'
local mare = require 'mare'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

if arg[1] == 'table' then
    return require 'tests.bench.transforms_table' ({ unpack(arg, 2) },
        { benchmark = 'fft', value = 'seconds', unit = 'us', by = 1e-6, is_time = true })
end

local device = words.device(arg[1])
local image = words.picture('fft: IMAGE', arg[2] or not record.is_small and 'fft.png' or 'none')
local has_cufft = cufft.is_there(device)
local has_double = device.info.has_double
local is_gpu = device.info.kind == 'gpu'
local m = mare.fft.maths

-- ---- measuring ----

local curves = {}       -- { x, y, label }, also by label, for the picture

local function add_curve(label)
    curves[label] = { x = {}, y = {}, label = label }
    curves[#curves + 1] = curves[label]
end

local function add_point(label, x, seconds)
    if not curves[label] then add_curve(label) end
    table.insert(curves[label].x, x)
    table.insert(curves[label].y, 1e6 * seconds)
end

local function write(name, peer, times, row)
    record.write(device, { benchmark = 'fft', transform = name, peer = peer, seconds = times[1],
        fastest = times[2], slowest = times[3] }, row or ('%-9s %-7s %-34s %10.2f us'):format(
        device.name, peer or '', name, 1e6 * times[1]))
end

local function numbers(type, shape)
    return (mare.rand(shape, { seed = 1, device = device }) * 2 - 1):to(type):eval()
end

local function time(work) return { record.time(device, work, 0.03, 5) } end

-- Measures a transform of real numbers by Mare and by cuFFT. curve: { label, n }, or nil
local function measure(name, desc, curve)
    local x = numbers(desc.type, desc.shape)
    for _, backend in ipairs(has_cufft and { 'own', 'cufft' } or { 'own' }) do
        local plan = mare.fft.plan { shape = desc.shape, type = desc.type, device = device,
            axes = desc.axes, transform = 'rfft', backend = backend }
        local y = plan(x)
        local times = time(function() plan(x, { out = y }) end)
        local peer = backend == 'cufft' and 'cufft' or nil
        write(name, peer, times)
        if curve then add_point((peer or 'Mare') .. ', ' .. desc.type, curve, times[1]) end
    end
    collectgarbage()
end

-- Measures one of many that are queued at once, so that the time of the host does not count.
-- Returns its seconds.
local function measure_queued(name, desc)
    local x, count = numbers(desc.type, desc.shape), record.few(20, 2)
    local plan = mare.fft.plan { shape = desc.shape, type = desc.type, device = device,
        transform = 'rfft' }
    local y = plan(x)
    local all = device.stream:record(function()
        for _ = 1, count do plan(x, { out = y }) end
    end)
    local times = time(function() all:run() end)
    for k = 1, 3 do times[k] = times[k] / count end
    write(name .. ', queued', nil, times)
    all:release()
    collectgarbage()
    return times[1]
end

local types = has_double and { 'float', 'double' } or { 'float' }

-- ---- the parts ----

local parts = {}

-- Tables 4.4 and 4.5.
function parts.lengths()
    for _, type in ipairs(types) do
        for log2 = 10, record.few(is_gpu and 25 or 22, 10) do
            measure(('%s, 2^%d'):format(type, log2), { type = type, shape = { 2 ^ log2 } },
                2 ^ log2)
        end
    end
end

-- The counts around multiples of the multiprocessors.
local function crowded()
    local counts, units = {}, device.info.compute_units
    for _, times in ipairs(record.few({ 1, 2, 4, 6, 8, 12, 16 }, {})) do
        counts[#counts + 1], counts[#counts + 2] = units * times, units * times + 1
    end
    return counts
end

-- Figures 4.5 to 4.7: transforms of 1024 points.
function parts.batches()
    for _, type in ipairs(types) do
        for _, count in ipairs(record.few({ 1, 10, 50, 92, 93, 200, 400, 800 }, { 2 })) do
            local name, desc = ('%s, %d of 1024'):format(type, count),
                { type = type, shape = { count, 1024 } }
            measure(name, desc)
            measure_queued(name, desc)
        end
        for _, count in ipairs(crowded()) do
            measure_queued(('%s, %d of 1024'):format(type, count), { type = type,
                shape = { count, 1024 } })
        end
    end
end

-- Figure 4.8: lengths of small factors, and primes.
function parts.factors()
    for _, n in ipairs(record.few({ 1029, 1250, 1400, 2025, 2187, 2401, 3125, 3600, 4096, 1031,
        1511, 2039, 2053, 3067, 4093 }, { 1029 })) do
        measure(('%s, 92 of %d'):format(types[#types], n), { type = types[#types],
            shape = { 92, n } })
    end
end

local function largest_factor(n)
    local factor = 2
    while factor * factor <= n do
        if n % factor == 0 then n = n / factor else factor = factor + 1 end
    end
    return n
end

-- Figure 4.8 in full: 92 of each length from 1024 to 4096 without a factor over 7, and of every
-- eighth prime.
function parts.sizes(least)
    local primes = 0
    for _, factor in ipairs { 2, 3, 5, 7 } do add_curve('largest factor ' .. factor) end
    for n = 1024, record.few(4096, 1031) do
        local factor = largest_factor(n)
        if factor == n then primes = primes + 1 end
        if n >= (least or 0) and (factor <= 7 or factor == n and primes % 8 == 1) then
            local seconds = measure_queued(('%s, 92 of %d'):format(types[#types], n),
                { type = types[#types], shape = { 92, n } })
            add_point(factor == n and 'primes' or 'largest factor ' .. factor, n, seconds)
        end
    end
end

-- Tables 4.16 and 4.17.
function parts.squares()
    for _, type in ipairs(types) do
        for log2 = 2, record.few(is_gpu and 13 or 11, 2) do
            measure(('%s, 2^%d x 2^%d'):format(type, log2, log2), { type = type,
                shape = { 2 ^ log2, 2 ^ log2 }, axes = { 0, 1 } })
        end
    end
end

-- Table 4.12: Hann's weights computed each time, kept, and as a part of the transform.
function parts.window()
    for log2 = record.few(16, 10), record.few(is_gpu and 25 or 20, 10) do
        local n = 2 ^ log2
        local x, turn = numbers('float', { n }), 2 * math.pi / (n - 1)
        local function hann() return 0.5 - 0.5 * mare.cos(mare.arange(n, { device = device,
            type = 'float' }) * turn) end
        local kept, y = hann():eval(), mare.fft.rfft(x)
        local plain = mare.fft.plan { shape = { n }, type = 'float', device = device,
            transform = 'rfft' }
        local fused = n <= 2 ^ 16 and mare.fft.plan { shape = { n }, type = 'float',
            device = device, transform = 'rfft',
            load = function(v, i) return v * (0.5 - 0.5 * m.cos(i * turn)) end }
        write(('window by calls, 2^%d'):format(log2), nil, time(function()
            plain((x * hann()):eval(), { out = y })
        end))
        write(('window kept, 2^%d'):format(log2), nil, time(function()
            plain((x * kept):eval(), { out = y })
        end))
        if fused and pcall(fused, x) then
            write(('window in the transform, 2^%d'):format(log2), nil,
                time(function() fused(x, { out = y }) end))
        end
    end
end

-- Figures 4.9 and 4.10: relative L2 errors, of float beside double, and of double there and back.
function parts.errors()
    for log2 = 10, record.few(20, 10), 2 do
        local n = 2 ^ log2
        local x = numbers(types[#types], { n })
        local exact = mare.fft.rfft(x)
        local function report(name, difference, size)
            local value = ((difference:abs() ^ 2):sum():item()
                / (size:abs() ^ 2):sum():item()) ^ 0.5
            write(name, nil, { value, value, value }, ('%-9s %-42s %10.3g'):format(device.name,
                name, value))
        end
        if has_double then
            local single = mare.fft.rfft(x:float():eval())
            local of_single = mare.fft.rfft(x:float():to 'double':eval())
            report(('error of float, 2^%d'):format(log2), single:to 'complex_double' - of_single,
                of_single)
        end
        report(('error of %s there and back, 2^%d'):format(types[#types], log2),
            mare.fft.irfft(exact, { n = n }) - x, x)
    end
end

-- The same against sums in quadruple precision, of 64 elements.
function parts.exact()
    for log2 = 10, record.few(14, 10), 2 do
        for _, type in ipairs(types) do
            local n, apart, all = 2 ^ log2, 0, 0
            local x = numbers(type, { n })
            local exact = exact_transform(x:data(), n, record.few(64, 2))
            local y = mare.fft.rfft(x):data()
            for _, element in ipairs(exact) do
                local k, re, im = unpack(element)
                apart = apart + (y[k].re - re) ^ 2 + (y[k].im - im) ^ 2
                all = all + re ^ 2 + im ^ 2
            end
            local value = math.sqrt(apart / all)
            local name = ('error of %s beside quadruple, 2^%d'):format(type, log2)
            write(name, nil, { value, value, value }, ('%-9s %-42s %10.3g'):format(device.name,
                name, value))
        end
    end
end

-- Table 2.2: a picture of 1024 x 1024 bytes, filtered, and its spectrum.
function parts.picture()
    local n = record.few(1024, 32)
    local x = (mare.rand({ n, n }, { seed = 1, device = device }) * 255):to 'uint8':eval()
    local filter = mare.spectrum.gaussian { height = n, width = n, device = device }
    local function work() filter(x, { widths = { 60, 15 }, angle = 30 }) end
    work()
    write(('picture of %d x %d by calls'):format(n, n), nil, time(work))
    local plan = device.stream:record(work)
    plan:run()
    write(('picture of %d x %d as a plan'):format(n, n), nil, time(function() plan:run() end))
end

-- Takes in a record of fft_peers.py: a row, a point of the picture, a line of the file of records.
local function take_record(line)
    local of = json.decode(line)
    print(('%-9s %-7s %-34s %10.2f us'):format('processor', of.peer, of.transform,
        1e6 * of.seconds))
    local type, log2 = of.transform:match '^(%a+), 2%^(%d+)$'
    if type then add_point(('%s, %s'):format(of.peer, type), 2 ^ log2, of.seconds) end
    local file = os.getenv 'MARE_RECORDS' and io.open(os.getenv 'MARE_RECORDS', 'a')
    if file then
        file:write(line, '\n')
        file:close()
    end
end

function parts.peers()
    for _, peer in ipairs { 'scipy', 'mkl', 'fftw' } do
        local path, count, last = os.tmpname(), 0, 'it printed nothing'
        local pipe = io.popen(("'%s' '%s/tests/bench/fft_peers.py' 2 %s 2>%s"):format(
            os.getenv 'MARE_PYTHON' or 'python3', home.root, peer, path))
        for line in pipe:lines() do
            take_record(line)
            count = count + 1
        end
        pipe:close()
        for line in io.lines(path) do last = line:find '%S' and line or last end
        os.remove(path)
        if count == 0 then print(('%s: not here: %s'):format(peer, last)) end
    end
end

-- ---- all of it ----

local order = { 'lengths', 'batches', 'factors', 'squares', 'window', 'errors', 'exact',
    'picture', not record.is_small and 'peers' or nil }
local names = { 'sizes', unpack(order) }
local wanted = #arg > 2 and { unpack(arg, 3) } or order
for _, part in ipairs(wanted) do
    words.choice('fft: PART', part:match '^sizes:%d+$' and 'sizes' or part, names)
end
for _, part in ipairs(wanted) do parts[part:match '^%a+'](tonumber(part:match ':(%d+)')) end

for k = #curves, 1, -1 do
    if not curves[k].x[1] then table.remove(curves, k) end
end
if image and curves[1] then
    mare.image.lines { path = image, title = 'Transforms of real numbers, ' .. device.info.model,
        xlabel = 'points', ylabel = 'us', xlog = true, ylog = true, series = curves }
end
