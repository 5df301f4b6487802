-- Complex numbers of halves. No array has them as elements: an array of halves shows them, whose
-- last axis has two numbers, the real and the imaginary part. Plans, and the kernels of
-- transforms, go over leaves of a type of their own, which show the memory of such arrays.

local bound = require 'bindings.array'
local evaluate = require 'mare.expression.evaluate'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local halves = {}

halves.type = { name = 'complex_half', kind = 3, bits = 16, size = 4, stored = 'mr_half',
    computed = 'float', complex = true, signed = true, structure = {} }

local function leaf_of(version, type, shape, offset)
    local leaf = nodes.leaf(version, type, shape, offset, false)
    leaf.refs = 1
    return leaf
end

-- Returns the shape of the halves that show complex numbers of a shape.
function halves.shape(shape)
    local sizes = { unpack(shape) }
    sizes[shape.rank + 1] = 2
    return shapes.of(sizes, shape.rank + 1)
end

-- Whether each two halves of a leaf are a word in memory, as kernels read and write them.
function halves.are_words(leaf)
    return not leaf.strides and leaf.offset % 2 == 0 and bound.is_aligned(leaf.version.cell, 4)
end

-- Returns a leaf with the complex numbers that a leaf of halves shows, which it gives up.
function halves.packed(leaf)
    if not halves.are_words(leaf) then
        local copy = evaluate.copied(leaf)
        nodes.release(leaf)
        leaf = copy
    end
    local shape = leaf.shape
    local packed = leaf_of(leaf.version, halves.type,
        shapes.of({ unpack(shape, 1, shape.rank - 1) }, shape.rank - 1), leaf.offset / 2)
    nodes.release(leaf)
    return packed
end

-- Returns a leaf of halves that shows the complex numbers of a leaf, which it gives up.
function halves.unpacked(leaf)
    local shown = leaf_of(leaf.version, types.half, halves.shape(leaf.shape), 2 * leaf.offset)
    nodes.release(leaf)
    return shown
end

-- Returns a leaf with new memory.
function halves.new_leaf(device, shape)
    return halves.packed(nodes.new_leaf(device, types.half, halves.shape(shape)))
end

-- Returns the type of that name for plans. what: the beginning of messages
function halves.named(name, what)
    return name == 'complex_half' and halves.type or types.named(name, what)
end

return halves
