-- Keeps copies of what fields hold, on their devices, to go back to or to compare
-- with.

local source = require 'mare.base.source'
local state = require 'mare.array.state'

local copies = {}

local Copies = {}
Copies.__index = Copies

-- Copies the buffers of these names; nil: all of them.
function copies.new(fields, label, buffers)
    local self = setmetatable({ fields = fields, list = {}, programs = {} }, Copies)
    for _, s in ipairs(fields.states) do
        for _, which in ipairs(buffers or state.buffers) do
            if s[which] then
                local kept = s.device:buffer { type = fields.precision, count = s[which].count,
                    label = label }
                kept:copy(s[which])
                self.list[#self.list + 1] = { kept = kept, state = s, which = which }
            end
        end
    end
    return self
end

-- Puts back what was copied.
function Copies:restore()
    for _, one in ipairs(self.list) do one.state[one.which]:copy(one.kept) end
end

local groups = 256

local function differ(self, kept, now, device)
    local size = math.min(128, device.info.max_group_size)
    self.programs[size] = self.programs[size] or source.program('array/differ.krn', {
        defines = { GROUP = size, MARE_REAL = self.fields.precision } })
    local worst = device:buffer { type = kept.type, count = groups, label = 'differences' }
    local launch = self.fields:kernel(device, self.programs[size], 'differ'):bind {
        a = now, b = kept, count = kept.count, worst = worst, global = groups * size, group = size }
    launch:run()
    local values = worst:totable()
    launch:release()
    worst:release()
    return values
end

-- Returns the largest absolute difference between the copies and the buffers that
-- hold the fields now, or NaN if one of these numbers is NaN. There must be one copy
-- per part. Waits for the devices.
function Copies:difference()
    local most = 0
    for _, one in ipairs(self.list) do
        local s = one.state
        for _, value in ipairs(differ(self, one.kept, s[s.present], s.device)) do
            if value > most or value ~= value then most = value end
        end
    end
    return most
end

function Copies:release()
    for _, one in ipairs(self.list) do one.kept:release() end
end

return copies
