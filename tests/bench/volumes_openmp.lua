-- volumes_openmp.lua - the cdklm ocean scheme on the processor against the same
-- in C (volumes_openmp.c), on a periodic f-plane.
--     mare tests/bench/volumes_openmp.lua [DEVICE [N [ROUNDS]]]

local devices = require 'bindings.device'
local grid = require 'mare.array.grid'
local ocean = require 'mare.ocean'
local openmp = require 'tests.bench.openmp'
local simulation = require 'mare.run.simulation'
local words = require 'tests.bench.words'

local n = words.count('volumes_openmp: N', arg[2], 1024)
local rounds = words.count('volumes_openmp: ROUNDS', arg[3], 5)
local size = 200 * n

local sim = simulation.new {
    grid = grid.new { nx = n, ny = n, x = { 0, size }, y = { 0, size } },
    scheme = ocean.new { scheme = 'cdklm', depth = 60, coriolis = { f = 1e-3 } },
    initial = function(x, y)
        return math.exp(-10 * ((x / size - 0.5) ^ 2 + (y / size - 0.5) ^ 2)), 0, 0
    end,
    boundaries = 'periodic', devices = { devices.open(arg[1] or 'opencl:0') },
}
sim:aim(math.huge)
openmp.compare {
    title = 'cdklm', source = 'volumes_openmp.c', sim = sim, steps = 8,
    rounds = rounds, values = { benchmark = 'volumes_openmp', scheme = 'cdklm' },
}
