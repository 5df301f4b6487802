-- Reads elements of arrays, and converts arrays to other types and devices.

local array = require 'mare.ndarray.array'
local assign = require 'mare.ndarray.assign'
local bound = require 'bindings.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local transfer = {}
local Array = array.methods

-- Returns a leaf, held, whose elements lie one after another.
local function dense(handle, what)
    local leaf = array.shown(handle, what)
    if leaf.version and not leaf.strides then return leaf end
    return array.drop(leaf, evaluate.copied(leaf))
end

-- Returns the elements of an array in their order as a C array, their number, their
-- type and the shape.
function transfer.read(handle, what)
    local leaf = dense(handle, what)
    local data = bound.download(leaf.version.cell, leaf.type.name, leaf.offset, leaf.shape.count)
    return array.drop(leaf, data, leaf.shape.count, leaf.type, leaf.shape)
end

-- ---- elements as numbers ----

local function nested(data, read, shape, depth, at)
    local list = {}
    for k = 1, shape[depth] do
        if depth == shape.rank then
            list[k] = read(data[at])
            at = at + 1
        else
            list[k], at = nested(data, read, shape, depth + 1, at)
        end
    end
    return list, at
end

-- Returns the elements as nested Lua tables, which begin at 1: numbers, truth values
-- or LuaJIT's complex numbers. Waits until they are computed. An array without axes
-- gives its element.
function Array:totable()
    local data, _, type, shape = transfer.read(self, 'totable')
    local read = bound.reader(type.name)
    if shape.rank == 0 then return read(data[0]) end
    return (nested(data, read, shape, 1, 0))
end

-- Returns an element of a node by its number in its order, or in memory where it is a leaf with
-- strides.
local function element(node, place)
    if not (node.op or node.version) then
        local one = evaluate.copied(nodes.view_of_numbers(node, shapes.scalar,
            node.offset + place, false))
        return array.drop(one, (bound.element(one.version.cell, node.type.name, 0)))
    end
    if evaluate.showing(node, place) then return (bound.landed(node.device, node.type.name)) end
    return (bound.element(node.version.cell, node.type.name, node.offset + place))
end

-- Returns the only element, of an array that has one: a:sum():item().
function Array:item()
    local node = array.node(self)
    if node.shape.count ~= 1 then
        errors.argument('item: the shape is %s: an array of one element is wanted; :at(i, j) '
            .. 'reads one of many', tostring(node.shape))
    end
    node.refs = node.refs + 1
    local value = element(node, 0)
    nodes.release(node)
    return value
end

-- Returns the number of an element, as `element` takes it, from that of its row and the index along
-- axis k.
local function step(node, place, k, index)
    local shape, own = node.shape, node.strides
    index = shapes.index(shape, k, index)
    if own then return place + index * own[k] end
    return place * shape[k] + index
end

-- Returns the same from all indices, the first `most` entries of a list without its last nils.
local function place_of(leaf, list, most)
    local place, rank = 0, leaf.shape.rank
    while most > 0 and list[most] == nil do most = most - 1 end
    if most ~= rank then
        errors.argument('at: %d indices, the shape is %s', most, tostring(leaf.shape))
    end
    for k = 1, rank do place = step(leaf, place, k, list[k]) end
    return place
end

-- Returns the element at these indices, from 0, negative ones from the end. It waits
-- each time: :totable() and :data() read all at once.
function Array:at(i, j, k, ...)
    local leaf = array.hold(self, 'at')
    local place
    local rank = leaf.shape.rank
    if rank == 1 and i and not j and not k then
        place = step(leaf, 0, 1, i)
    elseif rank == 2 and j and not k then
        place = step(leaf, step(leaf, 0, 1, i), 2, j)
    else
        place = place_of(leaf, { i, j, k, ... }, 3 + select('#', ...))
    end
    local value = element(leaf, place)
    nodes.release(leaf)
    return value
end

-- Returns the elements in their order as a host array, x[0] to x[count - 1].
function Array:data()
    local data, count, type = transfer.read(self, 'data')
    local frozen, own = bound.frozen(type.name, count, 'array')
    for k = 0, count - 1 do own[k] = data[k] end
    return frozen
end

-- Returns whether the elements lie one after another in memory, so that :buffer() is that memory.
function Array:is_dense()
    local leaf = array.leaf(self, 'is_dense')
    return array.drop(leaf, not leaf.strides)
end

-- Returns the buffer with the elements in their order, for kernels of one's own. It is the
-- array's memory if they lie there in that order, else a copy. From now on the array keeps this
-- memory, whatever is assigned.
function Array:buffer()
    local leaf = array.leaf(self, 'buffer')
    if leaf.strides then leaf = array.drop(leaf, evaluate.copied(leaf)) end
    assign.keep_in_place(leaf.version)
    local buffer = bound.buffer(leaf.version.cell)
    if leaf.offset ~= 0 or leaf.shape.count ~= leaf.version.count then
        buffer = buffer:view(leaf.offset, leaf.shape.count)
    end
    return array.drop(leaf, buffer)
end

-- ---- other types and devices ----

local function on_device(handle, wanted)
    local data, _, type, shape = transfer.read(handle, 'to')
    return creation.uploaded(wanted, type, data, shape)
end

-- Returns the array as another type, or on another device:
--     a:to 'double'      a:to(mare.device.open 'cuda:1')
-- Reals become whole numbers by leaving out the fraction. Complex numbers do not
-- become reals: see mare.real and mare.abs.
function Array:to(wanted)
    if type(wanted) == 'table' then
        return on_device(self, array.device(wanted, 'to'))
    end
    local node = array.hold(self, 'to')
    local made = array.converted(node, types.named(wanted, 'to'))
    return array.drop(node, array.of(made))
end

for _, name in ipairs(types.names) do
    -- Returns the array as another type; see array:to.
    Array[name] = function(self) return Array.to(self, name) end
end

-- ---- several results by one kernel ----

local most_leaves = 24

-- Returns the group that a node may be computed with: one of its shape and device
-- with few enough arrays to read.
local function group_of(groups, node)
    for _, group in ipairs(groups) do
        local first, on = group[1], node.device
        if first.shape == node.shape and first.device == on
            and group.leaves + node.leaves <= most_leaves then
            return group
        end
    end
    groups[#groups + 1] = { leaves = 0 }
    return groups[#groups]
end

local function computed(...)
    local groups, seen = {}, {}
    for k = 1, select('#', ...) do
        local handle = (select(k, ...))
        local node = array.is(handle) and array.node(handle)
        if node and not node.version and not node.root and not seen[node] then
            local group = group_of(groups, node)
            group[#group + 1], group.leaves = node, group.leaves + node.leaves
            seen[node] = true
        end
    end
    for _, group in ipairs(groups) do evaluate.together(group) end
    return ...
end

-- Returns a function that calls f and computes all arrays that f returns, those of
-- one shape by one kernel:
--     local polar = mare.fuse(function(x, y) return mare.hypot(x, y), mare.atan2(y, x) end)
--     local r, phi = polar(x, y)
function transfer.fuse(f)
    errors.wanted('fuse', 'function', f)
    return function(...) return computed(f(...)) end
end

-- Returns the text of the kernel that computes this array, or that has computed it
-- if nothing is pending: a kernel that copies it.
function Array:source()
    local node = array.hold(self, 'source')
    return array.drop(node, evaluate.source(node))
end

return transfer
