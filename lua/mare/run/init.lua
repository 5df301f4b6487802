-- mare.run { ... } runs a simulation from its description to its end, with the files that its
-- options ask for, and returns it; scenarios end with it:
--
--     local o = mare.options { mare.options.simulation }
--     mare.run { options = o, scheme = mare.euler {}, boundaries = 'periodic',
--         grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, 1 } },
--         initial = function(x, y) return 1 + x * y, 0, 0, 1 end }
--
-- It opens the files, makes the simulation or restores it from a checkpoint, steps it (loop.lua)
-- and closes the files. The journal records failures, which leave the files as outputs.lua says.

local alike = require 'mare.run.alike'
local bandwidth = require 'mare.measure.bandwidth'
local camera = require 'mare.run.camera'
local compiler = require 'bindings.compiler'
local compiling = require 'mare.measure.compiling'
local device_list = require 'mare.array.devices'
local energy = require 'mare.measure.energy'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local exchange = require 'mare.array.exchange'
local failure = require 'mare.run.failure'
local here = require 'mare.ranks.here'
local journal = require 'mare.files.journal'
local loop = require 'mare.run.loop'
local options = require 'mare.base.options'
local outputs = require 'mare.run.outputs'
local restart = require 'mare.run.restart'
local series = require 'mare.run.series'
local simulation = require 'mare.run.simulation'
local system = require 'bindings.system'
local tables = require 'bindings.tables'

local run = { loop = loop.run }

local function say_where(found, o, told, particles)
    local left = restart.is_at_end(found, o) and ', its end: nothing is left to compute' or ''
    for _, reason in ipairs(found.passed_over) do told:warn('%s; passed over', reason) end
    if particles and not found.header[particles.name] then
        told:warn('%s begin at t = %g: %s has none', particles.name, found.header.t, found.path)
    end
    told:note('going on from %s: t = %g, step %.0f%s', found.path, found.header.t,
        found.header.steps, left)
end

-- shown: as for simulation.new
local function new_simulation(desc, devices, found, particles, shown)
    local h = found and found.header
    local sim = simulation.new {
        grid = desc.grid, scheme = desc.scheme, boundaries = desc.boundaries,
        initial = desc.initial, options = desc.options, devices = devices, domain = desc.domain,
        particles = particles, shown = shown,
        restart = h and { state = found.state, t = h.t, steps = h.steps, rate = h.rate,
            last = h.last },
    }
    if found then restart.load_analyses(desc, sim, found) end
    return sim
end

