-- Water oscillates in a basin: standing waves between walls (Merian 1828). The
-- mode with `mode` nodes along x has the period 2 L / (mode sqrt(g H)). On a
-- C-grid the discrete equations have a slightly different period, which the
-- computed one must equal.

local mare = require 'mare'

local o = mare.options {
    title = 'Seiche',
    help = 'Standing waves in a basin, compared with their exact period.',
    mare.options.simulation, mare.ocean.options,
    { name = 'scheme', default = 'linear' },
    { name = 'nx', default = 100, help = 'cells along the basin' },
    { name = 'ny', default = 8, help = 'cells across the basin' },
    { name = 'cfl', default = 0.8 },
    { name = 'image', default = 'seiche.png' },
    { name = 'mode', default = 1, range = { 1, 8 }, help = 'nodes along the basin' },
    { name = 'periods', type = 'number', default = 10, range = { 1 }, help = 'periods to compute' },
    { name = 't-end', default = 0, range = { 0 }, help = 'time to stop at; 0: after --periods' },
}
local g, depth, length, height = 9.81, 50, 100e3, 1e-3
local k = o.mode * math.pi / length
local merian = 2 * length / (o.mode * math.sqrt(g * depth))
if o.t_end == 0 then o.t_end = (o.periods + 0.6) * merian end

-- Returns the amplitude of the mode in the surface.
local function amplitude(sim)
    local eta, grid, sum, norm = sim:field 'eta', sim.grid, 0, 0
    for i = 0, grid.nx - 1 do
        local shape = math.cos(k * grid:x_centre(i))
        sum, norm = sum + eta[i] * shape, norm + shape * shape
    end
    return sum / norm
end

-- The times at which the amplitude vanishes, and its values at all times.
local crossings, times, values = {}, {}, {}
local function watch(sim)
    local t, a, n = sim.now.t, amplitude(sim), #times
    if n > 0 and values[n] * a < 0 then
        crossings[#crossings + 1] = t - a / (a - values[n]) * (t - times[n])
    end
    times[n + 1], values[n + 1] = t, a
end

local sim = mare.run {
    title = 'Seiche', options = o,
    grid = mare.grid {
        nx = o.nx, ny = o.ny, x = { 0, length }, y = { 0, length * o.ny / o.nx },
    },
    scheme = mare.ocean { options = o, g = g, depth = depth },
    boundaries = 'reflective', every_steps = { { 1, watch } },
    initial = function(x) return height * math.cos(k * x), 0, 0 end,
    picture = function(_, path)
        mare.image.lines {
            path = path, title = string.format('Seiche, mode %d', o.mode), xlabel = 'time (s)',
            ylabel = 'elevation at the wall (m)', series = { { x = times, y = values } },
        }
    end,
}

local count, result = #crossings - 1, { sim = sim, merian = merian }
if count < 1 then return result end         -- stopped early
result.period = 2 * (crossings[count + 1] - crossings[1]) / count
if o.scheme == 'linear' then
    local dx, dt = length / o.nx, sim.now.last
    local courant = math.sqrt(g * depth) * dt / dx
    result.discrete = math.pi * dt / math.asin(courant * math.sin(k * dx / 2))
end
if not o.quiet then
    print(string.format('%s, %d cells: period %.3f s, Merian %.3f s (%+.1e)%s', o.scheme, o.nx,
        result.period, merian, result.period / merian - 1, result.discrete
        and string.format(', discrete %.3f s (%+.1e)', result.discrete,
        result.period / result.discrete - 1) or ''))
end
return result
