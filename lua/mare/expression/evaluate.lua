-- Computes expressions: finds the structure of one, its kernel, and launches it.
--
-- Structures form a tree: from an operation it branches by the structures of the
-- operands, and these by the types of leaves and numbers. Leaves are numbered in the
-- order in which they occur, and one that occurs twice has one number. So an expression
-- is recognised without making a text or taking memory.

local bound = require 'bindings.array'
local host = require 'mare.expression.host'
local launches = require 'mare.expression.launches'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local order = require 'mare.expression.reduce_text'
local straight = require 'mare.expression.straight'
local strides = require 'mare.expression.strides'
local tables = require 'bindings.tables'
local tiles = require 'mare.expression.tiles'

local evaluate = {}

-- ---- the structure of an expression ----

local serial = 0                                -- the number of the last evaluation
local leaves, numbers = {}, {}                  -- what the present one reads
local leaf_count, number_count, operation_count = 0, 0, 0
local of_leaf, of_index, of_number, of_repeat = {}, {}, {}, {}

local step = tables.under

local function visit_leaf(x)
    if x.mark ~= serial then
        leaf_count = leaf_count + 1
        leaves[leaf_count] = x
        x.mark, x.index = serial, leaf_count
    end
    return step(step(x.version and of_leaf or of_index, x.type), x.index)
end

local function visit(x, computed_in)
    if type(x) == 'number' then
        number_count = number_count + 1
        numbers[number_count] = x
        return step(of_number, computed_in)
    end
    local op = x.op
    if not op then return visit_leaf(x) end
    if x.mark == serial then return step(of_repeat, x.index) end
    local a, b, c = x[1], x[2], x[3]
    local to = x.structure.computed_in
    local sig = step(op.sigs, visit(a, to))
    if b then sig = step(sig, visit(b, to)) end
    if c then sig = step(sig, visit(c, to)) end
    operation_count = operation_count + 1
    x.mark, x.index = serial, operation_count
    return sig
end

-- Forgets the leaves that the last evaluation has read, so that their memory can be freed.
local function forget()
    for k = 1, leaf_count do leaves[k] = false end
end

local function begin()
    serial = serial + 1
    leaf_count, number_count, operation_count = 0, 0, 0
end

-- ---- values that are used twice ----

local store_used

local function store_if_used(x, node, now)
    if type(x) == 'number' or not x.op or x.leaves == 0 or x.used == now then return end
    if x.used_by and x.used_by ~= node then
        evaluate.node(x)
    else
        x.used, x.used_by = now, node
        store_used(x, now)
    end
end

-- Computes each operation below a node that an earlier evaluation has computed
-- already for another one: what is used twice is stored, so that nothing is computed
-- a third time.
function store_used(node, now)
    local a, b, c = node[1], node[2], node[3]
    if a then store_if_used(a, node, now) end
    if b then store_if_used(b, node, now) end
    if c then store_if_used(c, node, now) end
end

-- ---- kernels and their arguments ----

local most_narrow = 2 ^ 31 - 2 ^ 12     -- elements; the last group goes on behind them, in 32 bits

-- Returns a mask with the bits of the leaves that are a single element, if all others have this
-- shape and lie one element after another; else nil.
local function flat_mask(shape)
    local mask, bit = 0, 1
    for k = 1, leaf_count do
        local leaf = leaves[k]
        if leaf.shape == shape then
            if leaf.strides or leaf.offset ~= 0 then return nil end
        elseif leaf.shape.count == 1 and leaf.offset == 0 and leaf.version then
            mask = mask + bit
        else
            return nil
        end
        bit = 2 * bit
    end
    return mask
end

local function set_arguments(kernel, outputs)
    local handle, at = kernel.handle, 0
    for k = 1, #outputs do
        launches.set_memory(kernel, at, outputs[k])
        at = at + 1
    end
    for k = 1, leaf_count do
        local version = leaves[k].version
        if version then
            launches.set_memory(kernel, at, version)
            at = at + 1
        end
    end
    for k = 1, number_count do
        bound.set_number(handle, at, numbers[k])
        at = at + 1
    end
end

-- Whether some element has a number that takes more than 32 bits.
local function is_wide(shape, outputs)
    if shape.count > most_narrow then return true end
    for k = 1, #outputs do
        if outputs[k].count > most_narrow then return true end
    end
    for k = 1, leaf_count do
        local version = leaves[k].version
        if version and version.count > most_narrow then return true end
    end
    return false
end

