-- output.lua - what output costs a run: the time loop without it, with snapshots that are brought
-- to the host but not written, and with a file; four fields every few steps. Beside them the rate
-- at which plain writes of the same data reach the same folder: a run cannot be faster than that.
--     mare tests/bench/output.lua [DEVICE [FOLDER [EVERY [NX NY STEPS]]]]

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
local steps = tonumber(arg[6] or 200)
local rounds = 5

local desc = {
    title = 'output', grid = mare.grid { nx = nx, ny = ny, x = { 0, 2 }, y = { 0, 1 } },
    scheme = mare.euler { gamma = 1.4 }, boundaries = exchange.boundaries 'periodic',
    initial = function(x, y)
        local light = math.abs(y - 0.5) < 0.25 and 1 or 0
        return 2 - light, light - 0.5, 0.01 * math.sin(2 * math.pi * x), 2.5
    end,
}

-- Does what outputs.lua does, but the data are thrown away.
local function sink(sim)
    local shot = snapshot.new(sim, { variables = sim.scheme.fields, slots = 2 })
    local used, slot = {}, 1
    return {
        write = function()
            if sim.now.steps % every > 0 then return end
            if used[slot] then shot:wait(slot) end
            shot:take(slot)
            used[slot], slot = true, 3 - slot
        end,
        next_time = function() return math.huge end,
        next_step = function(_, n) return (math.floor(n / every) + 1) * every end,
        poll = function() end,
        finish = function() for s in pairs(used) do shot:wait(s) end end,
    }
end

local function to_file(sim)
    local out = outputs.new(desc, { device })
    out:attach(sim)
    function out.finish() out:close(sim) end
    return out
end

-- Seconds until the loop ends and until everything is where it belongs.
local function measure(sim, make)
    sim:set(desc.initial)
    local out = make and make(sim)
    collectgarbage()
    local started = system.now()
    run.loop(sim, { t_end = 1e6, steps = steps, quiet = true, outputs = out })
    local seconds = system.now() - started
    if out then out:finish() end
    os.remove(path)
    return seconds
end

-- Bytes per second of plain writes.
local function disk_rate(bytes)
    local part = math.min(bytes, 2 ^ 26)
    local memory = device:host { size = part }
    local temporary, started = files.temporary(path), system.now()
    for _ = 1, math.ceil(bytes / part) do temporary:append(memory.data, part) end
    local seconds = system.now() - started
    temporary:discard()
    memory:release()
    return bytes / seconds
end

desc.options = { t_end = 1e6, quiet = true, precision = 'float', out = path, every_steps = every }
local sim = mare.simulation {
    grid = desc.grid, scheme = desc.scheme, boundaries = desc.boundaries, initial = desc.initial,
    devices = { device }, options = desc.options,
}
measure(sim)
local none, down, written, disk = {}, {}, {}, {}
local bytes = math.floor(steps / every) * 4 * 4 * nx * ny
for k = 1, rounds do
    none[k], down[k], written[k] = measure(sim), measure(sim, sink), measure(sim, to_file)
    disk[k] = disk_rate(bytes)
end
local base, rate = record.median(none), record.median(disk)
local values = {
    benchmark = 'output', nx = nx, ny = ny, steps = steps, every = every, bytes = bytes,
    seconds_without = base, seconds_snapshots = record.median(down),
    seconds_file = record.median(written), disk_bytes_per_second = rate,
}
record.write(device, values, string.format('output %dx%d, 4 fields every %d of %d steps: %.3f s; '
    .. 'snapshots %+.1f %%, file %+.1f %%; wants %.2f GB/s, the disk writes %.2f GB/s', nx, ny,
    every, steps, base, 100 * (values.seconds_snapshots / base - 1),
    100 * (values.seconds_file / base - 1), bytes / base / 1e9, rate / 1e9))
