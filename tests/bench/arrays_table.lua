-- arrays_table.lua - shows the records of arrays.lua beside those of arrays_peers.py and what is
-- wanted of an H200, or of a processor where those of NumPy are among them.

local tables = require 'bindings.tables'

local arrays_table = {}

-- What is wanted: ms, GB/s or us at an absolute `limit`, or a `share` of CuPy's rate. own: the
-- name that Mare's record has, where CuPy's has another. OpenCL may be slower by a tenth, or by
-- what `opencl` says.
local rows = {
    { '2a + b', 'ms', most = 0.40 },
    { 'sqrt(aa + bb + cc)/(1 + a)', 'ms', most = 0.53 },
    { 'sum', 'GB/s', least = 4200 },
    { 'dot', 'GB/s', least = 4200 },
    { 'sum along axis 0', 'GB/s', least = 4200 },
    { 'sum along axis 1', 'GB/s', least = 4200 },
    { 'transposing copy', 'GB/s', least = 3500 },
    { 'uniform random numbers', 'GB/s', least = 2800 },
    { 'running sum', 'GB/s', least = 2500, opencl = 0.6 },
    { 'sort', 'G/s', share = 0.6, opencl = 1 },
    { 'float 8192^2 product', 'G/s', own = { 'float 8192^2 product, cublas' }, share = 0.99 },
    { 'double 8192^2 product', 'G/s', own = { 'double 8192^2 product, cublas' }, share = 0.99 },
    { 'float 8192^2 product', 'G/s', own = { 'float 8192^2 product, own' }, least = 40000,
        opencl = 0.75 },
    { 'double 8192^2 product', 'G/s', own = { 'double 8192^2 product, own' } },
    { 'float 16384^2 times vector', 'GB/s', share = 0.99 },
    { 'a + b of 16 elements', 'us', own = { '100 times a + b of 16 elements' },
        each = 100, opencl = 1,
        above = { '100 launches of x + y, bound', 1.6 } },
    { '5x + y of 10 000, first one read', 'us', most = 12 },
    { 'an expression never met before', 'us', most = 40000 },
}

-- Returns a record's figure in a unit, or nil.
local function figure(record, unit, each)
    if not record then return nil end
    if unit == 'us' then return record.microseconds / (each or 1) end
    return unit == 'ms' and 1e3 * record.seconds or record.rate / 1e9
end

-- Returns the last record of each operation by who made it, and the names of these, sorted.
local function by_maker(records)
    local found = {}
    for _, record in ipairs(records) do
        local maker = record.peer or record.device
        found[maker] = found[maker] or {}
        found[maker][record.operation] = record
    end
    return found, tables.keys(found)
end

-- Returns what is wanted of a row as a number and a text; nil if the records do not tell. least:
-- whether more is better
local function wanted(row, own, cupy)
    if row.most then return row.most, '<=' end
    if row.least then return row.least, '>=' end
    if row.above then
        local bound = own[row.above[1]]
        return bound and bound.microseconds / row.each + row.above[2], '<='
    end
    local theirs = row.share and cupy and figure(cupy[row[1]], row[2])
    return theirs and row.share * theirs, '>='
end

local function line_of(row, maker, own, cupy)
    local value = figure(own[row.own and row.own[1] or row[1]], row[2], row.each)
    if not value then return nil end
    local limit, sign = wanted(row, own, cupy)
    local slack = maker:find '^opencl' and (row.opencl or 0.9) or 1
    limit = limit and (sign == '<=' and limit / slack or limit * slack)
    local passes = limit and (sign == '<=' and value <= limit or sign == '>=' and value >= limit)
    return ('%-8s %-32s %10.4g %-5s %s'):format(maker, row.own and row.own[1] or row[1], value,
        row[2], limit and ('%s %-9.4g %s'):format(sign, limit, passes and 'pass' or 'FAIL') or '')
end

local function peers_line(row, found, makers)
    local list = {}
    for _, maker in ipairs(makers) do
        local value = figure(found[maker][row[1]], row[2])
        if value and not maker:find ':' then
            list[#list + 1] = ('%s %.4g'):format(maker, value)
        end
    end
    if #list == 0 then return nil end
    return ('         %-32s %s %s'):format('', row[2], table.concat(list, ', '))
end

-- How many times as fast as NumPy a processor is to be, where not once; products are OpenBLAS's.
local times = { ['sqrt(aa + bb + cc)/(1 + a)'] = 3, sort = 0.5, argsort = 0.5 }

-- Returns the rows of processors beside those of NumPy, as a text.
local function beside_numpy(records, found, makers)
    local lines = {}
    for _, theirs in ipairs(records) do
        local name = theirs.peer == 'numpy' and theirs.rate and theirs.operation
        for _, maker in ipairs(name and makers or {}) do
            local own = found[maker][name .. ', openblas'] or found[maker][name]
            if maker:find ':' and own then
                local ratio, limit = own.rate / theirs.rate, times[name] or 1
                local verdict = name:find 'product' and '' or ratio >= limit and 'pass' or 'FAIL'
                lines[#lines + 1] = ('%-8s %-32s %9.4g ms, NumPy %9.4g ms, %5.2f (>= %.1f) %s')
                    :format(maker, name, 1e3 * own.seconds, 1e3 * theirs.seconds, ratio, limit,
                        verdict)
            end
        end
    end
    return table.concat(lines, '\n')
end

-- Returns the table as a text.
function arrays_table.text(records)
    local found, makers = by_maker(records)
    if found.numpy then return beside_numpy(records, found, makers) end
    local lines = {}
    for _, row in ipairs(rows) do
        for _, maker in ipairs(makers) do
            if maker:find ':' then
                lines[#lines + 1] = line_of(row, maker, found[maker], found.cupy)
            end
        end
        lines[#lines + 1] = peers_line(row, found, makers)
    end
    return table.concat(lines, '\n')
end

return arrays_table
