-- A dam breaks: water flows onto a wet bed (Stoker 1957) or a dry bed (Ritter
-- 1892). Depths, length and time are those of SWASHES 4.1.1 and 4.1.2 (Delestre
-- et al. 2013, Int. J. Numer. Meth. Fluids 72, 269). The problem is
-- one-dimensional, along either axis, on a grid that is a few cells thin, and
-- compared with the exact solution. --ocean selects a scheme of mare.ocean over
-- a level bed.

local mare = require 'mare'

local o = mare.options {
    title = 'Dam break',
    help = 'A dam breaks; the flow is compared with the exact solution.',
    mare.options.simulation, mare.shallow_water.options,
    { name = 'nx', default = 400, help = 'cells along the channel' },
    { name = 'ny', default = 4, help = 'cells across the channel' },
    { name = 'image', default = 'dam_break.png' },
    { name = 't-end', default = 6 },
    { name = 'bed', default = 'wet', choices = { 'wet', 'dry' }, help = 'bed in front of the dam' },
    { name = 'axis', default = 'x', choices = { 'x', 'y' }, help = 'direction of the channel' },
    { name = 'ocean', type = 'string', choices = { 'cdklm', 'kurganov_petrova' },
        help = 'use this scheme of mare.ocean over a level bed, instead of --scheme' },
}
for _, name in ipairs(o.ocean and { 'scheme', 'flux', 'limiter' } or {}) do
    if o:given(name) then mare.options.refuse(name, o[name], 'none with --ocean') end
    o[name] = nil
end
local along_x, g, length, dam = o.axis == 'x', 9.81, 10, 5
local behind, ahead = 0.005, o.bed == 'wet' and 0.001 or 0

local channel, across = { 0, length }, { 0, length * o.ny / o.nx }
local grid = along_x and mare.grid { nx = o.nx, ny = o.ny, x = channel, y = across }
    or mare.grid { nx = o.ny, ny = o.nx, x = across, y = channel }

local function initial(x, y)
    return (along_x and x or y) < dam and behind or ahead, 0, 0
end

-- Elevation in mare.ocean is measured from the level of the bed.
local function scheme()
    if o.ocean then
        return mare.ocean { scheme = o.ocean, g = g, depth = 0, theta = o.theta, dry = 1e-7 }
    end
    return mare.shallow_water { g = g, options = o }
end

local exact = mare.dam_break.solve(behind, ahead, g)

-- Returns the exact means of depth and transport over cell k, from 50 points.
local function exact_means(k, t)
    local depth, transport = 0, 0
    for n = 0, 49 do
        local h, u = exact:sample(((k + (n + 0.5) / 50) / o.nx * length - dam) / t)
        depth, transport = depth + h / 50, transport + h * u / 50
    end
    return depth, transport
end

-- Returns positions, computed and exact values along the middle of the channel.
local function profile(sim, variable)
    local data, middle = sim:field(variable), math.floor(o.ny / 2)
    local p = { position = {}, computed = {}, exact = {} }
    for k = 0, o.nx - 1 do
        local h, transport = exact_means(k, sim.now.t)
        p.position[k + 1] = (k + 0.5) / o.nx * length
        p.computed[k + 1] = data[along_x and middle * o.nx + k or k * o.ny + middle]
        p.exact[k + 1] = variable == 'h' and h or transport
    end
    return p
end

-- Returns the L1 error relative to the mean of the exact solution.
local function l1_error(sim, variable)
    local p, sum, scale = profile(sim, variable), 0, 0
    for k = 1, o.nx do
        sum, scale = sum + math.abs(p.computed[k] - p.exact[k]), scale + math.abs(p.exact[k])
    end
    return sum / scale
end

local function draw(sim, path)
    local p = profile(sim, 'h')
    mare.image.lines {
        path = path, title = string.format('Dam break, %s bed, t = %.3g s', o.bed, sim.now.t),
        xlabel = o.axis .. ' (m)', ylabel = 'depth (m)', xrange = channel,
        series = { { x = p.position, y = p.computed, label = 'Mare', style = 'points' },
            { x = p.position, y = p.exact, label = 'exact' } },
    }
end

local along, sideways = 'outflow', 'periodic'
if not along_x then along, sideways = sideways, along end

local sim = mare.run {
    title = 'Dam break', options = o, grid = grid, initial = initial, picture = draw,
    boundaries = { west = along, east = along, south = sideways, north = sideways },
    scheme = scheme(),
}
local error = { h = l1_error(sim, 'h'), transport = l1_error(sim, along_x and 'hu' or 'hv') }
if not o.quiet then
    print(string.format('%s bed, %d cells, %s: L1 error of depth %.3e, of transport %.3e', o.bed,
        o.nx, o.ocean or o.scheme, error.h, error.transport))
end
return { sim = sim, error = error }
