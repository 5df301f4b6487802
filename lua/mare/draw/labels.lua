-- Texts with numbers for axes and titles. Lengths in metres become kilometres,
-- and seconds become hours or days, where people would say it so.

local labels = {}

local superscripts = { ['-'] = '⁻', ['0'] = '⁰', ['1'] = '¹', ['2'] = '²', ['3'] = '³',
    ['4'] = '⁴', ['5'] = '⁵', ['6'] = '⁶', ['7'] = '⁷', ['8'] = '⁸', ['9'] = '⁹' }

-- Returns superscripts such as "⁻³".
function labels.exponent(text)
    return (tostring(text):gsub('.', superscripts))
end

-- Turns 'm s-1' into 'm s⁻¹'; returns '' for the unit '1' and for none.
function labels.unit(unit)
    if not unit or unit == '1' then return '' end
    return (unit:gsub('%f[%a](%a+)(%-?%d+)', function(base, power)
        return base .. labels.exponent(power)
    end))
end

-- Returns 'density (kg m⁻³)'. unit: 'kg m-3', or '1' or nil for none.
function labels.with_unit(name, unit)
    unit = labels.unit(unit)
    return unit == '' and name or string.format('%s (%s)', name, unit)
end

local far = 2e4     -- metres; longer axes are in kilometres

local function scaled(range, factor)
    return { range[1] * factor, range[2] * factor }
end

-- Returns the ranges and labels of a domain's axes for image.field. unit: of x
-- and y. coordinates: as for a grid.
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

local long = { { 'd', 86400, 4 * 86400 }, { 'h', 3600, 2 * 3600 } }      -- unit, s, least s

-- Returns the decimals that distinguish times at intervals of `step`.
local function decimals(step)
    for n = 0, 6 do
        local rounded = step * 10 ^ n
        if math.abs(rounded - math.floor(rounded + 0.5)) < 1e-6 * rounded then return n end
    end
    return math.max(0, math.min(6, 1 - math.floor(math.log10(step))))
end

-- Returns the unit for times up to `last`, and the factor to it from the unit
-- given.
function labels.time_unit(unit, last)
    for _, entry in ipairs(unit == 's' and long or {}) do
        if last >= entry[3] then return entry[1], 1 / entry[2] end
    end
    return unit, 1
end

-- Returns a function that formats times. last, step: the longest time and the
-- interval, which decide the format; without a step each time is as short as
-- possible. unit: 's', another unit or '1'.
function labels.clock(unit, last, step)
    local factor
    unit, factor = labels.time_unit(unit, last)
    local format = step and string.format('%%.%df', math.min(3, decimals(step * factor))) or '%.4g'
    local suffix = unit and unit ~= '1' and ' ' .. unit or ''
    return function(t) return 't = ' .. string.format(format, t * factor) .. suffix end
end

return labels
