-- Views: arrays that show the memory of another one, in another order or shape.
-- What is written into one is seen in all.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local strides = require 'mare.expression.strides'

local views = {}
local Array = array.methods

-- Returns a leaf that shows the memory of another one.
local function view_of(leaf, shape, offset, list)
    if list and strides.are_dense(shape, list) then list = false end
    if leaf.version then return nodes.leaf(leaf.version, leaf.type, shape, offset, list) end
    return nodes.view_of_numbers(leaf, shape, offset, list)
end

local shown = array.shown

-- ---- slices ----

local function check_slice(slice, axis)
    for key, value in pairs(slice) do
        local is_place = key == 1 or key == 2 or key == 3
        if not is_place or type(value) ~= 'number' or value % 1 ~= 0 then
            errors.argument('slice of axis %d: { first, end, step } with whole numbers is wanted, '
                .. 'not [%s] = %s', axis - 1, tostring(key), tostring(value))
        end
    end
end

local function clipped(value, low, high)
    return math.max(low, math.min(high, value))
end

-- Returns the first element, the number of elements and the step of { first, end, step }, as Python
-- counts them: the end is not included, negative numbers count from the end, and what is outside is
-- left out.
local function range(size, slice, axis)
    check_slice(slice, axis)
    local step = slice[3] or 1
    if step == 0 then errors.argument('slice of axis %d: a step of 0', axis - 1) end
    local low, high = 0, size
    if step < 0 then low, high = -1, size - 1 end
    local function place(value, default)
        if not value then return default end
        return clipped(value < 0 and value + size or value, low, high)
    end
    local first = place(slice[1], step > 0 and low or high)
    local stop = place(slice[2], step > 0 and high or low)
    return first, math.max(0, math.ceil((stop - first) / step)), step
end

