-- Shock tubes: a diaphragm separates two states of gas; the result is compared
-- with the exact solution. The tests are those of Sod (1978, J. Comput. Phys.
-- 27, 1) and tests 1 to 5 of Toro (Riemann Solvers and Numerical Methods for
-- Fluid Dynamics, 3rd ed., 2009, table 4.1; test 1 with moving gas, ch. 6).
-- They are one-dimensional, along either axis, on a two-dimensional grid that
-- is a few cells thin.

local mare = require 'mare'

-- States are density, velocity, pressure. The diaphragm is at x0 in [0, 1].
local tests = {
    sod = { left = { 1, 0, 1 }, right = { 0.125, 0, 0.1 }, x0 = 0.5, t = 0.2 },
    toro1 = { left = { 1, 0.75, 1 }, right = { 0.125, 0, 0.1 }, x0 = 0.3, t = 0.2 },
    toro2 = { left = { 1, -2, 0.4 }, right = { 1, 2, 0.4 }, x0 = 0.5, t = 0.15 },
    toro3 = { left = { 1, 0, 1000 }, right = { 1, 0, 0.01 }, x0 = 0.5, t = 0.012 },
    toro4 = { left = { 5.99924, 19.5975, 460.894 }, right = { 5.99242, -6.19633, 46.095 },
        x0 = 0.4, t = 0.035 },
    toro5 = { left = { 1, -19.59745, 1000 }, right = { 1, -19.59745, 0.01 }, x0 = 0.8, t = 0.012 },
}

local o = mare.options {
    title = 'Shock tube',
    help = 'A shock tube, compared with its exact solution.',
    mare.options.simulation, mare.euler.options,
    { name = 't-end', default = tests.sod.t,
        help = 'time to stop at; each --test has its own default' },
    { name = 'nx', default = 400, help = 'cells along the tube' },
    { name = 'ny', default = 4, help = 'cells across the tube' },
    { name = 'image', default = 'sod.png' },
    { name = 'test', default = 'sod', help = 'the problem to solve',
        choices = { 'sod', 'toro1', 'toro2', 'toro3', 'toro4', 'toro5' } },
    { name = 'axis', default = 'x', choices = { 'x', 'y' }, help = 'direction of the tube' },
}
local test, along_x, gamma = tests[o.test], o.axis == 'x', 1.4
if not o:given 't_end' then o.t_end = test.t end

local tube, across = { 0, 1 }, { 0, o.ny / o.nx }
local grid = along_x and mare.grid { nx = o.nx, ny = o.ny, x = tube, y = across }
    or mare.grid { nx = o.ny, ny = o.nx, x = across, y = tube }

local function initial(x, y)
    local s = (along_x and x or y) < test.x0 and test.left or test.right
    return s[1], along_x and s[2] or 0, along_x and 0 or s[2], s[3]
end

local exact = mare.riemann.solve(test.left, test.right, gamma)

-- Returns the exact mean of density, velocity or pressure (1, 2, 3) over cell
-- k, from 50 points.
local function exact_mean(k, which, t)
    local sum = 0
    for n = 0, 49 do
        local x = (k + (n + 0.5) / 50) / o.nx
        sum = sum + select(which, exact:sample((x - test.x0) / t))
    end
    return sum / 50
end

-- Returns positions, computed and exact values of a variable along the middle
-- of the tube.
local function profile(sim, variable)
    local data, middle = sim:field(variable), math.floor(o.ny / 2)
    local which = { rho = 1, u = 2, v = 2, p = 3 }
    local p = { position = {}, computed = {}, exact = {} }
    for k = 0, o.nx - 1 do
        p.position[k + 1] = (k + 0.5) / o.nx
        p.computed[k + 1] = data[along_x and middle * o.nx + k or k * o.ny + middle]
        p.exact[k + 1] = exact_mean(k, which[variable], sim.now.t)
    end
    return p
end

local function l1_error(sim, variable)
    local p, sum = profile(sim, variable), 0
    for k = 1, o.nx do sum = sum + math.abs(p.computed[k] - p.exact[k]) end
    return sum / o.nx
end

local function draw(sim, path)
    local p = profile(sim, 'rho')
    mare.image.lines {
        path = path, title = string.format('%s, t = %.3g', o.test, sim.now.t),
        xlabel = o.axis, ylabel = 'density', xrange = tube,
        series = { { x = p.position, y = p.computed, label = 'Mare', style = 'points' },
            { x = p.position, y = p.exact, label = 'exact' } },
    }
end

local along, sideways = 'outflow', 'periodic'
if not along_x then along, sideways = sideways, along end

local sim = mare.run {
    title = 'Shock tube ' .. o.test, options = o, grid = grid, initial = initial, picture = draw,
    boundaries = { west = along, east = along, south = sideways, north = sideways },
    scheme = mare.euler { gamma = gamma, options = o },
}
local error = { rho = l1_error(sim, 'rho'), u = l1_error(sim, along_x and 'u' or 'v'),
    p = l1_error(sim, 'p') }
if not o.quiet then
    print(string.format('%s, %d cells: L1 error of density %.3e, velocity %.3e, pressure %.3e',
        o.test, o.nx, error.rho, error.u, error.p))
end
return { sim = sim, error = error }
