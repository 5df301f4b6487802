-- linear_openmp.lua - the linear ocean scheme on the processor against the same
-- in C (linear_openmp.c), on an f-plane between walls.
--     mare tests/bench/linear_openmp.lua [DEVICE [N [ROUNDS]]]

local devices = require 'bindings.device'
local grid = require 'mare.array.grid'
local ocean = require 'mare.ocean'
local openmp = require 'tests.bench.openmp'
local simulation = require 'mare.run.simulation'
local words = require 'tests.bench.words'

local n = words.count('linear_openmp: N', arg[2], 1024)
local rounds = words.count('linear_openmp: ROUNDS', arg[3], 5)
local size = 200 * n

local sim = simulation.new {
    grid = grid.new { nx = n, ny = n, x = { 0, size }, y = { 0, size } },
    scheme = ocean.new { scheme = 'linear', depth = 60, coriolis = { f = 1e-3 } },
    initial = function(x, y)
        return math.exp(-100 * ((x / size - 0.5) ^ 2 + (y / size - 0.5) ^ 2)), 0, 0
    end,
    boundaries = 'reflective', devices = { devices.open(arg[1] or 'opencl:0') },
    options = { cfl = 0.8 },
}
sim:aim(math.huge)
openmp.compare {
    title = 'linear', source = 'linear_openmp.c', sim = sim, steps = 32,
    rounds = rounds, values = { benchmark = 'linear_openmp', scheme = 'linear' },
}
