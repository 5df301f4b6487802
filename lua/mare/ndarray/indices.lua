-- Takes, puts and adds elements by their numbers and by masks: arrays as indices.

local array = require 'mare.ndarray.array'
local assign = require 'mare.ndarray.assign'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local kernels = require 'mare.ordering.kernels'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local places = require 'mare.ordering.places'
local shapes = require 'mare.expression.shapes'
local sort = require 'mare.ordering.sort'
local types = require 'mare.expression.types'

local indices = {}
local Array = array.methods

-- ---- indices ----

-- Returns indices as an array of int32 or int64.
local function given_as_array(given, on, what)
    if type(given) == 'number' or type(given) == 'table' and not given.info then
        return creation.new(given, { type = 'int64', device = on })
    end
    local node = array.hold(given, what)
    local type = node.type
    local elsewhere = node.device
    if elsewhere ~= on then
        errors.argument('%s: the array is on %s, the indices on %s', what, on.name, elsewhere.name)
    end
    nodes.release(node)
    if type.kind ~= 1 then
        errors.argument('%s: indices are whole numbers, not %s%s', what, type.name,
            type == types.bool and ': a:compress(mask) takes a mask' or '')
    end
    if type == types.int32 or type == types.int64 then return given end
    return given:to(type.bits < 32 and 'int32' or 'int64')
end

-- By mode: what becomes of an index that is outside the axis.
local modes = {
    wrap = function(given, size) return given % size end,
    clip = function(given, size) return given:clip(0, size - 1) end,
    raise = function(given, size, what)
        local least, greatest = tonumber(given:min():item()), tonumber(given:max():item())
        if least < -size or greatest >= size then
            errors.argument("%s: index %d, there are %d elements: %d to %d are allowed, or mode "
                .. "'wrap' or 'clip'", what, least < -size and least or greatest, size, -size,
                size - 1)
        end
        return given
    end,
}

-- Returns indices that are inside the axis, or raises an error, as the mode says.
local function inside(given, size, mode, what)
    local f = modes[mode or 'raise']
        or errors.argument("%s: mode '%s' (allowed: clip, raise, wrap)", what, tostring(mode))
    if array.node(given).shape.count == 0 then return given end
    if size == 0 then errors.argument('%s: there are no elements to have an index', what) end
    return f(given, size, what)
end

-- ---- taking ----

