-- Two streams of a gas of constant temperature that run into each other: p = c^2 rho, as in clouds
-- between stars, that radiate all heat away. Gas at rest lies between two shocks. Mass and momentum
-- jump there so that (r - 1)^2 = m^2 r, where r is the ratio of its density to that of the streams,
-- and m the Mach number of these; the shocks move at v / (r - 1).

local mare = require 'mare'

local o = mare.options {
    title = 'Colliding streams',
    help = 'Streams of gas of one temperature collide; compared with the exact density.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 0.3 },
    { name = 'nx', default = 400, help = 'cells along the streams' },
    { name = 'ny', default = 4, help = 'cells across them, which are alike' },
    { name = 'mach', type = 'number', default = 2, range = { 0.01, 20 },
        help = 'speed of the streams over that of sound' },
    { name = 'image', default = 'isothermal.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { -0.5, 0.5 }, y = { 0, o.ny / o.nx } }

local scheme = mare.equations {
    name = 'isothermal', title = 'isothermal gas', options = o,
    fields = { 'rho', mare.vector 'm' }, primitives = { 'rho', mare.vector 'u' },
    parameters = { c = 1 },
    primitive = function(q) return q.rho, q.m.n / q.rho, q.m.t / q.rho end,
    conserved = function(w) return w.rho, w.rho * w.u.n, w.rho * w.u.t end,
    flux = function(w, p)
        local mass = w.rho * w.u.n
        return mass, mass * w.u.n + p.c ^ 2 * w.rho, mass * w.u.t
    end,
    speed = function(w, p) return w.u.n - p.c, w.u.n + p.c end,
    integrals = { { name = 'mass', variable = 'rho', long_name = 'mass' } },
}

local function initial(x) return 1, x < 0 and o.mach or -o.mach, 0 end

local ratio = 1 + o.mach ^ 2 / 2 + o.mach * math.sqrt(1 + o.mach ^ 2 / 4)
local shock = o.mach / (ratio - 1)

local function exact(x, t) return math.abs(x) < shock * t and ratio or 1 end

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
        path = path, title = string.format('colliding streams, t = %.3g', sim.now.t), xlabel = 'x',
        ylabel = 'density', xrange = { -0.5, 0.5 },
        series = { { x = p.position, y = p.computed, label = 'Mare', style = 'points' },
            { x = p.position, y = p.exact, label = 'exact' } },
    }
end

local sim = mare.run {
    title = 'Colliding streams', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = { west = 'outflow', east = 'outflow', south = 'periodic', north = 'periodic' },
    picture = draw,
}

local p, error = profile(sim), 0
for i = 1, o.nx do error = error + math.abs(p.computed[i] - p.exact[i]) / o.nx end
if not o.quiet then print(string.format('%d cells: L1 error of density %.3e', o.nx, error)) end
return { sim = sim, error = error }
