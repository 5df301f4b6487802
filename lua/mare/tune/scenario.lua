-- The step of a scenario's simulation as a target of runner.lua. Its parameters
-- are those of the kernel's shape (shapes/), which do not change results, and
-- options of the scenario, which may select variants of the scheme. The answer
-- is the state after some steps with the shipped shapes. It is compared on the
-- device, bit for bit unless atol allows more. A batch consists of blocks of
-- steps; times are per step. A simulation that is divided among devices or ranks is
-- timed as a whole, and the shape is kept for parts of its size.

local errors = require 'bindings.errors'
local cuts = require 'mare.schemes.cuts'
local here = require 'mare.ranks.here'
local run = require 'mare.run'
local scenario = require 'mare.live.scenario'
local parameters = require 'mare.shapes.parameters'
local shapes = require 'mare.shapes'
local simulation = require 'mare.run.simulation'
local tables = require 'bindings.tables'
local together = require 'mare.tune.together'

local target = {}

local Target = {}
Target.__index = Target

local block = simulation.block_steps    -- batches are whole blocks
local small = 64        -- edge of the grid with which workers compile the same kernels

-- ---- which parameters ----

-- Returns the kernel that runs use for a step in one pass.
local function usual_one_pass(sim)
    local part, device = sim.fields:first_part()
    return cuts.one_pass(sim.scheme, device, sim.precision, part)
end

-- Returns the one-pass kernel to tune: `march` if it alone has one of the
-- parameters.
local function one_pass(sim, names)
    local march, tile = parameters.names 'march', parameters.names 'tile'
    for _, name in ipairs(names) do
        if march[name] and not tile[name] then return 'march' end
    end
    return usual_one_pass(sim)
end

-- Returns the kernels that the parameters belong to.
local function step_kernels(sim, names)
    local scheme = sim.scheme
    if scheme.step_shape then return { scheme.step_shape } end
    if scheme.stages then return { 'stage' } end
    return sim.levels and { one_pass(sim, names) } or { 'x', 'y' }
end

local edges = { nx = true, ny = true }

-- Refuses values that no shape may have on the device. Values that do not fit
-- together fail as candidates.
local function check_values(self, values)
    for name, list in pairs(values) do
        for _, value in ipairs(self.fields[name] and list or {}) do
            local reason = parameters.fault(self.kernels[1], { [name] = value },
                self.device.info)
            if reason then errors.argument('tune.scenario: %s', reason) end
        end
    end
end

-- Refuses to keep a shape that no run would use.
local function check_keep(self, keep)
    if keep and self.kernels[1] == 'march' and usual_one_pass(self.sim) == 'tile' then
        errors.argument('tune.scenario: keep: runs of %s on %d x %d cells take the kernel tile, '
            .. 'not march, whose parameters these are', self.scenario, self.sim.grid.nx,
            self.sim.grid.ny)
    end
end

local function check_names(self, names)
    local allowed = tables.merged(self.fields)
    for _, option in ipairs(scenario.options(self.scenario)) do
        if edges[option.key] then
            self.small[option.key] = small
        elseif option.key ~= 'device' then
            allowed[option.key] = true
        end
    end
    for _, name in ipairs(names) do
        if not allowed[name] then
            errors.argument("tune.scenario: '%s' is no parameter of %s (there are: %s)", name,
                self.scenario, tables.names(allowed))
        end
    end
end

