-- Water oscillates in a parabolic bowl, and its shore moves over the bed: the
-- exact solutions of Thacker (1981, J. Fluid Mech. 107, 499), also on a
-- rotating earth. Either a plane surface circles around the bowl, or a curved
-- surface rises and falls.

local mare = require 'mare'

local o = mare.options {
    title = "Thacker's bowl",
    help = 'Water oscillates in a parabolic bowl, compared with the exact solution.',
    mare.options.simulation, mare.ocean.options,
    { name = 'nx', default = 200, help = 'cells along x and along y' },
    { name = 'ny', withdrawn = true },
    { name = 'image', default = 'thacker_bowl.png' },
    { name = 'surface', default = 'curved', choices = { 'curved', 'plane' },
        help = 'shape of the water surface' },
    { name = 'f', type = 'number', default = 0, help = 'Coriolis parameter, 1/s' },
    { name = 'periods', type = 'number', default = 3, range = { 0.01 },
        help = 'periods to compute' },
    { name = 't-end', default = 0, range = { 0 }, help = 'time to stop at; 0: after --periods' },
}
-- Depth in the middle, radius of the shore of still water, initial radius of
-- the curved surface's shore, inclination of the plane surface: those of
-- SWASHES 4.2.2 (Delestre et al. 2013), metres.
local g, depth, radius, shore, lean = 9.81, 0.1, 1, 0.8, 0.5

local function bed(x, y) return depth * (1 - (x * x + y * y) / radius ^ 2) end

local root = math.sqrt(o.f ^ 2 + 8 * g * depth / radius ^ 2)
local solutions = {}

-- Thacker's relation has fourth powers; that of SWASHES has squares and gives
-- another shore.
function solutions.curved(t)
    local a = (radius ^ 4 - shore ^ 4) / (radius ^ 4 + shore ^ 4)
    local k, s = 1 - a * math.cos(root * t), math.sqrt(1 - a * a)
    local out = 0.5 * root * a * math.sin(root * t) / k
    local around = 0.5 * o.f * (s / k - 1)
    return function(x, y)
        local r2 = (x * x + y * y) / radius ^ 2
        return depth * (s / k - 1 - r2 * ((1 - a * a) / k ^ 2 - 1)), out * x - around * y,
            out * y + around * x
    end
end

function solutions.plane(t)
    local omega = 0.5 * (root - o.f)
    local c, s = math.cos(omega * t), math.sin(omega * t)
    return function(x, y)
        return lean * depth / radius ^ 2 * (2 * x * c + 2 * y * s - lean), -lean * omega * s,
            lean * omega * c
    end
end

local period = 2 * math.pi / (o.surface == 'curved' and root or 0.5 * (root - o.f))
if o.t_end == 0 then o.t_end = o.periods * period end
local first = solutions[o.surface](0)

local sim = mare.run {
    title = "Thacker's bowl", options = o,
    grid = mare.grid { nx = o.nx, ny = o.nx, x = { -2, 2 }, y = { -2, 2 } },
    scheme = mare.ocean {
        options = o, g = g, depth = bed, dry = 1e-6,
        coriolis = o.f ~= 0 and { f = o.f } or nil,
    },
    boundaries = 'reflective',
    initial = function(x, y)
        local eta, u, v = first(x, y)
        if eta + bed(x, y) <= 0 then return -bed(x, y), 0, 0 end
        return eta, u, v
    end,
    picture = { variable = 'eta', label = 'elevation (m)' },
}

local exact, eta = solutions[o.surface](sim.now.t), sim:stored 'eta'
local error, water, volume, least = 0, 0, 0, math.huge
for k = 0, sim.grid.cells - 1 do
    local i, j = k % o.nx, math.floor(k / o.nx)
    local x, y = sim.grid:x_centre(i), sim.grid:y_centre(j)
    local h, wanted = tonumber(eta[k]) + sim.domain.bed:depth_at(i, j),
        math.max(0, (exact(x, y)) + bed(x, y))
    error, water = error + math.abs(h - wanted), water + wanted
    volume, least = volume + h, math.min(least, h)
end
local result = { sim = sim, error = error / water, least = least, volume = volume / water }
if not o.quiet then
    print(string.format('%s, %s surface, %d cells across, %.2f periods: relative L1 error of the '
        .. 'depth %.3e, volume %.6f of the exact, least depth %g', o.scheme, o.surface,
        o.nx / 2, sim.now.t / period, result.error, result.volume, result.least))
end
return result
