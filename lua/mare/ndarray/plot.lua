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

-- Draws an array of one axis as a line over the numbers of its elements, and one of
-- two axes as colours, the first row at the bottom. spec: as for mare.plot. Returns
-- the picture.
function Array:plot(spec)
    local shape = array.node(self).shape
    if shape.count == 0 or shape.rank < 1 or shape.rank > 2 then
        errors.argument('plot: the shape is %s: one or two axes with elements are wanted',
            tostring(shape))
    end
    local data, x, y = numbers_of(self), {}, {}
    if shape.rank == 2 then
        local ny, nx = shape[1], shape[2]
        return draw.field(tables.merged({ data = data, nx = nx, ny = ny, x = { 0, nx },
            y = { 0, ny } }, spec)):draw()
    end
    for k = 1, shape.count do x[k], y[k] = k - 1, tonumber(data[k - 1]) end
    return draw.lines(tables.merged({ series = { { x = x, y = y } } }, spec)):draw()
end
