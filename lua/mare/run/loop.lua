-- Runs the time loop. Steps are queued in batches and the host looks at the clock once a batch, so
-- that the device never waits for it; times at which something is due are hit exactly because dt is
-- clipped on the device. Ctrl-C and an invalid state are noticed after each batch.
--
-- A run that is extended equals one that was not stopped, bit for bit. The end would spoil that
-- where nothing else is due at it: the last two steps are cut to hit it. So the checkpoint of the
-- end is taken before the first of these, and a longer run passes there with the dt of its own.

local bandwidth = require 'mare.measure.bandwidth'
local calls = require 'mare.run.calls'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local growth = require 'mare.schemes.growth'
local here = require 'mare.ranks.here'
local progress = require 'mare.measure.progress'
local system = require 'bindings.system'

local loop = {}

local batch_seconds = 0.1       -- of queued work: as late as Ctrl-C and the progress line may be
local max_batch = 4096          -- steps

-- ---- what can go wrong ----

local function raise_invalid(state)
    local sim, now = state.sim, state.sim.now
    local what, i, j = sim:why_failed()
    local text = string.format('the state became invalid in step %.0f, t = %g: %s', now.steps,
        now.t, what)
    if state.saver then text = text .. '; ' .. state.saver:last_good() end
    local rescued = state.rescue and i and state.rescue(text, i, j)
    if rescued then text = text .. '; ' .. rescued end
    errors.raise('MARE_ERROR_STATE', '%s', text)
end

-- Ends a run that holds what cannot be. is_end: there are no more steps
local function look(state, is_end)
    local ok, reason = pcall(state.growth.look, state.growth, is_end)
    if ok then return end
    if errors.is(reason) and reason.status == 'MARE_ERROR_STATE' and state.saver then
        errors.raise(reason.status, '%s; %s', reason.message, state.saver:last_good())
    end
    error(reason, 0)
end

local endless = 1e15        -- steps that no run lives to see

-- Returns whether steps are so short that they never come to the end, as the largest rate of a
-- damaged checkpoint may want them. A fixed dt does not follow from the rate.
local function creeps(state)
    local now = state.sim.now
    local left, by_rate = state.t_end - now.t, now.cfl / now.rate
    return now.dt > 0 and now.dt <= 2 * by_rate and left < math.huge and left > endless * by_rate
end

-- Raises what is wrong with the state. t: the time before the last batch, if there was one
local function check_state(state, t)
    local now = state.sim.now
    if now.failed then
        raise_invalid(state)
    elseif now.t == t or creeps(state) then
        errors.raise('MARE_ERROR_STATE', 'time stands still at t = %g after %.0f steps, dt = %g',
            now.t, now.steps, now.dt)
    end
end

-- Ends the run before its end: with a checkpoint where these are wanted, so that it can go on.
local function stop_early(state, why)
    state.events:tell 'interlude'
    if not state.saver then return end
    local at = state.saver:finish(state.sim)
    state.events:tell('note', { quiet = false, message = ('%s at t = %g, step %.0f; --restart %s '
        .. 'goes on'):format(why, at.t, at.step, at.path) })
end

local function check_stop(state)
    if here.interrupted() then
        stop_early(state, 'interrupted')
        errors.interrupt()
    elseif state.saver and state.saver:out_of_time(4 * batch_seconds) then
        stop_early(state, 'out of time')
        errors.raise('unfinished', 'the wall clock limit came before the end')
    end
end

-- Takes a checkpoint if one is due, and the last one with `is_last`.
local function save(state, is_last)
    if not state.saver then return end
    local failure = state.saver[is_last and 'last' or 'check'](state.saver, state.sim)
    if failure then state.events:warn('no checkpoint: %s', failure) end
end

-- ---- steps ----

-- Returns the steps up to the target or the limit, as far as can be known beforehand, but no more
-- than fit a batch.
local function batch_size(now, target, limit, per_step)
    local wanted = now.dt > 0 and math.ceil((target - now.t) / now.dt - 1e-9) or 1
    local fitting = math.max(1, math.floor(batch_seconds / per_step))
    return math.max(1, math.min(wanted, limit - now.steps, fitting, max_batch))
end

-- Returns whether there are steps to take before the target or, with `held`, before those that it
-- cuts.
local function goes_on(now, target, limit, held)
    return now.t < target and now.steps < limit and not (held and now.dt == 0)
end

-- Goes on to time `target` or step `limit`. `state` keeps the seconds of one step between calls.
local function advance(state, target, limit, held)
    local sim = state.sim
    if sim.now.dt == 0 or state.target ~= target then sim:aim(target, held) end
    state.target = target
    check_state(state)
    while goes_on(sim.now, target, limit, held) do
        local n = here.broadcast(
            batch_size(sim.now, math.min(target, sim.stop), limit, state.per_step))
        -- Half of a pair of steps costs more than half.
        if sim.has_pairs and n > 1 then n = n - (sim.now.steps + n) % 2 end
        local t, taken, started = sim.now.t, sim.now.steps, system.now()
        sim:step(n)
        sim:read()
        local seconds = system.now() - started
        check_state(state, t)
        if state.growth then look(state) end
        state.per_step = math.max(seconds / n, 1e-7)
        state.progress:computed(sim.now, sim.now.steps - taken, seconds)
        if state.energy then state.energy:look() end
        if goes_on(sim.now, target, limit, held) then
            if state.outputs then state.outputs:poll() end
            save(state)
            check_stop(state)
        end
    end
