-- Wind and air pressure from a NetCDF file, as mare.ocean takes them: 10 m winds become the stress
-- on the water by a bulk formula, along the axes of the grid.

local errors = require 'bindings.errors'
local gridded = require 'mare.ocean.gridded'
local series = require 'mare.ocean.series'

local weather = {}

local density = 1.225       -- of the air, kg/m3

-- Stress (N/m2) of a wind (m/s) at 10 m; Large and Pond (1981).
function weather.stress(u, v)
    local speed = math.sqrt(u * u + v * v)
    local drag = speed < 11 and 1.2e-3 or 4.9e-4 + 6.5e-5 * speed
    return density * drag * speed * u, density * drag * speed * v
end

local fields = {
    file = 'string', u = 'string', v = 'string', pressure = 'string', start = 'string',
    grid = 'table', position = 'function', along_grid = 'boolean',
}

-- { file =, grid =, u = 'u10', v = 'v10' (winds towards east and north, or along the grid's axes
-- with along_grid = true), pressure = name of a variable or nil, start = date of t = 0,
-- position = function(x, y) of the grid -> x, y of the file }. Returns { wind =, pressure = }.
function weather.new(desc)
    errors.fields('weather', desc, fields)
    if not desc.file or not desc.grid then errors.argument 'weather: file and grid are wanted' end
    local function open(variable)
        return gridded.new { file = desc.file, variable = variable, start = desc.start,
            fill = true }:series(desc.position)
    end
    local u, v = open(desc.u or 'u10'), open(desc.v or 'v10')
    local function at(t, x, y)
        local along_x, along_y = weather.stress(u.at(t, x, y), v.at(t, x, y))
        if desc.along_grid then return along_x, along_y end
        local angle = math.rad(desc.grid:angle_at(x, y))
        local c, s = math.cos(angle), math.sin(angle)
        return c * along_x + s * along_y, c * along_y - s * along_x
    end
    return { wind = { times = series.union { u, v }, at = at },
        pressure = desc.pressure and open(desc.pressure) or nil }
end

return weather
