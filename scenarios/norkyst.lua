-- A coast from a file of NorKyst-800 or ROMS: its bed and its state at the
-- first record, then its elevation and currents at the sides, and its wind. At
-- the end the elevation is compared with the file's. Without --file a small sea
-- is made up: a coast, an island, an eddy. Files of NorKyst-800 are at
-- thredds.met.no, under fou-hi/norkyst800m-1h; windows of interest are
-- 25,350,550,875 (North Sea) and 300,600,50,250 (Skagerrak).

local mare = require 'mare'

local o = mare.options {
    title = 'NorKyst',
    help = 'A window of a file of NorKyst-800 or ROMS, with its initial state and sides.',
    mare.options.simulation, mare.ocean.options,
    { name = 'file', default = 'sample', help = 'NetCDF file, or several: a.nc,b.nc; also '
        .. 'addresses that OPeNDAP serves, https://thredds.met.no/thredds/dodsC/...; sample: a '
        .. 'small sea, made up' },
    { name = 'window', type = 'string',
        help = 'rho points to use: i0,i1,j0,j1; default: all but the '
        .. 'outer ones' },
    { name = 'refine', default = 1, range = { 1, 16 },
        help = 'cells a rho point, along each axis; all is bilinear between rho points' },
    { name = 'figure', type = 'path', writes = 'png',
        help = 'picture of elevation and speed beside each other, at the end' },
    { name = 'sponge', default = 20, range = { 1, 1000 },
        help = 'cells of the sponge along each side' },
    { name = 'friction', default = 0.0025, range = { 0, 1 },
        help = 'coefficient of quadratic friction' },
    { name = 'drifters', type = 'integer', range = { 1, 1e6 }, needs = { 'tracks' },
        help = 'number of drifters, from random places' },
    { name = 'tracks', type = 'path', writes = 'file', needs = { 'drifters' },
        help = 'CF trajectory file for the drifters' },
    { name = 'least-depth', default = 5, range = { 0.1 },
        help = 'least depth; shallower water is deepened',
        type = 'number', unit = 'm' },
    { name = 't-end', default = 0, range = { 0 }, help = 'time to stop at; 0: the last record' },
    { name = 'nx', withdrawn = true }, { name = 'ny', withdrawn = true },
}
local files, made = {}, o.file == 'sample' and os.tmpname() or nil
for path in (made or o.file):gmatch '[^,]+' do files[#files + 1] = path end
local function open()
    if made then mare.roms.sample(made) end
    return mare.roms { files = files, refine = o.refine,
        window = o.window and mare.options.numbers('window', o.window, 4) }
end
local is_open, sea = pcall(open)
if made then os.remove(made) end         -- it is open, or never will be
if not is_open then error(sea, 0) end
if o.t_end == 0 then o.t_end = sea.times[#sea.times] end
local grid, depths = sea.grid, sea.depth.data
local sides = sea:boundaries { kind = 'sponge', width = o.sponge }

local places, k = {}, 0
while #places < (o.drifters or 0) do
    local x = grid.x[1] + (grid.x[2] - grid.x[1]) * mare.random.uniform(o.seed, 2 * k)
    local y = grid.y[1] + (grid.y[2] - grid.y[1]) * mare.random.uniform(o.seed, 2 * k + 1)
    local i, j = grid:cell(x, y)
    local depth = depths[j * grid.nx + i]
    if depth == depth then places[#places + 1] = { x, y } end
    k = k + 1
end

local sim = mare.run {
    title = 'NorKyst', options = o, grid = grid, initial = sea.initial, boundaries = sides,
    scheme = mare.ocean {
        options = o, depth = sea.depth, minimum_depth = o.least_depth,
        coriolis = sea.coriolis, wind = sea.wind,
        friction = { kind = 'quadratic', coefficient = o.friction },
    },
    drifters = places[1] and { places = places, path = o.tracks, every = 3600 } or nil,
    picture = { variable = 'speed', label = 'speed (m/s)', vectors = { 'u', 'v' } },
}

if o.figure then
    local function panel(name, label, colours)
        return { nx = grid.nx, ny = grid.ny, data = sim:field(name):pointer(), width = 900,
            x = { grid.x[1] / 1e3, grid.x[2] / 1e3 }, xlabel = 'x (km)', colours = colours,
            y = { grid.y[1] / 1e3, grid.y[2] / 1e3 }, ylabel = 'y (km)', label = label,
            title = ('NorKyst, t = %.3g h'):format(sim.now.t / 3600),
            missing = { colour = 0xb4aca0, label = 'land' } }
    end
    mare.image.panels { path = o.figure, panels = { panel('eta', 'elevation (m)', 'diverging'),
        panel('speed', 'speed (m/s)', 'viridis') } }
end

local eta, sum, count = sim:stored 'eta', 0, 0
for n = 0, grid.cells - 1 do
    if depths[n] == depths[n] then
        local x, y = grid:x_centre(n % grid.nx), grid:y_centre(math.floor(n / grid.nx))
        sum, count = sum + (eta[n] - sides.west.eta.at(sim.now.t, x, y)) ^ 2, count + 1
    end
end
local result = { sim = sim, sea = sea, difference = math.sqrt(sum / count) }
if not o.quiet then
    print(string.format('elevation after %g s: rms %.3f m from that of the file', sim.now.t,
        result.difference))
end
return result
