-- solvers.lua - cell updates per second of every scheme, and their share of the copy bandwidth
-- measured in the same process.
--     mare tests/bench/solvers.lua [DEVICE [SCHEME [PRECISION [N]]]]
-- Each is a comma list; without it all devices, schemes, precisions, and sizes from 512^2 on. A
-- step is the whole state advanced once, with its ghost cells and the reduction of dt; T_eff counts
-- each value that it cannot do without once. `published`: the best of the published kernels of
-- each scheme on an H200 in float with fast maths, Euler 8192^2, water 4096^2.

local bandwidth = require 'mare.bandwidth'
local devices = require 'bindings.device'
local euler = require 'mare.schemes.euler'
local grid = require 'mare.grid'
local ocean = require 'mare.schemes.ocean'
local record = require 'tests.bench.record'
local simulation = require 'mare.simulation'
local water = require 'mare.schemes.shallow_water'

-- Two shear layers, smooth: McNally, Lyra and Passy (2012), ApJS 201, 18.
local function shear(x, y)
    local depth, width = math.abs(y - 0.5), 0.025
    local ramp = 0.5 * math.exp(-math.abs(depth - 0.25) / width)
    local inside = depth < 0.25
    local rho = inside and 2 - ramp or 1 + ramp
    local u = inside and -0.5 + ramp or 0.5 - ramp
    return rho, u, 0.01 * math.sin(4 * math.pi * x), 2.5
end

-- A smooth bump: Holm, Brodtkorb and Saetra (2020).
local function bump(x, y) return (1 - (2 * x - 1) ^ 2) ^ 2 * (1 - (2 * y - 1) ^ 2) ^ 2 end
local function hill(x, y) return 60 + bump(x, y), 0, 0 end
local function swell(x, y) return bump(x, y), 0, 0 end

local function gas(flux, published)
    return { initial = shear, boundaries = 'periodic', published = published,
        scheme = function() return euler.new { gamma = 5 / 3, flux = flux } end }
end

local function flat(scheme)
    return { initial = hill, boundaries = 'periodic',
        scheme = function() return water.new { scheme = scheme } end }
end

local function sea(scheme, published)
    return { initial = swell, boundaries = 'reflective', published = published,
        scheme = function()
            return ocean.new { scheme = scheme, depth = 60, coriolis = { f = 1e-3 } }
        end }
end

local solvers = {
    { 'euler_hll', gas('hll', 8.7) }, { 'euler_hllc', gas('hllc') },
    { 'water_muscl_hancock', flat 'muscl_hancock' }, { 'water_waf', flat 'waf' },
    { 'water_kurganov_petrova', flat 'kurganov_petrova' },
    { 'ocean_linear', sea('linear', 48.8) }, { 'ocean_nonlinear', sea('nonlinear', 33.1) },
    { 'ocean_cdklm', sea('cdklm', 12.0) },
}

-- What a comma list names, or all.
local function listed(text, all)
    if not text or text == '' then return all end
    local list = {}
    for word in text:gmatch '[^,]+' do list[#list + 1] = word end
    return list
end

-- Batches of as many steps as take about 0.1 s; the clock is read between them, as in a run.
-- Returns seconds of a step, sorted, and how many steps a batch has.
local function measure(device, sim)
    local start, stop = device:event(), device:event()
    local function batch(steps)
        start:record()
        sim:step(steps)
        stop:record()
        local seconds = start:elapsed_ms(stop) / 1000
        if sim:read().failed then error('the state is no longer finite') end
        return seconds / steps
    end
    sim:aim(math.huge)
    batch(16)
    local steps = 16 * math.max(1, math.min(60, math.ceil(0.1 / 16 / batch(16))))
    local seconds = {}
    for index = 1, 9 do seconds[index] = batch(steps) end
    return seconds, steps
end

local function report(device, copy, name, solver, precision, n)
    local sim = simulation.new {
        grid = grid.new { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } }, scheme = solver.scheme(),
        initial = solver.initial, boundaries = solver.boundaries, devices = { device },
        options = { precision = precision, cfl = 0.45 },
    }
    local times, steps = measure(device, sim)
    local bytes, seconds = sim:bytes_per_cell(), record.median(times)
    local rate = n * n / seconds
    sim:release()
    record.write(device, {
        benchmark = 'solvers', solver = name, precision = precision, nx = n, ny = n,
        steps_per_batch = steps, seconds_per_step = seconds, fastest_step = times[1],
        slowest_step = times[#times], cells_per_second = rate, t_eff = rate * bytes,
        copy_bandwidth = copy, share_of_copy = copy and rate * bytes / copy,
        published_cells_per_second = solver.published and 1e9 * solver.published,
    }, ('%-9s %-23s %-6s %5d^2 %8.4g Gcells/s %6s %8.4g GB/s %5s %%'):format(device.name, name,
        precision, n, rate / 1e9, solver.published or '', rate * bytes / 1e9,
        copy and ('%.1f'):format(100 * rate * bytes / copy) or ''))
    collectgarbage()
end

local function run(device, wanted)
    local copy = bandwidth.measure(device)
    local sizes = device.info.kind == 'gpu' and { 512, 1024, 2048, 4096, 8192, 16384 } or { 512 }
    for _, solver in ipairs(solvers) do
        for _, precision in ipairs(listed(arg[3], { 'float', 'double' })) do
            for _, n in ipairs(wanted[solver[1]] and listed(arg[4], sizes) or {}) do
                report(device, copy, solver[1], solver[2], precision, tonumber(n))
            end
        end
    end
end

local names, wanted, all = {}, {}, {}
for k, solver in ipairs(solvers) do names[k] = solver[1] end
for _, name in ipairs(listed(arg[2], names)) do wanted[name] = true end
for _, info in ipairs(devices.list()) do
    if not info.name:find '^null' then all[#all + 1] = info.name end
end
print 'device    solver                  real       cells     measured published     T_eff of copy'
for _, name in ipairs(listed(arg[1], all)) do run(devices.open(name), wanted) end
