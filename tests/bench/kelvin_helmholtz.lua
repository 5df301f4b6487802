-- kelvin_helmholtz.lua - cell updates per second of the Euler step, and its share of the copy
-- bandwidth measured in the same process.
--     mare tests/bench/kelvin_helmholtz.lua [DEVICE [PRECISION [N...]]]
-- A row tells the grid, Gcells/s, T_eff = 8 values a cell and step, and the share of a plain copy.

local devices = require 'bindings.device'
local bandwidth = require 'mare.bandwidth'
local euler = require 'mare.schemes.euler'
local grid = require 'mare.grid'
local record = require 'tests.bench.record'
local simulation = require 'mare.simulation'

local device = devices.open(arg[1])
local precision = arg[2] or 'float'
local sizes = { unpack(arg, 3) }
if #sizes == 0 then
    sizes = device.info.kind == 'gpu' and { 1024, 2048, 4096, 8192 } or { 512, 1024 }
end

-- Two shear layers, smooth: McNally, Lyra and Passy (2012), ApJS 201, 18.
local function initial(x, y)
    local depth, width = math.abs(y - 0.5), 0.025
    local ramp = 0.5 * math.exp(-math.abs(depth - 0.25) / width)
    local inside = depth < 0.25
    local rho = inside and 2 - ramp or 1 + ramp
    local u = inside and -0.5 + ramp or 0.5 - ramp
    return rho, u, 0.01 * math.sin(4 * math.pi * x), 2.5
end

local copy = bandwidth.measure(device)

-- Batches of as many steps as take about 0.1 s; the clock is read between them, as in a run.
local function measure(n)
    local sim = simulation.new {
        grid = grid.new { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } }, initial = initial,
        scheme = euler.new { gamma = 5 / 3 }, boundaries = 'periodic', devices = { device },
        options = { precision = precision },
    }
    sim:aim(1e3)
    local start, stop = device:event(), device:event()
    local function batch(steps)
        start:record()
        sim:step(steps)
        stop:record()
        local seconds = start:elapsed_ms(stop) / 1000
        if sim:read().failed then error('the state is no longer finite') end
        return seconds / steps
    end
    batch(4)
    local steps = math.max(2, math.min(1000, math.ceil(0.1 / batch(10))))
    local seconds = {}
    for index = 1, 15 do seconds[index] = batch(steps) end
    local bytes = sim:bytes_per_cell()
    sim:release()
    return record.median(seconds), seconds[1], seconds[#seconds], steps, bytes
end

for _, size in ipairs(sizes) do
    local n = tonumber(size)
    local seconds, fastest, slowest, steps, bytes = measure(n)
    local rate = n * n / seconds
    record.write(device, {
        benchmark = 'kelvin_helmholtz', precision = precision, nx = n, ny = n,
        scheme = 'muscl_hancock', flux = 'hllc', limiter = 'mc', steps_per_batch = steps,
        seconds_per_step = seconds, fastest_step = fastest, slowest_step = slowest,
        cells_per_second = rate, t_eff = rate * bytes, copy_bandwidth = copy,
        share_of_copy = copy and rate * bytes / copy,
    }, ('%-10s %-22s %10.4g Gcells/s %8.4g GB/s  %s'):format(device.name,
        ('KH %s %d^2'):format(precision, n), rate / 1e9, rate * bytes / 1e9,
        copy and ('%.1f %% of copy (%.4g GB/s)'):format(100 * rate * bytes / copy, copy / 1e9)
        or ''))
    collectgarbage()
end
