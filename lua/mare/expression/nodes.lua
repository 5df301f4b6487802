-- The nodes of expressions. A node is a leaf, which shows memory, or a pending
-- operation, which becomes a leaf when it is computed:
--
--     { op           of operations.lua; false of a leaf
--       shape, type, device
--       [1], [2], [3]  of an operation: its operands, nodes or numbers
--       size         nodes of the expression; leaves: those that show memory
--       version      of a leaf: of memory.lua; false of the leaf whose elements are
--                    their numbers 0, 1, 2, ...
--       offset       of a leaf: its first element in the version
--       strides      of a leaf: elements from one to the next along each axis, or
--                    false if they lie one after another in memory that is not odd
--       structure    of straight.lua; its computed_in is the type that the operands
--                    of an operation are converted to
--       refs         handles and operations that hold it
--       held }       operations that hold it
--
-- Nodes count their references themselves, because the collector of Lua sees a few
-- hundred bytes where a node holds gigabytes of a device.

local memory = require 'mare.expression.memory'
local layouts = require 'mare.expression.strides'

local nodes = {}

-- Returns a leaf that shows a version.
function nodes.leaf(version, type, shape, offset, strides)
    version.refs = version.refs + 1
    if version.is_odd then strides = strides or layouts.dense(shape) end
    return { op = false, shape = shape, type = type, device = version.device, size = 1, leaves = 1,
        version = version, offset = offset, strides = strides, refs = 0, held = 0, mark = 0,
        index = 0, used = 0, used_by = false, structure = type.structure }
end

-- Returns a leaf that shows new memory, and is held.
function nodes.new_leaf(device, type, shape)
    local leaf = nodes.leaf(memory.new(device, type, shape.count), type, shape, 0, false)
    leaf.refs = 1
    return leaf
end

-- Returns a leaf whose elements are their numbers; it takes no memory.
function nodes.numbers(device, type, shape)
    return { op = false, shape = shape, type = type, device = device, size = 1, leaves = 0,
        version = false, offset = 0, strides = false, refs = 0, held = 0, mark = 0, index = 0,
        used = 0, used_by = false, structure = type.structure_of_numbers, root = false }
end

local weak = { __mode = 'k' }

-- Returns a leaf that shows numbers, as a view shows memory: they take memory together, once one
-- of them must. The root, which shows all, knows those that do, itself too.
function nodes.view_of_numbers(leaf, shape, offset, strides)
    local root, fresh = leaf.root or leaf, nodes.numbers(leaf.device, leaf.type, shape)
    if not root.root then root.root, root.shown_by = root, setmetatable({ [root] = true }, weak) end
    root.shown_by[fresh] = true
    fresh.root, fresh.offset, fresh.strides = root, offset, strides
    return fresh
end

local function hold(x)
    x.refs, x.held = x.refs + 1, x.held + 1
    local version = x.version
    if version then version.readers = version.readers + 1 end
end

-- Makes an operation hold an operand.
local function take(node, x)
    if type(x) == 'number' then return end
    hold(x)
    node.size, node.leaves = node.size + x.size, node.leaves + x.leaves
end

-- Returns the structure after another one: see straight.lua.
local function step(from, x, computed_in)
    local key = type(x) == 'number' and computed_in or x.structure
    local found = from[key]
    if not found then
        found = { times = 0 }
        from[key] = found
    end
    return found
end

local function structure_of(op, computed_in, x, y, z)
    local structure = op.structures
    if x then structure = step(structure, x, computed_in) end
    if y then structure = step(structure, y, computed_in) end
    if z then structure = step(structure, z, computed_in) end
    structure.computed_in = computed_in
    return structure
end

-- Whether no operand of an operation was computed since it was made, nor any below.
function nodes.is_fresh(node)
    if not node.op then return true end
    for k = 1, 3 do
        local x = node[k]
        if x and type(x) ~= 'number' and not nodes.is_fresh(x) then return false end
    end
    local structure = node.structure
    return structure_of(node.op, structure.computed_in, node[1], node[2], node[3]) == structure
end

-- Returns a pending operation. x, y, z: its operands, false where it has none
function nodes.operation(op, type, computed_in, shape, device, x, y, z)
    local node = { x, y, z, op = op, shape = shape, type = type, device = device,
        size = 1, leaves = 0, version = false, offset = 0,
        strides = false, refs = 0, held = 0, mark = 0, index = 0, used = 0, used_by = false,
        structure = structure_of(op, computed_in, x, y, z) }
    if x then take(node, x) end
    if y then take(node, y) end
    if z then take(node, z) end
    return node
end

local free

-- Gives up a reference to a node. Only `free` calls itself: a loop that calls what recurses is
-- not compiled in one piece.
function nodes.release(node)
    local refs = node.refs - 1
    node.refs = refs
    if refs <= 0 then free(node) end
end

local function let_go(x)
    if type(x) == 'number' then return end
    local version, refs = x.version, x.refs - 1
    x.held, x.refs = x.held - 1, refs
    if version then version.readers = version.readers - 1 end
    if refs <= 0 then free(x) end
end

-- Lets an operation forget its operands.
local function forget(node)
    local x, y, z = node[1], node[2], node[3]
    node[1], node[2], node[3] = false, false, false
    if x then let_go(x) end
    if y then let_go(y) end
    if z then let_go(z) end
end

-- Lets go of what a node that nobody holds has held.
function free(node)
    if node.version then
        memory.release(node.version)
        node.version = false
    elseif node.op then
        forget(node)
    end
end

-- Makes a leaf of numbers that of a version which holds them where the leaf shows them. Operations
-- that hold it are readers of the version from now on.
function nodes.show(node, version)
    node.version, node.size, node.leaves, node.structure = version, 1, 1, node.type.structure
    version.refs = version.refs + 1
    version.readers = version.readers + node.held
end

-- Makes a computed operation the leaf of a version that holds its values.
function nodes.become(node, version)
    forget(node)
    node.op, node.offset, node.strides = false, 0, false
    nodes.show(node, version)
end

return nodes
