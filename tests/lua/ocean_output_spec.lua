-- Tests what output files hold of an ocean: variables at centres, land, the
-- depth of still water.

local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local picture = require 'mare.draw.picture'
local sample = require 'tests.sample'

require 'tests.share'()

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local g = 9.81

local function is_land(x, y) return x > 3 and x < 5 and y > 2 and y < 4 end

local function depth(x, y) return is_land(x, y) and 0 / 0 or 10 + x end

local function eta(x, y) return 0.01 * x * y end
local function u(x, y) return x + 2 * y end
local function v(x, y) return 3 * x - y end

local nx, ny = 12, 8

local function simulate(scheme, desc)
    desc = desc or {}
    local options = { device = name, precision = 'double', cfl = 0.4 }
    for key, value in pairs(desc.options or {}) do options[key] = value end
    return mare.simulation {
        grid = mare.grid { nx = nx, ny = ny, x = { 0, 12 }, y = { 0, 8 },
            coordinates = desc.coordinates },
        scheme = mare.ocean { scheme = scheme, depth = desc.depth or depth, g = g },
        boundaries = 'outflow', options = options,
        initial = function(x, y) return eta(x, y), u(x, y), v(x, y) end,
    }
end

-- Returns a function for the values of a variable at (i, j).
local function reader(sim, variable)
    local data = sim:field(variable)
    return function(i, j) return data[j * nx + i] end
end

-- Expects the initial values away from land and sides. They are exact except
-- for the product of velocity and depth, which a C-grid has at faces.
local function expect(sim, variable, value, tolerance)
    local at = reader(sim, variable)
    for j = 1, 6 do
        for i = 6, 10 do
            assert.near(value(i + 0.5, j + 0.5), at(i, j), tolerance)
        end
    end
end

for _, case in ipairs(sample({ { 'cdklm', 1e-12 }, { 'linear', 6e-3 } }, 1)) do
    local scheme, near = unpack(case)
    describe('variables of ' .. scheme, function()
        local sim

        setup(function() sim = simulate(scheme) end)
        teardown(function() sim:release() end)

        it('are those at centres', function()
            local function h(x, y) return 10 + x + eta(x, y) end
            local total = scheme == 'cdklm' and h or function(x) return 10 + x end
            expect(sim, 'eta', eta, 1e-15)
            expect(sim, 'h', h, 1e-12)
            expect(sim, 'hu', function(x, y) return total(x, y) * u(x, y) end, 60 * near)
            expect(sim, 'hv', function(x, y) return total(x, y) * v(x, y) end, 60 * near)
            local function scaled(w)
                return function(x, y) return w(x, y) * total(x, y) / h(x, y) end
            end
            expect(sim, 'u', scaled(u), 3 * near)
            expect(sim, 'v', scaled(v), 3 * near)
            expect(sim, 'speed', scaled(function(x, y)
                return math.sqrt(u(x, y) ^ 2 + v(x, y) ^ 2)
            end), 3 * near)
            expect(sim, 'velocity_head', function(x, y)
                return (u(x, y) ^ 2 + v(x, y) ^ 2) / (2 * g)
            end, 5 * near)
            if scheme == 'cdklm' then
                expect(sim, 'vorticity', function() return 1 end, 1e-12)
                expect(sim, 'energy', function(x, y)
                    return 0.5 * (g * eta(x, y) ^ 2 + h(x, y) * (u(x, y) ^ 2 + v(x, y) ^ 2))
                end, 1e-9)
            end
        end)

        it('are missing on land', function()
            for _, variable in ipairs { 'eta', 'hu', 'h', 'speed', 'vorticity' } do
                local at = reader(sim, variable)
                for j = 0, ny - 1 do
                    for i = 0, nx - 1 do
                        local missing = at(i, j) ~= at(i, j)
                        assert.equal(is_land(i + 0.5, j + 0.5), missing)
                    end
                end
            end
            assert.equal(0, reader(sim, 'energy')(3, 2))
            assert.equal(0, sim:stored('eta')[2 * nx + 3])
            assert.has_error(function() sim:stored 'speed' end)
        end)

        it('are the same on any split', function()
            local split = simulate(scheme, { options = { decompose = { 2, 2 } } })
            for _, variable in ipairs { 'eta', 'hu', 'hv', 'u', 'vorticity' } do
                local a, b = reader(sim, variable), reader(split, variable)
                for j = 0, ny - 1 do
                    for i = 0, nx - 1 do
                        local one, other = a(i, j), b(i, j)
                        assert.is_true(one == other or one ~= one and other ~= other)
                    end
                end
            end
            split:release()
        end)
    end)
