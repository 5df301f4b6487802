-- Tests files in the layouts of ROMS and NorKyst-800, made here: the places and
-- directions of u and v, the land, and a run with all of it.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local sample = require 'tests.sample'

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

local nx, ny, missing, turn = 16, 14, 1e37, 30      -- rho points; degrees from east to the x axis

-- Fields at rho point (i, j) or between such points, at time t (s). All are
-- linear, so interpolation is exact.
local function depth(i, j) return 50 + 2 * i + 3 * j end
local function zeta(i, j, t) return 0.1 + 0.01 * i - 0.02 * j + t / 36000 end
local function along_x(i, j, t) return 0.3 + 0.02 * i + 0.01 * j + t / 72000 end
local function along_y(i, j, t) return -0.2 + 0.01 * i + 0.03 * j - t / 72000 end
local function is_land(i, j) return i == 4 and j == 5 or j > 11 and i > 12 end

-- Adds a variable to a file; dims by name; value(i, j, t, layer), with i and j
-- from 0.
local function add(list, name, dims, units, value, more)
    list[#list + 1] = { name = name, dims = dims, units = units, value = value, more = more or {} }
end

local function write(path, lengths, list, times)
    os.remove(path)
    local file, ids = netcdf.create(path, path), {}
    for name, length in pairs(lengths) do ids[name] = file:define_dimension(name, length) end
    for _, v in ipairs(list) do
        local dims = {}
        for k, name in ipairs(v.dims) do dims[k] = ids[name] end
        file:define_variable(v.name, v.more.type or 'double', dims)
        if v.units then file:put_attribute(v.name, 'units', v.units) end
        for key, value in pairs(v.more.attributes or {}) do
            if key == '_FillValue' then file:define_missing(v.name, value)
            else file:put_attribute(v.name, key, value) end
        end
    end
    file:end_definitions()
    for _, v in ipairs(list) do
        local count, total, values = {}, 1, {}
        for k, name in ipairs(v.dims) do count[k], total = lengths[name], total * lengths[name] end
        local columns, rows = count[#count] or 1, count[#count - 1] or 1
        local layers = #count == 4 and count[2] or 1
        for n = 0, total - 1 do
            local i, j = n % columns, math.floor(n / columns) % rows
            local above = math.floor(n / columns / rows)
            local t = times and #count > 2 and times[math.floor(above / layers) + 1] or 0
            values[n + 1] = #count == 1 and v.value(i) or v.value(i, j, t, above % layers)
        end
        sea.put(file, v.name, count, values)
    end
    file:close()
    return path
end

local hours = { 0, 3600, 7200 }

local function add_time(list, dim, times)
    add(list, dim, { dim }, 'seconds since 2020-05-01 00:00:00',
        function(k) return times[k + 1] end)
end

local rho = { 'eta_rho', 'xi_rho' }
local rho_t = { 'ocean_time', 'eta_rho', 'xi_rho' }

-- As ROMS writes it. change: { times =, layered = u, v in layers instead of means, bounds = how
-- many s_w has, 5, wind = standard name of Uwind, without = a variable, units = of zeta, short = u
-- with a point less }
local function write_roms(path, change)
    change = change or {}
    local times, list = change.times or hours, {}
    local lengths = { xi_rho = nx, eta_rho = ny, xi_u = change.short and nx - 2 or nx - 1,
        eta_u = ny, xi_v = nx, eta_v = ny - 1, ocean_time = #times, s_rho = 4,
        s_w = change.bounds or 5, one = 1 }
    local filled = { type = 'float', attributes = { _FillValue = missing } }
    add_time(list, 'ocean_time', times)
    add(list, 'h', rho, 'meter', depth)
    add(list, 'mask_rho', rho, nil, function(i, j) return is_land(i, j) and 0 or 1 end)
    add(list, 'pm', rho, 'meter-1', function() return 1 / 800 end)
    add(list, 'pn', rho, 'meter-1', function() return 1 / 1000 end)
    add(list, 'angle', rho, 'radians', function() return math.rad(turn) end)
    add(list, 'lat_rho', rho, 'degree_north', function(i, j) return 60 + 0.01 * j + 0.001 * i end)
    add(list, 'zeta', rho_t, change.units or 'meter', function(i, j, t)
        return is_land(i, j) and missing or zeta(i, j, t)
    end, filled)
    local function u(i, j, t)
        return (is_land(i, j) or is_land(i + 1, j)) and missing or along_x(i + 0.5, j, t)
    end
    local function v(i, j, t)
        return (is_land(i, j) or is_land(i, j + 1)) and missing or along_y(i, j + 0.5, t)
    end
    if change.layered then
        -- layers of a quarter of the depth where hc = 0 and Cs = s; 1 +- what has no mean
        for name, value in pairs { s_w = 1, Cs_w = 1 } do
            add(list, name, { 's_w' }, nil, function(k) return (k / 4 - 1) * value end)
        end
        add(list, 'hc', { 'one' }, 'meter', function() return 0 end)
        add(list, 'Vtransform', { 'one' }, nil, function() return 2 end)
        local function sheared(f)
            return function(i, j, t, layer)
                local mean = f(i, j, t)
                return mean == missing and mean or mean + 0.1 * (layer - 1.5)
            end
        end
        add(list, 'u', { 'ocean_time', 's_rho', 'eta_u', 'xi_u' }, 'meter second-1', sheared(u),
            { attributes = { _FillValue = missing } })
        add(list, 'v', { 'ocean_time', 's_rho', 'eta_v', 'xi_v' }, 'meter second-1', sheared(v),
            { attributes = { _FillValue = missing } })
    elseif change.without ~= 'ubar' then
        add(list, 'ubar', { 'ocean_time', 'eta_u', 'xi_u' }, 'meter second-1', u,
            { attributes = { _FillValue = missing } })
        add(list, 'vbar', { 'ocean_time', 'eta_v', 'xi_v' }, 'meter second-1', v,
            { attributes = { _FillValue = missing } })
    end
    if change.wind then
        for name, value in pairs { Uwind = 8, Vwind = 3 } do
            local of_u = name == 'Uwind'
            add(list, name, rho_t, 'meter second-1', function() return value end,
                { attributes = { standard_name = of_u and change.wind
                    or change.wind:gsub('eastward', 'northward'):gsub('x_wind', 'y_wind') } })
        end
    end
    return write(path, lengths, list, times)
end

-- As the hourly files of NorKyst-800 are: all at rho points of a map, packed, degrees.
local function write_norkyst(path, times)
    local list, dims, cells = {}, { 'time', 'Y', 'X' }, { 'Y', 'X' }
    local packed = { type = 'short', attributes = { _FillValue = -32768, scale_factor = 0.001,
        add_offset = 0.5 } }
    local function pack(f)
        return function(i, j, t)
            if is_land(i, j) then return -32768 end
            return math.floor((f(i, j, t) - 0.5) / 0.001 + 0.5)
        end
    end
    add_time(list, 'time', times)
    for name, d in pairs { X = 800, Y = 800 } do
        add(list, name, { name }, 'm', function(k) return 1e5 + d * k end,
            { attributes = { standard_name = 'projection_' .. name:lower() .. '_coordinate' } })
    end
    add(list, 'h', cells, 'meter', depth)
    add(list, 'angle', cells, 'degree', function() return turn end)
    add(list, 'lat', cells, 'degree_north', function(_, j) return 60 + 0.01 * j end)
    add(list, 'lon', cells, 'degree_east', function(i) return 4 + 0.01 * i end)
    add(list, 'zeta', dims, 'meter', pack(zeta), packed)
    add(list, 'ubar', dims, 'meter second-1', pack(along_x), packed)
    add(list, 'vbar', dims, 'meter second-1', pack(along_y), packed)
    return write(path, { X = nx, Y = ny, time = #times }, list, times)
end

describe('a file of ROMS', function()
    it('has its grid, bed, land and latitude', function()
        local r = mare.roms { file = write_roms(folder .. '/r.nc') }
        assert.same({ nx - 2, ny - 2 }, { r.grid.nx, r.grid.ny })
        assert.near(800, r.grid.dx, 1e-9)
        assert.near(1000, r.grid.dy, 1e-9)
        assert.near(turn, r.grid:angle_at(3000, 3000), 1e-9)
        assert.same({ 0, 3600, 7200 }, r.times)
        assert.near(depth(3, 6), r.depth.data[5 * (nx - 2) + 2], 1e-9)
        local land = r.depth.data[4 * (nx - 2) + 3]
        assert.is_true(land ~= land)
        assert.near(2 * 7.2921e-5 * math.sin(math.rad(60.066)),
            r.coriolis(6.5 * 800, 6.5 * 1000), 1e-12)
    end)

    it('is refined, bilinear between its points, and keeps its land', function()
        local r = mare.roms { file = write_roms(folder .. '/r.nc'), refine = 2 }
        local cells = 2 * (nx - 2)
        assert.same({ cells, 400, 500 }, { r.grid.nx, r.grid.dx, r.grid.dy })
        assert.near(depth(3.25, 6.75), r.depth.data[12 * cells + 5], 1e-9)
        for _, at in ipairs { 8 * cells + 6, 8 * cells + 7, 9 * cells + 6, 9 * cells + 7 } do
            assert.is_true(r.depth.data[at] ~= r.depth.data[at])        -- rho point (4, 5)
        end
        assert.near(zeta(8.25, 7.25, 0), (r.initial(8.75 * 800, 7.75 * 1000)), 1e-6)
        fails.says(message(mare.roms, { file = folder .. '/r.nc', refine = 1.5 }), 'refine = 1.5',
            '1 to 16')
    end)

    for _, layered in ipairs { false, true } do
        it('has u and v where they lie' .. (layered and ', in layers' or ''), function()
            local r = mare.roms { file = write_roms(folder .. '/r.nc', { layered = layered }),
                window = { 2, 12, 1, 11 } }
            assert.same({ 10, 10 }, { r.grid.nx, r.grid.ny })
            local eta, u, v = r.initial(8.5 * 800, 7.5 * 1000)      -- rho point (8, 7)
            assert.near(zeta(8, 7, 0), eta, 1e-6)
            assert.near(along_x(8, 7, 0), u, 1e-9)
            assert.near(along_y(8, 7, 0), v, 1e-9)
            local scheme = mare.ocean { scheme = 'linear', depth = r.depth }
            local at = scheme:conserved(scheme:domain(r.grid, { west = 'outflow', east = 'outflow',
                south = 'outflow', north = 'outflow' }, 'double'), r.initial)
            local _, hu, hv = at(6, 6)      -- faces west and south of rho point (8, 7)
            assert.near(depth(7.5, 7) * along_x(7.5, 7, 0), hu, 1e-7)
            assert.near(depth(8, 6.5) * along_y(8, 6.5, 0), hv, 1e-7)
            _, hu, hv = at(2, 4)            -- land
            assert.same({ 0, 0 }, { hu, hv })
            _, hu = at(3, 4)                -- east of it
            assert.equal(0, hu)
        end)
    end

    it('is refused with other bounds than its layers have', function()
        for bounds, text in pairs { [3] = 'has 3 values, 4 layers want 5', [9] = 'has 9 values' } do
            local path = write_roms(folder .. '/r.nc', { layered = true, bounds = bounds })
            assert.matches('r.nc: s_w: ' .. text, message(function()
                return mare.roms({ file = path, window = { 2, 12, 1, 11 } }).initial(6800, 7500)
            end))
        end
    end)

    it('has what is known at the sides, between its times', function()
        local r = mare.roms { file = write_roms(folder .. '/r.nc'), window = { 2, 12, 1, 11 },
            start = '2020-05-01 00:30:00' }
        local west = r:boundaries({ kind = 'flather' }).west
        assert.same({ -1800, 1800, 5400 }, west.eta.times)
        assert.near(zeta(1.5, 7, 3000), west.eta.at(1200, 2 * 800, 7.5 * 1000), 1e-6)
        assert.near(along_x(1.5, 7, 3000), west.u.at(1200, 2 * 800, 7.5 * 1000), 1e-9)
        assert.near(along_y(1.5, 7, 3000), west.v.at(1200, 2 * 800, 7.5 * 1000), 1e-9)
    end)

    it('has winds along its axes, or towards east', function()
        local c, s = math.cos(math.rad(turn)), math.sin(math.rad(turn))
        for name, expected in pairs { grid_eastward_wind = { 8, 3 }, x_wind = { 8, 3 },
            eastward_wind = { 8 * c + 3 * s, 3 * c - 8 * s } } do
            local r = mare.roms { file = write_roms(folder .. '/r.nc', { wind = name }) }
            local x, y = r.wind.at(0, 4000, 4000)
            local right_x, right_y = mare.weather.stress(unpack(expected))
            assert.near(right_x, x, 1e-9)
            assert.near(right_y, y, 1e-9)
        end
        assert.is_nil(mare.roms { file = write_roms(folder .. '/r.nc') }.wind)
    end)

    it('is refused where something is missing or wrong', function()
        local path = folder .. '/r.nc'
        local function refused(change, window)
            write_roms(path, change)
            return message(function()
                mare.roms { file = path, window = window }.initial(4000, 4000)
            end)
        end
        assert.matches("r.nc: no variable 'ubar' or 'ubar_eastward' or 'u'",
            refused { without = 'ubar' })
        fails.says(refused { units = 'feet' }, 'r.nc', 'zeta', "'feet'", 'length')
        assert.matches('r.nc: ubar: has 14 x 14 points, h has 16 x 14', refused { short = true })
        assert.matches('r.nc: h: window 2,30,1,11, must be i0,i1,j0,j1 within 0,16,0,14',
            refused({}, { 2, 30, 1, 11 }))
        local r = mare.roms { file = write_roms(path) }
        fails.says(message(r.check_times, r, 9000), 'r.nc', 'zeta', '3 records', 't = 0',
            'to 7200')
    end)
end)

describe('a file of NorKyst-800', function()
    it('has all of it at the points of a map, packed, in several files', function()
        local r = mare.roms { files = { write_norkyst(folder .. '/a.nc', { 0, 3600 }),
            write_norkyst(folder .. '/b.nc', { 3600, 7200 }) } }
        assert.same({ 0, 3600, 7200 }, r.times)
        assert.near(800, r.grid.dx, 1e-9)
        assert.near(turn, r.grid:angle_at(4000, 4000), 1e-9)
        local eta, u, v = r.initial(8.5 * 800, 7.5 * 800)
        assert.near(zeta(8, 7, 0), eta, 6e-4)
        assert.near(along_x(8, 7, 0), u, 6e-4)
        assert.near(along_y(8, 7, 0), v, 6e-4)
        local west = r:boundaries({ kind = 'sponge', width = 3 }).west
        assert.near(zeta(3, 7, 5400), west.eta.at(5400, 3.5 * 800, 7.5 * 800), 6e-4)
        local land = r.depth.data[4 * (nx - 2) + 3]
        assert.is_true(land ~= land)
    end)

    for _, scheme in ipairs(sample({ 'linear', 'cdklm' }, 1)) do
        it('is computed on, ' .. scheme, function()
            local file = write_norkyst(folder .. '/a.nc', hours)
            local figure = folder .. '/f.png'
            local r = trial.run('norkyst', { file = file, sponge = 4, scheme = scheme, t_end = 600,
                refine = scheme == 'linear' and 2 or 1, figure = figure,
                drifters = 3, tracks = folder .. '/tracks.nc' })
            assert.truthy(trial.slurp(figure):find '^\137PNG')
            -- the fields are no solution: 0.38 and 0.40 m, of waves that they start
            assert.is_true(r.difference < 0.5, r.difference)
            assert.equal(3, #r.sim.tracks)
            fails.says(message(trial.run, 'norkyst', { file = file, sponge = 4,
                t_end = 9000, scheme = scheme, out = folder .. '/out.nc' }), 'a.nc', 'zeta',
                '3 records', 't = 0', 'to 7200')
            assert.is_nil(trial.slurp(folder .. '/out.nc'))
        end)
    end
end)

describe('the sample', function()
    it('is a file of ROMS with a coast, whose currents balance its elevation', function()
        mare.roms.sample(folder .. '/sea.nc')
        local r = mare.roms { file = folder .. '/sea.nc' }
        assert.same({ 80, 56, 800 }, { r.grid.nx, r.grid.ny, r.grid.dx })
        assert.same({ 0, 3 * 3600, 6 * 3600 }, r.times)
        assert.is_true(r.depth.data[0] ~= r.depth.data[0])              -- land
        local x, y, step = 37.2e3, 30e3, 1600
        local _, _, v = r.initial(x, y)
        local slope = (r.initial(x + step, y) - (r.initial(x - step, y))) / (2 * step)
        assert.near(9.81 / r.coriolis(x, y) * slope, v, 0.02 * math.abs(v))
    end)
end)
