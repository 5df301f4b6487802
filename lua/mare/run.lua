-- The time loop. Steps are queued in batches and the host looks at the clock once a batch, so
-- that the device never waits for it; output times are hit exactly because dt is clipped on the
-- device. Ctrl-C and an invalid state are noticed after each batch.

local bandwidth = require 'mare.bandwidth'
local device_list = require 'mare.devices'
local errors = require 'bindings.errors'
local exchange = require 'mare.exchange'
local host = require 'mare.host'
local outputs = require 'mare.outputs'
local progress = require 'mare.progress'
local schedule = require 'mare.schedule'
local simulation = require 'mare.simulation'
local system = require 'bindings.system'

local run = {}

local batch_seconds = 0.2       -- of queued work: as late as Ctrl-C and the progress line may be
local max_batch = 4096          -- steps

-- Bytes per second that all devices together copy, nil if one cannot tell.
local function copy_rate(sim)
    local total, seen = 0, {}
    for _, member in ipairs(sim.members) do
        local name = member.device.name
        if not seen[name] then
            local rate = bandwidth.measure(member.device)
            if not rate then return nil end
            total, seen[name] = total + rate, true
        end
    end
    return total
end

-- t: the time before the last batch, if there was one
local function check_state(sim, t)
    if sim.now.failed then
        errors.raise('MARE_ERROR_STATE', 'the state became invalid in step %.0f, t = %g: %s',
            sim.now.steps, sim.now.t, sim:invalid() or 'signals faster than numbers can hold')
    elseif sim.now.t == t then
        errors.raise('MARE_ERROR_STATE', 'time stands still at t = %g after %.0f steps, dt = %g', t,
            sim.now.steps, sim.now.dt)
    end
end

-- Steps up to the target or the limit, as far as can be known beforehand, but no more than fit a
-- batch.
local function batch_size(now, target, limit, per_step)
    local wanted = now.dt > 0 and math.ceil((target - now.t) / now.dt - 1e-9) or 1
    local fitting = math.max(1, math.floor(batch_seconds / per_step))
    return math.max(1, math.min(wanted, limit - now.steps, fitting, max_batch))
end

local function interrupt(state)
    state.progress:clear()
    if state.outputs then state.outputs:abort() end
    errors.interrupt()
end

-- On to `target` or the limit of steps. `state` keeps the seconds of one step between calls.
local function advance(state, target)
    local sim, limit = state.sim, state.steps
    sim:aim(target)
    check_state(sim)
    while sim.now.t < target and sim.now.steps < limit do
        local n = batch_size(sim.now, target, limit, state.per_step)
        local t, taken, started = sim.now.t, sim.now.steps, system.now()
        sim:step(n)
        sim:read()
        local seconds = system.now() - started
        check_state(sim, t)
        state.per_step = math.max(seconds / n, 1e-7)
        state.progress:computed(sim.now, sim.now.steps - taken, seconds)
        if host.interrupted() then interrupt(state) end
    end
end

local function write(state)
    if state.outputs then state.outputs:write(state.sim) end
end

-- The next time of a callback, or math.huge.
local function next_call(calls, t)
    local time = math.huge
    for _, call in ipairs(calls) do
        if call[1] > t and call[1] < time then time = call[1] end
    end
    return time
end

local function make_calls(state, calls)
    for _, call in ipairs(calls) do
        if call[1] == state.sim.now.t then
            state.progress:clear()
            call[2](state.sim)
        end
    end
end

-- Output, callbacks and steps in turn, each output and callback exactly at its time.
local function march(state, t_end, every, calls)
    local sim, times = state.sim, schedule.new(every, t_end)
    local output = times:next(sim.now.t)
    write(state)
    while sim.now.t < t_end and sim.now.steps < state.steps do
        advance(state, math.min(output, next_call(calls, sim.now.t)))
        make_calls(state, calls)
        if sim.now.t >= output or sim.now.steps >= state.steps then
            write(state)
            output = times:next(sim.now.t)
        end
    end
end

-- Runs a simulation. desc: { t_end, steps = limit, every = T, outputs = of outputs.new, quiet,
-- at = { { time, function(sim) }, ... } }. Returns the rates, see progress.lua.
function run.loop(sim, desc)
    local t_end, limit = desc.t_end or math.huge, desc.steps or math.huge
    if t_end == math.huge and limit == math.huge then
        errors.argument 'run: t_end or steps is wanted'
    end
    local state = {
        sim = sim, steps = limit, outputs = desc.outputs, per_step = batch_seconds,
        progress = progress.new {
            cells = sim.grid.cells, bytes = sim:bytes_per_cell(), t_end = t_end, steps = limit,
            copy_rate = not desc.quiet and copy_rate(sim) or nil, quiet = desc.quiet,
            terminal = system.is_terminal(), now = system.now,
            write = function(text) io.stderr:write(text) end,
        },
    }
    march(state, t_end, desc.every, desc.at or {})
    return state.progress:finish(sim.now)
end

-- What a scenario calls. desc: { title, options = of mare.options, grid, scheme, boundaries,
-- initial, at, picture = of outputs.lua }. Returns the simulation at its end, with the rates in
-- `rates`.
function run.new(desc)
    local o = desc.options
    local devices = device_list.open(o.device)
    desc.boundaries = exchange.boundaries(desc.boundaries)
    local files = outputs.new(desc, devices)
    local sim = simulation.new {
        grid = desc.grid, scheme = desc.scheme, boundaries = desc.boundaries,
        initial = desc.initial, options = o, devices = devices,
    }
    sim.rates = run.loop(sim, {
        t_end = o.t_end, steps = o.steps, every = o.every, quiet = o.quiet, at = desc.at,
        outputs = files,
    })
    local written = files:close(sim)
    if not o.quiet and #written > 0 then print('wrote ' .. table.concat(written, ', ')) end
    return sim
end

return run
