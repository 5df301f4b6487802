-- mare.work: what a work-item knows of its group, for kernels in Lua.
--
--     local reverse = mare.kernel(function(i, x, y)
--         local tile = mare.work.shared('float', 64)      -- of the group
--         local k = mare.work.item(0)
--         tile[k] = x[i]
--         mare.work.barrier()
--         y[i] = tile[63 - k]
--     end, { group = 64 })
--
-- item(axis), group(axis), size(axis) count from 0; axis 0 is that of the first index.
-- shared(type, n) makes an array of n elements that all work-items of a group have
-- together. barrier() waits for all of them, so none may have returned: a kernel with
-- a barrier runs whole groups, and checks itself what lies beyond its arrays.
-- add(x, i, v), least(x, i, v) and most(x, i, v) write the sum, the least or the most of v and an
-- element of an array of int32, which others may write so at the same time; they return what
-- was there.
--
-- This file holds what plain Lua runs in their stead for kernel:check: a group's
-- work-items are coroutines that take turns at each barrier.

local errors = require 'bindings.errors'

local work = {}

local now       -- the work-item that runs: { item, group, size, shared, taken, wait }

local function place(list, axis)
    if not now then
        errors.argument('mare.work: only a kernel has work-items: mare.kernel(function ... end)')
    end
    return list(now)[(axis or 0) + 1] or 0
end

-- Returns the work-item's place in its group along an axis, 0 (if not given), 1 or 2.
function work.item(axis) return place(function(w) return w.item end, axis) end

-- Returns the place of its group among the groups along an axis.
function work.group(axis) return place(function(w) return w.group end, axis) end

-- Returns the number of work-items of a group along an axis.
function work.size(axis) return place(function(w) return w.size end, axis) end

-- Waits for all work-items of the group; their shared arrays are then as written.
function work.barrier()
    place(function(w) return w.item end)
    coroutine.yield()
end

local array = {}

function array.__index(self, k)
    return k == 'count' and self[array] or 0
end

-- shared('float', n) returns an array of n elements that the work-items of a group share.
-- Which array is meant follows from the order of a work-item's calls: its k-th call returns
-- the group's k-th array.
function work.shared(_, count)
    place(function(w) return w.item end)
    now.taken = now.taken + 1
    local list = now.shared
    list[now.taken] = list[now.taken] or setmetatable({ [array] = count }, array)
    return list[now.taken]
end

-- add(x, i, v) adds v to element i of an array of int32 and returns what was there.
function work.add(x, i, v)
    local old = x[i]
    x[i] = old + v
    return old
end

-- least(x, i, v) writes the least of v and element i of an array of int32, and returns what was
-- there.
function work.least(x, i, v)
    local old = x[i]
    x[i] = math.min(old, v)
    return old
end

-- most(x, i, v) does so with the larger one.
function work.most(x, i, v)
    local old = x[i]
    x[i] = math.max(old, v)
    return old
end

-- Runs the work-items of one group. items: an array of { item = the place of a work-item,
-- call = the function that runs it }
function work.run_group(group, size, items)
    local shared, alive = {}, {}
    for k, item in ipairs(items) do
        alive[k] = { item = item.item, group = group, size = size, shared = shared, taken = 0,
            routine = coroutine.create(item.call) }
    end
    while #alive > 0 do
        local waiting = {}
        for _, w in ipairs(alive) do
            now = w
            local ok, failure = coroutine.resume(w.routine)
            now = nil
            if not ok then error(failure, 0) end
            if coroutine.status(w.routine) ~= 'dead' then waiting[#waiting + 1] = w end
        end
        alive = waiting
    end
end

return work