-- Returns a shape with other axes instead of one.
local function replaced(shape, axis, by)
    local sizes = {}
    for k = 1, axis do sizes[k] = shape[k] end
    for k = 1, by.rank do sizes[#sizes + 1] = by[k] end
    for k = axis + 2, shape.rank do sizes[#sizes + 1] = shape[k] end
    return shapes.of(sizes, #sizes)
end

local function product(shape, first, last)
    local all = 1
    for k = first, last do all = all * shape[k] end
    return all
end

-- Takes along an axis by indices that are inside. Both nodes are given up.
local function taken(node, at, axis)
    local shape = node.shape
    local made = replaced(shape, axis, at.shape)
    node, at = kernels.contiguous(node), kernels.contiguous(at)
    local version = places.take(node, at, product(shape, 1, axis), shape[axis + 1],
        product(shape, axis + 2, shape.rank))
    nodes.release(at)
    return array.drop(node, array.of_version(version, made))
end

-- Returns the elements of these numbers, in the shape of the indices: an array, a table
-- or a number; they begin at 0 and count back from -1. Of all elements in their order, or
-- along an axis. mode: what is done about an index that is outside: 'raise', which waits for the
-- indices (if not given), 'wrap' or 'clip':
--     a:take { 3, 0, -1 }      a:take(b:argsort(), { axis = 0, mode = 'clip' })
function Array:take(given, options)
    options = errors.fields('take', options or {}, { axis = 'number', mode = 'string' })
    local source = options.axis and self or Array.flatten(self)
    local node = array.hold(source, 'take')
    local axis = options.axis and shapes.axis(node.shape, options.axis, 'take') or 0
    local at = inside(given_as_array(given, node.device, 'take'), node.shape[axis + 1],
        options.mode, 'take')
    return taken(node, array.hold(at, 'take'), axis)
end

-- ---- masks ----

-- Returns a held node of truth values.
local function mask_of(mask, what)
    local node = array.hold(mask, what)
    if node.type ~= types.bool then
        errors.argument('%s: a mask of truth values is wanted, not %s', what, node.type.name)
    end
    if node.shape.count > sort.most then
        errors.argument('%s: %d elements, at most %d are numbered', what, node.shape.count,
            sort.most)
    end
    return node
end

-- Returns an array with the numbers of the true elements, and how many there are.
local function numbers_of_true(mask, what)
    local leaf = kernels.contiguous(mask_of(mask, what))
    local version, count = places.of_true(leaf)
    return array.drop(leaf, array.of_version(version, shapes.line(count)), count)
end

-- Returns the numbers, as int32, of the elements that are true or not 0, counted from 0
-- through all axes. It waits until their number is known.
function Array:flatnonzero()
    local mask = array.node(self).type == types.bool and self or self:to 'bool'
    return (numbers_of_true(mask, 'flatnonzero'))
end

-- Returns the elements for which a mask of truth values is true, in their order, along one
-- axis; a mask with fewer axes stands for the first ones. a { mask } does the same. It waits
-- until their number is known, and is a copy: a:assign(value, { where = mask }) writes.
function Array:compress(mask)
    local own, node = array.node(self).shape, mask_of(mask, 'compress')
    local shape = array.drop(node, node.shape)
    for k = 1, shape.rank do
        if shape[k] ~= own[k] then
            errors.argument('compress: the mask is %s, the array %s: the first axes must be equal',
                tostring(shape), tostring(own))
        end
    end
    local sizes = { shape.count }
    for k = shape.rank + 1, own.rank do sizes[#sizes + 1] = own[k] end
    local at = numbers_of_true(mask, 'compress')
    node = array.hold(self:reshape(sizes), 'compress')
    return taken(node, array.hold(at, 'compress'), 0)
end

-- Returns a{ index }: of a mask or of indices along the first axis, a copy.
function indices.chosen(self, given)
    if #given ~= 1 then
        errors.argument('a{ ... }: an array is an index by itself, not one of %d', #given)
    end
    local is_mask = array.node(given[1]).type == types.bool
    local made = is_mask and self:compress(given[1]) or self:take(given[1], { axis = 0 })
    array.node(made).is_copy = true
    return made
end

-- ---- putting ----

-- Returns a held, contiguous leaf with the values of a node, which is given up, in memory that is
-- not the target's.
local function apart_from(target, node)
    local leaf = kernels.contiguous(node)
    if leaf.version ~= target.version then return leaf end
    return array.drop(leaf, evaluate.copied(leaf))
end

-- Returns the held leaf of values for these indices, in the type of the target.
local function values_of(target, given, shape, what)
    local node = assign.source_of(target, given, what)
    if node.shape.count ~= 1 then
        if not shapes.fits(node.shape, shape) then
            errors.argument('%s: the values are %s, the indices %s', what, tostring(node.shape),
                tostring(shape))
        end
        if node.shape ~= shape then
            local wide = array.of(node):expand(shape)
            nodes.release(node)
            node = array.hold(wide, what)
        end
    end
    return apart_from(target, node)
end

-- Returns the held leaf of indices as int32 from 0.
local function places_of(target, given, mode, what)
    local count = target.shape.count
    if count > sort.most then
        errors.argument('%s: %d elements, at most %d are numbered', what, count, sort.most)
    end
    local at = inside(given_as_array(given, target.device, what), count, mode, what)
    at = array.where(at:lt(0), at + count, at):to 'int32'
    return apart_from(target, array.hold(at, what))
end

-- Returns the version to write into; a leaf's own memory, or a newer version of it.
local function writable(leaf)
    local version = leaf.version
    if version.readers == 0 then return version end
    if version.bytes == 0 then
        assign.settle(version)
        return version
    end
    local copy = evaluate.copied(leaf)
    memory.move(version, copy.version)
    return array.drop(copy, copy.version)
end

local function scattered(self, given, values, options, what)
    options = errors.fields(what, options or {}, { mode = 'string' })
    local leaf = array.leaf(self, what)
    local at = places_of(leaf, given, options.mode, what)
    local from = values_of(leaf, values, at.shape, what)
    local is_whole = not leaf.strides and leaf.offset == 0
        and leaf.shape.count == leaf.version.count
    if is_whole then
        places[what](writable(leaf), at, from)
    else
        local copy = evaluate.copied(leaf)
        places[what](copy.version, at, from)
        self:assign(array.drop(copy, array.of(copy)))
    end
    nodes.release(at)
    nodes.release(from)
    return array.drop(leaf, self)
end

-- Writes values into the elements of these numbers, which count through all axes: a number
-- or an array that is repeated to the shape of the indices. Where an index occurs several
-- times, the last value stays. Options and indices: see take. Returns the array:
--     a:put({ 0, -1 }, 7)
function Array:put(given, values, options)
    return scattered(self, given, values, options, 'put')
end

-- Adds values to the elements of these numbers; see put. Where an index occurs several
-- times, all its values are added: among themselves first, in runs of 64 in their order,
-- so that the bits are the same on every device.
function Array:add(given, values, options)
    local node = array.node(self)
    if node.type.kind == 0 or node.type.kind == 3 then
        errors.argument('add: it is for whole numbers and reals, not %s', node.type.name)
    end
    return scattered(self, given, values, options, 'add')
end

return indices
