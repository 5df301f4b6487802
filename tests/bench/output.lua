-- output.lua - what output costs a run of Kelvin-Helmholtz, four fields at a time, against the same
-- steps without it, in pairs. Three cases:
--   brought   snapshots every EVERY steps that come to the host and are thrown away there
--   written   every so many steps that the disk has twice the time it needs, at least EVERY
--   pressed   every EVERY steps, where the disk is slower than that: the run then waits for it, in
--             bounded memory
-- The rate of the disk is that of plain writes of the same data into the same folder.
--     mare tests/bench/output.lua [DEVICE [FOLDER [EVERY [NX NY]]]]

local devices = require 'bindings.device'
local exchange = require 'mare.exchange'
local files = require 'bindings.files'
local mare = require 'mare'
local outputs = require 'mare.outputs'
local record = require 'tests.bench.record'
local run = require 'mare.run'
local snapshot = require 'mare.snapshot'
local system = require 'bindings.system'

local device = devices.open(arg[1])
local is_gpu = device.info.kind == 'gpu'
local path = (arg[2] or '.') .. '/output_bench.nc'
local every = tonumber(arg[3] or 20)
local nx = tonumber(arg[4] or is_gpu and 4096 or 1024)
local ny = tonumber(arg[5] or is_gpu and 4096 or 512)
local seconds_a_case = 8
local seconds_a_run, fewest = 0.4, 5    -- and outputs: the first of a run loads its kernels

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

-- Does what outputs.lua does, but the data are thrown away.
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
        finish = function()
            for s in pairs(used) do shot:wait(s) end
            shot:release()
        end,
    }
end

local function to_file(sim, interval)
    desc.options.every_steps = interval
    local out = outputs.new(desc, { device })
    out:attach(sim)
    function out.finish()
        out:close(sim)
        out.list[1].snapshot:release()
        os.remove(path)
    end
    return out
end

-- Seconds until so many steps are taken, and until everything is where it belongs.
local function measure(sim, steps, make, interval)
    local out = make and make(sim, interval)
    local started = system.now()
    run.loop(sim, { t_end = 1e6, steps = sim.now.steps + steps, quiet = true, outputs = out })
    local seconds = system.now() - started
    if out then out:finish() end
    return seconds, system.now() - started
end

-- Pairs of runs without and with output, at their start, end and between, as many as the time
-- allows. The least cost is that of the pair disturbed least.
local function compare(sim, make, interval, a_step, count)
    count = count or math.max(fewest, 1 + math.ceil(seconds_a_run / (interval * a_step)))
    local steps = (count - 1) * interval
    if sim.now.steps % interval > 0 then measure(sim, interval - sim.now.steps % interval) end
    local pairs_ = math.floor(seconds_a_case / (2 * steps * a_step))
    local result = { every = interval, costs = {}, without = {}, whole = {} }
    for k = 1, math.max(2, math.min(15, pairs_)) do
        local without = measure(sim, steps)
        local with, whole = measure(sim, steps, make, interval)
        result.without[k], result.costs[k] = without / steps, with / without - 1
        result.whole[k] = whole
    end
    result.cost = record.median(result.costs)       -- and sorted
    result.least, result.step = result.costs[1], record.median(result.without)
    result.rate = count * bytes / record.median(result.whole)
    return result
end

-- Bytes per second of plain writes into the same folder.
local function disk_rate()
    local memory = device:host { size = math.min(bytes, 2 ^ 26) }
    local temporary, started = files.temporary(path), system.now()
    local count = math.ceil(2 * bytes / memory.size)
    temporary:reserve(count * memory.size)
    for _ = 1, count do temporary:append(memory.data, memory.size) end
    local seconds = system.now() - started
    temporary:discard()
    local rate = count * memory.size / seconds
    memory:release()
    return rate
end

-- MiB of memory that the process has had at most.
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
local disk = disk_rate()
local relaxed = math.max(every, math.ceil(2 * bytes / disk / a_step))
local before = high_water()

local brought = compare(sim, sink, every, a_step)
local written = compare(sim, to_file, relaxed, a_step)
local pressed = relaxed > every and compare(sim, to_file, every, a_step, fewest)
local memory = high_water() - before

local function percent(case)
    return string.format('%+.1f %% (least %+.1f)', 100 * case.cost, 100 * case.least)
end
local row = string.format('%s output %dx%d, %.0f MB each, %.3g ms a step: every %d steps brought '
    .. '%s; every %d written %s, disk %.2f GB/s', device.name, nx, ny, bytes / 1e6,
    1e3 * written.step, every, percent(brought), relaxed, percent(written), disk / 1e9)
if pressed then
    row = row .. string.format('; every %d written %.1f times as long, %.2f of %.2f GB/s wanted',
        every, 1 + pressed.cost, pressed.rate / 1e9, bytes / every / pressed.step / 1e9)
end
record.write(device, {
    benchmark = 'output', nx = nx, ny = ny, snapshot_bytes = bytes, every = every,
    step_seconds = written.step, brought_cost = brought.cost, brought_least = brought.least,
    written_every = relaxed, written_cost = written.cost, written_least = written.least,
    pressed_cost = pressed and pressed.cost, disk_bytes_per_second = disk,
    memory_mib = memory,
}, row .. string.format('; %.0f MiB more memory', memory))
