-- mpi_left.lua - which ranks have ended their programs. Each tells all others when its own is done,
-- and stays until all are; so who waits for a rank that makes no more calls learns it, instead of
-- waiting for ever.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local system = require 'bindings.system'

ffi.cdef [[
    int MPI_Iprobe(int from, int tag, uintptr_t comm, int *flag, void *status);
]]

local M = {}

local tag = 32002
local grace = 2         -- seconds in which what a rank has sent before is to arrive
local nothing, flag = ffi.new 'char[1]', ffi.new 'int[1]'

-- Tells the others that the program of this rank is done, and waits until theirs are.
function M.leave(world)
    local lists = {}
    for rank = 0, world.size - 1 do
        if rank ~= world.rank then
            lists[#lists + 1] = world:send(nothing, 0, rank, tag)
            lists[#lists + 1] = world:receive(nothing, 0, rank, tag)
        end
    end
    for _, list in ipairs(lists) do
        list.peer = nil         -- that it has left is what is waited for
        world:wait(list, 'the end of all ranks')
    end
end

local function has_left(world, rank)
    local first = world.origin or world
    world:check(world.library.MPI_Iprobe(rank, tag, first.comm, flag, world.status), 'a look')
    return flag[0] ~= 0
end

-- Returns the rank without which a wait cannot end and that has left, if there is one. peer: that
-- waited for, 'all', or MPI's number for any rank
local function missing(world, peer)
    local is_any, last = peer == world.abi.any_source, nil
    for rank = 0, world.size - 1 do
        if rank ~= world.rank and (is_any or peer == 'all' or peer == rank) then
            local left = has_left(world, rank)
            if left and not is_any then return rank end
            if is_any and not left then return nil end
            last = rank
        end
    end
    return is_any and last or nil
end

-- Raises if a wait cannot end. seen: a table of the wait, for the looks that come after this one
function M.check(world, what, peer, seen)
    local rank, now = missing(world, peer), system.now()
    if not rank then return end
    seen.left = seen.left or now
    if now - seen.left < grace then return end
    errors.raise('MARE_ERROR_STATE', '%s: rank %d has ended its program: all ranks make the same '
        .. 'calls in the same order', what, rank)
end

return M
