-- anchors.lua - keeps host memory alive that queued transfers still read or write, until their
-- stream was waited for.
--
-- The references belong to the address of the stream, not to its Lua object: when a stream and
-- an array die together, the collector frees the array before the finalizer of the stream can
-- wait for the transfer. Pinned memory is kept only for a plan or for a stream of another
-- device, since to free it waits for its own device.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local memory_of_host = require 'bindings.memory'

local hold, is_pinned = memory_of_host.hold, memory_of_host.is_pinned

local M = {}

local queued = {}       -- by key of the stream: { device = key, memory = { [memory] = number } }
local recorded = {}     -- by key of the stream: { [memory] = hold }, for the plan being recorded
local waiting, recordings = 0, 0        -- streams in each of them
local count = 0         -- transfers are numbered in the order in which they were queued

-- The number by which a stream or device is known as long as it lives.
function M.key(handle)
    return tonumber(ffi.cast('intptr_t', handle))
end

-- Keeps `memory` until its transfer, the last one on this stream, is known to be over.
function M.keep(stream, memory)
    local plan = recorded[stream.key]
    if plan then
        plan[memory] = plan[memory] or hold(memory)
    elseif not is_pinned(memory, stream.device) then
        count = count + 1
        if not queued[stream.key] then
            queued[stream.key] = { device = stream.device_key, memory = {} }
            waiting = waiting + 1
        end
        queued[stream.key].memory[memory] = count
    end
end

-- Whether any stream is being recorded. If none is, there is nothing to keep for pinned memory.
function M.is_recording()
    return recordings > 0
end

-- Whether memory is kept for transfers of the stream.
function M.any(key)
    return queued[key] ~= nil
end

-- The number of the last transfer that comes before an event recorded now; nil in a recording,
-- which runs later.
function M.mark(stream)
    return not recorded[stream.key] and count or nil
end

local function forget(key)
    if not queued[key] then return end
    queued[key] = nil
    waiting = waiting - 1
end

-- Lets go of what the stream's transfers needed, up to the number `mark` if given: the stream
-- was waited for.
function M.settle(key, mark)
    if not mark then
        forget(key)
    elseif queued[key] then
        local memory = queued[key].memory
        for kept, number in pairs(memory) do
            if number <= mark then memory[kept] = nil end
        end
    end
end

-- Does the same for all streams of a device.
function M.settle_device(key)
    if waiting == 0 then return end     -- LuaJIT compiles no loop that comes here
    for stream, entry in pairs(queued) do
        if entry.device == key then forget(stream) end
    end
end

-- Waits for every device that still has a transfer of this pinned memory queued.
function memory_of_host.settle(memory)
    for _, entry in pairs(queued) do
        if entry.memory[memory] then
            mare.C.mare_device_wait(ffi.cast('mare_device *', ffi.cast('intptr_t', entry.device)))
            M.settle_device(entry.device)
        end
    end
end

-- From here to finish() what is kept belongs to a recording, that of the streams that join it, too.
-- finish() returns it: a set, nil if empty.
function M.record(stream)
    recorded[stream.key] = {}
    recordings = recordings + 1
end

function M.join(stream, other)
    if not recorded[other.key] then recordings = recordings + 1 end
    recorded[other.key] = recorded[stream.key]
end

function M.finish(stream)
    local kept = recorded[stream.key]
    for key, plan in pairs(recorded) do
        if plan == kept then
            recorded[key] = nil
            recordings = recordings - 1
        end
    end
    return next(kept) ~= nil and kept or nil
end

return M
