-- record.lua - what the benchmarks share: timing by events, medians, and records. A record is one
-- line of JSON with device, driver, version and date, appended to the file $MARE_RECORDS, and one
-- row of a table on standard output. MARE_BENCH=small only tests that a benchmark runs: it has the
-- least sizes and counts, its figures mean nothing, and they are not recorded.

local errors = require 'bindings.errors'
local json = require 'dkjson'
local mare = require 'bindings.device'

local record = {}

local small = os.getenv 'MARE_BENCH' == 'small'

record.is_small = small

-- A size or a count: the usual one, or the least that shows that the benchmark runs.
function record.few(usual, least) return small and least or usual end

function record.median(values)
    table.sort(values)
    local middle = math.floor((#values + 1) / 2)
    return (values[middle] + values[#values + 1 - middle]) / 2
end

-- Calls work() in batches after a warm-up. Returns the seconds of one call:
-- median, lowest and highest of the batches. budget: the seconds in total,
-- roughly.
function record.time(device, work, budget, batches)
    local start, stop = device:event(), device:event()
    local function batch(calls)
        start:record()
        for _ = 1, calls do work() end
        stop:record()
        return start:elapsed_ms(stop) / 1000 / calls
    end
    batch(1)
    budget, batches = record.few(budget, 0), record.few(batches or 7, 1)
    local calls = math.max(1, math.min(10000, math.floor(budget / batches / batch(3))))
    batch(calls)
    local seconds = {}
    for index = 1, batches do seconds[index] = batch(calls) end
    return record.median(seconds), seconds[1], seconds[#seconds]
end

local function answer(command)
    local pipe = io.popen(command .. ' 2>/dev/null')
    local line = pipe and pipe:read '*l'
    if pipe then pipe:close() end
    return line
end

-- Returns the command that tells the clocks of a device, which the vendor counts in another order,
-- or nil.
function record.clock_query(info)
    if not info.vendor:find 'NVIDIA' or info.uuid == '' then return nil end
    return ('nvidia-smi -i GPU-%s --query-gpu=clocks.sm,clocks.mem,power.draw '
        .. '--format=csv,noheader'):format(info.uuid)
end

-- Returns "1980 MHz, 3201 MHz, 650.00 W", or nil. Right after a measurement
-- these are the clocks during it, because they fall slowly.
local function clocks(info)
    local command = record.clock_query(info)
    return command and answer(command)
end

-- Returns the records of a file that have the wanted values, in its order.
function record.read(path, wanted)
    local list, file, reason = {}, io.open(path)
    if not file then errors.usage('records: %s', reason) end
    for line in file:lines() do
        local values = json.decode(line)
        local fits = values ~= nil
        for name, value in pairs(wanted) do fits = fits and values[name] == value end
        if fits then list[#list + 1] = values end
    end
    file:close()
    return list
end

-- Writes a record. values: { benchmark =, and the measurements, with units in
-- their names }. row: its row in the table. Returns the record.
function record.write(device, values, row)
    local info = device.info
    values.device, values.model, values.driver = info.name, info.model, info.driver
    values.clocks = clocks(info)
    values.mare, values.commit = mare.version, mare.commit
    values.date = os.date '!%Y-%m-%dT%H:%M:%SZ'
    local path = not small and os.getenv 'MARE_RECORDS'
    if path then
        local file = assert(io.open(path, 'a'))
        file:write(json.encode(values), '\n')
        file:close()
    end
    print(row)
    return values
end

return record
