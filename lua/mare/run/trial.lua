-- trial.lua - how fast a device takes steps of a simulation: those of a smaller one, for a
-- moment, as if this rank were alone.

local grid = require 'mare.array.grid'
local here = require 'mare.ranks.here'
local system = require 'bindings.system'

local trial = {}

local most = 1024           -- cells along x and y at most
local least = 0.02          -- seconds of a batch
local batches = 3

-- Returns a grid over the same domain with few cells.
local function smaller(g)
    return grid.new { nx = math.min(g.nx, most), ny = math.min(g.ny, most), x = g.x, y = g.y,
        halo = g.halo, coordinates = g.coordinates, radius = g.spherical and g.radius or nil,
        angle = g.angle }
end

local function seconds_of(sim, steps)
    local start = system.now()
    sim:step(steps)
    sim:read()
    return system.now() - start
end

local function measure(new, desc, device)
    local own = setmetatable({ decompose = { 1, 1 }, weights = 'equal' },
        { __index = desc.options or {} })
    local sim = new { grid = smaller(desc.grid), scheme = desc.scheme, initial = desc.initial,
        boundaries = desc.boundaries, devices = { device }, options = own }
    sim:aim(math.huge)
    local steps, best = 4, math.huge
    seconds_of(sim, steps)
    while seconds_of(sim, steps) < least do steps = 2 * steps end
    for _ = 1, batches do best = math.min(best, seconds_of(sim, steps)) end
    local rate = sim.grid.cells * steps / best
    sim:release()
    return rate
end

-- Returns the cells per second that a device takes steps with, or false where no smaller
-- simulation can be made of the same, as of one with values for each cell. new:
-- simulation.new; desc: what it takes
function trial.rate(new, desc, device)
    local ok, rate = pcall(here.alone, measure, new, desc, device)
    return ok and rate or false
end

return trial
