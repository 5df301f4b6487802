-- What a flux makes of shocks and contacts that lie along the grid, where theory is plain:
--
--   duct       a shock of Mach 6 runs over noise of 1e-6 (Quirk 1994): it stays straight, v = 0
--   blast      the energy of Sedov (as Kamm and Timmes 2007) in the middle: at t = 1 a circular
--              shock has r = 0.75
--   contact    a disc of ten times the density at rest: it stays as it is
--
-- hllc keeps contacts but bends shocks, hll the reverse; hllc_straight keeps both.

local mare = require 'mare'

local o = mare.options {
    title = 'Strong shocks',
    help = 'Shocks and contacts along the grid, which some fluxes bend or smear.',
    mare.options.simulation, mare.euler.options,
    { name = 'problem', default = 'duct', choices = { 'duct', 'blast', 'contact' },
        help = 'duct: a shock over noise; blast: of Sedov; contact: a heavy disc at rest' },
    { name = 'nx', default = 0, range = { 0 }, help = 'cells along x; 0: as the problem wants' },
    { name = 'ny', default = 0, range = { 0 }, help = 'cells along y; 0: as the problem wants' },
    { name = 'image', default = 'strong_shocks.png' },
    { name = 't-end', default = 0, range = { 0 }, help = 'time to stop at; 0: the problem\'s' },
    { name = 'cfl', default = 0.45 },
    { name = 'flux', default = 'hllc_straight' },
    { name = 'limiter', default = 'mc' },
}

local gamma, energy = 1.4, 0.311357
local problems = {}

-- Behind the shock rho, u and p of Mach 6, ahead gas at rest.
function problems.duct()
    local M, c = 6, math.sqrt(gamma)
    local rho = (gamma + 1) * M * M / ((gamma - 1) * M * M + 2)
    local u, p = M * c * (1 - 1 / rho), (2 * gamma * M * M - gamma + 1) / (gamma + 1)
    return { cells = { 800, 20 }, box = { 800, 20 }, t = 740 / (M * c),
        boundaries = { west = 'fixed', east = 'fixed', south = 'reflective',
            north = 'reflective' },
        initial = function(x, y, noise)
            if x < 20 then return rho * (1 + noise(x, y, 1)), u, noise(x, y, 2), p end
            return 1 + noise(x, y, 1), 0, noise(x, y, 2), 1
        end,
        picture = { variable = 'v', label = 'velocity along the shock', range = { -0.5, 0.5 },
            colours = 'diverging' } }
end

function problems.blast(dx)
    return { cells = { 400, 400 }, box = { 2.4, 2.4 }, t = 1, boundaries = 'outflow',
        initial = function(x, y)
            local hot = math.abs(x - 1.2) < dx and math.abs(y - 1.2) < dx
            return 1, 0, 0, hot and (gamma - 1) * energy / (4 * dx * dx) or 1e-5
        end,
        picture = { variable = 'rho', label = 'density', range = { 0, 6 } } }
end

function problems.contact()
    return { cells = { 128, 128 }, box = { 1, 1 }, t = 10, boundaries = 'periodic',
        initial = function(x, y)
            return (x - 0.5) ^ 2 + (y - 0.5) ^ 2 < 0.09 and 10 or 1, 0, 0, 1
        end,
        picture = { variable = 'rho', label = 'density', range = { 1, 10 } } }
end

local plain = problems[o.problem](0)
local nx = o.nx > 0 and o.nx or plain.cells[1]
local ny = o.ny > 0 and o.ny or math.max(4, math.floor(nx * plain.box[2] / plain.box[1]))
local grid = mare.grid { nx = nx, ny = ny, x = { 0, plain.box[1] }, y = { 0, plain.box[2] } }
local problem = problems[o.problem](grid.dx)
if o.t_end == 0 then o.t_end = problem.t end

local function noise(x, y, n)
    local i, j = grid:cell(x, y)
    return 1e-6 * (2 * mare.random.uniform(o.seed + n, j * nx + i) - 1)
end

local sim = mare.run {
    title = 'Strong shocks: ' .. o.problem, options = o, grid = grid,
    boundaries = problem.boundaries, scheme = mare.euler { gamma = gamma, options = o },
    initial = function(x, y) return problem.initial(x, y, noise) end,
    picture = problem.picture,
}

-- The largest velocity along the shock, or change of a density that should stay.
local function most_off()
    local field, most = sim:field(problem.picture.variable), 0
    for k = 0, grid.cells - 1 do
        local x, y = grid:x_centre(k % nx), grid:y_centre(math.floor(k / nx))
        local wanted = o.problem == 'contact' and problem.initial(x, y) or 0
        most = math.max(most, math.abs(tonumber(field[k]) - wanted))
    end
    return most
end

-- Where the density falls through 2, coming in along a ray from the middle.
local function radius(rho, angle)
    local r = 1.15
    while r > 0 do
        local i, j = grid:cell(1.2 + r * math.cos(angle), 1.2 + r * math.sin(angle))
        if rho[j * nx + i] > 2 then return r end
        r = r - grid.dx / 4
    end
    return 0
end

if o.problem == 'blast' then
    local rho = sim:field 'rho'
    local along, between = radius(rho, 0), radius(rho, math.pi / 4)
    if not o.quiet then
        print(('%s: the shock is at r = %.3f along x, %.3f on the diagonal; theory 0.75'):format(
            o.flux, along, between))
    end
    return { sim = sim, along = along, between = between }
end
local most = most_off()
if not o.quiet then
    print(('%s: %s is off by %.1e at most; theory 0'):format(o.flux, problem.picture.label, most))
end
return { sim = sim, most = most }
