-- Layouts: where the elements of arrays stand in memory. For a kernel axes of one element are
-- left out, and neighbouring axes are merged if in all arrays one step along the outer is as far
-- as all steps along the inner.

local strides = {}

-- Returns the strides of an array whose elements lie one after another.
function strides.dense(shape)
    local list, step = {}, 1
    for k = shape.rank, 1, -1 do
        list[k] = step
        step = step * shape[k]
    end
    return list
end

-- Whether strides are those of elements that lie one after another.
function strides.are_dense(shape, list)
    local step = 1
    for k = shape.rank, 1, -1 do
        if shape[k] ~= 1 and list[k] ~= step then return false end
        step = step * shape[k]
    end
    return true
end

-- Returns the strides of a leaf along its own axes.
function strides.own(leaf)
    return leaf.strides or strides.dense(leaf.shape)
end

-- Returns the strides of a leaf along the axes of a shape that it is repeated to.
function strides.repeated(leaf, shape)
    local own, list = strides.own(leaf), {}
    local skipped = shape.rank - leaf.shape.rank
    for k = 1, shape.rank do
        local is_repeated = k <= skipped or leaf.shape[k - skipped] == 1
        list[k] = is_repeated and 0 or own[k - skipped]
    end
    return list
end

-- Returns a shape and lists of strides whose axes stand as those of the first list stand in
-- memory: the last is that of neighbours.
function strides.ordered(shape, lists)
    local axes, first = {}, lists[1]
    for k = 1, shape.rank do
        local at = k
        while at > 1 and math.abs(first[axes[at - 1]]) < math.abs(first[k]) do
            axes[at], at = axes[at - 1], at - 1
        end
        axes[at] = k
    end
    local turned, found = { rank = shape.rank }, {}
    for n = 1, #lists do found[n] = {} end
    for at, k in ipairs(axes) do
        turned[at] = shape[k]
        for n, list in ipairs(lists) do found[n][at] = list[k] end
    end
    return turned, found
end

-- Whether in all lists a step along axis k is as far as `size` steps along the axis `inner`.
local function is_even(lists, k, inner, size)
    for _, list in ipairs(lists) do
        if list[k] ~= list[inner] * size then return false end
    end
    return true
end

-- Returns the sizes of the axes that are left, the last first, and for each list
-- the strides along them.
function strides.collapsed(shape, lists)
    local sizes, found = {}, {}
    for n = 1, #lists do found[n] = {} end
    local inner, merged         -- the last axis of those that became one, and their size
    for k = shape.rank, 1, -1 do
        if shape[k] ~= 1 and inner and is_even(lists, k, inner, merged) then
            merged = merged * shape[k]
            sizes[#sizes] = merged
        elseif shape[k] ~= 1 then
            inner, merged = k, shape[k]
            sizes[#sizes + 1] = merged
            for n, list in ipairs(lists) do found[n][#sizes] = list[k] end
        end
    end
    if #sizes == 0 then
        sizes[1] = 1
        for n = 1, #lists do found[n][1] = 0 end
    end
    return sizes, found
end

return strides
