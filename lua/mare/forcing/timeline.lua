-- Turns what a script gives as a force or at a boundary into a timeline:
-- numbers that depend on place and time, and are linear between the times of
-- their records. A timeline has `times` (an array, empty if nothing changes),
-- `uniform` (true if place does not matter), `records` (an array of
-- gridded.lua's variables, if it comes from files) and at(t, x, y), which
-- returns its numbers.

local errors = require 'bindings.errors'

local timeline = {}

local function fail(what, message, ...)
    errors.argument('ocean: %s: ' .. message, what, ...)
end

local function check_number(what, value, ...)
    if type(value) ~= 'number' or value - value ~= 0 then
        fail(what, (...) and 'gives %s at x = %g, y = %g, t = %g, a number is wanted'
            or '%s, a number is wanted', tostring(value), ...)
    end
    return value
end

-- Checks that the `count` results of f(x, y, t) are numbers, and returns them.
local function checked(what, count, t, x, y, ...)
    for k = 1, count do check_number(what, (select(k, ...)), x, y, t) end
    return ...
end

local function check_times(what, times)
    if type(times) ~= 'table' or #times < 2 then fail(what, 'times: at least two are wanted') end
    for k, t in ipairs(times) do
        check_number(what .. ': times', t)
        if k > 1 and t <= times[k - 1] then
            fail(what, 'times: %g does not come after %g', t, times[k - 1])
        end
    end
    return times
end

-- Returns the last k with times[k] <= t (at least 1), and the fraction from 0
-- to 1 of the way from there to the next time.
function timeline.bracket(times, t)
    local low, high = 1, #times
    if t <= times[1] then return 1, 0 end
    if t >= times[high] then return high, 0 end
    while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        if times[middle] <= t then low = middle else high = middle end
    end
    return low, (t - times[low]) / (times[high] - times[low])
end

timeline.never = 1e300    -- a time; infinity need not survive fast mathematics

-- Returns the times of the records around t. Before its first record and after
-- its last a timeline is constant: then the second time is `never`.
function timeline.around(times, t)
    if #times == 0 then return 0, timeline.never end
    if t >= times[#times] then return times[#times], timeline.never end
    if t < times[1] then return times[1], timeline.never end
    local k = timeline.bracket(times, t)
    return times[k], times[k + 1]
end

-- Returns the time of the first record after t, or infinity.
function timeline.next_time(times, t)
    if #times == 0 or t >= times[#times] then return math.huge end
    if t < times[1] then return times[1] end
    return times[timeline.bracket(times, t) + 1]
end

-- Makes a timeline from one record for each time: a number or `count` numbers.
local function from_records(what, given, count)
    local times, records = check_times(what, given.times), {}
    for k in ipairs(times) do
        local record = given.series[k]
        record = type(record) == 'table' and record or { record }
        for n = 1, count do check_number(what .. ': series ' .. k, record[n]) end
        records[k] = record
    end
    return { times = times, uniform = true, at = function(t)
        local k, weight = timeline.bracket(times, t)
        local values, later = {}, records[k + 1] or records[k]
        for n = 1, count do
            values[n] = records[k][n] + weight * (later[n] - records[k][n])
        end
        return unpack(values)
    end }
end

local fields = { times = 'table', series = 'table', value = 'function' }

local function from_table(what, given, count)
    errors.fields('ocean: ' .. what, given, fields)
    if given.series then return from_records(what, given, count) end
    if not given.value then fail(what, 'series = or value = is missing') end
    return { times = check_times(what, given.times), at = function(t, x, y)
        return checked(what, count, t, x, y, given.value(x, y, t))
    end }
end

local function constant(what, values, count)
    for k = 1, count do check_number(what, values[k]) end
    return { times = {}, uniform = true, at = function() return unpack(values, 1, count) end }
end

-- Returns a timeline of `count` numbers. given: a number (or an array of
-- `count`), function(x, y), { times =, series = a number or an array for each
-- time }, { times =, value = function(x, y, t) }, or a timeline, which is
-- returned as it is; nil stays nil. what: the beginning of error messages.
function timeline.new(what, given, count)
    if given == nil or type(given) == 'table' and given.at then return given end
    if type(given) == 'function' then
        return { times = {}, at = function(t, x, y)
            return checked(what, count, t, x, y, given(x, y))
        end }
    elseif type(given) ~= 'table' or given[1] then
        return constant(what, type(given) == 'table' and given or { given }, count)
    end
    return from_table(what, given, count)
end

-- Returns the times of several timelines in order, each once.
function timeline.union(list)
    local all, times = {}, {}
    for _, one in ipairs(list) do
        for _, t in ipairs(one.times) do all[#all + 1] = t end
    end
    table.sort(all)
    for _, t in ipairs(all) do
        if t ~= times[#times] then times[#times + 1] = t end
    end
    return times
end

-- Returns the variables of files that several timelines come from.
function timeline.records(list)
    local all = {}
    for _, one in ipairs(list) do
        for _, record in ipairs(one.records or {}) do all[#all + 1] = record end
    end
    return all
end

return timeline
