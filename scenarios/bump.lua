-- A smooth bump of water moves and spreads: the benchmark with which Brodtkorb
-- and Saetra (2012 on) measure the order of schemes over a flat bottom.
-- --reference N repeats the run on N x N cells with the same scheme, and also
-- with a quarter and half of the cells.

local mare = require 'mare'

local o = mare.options {
    title = 'Bump',
    help = 'A smooth bump of water spreads; --reference measures the order of the scheme.',
    mare.options.simulation, mare.shallow_water.options,
    { name = 'nx', default = 256, help = 'cells along x and along y' },
    { name = 'ny', withdrawn = true },
    { name = 'image', default = 'bump.png' },
    { name = 't-end', default = 1 },
    { name = 'reference', default = 0, help = 'cells of a reference solution; 0: none' },
}
local size, radius = 100, 20
if o.nx % 4 ~= 0 then mare.options.refuse('nx', o.nx, 'a multiple of 4') end
if o.reference % o.nx ~= 0 then
    mare.options.refuse('reference', o.reference, 'a multiple of --nx, ' .. o.nx .. ', or 0')
end

local function shape(x, y)
    local r = math.sqrt((x - size / 2) ^ 2 + (y - size / 2) ^ 2)
    return r < radius and 0.05 * (1 + math.cos(math.pi * r / radius)) or 0
end

-- Returns the means over the cells of an n x n grid, from at least `points`
-- points along each axis. They are the initial cells of the reference.
local function means(n, points)
    local k = math.max(1, math.floor(points / n))
    local d = size / n / k
    return function(x, y)
        local h, transport = 0, 0
        for b = 0.5 * (1 - k), 0.5 * (k - 1) do
            for a = 0.5 * (1 - k), 0.5 * (k - 1) do
                local s = shape(x + a * d, y + b * d)
                h, transport = h + 0.5 + s, transport + (0.5 + s) * s
            end
        end
        return h / k ^ 2, transport / h, transport / h
    end
end

local function setup(n)
    return {
        options = o, boundaries = 'outflow', initial = means(n, o.reference),
        grid = mare.grid { nx = n, ny = n, x = { 0, size }, y = { 0, size } },
        scheme = mare.shallow_water { depth = 0.5, options = o },
    }
end

-- Returns the mean over the cells of |h - mean of the finer solution's h|.
local function difference(coarse, fine)
    local n, k = coarse.grid.nx, fine.grid.nx / coarse.grid.nx
    local h, reference, sum = coarse:field 'h', fine:field 'h', 0
    for j = 0, n - 1 do
        for i = 0, n - 1 do
            local mean = 0
            for b = j * k, j * k + k - 1 do
                for a = i * k, i * k + k - 1 do mean = mean + reference[b * n * k + a] end
            end
            sum = sum + math.abs(h[j * n + i] - mean / k ^ 2)
        end
    end
    return sum / n ^ 2
end

-- Returns the solution on n x n cells, without output.
local function solution(n)
    local sim = mare.simulation(setup(n))
    mare.run.loop(sim, { t_end = o.t_end, quiet = true })
    return sim
end

local shown = setup(o.nx)
shown.title = 'Bump'
shown.picture = {
    variable = 'eta', label = 'elevation (m)', colours = 'diverging', range = { -0.1, 0.1 },
    contours = { -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.05, 0.07, 0.09 },
    vectors = { 'u', 'v', reference = 0.2 },
}
local result = { sim = mare.run(shown), errors = {} }
if o.reference > 0 then
    local reference = solution(o.reference)
    local coarser = { solution(o.nx / 4), solution(o.nx / 2), result.sim }
    for k, sim in ipairs(coarser) do result.errors[k] = difference(sim, reference) end
    result.order = math.log(result.errors[2] / result.errors[3]) / math.log(2)
    if not o.quiet then
        print(string.format('%s: L1 errors of depth %.3e, %.3e, %.3e in %d, %d, %d cells, order '
            .. '%.2f', o.scheme, result.errors[1], result.errors[2], result.errors[3], o.nx / 4,
            o.nx / 2, o.nx, result.order))
    end
end
return result
