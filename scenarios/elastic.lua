-- Waves in an elastic solid (Virieux 1986, Geophysics 51, 889): velocity and stress obey
-- rho v_t = div s and s_t = lambda (div v) + 2 mu (strain rate). Pressure waves (P) move at
-- sqrt((lambda + 2 mu) / rho), shear waves (S) at sqrt(mu / rho). Here one of each starts along x,
-- and both are compared with what they have been: the domain goes around.
--
-- The stresses s_xx and s_yy change places with the axes, as the components of a vector do, and are
-- written as one; the shear stress s_xy stays. In a mirror they behave otherwise, so that no sides
-- may be reflective.

local mare = require 'mare'

local o = mare.options {
    title = 'Elastic waves',
    help = 'A pressure wave and a shear wave in a solid, compared with the exact solution.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 0.5 },
    { name = 'nx', default = 200 },
    { name = 'ny', default = 16 },
    { name = 'image', default = 'elastic.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, o.ny / o.nx } }
local lambda, mu, rho = 2, 1, 1
local cp, cs = math.sqrt((lambda + 2 * mu) / rho), math.sqrt(mu / rho)

local scheme = mare.equations {
    name = 'elastic', title = 'linear elasticity', options = o,
    fields = { mare.vector 'v', mare.vector 's', 'shear' },
    parameters = { lambda = lambda, mu = mu, rho = rho },
    flux = function(q, p)
        return -q.s.n / p.rho, -q.shear / p.rho, -(p.lambda + 2 * p.mu) * q.v.n,
            -p.lambda * q.v.n, -p.mu * q.v.t
    end,
    speed = function(_, p)
        local c = math.sqrt((p.lambda + 2 * p.mu) / p.rho)
        return -c, c
    end,
    variables = {
        { name = 'kinetic', long_name = 'kinetic energy density',
            value = function(q, p) return 0.5 * p.rho * (q.v_x ^ 2 + q.v_y ^ 2) end },
    },
}

local function pulse(x) return math.exp(-((x % 1 - 0.5) / 0.08) ^ 2) end

-- Waves that run east: s_xx = -rho cp v_x, s_xy = -rho cs v_y.
local function initial(x)
    local u = pulse(x)
    return u, u, -rho * cp * u, -lambda / cp * u, -rho * cs * u
end

local sim = mare.run {
    title = 'Elastic waves', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'periodic', picture = { variable = 'kinetic', label = 'kinetic energy' },
}

local vx, vy, error = sim:field 'v_x', sim:field 'v_y', 0
for i = 0, o.nx - 1 do
    local x, t = grid:x_centre(i), sim.now.t
    error = error + (math.abs(vx[i] - pulse(x - cp * t)) + math.abs(vy[i] - pulse(x - cs * t)))
        / o.nx
end
if not o.quiet then print(string.format('%d cells: L1 error of velocity %.3e', o.nx, error)) end
return { sim = sim, error = error }
