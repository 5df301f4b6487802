-- rate.lua - how many cells per second a scheme updates on a device.

local cases = require 'tests.bench.cases'
local record = require 'tests.bench.record'
local simulation = require 'mare.run.simulation'
local state = require 'mare.array.state'

local rate = {}

local batches, batch_seconds = record.few(9, 2), record.few(0.1, 0)
local longest_plan = 16

-- Takes batches of steps of about 0.1 s; the clock is read between them, as in
-- a run. Returns the seconds per step of each batch, and the steps of a batch.
local function time_steps(device, sim)
    local start, stop = device:event(), device:event()
    local function batch(steps)
        start:record()
        sim:step(steps)
        stop:record()
        local seconds = start:elapsed_ms(stop) / 1000
        if sim:read().failed then error('the state is no longer finite') end
        return seconds / steps
    end
    sim:aim(math.huge)
    batch(2)                    -- some drivers compile at the first launch
    local once, unit = batch(2), 2
    if once < batch_seconds then once, unit = batch(longest_plan), longest_plan end
    local steps = unit * math.max(1, math.min(60, math.ceil(batch_seconds / unit / once)))
    local seconds = {}
    for index = 1, batches do seconds[index] = batch(steps) end
    return seconds, steps
end

-- Returns why there is too little memory, or nil.
local function too_large(device, desc)
    local scheme, n = desc.scheme, desc.grid.nx
    local _, wanted = state.size({ nx = n, ny = n }, scheme, desc.options.precision)
    local free, total = device:memory()
    local room = total > 0 and free or 0.5 * device.info.memory     -- the host uses it, too
    return wanted > 0.95 * room and ('%.1f GiB, there are %.1f'):format(wanted / 2 ^ 30,
        room / 2 ^ 30)
end

-- Measures a case of cases.list on n x n cells. Returns { cells_per_second =
-- median, bytes_per_cell, seconds_per_step, fastest_step, slowest_step,
-- steps_per_batch }, or nil and why there is too little memory.
function rate.measure(device, case, precision, n)
    local desc = cases.make(case, n, precision)
    desc.devices = { device }
    return rate.of(device, desc)
end

-- Does so for a description as for simulation.new.
function rate.of(device, desc)
    local reason = too_large(device, desc)
    if reason then return nil, reason end
    local sim = simulation.new(desc)
    local times, steps = time_steps(device, sim)
    local seconds, bytes = record.median(times), sim:bytes_per_cell()       -- sorts the times
    sim:release()
    return { cells_per_second = desc.grid.cells / seconds, bytes_per_cell = bytes,
        seconds_per_step = seconds, fastest_step = times[1], slowest_step = times[#times],
        steps_per_batch = steps }
end

return rate