-- Leaves the cells around one that is invalid, and the series until then, beside files of the run.
-- Returns where they are, in words, or nil.
local function rescue(job, message, i, j)
    local desc, samples, texts = job.desc, job.series, {}
    local o, first = desc.options, (desc.outputs or {})[1]
    local beside = o.out or first and first.path or o.checkpoint
    local function try(what, write, ...)
        local ok, path = pcall(write, ...)
        texts[#texts + 1] = what .. (ok and ' in ' or ' lost: ') .. path
    end
    if beside then
        try('the cells around it are', failure.write_cells, job.sim, beside, job.describe,
            message, i, j)
    end
    if samples and samples.path then
        job.rescued = true
        try('the series until then is', failure.write_series, samples, job.describe, message)
    end
    return texts[1] and table.concat(texts, '; ')
end

-- Returns whether somebody hears how fast the run is.
local function is_watched(o)
    return not o.quiet or o.json_log ~= nil
end

-- Takes the steps of a run and completes its files. Returns their paths.
local function compute(job, saver)
    local desc, files, samples, sim = job.desc, job.files, job.series, job.sim
    local o = desc.options
    sim.rates = run.loop(sim, {
        t_end = o.t_end, steps = o.steps, quiet = o.quiet, at = desc.at, every = desc.every,
        every_steps = desc.every_steps, outputs = files, series = samples, saver = saver,
        particles = job.particles,
        events = job.events, watched = is_watched(o), energy = job.energy,
        rescue = function(...) return rescue(job, ...) end,
    })
    local written = files:close(sim)
    if samples then sim.series = samples:close(sim, job.describe) end
    written[#written + 1] = samples and samples.path
    if job.particles then
        sim.tracks = job.particles:close(sim, job.describe)
        written[#written + 1] = job.particles.path
    end
    written[#written + 1] = files:draw(sim)
    return written
end

-- Does all of a run whose files are open. job: { desc, devices, files, series, found, describe,
-- energy }, to which it adds `log`, `rescued` and, unless it is there, `sim`. Returns the paths of
-- the files. From the first step on a signal does not interrupt a wait for a compiler: it stops the
-- loop, which then takes a checkpoint.
local function execute(job)
    local desc, files, found, samples = job.desc, job.files, job.found, job.series
    local o, told = desc.options, job.events
    compiling.of(told)
    job.log = journal.open(here.rank == 0 and o.json_log or nil, told.common.run)
    told:tell('start', journal.start(desc, found, files:parameters()))
    local replaced = not (found or job.sim) and restart.replaces(desc)
    if replaced then told:warn('%s', replaced) end
    if found then say_where(found, o, told, job.particles) end
    local saver = restart.saver(desc, files, system.now, told, found, samples,
        job.particles)
    if not job.sim and is_watched(o) then bandwidth.prepare(job.devices) end
    local sim = job.sim or new_simulation(desc, job.devices, found, job.particles,
        camera.shown(desc))
    job.sim = sim
    sim:warm_up(o)
    files:attach(sim, told)
    if samples then samples:attach(sim) end
    return compiler.patiently(compute, job, saver)
end

-- Tells how the run ended, in the last line of its journal.
local function tell_end(job, started, reason, written)
    local sim = job.sim
    local now, rates = sim and sim.now or {}, sim and sim.rates or {}
    local is_error = errors.is(reason)
    job.events:tell(reason and 'failure' or 'end', {
        t = now.t, step = now.steps, wall_seconds = system.now() - started, files = written,
        steps_taken = rates.steps, computing_seconds = rates.seconds,
        cells_per_second = rates.cells_per_second, t_eff = rates.t_eff, t_eff_share = rates.share,
        energy = rates.energy, energy_low = rates.energy_low, energy_high = rates.energy_high,
        cells_per_joule = rates.cells_per_joule,
        reason = reason and (is_error and reason.message or tostring(reason)) or nil,
        status = is_error and reason.status or nil,
    })
    if job.log then job.log:close() end
end

local run_fields = {
    title = 'string', options = 'table', grid = 'table', scheme = 'table', boundaries = 'any',
    initial = 'function', at = 'table', every = 'table', every_steps = 'table', picture = 'any',
    outputs = 'table', state = 'table', epoch = 'string',
    gauges = 'any', series = 'table', domain = 'table', analyses = 'table',
}

-- Returns the fields that any run may have, and particles by the name that its scheme has for them.
local function fields_for(scheme)
    local particles = type(scheme) == 'table' and scheme.particles
    if not particles then return run_fields end
    return tables.merged(run_fields, { [particles.name] = 'table' })
end

local function check(desc)
    errors.fields('run', desc, fields_for(type(desc) == 'table' and desc.scheme))
    errors.needs('run', desc, { 'options', 'grid', 'scheme', 'initial' })
    if desc.epoch and not desc.epoch:find '^%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d$' then
        errors.argument("run: epoch = '%s', must be as 2011-03-11 05:46:24", desc.epoch)
    end
    desc.boundaries = exchange.boundaries(desc.boundaries, desc.scheme)
    if desc.scheme.domain then
        desc.domain = desc.domain or desc.scheme:domain(desc.grid, desc.boundaries,
            options.value(desc.options, 'precision'))
        if desc.options.t_end then desc.domain:check_times(desc.options.t_end) end
    end
end

-- Opens the devices. Returns them and the checkpoint to go on from, if any.
local function find(desc)
    return device_list.open(desc.options.device), restart.find(desc)
end

-- Makes the simulation of a description at its start, or at the checkpoint to go on from. A session
-- steps it by hand.
function run.prepare(desc)
    check(desc)
    alike.options(desc.options)
    return new_simulation(desc, find(desc))
end

-- Runs a simulation; scenarios call it. desc: { title, options = of mare.options, grid, scheme,
-- boundaries, initial, at, every and every_steps = of calls.lua, picture = of picture.lua, outputs
-- = of outputs.lua, gauges and series = of series.lua, what scheme.particles names, analyses = { of
-- mare.harmonics, ... } whose sums go into its checkpoints, state = table of plain values that
-- belong to the run and go there too, epoch = the date of t = 0 as '2011-03-11 05:46:24', UTC }.
-- sim: of run.prepare, to go on with that, without particles. Returns the simulation at its end,
-- with the rates in `rates`, the time series in `series`, where particles were in `tracks`, and
-- what its files say of what made them in `about`, for output.put_global_attributes of netcdf.lua.
function run.new(desc, sim)
    here.hush()
    check(desc)
    alike.options(desc.options)
    local o, started = desc.options, system.now()
    if o.rank_timeout then here.allow_silence(o.rank_timeout) end
    local devices, found = sim and sim.devices, nil
    if not sim then devices, found = find(desc) end
    local recorder = (o.energy or o.power_log)
        and energy.recorder(sim and sim.devices or devices, o.power_log) or nil
    if found then restart.is_at_end(found, o) end       -- or beyond it, before any file is made
    local header = found and found.header or {}
    local samples = series.new(desc, header.series)
    local particles = not sim and restart.particles(desc, header) or nil
    local files = outputs.new(desc, devices, header.outputs, header.run_id)
    local job = { desc = desc, devices = devices, files = files, series = samples, found = found,
        sim = sim, energy = recorder, particles = particles,
        events = events.source { run = files.run_id, quiet = o.quiet or nil } }
    function job.describe(...) return files:describe(...) end
    local ok, result = pcall(execute, job)
    compiling.of(nil)
    tell_end(job, started, not ok and result or nil, ok and result or nil)
    if not ok then
        files:abandon(samples and not job.rescued and samples:lost() or nil)
        error(result, 0)
    end
    job.sim.about = files:describe(nil, nil, {})
    if #result > 0 then
        job.events:tell('files', { message = 'wrote ' .. table.concat(result, ', '),
            paths = result })
    end
    return job.sim
end

return run
