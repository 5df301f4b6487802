-- A wave that steepens until it breaks: the equation of Burgers (1948, Adv. Appl. Mech. 1, 171)
-- without viscosity, u_t + (u^2 / 2)_x = 0. Until the shock forms at t = 1 / max(-u_x) the solution
-- is constant along lines of slope u, which Newton's method follows back to their start; the result
-- is compared with that. A longer run shows the shock.

local mare = require 'mare'

local o = mare.options {
    title = 'Burgers',
    help = 'A wave steepens and breaks; before it does, it is compared with the exact solution.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 0.5 },
    { name = 'nx', default = 200, help = 'cells along the wave' },
    { name = 'ny', default = 4, help = 'cells across it, which are alike' },
    { name = 'image', default = 'burgers.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, o.ny / o.nx } }
local mean, amplitude = 1, 0.25
local breaks = 1 / (2 * math.pi * amplitude)

-- Only what flows along x is carried: across it the flux is 0.
local scheme = mare.equations {
    name = 'burgers', title = "Burgers' equation", options = o, fields = { 'u' },
    parameters = { along = mare.vector(1, 0) },
    flux = function(q, p) return p.along.n * 0.5 * q.u ^ 2 end,
    speed = function(q, p) return p.along.n * q.u, p.along.n * q.u end,
    integrals = { { name = 'mass', variable = 'u', long_name = 'integral of u' } },
}

local function initial(x) return mean + amplitude * math.sin(2 * math.pi * x) end

local function exact(x, t)
    local u = initial(x - mean * t)
    for _ = 1, 60 do
        local from = x - u * t
        local slope = 1 + 2 * math.pi * amplitude * math.cos(2 * math.pi * from) * t
        u = u - (u - initial(from)) / slope
    end
    return u
end

-- Returns positions, computed and exact values; the latter while there is no shock.
local function profile(sim)
    local u, t, p = sim:field 'u', sim.now.t, { position = {}, computed = {}, exact = {} }
    for i = 0, o.nx - 1 do
        local x = grid:x_centre(i)
        p.position[i + 1], p.computed[i + 1] = x, u[i]
        p.exact[i + 1] = t < breaks and exact(x, t) or u[i]
    end
    return p
end

local function draw(sim, path)
    local p = profile(sim)
    mare.image.lines {
        path = path, title = string.format('Burgers, t = %.3g', sim.now.t), xlabel = 'x',
        ylabel = 'u', xrange = { 0, 1 },
        series = { { x = p.position, y = p.computed, label = 'Mare', style = 'points' },
            { x = p.position, y = p.exact, label = 'exact' } },
    }
end

local sim = mare.run {
    title = 'Burgers', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'periodic', picture = draw,
}

local p, error = profile(sim), 0
for i = 1, o.nx do error = error + math.abs(p.computed[i] - p.exact[i]) / o.nx end
if not o.quiet and sim.now.t < breaks then
    print(string.format('%d cells: L1 error %.3e', o.nx, error))
end
return { sim = sim, error = error }
