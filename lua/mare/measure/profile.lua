-- Shows where a program spends its time on the devices.
--
--     local report = mare.profile(function() sim:step(100) end)
--     print(report)                    -- a row for each kernel, and for each kind of copy
--     report:write_trace 'run.json'    -- for chrome://tracing and ui.perfetto.dev
--
-- Each launch and copy is timed by itself, so work that overlaps on two streams
-- counts twice. The trace also has what the host did (trace.lua). Of several ranks
-- rank 0 writes one trace of all, with their times on its clock; all call write_trace.

local files = require 'bindings.files'
local here = require 'mare.ranks.here'
local json = require 'dkjson'
local recorder = require 'bindings.profile'
local system = require 'bindings.system'
local trace = require 'mare.measure.trace'

local profile = {}

local Report = {}
Report.__index = Report

-- Returns one row for all records of the same name on the same device, sorted
-- by total time, longest first.
local function make_rows(records)
    local rows, by_name, total = {}, {}, {}
    for _, r in ipairs(records) do
        local key = r.device .. ' ' .. r.name
        local row = by_name[key]
        if not row then
            row = { name = r.name, device = r.device, is_kernel = r.is_kernel, calls = 0,
                total_ms = 0, bytes = 0, registers = r.registers, resident = r.resident,
                group = r.group, groups = r.groups, occupancy = r.occupancy,
                local_memory = r.local_memory, private_memory = r.private_memory }
            rows[#rows + 1], by_name[key] = row, row
        end
        local ms = r.stop_ms - r.start_ms
        row.calls, row.total_ms, row.bytes = row.calls + 1, row.total_ms + ms, row.bytes + r.bytes
        total[r.device] = (total[r.device] or 0) + ms
    end
    for _, row in ipairs(rows) do
        row.mean_ms = row.total_ms / row.calls
        row.share = total[row.device] > 0 and row.total_ms / total[row.device] or 0
        row.rate = row.bytes > 0 and row.total_ms > 0 and row.bytes / row.total_ms * 1e3 or nil
    end
    table.sort(rows, function(a, b)
        if a.total_ms ~= b.total_ms then return a.total_ms > b.total_ms end
        return a.device .. a.name < b.device .. b.name
    end)
    return rows
end

local function known(value, format)
    return value and value > 0 and format:format(value) or '-'
end

-- Returns "4x128 of 32x8": how many groups the first launch had, and of what size.
local function shape_text(row)
    if not row.group then return '-' end
    local function text(sizes)
        local words = { unpack(sizes) }
        while #words > 1 and words[#words] == 1 do words[#words] = nil end
        return table.concat(words, 'x')
    end
    return text(row.groups) .. ' of ' .. text(row.group)
end

-- Prints one row for each kernel and kind of copy. T_eff counts the bytes that
-- a launch was declared to move. `resident` is the number of work-items that
-- one compute unit holds at once, and occupied the share of those it can hold, for
-- groups of the size of the first launch.
function Report:__tostring()
    local lines = { ('%-28s %-10s %8s %12s %12s %7s %11s %9s %9s %8s  %s'):format('name', 'device',
        'calls', 'total ms', 'mean us', 'share', 'T_eff GB/s', 'registers', 'resident', 'occupied',
        'groups') }
    for _, row in ipairs(self.rows) do
        local form = '%-28s %-10s %8d %12.3f %12.3f %5.1f %% %11s %9s %9s %8s  %s'
        lines[#lines + 1] = form:format(row.name, row.device, row.calls, row.total_ms,
            1000 * row.mean_ms, 100 * row.share,
            known(row.rate and row.rate / 1e9, '%.1f'), known(row.registers, '%d'),
            known(row.resident, '%d'), known(row.occupancy and 100 * row.occupancy, '%.0f %%'),
            shape_text(row))
    end
    return table.concat(lines, '\n')
end

local characters = { '^[%z\1-\127]+', '^[\194-\223][\128-\191]', '^\224[\160-\191][\128-\191]',
    '^[\225-\236\238\239][\128-\191][\128-\191]', '^\237[\128-\159][\128-\191]',
    '^\240[\144-\191][\128-\191][\128-\191]', '^[\241-\243][\128-\191][\128-\191][\128-\191]',
    '^\244[\128-\143][\128-\191][\128-\191]' }
local replacement = '\239\191\189'

local function character_at(text, at)
    for _, pattern in ipairs(characters) do
        local found = text:match(pattern, at)
        if found then return found end
    end
end

-- Returns the text as a JSON string. Labels may contain any bytes; what is not
-- UTF-8 becomes U+FFFD.
local function quote(text)
    local pieces, at = {}, 1
    while at <= #text do
        local found = character_at(text, at)
        pieces[#pieces + 1] = found or replacement
        at = at + (found and #found or 1)
    end
    return json.quotestring(table.concat(pieces))
end

local stride = 1000         -- processes of the trace that a rank may have

-- Returns the lines of a trace: each device is a process, each of its streams a thread.
-- whose: in front of the name of a device; first: number of the first process; origin:
-- seconds of the clock that are 0 in the trace
local function device_lines(records, whose, first, origin)
    local lines, processes, threads = {}, {}, {}
    local function add(format, ...) lines[#lines + 1] = format:format(...) end
    for _, r in ipairs(records) do
        local process = processes[r.device]
        if not process then
            processes.count = (processes.count or 0) + 1
            process, processes[r.device] = first + processes.count, first + processes.count
            add('{"ph":"M","name":"process_name","pid":%d,"args":{"name":%s}}', process,
                quote(whose .. r.device .. ': ' .. r.model))
        end
        local thread = process .. ' ' .. r.stream_index
        if not threads[thread] then
            threads[thread] = true
            add('{"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":%s}}', process,
                r.stream_index, quote('stream ' .. r.stream))
        end
        add('{"ph":"X","name":%s,"cat":"%s","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,'
            .. '"args":{"bytes":%.0f}}', quote(r.name), r.is_kernel and 'kernel' or 'memory',
            process, r.stream_index, 1e6 * (r.begun - origin) + 1000 * r.start_ms,
            1000 * (r.stop_ms - r.start_ms), r.bytes)
    end
    return lines
end

local rows = { 'calls', 'waits', 'messages', 'writer' }

-- Adds the lines of what the host has done: a process with a thread for each kind. Messages
-- overlap, and are events of their own.
local function add_host_lines(lines, spans, whose, process, origin)
    local function add(format, ...) lines[#lines + 1] = format:format(...) end
    local thread = {}
    for k, row in ipairs(rows) do thread[row] = k end
    if spans[1] then
        add('{"ph":"M","name":"process_name","pid":%d,"args":{"name":%s}}', process,
            quote(whose .. 'host'))
    end
    for k, row in ipairs(spans[1] and rows or {}) do
        add('{"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":"%s"}}', process, k,
            row)
    end
    for k, s in ipairs(spans) do
        local head = ('"name":%s,"cat":"%s","pid":%d,"tid":%d'):format(quote(s.name), s.row,
            process, thread[s.row])
        local start, stop = 1e6 * (s.start - origin), 1e6 * (s.stop - origin)
        if s.row == 'messages' then
            local id = ('"id":"%d.%d"'):format(process, k)
            add('{"ph":"b",%s,%s,"ts":%.3f,"args":{"bytes":%.0f,"peer":%d}}', head, id, start,
                s.bytes, s.peer)
            add('{"ph":"e",%s,%s,"ts":%.3f}', head, id, stop)
        else
            add('{"ph":"X",%s,"ts":%.3f,"dur":%.3f}', head, start, stop - start)
        end
    end
end

-- Returns the lines of the trace of all ranks as texts, on rank 0; nil on others.
local function texts_of_all(self)
    local ahead, origin = trace.ahead(), math.huge
    for _, other in ipairs(here.all(self.origin - ahead)) do
        origin = math.min(origin, other + ahead)
    end
    local whose = here.size > 1 and here.name .. ': ' or ''
    local lines = device_lines(self.records, whose, here.rank * stride, origin)
    add_host_lines(lines, self.spans, whose, (here.rank + 1) * stride, origin)
    if here.size == 1 then return { table.concat(lines, ',\n') } end
    return require('mare.ranks').gather(table.concat(lines, ',\n'))
end

-- Writes the records in the trace event format, with times in microseconds. All ranks
-- call it; rank 0 writes.
function Report:write_trace(path)
    local texts = texts_of_all(self)
    if not texts then return end
    local temporary = files.temporary(path)
    temporary:append '{"displayTimeUnit":"ns","traceEvents":[\n'
    local is_first = true
    for _, text in ipairs(texts) do
        if text ~= '' then temporary:append((is_first and '' or ',\n') .. text) end
        is_first = is_first and text == ''
    end
    temporary:append '\n]}\n'
    temporary:commit()
end

local origin        -- seconds of the steady clock at which the profile began; nil: there is none
local kept = {}     -- reports of what it has seen before and within profiles inside of it

-- From now on all work on devices, and what the host does, is noted.
function profile.begin()
    recorder.begin()
    origin = system.now()
    trace.begin()
end

-- Returns what was noted since the last begin().
local function stretch()
    local spans, began = trace.finish(), origin
    origin = nil
    local records = recorder.finish()
    for _, r in ipairs(records) do began = math.min(began, r.begun) end
    return { records = records, spans = spans, origin = began }
end

-- Returns the report of everything since begin().
function profile.finish()
    local parts, all = kept, { records = {}, spans = {}, origin = math.huge }
    kept = {}
    parts[#parts + 1] = stretch()
    for _, part in ipairs(parts) do
        for _, name in ipairs { 'records', 'spans' } do
            for _, one in ipairs(part[name]) do table.insert(all[name], one) end
        end
        all.origin = math.min(all.origin, part.origin)
    end
    all.rows = make_rows(all.records)
    return setmetatable(all, Report)
end

-- mare.profile(f): runs f and returns the report. An error of f is raised
-- again. Where a profile runs already, such as that of --profile, it has what f does, too.
function profile.new(f)
    local outer = kept
    if origin then outer[#outer + 1] = stretch() else outer = nil end
    kept = {}
    profile.begin()
    local ok, failure = pcall(f)
    local finished, report = pcall(profile.finish)
    if outer then
        kept, outer[#outer + 1] = outer, finished and report or nil
        profile.begin()
    end
    if not (ok and finished) then error(ok and report or failure, 0) end
    return report
end

return profile
