-- How fast steps in three dimensions are: build/mare tests/bench/volume.lua [CELLS [STEPS]] prints
-- cells per second of acoustics, advection and gas in a cube, and their share of a copy.

local mare = require 'mare'
local bandwidth = require 'mare.measure.bandwidth'
local system = require 'bindings.system'

local n, steps = tonumber(arg[1]) or 512, tonumber(arg[2]) or 40
local device = os.getenv 'MARE_DEVICE' or 'auto'

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

local function gas(more)
    return function()
        return mare.volume.euler(more), function(x, y, z)
            return 1 + 0.1 * math.sin(6 * x + 6 * y), math.sin(6 * z), 0.5, 0.25 * x, 1
        end
    end
end

equations.gas, equations.gas_rusanov = gas {}, gas { riemann = 'rusanov' }
equations.gas_minmod = gas { limiter = 'minmod', theta = 1.3 }

local function seconds(sim, count)
    local start = system.now()
    sim:step(count)
    sim:read()
    return system.now() - start
end

local function measure(name, shape)
    local scheme, initial = equations[name]()
    local sim = mare.volume.simulation { scheme = scheme, initial = initial, shape = shape,
        boundaries = 'periodic', options = { device = device },
        grid = { nx = n, ny = n, nz = n, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } } }
    sim:aim(1e9)
    seconds(sim, 2)
    local best = math.huge
    for _ = 1, 3 do best = math.min(best, seconds(sim, steps) / steps) end
    local rate, bytes = sim.grid.cells / best, sim:bytes_per_cell()
    local share = rate * bytes / bandwidth.of(sim.devices[1])
    sim:release()
    return rate, share
end

for _, name in ipairs(arg[3] and { arg[3] } or { 'advection', 'acoustics', 'gas' }) do
    local rate, share = measure(name)
    print(('%-12s %d^3: %.2f Gcells/s, %.1f %% of a copy'):format(name, n, rate / 1e9, 100 * share))
end
return measure
