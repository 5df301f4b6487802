-- Wind and air pressure for mare.ocean, from a NetCDF file, a climatology or a
-- formula. A bulk formula turns 10 m winds into the stress on the water, along
-- the axes of the grid.

local errors = require 'bindings.errors'
local gridded = require 'mare.forcing.gridded'
local timeline = require 'mare.forcing.timeline'

local weather = {}

local density = 1.225       -- of the air, kg/m3

-- Returns the stress (N/m2) of a wind (m/s) at 10 m; Large and Pond (1981).
function weather.stress(u, v)
    local speed = math.sqrt(u * u + v * v)
    local drag = speed < 11 and 1.2e-3 or 4.9e-4 + 6.5e-5 * speed
    return density * drag * speed * u, density * drag * speed * v
end

-- Turns a stress towards east and north to the axes of a grid.
local function turned(grid, x, y, to_east, to_north)
    local angle = math.rad(grid:angle_at(x, y))
    local c, s = math.cos(angle), math.sin(angle)
    return c * to_east + s * to_north, c * to_north - s * to_east
end

local fields = {
    file = 'string', u = 'string', v = 'string', pressure = 'string', start = 'string',
    grid = 'table', position = 'function', along_grid = 'boolean', hold = 'boolean',
}

local function opener(desc)
    if not desc.file or not desc.grid then errors.argument 'weather: file and grid are wanted' end
    return function(variable, quantity)
        return gridded.new { file = desc.file, variable = variable, start = desc.start,
            fill = true, quantity = quantity or 'velocity', hold = desc.hold }
    end
end

-- desc: { file =, grid =,
--   u = 'u10', v = 'v10': winds towards east and north, or with along_grid = true along the axes
--     of the grid,
--   pressure = name of a variable, or nil, start = the date of t = 0,
--   position = function from x, y of the grid to x, y of the file, hold = as in mare.gridded }
-- Returns the timelines { wind =, pressure = }.
function weather.new(desc)
    errors.fields('weather', desc, fields)
    local open = opener(desc)
    local u, v = open(desc.u or 'u10'):timeline(desc.position),
        open(desc.v or 'v10'):timeline(desc.position)
    local function at(t, x, y)
        local along_x, along_y = weather.stress(u.at(t, x, y), v.at(t, x, y))
        if desc.along_grid then return along_x, along_y end
        return turned(desc.grid, x, y, along_x, along_y)
    end
    local wind = { times = timeline.union { u, v }, records = timeline.records { u, v }, at = at }
    local pressure = desc.pressure and open(desc.pressure, 'pressure'):timeline(desc.position)
    return { wind = wind, pressure = pressure or nil }
end

local climate_fields = { file = 'string', grid = 'table', month = 'number' }

-- Returns the stress of a month's mean wind as a function (x, y). desc: { file
-- =, grid =, month = 1 to 12 }. The file has twelve records of eastward_wind,
-- northward_wind and wind_speed (m/s). The mean speed gives the stress its
-- size, because winds of changing direction cancel in the mean vector. Outside
-- the file the stress is that at its edge.
function weather.climatology(desc)
    errors.fields('climatology', desc, climate_fields)
    local open, month = opener(desc), desc.month
    local u, v, speed = open 'eastward_wind', open 'northward_wind', open 'wind_speed'
    if #u.times ~= 12 or month % 1 ~= 0 or month < 1 or month > 12 then
        errors.usage('%s: eastward_wind has %d records, of month %s; twelve are wanted, and 1 to '
            .. '12', desc.file, #u.times, tostring(month))
    end
    local t, g = u.times[month], desc.grid
    return function(x, y)
        local px = math.max(u.x.first, math.min(u.x.last, x))
        local py = math.max(u.y.first, math.min(u.y.last, y))
        local a, b, mean = u:at(t, px, py), v:at(t, px, py), speed:at(t, px, py)
        local size = weather.stress(mean, 0) / math.max(mean, 1e-6)
        return turned(g, x, y, size * a, size * b)
    end
end

local storm_fields = {
    grid = 'table', from = 'table', to = 'table', begins = 'number', lasts = 'number',
    speed = 'number', radius = 'number',
}

local inflow = math.rad(20)     -- of the wind towards the centre, from the tangent

-- Returns the stress of a storm that crosses the sea: winds around a centre,
-- anticlockwise as north of the equator, turned inwards by 20 degrees. Their
-- speed at distance r is speed r / radius exp((1 - (r / radius)^2) / 2), and
-- grows and fades in time with the square of a sine. desc: { grid =, from, to =
-- { x, y } of the centre, begins =, lasts = (s), speed = 28 (m/s), radius =
-- 400e3 (m) }
function weather.storm(desc)
    errors.fields('storm', desc, storm_fields)
    local g, speed, radius = desc.grid, desc.speed or 28, desc.radius or 400e3
    local begins, lasts, times = desc.begins or 0, desc.lasts or 129600, {}
    for k = 0, math.ceil(lasts / 1800) do times[k + 1] = begins + math.min(lasts, 1800 * k) end
    local function value(x, y, t)
        local way = (t - begins) / lasts
        local cx = desc.from[1] + way * (desc.to[1] - desc.from[1])
        local cy = desc.from[2] + way * (desc.to[2] - desc.from[2])
        local dx, dy = g:cell_size(0.5 * (y + cy))
        local east, north = (x - cx) / g.dx * dx / radius, (y - cy) / g.dy * dy / radius
        local size = speed * math.sin(math.pi * way) ^ 2
            * math.exp(0.5 * (1 - east * east - north * north))
        local c, s = math.cos(inflow), math.sin(inflow)
        return weather.stress(-size * (c * north + s * east), size * (c * east - s * north))
    end
    return { times = times, value = value }
end

return weather
