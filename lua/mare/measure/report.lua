-- report.lua - shows where the memory is, per device and per live object. Both
-- functions return an array for programs, which prints as a table for people.

local device = require 'bindings.device'

local report = {}

local units = { 'B', 'KiB', 'MiB', 'GiB', 'TiB' }

-- Formats bytes, for example as "1.5 MiB".
function report.size(bytes)
    local unit = 1
    while bytes >= 1024 and unit < #units do
        bytes, unit = bytes / 1024, unit + 1
    end
    return (unit == 1 and '%d %s' or '%.1f %s'):format(bytes, units[unit])
end

local function text(rows)
    local lines = {}
    for index, row in ipairs(rows) do lines[index] = row.text end
    return table.concat(lines, '\n')
end
local table_of_rows = { __tostring = text }

local function known(bytes)
    return bytes > 0 and report.size(bytes) or 'unknown'
end

local function memory_of(d)
    local row = { device = d.name }
    row.in_use, row.idle = d:pool()
    row.free, row.total = d:memory()
    if row.total == 0 then row.total = d.info.memory end
    row.text = ('%-10s %10s in buffers, %10s idle, %10s free of %s'):format(row.device,
        report.size(row.in_use), report.size(row.idle), known(row.free), known(row.total))
    return row
end

-- Returns the row of a device that no longer answers.
local function lost_memory(d)
    return { device = d.name, lost = true, in_use = 0, idle = 0, free = 0, total = d.info.memory,
        text = ('%-10s lost'):format(d.name) }
end

-- mare.memory(): for each open device the bytes in_use by buffers, idle in the
-- pool, free and total (0 if the driver does not report it); `lost` if the
-- device no longer answers.
function report.memory()
    local rows = {}
    for index, d in ipairs(device.opened()) do
        local ok, row = pcall(memory_of, d)
        if not ok and row.status ~= 'MARE_ERROR_LOST' then error(row, 0) end
        rows[index] = ok and row or lost_memory(d)
    end
    return setmetatable(rows, table_of_rows)
end

-- mare.report(): the live objects, oldest first: kind, label, bytes, refs.
function report.objects()
    local rows = device.objects()
    for _, row in ipairs(rows) do
        row.text = ('%-12s %-32s %12s  %d reference%s'):format(row.kind, row.label,
            row.bytes > 0 and report.size(row.bytes) or '-', row.refs, row.refs == 1 and '' or 's')
    end
    return setmetatable(rows, table_of_rows)
end

return report
