-- The tide of the north-west European shelf, driven at its open boundary and
-- compared with gauges: harmonic constants in every cell, a cotidal chart, and
-- a table of observed and computed amplitudes and phases. Options select a
-- window, finer cells and winds. The tide on the edge of a window comes from an
-- earlier run of the whole sea. Depths are those of a chart; --datum adds that
-- share of the amplitude of M2 in an earlier run, to convert them to depths
-- below the mean level. Self-attraction and loading of the tide act like a
-- gravity that is reduced by --loading: by 0.015 here (Irazoqui Apecechea and
-- others 2017, Effects of self-attraction and loading at a regional scale).

local mare = require 'mare'

local o = mare.options {
    title = 'North Sea',
    help = 'The tide of the European shelf, compared with gauges; and storms.',
    mare.options.simulation, mare.ocean.options,
    { name = 'grid', type = 'path', help = 'NetCDF file of depths and tides on the open boundary, '
        .. 'in the layout of nw_shelf_tidal_model.nc; default: the shipped one' },
    { name = 'boundary', type = 'path', help = 'table of the tide on the open boundary of --grid' },
    { name = 'stations', type = 'path', help = 'table of gauges with their constituents; '
        .. 'default: the shipped one' },
    { name = 'constituents', default = 'M2',
        help = 'constituents of the tide, such as M2,S2, or none' },
    { name = 'days', type = 'number', default = 5.18, range = { 0.1 }, help = 'days to compute' },
    { name = 'spin-up', type = 'number', default = 4.66, range = { 0 },
        help = 'days of these before the analysis begins', unit = 'd' },
    { name = 'wind', default = 'none', choices = { 'none', 'climatology', 'storm' },
        help = 'climatology: the mean of a month; storm: one of 36 hours after the spin-up, from '
        .. 'the Faeroes to Denmark' },
    { name = 'month', default = 1, range = { 1, 12 }, help = 'month of the climatology' },
    { name = 'window', type = 'string',
        help = 'compute only this: west,east,south,north in degrees' },
    { name = 'refine', default = { 1, 1 }, range = { 1, 64 },
        help = 'divide each cell into so many along x and y' },
    { name = 'loading', default = 0.015, range = { 0, 0.5 }, help = 'share of gravity by '
        .. 'which self-attraction and loading of the tide reduce it' },
    { name = 'friction', type = 'number', range = { 0, 1 }, help = "Manning's n, s m^(-1/3); "
        .. 'default: 0.032, shipped grid 0.025; a twentieth less with all constituents' },
    { name = 'least-depth', type = 'number', default = 5, range = { 0.1 }, unit = 'm',
        help = 'least depth; shallower water is deepened' },
    { name = 'datum', type = 'number', range = { 0, 3 }, help = 'share of the amplitude of M2 '
        .. 'to add to all depths; default: 1.4, shipped grid 0' },
    { name = 'deeper', type = 'number', range = { -50, 50 }, unit = 'm',
        help = 'depth to add everywhere; default: 0, shipped grid 4' },
    { name = 'date', type = 'string', help = 'date of t = 0, such as 2011-03-11; without it '
        .. 'phases are Greenwich lags with a mean moon' },
    { name = 'analysis', type = 'path', writes = 'file',
        help = 'NetCDF file for the constituents in every cell' },
    { name = 'chart', type = 'path', writes = 'png',
        help = 'PNG file for a cotidal chart of the first constituent' },
    { name = 'scatter', type = 'path', writes = 'png',
        help = 'PNG file for its observed and computed values at gauges' },
    { name = 'drifters', type = 'integer', range = { 1, 1e6 }, needs = { 'tracks', 'tracks_chart' },
        help = 'number of drifters, from random places at t = 0' },
    { name = 'tracks', type = 'path', writes = 'file', needs = { 'drifters' },
        help = 'CF trajectory file for the drifters' },
    { name = 'tracks-chart', type = 'path', writes = 'png', needs = { 'drifters' },
        help = 'PNG file for the drifters' },
    { name = 'tracks-every', default = 3600, range = { 1 }, unit = 's',
        needs = { 'tracks', 'tracks_chart' }, help = 'time between recorded places of drifters' },
    { name = 'show', default = 'speed', choices = { 'speed', 'eta' },
        help = 'variable in film and image' },
    { name = 'scheme', default = 'linear' },
    { name = 'viscosity', default = 100, range = { 0, 1e6 },
        help = 'viscosity of the nonlinear scheme',
        unit = 'm2/s' },
    { name = 'overtides', type = 'string',
        help = 'further constituents to analyse, such as M4,MS4, '
        .. 'which only the nonlinear scheme makes' },
    { name = 'cfl', default = 0.8 }, { name = 'nx', withdrawn = true },
    { name = 'ny', withdrawn = true },
    { name = 't-end', default = 0, range = { 0 }, help = 'time to stop at; 0: after --days' },
}
local data = mare.root .. '/scenarios/data/'
local suited = o.grid and { friction = 0.032, datum = 1.4, deeper = 0 }
    or { friction = 0.025, datum = 0, deeper = 4 }      -- its tide was found with these values
for name, value in pairs(suited) do o[name] = o[name] or value end
if o.t_end == 0 then o.t_end = 86400 * o.days end
if o.constituents ~= 'none' and o.spin_up >= o.days then
    mare.options.refuse('spin-up', o.spin_up,
        ('less than --days, %g, or there is nothing to analyse'):format(o.days))
