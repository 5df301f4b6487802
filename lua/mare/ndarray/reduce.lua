-- Reductions: sums, products, extremes and what is made of them, along all axes or some. The
-- kernel of a reduction also computes the expression that is reduced; it stores one value for
-- each block, and the values stay on the device. The order is that of reduce_text.lua, so the
-- bits are the same on all devices and for all shapes of groups.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local operations = require 'mare.expression.operations'
local order = require 'mare.expression.reduce_text'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

-- divided(what, node, reductions, options): what the room `divided/` does with its arrays
local reduce = { divided = nil }
local Array = array.methods

-- ---- axes ----

local allowed = { axis = 'any', keep = 'boolean', type = 'string', compensated = 'boolean' }

-- Returns the axes that stay and those that are reduced, as lists, counted from 1.
local function split(shape, given, what)
    local axes, kept, reduced = {}, {}, {}
    if type(given) == 'number' then given = { given } end
    for _, axis in ipairs(given or {}) do axes[shapes.axis(shape, axis, what) + 1] = true end
    for k = 1, shape.rank do
        local list = (axes[k] or not given) and reduced or kept
        list[#list + 1] = k
    end
    return kept, reduced
end

local function shape_of(shape, axes)
    local sizes = {}
    for k, axis in ipairs(axes) do sizes[k] = shape[axis] end
    return shapes.of(sizes, #sizes)
end

-- Returns the shape in which reduced axes have one element.
local function kept_shape(shape, reduced)
    local sizes = { unpack(shape) }
    for _, axis in ipairs(reduced) do sizes[axis] = 1 end
    return shapes.of(sizes, #sizes)
end

-- ---- passes ----

-- Returns a text that differs if two lists of reductions differ.
local function key_of(reductions)
    local list = {}
    for k, one in ipairs(reductions) do list[k] = one.name .. ' ' .. one.type.name end
    return table.concat(list, ' ')
end

-- Whether elements of a shape are reduced as rows: see reduce_text.lua.
local function goes_by_rows(shape, kept, reduced)
    return kept[#kept] ~= shape.rank and shape_of(shape, reduced).count > order.run or #kept == 0
end

local part_of = { rows = order.block, columns = order.run, stacks = order.stack }

-- Reduces a node once: each reduction gives one value for each block of each result. Returns held
-- leaves, one for each reduction, of the shape { results, blocks } or, of columns, { blocks,
-- results }; the number of blocks; and whether they are rows, unless that is said.
local function pass(node, reductions, kept, reduced, is_row)
    local shape = node.shape
    local results, count = shape_of(shape, kept).count, shape_of(shape, reduced).count
    local is_said = is_row ~= nil
    if not is_said then is_row = goes_by_rows(shape, kept, reduced) end
    local scheme = is_row and 'rows' or not is_said
        and order.goes_by_stacks(node.device, reductions, results, count) and 'stacks' or 'columns'
    local blocks = math.ceil(count / part_of[scheme])
    local versions, leaves = {}, {}
    for k, reduction in ipairs(reductions) do
        versions[k] = memory.new(node.device, reduction.type, results * blocks)
    end
    evaluate.reduced(node, { reductions = reductions, key = key_of(reductions), scheme = scheme },
        { kept = kept, reduced = reduced, results = results, count = count, blocks = blocks },
        versions)
    local sizes = is_row and { results, blocks } or { blocks, results }
    for k, version in ipairs(versions) do
        leaves[k] = nodes.leaf(version, version.type, shapes.of(sizes, 2), 0, false)
        leaves[k].refs = 1
    end
    return leaves, blocks, is_row
end

-- Returns held leaves of the shape { results } that hold the reduced values of the blocks that a
-- pass has given.
local function of_blocks(leaves, reductions, all_blocks, all_rows)
    for k, leaf in ipairs(leaves) do
        local blocks, is_row = all_blocks, all_rows
        while blocks > 1 do
            local last, next_leaves = is_row and 2 or 1
            next_leaves, blocks, is_row = pass(leaf, { reductions[k] }, { 3 - last }, { last })
            nodes.release(leaf)
            leaf = next_leaves[1]
        end
        leaves[k] = leaf
    end
    return leaves
end

local function reduced_leaves(node, reductions, kept, reduced)
    local leaves, blocks, is_row = pass(node, reductions, kept, reduced)
    return of_blocks(leaves, reductions, blocks, is_row)
end

-- Returns the array of a shape that shows the memory of a held leaf, which is given up.
local function shown(leaf, shape)
    local made = array.of(nodes.leaf(leaf.version, leaf.type, shape, 0, false))
    nodes.release(leaf)
    return made
end

-- Returns the compensated sums of a node as an array of a shape: each pass adds the sums of blocks,
-- and apart from these what the additions left out.
local function compensated(node, type, kept, reduced, shape)
    local two = { { name = 'compensated', type = type }, { name = 'rest', type = type } }
    local one, rest = { { name = 'sum', type = type } }, nil
    local from, blocks, is_row = node
    repeat
        local leaves
        leaves, blocks, is_row = pass(from, two, kept, reduced)
        if from ~= node then nodes.release(from) end
        local last = is_row and 2 or 1
        kept, reduced, from = { 3 - last }, { last }, leaves[1]
        local left_out = shown(reduced_leaves(leaves[2], one, kept, reduced)[1], shape)
        nodes.release(leaves[2])
        rest = rest and rest + left_out or left_out
    until blocks == 1
    return shown(from, shape) + rest
end

-- The results of reductions of no elements.
local of_none = { sum = 0, product = 1, any = 0, all = 1 }

-- Returns the handles of reduced arrays, one for each reduction. node: held, and given up here;
-- options.keep: whether the reduced axes stay, with one element
local function reduced_arrays(what, node, reductions, options)
    local kept, reduced = split(node.shape, options.axis, what)
    local shape = options.keep and kept_shape(node.shape, reduced) or shape_of(node.shape, kept)
    local is_none, made = shape_of(node.shape, reduced).count == 0, {}
    if is_none or shape.count == 0 then
        for k, reduction in ipairs(reductions) do
            if is_none and (reduction.is_extreme or not of_none[reduction.name]) then
                errors.argument('%s: the shape is %s: there is no %s of no elements', what,
                    tostring(node.shape), reduction.name)
            end
            local value = of_none[reduction.name] or 0
            made[k] = array.of(array.filled(node.device, reduction.type, shape, value))
        end
        return array.drop(node, made)
    end
    if node.shares then return reduce.divided(what, node, reductions, options) end
    if options.compensated then
        made[1] = compensated(node, reductions[1].type, kept, reduced, shape)
        return array.drop(node, made)
    end
    for k, leaf in ipairs(reduced_leaves(node, reductions, kept, reduced)) do
        made[k] = shown(leaf, shape)
    end
    return array.drop(node, made)
end

reduce.split, reduce.shape_of, reduce.kept_shape = split, shape_of, kept_shape
reduce.goes_by_rows, reduce.pass, reduce.of_blocks, reduce.shown = goes_by_rows, pass, of_blocks,
    shown
reduce.arrays = reduced_arrays

local function reduced_array(what, node, name, type, options)
    return reduced_arrays(what, node, { { name = name, type = type } }, options)[1]
end

-- Returns the reduction that finds the least or the greatest elements of a type.
local function extreme_of(name, own)
    if own == types.bool then name = name == 'least' and 'all' or 'any' end
    return { name = name, type = own == types.half and types.float or own, is_extreme = true }
end

-- ---- sums ----

-- Returns the type that a sum is computed in, and that of its result.
local function sum_types(own, given)
    if given then
        local type = types.named(given, 'sum')
        return type, type
    end
    if own == types.half then return types.float, own end
    if own.kind < 2 then
        local wide = own.signed and types.int64 or types.uint64
        return wide, wide
    end
    return own, own
end

local function options_of(what, given)
    if type(given) == 'number' then given = { axis = given } end
    return errors.fields(what, given or {}, allowed)
end

local function added(self, what, name, given)
    local options = options_of(what, given)
    local node = array.hold(self, what)
    array.check_real(node, what)
    local type, result = sum_types(node.type, options.type)
    if options.compensated and (name ~= 'sum' or type.kind ~= 2) then
        errors.argument('%s: compensated is for sums of reals, not of %s', what, type.name)
    end
    return reduced_array(what, node, name, type, options):to(result.name)
end

-- Returns the sum of all elements, or along axes: a:sum(), a:sum { axis = 0 },
-- a:sum { axis = { 0, -1 }, keep = true, type = 'double' }. keep leaves the axes in
-- the shape, with one element. Whole numbers and truth values are added as int64 or
-- uint64, halves as floats; type says in which type else. compensated = true adds what each
-- addition rounds away, so that the sum is as exact as one of twice the digits, then rounded.
-- Of complex numbers the parts are added.
function Array:sum(options)
    local is_array = array.is(self) or array.divided.is(self)
    if not is_array or not array.node(self).type.complex then
        return added(self, 'sum', 'sum', options)
    end
    return Array.sum(self:real(), options):complex(Array.sum(self:imag(), options))
end

-- Returns the product of all elements, or along axes; see sum.
function Array:prod(options) return added(self, 'prod', 'product', options) end

local function count_of(self, options, what)
    local shape = array.node(self).shape
    local _, reduced = split(shape, options.axis, what)
    return shape_of(shape, reduced).count
end

-- Returns the mean of all elements, or along axes; see sum. That of whole numbers is
-- a float, computed in double where the device has doubles.
function Array:mean(options)
    options = options_of('mean', options)
    local type = array.node(self).type
    local count = count_of(self, options, 'mean')
    if type.kind < 2 and not options.type then
        local wide = array.node(self).device.info.has_double and 'double' or 'float'
        return (Array.sum(self, { axis = options.axis, keep = options.keep, type = wide }) / count)
            :to 'float'
    end
    if type == types.half and not options.type then
        return (Array.sum(self, { axis = options.axis, keep = options.keep, type = 'float' })
            / count):to 'half'
    end
    return Array.sum(self, options) / count
end

-- Returns the variance: the mean square of the distance from the mean, of all
-- elements or along axes. ddof: what is subtracted from the number of elements that
-- the sum is divided by (0)
function Array:var(options)
    options = type(options) == 'number' and { axis = options } or options or {}
    errors.fields('var', options, { axis = 'any', keep = 'boolean', ddof = 'number' })
    local mean = Array.mean(self, { axis = options.axis, keep = true })
    local distance = self - mean
    local count = count_of(self, options, 'var') - (options.ddof or 0)
    return Array.sum(distance * distance, { axis = options.axis, keep = options.keep }) / count
end

-- Returns the standard deviation, the root of var.
function Array:std(options) return Array.var(self, options):sqrt() end

-- Returns the root of the sum of squares, of all elements or along axes; see sum.
function Array:norm(options)
    options = options_of('norm', options)
    local square = array.node(self).type.complex and self:real() ^ 2 + self:imag() ^ 2
        or self * self
    return Array.sum(square, options):sqrt()
end

-- Returns the sum of the products of the elements of two arrays of one shape. options: compensated,
-- type; see sum
function Array:dot(other, options)
    return Array.sum(array.binary(operations['*'], self, other), options)
end

-- ---- extremes ----

local function extreme(self, what, name, given)
    local options = options_of(what, given)
    local node = array.hold(self, what)
    array.check_real(node, what)
    local own = node.type
    return reduced_arrays(what, node, { extreme_of(name, own) }, options)[1]:to(own.name)
end

-- Returns the least element, or the least along axes; NaN if one is NaN.
function Array:min(options) return extreme(self, 'min', 'least', options) end

-- Returns the greatest element, or the greatest along axes; NaN if one is NaN.
function Array:max(options) return extreme(self, 'max', 'greatest', options) end

-- Returns the numbers of the elements along an axis, the other axes being of one element; of a
-- divided array also those of all, where axis is nil.
local function numbers_along(node, axis)
    if not axis then return array.divided.numbers(node, node.shape) end
    local sizes = {}
    for k = 1, node.shape.rank do sizes[k] = k == axis + 1 and node.shape[k] or 1 end
    local shape = shapes.of(sizes, #sizes)
    if node.shares and axis == 0 then return array.divided.numbers(node, shape) end
    return array.of(nodes.numbers(node.device, types.int32, shape))
end

-- Returns the number of the first extreme element, of all or along one axis.
local function place(self, what, name, given)
    local options = options_of(what, given)
    if options.axis == nil and not array.divided.is(self) then
        self, options = Array.flatten(self), { axis = 0 }
    elseif options.axis ~= nil and type(options.axis) ~= 'number' then
        errors.argument('%s: axis must be one number', what)
    end
    local node = array.hold(self, what)
    local axis = options.axis and shapes.axis(node.shape, options.axis, what)
    local size = types.check(types.int32, axis and node.shape[axis + 1] or node.shape.count, what)
    local best = extreme(self, what, name, { axis = axis, keep = true })
    local numbers = numbers_along(node, axis)
    local is_best = self:eq(best)
    if node.type.kind == 2 then
        is_best = array.binary(operations.logical_or, is_best, self:isnan())
    end
    local found = array.where(is_best, numbers, size)
    return array.drop(node, found:min { axis = axis, keep = options.keep })
end

-- Returns the number, from 0, of the first of the least elements, as int32: of all
-- in their order, or along one axis: a:argmin { axis = 0 }.
function Array:argmin(options) return place(self, 'argmin', 'least', options) end

-- Returns the number, from 0, of the first of the greatest elements; see argmin.
function Array:argmax(options) return place(self, 'argmax', 'greatest', options) end

-- ---- several at once ----

local at_once = { sum = 'sum', mean = 'sum', prod = 'product', min = 'least', max = 'greatest' }

-- Returns the reduction of a reduction that a name stands for, and the type of its result.
local function reduction_of(name, own)
    local type, result = sum_types(own)
    if name == 'min' or name == 'max' then return extreme_of(at_once[name], own), own end
    if name == 'mean' and own.kind < 2 then
        type, result = types.double, types.float
    end
    return { name = at_once[name], type = type }, result
end

local most_at_once = 4        -- whose lanes fit in the local memory of a group

-- Returns several reductions of the same elements by one kernel, which reads them once: of
-- sum, mean, prod, min and max, at most four. Options: axis, keep; see sum.
--     local low, high, mean = a:reduce({ 'min', 'max', 'mean' }, { axis = 0 })
function Array:reduce(names, options)
    options = errors.fields('reduce', options or {}, { axis = 'any', keep = 'boolean' })
    errors.wanted('reduce', 'table', names)
    if #names < 1 or #names > most_at_once then
        errors.argument('reduce: %d reductions: one to %d are wanted', #names, most_at_once)
    end
    local own, reductions, results = array.node(self).type, {}, {}
    for k, name in ipairs(names) do
        if not at_once[name] then
            errors.argument("reduce: '%s' (allowed: max, mean, min, prod, sum)", tostring(name))
        end
        reductions[k], results[k] = reduction_of(name, own)
    end
    local node = array.hold(self, 'reduce')
    array.check_real(node, 'reduce')
    local count = count_of(self, options, 'reduce')
    local made = reduced_arrays('reduce', node, reductions, options)
    for k, name in ipairs(names) do
        if name == 'mean' then made[k] = made[k] / count end
        made[k] = made[k]:to(results[k].name)
    end
    return unpack(made)
end

-- ---- truth values ----

local function truths(self, what, name, given)
    local options = options_of(what, given)
    if array.node(self).type ~= types.bool then self = self:to 'bool' end
    return reduced_array(what, array.hold(self, what), name, types.bool, options)
end

-- Returns whether some element is true, or is not 0; of all, or along axes.
function Array:any(options) return truths(self, 'any', 'any', options) end

-- Returns whether all elements are true, or are not 0; of all, or along axes.
function Array:all(options) return truths(self, 'all', 'all', options) end

return reduce
