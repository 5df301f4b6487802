-- Reads the times of CF files, such as "hours since 1980-01-14 14:00:00", and
-- dates in the Gregorian calendar.

local calendar = {}

local units = {
    s = 1, sec = 1, second = 1, seconds = 1, min = 60, minute = 60, minutes = 60, h = 3600,
    hr = 3600, hour = 3600, hours = 3600, d = 86400, day = 86400, days = 86400,
}

local calendars = { standard = true, gregorian = true, proleptic_gregorian = true }

-- Returns the days since 1970-01-01. The year is taken to begin in March, so
-- that the leap day is its last day.
local function day_number(year, month, day)
    if month < 3 then year, month = year - 1, month + 12 end
    local since_march = math.floor((153 * (month - 3) + 2) / 5) + day - 1
    return 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
        + since_march - 719468
end

-- Returns the seconds from 1970 to "1985-01-01", "1985-01-01 12:30:00" or
-- "1985-01-01T12:30:00Z", or nil if the text is no date in UTC.
function calendar.seconds(text)
    local year, month, day, rest = text:match '^%s*(%d+)-(%d+)-(%d+)(.*)$'
    if not year then return nil end
    local hour, minute, second = rest:match '^[ T](%d+):(%d+):?([%d.]*)'
    if rest:find '[+-]%d' and not rest:find '[+-]0+:?0*%s*$' then return nil end   -- other zone
    month, day = tonumber(month), tonumber(day)
    if month < 1 or month > 12 or day < 1 or day > 31 then return nil end
    return day_number(tonumber(year), month, day) * 86400 + 3600 * (tonumber(hour) or 0)
        + 60 * (tonumber(minute) or 0) + (tonumber(second) or 0)
end

-- Returns the length of the unit in "UNIT since DATE" and the seconds from 1970
-- to that date, or nil and the reason. name: of the calendar, nil for the
-- standard.
function calendar.units(text, name)
    if name and not calendars[tostring(name):lower()] then
        return nil, string.format("calendar '%s', must be standard or gregorian", tostring(name))
    end
    local unit, date = tostring(text):match '^%s*(%a+)%s+since%s+(.+)$'
    local seconds = date and calendar.seconds(date)
    if not (unit and units[unit:lower()] and seconds) then
        return nil, string.format("units '%s', must be such as 'hours since 2000-01-01'",
            tostring(text))
    end
    return units[unit:lower()], seconds
end

return calendar