end

describe('vorticity on a sphere', function()
    it('is that of a turning solid', function()
        local sim = mare.simulation {
            grid = mare.grid { nx = nx, ny = ny, x = { 0, 12 }, y = { 40, 48 },
                coordinates = 'longitude-latitude' },
            scheme = mare.ocean { scheme = 'cdklm', depth = 100 }, boundaries = 'outflow',
            options = { device = name, precision = 'double' },
            initial = function(_, y) return 0, 6.371 * math.cos(math.rad(y)), 0 end,
        }
        local at = reader(sim, 'vorticity')
        for j = 1, 6 do
            assert.near(2e-6 * math.sin(math.rad(40.5 + j)), at(5, j), 2e-10)
        end
        sim:release()
    end)
end)

-- Runs a basin with a file; more: further fields of its options.
local function run(path, more)
    local o = { out = path, every = 0.1, t_end = 0.2, device = name, quiet = true,
        precision = 'double', scheme = 'cdklm' }
    for key, value in pairs(more.options or {}) do o[key] = value end
    return mare.run {
        title = 'Ocean', options = o, boundaries = { west = { kind = 'flather' }, east = 'outflow',
            south = 'reflective', north = 'reflective' },
        grid = mare.grid { nx = nx, ny = ny, x = { 0, 12 }, y = { 0, 8 },
            coordinates = more.coordinates },
        scheme = mare.ocean { scheme = o.scheme, depth = more.depth or depth,
            coriolis = { f = 1e-4 } },
        initial = more.initial or function(x, y) return eta(x, y), 0, 0 end,
        gauges = more.gauges, series = more.series,
    }
end

