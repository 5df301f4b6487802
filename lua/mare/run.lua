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
local restart = require 'mare.restart'
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
            sim.now.steps, sim.now.t, sim:why_failed())
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

-- Ends the run before its end: with a checkpoint where these are wanted, so that it can go on.
local function stop_early(state, why)
    state.progress:clear()
    if not state.saver then return nil end
    state.saver:finish(state.sim)
    io.stderr:write(string.format('mare: %s at t = %g, step %.0f; --restart %s goes on\n', why,
        state.sim.now.t, state.sim.now.steps, state.saver.path))
end

local function check_stop(state)
    if host.interrupted() then
        stop_early(state, 'interrupted')
        errors.interrupt()
    elseif state.saver and state.saver:out_of_time(2 * batch_seconds) then
        stop_early(state, 'out of time')
        errors.raise('unfinished', 'the wall clock limit came before the end')
    end
end

local function check_saver(state)
    local failure = state.saver and state.saver:check(state.sim)
    if not failure then return end
    state.progress:clear()
    io.stderr:write('mare: warning: no checkpoint: ', failure, '\n')
end

-- On to time `target` or step `limit`. `state` keeps the seconds of one step between calls.
local function advance(state, target, limit)
    local sim = state.sim
    if sim.now.dt == 0 or state.target ~= target then sim:aim(target) end
    state.target = target
    check_state(sim)
    while sim.now.t < target and sim.now.steps < limit do
        local n = batch_size(sim.now, math.min(target, sim.stop), limit, state.per_step)
        local t, taken, started = sim.now.t, sim.now.steps, system.now()
        sim:step(n)
        sim:read()
        local seconds = system.now() - started
        check_state(sim, t)
        state.per_step = math.max(seconds / n, 1e-7)
        state.progress:computed(sim.now, sim.now.steps - taken, seconds)
        if sim.now.t < target and sim.now.steps < limit then
            if state.outputs then state.outputs:poll() end
            check_saver(state)
            check_stop(state)
        end
    end
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

-- A run that goes on has made those of its time, so that only a new one has any to make at once.
local function begin_calls(state, t_end, calls)
    for _, call in ipairs(calls) do
        if not (call[1] >= 0 and call[1] <= t_end) then
            io.stderr:write(string.format('mare: warning: at = %g is not reached: the run is from '
                .. '0 to %g\n', call[1], t_end))
        end
    end
    if state.sim.now.steps == 0 then make_calls(state, calls) end
end

-- Output, callbacks and steps in turn, each output and callback exactly at its time. A checkpoint
-- is taken with everything done that belongs to its time, so that going on from it repeats nothing.
local function march(state, t_end, calls)
    local sim, files = state.sim, state.outputs
    while true do
        if files then files:write(sim) end
        check_saver(state)
        if sim.now.t >= t_end or sim.now.steps >= state.steps then break end
        check_stop(state)
        local target, limit = math.min(t_end, next_call(calls, sim.now.t)), state.steps
        if files then
            target = math.min(target, files:next_time(sim.now.t))
            limit = math.min(limit, files:next_step(sim.now.steps))
        end
        local t = sim.now.t
        advance(state, target, limit)
        if sim.now.t > t then make_calls(state, calls) end
    end
    if state.saver then state.saver:finish(sim) end
end

local loop_fields = {
    t_end = 'number', steps = 'number', outputs = 'table', saver = 'table', quiet = 'boolean',
    at = 'table',
}

-- Runs a simulation. desc: { t_end, steps = limit, outputs = of outputs.new, saver = of
-- restart.saver, quiet, at = { { time, function(sim) }, ... } }. Returns the rates, see
-- progress.lua.
function run.loop(sim, desc)
    errors.fields('run', desc, loop_fields)
    local t_end, limit = desc.t_end or math.huge, desc.steps or math.huge
    if t_end == math.huge and limit == math.huge then
        errors.argument 'run: t_end or steps is wanted'
    end
    local state = {
        sim = sim, steps = limit, outputs = desc.outputs, saver = desc.saver,
        per_step = batch_seconds,
        progress = progress.new {
            cells = sim.grid.cells, bytes = sim:bytes_per_cell(), t_end = t_end, steps = limit,
            copy_rate = not desc.quiet and copy_rate(sim) or nil, quiet = desc.quiet,
            terminal = system.is_terminal(), now = system.now,
            write = function(text) io.stderr:write(text) end,
        },
    }
    if state.saver then state.saver:begin(sim) end
    begin_calls(state, t_end, desc.at or {})
    march(state, t_end, desc.at or {})
    return state.progress:finish(sim.now)
end

local function say_where(found, quiet)
    for _, reason in ipairs(found.passed_over) do
        io.stderr:write('mare: warning: passed over ', reason, '\n')
    end
    if quiet then return end
    io.stderr:write(string.format('mare: going on from %s: t = %g, step %.0f\n', found.path,
        found.header.t, found.header.steps))
end

local function new_simulation(desc, devices, found)
    local h = found and found.header
    return simulation.new {
        grid = desc.grid, scheme = desc.scheme, boundaries = desc.boundaries,
        initial = desc.initial, options = desc.options, devices = devices,
        restart = h and { state = found.state, t = h.t, steps = h.steps, rate = h.rate },
    }
end

-- The whole run, with its files open.
local function execute(desc, devices, files, found)
    local o = desc.options
    local saver = restart.saver(desc, files, system.now)
    local sim = new_simulation(desc, devices, found)
    files:attach(sim)
    sim.rates = run.loop(sim, {
        t_end = o.t_end, steps = o.steps, quiet = o.quiet, at = desc.at, outputs = files,
        saver = saver,
    })
    return sim, files:close(sim)
end

local run_fields = {
    title = 'string', options = 'table', grid = 'table', scheme = 'table', boundaries = 'any',
    initial = 'function', at = 'table', picture = 'any', outputs = 'table', state = 'table',
}

-- What a scenario calls. desc: { title, options = of mare.options, grid, scheme, boundaries,
-- initial, at, picture and outputs = of outputs.lua, state = table of plain values that belong to
-- the run and go into its checkpoints }. Returns the simulation at its end, with the rates in
-- `rates`.
function run.new(desc)
    errors.fields('run', desc, run_fields)
    for _, name in ipairs { 'options', 'grid', 'scheme', 'initial' } do
        if desc[name] == nil then errors.argument('run: %s is missing', name) end
    end
    local o = desc.options
    local devices = device_list.open(o.device)
    desc.boundaries = exchange.boundaries(desc.boundaries)
    local found = restart.find(desc)
    if found then say_where(found, o.quiet) end
    local header = found and found.header or {}
    local files = outputs.new(desc, devices, header.outputs, header.run_id)
    local ok, sim, written = pcall(execute, desc, devices, files, found)
    if not ok then
        files:abort()
        error(sim, 0)
    end
    if not o.quiet and #written > 0 then print('wrote ' .. table.concat(written, ', ')) end
    return sim
end

return run
