-- What scaling.lua runs on every rank, in one process over several parts, or in processes alone:
-- steps of Euler (HLLC, float) in parts above each other, periodic. Rank 0 prints the seconds of a
-- step, of filling all halos, and of a clock's tick with the largest rate, and the way of cells.

local euler = require 'mare.schemes.euler'
local grid = require 'mare.array.grid'
local here = require 'mare.ranks.here'
local lfs = require 'lfs'
local links = require 'mare.links'
local record = require 'tests.bench.record'
local simulation = require 'mare.run.simulation'
local system = require 'bindings.system'

local batches = record.few(5, 1)
local rest = record.few(0.07, 0)        -- between batches, so that a GPU keeps its clocks up

-- Two shear layers, which repeat as often as the grid is taller than wide.
local function shear(x, y)
    local inside = math.abs(y % 1 - 0.5) < 0.25
    return inside and 2 or 1, inside and -0.5 or 0.5, 0.01 * math.sin(4 * math.pi * x), 2.5
end

-- Returns the seconds of one of so many calls, which f(calls) makes and waits for: the median of
-- the batches. Rank 0 says how many calls.
local function time(f, seconds)
    f(2)
    local start, found = system.now(), {}
    f(4)
    local calls = math.floor(record.few(seconds, 0) / batches / (system.now() - start) * 4)
    calls = here.broadcast(math.max(2, calls + calls % 2))
    for k = 1, batches do
        system.sleep(rest)
        start = system.now()
        f(calls)
        found[k] = (system.now() - start) / calls
    end
    return record.median(found)
end

-- Waits until so many processes have come here: each leaves a file in a folder.
local function wait_for(count, folder, k)
    assert(io.open(folder .. '/' .. k, 'w')):close()
    for other = 1, count do
        while not lfs.attributes(folder .. '/' .. other) do system.sleep(1e-3) end
    end
end

local function way_of(sim, parts)
    if here.size == 1 and #sim.fields.devices == 1 then
        return parts == 1 and 'alone' or links.texts.place
    end
    return links.describe(sim.fields.devices)
end

-- devices: names with commas between them; parts: of the grid; count, folder, k: of processes alone
-- that run at once, how many there are, where they meet, and which this one is
return function(devices, nx, ny, seconds, parts, count, folder, k)
    local sim = simulation.new {
        grid = grid.new { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, ny / nx } }, initial = shear,
        scheme = euler.new { gamma = 5 / 3, flux = 'hllc' }, boundaries = 'periodic',
        options = { precision = 'float', device = devices, decompose = { 1, parts } },
    }
    sim:aim(1e9)
    local function repeated(f)
        return function(calls)
            for _ = 1, calls do f() end
            sim:read()
        end
    end
    sim:step(1)
    sim:read()
    if count then wait_for(count, folder, k) end
    local step = time(function(calls)
        sim:step(calls)
        sim:read()
    end, seconds)
    local halo = time(repeated(function() sim.fields:fill_halos() end), seconds / 4)
    local tick = time(repeated(function() sim.clocks:tick() end), seconds / 4)
    local way = way_of(sim, parts)
    if here.rank == 0 then print(('%.9g %.9g %.9g %s'):format(step, halo, tick, way)) end
end
