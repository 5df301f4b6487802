-- mandelbrot.lua - the published zoom on a device, and how many escape times are exact.
--     mare tests/bench/mandelbrot.lua DEVICE rate [SIZE]      -- of square frames; 4096
--     mare tests/bench/mandelbrot.lua DEVICE exact MODE [POINTS]
--     mare tests/bench/mandelbrot.lua DEVICE deep [SIZE]
-- rate: an iteration is 7 operations (3 products, 4 sums); their share is of
-- the peak that peak.lua measures in the same process. Iterations are counted
-- by the escape times, so shortcuts count iterations that they skip.

local check_kind = require('mare.array.devices').check_kind
local devices = require 'bindings.device'
local home = require 'bindings.home'
local mandelbrot = require 'mare.mandelbrot'
local peak = require 'tests.bench.peak'
local random = require 'mare.base.random'
local record = require 'tests.bench.record'
local reference = require 'tests.kernels.mandelbrot_reference'
local renderer = require 'mare.mandelbrot.renderer'
local view = require 'mare.mandelbrot.view'
local words = require 'tests.bench.words'

local device = devices.open(arg[1])
check_kind(device, 'the benchmark')
local published = { centre = 'published', width = 3, zoom = 0.95 ^ -49, frames = 50,
    iterations = 5000 }
local function report(name, values, format, ...)
    values.benchmark = 'mandelbrot ' .. name
    record.write(device, values, ('%-10s %-24s ' .. format):format(device.name, name, ...))
end

-- ---- rate ----

local function iterations_of(r)
    local times, count, sum = r.times:download(), r.columns * r.rows, 0
    for k = 0, count - 1 do
        local n = math.floor(times[k] / 256)
        sum = sum + (n == 0 and r.iterations or n)
    end
    return sum
end

-- Times the kernel of escape times alone on some frames.
local function rate_of_frames(size, shortcuts, top)
    local list, centre = view.frames { centre = published.centre, width = published.width,
        zoom = published.zoom, frames = published.frames, columns = size, rows = size,
        precision = 'float' }
    local r = renderer.new { device = device, centre = centre, width = size, height = size,
        samples = 1, iterations = published.iterations, colours = 'magma', period = 6,
        shortcuts = shortcuts }
    for _, k in ipairs { 1, 25, 50 } do
        r:take(list[k], 1)
        r:wait(1)
        local launch, done, frame = r:prepare 'float', iterations_of(r), list[k]
        local seconds = record.time(device, function()
            launch(frame.left, frame.top, frame.step)
        end, 0.5, 5)
        local share = top and 7 * done / seconds / top
        report('frame', { frame = k, size = size, shortcuts = shortcuts, ms = 1e3 * seconds,
            mean_iterations = done / size ^ 2, iterations_per_s = done / seconds, peak_flops = top,
            share = share },
            '%d, shortcuts %s: %.4g ms, %.4g iterations a point, %.4g G/s, %.1f %% of the peak',
            k, tostring(shortcuts), 1e3 * seconds, done / size ^ 2, done / seconds / 1e9,
            100 * (share or 0 / 0))
    end
end

-- Times a zoom from the first launch until the last frame is in host memory.
local function zoom(size, shortcuts)
    local best
    for _ = 1, record.few(3, 1) do
        local result = mandelbrot.zoom { device = device, centre = published.centre,
            width = published.width, zoom = published.zoom, frames = published.frames,
            size = { size, size }, samples = 1, iterations = published.iterations,
            precision = 'auto', shortcuts = shortcuts, colours = 'magma', period = 6 }
        if not best or result.seconds < best.seconds then best = result end
        result.renderer = nil
        collectgarbage()
    end
    local over = best.seconds / best.kernel_seconds - 1
    report('zoom', { size = size, shortcuts = shortcuts, frames = published.frames,
        wall_ms = 1e3 * best.seconds, kernels_ms = 1e3 * best.kernel_seconds, over = over,
        limit = 0.02 }, '%d^2, shortcuts %s: wall %.2f ms, kernels %.2f ms, over by %.2f %%',
        size, tostring(shortcuts), 1e3 * best.seconds, 1e3 * best.kernel_seconds, 100 * over)
