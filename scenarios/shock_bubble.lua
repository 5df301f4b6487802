-- A shock runs into a bubble of light gas and turns it inside out: a jet along
-- the axis overtakes the shock, and the bubble becomes a pair of vortices.
-- Set-up of Holm, Brodtkorb and Saetra (2020), whose box is periodic along x;
-- here the gas may leave in the east, and the state behind the shock enters in
-- the west.

local mare = require 'mare'

local o = mare.options {
    title = 'Shock and bubble',
    help = 'A shock of Mach 2.95 hits a bubble with a tenth of the density.',
    mare.options.simulation, mare.euler.options,
    { name = 'nx', default = 800 },
    { name = 'ny', default = 200 },
    { name = 'image', default = 'shock_bubble.png' },
    { name = 't-end', default = 0.6 },
    { name = 'cfl', default = 0.4 },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 4 }, y = { 0, 1 } }

local bubble = { x = 0.5, y = 0.5, radius = 0.25, rho = 0.1 }
local behind = { x = 0.1, rho = 3.8125, u = 2.57669, p = 10 }   -- x: of the shock at t = 0

-- Returns the share of the cell at (x, y) that lies in the bubble, from 4 x 4
-- points.
local function share_in_bubble(x, y)
    local count = 0
    for b = -1.5, 1.5 do
        for a = -1.5, 1.5 do
            local rx, ry = x + a / 4 * grid.dx - bubble.x, y + b / 4 * grid.dy - bubble.y
            if rx * rx + ry * ry < bubble.radius * bubble.radius then count = count + 1 end
        end
    end
    return count / 16
end

local function initial(x, y)
    if x < behind.x then return behind.rho, behind.u, 0, behind.p end
    return 1 - (1 - bubble.rho) * share_in_bubble(x, y), 0, 0, 1
end

local sim = mare.run {
    title = 'Shock and bubble', options = o, grid = grid,
    boundaries = { west = 'fixed', east = 'outflow', south = 'reflective', north = 'reflective' },
    scheme = mare.euler { gamma = 1.4, options = o },
    initial = initial,
    picture = { variable = 'rho', label = 'density', range = { 0, 5 } },
}
return { sim = sim }
