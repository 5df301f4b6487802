-- Describes what a scenario's pictures show, the image at the end as well as
-- the film:
--
--   picture = {
--       variable = 'eta',           -- default: the first unknown
--       label = 'elevation (m)',    -- default: the variable's long name and units
--       colours = 'diverging', range = { -0.05, 0.05 },       -- as image.field takes them
--       missing = { colour = 0xb4aca0, label = 'land' },      -- default: the scheme's
--       contours = 8 or { levels } or { variable = 'h', levels = 8 or { levels }, period = 360 },
--       vectors = { 'u', 'v', reference = 0.5 },
--   }
-- A function(sim, path) instead draws the image by itself.

local errors = require 'bindings.errors'
local labels = require 'mare.draw.labels'
local numbers = require 'mare.base.numbers'
local variables = require 'mare.base.variables'

local picture = {}

local allowed = {
    variable = 'string', label = 'string', colours = 'any', range = 'table', missing = 'table',
    contours = 'any', vectors = 'table',
}

local function find(scheme, name)
    return variables.find(scheme, name, 'picture: ')
end

-- Checks a description and returns it with every name looked up: { variable,
-- label, colours, range, missing, contours = { variable, levels, period } or
-- nil, vectors = { u, v, unit, reference } or nil }. It is called before the
-- run, so that errors do not surface only at the end.
function picture.describe(given, scheme)
    given = errors.fields('picture', given or {}, allowed)
    local shown = find(scheme, given.variable or scheme.fields[1])
    local out = { variable = shown.name, colours = given.colours, range = given.range,
        missing = given.missing or scheme.missing,
        label = given.label or labels.with_unit(shown.long_name or shown.name, shown.units) }
    local lines, vectors = given.contours, given.vectors
    if lines then
        local named = type(lines) == 'table' and lines.variable
        out.contours = { variable = find(scheme, named or shown.name).name,
            levels = named and (lines.levels or 8) or lines,
            period = named and lines.period or nil }
    end
    if vectors then
        local u, v = find(scheme, vectors[1]), find(scheme, vectors[2])
        out.vectors = { u = u.name, v = v.name, unit = u.units, reference = vectors.reference }
    end
    return out
end

-- Returns { low, high } of the option --range, such as '0.9,2.1'; nil where it is not given.
function picture.range(given)
    if not given then return nil end
    local range = numbers('range', given, 2)
    if range[1] >= range[2] then
        errors.usage("option --range: '%s' (allowed: low,high)", table.concat(range, ','))
    end
    return range
end

-- Returns the domain in the form of image.field.
function picture.axes(grid, scheme)
    local spec = labels.axes(grid.x, grid.y, scheme.units and scheme.units.length,
        grid.coordinates)
    spec.nx, spec.ny = grid.nx, grid.ny
    return spec
end

-- Returns the unit of time for labels.clock.
function picture.time_unit(scheme)
    return scheme.units and scheme.units.time
end

return picture