end

local function rate(size)
    size = words.count('mandelbrot rate: SIZE', size, 4096)
    local top = peak.measure(device, 'float')
    for _, shortcuts in ipairs { false, true } do
        rate_of_frames(size, shortcuts, top)
        zoom(size, shortcuts)
    end
end

-- ---- exact ----

local size, views = record.few(128, 16), record.few(10, 2)

-- Ten views for each arithmetic, down to the depth that it is used for.
local zooms = {
    float = { published.centre, 3, 0.95 ^ -49, 5000 },
    double = { '-0.7436438870371587+0.1318259042053119i', 1e-3, 1e7, 5000 },
    ['double-double'] = { 'deep', 1e-13, 1e12, 5000 },
    perturbation = { 'deep', 1e-28, 1e72, 50000 },
}

local kinds = { 'exact', 'rounding', 'wrong', 'never', 'iterations' }

-- Runs in a process of its own: prints the sums of a view's random points.
local function compare(mode, number, points)
    local centre, width, depth, limit = unpack(zooms[mode])
    number = tonumber(number)
    local frame = view.frames({ centre = centre, width = width, zoom = depth, frames = views,
        columns = size, rows = size, precision = mode })[number]
    local counts = reference.counts(device, frame, size, size, limit)
    local sums = { exact = 0, rounding = 0, wrong = 0, never = 0, iterations = 0 }
    for k = 0, points - 1 do
        local i = math.floor(random.uniform(number, 2 * k) * size)
        local j = math.floor(random.uniform(number, 2 * k + 1) * size)
        local found = counts[j * size + i]
        local right, rounded = reference.expected(frame, i, j, limit, found)
        local kind = found == right and 'exact' or found == rounded and 'rounding' or 'wrong'
        sums[kind] = sums[kind] + 1
        sums.never = sums.never + (right == 0 and 1 or 0)
        sums.iterations = sums.iterations + (right == 0 and limit or right)
    end
    for _, kind in ipairs(kinds) do print(sums[kind]) end
end

-- Compares all views at once.
local function exact(mode, points)
    words.choice('mandelbrot exact: MODE', mode,
        { 'float', 'double', 'double-double', 'perturbation' })
    points = views * math.ceil(words.count('mandelbrot exact: POINTS', points, 10000) / views)
    local pipes, sums = {}, { mode = mode, points = points, limit = zooms[mode][4],
        last_width = zooms[mode][2] / zooms[mode][3] }
    for k = 1, views do
        pipes[k] = io.popen(("'%s' '%s' %s view %s %d %d"):format(home.launcher, arg[0], arg[1],
            mode, k, points / views))
    end
    for _, pipe in ipairs(pipes) do
        for _, kind in ipairs(kinds) do sums[kind] = (sums[kind] or 0) + pipe:read '*n' end
        pipe:close()
    end
    report('exact', sums, '%s: %d of %d exact (%d in the set), %d by rounding, %d wrong', mode,
        sums.exact, points, sums.never, sums.rounding, sums.wrong)
end

-- ---- deep ----

local function deep_zoom(side)
    side = words.count('mandelbrot deep: SIZE', side, 1024)
    local result = mandelbrot.zoom { device = device, centre = 'deep', width = 3, zoom = 3e100,
        frames = 101, size = { side, side }, samples = 1, iterations = 50000, precision = 'auto',
        shortcuts = true, colours = 'magma', period = 6 }
    report('deep zoom', { size = side, frames = 101, wall_ms = 1e3 * result.seconds,
        kernels_ms = 1e3 * result.kernel_seconds }, '%d^2, 101 frames to 1e-100: %.4g s', side,
        result.seconds)
end

if arg[2] == 'view' then return compare(arg[3], arg[4], arg[5]) end
words.choice('mandelbrot: what to measure', arg[2], { 'rate', 'exact', 'deep' })
local measures = { rate = rate, exact = exact, deep = deep_zoom }
measures[arg[2]](arg[3], arg[4])
