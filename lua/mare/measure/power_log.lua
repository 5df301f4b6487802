-- Logs of power: one that is written while a run works, and what a log tells, be it
-- that or the file of a wall meter.
--
--     local log = power_log.new('power.csv', meters)      -- of energy.lua, at rest
--     log:look()              -- now and then: a row where a counter has moved
--     log:close()
--     power_log.read 'power.csv'      -- { joules (above rest), seconds, power, idle (W), ... }
--     power_log.curves 'power.csv'    -- for `mare plot power.csv`
--
-- A row is the time (s, from the first row on), the watts of each meter since its counter
-- moved the last time, their sum, and degrees Celsius where a meter tells them. Only
-- the steps are in it, not the rest before and after; what the meters take at rest
-- stands in the first line.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local system = require 'bindings.system'

local power_log = {}

local Log = {}
Log.__index = Log

local least = 0.02          -- seconds between rows, as in Holm, Brodtkorb and Saetra (2020)

local function names_of(meters)
    local names, seen = {}, {}
    for k, meter in ipairs(meters) do
        local name = (meter.label or meter.source.name):gsub('[,;\n]', ' ')
        seen[name] = (seen[name] or 0) + 1
        names[k] = seen[name] > 1 and ('%s (%d)'):format(name, seen[name]) or name
    end
    return names
end

-- meters: that have been at rest, each with `idle` (W)
function power_log.new(path, meters)
    local self = setmetatable({ path = path, meters = meters, watts = {}, last = {},
        now = meters[1] and meters[1].now or system.now }, Log)
    local file, reason = io.open(path, 'w')
    if not file then errors.raise('MARE_ERROR_IO', 'power log: %s', reason) end
    self.file = file
    local names, idle, words = names_of(meters), 0, {}
    for k, meter in ipairs(meters) do
        idle = idle + meter.idle
        words[k] = ('%s %.2f'):format(names[k], meter.idle)
        self.last[k] = { joules = meter.source.counter(), at = self.now() }
    end
    file:write(('# idle %.2f W: %s\n'):format(idle, table.concat(words, ', ')))
    file:write('time_s,', table.concat(names, ' W,'), ' W,total_W,degrees\n')
    self.began = self.now()
    return self
end

local function degrees_of(meters)
    local most
    for _, meter in ipairs(meters) do
        local own = meter.source.temperature and meter.source.temperature()
        most = own and math.max(most or own, own) or most
    end
    return most
end

-- Writes a row if a counter has moved and the last row is long enough ago.
function Log:look()
    local moved, sum, t = false, 0, self.now()
    if self.row and t - self.row < least then return end
    for k, meter in ipairs(self.meters) do
        local joules, last = meter.source.counter(), self.last[k]
        if joules > last.joules and t > last.at then
            self.watts[k], moved = (joules - last.joules) / (t - last.at), true
            last.joules, last.at = joules, t
        end
        sum = sum + (self.watts[k] or 0)
    end
    if not moved then return end
    self.row = t
    local words = {}
    for k in ipairs(self.meters) do
        words[k] = self.watts[k] and ('%.2f'):format(self.watts[k]) or ''
    end
    local degrees = degrees_of(self.meters)
    self.file:write(('%.4f,%s,%.2f,%s\n'):format(t - self.began, table.concat(words, ','), sum,
        degrees and ('%.1f'):format(degrees) or ''))
end

function Log:close()
    self.file:close()
end

-- ---- reading ----

-- Returns numbers of a line whose words commas, semicolons or tabs divide, or else blanks, with
-- false where there is none. Beside semicolons a comma is that of a fraction.
local function numbers_of(line)
    local list = {}
    if line:find ';' then line = line:gsub(',', '.') end
    if not line:find '[;\t,]' then line = line:match '^%s*(.*)':gsub('%s+', ',') end
    for word in (line:gsub('[;\t,]', ' , ')):gmatch '[^,]*' do
        local number = tonumber((word:gsub('%s', '')))
        if word:find '%S' or #list == 0 then list[#list + 1] = number or false end
    end
    return list
