-- Tests variables and weather from NetCDF files, between their points and their
-- records.

local calendar = require 'mare.forcing.calendar'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local gridded = require 'mare.forcing.gridded'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local weather = require 'mare.forcing.weather'

local path

local function message(f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    return err.message
end

local missing = -999

-- Writes a file with coordinates and variables { name = { type =, attributes =,
-- value = f(k, y, x) } }.
local function write(spec)
    local file = netcdf.create(path)
    local dims = {}
    for _, axis in ipairs(spec.axes) do
        dims[#dims + 1] = file:define_dimension(axis.name, #axis.values)
        file:define_variable(axis.name, 'double', { dims[#dims] })
        for name, value in pairs(axis.attributes or {}) do
            file:put_attribute(axis.name, name, value)
        end
    end
    for _, v in ipairs(spec.variables) do
        file:define_variable(v.name, v.type or 'double', dims)
        for name, value in pairs(v.attributes or {}) do file:put_attribute(v.name, name, value) end
    end
    file:end_definitions()
    local lengths = {}
    for d, axis in ipairs(spec.axes) do
        lengths[d] = #axis.values
        local n = #axis.values
        file:put(axis.name, { 0 }, { n }, ffi.new('double[?]', n, axis.values))
    end
    local nt, ny, nx = unpack(lengths)
    for _, v in ipairs(spec.variables) do
        local data = ffi.new('double[?]', nt * ny * nx)
        for k = 0, nt * ny * nx - 1 do
            local x, y, t = spec.axes[3].values[k % nx + 1],
                spec.axes[2].values[math.floor(k / nx) % ny + 1],
                spec.axes[1].values[math.floor(k / nx / ny) + 1]
            data[k] = v.value(t, y, x)
        end
        file:put(v.name, { 0, 0, 0 }, { nt, ny, nx }, data)
    end
    file:close()
end

local hours = { units = 'hours since 2000-03-01 06:00:00', calendar = 'standard' }
local east, north = { units = 'degrees_east' }, { units = 'degrees_north' }

-- Over the globe, north first, packed.
local function globe()
    local lon, lat = {}, {}
    for k = 0, 35 do lon[k + 1] = 10 * k end
    for k = 0, 16 do lat[k + 1] = 80 - 10 * k end
    write {
        axes = { { name = 'time', values = { 0, 3, 9 }, attributes = hours },
            { name = 'lat', values = lat, attributes = north },
            { name = 'lon', values = lon, attributes = east } },
        variables = {
            { name = 'u10', type = 'float', value = function(t) return 10 + t end },
            { name = 'v10', type = 'float', value = function(_, y) return y / 10 end },
            { name = 'packed', type = 'int', attributes = { scale_factor = 0.5, add_offset = 100,
                _FillValue = missing }, value = function(t, y, x)
                    if x == 50 and y == 50 then return missing end
                    return 2 * (y + t)
                end },
        },
    }
end

before_each(function() path = os.tmpname() end)
after_each(function() os.remove(path) end)

describe('a date of a file', function()
    it('is counted in seconds', function()
        assert.equal(0, calendar.seconds '1970-01-01')
        assert.equal(951782400, calendar.seconds '2000-02-29 00:00:00')
        assert.equal(1790000000, calendar.seconds '2026-09-21T14:13:20Z')
        assert.equal(-86400, calendar.seconds '1969-12-31')
        assert.is_nil(calendar.seconds 'yesterday')
        assert.is_nil(calendar.seconds '2000-01-01 00:00:00 +02:00')
        assert.is_nil(calendar.seconds '2000-13-01')
    end)

    it('has units and a calendar that are known', function()
        assert.same({ 3600, 86400 }, { calendar.units 'hours since 1970-01-02' })
        local days = 'days since 1970-01-01 00:00:0.0'
        assert.same({ 86400, 0 }, { calendar.units(days, 'gregorian') })
        local _, why = calendar.units('days since 2000-01-01', '360_day')
        fails.says(why, "'360_day'", 'calendar', 'gregorian')
        _, why = calendar.units 'fortnights since 2000-01-01'
        assert.matches("^units 'fortnights since", why)
    end)
end)

describe('a gridded variable', function()
    it('is bilinear in space and straight in time', function()
        globe()
        local field = gridded.new { file = path, variable = 'packed' }
        assert.same({ 0, 10800, 32400 }, field.times)
        assert.near(100 + 33, field:at(0, 121, 33), 1e-12)
        assert.near(100 - 12.5 + 1.5, field:at(5400, 4, -12.5), 1e-12)
        assert.near(100 + 6, field:at(21600, 4, 0), 1e-12)
        assert.near(100 + 9, field:at(1e9, 4, 0), 1e-12)
        assert.near(100, field:at(-5, 4, 0), 1e-12)
    end)

    it('begins where one says', function()
        globe()
        local field = gridded.new { file = path, variable = 'u10', start = '2000-03-01' }
        assert.same({ 21600, 32400, 54000 }, field.times)
        fails.says(message(gridded.new,
            { file = path, variable = 'u10', start = 'soon' }), "start = 'soon'", 'date')
    end)

    it('goes around the earth, but not beyond where it ends', function()
        globe()
        local field = gridded.new { file = path, variable = 'v10' }
        assert.near(4.5, field:at(0, 355, 45), 1e-6)
        assert.near(4.5, field:at(0, -3, 45), 1e-6)
        assert.near(8, field:at(0, 0, 85), 1e-6)
        assert.matches('lat = 95 is wanted, there is %-80 to 80',
            message(field.at, field, 0, 0, 95))
    end)

    it('does not use what is missing', function()
        globe()
        local field = gridded.new { file = path, variable = 'packed' }
        local value = field:at(0, 51, 51)
        assert.is_true(value ~= value)
        assert.near((150 * 0.36 + 160 * 0.4) / 0.76, field:at(0, 56, 54), 1e-9)
        field = gridded.new { file = path, variable = 'packed', fill = true }
        assert.near(150, field:at(0, 50, 50), 1e-12)
        field = gridded.new { file = path, variable = 'packed', missing = 7 }
        assert.near(7, field:at(0, 50, 50), 1e-12)
    end)

    it('may be the depth of an ocean', function()
        globe()
        local grid = mare.grid { nx = 8, ny = 8, x = { 10, 50 }, y = { 20, 60 },
            coordinates = 'longitude-latitude' }
        local scheme = mare.ocean { scheme = 'linear',
            depth = gridded.new { file = path, variable = 'packed' } }
        local sides = { west = 'outflow', east = 'outflow', south = 'outflow', north = 'outflow' }
        local bed = scheme:domain(grid, sides, 'double').bed
        assert.near(100 + 42.5, bed:depth_at(0, 4), 1e-9)
        assert.is_true(bed:is_land(7, 6))       -- nearest to the value that is missing
        assert.is_false(bed:is_land(6, 6))
    end)

    -- x^2 in cells of a degree, of which the file has eight points along each axis: its mean is
    -- dx^2 / 12 above the value in the middle.
    it('may be the initial state, also as means over cells', function()
        local axis = {}
        for k = 0, 100 do axis[k + 1] = (k - 0.5) / 8 - 2 end     -- ghost cells too
        write {
            axes = { { name = 'time', values = { 0 }, attributes = hours },
                { name = 'lat', values = axis, attributes = north },
                { name = 'lon', values = axis, attributes = east } },
            variables = { { name = 'eta', attributes = { units = 'm' },
                value = function(_, _, x) return x * x / 100 end } },
        }
        local surface = gridded.new { file = path, variable = 'eta' }
        local grid = mare.grid { nx = 8, ny = 8, x = { 0, 8 }, y = { 0, 8 },
            coordinates = 'longitude-latitude' }
        local scheme = mare.ocean { depth = 10 }
        local wall = 'reflective'
        local domain = scheme:domain(grid, { west = wall, east = wall, south = wall,
            north = wall }, 'double')
        local function initial(x, y) return surface:at(0, x, y), 0, 0 end
        for _, points in ipairs { 1, 8 } do
            local cell, rise = scheme:conserved(domain, initial, points), points > 1 and 1 / 12 or 0
            for i = 0, 7 do
                assert.near(((i + 0.5) ^ 2 + rise) / 100, (cell(i, 3)), 0.006 / 100)
            end
        end
    end)

    it('is refused where there is none', function()
        globe()
        fails.says(message(gridded.new, { file = path, variable = 'w10' }), "'w10'", 'variable',
            'packed')
        fails.says(message(gridded.new, { file = path .. 'x', variable = 'u10' }), 'no such file')
        assert.equal('gridded: variable is missing', message(gridded.new, { file = path }))
    end)
end)

describe('weather', function()
    it('turns winds into stress', function()
        local x, y = weather.stress(6, 8)
        assert.near(1.225 * 1.2e-3 * 10 * 6, x, 1e-15)
        assert.near(1.225 * 1.2e-3 * 10 * 8, y, 1e-15)
        x = weather.stress(20, 0)
        assert.near(1.225 * (4.9e-4 + 6.5e-5 * 20) * 400, x, 1e-15)
    end)

    it('has the directions of the grid', function()
        globe()
        local desc = { nx = 8, ny = 8, x = { 10, 20 }, y = { 0, 10 }, angle = 90 }
        local found = weather.new { file = path, grid = mare.grid(desc) }
        assert.same({ 0, 10800, 32400 }, found.wind.times)
        assert.is_nil(found.pressure)
        local east_stress, north_stress = weather.stress(13, 0.5)
        local x, y = found.wind.at(10800, 15, 5)
        assert.near(north_stress, x, 1e-7)
        assert.near(-east_stress, y, 1e-7)
        found = weather.new { file = path, grid = mare.grid(desc), along_grid = true,
            pressure = 'packed', position = function(a, b) return a + 100, b end }
        x, y = found.wind.at(10800, 15, 5)
        assert.near(east_stress, x, 1e-7)
        assert.near(north_stress, y, 1e-7)
        assert.near(108, found.pressure.at(10800, 15, 5), 1e-9)
    end)
end)
