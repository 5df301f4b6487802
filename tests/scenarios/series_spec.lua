-- Tests time series of a run: gauges show the values of fields, and integrals
-- are the right sums, to the bit in every decomposition and after a restart.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local lfs = require 'lfs'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local trial = require 'tests.scenarios.trial'

require 'tests.share'()

local folder

before_each(function()
    folder = trial.new_folder()
end)

after_each(function()
    trial.remove(folder)
end)

local function all(base, more)
    local out = {}
    for _, list in ipairs { base, more or {} } do
        for key, value in pairs(list) do out[key] = value end
    end
    return out
end

-- Runs gas with waves in every field, with more options and fields of mare.run.
local function gas(options, fields)
    return mare.run(all({
        title = 'gas', grid = mare.grid { nx = 77, ny = 41, x = { 0, 2 }, y = { 0, 1 } },
        scheme = mare.euler {}, boundaries = 'periodic',
        options = all({ t_end = 0.2, quiet = true, device = trial.device, precision = 'float',
            series = folder .. '/s.nc' }, options),
        initial = function(x, y)
            local a, b = math.sin(math.pi * x), math.cos(2 * math.pi * y)
            return 1 + 0.2 * a * b, 0.3 * b, 0.1 * a, 1 + 0.1 * b
        end,
        gauges = { { name = 'west', x = 0.01, y = 0.5 }, { name = 'north-east', x = 2, y = 1 } },
    }, fields))
end

-- Returns the sum of a variable over the cells.
local function total(sim, name)
    local data, sum = sim:field(name), 0
    for k = 0, sim.grid.cells - 1 do sum = sum + data[k] end
    return sum * sim.grid.dx * sim.grid.dy
end

local function bytes_of(options, fields)
    gas(options, fields)
    return trial.data_of(folder .. '/s.nc')
end

