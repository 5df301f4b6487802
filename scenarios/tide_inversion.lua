-- Finds the tide on the open boundary of the shipped grid from the gauges
-- inside. The boundary is a chain of knots with linear interpolation. M2 is
-- found first, by the Gauss-Newton method (inversion.lua): runs in which one
-- knot each is changed a little, twenty copies of the sea side by side in one
-- grid, give the response at the gauges, and least squares give the best
-- values. Then come the other constituents, for which friction is linear beside
-- M2: one run per knot gives the response to all of them. Gauges that are left
-- out, a fifth at a time, validate the result.

local mare = require 'mare'

local o = mare.options {
    title = 'Tide inversion',
    help = 'Finds the tide on an open boundary from gauges.',
    mare.options.simulation,
    { name = 'grid', type = 'path', help = 'NetCDF file of depths; default: the shipped one' },
    { name = 'constituents', default = 'M2', help = 'constituents, such as M2,S2,N2,K2,K1,O1; only '
        .. 'the first one is strong' },
    { name = 'spacing', default = 16, range = { 1, 100 }, help = 'cells between knots' },
    { name = 'rounds', default = 8, range = { 1, 20 }, help = 'the most linearisations' },
    { name = 'smooth', type = 'number', default = 30, range = { 0 },
        help = 'weight of smoothness' },
    { name = 'friction', default = 0.025, range = { 0, 1 }, help = "Manning's n, s m^(-1/3)" },
    { name = 'least-depth', default = 5, range = { 1, 100 }, help = 'least depth, m' },
    { name = 'deeper', default = 4, range = { -50, 50 }, help = 'depth to add everywhere, m' },
    { name = 'loading', default = 0.015, range = { 0, 0.5 }, help = 'as for north_sea' },
    { name = 'periods', default = 9, range = { 2, 100 },
        help = 'periods of a run, the last of which is analysed' },
    { name = 'days', default = 32, range = { 1, 400 },
        help = 'days of runs with all constituents' },
    { name = 'together', default = 20, range = { 1, 20 }, help = 'copies of the sea in a run' },
    { name = 'table', type = 'path', writes = 'file',
        help = 'file for the tide in every open cell' },
    { name = 'cfl', default = 0.8 },
}
local data = mare.root .. '/scenarios/data/'
local basin = mare.basin { file = o.grid or data .. 'north_sea_bathymetry_etopo5.nc' }
local names = mare.options.apply('constituents', mare.tides.list, o.constituents)
if not names[1] then mare.options.refuse('constituents', o.constituents, 'M2, S2, ...') end
local main = names[1]
basin:deepen(o.deeper)

local gauges, places = {}, {}
for _, gauge in ipairs(mare.gauges.read(data .. 'tide_gauges.csv')) do
    local at, wave = basin:nearest_water(gauge.x, gauge.y, 2), gauge.constituents[main]
    if at and wave and wave.amplitude then
        gauges[#gauges + 1], places[#places + 1] = gauge, at
    end
end

-- Returns the sea with the friction of the run; with r (1/s), with linear
-- friction for a first guess.
local function sea(depth, tide, r)
    return mare.ocean {
        scheme = 'linear', depth = depth, minimum_depth = o.least_depth, coriolis = 'latitude',
        g = 9.815 * (1 - o.loading), tide = tide, friction = {
            kind = r and 'linear' or 'manning', coefficient = r or o.friction },
    }
end

local chain = mare.chain { basin = basin, spacing = o.spacing, gauges = places, sea = sea,
    options = o, together = o.together }
local inverse = mare.inverse { chain = chain, gauges = gauges, smooth = o.smooth,
    rounds = o.rounds, periods = o.periods, days = o.days, say = function(...)
        if not o.quiet then print(string.format(...)) end
    end }
inverse:main(main)
inverse:others(names)
if o.table then chain:write(o.table, names, inverse.boundary) end
return inverse
