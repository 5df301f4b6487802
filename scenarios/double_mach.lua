-- Double Mach reflection (Woodward and Colella 1984): a shock of Mach 10 runs over a wall at 60
-- degrees. The wall begins at x = 1/6; before it, and in the west, is the gas behind the shock, and
-- along the north the shock runs on as it would without a wall. At t = 0.2 it is there at
-- x = 1/6 + (1 + 20 t) / sqrt(3) = 3.053, and behind it rho = 8, u = 8.25 cos 30, p = 116.5. A flux
-- with the carbuncle kinks the Mach stem at the wall.

local mare = require 'mare'

local o = mare.options {
    title = 'Double Mach reflection',
    help = 'A shock of Mach 10 is reflected twice by a wall, with two contacts and a jet.',
    mare.options.simulation, mare.euler.options,
    { name = 'nx', default = 960 },
    { name = 'ny', default = 240 },
    { name = 'image', default = 'double_mach.png' },
    { name = 't-end', default = 0.2 },
    { name = 'cfl', default = 0.4 },
    { name = 'flux', default = 'hllc_straight' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 4 }, y = { 0, 1 } }

local foot, tangent = 1 / 6, math.sqrt(3)
local u, v = 8.25 * math.cos(math.rad(30)), -8.25 * math.sin(math.rad(30))

-- The state at a time if there were no wall.
local function shock(t, x, y)
    if x < foot + (y + 20 * t) / tangent then return 8, u, v, 116.5 end
    return 1.4, 0, 0, 1
end

local behind = { kind = 'prescribed', state = function() return 8, u, v, 116.5 end }

-- The shock crosses a cell in the north in dx sqrt(3) / 20.
local moving = { kind = 'prescribed', state = shock,
    times = { to = o.t_end, every = math.min(grid.dx * tangent / 80, o.t_end) } }

local sim = mare.run {
    title = 'Double Mach reflection', options = o, grid = grid,
    boundaries = { west = behind, east = 'outflow', north = moving,
        south = { kind = 'pieces', { to = foot, side = behind }, { side = 'reflective' } } },
    scheme = mare.euler { gamma = 1.4, options = o },
    initial = function(x, y) return shock(0, x, y) end,
    picture = { variable = 'rho', label = 'density', range = { 1, 22 } },
}
return { sim = sim }
