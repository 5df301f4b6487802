-- roms_sample.lua - writes a small file as ROMS does, for runs without a file of one's own: 80 x 56
-- cells of 800 m, a coast in the south with an island before it, a current along the coast and an
-- eddy that drifts east, both in balance with the earth's rotation.
--
--     mare.roms.sample 'sea.nc'

local netcdf = require 'bindings.netcdf'

local sample = {}

local nx, ny, size, missing = 82, 58, 800, 1e37         -- rho points, m
local hours = { 0, 3, 6 }
local gravity, coriolis = 9.81, 2 * 7.2921e-5 * math.sin(math.rad(60))

-- Returns how far north of the coast a place is (m). x, y: m
local function from_coast(x, y)
    return y - 6e3 - 3e3 * math.sin(2 * math.pi * x / 40e3)
end

-- Returns how far off the coast or the island, negative on land.
local function offshore(x, y)
    return math.min(from_coast(x, y), math.sqrt((x - 46e3) ^ 2 + (y - 17e3) ^ 2) - 2.5e3)
end

local function depth(x, y)
    return 20 + 180 * (1 - math.exp(-math.max(0, offshore(x, y)) / 8e3))
end

local function elevation(x, y, t)
    local r2 = (x - 30e3 - 0.1 * t) ^ 2 + (y - 29e3) ^ 2
    return 0.05 * math.exp(-from_coast(x, y) / 8e3) + 0.1 * math.exp(-0.5 * r2 / 7e3 ^ 2)
end

local function along_x(x, y, t)
    return -gravity / coriolis
        * (elevation(x, y + 100, t) - elevation(x, y - 100, t)) / 200
end

local function along_y(x, y, t)
    return gravity / coriolis
        * (elevation(x + 100, y, t) - elevation(x - 100, y, t)) / 200
end

-- Variables over y and x, at points that lie half a cell further by `x` and `y`: { name, units,
-- value(x, y, t), x, y, over time }
local variables = {
    { 'h', 'meter', depth, 0, 0 },
    { 'mask_rho', '1', function(x, y) return offshore(x, y) > 0 and 1 or 0 end, 0, 0 },
    { 'pm', 'meter-1', function() return 1 / size end, 0, 0 },
    { 'pn', 'meter-1', function() return 1 / size end, 0, 0 },
    { 'angle', 'radians', function() return 0 end, 0, 0 },
    { 'lat_rho', 'degree_north', function(_, y) return 60 + y / 111e3 end, 0, 0 },
    { 'zeta', 'meter', elevation, 0, 0, true },
    { 'ubar', 'meter second-1', along_x, 1, 0, true },
    { 'vbar', 'meter second-1', along_y, 0, 1, true },
}

-- Whether a point is of water, and those at both ends of a face are.
local function is_wet(v, x, y)
    local dx, dy = 0.5 * size * v[4], 0.5 * size * v[5]
    return offshore(x - dx, y - dy) > 0 and offshore(x + dx, y + dy) > 0
end

local function values_of(v, record)
    local columns, rows, t = nx - v[4], ny - v[5], 3600 * (record or 0)
    local data = netcdf.doubles(columns * rows)
    for j = 0, rows - 1 do
        for i = 0, columns - 1 do
            local x, y = size * (i + 0.5 * v[4]), size * (j + 0.5 * v[5])
            local is_known = not v[6] or is_wet(v, x, y)
            data[j * columns + i] = is_known and v[3](x, y, t) or missing
        end
    end
    return data, columns, rows
end

local function define(file)
    local time = file:define_dimension('ocean_time', #hours)
    local points = { [0] = { [0] = 'rho', 'v' }, { [0] = 'u' } }
    local sizes = {}
    for name, cut in pairs { rho = { 0, 0 }, u = { 1, 0 }, v = { 0, 1 } } do
        sizes[name] = { file:define_dimension('eta_' .. name, ny - cut[2]),
            file:define_dimension('xi_' .. name, nx - cut[1]) }
    end
    file:define_variable('ocean_time', 'double', { time })
    file:put_attribute('ocean_time', 'units', 'hours since 2020-05-01 00:00:00')
    for _, v in ipairs(variables) do
        local dims = sizes[points[v[4]][v[5]]]
        file:define_variable(v[1], v[6] and 'float' or 'double',
            v[6] and { time, dims[1], dims[2] } or dims)
        file:put_attribute(v[1], 'units', v[2])
        if v[6] then file:define_missing(v[1], missing) end
    end
    file:end_definitions()
end

-- Writes the file.
function sample.write(path)
    local file, times = netcdf.create(path, path), netcdf.doubles(#hours)
    define(file)
    for k, hour in ipairs(hours) do times[k - 1] = hour end
    file:put('ocean_time', { 0 }, { #hours }, times)
    for _, v in ipairs(variables) do
        for k = 1, v[6] and #hours or 1 do
            local data, columns, rows = values_of(v, hours[k])
            if v[6] then file:put(v[1], { k - 1, 0, 0 }, { 1, rows, columns }, data)
            else file:put(v[1], { 0, 0 }, { rows, columns }, data) end
        end
    end
    file:close()
end

return sample
