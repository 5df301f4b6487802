-- Keeps the two records around the present time on a device, where kernels
-- interpolate between them. The simulation stops exactly at the time of each
-- record and calls update().

local timeline = require 'mare.forcing.timeline'

local records = {}

local Records = {}
Records.__index = Records

-- desc: { device =, precision =, label =, times = of the records, count =
-- numbers in a record, at = function(t) -> an array of them, room = elements
-- that kernels may read behind them }
function records.new(desc)
    local function buffer(type, count, label)
        local b = desc.device:buffer { type = type, count = count, label = label .. desc.label }
        b:fill(0)
        return b
    end
    local self = setmetatable({
        times = desc.times, count = desc.count, at = desc.at,
        buffer = buffer(desc.precision, 2 * desc.count + (desc.room or 0), ''),
        moments = buffer('double', 2, 'times of '),
    }, Records)
    self.moments:upload { 0, timeline.never }
    return self
end

-- Uploads the records around time t, if they are not on the device already.
function Records:update(t)
    local from, to = timeline.around(self.times, t)
    if self.from == from and self.to == to then return end
    local first = self.to == from and self.later or self.at(from)
    self.later = to < timeline.never and self.at(to) or first
    self.buffer:upload(first, { count = self.count })
    self.buffer:upload(self.later, { offset = self.count, count = self.count })
    self.moments:upload { from, to }
    self.from, self.to = from, to
end

function Records:release()
    self.buffer:release()
    self.moments:release()
end

return records
