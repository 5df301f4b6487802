-- Heat that spreads in a plate whose west side is warmed and cooled in turn: u_t = d (u_xx + u_yy).
-- The swing of temperature runs in as a wave that dies down over the depth sqrt(2 d / omega), one
-- part in e (Carslaw and Jaeger 1959, Conduction of Heat in Solids, 2.6); what remains after some
-- periods is compared with it.

local mare = require 'mare'

local o = mare.options {
    title = 'Heat',
    help = 'A side is warmed and cooled; the wave that runs in is compared with the exact one.',
    mare.options.simulation, mare.stencil.options,
    { name = 't-end', default = 4 },
    { name = 'nx', default = 100 },
    { name = 'ny', default = 8 },
    { name = 'image', default = 'heat.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, o.ny / o.nx } }
local omega, diffusivity = 2 * math.pi, 0.02
local depth = math.sqrt(2 * diffusivity / omega)

local scheme = mare.stencil {
    name = 'heat', title = 'conduction of heat', options = o, fields = { 'u' },
    parameters = { d = diffusivity },
    rate = function(q, _, _, _, p)
        return p.d * ((q.u.west - 2 * q.u.here + q.u.east) / p.dx ^ 2
            + (q.u.south - 2 * q.u.here + q.u.north) / p.dy ^ 2)
    end,
    limit = function(p) return 2 * p.d * (1 / p.dx ^ 2 + 1 / p.dy ^ 2) end,
}

local function wave(x, t) return math.exp(-x / depth) * math.cos(omega * t - x / depth) end

local sim = mare.run {
    title = 'Heat', options = o, grid = grid, scheme = scheme,
    initial = function(x) return wave(x, 0) end,
    boundaries = { west = function(_, x, _, t) return wave(x, t) end, east = 'reflective',
        south = 'periodic', north = 'periodic' },
    picture = { variable = 'u', label = 'temperature', range = { -1, 1 } },
}

local u, error = sim:field 'u', 0
for i = 0, o.nx - 1 do
    error = error + math.abs(u[i] - wave(grid:x_centre(i), sim.now.t)) / o.nx
end
if not o.quiet then print(string.format('%d cells: L1 error %.3e', o.nx, error)) end
return { sim = sim, error = error }