end

local function is_finite(number) return number and number - number == 0 end

-- Returns arrays of times and watts, and the idle power that the first line tells, or nil.
local function read_rows(text, column)
    local times, watts, idle, wanted = {}, {}, text:match '^# idle ([%d.]+) W', column
    for line in text:gmatch '[^\n]+' do
        if line:find '^time_s,' and not wanted then
            local k = 0
            for name in line:gmatch '[^,]+' do
                k = k + 1
                if name == 'total_W' then wanted = k end
            end
        end
        local row = numbers_of(line)
        local t, w = row[1], row[wanted or 2]
        if not line:find '^#' and is_finite(t) and is_finite(w) then
            times[#times + 1], watts[#watts + 1] = t, w
        end
    end
    return times, watts, tonumber(idle)
end

local function read_text(path)
    local text = files.read(errors.wanted('power log', 'string', path))
    if not text then errors.raise('MARE_ERROR_IO', 'power log: %s cannot be read', path) end
    return text
end

local function refuse(path)
    errors.argument('power log: %s: lines of seconds and watts are wanted, two at least', path)
end

-- Returns the names of the columns of watts, by the number of their column; of a file without a
-- line of names the second.
local function columns_of(text)
    local names, k, head = {}, 0, ('\n' .. text):match '\n(time_s,[^\n]*)'
    for name in (head or 'time_s,power W'):gmatch '[^,]+' do
        k = k + 1
        names[k] = name:match '^(.*) W$' or name == 'total_W' and 'total' or nil
    end
    return names
end

-- Returns an array of { label, x = seconds, y = watts } of a log, one of each meter and of all.
function power_log.curves(path)
    local text, list = read_text(path), {}
    local names = columns_of(text)
    for k = 1, table.maxn(names) do
        local times, watts = read_rows(text, k)
        if names[k] and times[2] then
            list[#list + 1] = { label = names[k], x = times, y = watts }
        end
    end
    if not list[1] then refuse(path) end
    return list
end

-- The mean of the samples in the first and the last `edges` seconds.
local function idle_of(times, watts, edges)
    local sum, count = 0, 0
    for k, t in ipairs(times) do
        if t <= times[1] + edges or t >= times[#times] - edges then
            sum, count = sum + watts[k], count + 1
        end
    end
    return sum / count
end

-- First and last sample of the work: those above idle by a tenth of the most that any is.
local function trim(watts, idle)
    local most, first, last = -math.huge, nil, nil
    for _, w in ipairs(watts) do most = math.max(most, w) end
    for k, w in ipairs(watts) do
        if w > idle + 0.1 * (most - idle) then first, last = first or k, k end
    end
    return first or 1, last or #watts
end

local read_fields = { column = 'number', edges = 'number', idle = 'number' }

-- Reads a log: lines of the time in seconds and watts, such as a wall meter's CSV file.
-- options: { column = the column of the watts (2; of Mare's logs the total), idle = W at
-- rest, or edges = seconds (3) at both ends in which the device rests, where the log does
-- not tell }. Rest before and after the work does not count. Returns { joules above rest,
-- total (J), seconds, power (W, the mean), idle, samples }.
function power_log.read(path, options)
    options = errors.fields('power log', options or {}, read_fields)
    local times, watts, told = read_rows(read_text(path), options.column)
    if #times < 2 then refuse(path) end
    local idle = options.idle or told or idle_of(times, watts, options.edges or 3)
    local first, last = trim(watts, idle)
    local total, seconds = 0, times[last] - times[first]
    for k = first + 1, last do
        local dt = times[k] - times[k - 1]
        if dt < 0 then errors.argument('power log: %s: time goes back to %g s', path, times[k]) end
        total = total + 0.5 * (watts[k] + watts[k - 1]) * dt
    end
    return { joules = total - idle * seconds, total = total, seconds = seconds, idle = idle,
        power = seconds > 0 and total / seconds or watts[first], samples = last - first + 1 }
end

return power_log
