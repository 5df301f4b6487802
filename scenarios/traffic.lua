-- Cars on a road: Lighthill and Whitham (1955, Proc. R. Soc. A 229, 317), Richards (1956, Oper.
-- Res. 4, 42). The density, from 0 to 1 where cars stand, moves with the flux rho (1 - rho). At
-- t = 0 a light turns green at x = 0.5 for a queue that begins at x = 0.25, and cars of density 0.4
-- come up from behind: a fan spreads from the light and a shock moves back from the queue's end,
-- which the result is compared with until they meet at t = 5 / 12.

local mare = require 'mare'

local o = mare.options {
    title = 'Traffic',
    help = 'A queue of cars at a light that turns green, compared with its exact solution.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 0.4 },
    { name = 'nx', default = 400, help = 'cells along the road' },
    { name = 'ny', default = 4, help = 'cells across the road, which are alike' },
    { name = 'image', default = 'traffic.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, o.ny / o.nx } }
local light, queue, behind = 0.5, 0.25, 0.4

local scheme = mare.equations {
    name = 'traffic', title = 'traffic of Lighthill, Whitham and Richards', options = o,
    fields = { 'rho' },
    flux = function(q) return q.rho * (1 - q.rho) end,
    speed = function(q) return 1 - 2 * q.rho, 1 - 2 * q.rho end,
}

local function initial(x)
    return x < queue and behind or x < light and 1 or 0
end

local function exact(x, t)
    if x < queue - behind * t then return behind end
    if t == 0 then return initial(x) end
    return math.max(0, math.min(1, (1 - (x - light) / t) / 2))
end

-- Returns positions, computed and exact densities.
local function profile(sim)
    local rho, p = sim:field 'rho', { position = {}, computed = {}, exact = {} }
    for i = 0, o.nx - 1 do
        p.position[i + 1], p.computed[i + 1] = grid:x_centre(i), rho[i]
        p.exact[i + 1] = exact(grid:x_centre(i), sim.now.t)
    end
    return p
end

local function draw(sim, path)
    local p = profile(sim)
    mare.image.lines {
        path = path, title = string.format('traffic, t = %.3g', sim.now.t), xlabel = 'x',
        ylabel = 'density of cars', xrange = { 0, 1 },
        series = { { x = p.position, y = p.computed, label = 'Mare', style = 'points' },
            { x = p.position, y = p.exact, label = 'exact' } },
    }
end

local sim = mare.run {
    title = 'Traffic', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = { west = 'outflow', east = 'outflow', south = 'periodic', north = 'periodic' },
    picture = draw,
}

local p, error = profile(sim), 0
for i = 1, o.nx do error = error + math.abs(p.computed[i] - p.exact[i]) / o.nx end
if not o.quiet then print(string.format('%d cells: L1 error of density %.3e', o.nx, error)) end
return { sim = sim, error = error }