-- Splits parameters into those of a shape and options.
local function split(self, params)
    local fields, options, key = {}, {}, {}
    for name, value in pairs(params) do
        if self.fields[name] then
            fields[name] = value
        else
            options[name], key[#key + 1] = value, name .. '=' .. tostring(value)
        end
    end
    table.sort(key)
    return fields, options, table.concat(key, ' ')
end

local function for_kernels(kernels, fields)
    local by_kernel = {}
    for _, kernel in ipairs(kernels) do by_kernel[kernel] = fields end
    return by_kernel
end

-- ---- the simulation that is measured ----

local function prepare(self, options)
    local all = tables.merged({ quiet = true }, self.options, options,
        { device = self.device.name })
    local desc = scenario.load(self.scenario, all).desc
    desc.options.device = self.devices
    return run.prepare(desc)
end

local function go_back(base)
    base.initial:restore()
    base.sim:start(base.at)
    base.sim:aim(math.huge)
end

local function take_steps(base, count)
    base.sim:step(count * block)
    local now = base.sim:read()
    if now.failed then
        errors.raise('MARE_ERROR_STATE', 'the state became invalid: %s', base.sim:why_failed())
    end
end

-- Returns the simulation with these options in its initial state, and its state
-- after a block of steps.
local function new_base(self, options)
    local sim = shapes.with({}, prepare, self, options)
    local now = sim.now
    local base = { sim = sim, initial = sim.fields:copy 'initial state',
        at = { t = now.t, steps = now.steps, rate = now.rate } }
    go_back(base)
    take_steps(base, 1)
    base.answer = sim.fields:copy('answer', { sim.fields:present() })
    return base
end

local function base_of(self, options, key)
    self.bases[key] = self.bases[key] or new_base(self, options)
    return self.bases[key]
end

-- ---- verification ----

local Run = {}
Run.__index = Run

-- See runner.lua.
function Run:verify()
    local base, atol = self.base, self.target.atol
    go_back(base)
    take_steps(base, 1)
    local worst = here.largest(base.answer:difference())
    if worst > atol or worst ~= worst then
        return false, string.format('the state after %d steps differs by %g, allowed is %g',
            block, worst, atol)
    end
    return true
end

-- See runner.lua; n counts blocks of steps.
function Run:batch(n)
    self.base.sim:step(n * block)
end

local function wait(self)
    self.base.sim:read()
end

-- Keeps the simulation for the next candidate.
Run.release = wait

-- ---- the target ----

-- See runner.lua.
function Target:build(params)
    local fields, options, key = split(self, params)
    local base = base_of(self, options, key)
    shapes.with(for_kernels(self.kernels, fields), base.sim.rebuild, base.sim)
    return setmetatable({ target = self, base = base, steps = block,
        wait = self.is_divided and wait or nil }, Run)
end

-- See runner.lua.
function Target:job(params)
    local fields, options = split(self, params)
    return { kind = 'scenario', scenario = self.scenario,
        options = tables.merged(self.options, options, self.small),
        fields = fields, kernels = self.kernels }
end

-- See kernel.lua.
function Target:identity()
    return { scenario.text(self.scenario), self.options, self.atol }
end

local last = {}         -- the simulation that a worker has made: { key, sim }

-- See ahead.lua.
function target.compile(device, job)
    local key = require('dkjson').encode { job.scenario, job.options }
    if last.key ~= key then
        local self = { scenario = job.scenario, options = job.options, device = device,
            devices = { device } }
        last.key, last.sim = key, shapes.with({}, prepare, self, {})
    end
    shapes.with(for_kernels(job.kernels, job.fields), last.sim.rebuild, last.sim)
end

-- Returns the parameters with which runs use the shipped shape and the record's
-- options; see runner.lua.
function Target:usual(record)
    local usual = {}
    for name in pairs(self.is_param) do
        if not self.fields[name] then usual[name] = record[name] end
    end
    return usual
end

-- Keeps a record's shape for runs of this scheme, size and device.
function Target:keep(record)
    local fields, options, key = split(self, record)
    for name in pairs(options) do
        if not self.is_param[name] then options[name] = nil end
    end
    local sim, shape = self.bases[key] and self.bases[key].sim or self.sim, {}
    for name in pairs(self.is_param) do shape[name] = fields[name] end
    together.keep(function()
        for _, kernel in ipairs(self.kernels) do
            shapes.put { kernel = kernel, scheme = shapes.scheme_name(sim.scheme),
                device = self.device.info.model, precision = sim.precision,
                size = shapes.size((sim.fields:first_part()).cells), shape = shape,
                time = record.time, energy = record.energy }
        end
    end, shapes.forget)
end

function Target:release()
    for _, base in pairs(self.bases) do
        base.initial:release()
        base.answer:release()
        base.sim:release()
    end
    self.bases = {}
end

-- desc: as for tune.scenario, with open `devices`. names: of the parameters.
function target.new(desc, names)
    local options = tables.merged(desc.options)
    options.device = nil
    local self = setmetatable({
        scenario = desc.scenario, options = options, devices = desc.devices,
        device = desc.devices[1], is_divided = here.size > 1 or #desc.devices > 1,
        atol = desc.atol or 0, bases = {}, is_param = tables.set(names), fields = {}, small = {},
    }, Target)
    local base = base_of(self, {}, '')
    self.sim, self.kernels = base.sim, step_kernels(base.sim, names)
    self.fields = parameters.names(self.kernels[1])       -- x and y have the same
    check_names(self, names)
    check_values(self, desc.tune_params)
    check_keep(self, desc.keep)
    self.name = desc.scenario .. ' ' .. table.concat(self.kernels, ' ')
    self.problem_size = { base.sim.grid.nx, base.sim.grid.ny }
    return self
end

return target
