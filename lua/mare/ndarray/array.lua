-- Arrays. The files of this room add the methods of handles to the table `methods`. This one has
-- what they all use: the node behind a handle, and operations on handles and numbers.
--
-- What every operation runs has no tail calls, varargs and recursion: LuaJIT compiles no loop
-- with more than 15 tail calls and none that it enters in the middle of a function with `...`.
-- `return (f(x))` is no tail call.

local bound = require 'bindings.array'
local device = require 'bindings.device'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local operations = require 'mare.expression.operations'
local own_device = require 'mare.ranks.own_device'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local array = { methods = {}, is = bound.is }

-- What the room `divided/` does with its arrays, which are tables: operation(op, a, b, c), and
-- node(array), which has `shares` and stands for their nodes.
array.divided = { is = function() return false end }

-- ---- handles and nodes ----

-- Returns a new handle of a node.
function array.of(node)
    node.refs = node.refs + 1
    return (bound.new(node))
end

-- Returns a new array that shows all of a version.
function array.of_version(version, shape)
    return array.of(nodes.leaf(version, version.type, shape, 0, false))
end

-- Gives a handle a leaf that is like its own but shows the newest version. Returns it.
local function renewed(handle, leaf)
    local fresh = nodes.leaf(memory.newest(leaf.version), leaf.type, leaf.shape, leaf.offset,
        leaf.strides)
    fresh.refs = 1
    bound.replace(handle, fresh)
    nodes.release(leaf)
    return fresh
end

local function no_array(given)
    errors.argument('an array is wanted, not %s; methods are called with a colon: a:sum()',
        type(given))
end

-- Returns the node of a handle.
function array.node(handle)
    if not bound.is(handle) then
        if array.divided.is(handle) then return (array.divided.node(handle)) end
        no_array(handle)
    end
    local node = bound.value(handle)
    local version = node.version
    if version and version.moved then return renewed(handle, node) end
    return node
end

-- Returns the node of a handle and holds it: nothing else does once the handle is
-- used for the last time, and then any call that takes memory may collect it. An
-- error between hold and drop leaves it to the collector.
local function hold(handle)
    local node = array.node(handle)
    node.refs = node.refs + 1
    return node
end

-- Returns the node of an array, which array.drop gives up. what: the beginning of
-- an error message
function array.hold(handle, what)
    if not bound.is(handle) and not array.divided.is(handle) then
        errors.argument('%s: an array is wanted, not %s', what, type(handle))
    end
    return (hold(handle))
end

-- Raises an error if an array is divided, of which a function has no kernel.
function array.check_whole(handle, what)
    if array.divided.is(handle) then
        errors.argument('%s: not for divided arrays: :gather() makes one array, a:each(f) calls f '
            .. 'for the rows of each device', what)
    end
end

-- Returns the same node, computed.
function array.leaf(handle, what)
    array.check_whole(handle, what)
    return (evaluate.node(array.hold(handle, what)))
end

-- Returns the node of an array, held, which is a leaf: memory or numbers.
function array.shown(handle, what)
    array.check_whole(handle, what)
    local node = array.hold(handle, what)
    return node.op and evaluate.node(node) or node
end

-- Raises an error if the elements of a node are complex numbers.
function array.check_real(node, what)
    if node.type.complex then
        errors.argument('%s of %s: it is for reals: see a:real(), a:imag() and a:abs()', what,
            node.type.name)
    end
end

-- Gives up a node and returns the rest.
function array.drop(node, ...)
    nodes.release(node)
    return ...
end

-- ---- the device of what is made of nothing ----

local default

local function is_open(d) return d and rawget(d, 'handle') ~= nil end

-- Returns a device by its name, the same one while it is in use, so that arrays for which it is
-- named go together.
local function named(name)
    local found = device.shared(name)
    return is_open(default) and default.name == found.name and default or found
end

-- Returns the device that is given; where none is, that of MARE_DEVICE, else 'auto', which each
-- rank of a machine takes another GPU for; the one that is open, so that arrays go together with
-- those of simulations and of mare.divide.
function array.device(given, what)
    if type(given) == 'string' then return named(given) end
    if given ~= nil then
        if type(given) == 'table' and given.info then return given end
        errors.argument('%s: device must be a name or a device, not %s', what, type(given))
    end
    if not is_open(default) then default = device.shared(own_device()[1]) end
    return default
end

-- ---- operations ----

local function describe(x)
    if type(x) == 'number' then return ('%.14g'):format(x) end
    return ('%s %s'):format(x.type.name, tostring(x.shape))
end

-- Returns an operation as messages name it, such as "'+' of int32 { 3, 4 } and float { 5 }".
local function described(op, x, y, z)
    local list = { describe(x) }
    if y then list[2] = describe(y) end
    if z then list[3] = describe(z) end
    return ("'%s' of %s"):format(op.name, table.concat(list, ' and '))
end

local function no_type(op, x, y, z)
    errors.argument('%s: %s', described(op, x, y, z), op.domain
        and "it is for " .. op.domain .. ': convert one, as by :float()')
end

local function no_shape(op, x, y, z)
    errors.argument('%s: the shapes do not fit: sizes are compared from the last axis on, and '
        .. 'must be equal or 1', described(op, x, y, z))
end

local function two_devices(op, a, b)
    errors.argument("'%s': one array is on %s, the other on %s: :to(device) copies", op.name,
        a.device.name, b.device.name)
