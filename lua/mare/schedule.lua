-- When a run writes: every T of model time, and at the end. The next time follows from the
-- present one alone, as a multiple of T and not as a sum, so that it is the same however a run
-- got there.

local errors = require 'bindings.errors'

local schedule = {}

local Schedule = {}
Schedule.__index = Schedule

local tolerance = 1e-6      -- of T: two times closer than this are the same

-- every: nil means at the end only
function schedule.new(every, t_end)
    if every and not (every > 0 and every < math.huge) then
        errors.argument('schedule: every = %s, must be greater than 0', tostring(every))
    end
    return setmetatable({ every = every, t_end = t_end }, Schedule)
end

-- The first scheduled time after t, never later than the end.
function Schedule:next(t)
    if not self.every then return self.t_end end
    local time = (math.floor(t / self.every + tolerance) + 1) * self.every
    return time < self.t_end - tolerance * self.every and time or self.t_end
end

return schedule
