-- output.lua - what output costs a run of Kelvin-Helmholtz that writes four fields at a time,
-- against the same steps without output, in pairs. Three cases:
--   brought   snapshots every EVERY steps that are downloaded and dropped
--   written   so rarely that the disk has twice the time it needs, at most every EVERY steps
--   pressed   every EVERY steps, on a disk that is slower: the run then waits for it, in bounded
--             memory
-- The rate of the disk is that of plain writes of the same data into the same folder, until they
-- are on the disk. The time of cores is that of all threads of the process, in the system, too.
--     mare tests/bench/output.lua [DEVICE [FOLDER [EVERY [NX NY]]]]

local exchange = require 'mare.array.exchange'
local files = require 'bindings.files'
local mare = require 'mare'
local outputs = require 'mare.run.outputs'
local record = require 'tests.bench.record'
local run = require 'mare.run'
local snapshot = require 'mare.array.snapshot'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
local is_gpu = device.info.kind == 'gpu'
local path = (arg[2] or '.') .. '/output_bench.nc'
local every = words.count('output: EVERY', arg[3], 20)
local nx = words.count('output: NX', arg[4], is_gpu and 4096 or 1024)
local ny = words.count('output: NY', arg[5], is_gpu and 4096 or 512)
local seconds_a_case = record.few(is_gpu and 8 or 36, 0)
local most = record.few(is_gpu and 15 or 60, 2)             -- pairs of runs
local seconds_a_run, fewest = record.few(0.4, 0), record.few(5, 1)      -- fewest: outputs
local file_bytes = 2 ^ 31               -- of a file, if it has room for two runs

local desc = {
    title = 'output', grid = mare.grid { nx = nx, ny = ny, x = { 0, 2 }, y = { 0, 1 } },
    scheme = mare.euler { gamma = 1.4 }, boundaries = exchange.boundaries 'periodic',
    initial = function(x, y)
        local light = math.abs(y - 0.5) < 0.25 and 1 or 0
        return 2 - light, light - 0.5, 0.01 * math.sin(2 * math.pi * x), 2.5
    end,
    options = { t_end = 1e6, quiet = true, precision = 'float', out = path },
}
local bytes = 4 * 4 * nx * ny       -- of a snapshot

-- Does the work of outputs.lua, but drops the data.
local function sink(sim, interval)
    local shot = snapshot.new(sim, { variables = sim.scheme.fields, slots = 2 })
    local used, slot = {}, 1
    return {
        write = function()
            if sim.now.steps % interval > 0 then return end
            if used[slot] then shot:wait(slot) end
            shot:take(slot)
            used[slot], slot = true, 3 - slot
        end,
        next_time = function() return math.huge end,
        next_step = function(_, n) return (math.floor(n / interval) + 1) * interval end,
        poll = function() end,
        settle = function()
            for s in pairs(used) do shot:wait(s) end
        end,
        finish = function() shot:release() end,
    }
end

local function to_file(sim, interval)
    desc.options.every_steps = interval
    local out = outputs.new(desc, { device })
    out:attach(sim)
    function out.settle()
        local busy = out.list[1].busy
        while busy[1] or busy[2] do
            system.sleep(1e-4)
            out:poll()
        end
    end
    function out.finish()
        out:close(sim)
        out.list[1].snapshot:release()
        os.remove(path)
    end
    return out
end

-- Returns the seconds until the steps are computed, the seconds until all data
-- are stored, and those of cores.
local function measure(sim, steps, out)
    local started, used = system.now(), system.core_seconds()
    run.loop(sim, { t_end = 1e6, steps = sim.now.steps + steps, quiet = true, outputs = out })
    local seconds = system.now() - started
    if out then out.settle() end
    return seconds, system.now() - started, system.core_seconds() - used
end

-- Calls f(out) for k = 1 to n, with an output that has begun. A file holds as
-- many runs as it has room for, and its first pages have been written before.
local function with_output(sim, make, interval, n, bytes_a_run, f)
    local a_file, out = math.max(1, math.floor(file_bytes / bytes_a_run)), nil
    for k = 1, n do
        if k % a_file == 1 or a_file == 1 then
            if out then out.finish() end
            out = make(sim, interval)
            measure(sim, 2 * interval, out)
        end
        f(out, k)
    end
    out.finish()
end