end
if o.constituents ~= 'none' and o.t_end <= 86400 * o.spin_up then
    mare.options.refuse('t-end', o.t_end, ('more than --spin-up, %g s, or there is nothing to '
        .. 'analyse; --constituents none analyses nothing'):format(86400 * o.spin_up))
end
local function constituents(option, text)
    return mare.options.apply(option, mare.tides.list, text)
end
local names = o.constituents == 'none' and {} or constituents('constituents', o.constituents)
local sought = names[1] and o.overtides
    and constituents('overtides', o.constituents .. ',' .. o.overtides) or names
local basin = mare.basin { file = o.grid or data .. 'north_sea_bathymetry_etopo5.nc',
    boundary = o.boundary or not o.grid and data .. 'north_sea_tide.csv' or nil }
basin:deepen(o.deeper)
local box = o.window and mare.options.numbers('window', o.window, 4)
if box then basin:check_window(box) end
local stations = mare.gauges.read(o.stations or data .. 'tide_gauges.csv')
local arguments
for _, name in ipairs(o.date and sought or {}) do
    arguments = arguments or {}
    arguments[name] = mare.options.apply('date', mare.tides.argument, name, o.date, o.t_end / 2)
end

local function wind()
    if o.wind == 'storm' then
        return mare.weather.storm { grid = basin.grid, from = { -12, 62 }, to = { 12, 57 },
            begins = 86400 * o.spin_up }
    end
    return o.wind == 'climatology' and mare.weather.climatology { grid = basin.grid,
        file = data .. 'north_sea_wind_climatology.nc', month = o.month } or nil
end

-- Returns the description of a simulation with these constituents.
local function setup(list, stress, scheme)
    return {
        options = o, grid = basin.grid, boundaries = 'reflective',
        initial = function() return 0, 0, 0 end,
        scheme = mare.ocean {
            scheme = scheme, g = 9.815 * (1 - o.loading), depth = basin.depth,
            viscosity = scheme == 'nonlinear' and o.viscosity or 0,
            minimum_depth = o.least_depth, coriolis = basin.coriolis,
            friction = { kind = 'manning', coefficient = o.friction },
            tide = basin:tide(list, 86400, arguments), wind = stress,
        },
    }
end

local function analysis_of(list)
    local analysis = mare.harmonics { constituents = list, from = 86400 * o.spin_up,
        arguments = arguments }
    return analysis, { { 20, function(sim) analysis:take(sim) end } }
end

-- Returns the tide of these constituents in every cell, from an earlier run.
local function tide_before(list)
    local analysis, sampling = analysis_of(list)
    local sim = mare.simulation(setup(list, nil, 'linear'))
    mare.run.loop(sim, { t_end = 86400 * o.days, quiet = o.quiet, every_steps = sampling })
    local found = analysis:result()
    analysis:release()
    sim:release()
    return found
end

if o.datum > 0 and names[1] then
    basin:lower_datum(tide_before({ 'M2' }).M2.amplitude, o.datum)
end
if box then basin = basin:window(box, names[1] and tide_before(names), names) end
if o.refine[1] * o.refine[2] > 1 then basin = basin:refine(unpack(o.refine)) end
local analysis, sampling = analysis_of(sought)
local run = setup(names, wind(), o.scheme)
run.title = 'North Sea'
if names[1] then run.every_steps, run.analyses = sampling, { analysis } end
run.epoch = o.date and o.date .. ' 00:00:00'
run.gauges = (o.series and not o.gauges) and basin:place_gauges(stations) or nil
run.series = { steps = 20 }
if o.drifters then
    run.drifters = { places = basin:random_places(o.drifters, o.seed), path = o.tracks,
        every = o.tracks_every }
end
run.picture = o.show == 'eta'
    and { variable = 'eta', label = 'elevation (m)', colours = 'diverging' }
    or { variable = 'speed', label = 'speed (m/s)', range = { 0, 1.5 }, vectors = { 'u', 'v' } }
local result = { sim = mare.run(run), basin = basin, scores = {} }
if o.tracks_chart then mare.drifters.chart(o.tracks_chart, result.sim, 'North Sea: drifters') end
local budget = o.scheme == 'linear' and mare.budget.of(result.sim.series)
result.budget = budget
if budget and not o.quiet then print(mare.budget.text(budget)) end
if not names[1] then return result end
result.found = analysis:result()
result.amphidromes = mare.cotidal.amphidromes(basin.grid, result.found[names[1]])
if o.analysis then
    mare.cotidal.write(o.analysis, basin, result.found, sought, result.sim.about)
end
if o.chart then mare.cotidal.chart(o.chart, basin, result.found, names[1], stations) end
local mixed = mare.tides.inseparable(sought, o.t_end - 86400 * o.spin_up)
for _, pair in ipairs(o.quiet and {} or mixed) do
    print(string.format('%s and %s are mixed: %.0f days would tell them apart', pair[1], pair[2],
        pair.days))
end
for k, name in ipairs(sought) do
    local list = mare.cotidal.compare(basin, result.found, name, stations)
    local s = list[1] and mare.cotidal.score(list)
    result.scores[name] = s
    if s and k == 1 and o.scatter then mare.cotidal.scatter(o.scatter, list, name) end
    if s and not o.quiet then
        if k == 1 then print(mare.cotidal.table(list)) end
        print(string.format('%s at %d gauges: vector error median %.3f m, rms %.3f m; amplitude '
            .. 'ratio %.3f; phase median %.1f degrees', name, s.count, s.median, s.rms, s.ratio,
            s.phase))
    end
end
return result
