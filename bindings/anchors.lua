-- anchors.lua - the memory of the host that queued transfers still read or write. It hangs on the
-- address of the stream, not on the stream's Lua object: the collector frees an array in the sweep
-- that finds its last owner dead, long before any finaliser could wait for the transfer. Pinned
-- memory needs none of this but in a plan, or on a stream of another device: to free it waits for
-- its own.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local memory_of_host = require 'bindings.memory'

local hold, is_pinned = memory_of_host.hold, memory_of_host.is_pinned

local M = {}

local queued = {}       -- by key of the stream: { device = key, memory = { [memory] = number } }
local recorded = {}     -- by key of the stream: { [memory] = hold }, for the plan being recorded
local recordings = 0    -- how many of these there are
local count = 0         -- of transfers so far: their numbers

-- What a stream or device is known by as long as it lives.
function M.key(handle)
    return tonumber(ffi.cast('intptr_t', handle))
end

-- Keeps `memory` until its transfer, the last one on this stream, is known to be over.
function M.keep(stream, memory)
    local plan = recordings > 0 and recorded[stream.key]
    if plan then
        plan[memory] = plan[memory] or hold(memory)
    elseif not is_pinned(memory, stream.device) then
        count = count + 1
        if not queued[stream.key] then
            queued[stream.key] = { device = stream.device_key, memory = {} }
        end
        queued[stream.key].memory[memory] = count
    end
end

-- Whether any stream is recorded now. Otherwise keep has nothing to do for pinned memory.
function M.is_recording()
    return recordings > 0
end

-- Whether transfers of the stream may be under way.
function M.any(key)
    return queued[key] ~= nil
end

-- The number up to which a mark set in the stream now covers its transfers; nil in a recording,
-- whose time comes later.
function M.mark(stream)
    return not recorded[stream.key] and count or nil
end

-- The stream was waited for: what its transfers, up to the number `mark` if given, needed goes.
function M.settle(key, mark)
    if not mark then
        queued[key] = nil
    elseif queued[key] then
        local memory = queued[key].memory
        for kept, number in pairs(memory) do
            if number <= mark then memory[kept] = nil end
        end
    end
end

-- All streams of the device were waited for.
function M.settle_device(key)
    for stream, entry in pairs(queued) do
        if entry.device == key then queued[stream] = nil end
    end
end

function memory_of_host.settle(memory)
    for _, entry in pairs(queued) do
        if entry.memory[memory] then
            mare.C.mare_device_wait(ffi.cast('mare_device *', ffi.cast('intptr_t', entry.device)))
            M.settle_device(entry.device)
        end
    end
end

-- Between these two what is kept belongs to a recording, which finish returns: a set, nil if empty.
function M.record(stream)
    recorded[stream.key] = {}
    recordings = recordings + 1
end

function M.finish(stream)
    local kept = recorded[stream.key]
    recorded[stream.key] = nil
    recordings = recordings - 1
    return next(kept) ~= nil and kept or nil
end

return M
