-- Numbers on a device at two times, between which its kernels interpolate: of the records before
-- and after the present. The simulation stops at each record and calls update().

local series = require 'mare.forcing.series'

local records = {}

local Records = {}
Records.__index = Records

-- desc: { device =, precision =, label =, times = of the records, count = numbers of one,
-- at = function(t) -> an array of them, room = further elements that may be read }
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
    self.moments:upload { 0, series.never }
    return self
end

-- What belongs to time t, unless it is there.
function Records:update(t)
    local from, to = series.around(self.times, t)
    if self.from == from and self.to == to then return end
    local first = self.to == from and self.later or self.at(from)
    self.later = to < series.never and self.at(to) or first
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
