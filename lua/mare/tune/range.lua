-- Checks the numbers in a call of mare.tune.

local errors = require 'bindings.errors'

local function is_within(value, range)
    return value >= range[1] and value <= (range[2] or math.huge)
        and (value > range[1] or not range.above) and (value % 1 == 0 or not range.whole)
end

local function words_of(range, value)
    local least, most = unpack(range)
    local words = most and ('%g to %g'):format(least, most) or ('%g or more'):format(least)
    if range.above then words = 'above ' .. words:gsub(' or more', '') end
    return range.whole and value % 1 ~= 0 and 'whole numbers, ' .. words or words
end

-- Refuses those of `given` that are outside of their range: { least, most (nil:
-- no limit), above = true (more than the least), whole = true }. NaN is outside
-- of every range.
return function(what, given, ranges)
    for name, range in pairs(ranges) do
        local value = given[name]
        if value and not is_within(value, range) then
            errors.argument('%s: %s = %.14g (allowed: %s)', what, name, value,
                words_of(range, value))
        end
    end
end
