-- Tides at an open side: waves of known speed, each with an amplitude and a
-- phase in every cell of the side. The elevation is the sum of factor *
-- amplitude * cos(speed * t + argument - phase), where phase is the lag behind
-- Greenwich. factor and argument (default 1 and 0) account for the moon's orbit
-- at the time when the run begins.

local errors = require 'bindings.errors'
local tides = require 'mare.forcing.tides'

local tide = {}

local fields = {
    name = 'string', speed = 'number', amplitude = 'any', phase = 'any', factor = 'number',
    argument = 'number', current_amplitude = 'any', current_phase = 'any',
}

local function speed_of(what, given)
    local speed = given.speed or tides.speeds[given.name]
    if speed then return math.rad(speed) / 3600 end
    errors.argument("ocean: %s: constituent '%s' wants its speed in degrees an hour (known: %s)",
        what, tostring(given.name), table.concat(tides.names(), ', '))
end

-- Returns a number, a function(x, y) or an array with one number per cell of
-- the side as a function (cell, x, y), with cells counted from 0.
local function along(what, given, cells)
    if type(given) == 'number' then return function() return given end end
    if type(given) == 'function' then return function(_, x, y) return given(x, y) end end
    if type(given) ~= 'table' then
        errors.argument('ocean: %s: a number, a function(x, y) or an array is wanted, not %s', what,
            type(given))
    end
    if #given ~= cells then
        errors.argument('ocean: %s: %d numbers for %d cells', what, #given, cells)
    end
    return function(cell) return given[cell + 1] end
end

local function wave(what, amplitude, phase, cells)
    local a, g = along(what .. ': amplitude', amplitude, cells),
        along(what .. ': phase', phase, cells)
    return function(cell, x, y)
        local amount, lag = a(cell, x, y), g(cell, x, y)
        if type(amount) ~= 'number' or type(lag) ~= 'number' then
            errors.argument('ocean: %s: amplitude %s, phase %s at x = %g, y = %g', what,
                tostring(amount), tostring(lag), x, y)
        end
        return amount, lag
    end
end

-- Returns the waves of a side as an array of { speed (1/s), elevation =
-- function(cell, x, y) -> A cos(phase), A sin(phase), current = the same for
-- the current, or nil }. constituents: nil or an array of { name =, amplitude =
-- (m), phase = (degrees), speed = (degrees per hour; needed for unknown names),
-- factor =, argument = (degrees), current_amplitude = (m/s, along the axis that
-- crosses the side), current_phase = (degrees) }. cells: their number along the
-- side.
function tide.new(what, constituents, cells)
    local list = {}
    if constituents and not constituents[1] and next(constituents) ~= nil then
        errors.argument("ocean: %s: constituents: { { name = 'M2', ... }, ... } is wanted: there "
            .. "is '%s'", what, tostring(next(constituents)))
    end
    for k, given in ipairs(constituents or {}) do
        local title = string.format('%s: constituent %s', what, given.name or k)
        errors.fields('ocean: ' .. title, given, fields)
        local factor, argument = given.factor or 1, given.argument or 0
        local function of(amplitude, phase)
            local value = wave(title, amplitude, phase, cells)
            return function(cell, x, y)
                local amount, lag = value(cell, x, y)
                local angle = math.rad(lag - argument)
                return factor * amount * math.cos(angle), factor * amount * math.sin(angle)
            end
        end
        list[k] = { speed = speed_of(what, given), elevation = of(given.amplitude, given.phase),
            current = given.current_amplitude
                and of(given.current_amplitude, given.current_phase) }
    end
    return list
end

return tide
