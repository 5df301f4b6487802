-- Reductions of divided arrays, in the order of reduce_text.lua: each share reduces the blocks of
-- elements that lie in it, elements of blocks that lie in several shares are brought together, and
-- what the blocks give is reduced on one device, on each rank.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local handles = require 'mare.divided.handles'
local memory = require 'mare.expression.memory'
local order = require 'mare.expression.reduce_text'
local reduce = require 'mare.ndarray.reduce'
local shapes = require 'mare.expression.shapes'

-- A plan of a reduction along the first axis: { reductions, kept, reduced, in_blocks: whether in
-- blocks of 16384, the scheme 'rows' of reduce_text.lua, or else in its runs of 64, also called
-- blocks here; block: elements of one; inner: numbers along the reduced axes that a row has; leads:
-- whether the reduced axes are the first ones; sizes: of the axes that stay }

local function plan_of(node, reductions, kept, reduced)
    local sizes = {}
    for k, axis in ipairs(kept) do sizes[k] = node.shape[axis] end
    local in_blocks = reduce.goes_by_rows(node.shape, kept, reduced)
    return { reductions = reductions, kept = kept, reduced = reduced, in_blocks = in_blocks,
        block = in_blocks and order.block or order.run, sizes = sizes,
        leads = reduced[#reduced] == #reduced, count = reduce.shape_of(node.shape, reduced).count,
        inner = reduce.shape_of(node.shape, reduced).count / node.shape[1] }
end

-- Returns where a share begins and ends among the numbers along the reduced axes, and the whole
-- blocks in between: low, high, first, stop, where those without a block have stop <= first.
local function range_of(plan, rows)
    local low, high, block = rows[1] * plan.inner, rows[2] * plan.inner, plan.block
    local first = math.ceil(low / block) * block
    local stop = high == plan.count and high or math.floor(high / block) * block
    return low, high, math.min(first, high), math.max(stop, math.min(first, high))
end

-- Returns arrays of the values of blocks of a held node, which is given up, one of each reduction.
local function passed(plan, node, kept, reduced)
    local leaves = reduce.pass(node, plan.reductions, kept, reduced, plan.in_blocks)
    local made = {}
    for k, leaf in ipairs(leaves) do made[k] = reduce.shown(leaf, leaf.shape) end
    return array.drop(node, made)
end

local function axes_behind_first(plan)
    local kept = {}
    for k = 1, #plan.kept do kept[k] = k + 1 end
    return kept
end

-- Returns the values of the blocks of elements that lie one after another along the first axis.
local function of_elements(plan, elements)
    return passed(plan, array.hold(elements, 'sum'), axes_behind_first(plan), { 1 })
end

-- Returns the elements of a share, their numbers along the first axis.
local function flat(plan, share)
    if #plan.kept == 0 then return share.array:flatten() end
    return share.array:reshape(-1, unpack(plan.sizes))
end

local function refuse(what, plan)
    errors.argument('%s: a block of %d elements would lie on two devices, along axes that do not '
        .. 'follow each other: reduce one axis after the other, or :gather()', what, plan.block)
end

-- Returns what a share gives: arrays `blocks` of the blocks from `first` on, and the elements
-- before and behind them, where there are some.
local function given_by(what, plan, share)
    local low, high, first, stop = range_of(plan, share.rows)
    if first == low and stop == high then
        return { blocks = passed(plan, array.hold(share.array, what), plan.kept, plan.reduced) }
    end
    if not plan.leads then refuse(what, plan) end
    local all, given = flat(plan, share), {}
    if stop > first then
        given.blocks = of_elements(plan, all { { first - low, stop - low } })
    end
    if first > low then given.head = all { { 0, first - low } }:copy() end
    if high > stop then given.tail = all { { stop - low, high - low } }:copy() end
    return given
end

-- ---- together ----

local function joined(list, axis)
    if #list == 1 then return list[1] end
    local first, total = array.node(list[1]), 0
    for _, one in ipairs(list) do total = total + array.node(one).shape[axis] end
    local sizes = { unpack(first.shape) }
    sizes[axis] = total
    local shape = shapes.of(sizes, #sizes)
    local all = array.of_version(memory.new(first.device, first.type, shape.count), shape)
    local at = 0
    for _, one in ipairs(list) do
        local size, places = array.node(one).shape[axis], {}
        for k = 1, #sizes do places[k] = {} end
        places[axis] = { at, at + size }
        all(places):assign(one)
        at = at + size
    end
    return all
end

-- Collects on this rank, in order, the values of all blocks of each reduction. Elements of a block
-- that lies in several shares are kept until it is complete.
local function collector(plan, group)
    local self = { values = {}, waiting = {}, number = 0 }
    for k in ipairs(plan.reductions) do self.values[k] = {} end
    local function add(blocks)
        for k, one in ipairs(blocks) do table.insert(self.values[k], one) end
    end
    function self.elements(index, own, count)
        table.insert(self.waiting, handles.spread(group, index, own))
        self.number = self.number + count
        if self.number % plan.block == 0 or self.number == plan.count then
            add(of_elements(plan, joined(self.waiting, 1)))
            self.waiting = {}
        end
    end
    function self.blocks(index, own, count)
        local blocks = {}
        for k in ipairs(plan.reductions) do
            blocks[k] = handles.spread(group, index, own and own[k])
        end
        add(blocks)
        self.number = self.number + count
    end
    return self
end

local function collect(what, plan, node)
    local own, group = {}, node.group
    for _, share in ipairs(node.shares) do
        if share.rows[2] > share.rows[1] then own[share.index] = given_by(what, plan, share) end
    end
    local all = collector(plan, group)
    for k = 0, group.count - 1 do
        local rows = { handles.first_row(node.shape[1], group.count, k),
            handles.first_row(node.shape[1], group.count, k + 1) }
        local low, high, first, stop = range_of(plan, rows)
        local given = own[k] or {}
        if first > low then all.elements(k, given.head, first - low) end
        if stop > first then all.blocks(k, given.blocks, stop - first) end
        if high > stop then all.elements(k, given.tail, high - stop) end
    end
    return all.values
end

-- Returns arrays on the home device, which hold the reductions along the first axis and others.
local function along_first(what, node, reductions, options, kept, reduced)
    local shape = options.keep and reduce.kept_shape(node.shape, reduced)
        or reduce.shape_of(node.shape, kept)
    local plan = plan_of(node, reductions, kept, reduced)
    local leaves = {}
    for k, list in ipairs(collect(what, plan, node)) do
        leaves[k] = array.leaf(joined(list, plan.in_blocks and 2 or 1), what)
    end
    local blocks = math.ceil(plan.count / plan.block)
    local made = {}
    for k, leaf in ipairs(reduce.of_blocks(leaves, reductions, blocks, plan.in_blocks)) do
        made[k] = reduce.shown(leaf, shape)
    end
    return made
end

-- Returns divided arrays, which hold the reductions along other axes than the first.
local function along_others(what, node, reductions, options)
    local of_shares, made = {}, {}
    for k, share in ipairs(node.shares) do
        of_shares[k] = reduce.arrays(what, array.hold(share.array, what), reductions, options)
    end
    local self = { group = node.group, shape = node.shape, shares = node.shares }
    for r in ipairs(reductions) do
        local k = 0
        made[r] = handles.mapped(self, function()
            k = k + 1
            return of_shares[k][r]
        end, what)
    end
    return made
end

function reduce.divided(what, node, reductions, options)
    if options.compensated then
        errors.argument('%s: compensated sums are not for divided arrays: :gather() first', what)
    end
    local kept, reduced = reduce.split(node.shape, options.axis, what)
    if kept[1] == 1 then return along_others(what, node, reductions, options) end
    return along_first(what, node, reductions, options, kept, reduced)
end

return reduce