-- Returns the sizes of the axes, the last first, and for the outputs and each leaf
-- { offset, strides }. target: { offset, strides or false } of the outputs
local function layouts_of(shape, target)
    local lists = { target.strides or strides.dense(shape) }
    for k = 1, leaf_count do lists[k + 1] = strides.repeated(leaves[k], shape) end
    if target.strides then shape, lists = strides.ordered(shape, lists) end
    local sizes, found = strides.collapsed(shape, lists)
    for n, list in ipairs(found) do
        table.insert(list, 1, n == 1 and target.offset or leaves[n - 1].offset)
    end
    return sizes, found
end

local function run_strided(sig, roots, shape, device, target, outputs)
    local sizes, layouts = layouts_of(shape, target)
    local kernel = launches.strided(sig, roots, device, #sizes, is_wide(shape, outputs),
        tiles.of(device, sizes, layouts, leaves))
    set_arguments(kernel, outputs)
    launches.set_layout(kernel, sizes, layouts)
    return kernel
end

local function run_flat(sig, roots, shape, device, mask, outputs)
    local kernel = launches.flat(sig, roots, device, mask, shape.count > most_narrow)
    set_arguments(kernel, outputs)
    launches.set_count(kernel, shape.count)
    return kernel
end

local whole = { offset = 0, strides = false }
local last_kernel           -- that of the last expression, if it was flat

local large = 2 ^ 16        -- a launch keeps no memory if results are larger

-- Computes what was visited into the memory of outputs.
local function run(sig, roots, shape, device, target, outputs)
    if shape.count == 0 then return end
    last_kernel = nil
    local count = launches.run
    if host.takes(device) then
        host.run(sig, roots, shape, layouts_of, target, outputs, leaves, numbers)
        launches.run = count + 1
        return
    end
    local mask = target == whole and flat_mask(shape)
    local kernel = mask and run_flat(sig, roots, shape, device, mask, outputs)
        or run_strided(sig, roots, shape, device, target, outputs)
    launches.queue(kernel)
    if outputs[1].bytes > large or outputs[1].count > large then
        straight.let_go(kernel, device, kernel.numbers_at - 1)
    end
    last_kernel = mask and kernel
end

-- ---- evaluation ----

local one_root, one_output = {}, {}

-- Computes a pending node, which is held, in the general way.
local function compute(node, key)
    local structure, is_learnt = node.structure, node.op and node.structure.times > 0
    store_used(node, serial + 1)
    begin()
    local sig = visit(node)
    local version = memory.new(node.device, node.type, node.shape.count)
    one_root[1], one_output[1] = node, version
    run(sig, one_root, node.shape, node.device, whole, one_output)
    if key and last_kernel then straight.remember(structure, node.device, key, last_kernel) end
    if is_learnt and structure.straight == nil and not node.device.is_null then
        straight.learn(node)
    end
    if node.op then structure.times = structure.times + 1 end
    nodes.become(node, version)
    one_root[1], one_output[1] = false, false
    forget()
end

-- Stores numbers in memory that all who show them have from now on.
local function store_numbers(root)
    local copy = evaluate.copied(root)
    for node in pairs(root.shown_by) do
        if node.refs > 0 then nodes.show(node, copy.version) end
    end
    nodes.release(copy)
end

-- Computes a pending node; it is a leaf then. Returns it.
function evaluate.node(node)
    if node.version then return node end
    if node.root then
        store_numbers(node.root)
        return node
    end
    node.refs = node.refs + 1           -- its handle may be collected meanwhile
    local go, version, key = node.structure.straight
    if go and not bound.is_recording(node.device) then version, key = go(node) end
    if version then
        nodes.become(node, version)
    else
        launches.wanted = false
        compute(node, key)
    end
    nodes.release(node)
    return node
end

-- Computes a node as evaluate.node does. Returns whether the element of this number in it will also
-- be where bound.landed reads it: so it is if the node was pending and is computed by a kernel that
-- has been used before.
function evaluate.showing(node, place)
    if node.version or not node.structure.straight then
        evaluate.node(node)
        return false
    end
    launches.wanted, launches.has_shown = place, false
    evaluate.node(node)
    launches.wanted = false
    return launches.has_shown
end

-- Computes a node, pending or not, of this shape or repeated to it, into memory
-- that nothing reads: target is { version, offset, strides }.
function evaluate.into(node, shape, target)
    node.refs = node.refs + 1
    store_used(node, serial + 1)
    begin()
    local sig = visit(node)
    local is_whole = target.offset == 0 and not target.strides
        and target.version.count == shape.count
    run(sig, { node }, shape, node.device, is_whole and whole or target, { target.version })
    forget()
    nodes.release(node)
