-- Tests the options of the North Sea: windows, finer cells, winds and others.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local sample = require 'tests.sample'
local turns = require 'tests.turns'

require 'tests.share'()
local sea = dofile(home.root .. '/tests/scenarios/sea.lua')
local trial = dofile(home.root .. '/tests/scenarios/trial.lua')

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

local function message(f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    return type(err) == 'table' and err.message or tostring(err)
end

local function new_basin()
    return mare.basin { file = sea.write(folder .. '/sea.nc'),
        boundary = sea.write_tide(folder .. '/tide.csv') }
end

describe('a basin with a table of its tide', function()
    it('has it in the cells that this names', function()
        local b = new_basin()
        assert.same({ 'M2' }, b.names)
        assert.equal(sea.ny, #b.open)
        local tide = b:tide({ 'M2' }, 0)
        assert.same({ 0, 3 }, tide.cells[4])
        assert.equal(106, tide.constituents[1].phase[4])
    end)

    it('is refused where it has none there', function()
        local path, file = folder .. '/tide.csv', sea.write(folder .. '/sea.nc')
        local head = 'i,j,M2_amplitude_m,M2_phase_deg\n'
        trial.spit(path, head .. '22,3,0.5,100\n')
        fails.says(message(mare.basin, { file = file, boundary = path }), 'tide.csv', 'cell 22',
            '3 is', 'sea.nc', 'has 24', 'water')
        trial.spit(path, head .. '2,3,0.5,\n')
        fails.says(message(mare.basin, { file = file, boundary = path }), 'tide.csv', 'line 2',
            'M2', 'amplitude')
        trial.spit(path, 'i,M2_amplitude_m\n')
        assert.matches("tide.csv: line 1: no column 'j'",
            message(mare.basin, { file = file, boundary = path }))
        fails.says(message(function() mare.basin { file = file }:tide({ 'M2' }, 0) end), 'sea.nc',
            "'M2'", 'constituent', 'boundary')
    end)
end)

-- Writes heights above the sea on a map of 10 x 8 cells of 2 km, with a mask of
-- the sea and latitudes.
local function write_map(path, change)
    local file = netcdf.create(path, path)
    local y, x = file:define_dimension('yc', 8), file:define_dimension('xc', 10)
    local function variable(name, dims, attributes)
        file:define_variable(name, 'double', dims)
        for key, value in pairs(attributes) do file:put_attribute(name, key, value) end
    end
    local unit = change or 'km'
    variable('xc', { x }, { units = unit, standard_name = 'projection_x_coordinate' })
    variable('yc', { y }, { units = unit, standard_name = 'projection_y_coordinate' })
    variable('topography', { y, x }, { units = 'm', standard_name = 'height_above_mean_sea_level' })
    variable('wet', { y, x }, { units = '1', standard_name = 'sea_binary_mask' })
    variable('lat', { y, x }, { units = 'degrees_north' })
    file:end_definitions()
    local xs, ys, height, wet, lat = {}, {}, {}, {}, {}
    for i = 1, 10 do xs[i] = 100 + 2 * i end
    for j = 1, 8 do ys[j] = 50 + 2 * j end
    for k = 0, 79 do
        height[k + 1] = k == 7 and 12 or -20 - k
        wet[k + 1], lat[k + 1] = k == 33 and 0 or 1, 60 + 0.1 * math.floor(k / 10)
    end
    sea.put(file, 'xc', { 10 }, xs)
    sea.put(file, 'yc', { 8 }, ys)
    sea.put(file, 'topography', { 8, 10 }, height)
    sea.put(file, 'wet', { 8, 10 }, wet)
    sea.put(file, 'lat', { 8, 10 }, lat)
    file:close()
    return path
end

describe('a basin on a map', function()
    it('has heights, a mask of the sea, and the latitudes of its cells', function()
        local b = mare.basin { file = write_map(folder .. '/map.nc'), variable = 'topography' }
        assert.near(2000, b.grid.dx, 1e-6)
        assert.near(101000, b.grid.x[1], 1e-6)
        assert.is_nil(b.coordinates)
        assert.near(20 + 12, b.depths[12], 1e-9)
        assert.is_false(b:is_water(7, 0))       -- above the sea
        assert.is_false(b:is_water(3, 3))       -- masked
        assert.near(2 * 7.2921e-5 * math.sin(math.rad(60.2)), b.coriolis(110000, 56000), 1e-12)
        assert.near(b.coriolis(110000, 56000), b:refine(2, 2).coriolis(110000, 56000), 1e-15)
        os.remove(folder .. '/map.nc')
        assert.matches("map.nc: variable 'topography' is over 'furlong', must be over",
            message(mare.basin, { file = write_map(folder .. '/map.nc', 'furlong'),
                variable = 'topography' }))
    end)
end)

describe('a refined basin', function()
    it('has depths and shore between those of its cells', function()
        local b = new_basin():refine(3, 2)
        assert.same({ 72, 32 }, { b.nx, b.ny })
        assert.near(0.025, b.grid.dy, 1e-12)
        -- between the centres of cells (4, 2) and (5, 3)
        assert.near(30 + 2 * 2.25 + 0.5 * (4 + 1 / 3), b.depths[5 * 72 + 14], 1e-5)
        assert.is_true(b:is_water(18 * 3, 20))
        assert.is_false(b:is_water(11 * 3 + 1, 14))     -- the middle of the island
        assert.is_false(b:is_water(10 * 3, 14))         -- its western shore is where it was
        assert.is_true(b:is_water(10 * 3 - 1, 14))
        assert.is_true(b:is_water(10 * 3, 12))          -- its corners are cut off
        assert.near(b.depths[12 * 72 + 29], b.depths[12 * 72 + 30], 2)
    end)

    it('has the tide in the cells beside the water, and its constants between', function()
        local b = new_basin():refine(3, 2)
        assert.equal(32, #b.open)
        for _, cell in ipairs(b.open) do
            local row = (cell[2] + 0.5) / 2 - 0.5
            local lag = 100 + 2 * math.max(0, math.min(sea.ny - 1, row))
            assert.equal(2, cell[1])
            assert.is_true(b:is_water(2, cell[2]))
            assert.is_false(b:is_water(1, cell[2]))
            assert.near(0.5, cell.M2[1], 1e-4)
            assert.near(lag, cell.M2[2], 0.01)
        end
        fails.says(message(b.refine, b, 0, 1), 'whole number', 'by 0', 'refined')
    end)
end)

describe('a window', function()
    local function found_in(b)
        local wave = { amplitude = {}, phase = {} }
        for k = 0, b.nx * b.ny - 1 do wave.amplitude[k], wave.phase[k] = k / 100, 7 end
        return { M2 = wave }
    end

    it('has the tide that was found on its edge', function()
        local b = new_basin()
        local w = b:window({ 0.3, 1.5, 50.1, 50.6 }, found_in(b), { 'M2' })
        assert.same({ 12, 10 }, { w.nx, w.ny })
        assert.near(0.3, w.x[1], 1e-9)
        assert.near(50.6, w.y[2], 1e-9)
        assert.equal(b.depths[5 * 24 + 4], w.depths[3 * 12 + 1])
        assert.equal(2 * (12 + 8), #w.open)
        for _, cell in ipairs(w.open) do
            assert.near(((cell[2] + 2) * 24 + cell[1] + 3) / 100, cell.M2[1], 1e-12)
        end
    end)

    it('is refused beyond its grid', function()
        local b = new_basin()
        for _, box in ipairs { { -1, 1.5, 50.1, 50.6 }, { 0.3, 0.7, 50.1, 50.6 } } do
            assert.matches('sea.nc: window .* longitude is from 0 to 2.4 in this grid',
                message(b.check_window, b, box))
        end
        assert.matches('latitude is from 50 to 50.8',
            message(b.check_window, b, { 0, 1, 50, 57 }))
    end)
end)

describe('wind', function()
    it('may be the mean of a month', function()
        local grid = new_basin().grid
        local file = home.root .. '/scenarios/data/north_sea_wind_climatology.nc'
        local stress = mare.weather.climatology { grid = grid, file = file, month = 1 }
        local u, v, speed = {}, {}, {}
        for name, list in pairs { eastward_wind = u, northward_wind = v, wind_speed = speed } do
            list[1] = mare.gridded { file = file, variable = name, fill = true }:at(0, 1, 51)
        end
        local drag = speed[1] < 11 and 1.2e-3 or 4.9e-4 + 6.5e-5 * speed[1]
        local x, y = stress(1, 51)
        assert.near(1.225 * drag * speed[1] * u[1], x, 1e-12)
        assert.near(1.225 * drag * speed[1] * v[1], y, 1e-12)
        assert.same({ stress(-7, 51) }, { stress(-12, 51) })
        assert.matches('of month 13', message(mare.weather.climatology,
            { grid = grid, file = file, month = 13 }))
    end)

    it('may go around a centre that moves', function()
        local grid = mare.grid { nx = 8, ny = 8, x = { -1e6, 1e6 }, y = { -1e6, 1e6 } }
        local storm = mare.weather.storm { grid = grid, from = { -5e5, 0 }, to = { 5e5, 0 },
            begins = 1000, lasts = 7200, speed = 20, radius = 2e5 }
        assert.same({ 1000, 2800, 4600, 6400, 8200 }, storm.times)
        local x, y = storm.value(2e5, 0, 4600)      -- east of it, at its height: 20 m/s
        local speed = mare.weather.stress(20, 0)
        assert.near(speed, math.sqrt(x * x + y * y), 1e-9)
        assert.near(-20, math.deg(math.atan2(y, -x)) - 90, 1e-9)
        assert.near(0, (storm.value(0, 0, 4600)), 1e-12)
        assert.near(0, (storm.value(2e5, 0, 1000)), 1e-12)
    end)
end)

describe('the North Sea', function()
    local in_turn = turns(it, 2)

    in_turn('is computed in a window with finer cells and a storm', function()
        trial.spit(folder .. '/gauges.csv',
            'name,lat,lon,M2_amplitude_m,M2_phase_deg\nHere,50.4,1,0.5,100\nFar,58,1,0.5,100\n')
        local r = trial.run('north_sea', { grid = sea.write(folder .. '/sea.nc'),
            boundary = sea.write_tide(folder .. '/tide.csv'), days = 2.1, spin_up = 1.5,
            stations = folder .. '/gauges.csv', window = '0.3,1.9,50.1,50.7', refine = '2x2',
            wind = 'storm', series = folder .. '/series.nc', series_every = 3600,
            out = folder .. '/sea_out.nc', variables = 'u,v,speed', film = folder .. '/film.png',
            frames = 2, film_width = 200 })
        assert.same({ 32, 24 }, { r.sim.grid.nx, r.sim.grid.ny })
        assert.equal(1, r.scores.M2.count)
        assert.equal(52, #r.sim.series.gauges.Here.eta)
        local set = require('mare.files.dataset').open(folder .. '/sea_out.nc')
        assert.same({ 32, 24, 2 }, { set:field('speed').nx, set:field('speed').ny,
            #set:field('speed').times })
        set:close()
        assert.matches('^\137PNG', trial.slurp(folder .. '/film.png'))
        local info = require 'mare.launcher.info'
        local told = table.concat(info.lines(folder .. '/sea_out.nc'), '\n')
        assert.matches('\n  west             open where the elevation is given, in 22 of 22 lines '
            .. 'of cells; else reflective\n', told)
        assert.matches('\n  tide             elevation of M2 in %d+ cells\n', told)
    end)

    it('is the same in a window as in the whole', function()
        local o = { grid = sea.write(folder .. '/sea.nc'), days = 4.14, spin_up = 3.62,
            boundary = sea.write_tide(folder .. '/tide.csv') }
        local whole = trial.run('north_sea', o)
        o.window = '0.3,1.9,50.1,50.7'
        local part = trial.run('north_sea', o)
        local worst = 0
        for j = 0, 11 do
            for i = 0, 15 do
                if part.basin:is_water(i, j) then
                    local a = part.found.M2.amplitude[j * 16 + i]
                    local b = whole.found.M2.amplitude[(j + 2) * 24 + i + 3]
                    worst = math.max(worst, math.abs(a - b))
                end
            end
        end
        -- 3.2 mm of 0.5 m: the edge has no overtides
        assert.is_true(worst < 4e-3, worst)
    end)

    -- Small waves, and what finite volumes make of the same tide: 3 cm of 0.5 m, in 24 x 16 cells.
    in_turn('has the same tide with finite volumes', function()
        local o = { grid = sea.write(folder .. '/sea.nc'), days = 1.04, spin_up = 0.52,
            boundary = sea.write_tide(folder .. '/tide.csv') }
        local waves = trial.run('north_sea', o)
        o.scheme = sample({ 'cdklm', 'kurganov_petrova' }, 1)[1]
        local volumes, worst = trial.run('north_sea', o), 0
        for k = 0, 24 * 16 - 1 do
            if waves.basin:is_water(k % 24, math.floor(k / 24)) then
                worst = math.max(worst, math.abs(waves.found.M2.amplitude[k]
                    - volumes.found.M2.amplitude[k]))
            end
        end
        assert.is_true(worst < 0.04, worst)
    end)

    it('runs from its own files without a tide', function()
        local r = trial.run('north_sea', { constituents = 'none', wind = 'climatology',
            days = 0.1, month = 12 })
        assert.equal(205, r.sim.grid.nx)
        assert.is_nil(r.found)
        assert.equal('elevation of still water in 217 cells', r.sim.about.attributes.tide)
        fails.says(message(trial.run, 'north_sea', { constituents = 'M4' }), "'M4'", 'M2', 'S2',
            'N2', 'K2', 'constituent')
        assert.matches('latitude is from 49.9583', message(trial.run, 'north_sea',
            { constituents = 'none', window = '0,9,51,77' }))
    end)
end)
