-- Arrays as pictures.

local array = require 'mare.ndarray.array'
local draw = require 'mare.draw'
local errors = require 'bindings.errors'
local tables = require 'bindings.tables'
local transfer = require 'mare.ndarray.transfer'

local Array = array.methods

-- Returns the numbers of an array as a C array that pictures take.
local function numbers_of(handle)
    local type = array.node(handle).type
    if type.complex then
        errors.argument('plot: %s has no place in a picture: see mare.abs and mare.angle',
            type.name)
    end
    if type.name ~= 'float' and type.name ~= 'double' then handle = handle:float() end
    return (transfer.read(handle, 'plot'))
end

-- Returns the elements from `first` on as a Lua array.
local function listed(data, first, count)
    local list = {}
    for k = 1, count do list[k] = tonumber(data[first + k - 1]) end
    return list
end

-- Returns the horizontal places of `count` elements: those of spec.x, or their numbers.
local function places(spec, count)
    local given, list = spec.x, {}
    if array.is(given) then
        if array.node(given).shape.count ~= count then
            errors.argument('plot: x is %s, there are %d elements to draw',
                tostring(array.node(given).shape), count)
        end
        return listed(numbers_of(given), 0, count)
    end
    for k = 1, count do list[k] = k - 1 end
    return list
end

-- Returns a spec without the entries that only this file reads.
local function rest_of(spec, ...)
    local rest = tables.merged(spec)
    for _, name in ipairs { 'kind', ... } do rest[name] = nil end
    return rest
end

-- ---- kinds of pictures ----

-- Draws rows of elements as curves or points.
local function curves(self, spec, style)
    local shape = array.node(self).shape
    local count = shape[shape.rank]
    local data, x, series = numbers_of(self), places(spec, count), {}
    for row = 1, shape.count / count do
        series[row] = { x = x, y = listed(data, (row - 1) * count, count), style = style }
    end
    return draw.lines(tables.merged({ series = series }, rest_of(spec, 'x')))
end

local kinds = {}

function kinds.line(self, spec) return curves(self, spec, 'line') end

function kinds.scatter(self, spec) return curves(self:flatten(), spec, 'points') end

function kinds.histogram(self, spec)
    local counts, edges = self:histogram(spec.bins or 50, { range = spec.range })
    local n = counts.count
    local high, at = listed(numbers_of(counts), 0, n), listed(numbers_of(edges), 0, n + 1)
    local x, y = { at[1] }, { 0 }
    for k = 1, n do
        x[2 * k], x[2 * k + 1] = at[k], at[k + 1]
        y[2 * k], y[2 * k + 1] = high[k], high[k]
    end
    x[2 * n + 2], y[2 * n + 2] = at[n + 1], 0
    return draw.lines(tables.merged({ series = { { x = x, y = y } } },
        rest_of(spec, 'bins', 'range')))
end

function kinds.colours(self, spec)
    local shape = array.node(self).shape
    local ny, nx = shape[1], shape[2]
    return draw.field(tables.merged({ data = numbers_of(self), nx = nx, ny = ny, x = { 0, nx },
        y = { 0, ny } }, rest_of(spec)))
end

-- Draws the array and returns the picture. kind: 'line', over the numbers of the elements or
-- over spec.x, an array, a curve for each row; 'colours', of two axes, the first row at the
-- bottom; 'scatter', points over spec.x; 'histogram', of spec.bins bins (50) in spec.range.
-- If kind is not given, one axis is a line and two are colours. The rest of spec: as for
-- mare.plot. a:plot { kind = 'histogram', bins = 20 }; x:plot(y) is y:plot { x = x }
function Array:plot(spec)
    if array.is(spec) then self, spec = spec, { x = self } end
    local shape, kind = array.node(self).shape, spec and spec.kind
    if kind and not kinds[kind] then
        errors.argument("plot: kind '%s' (allowed: %s)", tostring(kind), tables.names(kinds))
    end
    kind = kind or (shape.rank == 2 and 'colours' or 'line')
    local is_free = kind == 'histogram' or kind == 'scatter'
    local most = is_free and 64 or 2
    if shape.count == 0 or shape.rank < (kind == 'colours' and 2 or 1) or shape.rank > most then
        errors.argument('plot: the shape is %s: one or two axes with elements are wanted',
            tostring(shape))
    end
    return kinds[kind](self, spec or {}):draw()
end
