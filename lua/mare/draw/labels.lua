-- Words with numbers in them: what stands beside axes and above pictures. Lengths in metres become
-- kilometres, and seconds hours or days, where people would say it so.

local labels = {}

local superscripts = { ['-'] = '⁻', ['0'] = '⁰', ['1'] = '¹', ['2'] = '²', ['3'] = '³',
    ['4'] = '⁴', ['5'] = '⁵', ['6'] = '⁶', ['7'] = '⁷', ['8'] = '⁸', ['9'] = '⁹' }

-- "⁻³"
function labels.exponent(text)
    return (tostring(text):gsub('.', superscripts))
end

-- 'm s-1' -> 'm s⁻¹'; '' for the unit '1' and for none
function labels.unit(unit)
    if not unit or unit == '1' then return '' end
    return (unit:gsub('%f[%a](%a+)(%-?%d+)', function(base, power)
        return base .. labels.exponent(power)
    end))
end

-- name: 'density'; unit: 'kg m-3', '1' or nil for none
function labels.with_unit(name, unit)
    unit = labels.unit(unit)
    return unit == '' and name or string.format('%s (%s)', name, unit)
end

local far = 2e4     -- metres from which an axis is in kilometres

local function scaled(range, factor)
    return { range[1] * factor, range[2] * factor }
end

-- The axes of a domain: ranges and labels as image.field takes them. unit: of x and y; coordinates:
-- as a grid's
function labels.axes(x, y, unit, coordinates)
    local factor = 1
    if coordinates == 'longitude-latitude' then
        return { x = x, y = y, xlabel = 'longitude (°)', ylabel = 'latitude (°)' }
    end
    local function far_off(range) return math.max(math.abs(range[1]), math.abs(range[2])) >= far end
    if unit == 'm' and (far_off(x) or far_off(y)) then factor, unit = 1e-3, 'km' end
    return { x = scaled(x, factor), y = scaled(y, factor), xlabel = labels.with_unit('x', unit),
        ylabel = labels.with_unit('y', unit) }
end

local long = { { 'd', 86400, 4 * 86400 }, { 'h', 3600, 2 * 3600 } }      -- seconds; from when on

-- Decimals that tell times apart which are `step` apart.
local function decimals(step)
    for n = 0, 6 do
        local rounded = step * 10 ^ n
        if math.abs(rounded - math.floor(rounded + 0.5)) < 1e-6 * rounded then return n end
    end
    return math.max(0, math.min(6, 1 - math.floor(math.log10(step))))
end

-- The unit that times up to `last` are told in, and what one of the unit given is in it.
function labels.time_unit(unit, last)
    for _, entry in ipairs(unit == 's' and long or {}) do
        if last >= entry[3] then return entry[1], 1 / entry[2] end
    end
    return unit, 1
end

-- A function that writes times. last, step: the longest of them and the time between two, which
-- decide how; without a step as briefly as each can be. unit: 's', another one or '1'
function labels.clock(unit, last, step)
    local factor
    unit, factor = labels.time_unit(unit, last)
    local format = step and string.format('%%.%df', math.min(3, decimals(step * factor))) or '%.4g'
    local suffix = unit and unit ~= '1' and ' ' .. unit or ''
    return function(t) return 't = ' .. string.format(format, t * factor) .. suffix end
end

return labels
