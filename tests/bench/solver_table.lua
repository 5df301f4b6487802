-- solver_table.lua - prints the records of solvers.lua as a table: one row per
-- scheme, precision and size, one column per device.

local cases = require 'tests.bench.cases'
local home = require 'bindings.home'
local json = require 'dkjson'

local solver_table = {}

local function order_of()
    local order = {}
    for k, case in ipairs(cases.list) do order[case.name] = k end
    return order
end

-- Returns { rows, devices }. A row is { solver, precision, n, [device] = record
-- }. If a measurement has several records, the last one counts.
local function group(records)
    local rows, devices, found = {}, {}, {}
    for _, r in ipairs(records) do
        local device = r.device
        if not found[device] then
            devices[#devices + 1], found[device] = device, true
        end
        local key = ('%s %s %d'):format(r.solver, r.precision, r.nx)
        if not rows[key] then
            rows[key] = { solver = r.solver, precision = r.precision, n = r.nx }
            rows[#rows + 1] = rows[key]
        end
        rows[key][device] = r
    end
    local order = order_of()
    table.sort(rows, function(a, b)
        if a.solver ~= b.solver then
            return (order[a.solver] or 99) < (order[b.solver] or 99)
        end
        if a.precision ~= b.precision then return a.precision == 'float' end
        return a.n < b.n
    end)
    return rows, devices
end

local function cell(r)
    if not r then return ('%22s'):format '' end
    local share = r.share_of_copy and ('%.1f %%'):format(100 * r.share_of_copy) or ''
    return ('%9.4g %5.0f %7s'):format(r.cells_per_second / 1e9, r.t_eff / 1e9, share)
end

-- Returns the records of the published kernels, by solver.
local function read_published()
    local found = {}
    for line in io.lines(home.root .. '/tests/bench/records/published.jsonl') do
        local one = json.decode(line)
        found[one.solver] = one
    end
    return found
end

-- Returns the rate of the published kernels, if it was measured on this grid.
local function published(all, row)
    local p = all[row.solver]
    if not p or p.n ~= row.n or row.precision ~= 'float' then return nil end
    return ('%9.4g %13.0f %%'):format(p.cells_per_second / 1e9, 100 * p.share_of_copy)
end

-- Prints the table: for each device Gcells/s, T_eff in GB/s and its share of a
-- copy; then the rates of the published kernels on an H200.
function solver_table.print(records)
    local rows, devices = group(records)
    local head, units = { ('%-40s'):format '' }, { ('%-26s %-6s %6s'):format('scheme', 'real',
        'cells') }
    for k, device in ipairs(devices) do
        head[k + 1] = ('%23s'):format(device)
        units[k + 1] = ('%9s %5s %7s'):format('Gcells/s', 'GB/s', 'of copy')
    end
    local known = read_published()
    print(table.concat(head, '  '))
    print(table.concat(units, '   ') .. '   published on an H200')
    for _, row in ipairs(rows) do
        local words = { ('%-26s %-6s %5d²'):format(row.solver, row.precision, row.n) }
        for k, device in ipairs(devices) do words[k + 1] = cell(row[device]) end
        words[#words + 1] = published(known, row)
        print((table.concat(words, '   '):gsub('%s+$', '')))
    end
end

return solver_table
