-- mare.volume { ... } runs a simulation in three dimensions to its end, with the files that its
-- options ask for, and returns it; scenarios end with it:
--
--     local o = mare.options { mare.volume.options }
--     mare.volume { options = o, boundaries = 'periodic',
--         grid = { nx = o.nx, ny = o.ny, nz = o.nz, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } },
--         scheme = mare.equations { dimensions = 3, fields = { 'u' },
--             parameters = { c = mare.vector(1, 0.5, 0.25) },
--             flux = function(q, p) return p.c.n * q.u end,
--             speed = function(_, p) return p.c.n, p.c.n end },
--         initial = function(x, y, z) return math.exp(-x * x - y * y - z * z) end }
--
-- mare.volume.simulation { ... } makes one to step by hand, mare.volume.grid { ... } a grid.

local alike = require 'mare.run.alike'
local compiler = require 'bindings.compiler'
local equations = require 'mare.schemes.equations'
local errors = require 'bindings.errors'
local euler = require 'mare.volume.euler'
local events = require 'mare.base.events'
local grids = require 'mare.volume.grid'
local here = require 'mare.ranks.here'
local loop = require 'mare.run.loop'
local outputs = require 'mare.volume.outputs'
local restart = require 'mare.run.restart'
local samples = require 'mare.volume.samples'
local series = require 'mare.run.series'
local sides = require 'mare.volume.sides'
local simulation = require 'mare.volume.simulation'
local system = require 'bindings.system'

local volume = { options = require 'mare.volume.options', euler = euler.new, grid = grids.new,
    simulation = simulation.new }

-- What a scenario lets its user choose of an equation: mare.equations.options but for the methods,
-- of which there is one in three dimensions.
volume.equation_options = { title = equations.options.title }
for _, option in ipairs(equations.options) do
    if option.name ~= 'scheme' then table.insert(volume.equation_options, option) end
end

local allowed = { title = 'string', options = 'table', grid = 'table', scheme = 'table',
    boundaries = 'any', initial = 'function', at = 'table', every = 'table',
    every_steps = 'table', picture = 'table', slabs = 'number', gauges = 'any', series = 'table' }

local picture_fields = { variable = 'string', label = 'string', colours = 'any', range = 'table' }

local function check(desc)
    errors.fields('volume', desc, allowed)
    errors.needs('volume', desc, { 'options', 'grid', 'scheme', 'boundaries', 'initial' })
    errors.fields('volume: picture', desc.picture or {}, picture_fields)
    desc.boundaries = sides.of(desc.boundaries, simulation.checked(desc.scheme))
    if not desc.grid.slabs then desc.grid = grids.new(desc.grid) end
end

local function compute(job, sim)
    local desc, o = job.desc, job.desc.options
    job.files:open(sim)
    if job.series then job.series:attach(sim) end
    sim.rates = loop.run(sim, { t_end = o.t_end, steps = o.steps, quiet = o.quiet, at = desc.at,
        every = desc.every, every_steps = desc.every_steps, outputs = job.files,
        series = job.series, saver = job.saver, events = job.events, watched = not o.quiet })
    local paths = job.files:close(sim)
    sim.series = job.series and job.series:close(sim, function(path)
        return job.files:describe(path)
    end)
    paths[#paths + 1] = job.series and job.series.path
    paths[#paths + 1] = job.files:draw(sim)
    if #paths > 0 then
        job.events:tell('files', { message = 'wrote ' .. table.concat(paths, ', '), paths = paths })
    end
end

-- Says where a run goes on that was at a checkpoint, or which one a new run replaces.
local function say_where(job, found)
    local replaced = not found and restart.replaces(job.desc)
    if replaced then job.events:warn('%s', replaced) end
    for _, reason in ipairs(found and found.passed_over or {}) do
        job.events:warn('%s; passed over', reason)
    end
    if found then
        job.events:note('going on from %s: t = %g, step %.0f', found.path, found.header.t,
            found.header.steps)
    end
end

-- Runs a simulation. desc: { title, options = of mare.options { mare.volume.options }, picture = {
-- variable, label, colours, range }, at, every, every_steps = of run/calls.lua, gauges and series =
-- of run/series.lua, gauges with z, and grid, scheme, boundaries, initial, slabs as
-- mare.volume.simulation takes them }. Returns the simulation at its end, with the rates in
-- `rates` and the time series in `series`.
function volume.new(desc)
    here.hush()
    check(desc)
    alike.options(desc.options)
    local o = desc.options
    if o.rank_timeout then here.allow_silence(o.rank_timeout) end
    outputs.check(desc)
    local found = restart.find(desc)
    if found then restart.is_at_end(found, o) end
    local h = found and found.header
    local job = { desc = desc, series = series.new(desc, h and h.series, samples),
        files = outputs.new(desc, h),
        events = events.source { quiet = o.quiet or nil } }
    say_where(job, found)
    job.saver = restart.saver(desc, job.files, system.now, job.events, found,
        job.series)
    local sim = simulation.new { grid = desc.grid, scheme = desc.scheme, initial = desc.initial,
        boundaries = desc.boundaries, options = o, slabs = o.slabs or desc.slabs,
        restart = h and { state = found.state, t = h.t, steps = h.steps, rate = h.rate } }
    local ok, failure = pcall(compiler.patiently, compute, job, sim)
    if not ok then
        job.files:abandon(job.events, job.series and job.series:lost())
        if here.size == 1 then sim:release() end        -- others may not come to an end with this
        error(failure, 0)
    end
    return sim
end

return volume
