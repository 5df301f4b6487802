-- stopwatch.lua - mare.time(f): how long a function takes, with the work that it queues on devices.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local home = require 'bindings.home'
local system = require 'bindings.system'

local stopwatch = {}

local least_calls, least_seconds = 3, 0.5

local function wait()
    for _, d in ipairs(device.opened()) do d:wait() end
end

local scales = { { 1, 's' }, { 1e-3, 'ms' }, { 1e-6, 'us' }, { 1e-9, 'ns' } }

-- Formats seconds, for example as "1.53 ms".
local function show(seconds)
    for _, scale in ipairs(scales) do
        if seconds >= scale[1] then return ('%.3g %s'):format(seconds / scale[1], scale[2]) end
    end
    return ('%.3g ns'):format(seconds * 1e9)
end

local Result = { __tostring = function(self)
    return ('%s (median of %d calls, %s to %s)'):format(show(self.median), self.calls,
        show(self.fastest), show(self.slowest))
end }

-- mare.time(f): calls f again and again for half a second, at least three times,
-- and waits each time until the open devices are done with what it queued.
-- Returns { median =, fastest =, slowest = in seconds, calls = }, which prints
-- as "1.53 ms (median of 327 calls, 1.5 ms to 1.71 ms)". The first call, which
-- may compile, does not count.
--     mare.time(function() launch:run() end)
function stopwatch.time(f)
    errors.wanted('time', 'function', f)
    f()
    wait()
    local seconds, begun = {}, system.now()
    repeat
        local start = system.now()
        f()
        wait()
        seconds[#seconds + 1] = system.now() - start
        if home.interrupted() then errors.interrupt() end
    until #seconds >= least_calls and system.now() - begun >= least_seconds
    table.sort(seconds)
    local n = #seconds
    local median = (seconds[math.ceil(n / 2)] + seconds[math.ceil((n + 1) / 2)]) / 2
    return setmetatable({ median = median, fastest = seconds[1], slowest = seconds[n],
        calls = n }, Result)
end

return stopwatch
