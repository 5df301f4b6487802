-- A lake at rest over a rough bed, with islands that a storm could flood and
-- land that no storm floods. Nothing may move, on a flat map, on a rotated one
-- and on a sphere. A scheme that balances only up to rounding would show here
-- first: see Audusse et al. (2004, SIAM J. Sci. Comput. 25, 2050).

local mare = require 'mare'

local o = mare.options {
    title = 'Lake at rest',
    help = 'Water at rest over a rough bed, wet and dry, must stay at rest.',
    mare.options.simulation, mare.ocean.options,
    { name = 'nx', default = 120, help = 'cells along x' },
    { name = 'ny', default = 100, help = 'cells along y' },
    { name = 'image', default = 'lake_at_rest.png' },
    { name = 't-end', default = 3600, unit = 's', help = 'time to stop at' },
    { name = 'map', default = 'flat', choices = { 'flat', 'turned', 'longitude-latitude' },
        help = 'coordinates of the grid' },
    { name = 'level', type = 'number', default = 0.3, help = 'level of the surface, m' },
    { name = 'seed', default = 1, help = 'seed of the bed' },
}
local spherical = o.map == 'longitude-latitude'

-- The depth at the centre of cell k: hills 20 m high or 60 m deep, and a random
-- part.
local depths = {}
for k = 1, o.nx * o.ny do
    local i, j = (k - 1) % o.nx / o.nx, math.floor((k - 1) / o.nx) / o.ny
    local hills = math.sin(9 * i + 2 * math.sin(5 * j)) * math.cos(7 * j)
    depths[k] = 20 + 30 * hills + 20 * (mare.random.uniform(o.seed, k) - 0.5)
    if mare.random.uniform(o.seed, -k) < 0.02 then depths[k] = 0 / 0 end       -- land
end

local sim = mare.run {
    title = 'Lake at rest', options = o,
    grid = mare.grid {
        nx = o.nx, ny = o.ny, x = spherical and { 4, 6 } or { 0, 1000 * o.nx },
        y = spherical and { 54, 55 } or { 0, 1000 * o.ny },
        coordinates = spherical and o.map or nil, angle = o.map == 'turned' and 35 or nil,
    },
    scheme = mare.ocean {
        options = o,
        depth = { nx = o.nx, ny = o.ny, data = depths },
        coriolis = spherical and 'latitude' or { f = 1.2e-4, beta = 1e-11 },
    },
    boundaries = 'reflective', initial = function() return o.level, 0, 0 end,
    picture = { variable = 'eta', label = 'elevation (m)' },
}

-- Returns the largest f(value, elevation of the bed) over the water and what it
-- may flood.
local bed = sim.domain.bed
local function largest(variable, f)
    local data, most = sim:stored(variable), 0
    for k = 0, sim.grid.cells - 1 do
        local i, j = k % o.nx, math.floor(k / o.nx)
        if not bed:is_land(i, j) then
            most = math.max(most, math.abs(f(tonumber(data[k]), -bed:depth_at(i, j))))
        end
    end
    return most
end

local function itself(value) return value end
local dry = 0
local result = {
    sim = sim, transport = math.max(largest('hu', itself), largest('hv', itself)),
    rise = largest('eta', function(eta, ground)
        if ground >= o.level then dry = dry + 1 end
        return eta - math.max(o.level, ground)
    end),
}
if not o.quiet then
    print(string.format('%s, %s, %.0f steps, %.0f %% dry: transport at most %.3g m2/s, surface '
        .. 'off by at most %.3g m', o.scheme, o.map, sim.now.steps,
        100 * dry / sim.grid.cells, result.transport, result.rise))
end
return result
