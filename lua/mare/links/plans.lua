-- Records what a simulation queues on its devices step after step, so that one call a device
-- replays it:
--
--     record = plans.recorder(devices, barrier)
--     plan = record(function() ... end, 'a step')
--     plan:run(10)        inside of what another one records: part of that
--
-- Devices that wait for each other by words have a plan each; in turn with each other, so that
-- none is ahead of another by more than one. Where they do by events all devices are branches of
-- one plan. Without a barrier nothing is recorded: what moves between such devices or ranks waits
-- for the host.

local here = require 'mare.ranks.here'

local plans = {}

-- ---- a plan a device ----

local Each = {}
Each.__index = Each

local function record_each(devices, queue, label)
    local self = setmetatable({}, Each)
    local function record_from(k)
        if k > #devices then return queue() end
        self[k] = devices[k].stream:record(function() record_from(k + 1) end, label)
    end
    record_from(1)
    return self
end

function Each:run(count)
    for _ = 1, count or 1 do
        for k = 1, #self do self[k]:run() end
    end
end

function Each:release()
    for k = 1, #self do self[k]:release() end
end

-- ---- one plan with branches, which is no part of another ----

local Joined = {}
Joined.__index = Joined

local is_recording = false

local function record_joined(devices, barrier, queue, label)
    local self = setmetatable({ queue = queue, barrier = barrier }, Joined)
    local main = devices[1].stream
    local was_recording = is_recording
    is_recording = true
    local ok, failure = pcall(function()
        self.plan = main:record(function()
            for k = 2, #devices do main:join(devices[k].stream) end
            queue()
        end, label)
    end)
    is_recording = was_recording
    if not ok then error(failure, 0) end
    return self
end

-- What the devices have queued comes before the plan, and what they queue then behind it.
function Joined:run(count)
    count = count or 1
    if is_recording then
        for _ = 1, count do self.queue() end
    elseif count > 0 then
        self.barrier:run()
        self.plan:run(count)
        self.barrier:run()
    end
end

function Joined:release() self.plan:release() end

-- ---- nothing recorded ----

local function loop(queue)
    return {
        run = function(_, count) for _ = 1, count or 1 do queue() end end,
        release = function() end,
    }
end

-- Returns a function that records: (queue, label) -> plan. barrier: of the devices, or nil;
-- is_loose: whether something is queued that cannot be recorded
function plans.recorder(devices, barrier, is_loose)
    if #devices == 1 and here.size == 1 then
        return function(queue, label) return devices[1].stream:record(queue, label) end
    end
    if not barrier or is_loose then return loop end
    if barrier.way == 'words' then
        return function(queue, label) return record_each(devices, queue, label) end
    end
    return function(queue, label) return record_joined(devices, barrier, queue, label) end
end

return plans