end

-- ---- what is due ----

local function make_calls(state)
    state.events:tell 'interlude'
    local version = state.sim.version
    state.calls:make(state.sim)
    if state.growth and state.sim.version ~= version then state.growth:restart() end
end

-- Returns the next time and step at which something is due.
local function next_due(state)
    local now, target, limit = state.sim.now, state.t_end, state.steps
    for _, source in ipairs(state.sources) do
        target = math.min(target, source:next_time(now.t))
        limit = math.min(limit, source:next_step(now.steps))
    end
    return target, limit
end

-- Returns whether nothing but the end of the run cuts steps at the target.
local function only_ends(state, target)
    if not state.saver or target ~= state.t_end or target == math.huge then return false end
    for _, source in ipairs(state.sources) do
        if source:hits(target) then return false end
    end
    return true
end

-- Makes the calls that are due at the start. A run that goes on from a checkpoint has made those of
-- its time before.
local function begin(state, desc)
    if state.saver then state.saver:begin(state.sim) end
    for _, call in ipairs(desc.at or {}) do
        if not (call[1] >= 0 and call[1] <= state.t_end) then
            state.events:warn('at = %g is not reached: the run is from 0 to %g', call[1],
                state.t_end)
        end
    end
    if state.sim.now.steps == 0 then make_calls(state) end
end

-- Makes calls, output and steps in turn, each exactly at its time. A checkpoint is taken with
-- everything done that belongs to its time, so that going on from it repeats nothing.
local function take_steps(state)
    local sim, held, passed = state.sim, false, false
    while true do
        if state.outputs then state.outputs:write(sim) end
        if state.series then state.series:write(sim) end
        if state.particles then state.particles:write(sim) end
        passed = passed or held and sim.now.dt == 0
        save(state, passed and held)
        if sim.now.t >= state.t_end or sim.now.steps >= state.steps then break end
        check_stop(state)
        local target, limit = next_due(state)
        held = not passed and only_ends(state, target)
        local taken = sim.now.steps
        advance(state, target, limit, held)
        if sim.now.steps > taken then make_calls(state) end
    end
    if state.growth then look(state, true) end
    if state.saver then state.saver:finish(sim) end
end

local loop_fields = {
    t_end = 'number', steps = 'number', outputs = 'table', saver = 'table', quiet = 'boolean',
    at = 'table', every = 'table', every_steps = 'table', series = 'table', events = 'table',
    watched = 'boolean',
    rescue = 'function', energy = 'table', particles = 'table',
}

local function new_progress(state, desc)
    local sim = state.sim
    return progress.new {
        cells = sim.grid.cells, bytes = sim:bytes_per_cell(), t_end = state.t_end,
        steps = state.steps, from = { t = sim.now.t, steps = sim.now.steps },
        copy_rate = (desc.watched or not desc.quiet)
            and bandwidth.of_all(sim.fields.devices) or nil,
        events = state.events,
    }
end

-- Runs a simulation. desc: { t_end, steps = limit, outputs = of outputs.new, series = of
-- series.new, particles = of scheme.particles.new, saver = of restart.saver, events = of
-- events.source, watched = whether somebody reads the rates of a quiet run, quiet, at, every,
-- every_steps = of calls.lua, energy = of energy.recorder,
-- rescue = function(message, i, j) -> more text or nil: cell (i, j) is invalid }. Returns the
-- rates, see progress.lua.
function loop.run(sim, desc)
    errors.fields('run', desc, loop_fields)
    local state = {
        sim = sim, t_end = desc.t_end or math.huge, steps = desc.steps or math.huge,
        outputs = desc.outputs, series = desc.series, saver = desc.saver,
        events = desc.events or events.source { quiet = desc.quiet },
        particles = desc.particles, rescue = desc.rescue, energy = desc.energy,
        calls = calls.new(desc), per_step = batch_seconds,
    }
    if state.t_end == math.huge and state.steps == math.huge then
        errors.argument 'run: t_end or steps is wanted'
    end
    state.sources = { state.calls }
    state.sources[#state.sources + 1] = state.outputs
    state.sources[#state.sources + 1] = state.series
    state.sources[#state.sources + 1] = state.particles
    state.progress = new_progress(state, desc)
    local scheme = sim.scheme
    state.growth = growth.new(state,
        scheme.bounds and scheme:bounds(sim.domain, sim.now.cfl))
    begin(state, desc)
    if state.energy then state.energy:begin() end
    take_steps(state)
    if state.growth then state.growth:release() end
    return state.progress:finish(sim.now, state.energy)
end

return loop
