-- Barriers of devices that reach each other's memory: what is queued behind one on any of them
-- begins when what was queued before it on all has ended. There are two ways:
--
--     words     launches of array/barrier.krn, which wait for each other on the devices: on GPUs
--               of CUDA, at most eight, of this process or one of each rank of a machine.
--               array/clock.lua makes them, since the largest rate goes the same way
--     events    of core; on devices of this process that may be one GPU or processor, where a
--               launch that waits might keep out the one that it waits for
--
-- Elsewhere there is none, and cells are copied (copied.lua) or sent.

local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local reach = require 'mare.links.reach'
local swaps = require 'mare.links.swap'
local system = require 'bindings.system'
local together = require 'mare.links.together'

local barrier = {}

local ways = { words = true, events = true, none = true }
local most = 8                  -- devices: DEVICES of array/barrier.krn
local words = 64                -- of each device

-- Looks at a word, of 0.22 us on an H200. Of ranks one that is late may be writing to a slow disk;
-- what ends a run where one has died is its silence (ranks/heart.lua).
local patience, long_patience = 2 ^ 26, 2 ^ 32 - 1

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

-- Returns what the variable MARE_BARRIER allows several GPUs: words, events or none.
local function allowed(usual)
    local way = system.setting 'MARE_BARRIER' or usual
    if not ways[way] then
        errors.usage('MARE_BARRIER=%s (allowed: words, events, none)', way)
    end
    return way
end

-- What tells a GPU apart whose kernels can wait for others, or false.
local function identity(device)
    local info = device.info
    return info.name:find '^cuda' and info.has_scopes and info.uuid or false
end

-- Whether these are several GPUs whose kernels may wait for each other.
local function may_wait(identities)
    local seen = {}
    for _, one in ipairs(identities) do
        if not one or seen[one] then return false end
        seen[one] = true
    end
    return #identities <= most
end

local function new_words(device)
    local buffer = device:buffer { type = 'uint32', count = words, label = 'barrier' }
    buffer:fill(0)
    buffer:upload { 2 }
    return buffer
end

local function new(way, more)
    more.way, more.launches, more.words = way, {}, {}
    return setmetatable(more, Barrier)
end

-- Returns the way of the barrier of devices of this process; nil where there is none.
function barrier.way_of(devices)
    if #devices < 2 or not all_reach(devices) then return nil end
    local identities = {}
    for k, device in ipairs(devices) do identities[k] = identity(device) end
    local way = may_wait(identities) and allowed 'words' or 'events'
    return way ~= 'none' and way or nil
end

-- Returns that barrier, or nil.
function barrier.new(devices)
    local way = barrier.way_of(devices)
    if not way then return nil end
    local self = new(way, { devices = devices })
    for k, device in ipairs(devices) do
        if self.way == 'words' then self.words[k] = new_words(device)
        else self.launches[k] = device:event() end
    end
    return self
end

-- Whether ranks, each with one device, which all reach each other's memory, can have one. All ranks
-- call it.
function barrier.can_join(device)
    return may_wait(here.all(identity(device))) and allowed 'words' == 'words'
end

-- Returns the barrier of ranks that can have one. All ranks call it.
function barrier.of_ranks(device)
    local self, wants = new('words', { ranks = here.size }), {}
    for rank = 0, here.size - 1 do wants['barrier ' .. rank] = true end
    local own = new_words(device)
    self.swap = swaps.new(device, { ['barrier ' .. here.rank] = own }, wants)
    for rank = 0, here.size - 1 do
        self.words[rank + 1] = self.swap.opened['barrier ' .. rank] or own
    end
    return self
end

-- Returns what kernels of barrier.krn on the k-th device of this process want: { s = block, w0 =,
-- ... w7 = }.
function Barrier:site(k)
    local own = self.ranks and here.rank + 1 or k
    local values = { s = { own = own - 1, devices = #self.words,
        patience = self.ranks and long_patience or patience } }
    for n = 0, most - 1 do values['w' .. n] = self.words[n + 1] or self.words[own] end
    return values
end

-- Takes the launch on the k-th device, in place of the one that it had.
function Barrier:take(k, launch)
    if self.launches[k] then self.launches[k]:release() end
    self.launches[k] = launch
end

-- Returns what device k, from 0, is called in messages.
function Barrier:name(k)
    return self.ranks and 'rank ' .. k or self.devices[k + 1].name
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
    if self.way == 'events' then run_events(launches) else together(launches) end
end

function Barrier:release()
    for _, one in ipairs(self.launches) do one:release() end
    if self.swap then return self.swap:release() end
    for _, one in ipairs(self.words) do one:release() end
end

return barrier