end

-- Returns the node of an operand, held, or a number.
local function operand(x, op)
    if bound.is(x) then return (hold(x)) end
    if type(x) == 'number' then return x end
    if type(x) == 'boolean' then return x and 1 or 0 end
    errors.argument("'%s': an array or a number is wanted, not %s", op.name, type(x))
end

local most_nodes, most_leaves = 64, 24

-- Computes operands until an operation of them is small enough for a kernel.
local function limit(x, y, z)
    local function size(n) return type(n) == 'table' and n.size or 0 end
    local function count(n) return type(n) == 'table' and n.leaves or 0 end
    while size(x) + size(y) + size(z) >= most_nodes
        or count(x) + count(y) + count(z) > most_leaves do
        local largest = x
        if size(y) > size(largest) then largest = y end
        if size(z) > size(largest) then largest = z end
        evaluate.node(largest)
    end
end

-- Returns the node of an operation on one operand.
local function unary(op, x)
    local result, computed_in = op.rule(x.type)
    if not result then no_type(op, x) end
    if x.size >= most_nodes then limit(x) end
    return (nodes.operation(op, result, computed_in, x.shape, x.device, x, false, false))
end

local function binary_with_number(op, x, y)
    local node, value = x, y
    if type(x) == 'number' then node, value = y, x end
    local own = types.with_number(node.type, value)
    local result, computed_in = op.rule(own, own)
    if not result then no_type(op, x, y) end
    types.check(computed_in, value, op.name)
    if node.size >= most_nodes then limit(node) end
    return (nodes.operation(op, result, computed_in, node.shape, node.device, x, y, false))
end

local function binary(op, x, y)
    if type(x) == 'number' or type(y) == 'number' then return (binary_with_number(op, x, y)) end
    local result, computed_in = op.rule(x.type, y.type)
    if not result then no_type(op, x, y) end
    local shape = shapes.common(x.shape, y.shape)
    if not shape then no_shape(op, x, y) end
    local here, there = x.device, y.device
    if here ~= there then two_devices(op, x, y) end
    if x.size + y.size >= most_nodes or x.leaves + y.leaves > most_leaves then limit(x, y) end
    return (nodes.operation(op, result, computed_in, shape, here, x, y, false))
end

-- Returns the same of operands of which one is a table: divided arrays, or an error.
local function of_tables(op, a, b)
    if not array.divided.is(a) and not array.divided.is(b) then
        operand(a, op)
        operand(b, op)
    end
    return (array.divided.operation(op, a, b))
end

-- Returns the handle of an operation on handles and numbers, at least one of which
-- is an array.
function array.unary(op, a)
    if type(a) == 'table' and array.divided.is(a) then
        return (array.divided.operation(op, a))
    end
    local x = operand(a, op)
    if type(x) == 'number' then
        errors.argument("'%s': an array is wanted, not %s", op.name, type(a))
    end
    local node = unary(op, x)
    x.refs = x.refs - 1
    return (array.of(node))
end

function array.binary(op, a, b)
    if type(a) == 'table' or type(b) == 'table' then return (of_tables(op, a, b)) end
    local x, y = operand(a, op), operand(b, op)
    if type(x) == 'number' and type(y) == 'number' then
        errors.argument("'%s': one operand must be an array", op.name)
    end
    local node = binary(op, x, y)
    if type(x) ~= 'number' then x.refs = x.refs - 1 end
    if type(y) ~= 'number' then y.refs = y.refs - 1 end
    return (array.of(node))
end

local where = operations.where

local function type_of(x, y)
    if type(x) == 'table' then return x.type end
    return type(y) == 'table' and types.with_number(y.type, x) or types.float
end

-- Returns the elements of yes where the condition holds, otherwise those of no.
function array.where(condition, yes, no)
    if array.divided.is(condition) or array.divided.is(yes) or array.divided.is(no) then
        return array.divided.operation(where, condition, yes, no)
    end
    local c, x, y = operand(condition, where), operand(yes, where), operand(no, where)
    if type(c) == 'number' then
        errors.argument "'where': the condition must be an array of truth values"
    end
    local result, computed_in = where.rule(c.type, type_of(x, y), type_of(y, x))
    if not result then no_type(where, c, x, y) end
    local shape, here = c.shape, c.device
    for _, n in ipairs { x, y } do
        if type(n) == 'number' then
            types.check(computed_in, n, 'where')
        else
            local there = n.device
            if here ~= there then two_devices(where, c, n) end
            shape = shapes.common(shape, n.shape) or no_shape(where, c, x, y)
        end
    end
    limit(c, x, y)
    local node = nodes.operation(where, result, computed_in, shape, here, c, x, y)
    for _, n in ipairs { c, x, y } do
        if type(n) ~= 'number' then n.refs = n.refs - 1 end
    end
    return array.of(node)
end

-- Returns a node converted to a type.
function array.converted(node, type)
    if node.type == type then return node end
    local op = operations.to[type]
    local result, computed_in = op.rule(node.type)
    if not result then no_type(op, node) end
    return nodes.operation(op, result, computed_in, node.shape, node.device, node, false, false)
end

-- Returns a node of a shape all of whose elements are a number. what: the beginning
-- of an error message
function array.filled(on, type, shape, value, what)
    types.check(type, value, what)
    return nodes.operation(operations.fill[type], type, type, shape, on, value, false, false)
end

return array
