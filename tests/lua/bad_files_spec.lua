-- Tests that unsuitable files for an ocean are refused: the message names the
-- file, the variable and what is required, and nothing is written.

local classic = require 'mare.files.classic'
local dataset = require 'mare.files.dataset'
local fails = require 'tests.fails'
local home = require 'bindings.home'
local info = require 'mare.launcher.info'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local sea = dofile(home.root .. '/tests/scenarios/sea.lua')
local trial = dofile(home.root .. '/tests/scenarios/trial.lua')

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

-- Writes winds over the small sea, every three hours from its start. spec: {
-- hours = { ... }, units =, time_units = }.
local function write_wind(path, spec)
    os.remove(path)         -- a reader may still have it open
    local file, hours = netcdf.create(path, path), spec.hours or { 0, 3, 6 }
    local dims = { file:define_dimension('time', #hours), file:define_dimension('lat', 3),
        file:define_dimension('lon', 3) }
    for k, axis in ipairs { { 'time', spec.time_units or 'hours since 2000-01-01' },
        { 'lat', 'degrees_north' }, { 'lon', 'degrees_east' } } do
        file:define_variable(axis[1], 'double', { dims[k] })
        file:put_attribute(axis[1], 'units', axis[2])
    end
    for _, name in ipairs { 'u10', 'v10', 'eta', 'hu', 'hv' } do
        file:define_variable(name, 'float', dims)
        file:put_attribute(name, 'units', spec[name] or name == 'eta' and 'm'
            or name:find '10' and 'm s-1' or 'm2 s-1')
    end
    file:end_definitions()
    sea.put(file, 'time', { #hours }, hours)
    sea.put(file, 'lat', { 3 }, { 50, 50.5, 51 })
    sea.put(file, 'lon', { 3 }, { 0, 1.5, 3 })
    local values = {}
    for k = 1, 9 * #hours do values[k] = 10 end
    for _, name in ipairs { 'u10', 'v10', 'eta', 'hu', 'hv' } do
        sea.put(file, name, { #hours, 3, 3 }, values)
    end
    file:close()
    return path
end

-- Returns the refusal of a run over six hours with this wind or western side;
-- it must not have written anything.
local function refusal(desc)
    local before = trial.listing(folder)
    mare.options.source = { out = folder .. '/out.nc', checkpoint = folder .. '/c', quiet = true,
        device = trial.device, t_end = 21600, series = folder .. '/series.nc' }
    local ok, err = pcall(function()
        local o = mare.options { title = 'refused', mare.options.simulation }
        local basin = mare.basin { file = folder .. '/sea.nc' }
        local wind = desc.wind and mare.weather { file = folder .. '/wind.nc', grid = basin.grid,
            u = desc.u, hold = desc.hold }.wind
        mare.run { title = 'refused', options = o, grid = basin.grid,
            scheme = mare.ocean { scheme = 'linear', depth = basin.depth, wind = wind },
            boundaries = desc.west and { west = desc.west, east = 'reflective',
                south = 'reflective', north = 'reflective' } or 'reflective',
            initial = function() return 0, 0, 0 end }
    end)
    mare.options.source = {}
    if ok then return nil end
    assert.equal(before, trial.listing(folder))
    return type(err) == 'table' and err.message or tostring(err)
end

describe('a file is refused', function()
    before_each(function() sea.write(folder .. '/sea.nc') end)

    it('whose records do not cover the run', function()
        write_wind(folder .. '/wind.nc', { hours = { 0, 3 } })
        fails.says(refusal { wind = true }, 'wind.nc', 'u10', '2 records', 't = 0', 'to 10800')
        local west = { kind = 'nesting', file = folder .. '/wind.nc', through = 'flather' }
        fails.says(refusal { west = west }, 'wind.nc', 'eta', '2 records', 'from 0', 'to 21600')
        write_wind(folder .. '/wind.nc', {})
        west.start = '1999-12-31 23:00:00'
        assert.matches('wind.nc: eta: 3 records, from t = 3600 s to 25200 s',
            refusal { west = west })
    end)

    it('unless it may be held on to', function()
        write_wind(folder .. '/wind.nc', { hours = { 0, 3 } })
        assert.is_nil(refusal { wind = true, hold = true })
    end)

    it('whose units are others', function()
        write_wind(folder .. '/wind.nc', { v10 = 'knots' })
        fails.says(refusal { wind = true }, 'wind.nc', 'v10', "'knots'", 'velocity', 'units')
        write_wind(folder .. '/wind.nc', { hu = 'm s-1', time_units = 'hours' })
        local west = { kind = 'nesting', file = folder .. '/wind.nc', through = 'flather' }
        fails.says(refusal { west = west }, 'time', "'hours'", 'units', 'since')
        write_wind(folder .. '/wind.nc', { hu = 'm s-1' })
        fails.says(refusal { west = west }, 'hu', "'m s-1'", 'transport', 'units')
    end)

    it('that lacks a variable', function()
        write_wind(folder .. '/wind.nc', {})
        fails.says(refusal { wind = true, u = 'uwnd' }, 'wind.nc', "'uwnd'", 'variable', 'over')
    end)

    it('that is none, or not whole', function()
        local path = folder .. '/wind.nc'
        fails.says(refusal { wind = true }, 'no such file', 'wind.nc')
        for _, text in ipairs { '', 'no NetCDF', ('CDF\1'):rep(3) } do
            trial.spit(path, text)
            assert.matches('wind.nc: ', refusal { wind = true })
        end
        write_wind(path, {})
        trial.spit(path, trial.slurp(path):sub(1, -200))
        assert.matches('wind.nc: .*a whole NetCDF file is wanted', refusal { wind = true })
        trial.spit(folder .. '/sea.nc', trial.slurp(folder .. '/sea.nc'):sub(1, 2000))
        assert.matches('sea.nc: .*a whole NetCDF file is wanted', refusal {})
    end)
end)

-- Returns a classic file, made by hand: dimensions t (records) and x = 3,
-- variables a(x) of shorts, b(t, x) and c(t) of doubles, with an attribute; two
-- records.
local function classic_bytes(version)
    local function number(n, bytes)
        local text = ''
        for _ = 1, bytes do text, n = string.char(n % 256) .. text, math.floor(n / 256) end
        return text
    end
    local wide, offset = version == 5 and 8 or 4, version == 1 and 4 or 8
    local function count(n) return number(n, wide) end
    local function name(s) return count(#s) .. s .. ('\0'):rep(-#s % 4) end
    local function variable(label, dims, kind, size, begin)
        local ids = ''
        for _, id in ipairs(dims) do ids = ids .. count(id) end
        return name(label) .. count(#dims) .. ids .. number(12, 4) .. count(1) .. name 'units'
            .. number(2, 4) .. count(3) .. 'm/s\0' .. number(kind, 4) .. count(size)
            .. number(begin, offset)
    end
    local function all(a, b, c)
        return 'CDF' .. string.char(version) .. count(2) .. number(10, 4) .. count(2) .. name 't'
            .. count(0) .. name 'x' .. count(3) .. number(0, 4) .. count(0) .. number(11, 4)
            .. count(3) .. variable('a', { 1 }, 3, 8, a) .. variable('b', { 0, 1 }, 6, 24, b)
            .. variable('c', { 0 }, 6, 8, c)
    end
    local head = #all(0, 0, 0)
    return all(head, head + 8, head + 32), head + 8 + 2 * 32
end

describe('a classic file', function()
    it('is as long as its header says', function()
        local path = folder .. '/classic.nc'
        for _, version in ipairs { 1, 2, 5 } do
            local header, length = classic_bytes(version)
            trial.spit(path, header .. ('\0'):rep(length - #header))
            assert.equal(length, classic.length(path))
            local file = netcdf.open(path)
            assert.same({ 2, 3 }, file:variable('b').shape)
            file:close()
            trial.spit(path, header .. ('\0'):rep(length - #header - 1))
            assert.has_error(function() dataset.open(path) end)
            assert.has_error(function() info.lines(path) end, ('%s: is cut off: it has %d bytes, '
                .. 'its header says %d'):format(path, length - 1, length))
            trial.spit(path, header:sub(1, 50))
            assert.equal(math.huge, classic.length(path))
        end
        assert.is_nil(classic.length(sea.write(path)))
        assert.is_nil(classic.length(folder))
    end)
end)
