-- Writing into arrays. Arrays that were made from an array before it is written, computed or
-- pending, keep its old values: see memory.lua.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local operations = require 'mare.expression.operations'
local shapes = require 'mare.expression.shapes'

local assign = {}
local Array = array.methods

-- Whether a pending node reads a version that is the one, or memory that others share if none is
-- given.
local function reads(node, version)
    for k = 1, 3 do
        local x = node[k]
        if x and type(x) ~= 'number' then
            local own = x.version
            if own and (own == version or not version and own.bytes == 0)
                or x.op and reads(x, version) then return true end
        end
    end
    return false
end

-- Computes all that is still to be computed from a version.
local function settle(version)
    if version.readers == 0 then return end
    for _, node in ipairs(bound.values()) do
        if node.op and reads(node, version) then evaluate.node(node) end
    end
end

assign.settle = settle

-- Computes a pending node now if it reads memory that others share, who may write there.
function assign.settle_shared(node)
    if node.op and reads(node) then evaluate.node(node) end
end

-- Prepares a version for others who write it: computes what is pending on it, and lets it stay
-- where it is from now on.
function assign.keep_in_place(version)
    settle(version)
    memory.stay(version)
end

-- Returns the node of a value, held, in the type of the target. what: the beginning of an
-- error message
function assign.source_of(leaf, value, what)
    local node
    if type(value) == 'number' or type(value) == 'boolean' then
        if type(value) == 'boolean' then value = value and 1 or 0 end
        node = array.filled(leaf.device, leaf.type, shapes.scalar, value, what)
        node.refs = 1
        return node
    end
    if type(value) == 'table' and not array.divided.is(value) then
        value = creation.new(value, { type = leaf.type.name, device = leaf.device })
    end
    node = array.hold(value, what)
    local here, there = leaf.device, node.device
    if here ~= there then
        errors.argument('%s: %s is on %s, the value on %s', what, tostring(leaf.shape), here.name,
            there.name)
    end
    if node.type.kind > leaf.type.kind then
        errors.argument('%s: %s values do not go into %s without saying so: :to %q converts',
            what, node.type.name, leaf.type.name, leaf.type.name)
    end
    local fresh = array.converted(node, leaf.type)
    fresh.refs = fresh.refs + 1
    nodes.release(node)
    return fresh
end

-- Whether a leaf shows all of its version, whose values may move to other memory.
local function is_whole(leaf)
    return not leaf.strides and leaf.offset == 0 and leaf.shape.count == leaf.version.count
        and leaf.version.bytes > 0
end

local function check_target(leaf, source)
    if leaf.is_copy then
        errors.argument('assign: a{ ... } of an array is a copy: a:assign(value, { where = mask }) '
            .. 'and a:put(indices, value) write; :copy() makes it an array of its own')
    end
    if not shapes.fits(source.shape, leaf.shape) then
        errors.argument('assign: %s cannot be repeated to %s', tostring(source.shape),
            tostring(leaf.shape))
    end
end

-- Writes a node into a new version of a leaf's array.
local function into_new(leaf, source)
    local version = memory.new(leaf.device, leaf.type, leaf.version.count)
    evaluate.into(source, leaf.shape, { version = version, offset = 0, strides = false })
    memory.move(leaf.version, version)
end

-- Writes a node into the memory that a leaf shows. Returns the node, or the copy that replaced it.
local function into_old(leaf, source)
    if leaf.version.readers > 0 or source.version == leaf.version then
        if source.op then
            evaluate.node(source)
        elseif source.version == leaf.version then
            local copy = evaluate.copied(source)
            nodes.release(source)
            source = copy
        end
        settle(leaf.version)
    end
    evaluate.into(source, leaf.shape, { version = leaf.version, offset = leaf.offset,
        strides = leaf.strides })
    return source
end

-- Writes the values of an expression or a table, repeated to this array's shape, or a number into
-- this array and all that show its memory; into some elements only with { where = mask }. Arrays
-- that were made from this one before keep the old values, whether they are computed or not.
-- Returns the array:
--     a { 0, {} }:assign(7)      a:assign(2 * a + b)      a:assign(0, { where = a:lt(0) })
function Array:assign(value, options)
    options = errors.fields('assign', options or {}, { where = 'any' })
    if options.where then value = array.where(options.where, value, self) end
    local leaf = array.leaf(self, 'assign')
    local source = assign.source_of(leaf, value, 'assign')
    check_target(leaf, source)
    local in_place = leaf.version.readers == 0 and source.version ~= leaf.version
    if in_place or not is_whole(leaf) then
        source = into_old(leaf, source)
    else
        into_new(leaf, source)
    end
    nodes.release(source)
    nodes.release(leaf)
    return self
end

-- Returns an array of the same values in memory of its own.
function Array:copy()
    local node = array.hold(self, 'copy')
    local copy = nodes.operation(operations.to[node.type], node.type, node.type, node.shape,
        node.device, node, false, false)
    return array.drop(node, array.of(copy))
end

-- Computes the array now. Returns it.
function Array:eval()
    nodes.release(array.leaf(self, 'eval'))
    return self
end

return assign
