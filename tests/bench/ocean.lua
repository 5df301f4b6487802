-- ocean.lua - cell updates per second of the ocean schemes, and their share of the copy bandwidth
-- measured in the same process.
--     mare tests/bench/ocean.lua [DEVICE [SCHEME [PRECISION [N...]]]]
-- One step is the whole state advanced once, ghost cells and all, over a flat bed between walls on
-- an f-plane; T_eff counts each value that it cannot do without once. Beside it the best of the
-- published kernels of each scheme on an H200, fast maths, 4096^2 (Gcells/s).

local bandwidth = require 'mare.bandwidth'
local devices = require 'bindings.device'
local grid = require 'mare.grid'
local ocean = require 'mare.schemes.ocean'
local record = require 'tests.bench.record'
local simulation = require 'mare.simulation'

local published = { linear = 48.8, nonlinear = 33.1, cdklm = 12.0 }

local device = devices.open(arg[1])
local schemes = { arg[2] or 'linear', not arg[2] and 'nonlinear' or nil }
local precision = arg[3] or 'float'
local sizes = { unpack(arg, 4) }
if #sizes == 0 then
    sizes = device.info.kind == 'gpu' and { 512, 1024, 4096 } or { 512, 1024 }
end

local copy = bandwidth.measure(device)

-- A smooth bump on still water of 60 m: the benchmark of Holm, Brodtkorb and Saetra (2020).
local function new_simulation(name, n)
    local size = 200 * n
    local function bump(x) return (1 - (2 * x / size - 1) ^ 2) ^ 2 end
    return simulation.new {
        grid = grid.new { nx = n, ny = n, x = { 0, size }, y = { 0, size } },
        scheme = ocean.new { scheme = name, depth = 60, coriolis = { f = 1e-3 } },
        initial = function(x, y) return bump(x) * bump(y), 0, 0 end,
        boundaries = 'reflective', devices = { device },
        options = { precision = precision, cfl = 0.8 },
    }
end

-- Batches of as many steps as take about 0.1 s; the clock is read between them, as in a run.
local function measure(name, n)
    local sim = new_simulation(name, n)
    sim:aim(math.huge)
    local start, stop = device:event(), device:event()
    local function batch(steps)
        start:record()
        sim:step(steps)
        stop:record()
        local seconds = start:elapsed_ms(stop) / 1000
        if sim:read().failed then error('the state is no longer finite') end
        return seconds / steps
    end
    batch(16)
    local steps = 16 * math.max(1, math.min(100, math.ceil(0.1 / 16 / batch(16))))
    local seconds = {}
    for index = 1, 15 do seconds[index] = batch(steps) end
    local bytes = sim:bytes_per_cell()
    sim:release()
    return record.median(seconds), seconds[1], seconds[#seconds], steps, bytes
end

local function report(name, n)
    local seconds, fastest, slowest, steps, bytes = measure(name, n)
    local rate = n * n / seconds
    record.write(device, {
        benchmark = 'ocean', scheme = name, precision = precision, nx = n, ny = n,
        steps_per_batch = steps, seconds_per_step = seconds, fastest_step = fastest,
        slowest_step = slowest, cells_per_second = rate, t_eff = rate * bytes,
        copy_bandwidth = copy, share_of_copy = copy and rate * bytes / copy,
        published_cells_per_second = published[name] and 1e9 * published[name],
    }, ('%-10s %-24s %8.4g Gcells/s (published %s) %8.4g GB/s  %s'):format(device.name,
        ('%s %s %d^2'):format(name, precision, n), rate / 1e9, tostring(published[name]),
        rate * bytes / 1e9, copy and ('%.1f %% of copy (%.4g GB/s)')
        :format(100 * rate * bytes / copy, copy / 1e9) or ''))
    collectgarbage()
end

for _, name in ipairs(schemes) do
    for _, n in ipairs(sizes) do report(name, tonumber(n)) end
end
