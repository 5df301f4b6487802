-- volume.lua - how fast steps in three dimensions are, of advection, acoustics and gas in a cube.
--     mare tests/bench/volume.lua [DEVICE [CELLS]]
-- CELLS along each axis, 512 on a GPU and 64 elsewhere. Each is beside the device's copy.

local bandwidth = require 'mare.measure.bandwidth'
local mare = require 'mare'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
local n = words.count('volume: CELLS', arg[2],
    record.few(device.info.kind == 'gpu' and 512 or 64, 12), 2048)
local steps = record.few(10, 2)

local equations = {}

function equations.advection()
    return mare.equations { name = 'advection', dimensions = 3, fields = { 'u' },
        parameters = { c = mare.vector(1, 0.5, 0.25) },
        flux = function(q, p) return p.c.n * q.u end,
        speed = function(_, p) return p.c.n, p.c.n end }, function(x, y, z) return x * y * z end
end

function equations.acoustics()
    return mare.equations { name = 'acoustics', dimensions = 3, fields = { 'p', mare.vector 'v' },
        parameters = { stiffness = 1, density = 1 },
        flux = function(q, p) return p.stiffness * q.v.n, q.p / p.density, 0 * q.p, 0 * q.p end,
        speed = function(_, p)
            local c = math.sqrt(p.stiffness / p.density)
            return -c, c
        end }, function(x, y, z) return x * y * z, 0, 0, 0 end
end

function equations.gas()
    return mare.volume.euler {}, function(x, y, z)
        return 1 + 0.1 * math.sin(6 * x + 6 * y), math.sin(6 * z), 0.5, 0.25 * x, 1
    end
end

-- Returns the seconds of one step, the best of three times some, and their fellows.
local function seconds(sim)
    local list = {}
    for k = 0, 3 do
        local start = system.now()
        sim:step(steps)
        sim:read()
        list[k] = (system.now() - start) / steps
    end
    return math.min(list[1], list[2], list[3]), math.max(list[1], list[2], list[3])
end

local copy = bandwidth.measure(device)

for _, name in ipairs { 'advection', 'acoustics', 'gas' } do
    local scheme, initial = equations[name]()
    local unit = { 0, 1 }
    local sim = mare.volume.simulation { scheme = scheme, initial = initial, devices = { device },
        boundaries = 'periodic', grid = { nx = n, ny = n, nz = n, x = unit, y = unit, z = unit } }
    sim:aim(1e9)
    local best, slowest = seconds(sim)
    local rate = sim.grid.cells / best
    local share = copy and rate * sim:bytes_per_cell() / copy
    record.write(device, { benchmark = 'volume', equation = name, n = n, precision = 'float',
        cells_per_second = rate, seconds = best, slowest = slowest, share_of_copy = share,
        copy_bandwidth = copy }, ('%-9s %-10s %d^3: %.4g Gcells/s%s'):format(device.name, name, n,
        rate / 1e9, share and (', %.3f of copy'):format(share) or ''))
    sim:release()
    collectgarbage()
end
