-- Arrays that are made of others along an axis: mare.concatenate, mare.stack, a:roll(), a:diff().

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local memory = require 'mare.expression.memory'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local joining = {}
local Array = array.methods

-- Returns the places of a slice along an axis, for a { ... }.
local function along(axis, low, high)
    local places = {}
    for k = 1, axis do places[k] = {} end
    places[axis + 1] = { low, high }
    return places
end

-- Checks a list of at least one array. what: the name of the call
local function check_list(what, list)
    errors.wanted(what .. ': list of arrays', 'table', list)
    if #list == 0 then errors.argument('%s: at least one array is wanted', what) end
    for k, each in ipairs(list) do
        if not array.is(each) then
            errors.argument('%s: an array is wanted at place %d, not a %s', what, k, type(each))
        end
    end
end

-- Returns the number of the axis, the shape and the type of arrays one after another.
local function joined_of(list, axis)
    check_list('concatenate', list)
    local first = array.node(list[1])
    local sizes, type = shapes.copy(first.shape), first.type
    axis = shapes.axis(first.shape, axis or 0, 'concatenate')
    for k = 2, #list do
        local node = array.node(list[k])
        local here, there = first.device, node.device
        type = types.common(type, node.type)
        local fits = type and here == there and node.shape.rank == #sizes
        for d = 1, #sizes do fits = fits and (d == axis + 1 or node.shape[d] == sizes[d]) end
        if not fits then
            errors.argument('concatenate: %s %s on %s and %s %s on %s do not fit: one device is '
                .. 'wanted, a type for both, and equal sizes but along the axis', first.type.name,
                tostring(first.shape), here.name, node.type.name, tostring(node.shape), there.name)
        end
        sizes[axis + 1] = sizes[axis + 1] + node.shape[axis + 1]
    end
    return axis, shapes.of(sizes, #sizes), type
end

-- Returns arrays one after another along an axis (0), in new memory and their common type; their
-- other sizes are equal: mare.concatenate({ a, b }, { axis = 1 }).
function joining.concatenate(list, options)
    options = errors.fields('concatenate', options or {}, { axis = 'number' })
    local axis, shape, type = joined_of(list, options.axis)
    local made = array.of_version(memory.new(array.node(list[1]).device, type, shape.count), shape)
    local at = 0
    for _, each in ipairs(list) do
        local size = array.node(each).shape[axis + 1]
        if each.count > 0 then made(along(axis, at, at + size)):assign(each) end
        at = at + size
    end
    return made
end

-- Returns arrays of one shape along a new axis (0): mare.stack { a, b } has the shape { 2, ... }.
function joining.stack(list, options)
    check_list('stack', list)
    local axis, raised = errors.fields('stack', options or {}, { axis = 'number' }).axis or 0, {}
    local rank = array.node(list[1]).shape.rank
    if axis % 1 ~= 0 or axis < -rank - 1 or axis > rank then
        errors.argument('stack: axis %s of arrays of %d axes: %d to %d are allowed',
            tostring(axis), rank, -rank - 1, rank)
    end
    if axis < 0 then axis = axis + rank + 1 end
    for k, each in ipairs(list) do raised[k] = each:unsqueeze(axis) end
    return joining.concatenate(raised, { axis = axis })
end

-- Returns the elements moved on along an axis (0), from its end to its beginning: a:roll(1, 0).
function Array:roll(steps, axis)
    local shape = array.node(self).shape
    if errors.wanted('roll: steps', 'number', steps) % 1 ~= 0 then
        errors.argument('roll: steps = %s: a whole number is wanted', tostring(steps))
    end
    axis = shapes.axis(shape, axis or 0, 'roll')
    local cut = shape[axis + 1] > 0 and -steps % shape[axis + 1] or 0
    local parts = { self(along(axis, cut)), self(along(axis, 0, cut)) }
    return joining.concatenate(parts, { axis = axis })
end

-- Returns each element but the first less the one before it, along an axis (the last).
function Array:diff(axis)
    local shape = array.node(self).shape
    axis = shapes.axis(shape, axis or -1, 'diff')
    return self(along(axis, 1)) - self(along(axis, 0, math.max(shape[axis + 1] - 1, 0)))
end

return joining
