-- A pulse of sound in a square room: pressure and velocity obey p_t + K div v = 0 and
-- v_t + grad p / rho = 0. From its middle a ring runs out at the speed c = sqrt(K / rho). Without
-- walls in reach the pressure in the middle of a Gaussian pulse is known: it follows from Poisson's
-- formula in two dimensions, 1 - 2 s exp(-s^2) times the integral of exp(r^2) from 0 to s, for
-- s = c t / width.

local mare = require 'mare'

local o = mare.options {
    title = 'Sound',
    help = 'A pulse of sound spreads in a room; its middle is compared with the exact solution.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 0.3 },
    { name = 'nx', default = 256 },
    { name = 'ny', default = 256 },
    { name = 'image', default = 'acoustics.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { -0.5, 0.5 }, y = { -0.5, 0.5 } }
local stiffness, density, width = 1, 1, 0.1

local scheme = mare.equations {
    name = 'acoustics', title = 'linear acoustics', options = o,
    fields = { 'p', mare.vector 'v' }, parameters = { stiffness = stiffness,
        density = density },
    flux = function(q, p) return p.stiffness * q.v.n, q.p / p.density, 0 * q.p end,
    speed = function(_, p)
        local c = math.sqrt(p.stiffness / p.density)
        return -c, c
    end,
    variables = {
        { name = 'energy', long_name = 'energy density', value = function(q, p)
            return 0.5 * (q.p ^ 2 / p.stiffness + p.density * (q.v_x ^ 2 + q.v_y ^ 2))
        end },
    },
    integrals = { { name = 'energy', variable = 'energy', long_name = 'energy' } },
}

local function initial(x, y) return math.exp(-(x * x + y * y) / width ^ 2), 0, 0 end

local sim = mare.run {
    title = 'Sound', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'reflective', picture = { variable = 'p', label = 'pressure' },
}

-- The pressure in the middle, the integral by Simpson's rule.
local function exact(t)
    local s = math.sqrt(stiffness / density) * t / width
    local n, sum = 200, 0
    for k = 0, n do
        local weight = (k == 0 or k == n) and 1 or k % 2 == 1 and 4 or 2
        sum = sum + weight * math.exp((s * k / n) ^ 2 - s * s)
    end
    return 1 - 2 * s * (sum * s / n / 3)
end

local p, i, j = sim:field 'p', math.floor(o.nx / 2), math.floor(o.ny / 2)
local middle = 0.25 * (p[j * o.nx + i] + p[j * o.nx + i - 1] + p[(j - 1) * o.nx + i]
    + p[(j - 1) * o.nx + i - 1])
local error = math.abs(middle - exact(sim.now.t))
if not o.quiet then
    print(string.format('pressure in the middle %.4f, exact %.4f', middle, exact(sim.now.t)))
end
return { sim = sim, error = error }