describe('a time series', function()
    it('holds what the fields hold, at its times', function()
        local seen = {}
        local sim = gas({ series_every = 0.05 }, {
            series = { variables = { 'p', 'rho' } },
            every = { { 0.05, function(s)
                local cell = s.grid.nx * 20
                seen[#seen + 1] = { s.now.t, total(s, 'rho'), total(s, 'E'), s:field 'p'[cell],
                    s:field 'rho'[s.grid.cells - 1] }
            end } },
        })
        local series = sim.series
        assert.same({ 0, 0.05, 0.1, 0.15, 0.2 }, series.time)
        local west, corner = series.gauges.west, series.gauges['north-east']
        assert.same({ sim.grid:x_centre(0), sim.grid:y_centre(20) }, { west.x, west.y })
        for k, row in ipairs(seen) do
            assert.equal(row[1], series.time[k])
            assert.near(row[2], series.mass[k], 1e-12 * row[2])
            assert.near(row[3], series.energy[k], 1e-12 * row[3])
            assert.same({ row[4], row[5] }, { west.p[k], corner.rho[k] })
        end
        assert.near(2, series.mass[1], 1e-7)
        assert.near(series.mass[1], series.mass[5], 1e-6)
        assert.is_nil(west.E)
        assert.equal('s.nc', trial.listing(folder))
    end)

    it('has the same bits on every decomposition', function()
        local expected = bytes_of { series_steps = 3 }
        for _, split in ipairs { { 3, 1 }, { 2, 3 } } do
            for _, device in ipairs { trial.device, trial.device .. ',' .. trial.device } do
                assert.same(expected, bytes_of { series_steps = 3, decompose = split,
                    device = device })
            end
        end
    end)

    it('of shallow water has the energy above still water', function()
        local sim = mare.run {
            title = 'water', boundaries = 'periodic', scheme = mare.shallow_water { depth = 2 },
            grid = mare.grid { nx = 16, ny = 12, x = { 0, 8 }, y = { 0, 3 } },
            initial = function() return 2.5, 3, 4 end, series = {},
            options = { steps = 1, quiet = true, device = trial.device, precision = 'double' },
        }
        local s = sim.series
        assert.same({ 2, 60, 180, 240 }, { #s.time, s.volume[1], s.momentum_x[1],
            s.momentum_y[1] })
        assert.near(24 * (0.5 * 2.5 * 25 + 0.5 * 9.81 * 0.25), s.total_energy[1], 1e-11)
        assert.equal('', trial.listing(folder))
    end)

    it('follows the state where that changes its place from step to step', function()
        local seen = {}
        local sim = mare.run {
            title = 'waves', boundaries = 'reflective', series = { steps = 1 },
            gauges = mare.array { { 40, 20 } },
            grid = mare.grid { nx = 20, ny = 12, x = { 0, 100 }, y = { 0, 60 }, halo = 2 },
            scheme = mare.ocean { scheme = 'linear', depth = 10 },
            initial = function(x, y)
                return math.exp(-((x - 30) ^ 2 + (y - 20) ^ 2) / 300), 0, 0
            end,
            every_steps = { { 1, function(s)
                seen[#seen + 1] = { total(s, 'eta'), s:field 'eta'[4 * 20 + 8] }
            end } },
            options = { steps = 5, quiet = true, device = trial.device, precision = 'double' },
        }
        local s = sim.series
        assert.equal(6, #seen)
        for k, row in ipairs(seen) do
            assert.near(row[1], s.volume[k], 1e-10)
            assert.equal(row[2], s.gauges['1'].eta[k])
        end
        assert.is_true(s.gauges['1'].eta[1] ~= s.gauges['1'].eta[2])
    end)

    it('goes on with the run, and neither repeats a time nor loses one', function()
        local ck = folder .. '/run.ck'
        for _, options in ipairs { { series_every = 0.03 }, { series_steps = 2 } } do
            local expected = bytes_of(options)
            os.remove(folder .. '/s.nc')
            gas(all(options, { t_end = 0.11, checkpoint = ck }))
            local sim = gas(all(options, { checkpoint = ck, restart = ck, decompose = { 2, 2 } }))
            assert.same(expected, trial.data_of(folder .. '/s.nc'))
            assert.equal(0, sim.series.time[1])
        end
        fails(function()
            gas({ series_steps = 2, checkpoint = ck, restart = ck }, { gauges = {} })
        end, nil, 'series', 'continued', 'variables')
    end)

    it('is refused before anything is computed', function()
        local function refused(options, fields, pattern)
            assert.error_matches(function() gas(options, fields) end, pattern)
            assert.equal('', trial.listing(folder))
        end
        refused({}, { gauges = { { name = 'a', x = 3, y = 0 } } },
            "gauge 'a' at %(3, 0%), must be within 0 to 2, 0 to 1")
        refused({}, { gauges = { { name = 'a', x = 1, y = 0 }, { name = 'a', x = 1, y = 1 } } },
            "gauges: two are called 'a'")
        refused({}, { gauges = { { name = 'a', u = 1 } } }, "gauge 1: unknown field 'u'")
        refused({}, { series = { variables = { 'q' } } }, "series: no variable 'q'")
        refused({ gauges = '1' }, {}, "%-%-gauges: '1' %(allowed: NAME:X,Y;X,Y;...%)")
        refused({ gauges = ';' }, {}, "%-%-gauges: ';' %(allowed: NAME:X,Y;X,Y;...%)")
        refused({ gauges = '5,0.5' }, {}, "option %-%-gauges: gauge '1' at %(5, 0.5%)")
        refused({ series = '/proc/s.nc' }, {},
            'option %-%-series: /proc/s%.nc: cannot write into its folder')
        refused({ out = folder .. '/s.nc' }, {}, 'are one file')
        assert.error_matches(function()
            trial.run('bump', { nx = 16, gauges = 'a:1,2', image = folder .. '/p.png' })
        end, '%-%-gauges wants %-%-series FILE')
    end)

    it('takes its gauges from the command line, too', function()
        local sim = trial.run('bump', { nx = 16, series = folder .. '/s.nc', steps = 2,
            gauges = 'harbour:10,20;30,40', variables = 'eta', image = folder .. '/p.png' }).sim
        assert.equal(2, #sim.series.gauges.harbour.eta)
        assert.near(40.625, sim.series.gauges['2'].y, 1e-12)
        local file = netcdf.open(folder .. '/s.nc')
        assert.equal('timeSeries', file:attributes().featureType)
        assert.same({ time = 2, station = 2, name_strlen = 7 }, file:dimensions())
        assert.equal('m5 s-2', file:attributes('total_energy').units)
        file:close()
    end)

    it('runs again from its own file', function()
        local path = folder .. '/s.nc'
        trial.run('kelvin_helmholtz', { nx = 32, ny = 16, steps = 9, series = path,
            series_steps = 3, gauges = 'a:0.5,0.5', image = folder .. '/p.png' })
        local status, text = trial.status_of(("'%s' rerun '%s' --quiet"):format(home.launcher,
            path))
        assert.equal(0, status, text)
        assert.same(trial.data_of(path), trial.data_of(folder .. '/s.rerun.series.nc'))
        assert.is_nil(trial.listing(folder):find('s.rerun.nc', 1, true))
    end)

    it('is left as it was where the state became invalid', function()
        local function spoil(sim)
            local s = sim.states[1]
            s[s.present]:upload({ 0 / 0 }, { offset = s.layout:offset(0, 3, 3) })
        end
        local ok, failure = pcall(gas, { series_every = 0.02 }, { at = { { 0.1, spoil } } })
        assert.is_false(ok)
        fails.says(failure.message, '/s-failed.nc', 'series')
        assert.same({ 0, 0.02, 0.04, 0.06, 0.08, 0.1 }, trial.times_of(folder .. '/s-failed.nc'))
        assert.equal('s-failed.nc', trial.listing(folder))
    end)

    it('that finds no room leaves what was there', function()
        local tiny = folder .. '/tiny'
        lfs.mkdir(tiny)
        if trial.status_of(("mount -t tmpfs -o size=40k tmpfs '%s'"):format(tiny)) ~= 0 then
            pending 'a tmpfs cannot be mounted here (needs root)'
        end
        finally(function() trial.status_of("umount -l '" .. tiny .. "'") end)
        trial.spit(tiny .. '/s.nc', 'old')
        fails(function() gas { series = tiny .. '/s.nc' } end, nil, 'no room', 'No space', 's.nc',
            'for 0.1', 'MiB', 'device')
        assert.equal('old', trial.slurp(tiny .. '/s.nc'))
        assert.equal('s.nc', trial.listing(tiny))
    end)

    it('is read by xarray', function()
        local python = trial.python 'xarray, netCDF4' or pending 'needs Python with xarray, netCDF4'
        gas { series_every = 0.05 }
        local status, text = trial.status_of(python .. ' -c "import xarray; '
            .. "d = xarray.open_dataset('" .. folder .. "/s.nc'); "
            .. 'print(d.rho.sizes, d.station_name.values)"')
        assert.equal(0, status, text)
        assert.truthy(text:find("'time': 5, 'station': 2", 1, true), text)
        assert.truthy(text:find("b'west' b'north-east'", 1, true), text)
    end)

    it('is without error to a CF checker', function()
        if trial.status_of 'command -v compliance-checker' ~= 0 then
            pending 'needs compliance-checker'
        end
        gas { series_every = 0.05 }
        local _, text = trial.status_of('compliance-checker --test cf:1.8 ' .. folder .. '/s.nc')
        assert.truthy(text:find('cf:1.8', 1, true), text)
        local errors = text:match '%sErrors%s(.-)%sWarnings%s' or ''
        for complaint in errors:gmatch '\n%* ([^\n]*)' do     -- gas has no calendar
            assert.matches("^Coordinate variable 'time' should have standard_name", complaint)
        end
    end)
end)
