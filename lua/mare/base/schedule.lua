-- When something happens in a run: every T of model time, every N steps, at
-- listed times, or, if none of these is given, at the start and the end. The
-- next event follows from the present time and step alone, never from a running
-- sum, so it does not depend on how a run got there. Multiples of T are rounded
-- to 12 digits: the third multiple of 0.1 is the 0.3 that people type.

local errors = require 'bindings.errors'

local schedule = {}

local Schedule = {}
Schedule.__index = Schedule

local tolerance = 1e-6      -- times closer than this fraction of T are equal

local function check(name, value)
    if value and not (value > 0 and value < math.huge) then
        errors.argument('schedule: %s = %s, must be greater than 0', name, tostring(value))
    end
end

-- desc: { every = T, steps = N, times = { ... }, t_end = }, all optional.
function schedule.new(desc)
    check('every', desc.every)
    check('steps', desc.steps)
    local self = setmetatable({
        every = desc.every, steps = desc.steps, t_end = desc.t_end or math.huge,
    }, Schedule)
    self.times = {}
    for k, time in ipairs(desc.times or {}) do self.times[k] = time end
    table.sort(self.times)
    self.ends = not (desc.every or desc.steps or desc.times)
    return self
end

local function multiple(every, k)
    return tonumber(string.format('%.12g', k * every))
end

-- Returns the first scheduled time after t, at the latest the end.
function Schedule:next_time(t)
    local time = self.t_end
    if self.every then
        local k = math.floor(t / self.every + tolerance) + 1
        local following = multiple(self.every, k)
        if following < self.t_end - tolerance * self.every then time = following end
    end
    for _, listed in ipairs(self.times) do
        if listed > t then return math.min(time, listed) end
    end
    return time
end

-- Returns the first scheduled number of steps after n, or math.huge.
function Schedule:next_step(n)
    return self.steps and (math.floor(n / self.steps) + 1) * self.steps or math.huge
end

-- Returns whether the event happens at time t, after n steps.
function Schedule:due(t, n)
    if self.ends and n == 0 then return true end
    if self.steps and n % self.steps == 0 then return true end
    if self.every then
        local nearest = multiple(self.every, math.floor(t / self.every + 0.5))
        if math.abs(t - nearest) <= tolerance * self.every then return true end
    end
    for _, listed in ipairs(self.times) do
        if listed == t then return true end
    end
    return false
end

-- Returns whether a step is shortened to end at t in every run that reaches t.
function Schedule:hits(t)
    if self.every and multiple(self.every, math.floor(t / self.every + 0.5)) == t then
        return true
    end
    for _, listed in ipairs(self.times) do
        if listed == t then return true end
    end
    return false
end

-- Returns whether the last state counts even if it is not scheduled.
function Schedule:wants_end()
    return #self.times == 0
end

-- The same methods for an object with a `list` of things that each have a
-- `schedule`.
schedule.several = {}

for _, next_one in ipairs { 'next_time', 'next_step' } do
    schedule.several[next_one] = function(self, now)
        local least = math.huge
        for _, item in ipairs(self.list) do
            least = math.min(least, item.schedule[next_one](item.schedule, now))
        end
        return least
    end
end

function schedule.several:hits(t)
    for _, item in ipairs(self.list) do
        if item.schedule:hits(t) then return true end
    end
    return false
end

return schedule
