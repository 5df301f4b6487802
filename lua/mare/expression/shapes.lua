-- Shapes: { 3, 4, rank = 2, count = 12 }. Equal shapes are one table, so that to
-- compare two of them is to compare two references. They are kept in a tree with
-- weak leaves, so that a script may have any number of them.

local errors = require 'bindings.errors'

local shapes = {}

local weak = { __mode = 'v' }

-- A node of the tree has the shape that ends there, and the nodes by the next size.
local function new_node() return { next = setmetatable({}, weak) } end
local root = new_node()

-- A shape keeps the node that leads to it, and a node the one before it.
local function child(node, size)
    local found = node.next[size]
    if not found then
        found = new_node()
        found.back = node
        node.next[size] = found
    end
    return found
end

local Shape = {}
Shape.__index = Shape

function Shape.__tostring(shape)
    return shape[1] and '{ ' .. table.concat(shape, ', ') .. ' }' or '{}'
end

-- Returns the shape of the sizes list[1] to list[rank], which are whole numbers
-- from 0 on.
function shapes.of(list, rank)
    local node, count = root, 1
    for k = 1, rank do
        node = child(node, list[k])
        count = count * list[k]
    end
    local shape = node.shape and node.shape[1]
    if not shape then
        shape = setmetatable({ rank = rank, count = count, node = node,
            wide = setmetatable({}, { __mode = 'kv' }) }, Shape)
        for k = 1, rank do shape[k] = list[k] end
        if count >= 2 ^ 53 then
            errors.argument('shape %s: less than 2^53 elements are wanted', tostring(shape))
        end
        node.shape = setmetatable({ shape }, weak)
    end
    return shape
end

shapes.scalar = shapes.of({}, 0)

local one = {}

-- Returns the shape of one axis.
function shapes.line(count)
    one[1] = count
    return shapes.of(one, 1)
end

-- Returns the shape that a caller has written: a number or a list of numbers, or
-- several arguments.
function shapes.given(what, ...)
    local list = ...
    if type(list) ~= 'table' then list = { ... } end
    for k = 1, #list do
        local size = list[k]
        if type(size) ~= 'number' or size % 1 ~= 0 or size < 0 or size >= 2 ^ 53 then
            errors.argument('%s: size %s of axis %d, a whole number from 0 on is wanted', what,
                tostring(size), k - 1)
        end
    end
    return shapes.of(list, #list)
end

local copies = { __tostring = Shape.__tostring }

-- Returns the sizes as a table of its own.
function shapes.copy(shape)
    local list = {}
    for k = 1, shape.rank do list[k] = shape[k] end
    return setmetatable(list, copies)
end

-- ---- broadcasting ----

local function broadcast(a, b)
    local list, rank = {}, math.max(a.rank, b.rank)
    for k = 0, rank - 1 do
        local m, n = a[a.rank - k] or 1, b[b.rank - k] or 1
        if m ~= n and m ~= 1 and n ~= 1 then return nil end
        list[rank - k] = m == 1 and n or m
    end
    return shapes.of(list, rank)
end

-- Returns the shape that both are repeated to, as NumPy does it: sizes are
-- compared from the last axis on, and 1 is repeated. Returns nil if they do not
-- fit.
function shapes.common(a, b)
    if a == b then return a end
    local found = a.wide[b]
    if found == nil then
        found = broadcast(a, b)
        a.wide[b] = found
    end
    return found
end

-- Whether an array of shape a can be repeated to shape b.
function shapes.fits(a, b)
    return shapes.common(a, b) == b
end

local function is_outside(at, count)
    return type(at) ~= 'number' or at % 1 ~= 0 or at < -count or at >= count
end

local function no_place(what, at, count, shape)
    if count == 0 then
        errors.argument('%s, the shape is %s: there is none', what:format(tostring(at)),
            tostring(shape))
    end
    errors.argument('%s, the shape is %s: %d to %d are allowed', what:format(tostring(at)),
        tostring(shape), -count, count - 1)
end

-- Returns the number of an axis, from 0. what: the beginning of an error message
function shapes.axis(shape, axis, what)
    local count = shape.rank
    if is_outside(axis, count) then no_place(what .. ': axis %s', axis, count, shape) end
    return axis < 0 and axis + count or axis
end

-- Returns the number of an element along axis k, from 1.
function shapes.index(shape, k, at)
    local count = shape[k]
    if is_outside(at, count) then no_place('index %s of axis ' .. k - 1, at, count, shape) end
    return at < 0 and at + count or at
end

return shapes