-- Returns the median of values, which it sorts, and its standard error from
-- their quartiles.
local function middle(values)
    local median, n = record.median(values), #values
    local spread = values[math.ceil(3 * n / 4)] - values[math.ceil(n / 4)]
    return median, 1.25 * spread / 1.349 / math.sqrt(n)
end

-- Compares runs without and with output in pairs, as many as the time allows.
-- They begin and end half way between two outputs. The least cost is that of
-- the least disturbed pair. cores: seconds of cores per snapshot.
local function compare(sim, make, interval, a_step, count)
    count = count or math.max(fewest, math.ceil(seconds_a_run / (interval * a_step)))
    local steps, half = count * interval, math.floor(interval / 2)
    local n = math.max(2, math.min(most, math.floor(seconds_a_case / (2 * steps * a_step))))
    local costs, alone, whole, cores = {}, {}, {}, {}
    measure(sim, interval - sim.now.steps % interval + half)
    with_output(sim, make, interval, n, count * bytes, function(out, k)
        local without, _, used = measure(sim, steps)
        local with, all, used_with = measure(sim, steps, out)
        alone[k], costs[k] = without / steps, with / without - 1
        whole[k], cores[k] = all, (used_with - used) / count
    end)
    local result = { every = interval, step = record.median(alone), cores = record.median(cores),
        rate = count * bytes / record.median(whole) }
    result.cost, result.error = middle(costs)
    result.least = costs[1]
    return result
end

-- Returns the bytes per second of plain writes into the same folder until they
-- are on the disk, and the seconds of cores for as much as a snapshot.
local function disk_rate()
    local memory = device:host { size = math.min(bytes, 2 ^ 26) }
    local count = math.ceil(math.max(2 * bytes, record.few(2 ^ 28, 0)) / memory.size)
    local temporary, started, used = files.temporary(path), system.now(), system.core_seconds()
    temporary:reserve(count * memory.size)
    for _ = 1, count do temporary:append(memory:pointer(), memory.size) end
    files.sync(temporary.name)
    local size, seconds = count * memory.size, system.now() - started
    used = system.core_seconds() - used
    temporary:discard()
    memory:release()
    return size / seconds, used * bytes / size
end

-- Returns the largest memory of the process so far, in MiB.
local function high_water()
    for line in io.lines '/proc/self/status' do
        local size = line:match '^VmHWM:%s+(%d+) kB'
        if size then return size / 1024 end
    end
end

local sim = mare.simulation {
    grid = desc.grid, scheme = desc.scheme, boundaries = desc.boundaries, initial = desc.initial,
    devices = { device }, options = desc.options,
}
measure(sim, every)
local a_step = measure(sim, 2 * every) / (2 * every)
disk_rate()
local disk, plain = disk_rate()
local relaxed = math.max(every, math.ceil(2 * bytes / disk / a_step))
local before = high_water()

local brought = compare(sim, sink, every, a_step)
local written = compare(sim, to_file, relaxed, a_step)
local pressed = relaxed > every and compare(sim, to_file, every, a_step, fewest)
local memory = high_water() - before

local function percent(case)
    return string.format('%+.1f +- %.1f %% (least %+.1f), %.1f ms of a core', 100 * case.cost,
        100 * case.error, 100 * case.least, 1e3 * case.cores)
end
local row = string.format('%s output %dx%d, %.0f MB each, %.3g ms a step: every %d steps brought '
    .. '%s; every %d written %s, disk %.2f GB/s, %.1f ms of a core', device.name, nx, ny,
    bytes / 1e6, 1e3 * written.step, every, percent(brought), relaxed, percent(written),
    disk / 1e9, 1e3 * plain)
if pressed then
    row = row .. string.format('; every %d written %.1f times as long, %.2f of %.2f GB/s wanted',
        every, 1 + pressed.cost, pressed.rate / 1e9, bytes / every / pressed.step / 1e9)
end
record.write(device, {
    benchmark = 'output', nx = nx, ny = ny, snapshot_bytes = bytes, every = every,
    step_seconds = written.step, brought_cost = brought.cost, brought_error = brought.error,
    brought_least = brought.least, brought_core_seconds = brought.cores,
    written_every = relaxed, written_cost = written.cost, written_error = written.error,
    written_least = written.least, written_core_seconds = written.cores,
    pressed_cost = pressed and pressed.cost, disk_bytes_per_second = disk,
    disk_core_seconds = plain, memory_mib = memory,
}, row .. string.format('; %.0f MiB more memory', memory))
