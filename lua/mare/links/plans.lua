-- Records what a simulation queues on its devices step after step, so that one call a device
-- replays it:
--
--     record = plans.recorder(devices, barrier)
--     plan = record(function() ... end, 'a step')
--     plan:run(10)        inside of what another one records: part of that
--
-- Devices that wait for each other by words have a plan each, all made before the first begins to
-- wait; they run in turn, so that none is ahead of another by more than one. Where devices wait by
-- events all are branches of one plan. Several devices without a barrier, or ranks, are not
-- recorded: what moves between them waits for the host.

local here = require 'mare.ranks.here'
local together = require 'mare.links.together'

local plans = {}

local Recorded = {}
Recorded.__index = Recorded

local is_recording = false

-- Records on the streams of a list as branches of the first.
local function record_streams(streams, queue, label)
    return streams[1]:record(function()
        for k = 2, #streams do streams[1]:join(streams[k]) end
        queue()
    end, label)
end

local function record_groups(self, groups, k, label)
    if k > #groups then return self.queue() end
    self.plans[k] = record_streams(groups[k],
        function() record_groups(self, groups, k + 1, label) end, label)
end

-- groups: lists of streams, each of which gets a plan
local function record(groups, barrier, queue, label)
    local self = setmetatable({ plans = {}, queue = queue, barrier = barrier }, Recorded)
    local was_recording = is_recording
    for _, streams in ipairs(groups) do self.has_branches = self.has_branches or #streams > 1 end
    is_recording = true
    local ok, failure = pcall(record_groups, self, groups, 1, label)
    is_recording = was_recording
    if not ok then error(failure, 0) end
    return self
end

-- Plans with branches are no part of others: these record the same once more. What the devices of
-- one plan have queued comes before it, and what they queue then behind it.
function Recorded:run(count)
    local list, barrier = self.plans, self.barrier
    count = count or 1
    if is_recording and self.has_branches then
        for _ = 1, count do self.queue() end
    elseif #list == 1 and count > 0 then
        if barrier then barrier:run() end
        list[1]:run(count)
        if barrier then barrier:run() end
    elseif count > 0 then
        if not self.is_ready and not is_recording then
            for k = 1, #list do list[k]:run(0) end
            self.is_ready = true
        end
        together(list, count)
    end
end

function Recorded:release()
    for _, plan in ipairs(self.plans) do plan:release() end
end

-- Records nothing.
local function loop(queue, _, is_counted)
    return {
        run = function(_, count)
            count = count or 1
            if is_counted then return queue(count) end
            for _ = 1, count do queue() end
        end,
        release = function() end,
    }
end

-- Returns a function that records: (queue, label, is_counted) -> plan; is_counted: whether
-- queue(count) queues so many at once where nothing is recorded. barrier: of the devices, or nil;
-- is_loose: whether something is queued that cannot be recorded on several devices
function plans.recorder(devices, barrier, is_loose)
    local groups, is_one = {}, #devices == 1 and here.size == 1
    if not is_one and (not barrier or is_loose) then return loop end
    local is_joint = barrier and barrier.way == 'events'
    for k, device in ipairs(devices) do
        if is_joint then
            groups[1] = groups[1] or {}
            groups[1][k] = device.stream
        else
            groups[k] = { device.stream }
        end
    end
    return function(queue, label)
        return record(groups, is_joint and barrier or nil, queue, label)
    end
end

return plans
