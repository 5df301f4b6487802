-- The vortex of Orszag and Tang (1979, J. Fluid Mech. 90, 129) in a conducting gas, set up as by
-- Londrillo and Del Zanna (2000, ApJ 530, 508): smooth waves that become shocks and a sheet of
-- current. Ideal magnetohydrodynamics with the divergence of the magnetic field cleaned by waves
-- of psi that carry it away and die down (Dedner et al. 2002, J. Comput. Phys. 175, 645): nine
-- unknowns, written in Lua.

local mare = require 'mare'

local o = mare.options {
    title = 'Orszag-Tang vortex',
    help = 'Waves in a conducting gas become shocks. The equations are in the script.',
    mare.options.simulation, mare.equations.options,
    { name = 'nx', default = 512 },
    { name = 'ny', default = 512 },
    { name = 't-end', default = 0.5 },
    { name = 'image', default = 'orszag_tang.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, 1 } }

-- cleaning: the speed of the waves of psi, no less than that of all others; they die down
-- over a length of 0.18.
local parameters = { gamma = 5 / 3, cleaning = 3 }

-- Kinetic and magnetic energy are halves of squares: B is in units of sqrt(4 pi).
local function squares(w)
    return w.u.n ^ 2 + w.u.t ^ 2 + w.uz ^ 2, w.b.n ^ 2 + w.b.t ^ 2 + w.bz ^ 2
end

local function energy(w, gamma)
    local uu, bb = squares(w)
    return w.p / (gamma - 1) + 0.5 * (w.rho * uu + bb)
end

local function primitive(q, p)
    local un, ut, uz = q.m.n / q.rho, q.m.t / q.rho, q.mz / q.rho
    local moving = q.m.n * un + q.m.t * ut + q.mz * uz
    local magnetic = q.b.n ^ 2 + q.b.t ^ 2 + q.bz ^ 2
    return q.rho, un, ut, uz, (p.gamma - 1) * (q.energy - 0.5 * (moving + magnetic)),
        q.b.n, q.b.t, q.bz, q.psi
end

local function conserved(w, p)
    return w.rho, w.rho * w.u.n, w.rho * w.u.t, w.rho * w.uz, energy(w, p.gamma),
        w.b.n, w.b.t, w.bz, w.psi
end

local function flux(w, p)
    local _, bb = squares(w)
    local mass, total = w.rho * w.u.n, w.p + 0.5 * bb
    local along = w.u.n * w.b.n + w.u.t * w.b.t + w.uz * w.bz
    return mass, mass * w.u.n + total - w.b.n ^ 2, mass * w.u.t - w.b.n * w.b.t,
        mass * w.uz - w.b.n * w.bz, w.u.n * (energy(w, p.gamma) + total) - w.b.n * along,
        w.psi, w.u.n * w.b.t - w.u.t * w.b.n, w.u.n * w.bz - w.uz * w.b.n,
        p.cleaning ^ 2 * w.b.n
end

-- Fast magnetosonic waves, and those of psi.
local function speed(w, p)
    local _, bb = squares(w)
    local a, b = p.gamma * w.p / w.rho, bb / w.rho
    local root = math.sqrt(math.max((a + b) ^ 2 - 4 * a * w.b.n ^ 2 / w.rho, 0))
    local fast = math.sqrt(0.5 * (a + b + root))
    return math.min(w.u.n - fast, -p.cleaning), math.max(w.u.n + fast, p.cleaning)
end

local function source(q, _, _, _, p)
    return 0, 0, 0, 0, 0, 0, 0, 0, -p.cleaning / 0.18 * q.psi
end

local scheme = mare.equations {
    name = 'mhd_cleaned', title = 'ideal magnetohydrodynamics with cleaning', options = o,
    fields = { 'rho', mare.vector 'm', 'mz', 'energy', mare.vector 'b', 'bz', 'psi' },
    primitives = { 'rho', mare.vector 'u', 'uz', 'p', mare.vector 'b', 'bz', 'psi' },
    parameters = parameters, primitive = primitive, conserved = conserved, flux = flux,
    speed = speed, source = source,
    integrals = { { name = 'mass', variable = 'rho', long_name = 'mass' },
        { name = 'energy', variable = 'energy', long_name = 'total energy' } },
}

local function initial(x, y)
    local sx, sy = math.sin(2 * math.pi * x), math.sin(2 * math.pi * y)
    local unit = math.sqrt(4 * math.pi)
    return 25 / (36 * math.pi), -sy, sx, 0, 5 / (12 * math.pi), -sy / unit,
        math.sin(4 * math.pi * x) / unit, 0, 0
end

local result = {}
result.sim = mare.run {
    title = 'Orszag-Tang vortex', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'periodic',
    picture = { variable = 'rho', label = 'density', range = { 0.08, 0.5 } },
}
return result
