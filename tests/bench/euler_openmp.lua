-- euler_openmp.lua - the Euler step on the processor against the same scheme in C (euler_openmp.c).
--     mare tests/bench/euler_openmp.lua [DEVICE [N [ROUNDS]]]

local devices = require 'bindings.device'
local euler = require 'mare.schemes.euler'
local grid = require 'mare.grid'
local openmp = require 'tests.bench.openmp'
local simulation = require 'mare.simulation'

local n = tonumber(arg[2]) or 1024

local function shear(_, y)
    local inside = math.abs(y - 0.5) < 0.25
    return inside and 2 or 1, inside and -0.5 or 0.5, 0.01 * math.sin(8 * math.pi * y), 2.5
end

local sim = simulation.new {
    grid = grid.new { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } }, initial = shear,
    scheme = euler.new {}, boundaries = 'periodic',
    devices = { devices.open(arg[1] or 'opencl:0') },
}
sim:aim(1e3)
openmp.compare {
    title = 'Euler', source = 'euler_openmp.c', sim = sim, steps = 20,
    rounds = tonumber(arg[3]) or 5,
    values = { benchmark = 'euler_openmp', flux = 'hllc', limiter = 'mc' },
}