describe('a file of an ocean', function()
    local path

    before_each(function() path = os.tmpname() end)
    after_each(function() os.remove(path) end)

    it('has the depth once, missing values on land, and names that others know', function()
        run(path, { options = { variables = 'u,vorticity' } }):release()
        local file = netcdf.open(path)
        assert.same({ 'y', 'x' }, file:variable('depth').dimensions)
        local values = file:get 'depth'
        for k = 0, nx * ny - 1 do
            local x, y = k % nx + 0.5, math.floor(k / nx) + 0.5
            if is_land(x, y) then
                assert.is_true(values[k] ~= values[k])
            else
                assert.near(depth(x, y), values[k], 0.51)
            end
        end
        local function attribute(variable, what) return file:attributes(variable)[what] end
        assert.equal('sea_floor_depth_below_geoid', attribute('depth', 'standard_name'))
        assert.equal('sea_surface_height_above_geoid', attribute('eta', 'standard_name'))
        assert.equal('barotropic_sea_water_x_velocity', attribute('u', 'standard_name'))
        assert.is_nil(attribute('u', 'comment'))
        assert.equal('m2 s-1', attribute('hu', 'units'))
        local fill = attribute('eta', '_FillValue')
        assert.is_true(fill ~= fill)
        local all = file:attributes()
        assert.equal('flather', all.boundary_west)
        assert.equal(1e-4, all.coriolis_f)
        assert.equal('by row', all.coriolis)
        assert.equal('minmod', all.limiter)
        assert.equal(2, all.rk)
        local found = file:get('eta', { 1, 2, 3 }, { 1, 1, 1 })[0]
        assert.is_true(found ~= found)
        file:close()
    end)

    it('has directions on a sphere, and no missing value where all is always water', function()
        run(path, { coordinates = 'longitude-latitude', depth = 50,
            options = { variables = 'v', region = '2,6,1,5', stride = 2, t_end = 20, every = 10,
                scheme = 'linear' } })
            :release()
        local file = netcdf.open(path)
        assert.same({ 'latitude', 'longitude' }, file:variable('depth').dimensions)
        assert.same({ 2, 2 }, file:variable('depth').shape)
        assert.equal(50, file:get('depth')[3])
        assert.equal('barotropic_northward_sea_water_velocity',
            file:attributes('v').standard_name)
        assert.is_nil(file:attributes('v')._FillValue)
        for _, variable in ipairs { 'hu', 'hv', 'v' } do
            assert.matches('half a time step before', file:attributes(variable).comment)
        end
        assert.is_nil(file:attributes('eta').comment)
        file:close()
    end)

    it('is refused before it is made where the domain cannot be', function()
        os.remove(path)
        local ok, err = pcall(run, path, { depth = 0 / 0 })
        assert.is_false(ok)
        assert.matches('^ocean: depth: all 12 x 8 cells are land', err.message)
        assert.is_nil(io.open(path))
    end)

    it('has no surface where a bed below still water has fallen dry', function()
        local sim = run(path, { depth = 10, options = { variables = 'h', steps = 0 },
            initial = function(x) return x > 6 and -50 or 0.5, 0, 0 end })
        local file = netcdf.open(path)
        local shown, h = file:get('eta', { 0, 0, 0 }, { 1, 1, nx }),
            file:get('h', { 0, 0, 0 }, { 1, 1, nx })
        for i = 0, nx - 1 do
            assert.equal(i >= 6, shown[i] ~= shown[i])
            assert.equal(i >= 6 and 0 or 10.5, h[i])
            assert.equal(i >= 6 and -10 or 0.5, sim:stored('eta')[i])
        end
        file:close()
        sim:release()
    end)

    it('has no surface where a bed above still water is dry, nor have gauges there', function()
        local sim = run(path, {
            depth = function(x, y) return is_land(x, y) and -50 or 10 end,
            initial = function() return 0.5, 0, 0 end, options = { variables = 'h,speed' },
            gauges = { { name = 'hill', x = 4.5, y = 3.5 }, { name = 'sea', x = 8, y = 2 } },
            series = { every = 0.1 },
        })
        local file, hill, values = netcdf.open(path), sim.series.gauges.hill.eta, {}
        local fill = file:attributes('eta')._FillValue
        for _, variable in ipairs { 'eta', 'h', 'speed', 'hu' } do
            values[variable] = file:get(variable, { 1, 0, 0 }, { 1, ny, nx })
        end
        local dry = 0
        for k = 0, nx * ny - 1 do
            local above = sim.domain.bed:depth_at(k % nx, math.floor(k / nx)) <= 0
            dry = dry + (above and 1 or 0)
            assert.equal(above, values.eta[k] ~= values.eta[k])
            assert.equal(above, values.speed[k] ~= values.speed[k])
            assert.is_true(values.h[k] >= 0 and (not above or values.h[k] == 0))
            assert.equal(values.hu[k], values.hu[k])
        end
        assert.is_true(fill ~= fill)
        assert.is_true(dry >= 4)
        assert.is_true(hill[1] ~= hill[1] and hill[2] ~= hill[2])
        assert.near(0.5, sim.series.gauges.sea.eta[2], 1e-12)
        assert.near(0.5, mare.image.range(sim:field 'eta', nx * ny)[2], 0.2)
        assert.equal('land', picture.describe({}, sim.scheme).missing.label)
        file:close()
        sim:release()
    end)
end)