-- Returns a view of a{ ... }: for each axis a number, which takes one element and the
-- axis with it, or { first, end, step }; {} is the whole axis, and so are those that
-- are not named.
local function sliced(leaf, places)
    local shape, own = leaf.shape, strides.own(leaf)
    local offset, sizes, list = leaf.offset, {}, {}
    if #places > shape.rank then
        errors.argument('%d indices, the shape is %s', #places, tostring(shape))
    end
    for k = 1, shape.rank do
        local place = places[k] or {}
        if type(place) == 'number' then
            offset = offset + shapes.index(shape, k, place) * own[k]
        elseif type(place) == 'table' then
            local first, count, step = range(shape[k], place, k)
            if count > 0 then offset = offset + first * own[k] end
            sizes[#sizes + 1], list[#list + 1] = count, step * own[k]
        else
            errors.argument('axis %d: a number or { first, end, step } is wanted, not %s', k - 1,
                type(place))
        end
    end
    return view_of(leaf, shapes.of(sizes, #sizes), offset, list)
end

-- Returns a view, such as a { {0, 2}, 1 }: elements 0 and 1 along the first axis, in column 1.
function views.slice(self, places)
    if type(places) ~= 'table' then
        errors.argument('a{ ... }: a table of indices is wanted, not %s', type(places))
    end
    local leaf = shown(self, 'a{ ... }')
    return array.drop(leaf, array.of(sliced(leaf, places)))
end

-- ---- other shapes ----

-- Returns sizes in which a size of -1 is replaced by the elements that the others leave.
local function filled_in(given, count)
    local list, open, known = {}, nil, 1
    for k, size in ipairs(given) do
        list[k] = size
        if size == -1 and not open then
            open = k
        elseif type(size) == 'number' then
            known = known * size
        end
    end
    if open then list[open] = known > 0 and math.floor(count / known) or 0 end
    return list
end

-- Returns the array in another shape with as many elements, in the same order; one
-- size may be -1: a:reshape(3, -1). It is a view where the elements lie one after
-- another, else a copy.
function Array:reshape(...)
    local given = type((...)) == 'table' and (...) or { ... }
    local leaf = shown(self, 'reshape')
    local list = filled_in(given, leaf.shape.count)
    local shape = shapes.given('reshape', list)
    if shape.count ~= leaf.shape.count then
        errors.argument('reshape: %s has %d elements, %s has %d', tostring(leaf.shape),
            leaf.shape.count, tostring(shape), shape.count)
    end
    if leaf.strides then
        nodes.release(leaf)
        leaf = array.leaf(self:copy(), 'reshape')
    end
    return array.drop(leaf, array.of(view_of(leaf, shape, leaf.offset, false)))
end

-- Returns all elements along one axis; see reshape.
function Array:flatten()
    return Array.reshape(self, -1)
end

-- Returns a view with the axes in another order, counted from 0; without arguments
-- in the reverse one: a:transpose(1, 0, 2).
function Array:transpose(...)
    local given = type((...)) == 'table' and (...) or { ... }
    local leaf = shown(self, 'transpose')
    local shape, own, sizes, list, seen = leaf.shape, strides.own(leaf), {}, {}, {}
    if #given ~= 0 and #given ~= shape.rank then
        errors.argument('transpose: %d axes are named, the shape is %s', #given, tostring(shape))
    end
    for k = 1, shape.rank do
        local axis = given[k] and shapes.axis(shape, given[k], 'transpose') or shape.rank - k
        if seen[axis] then errors.argument('transpose: axis %d is named twice', axis) end
        seen[axis] = true
        sizes[k], list[k] = shape[axis + 1], own[axis + 1]
    end
    local made = view_of(leaf, shapes.of(sizes, shape.rank), leaf.offset, list)
    return array.drop(leaf, array.of(made))
end

-- Returns a view of another shape in which axes of one element are repeated:
-- mare.ones{ 4 }:expand(3, 4).
function Array:expand(...)
    local leaf = shown(self, 'expand')
    local shape = shapes.given('expand', ...)
    if not shapes.fits(leaf.shape, shape) then
        errors.argument('expand: %s cannot be repeated to %s', tostring(leaf.shape),
            tostring(shape))
    end
    return array.drop(leaf, array.of(view_of(leaf, shape, leaf.offset,
        strides.repeated(leaf, shape))))
end

-- Returns a view with the elements of some axes in reverse order, all axes if none
-- is named: a:flip(0).
function Array:flip(...)
    local leaf = shown(self, 'flip')
    local shape, list, offset = leaf.shape, { unpack(strides.own(leaf)) }, leaf.offset
    local axes = { ... }
    if #axes == 0 then for k = 1, shape.rank do axes[k] = k - 1 end end
    for _, given in ipairs(axes) do
        local k = shapes.axis(shape, given, 'flip') + 1
        offset = offset + math.max(shape[k] - 1, 0) * list[k]
        list[k] = -list[k]
    end
    return array.drop(leaf, array.of(view_of(leaf, shape, offset, list)))
end

-- Returns a view without the axes of one element, or without one of them.
function Array:squeeze(axis)
    local leaf = shown(self, 'squeeze')
    local shape, own, sizes, list = leaf.shape, strides.own(leaf), {}, {}
    local wanted = axis and shapes.axis(shape, axis, 'squeeze') + 1
    if wanted and shape[wanted] ~= 1 then
        errors.argument('squeeze: axis %d of %s has not one element', wanted - 1, tostring(shape))
    end
    for k = 1, shape.rank do
        if shape[k] ~= 1 or wanted and k ~= wanted then
            sizes[#sizes + 1], list[#list + 1] = shape[k], own[k]
        end
    end
    return array.drop(leaf, array.of(view_of(leaf, shapes.of(sizes, #sizes), leaf.offset, list)))
end

-- Returns a view with an axis of one element more, before axis `axis`.
function Array:unsqueeze(axis)
    local leaf = shown(self, 'unsqueeze')
    local shape, sizes, list = leaf.shape, { unpack(leaf.shape) }, { unpack(strides.own(leaf)) }
    if axis ~= shape.rank then axis = shapes.axis(shape, axis, 'unsqueeze') end
    table.insert(sizes, axis + 1, 1)
    table.insert(list, axis + 1, 0)
    return array.drop(leaf, array.of(view_of(leaf, shapes.of(sizes, #sizes), leaf.offset, list)))
end

return views