end

-- Returns a leaf with the values of a node in memory of its own, one after another. It is held.
function evaluate.copied(node)
    local copy = nodes.new_leaf(node.device, node.type, node.shape)
    evaluate.into(node, node.shape, { version = copy.version, offset = 0, strides = false })
    return copy
end

-- Returns the strides along some axes of a shape, one list for each leaf, and the
-- sizes, both merged.
local function axes_of(shape, axes)
    local sizes, lists = {}, {}
    for k, axis in ipairs(axes) do sizes[k] = shape[axis] end
    for k = 1, leaf_count do
        local all, own = strides.repeated(leaves[k], shape), {}
        for d, axis in ipairs(axes) do own[d] = all[axis] end
        lists[k] = own
    end
    sizes.rank = #axes
    return strides.collapsed(sizes, lists)
end

-- Returns whether all leaves of rows have neighbours along the only reduced axis; of columns, where
-- each leaf has neighbours or one element along the only axis that stays, a text with a 1 or a 0
-- for each. Processors take these as vectors.
local function neighbours(scheme, by_kept, by_reduced)
    local lists, text = scheme == 'rows' and by_reduced or by_kept, ''
    for k = 1, leaf_count do
        local by = lists[k][1]
        if #lists[k] ~= 1 or by ~= 1 and (scheme == 'rows' or by ~= 0) then return false end
        text = text .. by
    end
    return scheme == 'rows' or leaf_count > 0 and text
end

-- Reduces the values of a node, pending or not, into a version for each reduction: see
-- reduce.lua. desc: { reductions, key, scheme }; axes: { kept, reduced, results, count, blocks }
function evaluate.reduced(node, desc, axes, outputs)
    node.refs = node.refs + 1
    store_used(node, serial + 1)
    begin()
    local sig, device = visit(node), node.device
    local kept, by_kept = axes_of(node.shape, axes.kept)
    local reduced, by_reduced = axes_of(node.shape, axes.reduced)
    desc.is_unit = order.by_items(device) and neighbours(desc.scheme, by_kept, by_reduced)
    for k = 1, leaf_count do
        local list = { leaves[k].offset, unpack(by_kept[k]) }
        for _, stride in ipairs(by_reduced[k]) do list[#list + 1] = stride end
        by_kept[k] = list
    end
    desc.kept, desc.reduced, desc.is_wide = #kept, #reduced, is_wide(node.shape, outputs)
    local layout = { kept = kept, reduced = reduced, leaves = by_kept }
    if host.takes(device) then
        launches.run = launches.run + 1
        host.reduce(sig, { node }, desc, axes, layout, outputs, leaves, numbers)
    else
        local kernel = launches.reduction(sig, { node }, device, desc)
        set_arguments(kernel, outputs)
        launches.set_reduction(kernel, axes, layout)
        launches.queue(kernel)
        if outputs[1].bytes > large or node.shape.count > large then
            straight.let_go(kernel, device, kernel.numbers_at - 1)
        end
    end
    forget()
    nodes.release(node)
end

local several = {}      -- structures of several results, by those of the first and the next

-- Computes several pending nodes of one shape on one device by one kernel.
function evaluate.together(list)
    for _, node in ipairs(list) do node.refs = node.refs + 1 end
    local now = serial + 1
    for _, node in ipairs(list) do store_used(node, now) end
    begin()
    local sig, outputs, shape = several, {}, list[1].shape
    for k, node in ipairs(list) do
        sig = step(sig, visit(node))
        outputs[k] = memory.new(node.device, node.type, shape.count)
    end
    run(sig, list, shape, list[1].device, whole, outputs)
    for k, node in ipairs(list) do nodes.become(node, outputs[k]) end
    forget()
    for _, node in ipairs(list) do nodes.release(node) end
end

-- Returns the text of the kernel that computes a node.
function evaluate.source(node)
    begin()
    visit(node)
    local mask = flat_mask(node.shape)
    local desc = { is_wide = node.shape.count > most_narrow, ones = {} }
    if not mask then
        local sizes, layouts = layouts_of(node.shape, whole)
        desc.rank, desc.tile = #sizes, tiles.of(node.device, sizes, layouts, leaves)
    end
    for k = 1, leaf_count do
        desc.ones[k] = mask and math.floor(mask / 2 ^ (k - 1)) % 2 == 1 or nil
    end
    forget()
    return (launches.source({ node }, node.device, desc))
end

return evaluate
