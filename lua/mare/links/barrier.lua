-- Barriers of devices that reach each other's memory: what is queued behind one on any of them
-- begins when what was queued before it on all has ended. There are two ways:
--
--     words     launches of array/barrier.krn, which wait for each other on the devices: on GPUs
--               of CUDA, at most eight. array/clock.lua makes them, since the largest rate goes the
--               same way
--     events    of core; on devices of this process that may be one GPU or processor, where a
--               launch that waits might keep out the one that it waits for
--
-- Elsewhere there is none, and cells are copied (copied.lua) or sent.

local here = require 'mare.ranks.here'
local reach = require 'mare.links.reach'

local barrier = {}

local most = 8                  -- devices: DEVICES of array/barrier.krn
local words = 64                -- of each device
local patience = 2 ^ 24         -- looks at a word

local Barrier = {}
Barrier.__index = Barrier

local function all_reach(devices)
    for _, one in ipairs(devices) do
        for _, other in ipairs(devices) do
            if one ~= other and not reach(one, other) then return false end
        end
    end
    return true
end

-- Whether these are several GPUs whose kernels may wait for each other.
local function may_wait(devices)
    local seen = {}
    for _, device in ipairs(devices) do
        local info = device.info
        local waits = info.name:find '^cuda' and info.has_scopes
        if not waits or seen[info.uuid] then return false end
        seen[info.uuid] = true
    end
    return #devices <= most
end

-- Returns the barrier of devices, which are several; nil where there is none.
function barrier.new(devices)
    if here.size > 1 or #devices < 2 or not all_reach(devices) then return nil end
    local self = setmetatable({ devices = devices, launches = {}, words = {} }, Barrier)
    self.way = may_wait(devices) and 'words' or 'events'
    for k, device in ipairs(devices) do
        if self.way == 'words' then
            self.words[k] = device:buffer { type = 'uint32', count = words, label = 'barrier' }
            self.words[k]:fill(0)
            self.words[k]:upload { 2 }
        else
            self.launches[k] = device:event()
        end
    end
    return self
end

-- Returns what kernels of barrier.krn on the k-th device want: { s = block, w0 =, ... w7 = }.
function Barrier:site(k)
    local values = { s = { own = k - 1, devices = #self.devices, patience = patience } }
    for n = 0, most - 1 do values['w' .. n] = self.words[n + 1] or self.words[k] end
    return values
end

-- Takes the launch on the k-th device, in place of the one that it had.
function Barrier:take(k, launch)
    if self.launches[k] then self.launches[k]:release() end
    self.launches[k] = launch
end

-- Returns what device k, from 0, is called in messages.
function Barrier:name(k)
    return self.devices[k + 1].name
end

local function run_events(events)
    for k = 1, #events do events[k]:record() end
    for k, event in ipairs(events) do
        for n = 1, #events do
            if n ~= k then events[n].device.stream:wait_event(event) end
        end
    end
end

-- Queues one.
function Barrier:run()
    local launches = self.launches
    if self.way == 'events' then return run_events(launches) end
    for k = 1, #launches do launches[k]:run() end
end

function Barrier:release()
    for _, list in ipairs { self.launches, self.words } do
        for _, one in ipairs(list) do one:release() end
    end
end

return barrier
