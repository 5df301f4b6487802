-- A simulation to work with by hand, set up by a scenario file or by the description
-- that mare.run takes:
--
--     sim = mare.simulation 'kelvin_helmholtz' { nx = 512 }      -- options as on the command line
--     sim:step(100)   sim:run { t_end = 2 }   sim:plot 'rho'   sim.cfl = 0.3   sim:save 'x.nc'
--
-- It calls mare.run itself, so a run in pieces is a run of the scenario. Ctrl-C stops it
-- between two batches of steps: everything stays usable, and sim:run() goes on.

local errors = require 'bindings.errors'
local field = require 'mare.live.field'
local formats = require 'mare.files.formats'
local home = require 'bindings.home'
local options = require 'mare.base.options'
local picture = require 'mare.draw.picture'
local run = require 'mare.run'
local scenario = require 'mare.live.scenario'
local screen = require 'mare.draw.screen'
local suggest = require 'bindings.suggest'
local tables = require 'bindings.tables'

local methods = {}

local live = { methods = methods, takes_options = { run = true, save = true } }

local settable = {}         -- by name: how sim.NAME = value is done

-- What only a session asks for.
local session_options = {
    { name = 'show', type = 'string', help = 'variable to draw in the terminal' },
    { name = 'show-every', type = 'number', range = { 1e-12 }, needs = { 'show' },
      help = 'time between these; steps end there' },
}

local taken = {}        -- what run_options() has returned

-- Returns what run() and save() take, by key: every option that the making of the simulation has
-- not used.
function live.run_options()
    local of_run, found = options.of_run(), {}
    if of_run == taken.of_run then return taken.options end
    taken.of_run, taken.options = of_run, found
    for key, option in pairs(of_run) do
        if not option.setup then found[key] = option end
    end
    for _, option in ipairs(options.declared { session_options }) do found[option.key] = option end
    return found
end

-- Returns the given options before those of the set-up. A picture is drawn only when it is asked
-- for. With `only` there is no output but what is given.
local function options_for(self, given, only)
    local base, of_run = self.desc.options, live.run_options()
    local wants_image = not only and base.given and base:given 'image'
    return options.over(base, given, function(key)
        return key == 'image' and not wants_image or only and of_run[key] ~= nil
    end)
end

-- Refuses what run() and save() cannot take.
local function check(self, what, given)
    errors.wanted(what, 'table', given)
    for key in pairs(given) do
        local option = options.of_run()[key]
        if option and option.setup then
            errors.argument('%s: %s is settled when the simulation is made%s', what, key,
                settable[key] and ('; sim.%s = ... sets it'):format(key) or '')
        end
    end
    return options.check(what, given, live.run_options(), options_for(self, given))
end

-- Returns the calls of the set-up that are still to come.
local function coming(calls, t, t_end)
    local list = {}
    for _, call in ipairs(calls or {}) do
        local is_new = call[1] > t or (call[1] == t and t == 0)
        if is_new and call[1] <= t_end then list[#list + 1] = call end
    end
    return list
end

local function add_pictures(self, desc, o)
    if not o.show then return end
    local left = o.t_end - self.simulation.now.t
    if left <= 0 then return end
    local every = o.show_every or left / 10
    local calls = {}
    for _, call in ipairs(desc.every or {}) do calls[#calls + 1] = call end
    self:field(o.show)              -- compiles what it takes before the steps begin
    screen.pictures()
    calls[#calls + 1] = { every, function() self:plot(o.show) end }
    desc.every = calls
end

local function steps_of(self, given, only)
    local o, now = options_for(self, given, only), self.simulation.now
    local desc = tables.merged(self.desc, { options = o })
    desc.at = coming(desc.at, now.t, o.t_end or math.huge)
    add_pictures(self, desc, o)
    self.simulation:warm_up(o)      -- here an interrupt leaves the compiler, and the line is shown
    run.new(desc, self.simulation)
end

-- Calls change(self, ...), which changes the state that arrays show, if there are any. The room of
-- arrays is loaded by those who ask for one.
local function changing(self, change, ...)
    if not rawget(self, 'shown') then return change(self, ...) end
    local arrays = require 'mare.live.arrays'
    arrays.settle(self)
    local ok, failure = pcall(change, self, ...)
    arrays.renew(self)
    if not ok then error(failure, 0) end
end

local function advance(self, ...) changing(self, steps_of, ...) end

-- sim:step(n): takes n steps, 1 if not given; returns the simulation.
function methods.step(self, n)
    n = n or 1
    if type(n) ~= 'number' or n < 1 or n % 1 ~= 0 then
        errors.argument('simulation: step(%s): a whole number of at least 1 is wanted', tostring(n))
    end
    advance(self, { t_end = math.huge, steps = self.simulation.now.steps + n, quiet = true }, true)
    return self
end

-- sim:run { t_end =, steps =, out =, every =, ... }: goes on to the time or the number of steps, by
-- default that of the scenario, with the options of every run that the command line takes. When it
-- is interrupted, none of its outputs is left but checkpoints. show = 'rho' also draws that in the
-- terminal, ten times or every show_every of model time, to which steps are cut. Returns the
-- simulation.
function methods.run(self, given)
    given = check(self, 'simulation: run', given or {})
    local t = self.simulation.now.t
    local t_end = given.t_end or t
    if t_end < t then
        errors.argument('simulation: run to t_end = %g, but t is %g already; sim:reset() goes back',
            t_end, t)
    end
    advance(self, given)
    return self
end

-- sim:finish(): runs to the end of the scenario and goes on with what its file does then; returns
-- what that returns, as the errors against an exact solution. It can be called once.
function methods.finish(self)
    if not rawget(self, 'scenario') then
        errors.argument 'simulation: no scenario file to finish'
    end
    advance(self, {})
    return self.scenario:resume(self.simulation)
end

-- sim:field 'rho': returns the variable as it is now, an object that can be indexed, shown and
-- plotted.
function methods.field(self, name)
    return field.of_simulation(self.simulation, name)
end

-- sim:array 'rho': returns the variable as an array of mare.array, of the shape { ny, nx }: an
-- unknown is the memory of the device where the state lies, which shows the state after the next
-- steps too; what is made from it and not computed yet is computed before them. Others are copies.
-- Where the grid is on several devices all are copies.
function methods.array(self, name)
    return require('mare.live.arrays').of(self, name)
end

-- sim:set('rho', sim:array 'rho' * 1.01): sets one of the variables that `initial` gives, the
-- others staying as they are, to an array, repeated to { ny, nx }, or a number. Returns the
-- simulation.
function methods.set(self, name, value)
    changing(self, require('mare.live.arrays').set, name, value)
    return self
end

-- sim:change(function(q, x, y, t, p) return 1.01 * q.rho, q.u, q.v, q.p end): changes the state on
-- the device: the function gives for a cell what `initial` gives; q holds that as it is now, p the
-- parameters. It becomes a kernel. Returns the simulation.
function methods.change(self, f)
    changing(self, function(_, ...) self.simulation:change(...) end, f)
    return self
end

-- sim:native(): says where the state lies on the devices, for kernels of your own that read it
-- between steps: for each part { device, buffer, type, names, i0, j0, nx, ny, offset, stride, plane
-- }. Cell (i0 + i, j0 + j) of field q, all from 0, is element offset + q * plane + j * stride + i
-- of the buffer. Ask again after steps, which may end in another buffer.
function methods.native(self)
    return self.simulation.fields:native()
end

-- sim:plot('rho', { range = { low, high }, colours = 'viridis', ... }): draws in the terminal,
-- without a name what the scenario draws. The result can be saved: sim:plot('u'):save 'u.png'.
function methods.plot(self, name, spec)
    local what = type(self.desc.picture) ~= 'function'
        and picture.describe(self.desc.picture, self.simulation.scheme) or {}
    local is_default = what.variable and (name or what.variable) == what.variable
    local shown = is_default and { range = what.range, colours = what.colours,
        label = what.label, missing = what.missing }
    return self:field(name or what.variable or self.simulation.scheme.fields[1])
        :plot(tables.merged(shown, spec))
end

-- sim:save 'x.nc': the state as it is, in one of the formats of --out, with the metadata of a run;
-- { variables = 'u,p' } adds to it. 'x.ck' is a checkpoint, 'x.png' the picture of the scenario.
function methods.save(self, path, given)
    local kind, now = type(path) == 'string' and path:match '%.(%w+)$', self.simulation.now
    local endings, names = formats.endings(), { ck = 'checkpoint', png = 'image' }
    for _, ending in ipairs(endings) do names[ending] = 'out' end
    if not names[kind] then
        errors.argument("simulation: save '%s': the name must end in .%s, .ck or .png",
            tostring(path), table.concat(endings, ', .'))
    end
    given = check(self, 'simulation: save', tables.merged(given, { [names[kind]] = path }))
    advance(self, tables.merged({ t_end = now.t, steps = now.steps, quiet = true }, given), true)
    return self
end

-- sim:reset(): goes back to the initial state, at t = 0.
function methods.reset(self)
    changing(self, function() self.simulation:set(self.desc.initial) end)
    return self
end

-- sim:release(): gives the memory on the devices back.
function methods.release(self)
    rawset(self, 'is_released', true)
    self.simulation:release()
end

-- ---- what can be read and set ----

local readable = {
    t = function(simulation) return simulation.now.t end,
    dt = function(simulation) return simulation.now.dt end,
    steps = function(simulation) return simulation.now.steps end,
    cfl = function(simulation) return simulation.cfl end,
    grid = function(simulation) return simulation.grid end,
    scheme = function(simulation) return simulation.scheme end,
    precision = function(simulation) return simulation.precision end,
    devices = function(simulation) return simulation.devices end,
    rates = function(simulation) return simulation.rates end,
}

-- The next steps have this Courant number.
function settable.cfl(simulation, value)
    local now = simulation:read()
    simulation.cfl = options.field('simulation', 'cfl', options.of_run().cfl, value)
    simulation:start { t = now.t, steps = now.steps, rate = now.rate }
end

local function variables_of(self)
    return tables.column(self.simulation.scheme.variables, 'name')
end

local Live = { __methods = methods }

function Live.__names()
    return tables.keys(tables.merged(methods, readable))
end

-- Inner names, as of a protocol that an object may lack, are nil.
local function no_member(name)
    if type(name) ~= 'string' or name:find '^_' then return nil end
    errors.argument("a simulation has no '%s'%s: help 'sim' lists all", name,
        suggest(name, Live.__names()))
end

-- An interrupt can come after steps were queued and before their clock was read:
-- whatever is asked of the simulation then comes after that.
function Live.__index(self, name)
    local is_released = rawget(self, 'is_released')
    local method = rawget(methods, name)
    if method then
        if is_released and name ~= 'release' then
            errors.argument('simulation: %s: it has been released', name)
        end
    elseif not readable[name] then
        return no_member(name)
    end
    local simulation = rawget(self, 'simulation')
    if not is_released then simulation:catch_up() end
    return method or readable[name](simulation)
end

function Live.__newindex(self, name, value)
    local set = settable[name]
    if not set then
        errors.argument("simulation: '%s' cannot be set (only: cfl)", tostring(name))
    end
    set(self.simulation, value)
end

function Live.__words(self, method)
    local takes = method == 'plot' or method == 'field' or method == 'array' or method == 'set'
    return takes and variables_of(self) or nil
end

function Live.__options(_, method)
    return live.takes_options[method] and tables.keys(live.run_options()) or nil
end

function Live:__tostring()
    if rawget(self, 'is_released') then return self.title .. ': released' end
    self.simulation:catch_up()
    return ('%s: %s\nvariables %s'):format(self.title, tostring(self.simulation),
        table.concat(variables_of(self), ' '))
end

-- A signal must not end a step in its midst: the loop asks between batches.
local function guard_steps(simulation)
    local step = simulation.step
    function simulation:step(n)
        home.hold(true)
        local ok, failure = pcall(step, self, n)
        home.hold(false)
        if not ok then error(failure, 0) end
    end
end

-- Returns the simulation at its start, or at the checkpoint in options.restart. desc: as for
-- mare.run
function live.new(desc, from)
    desc.options = desc.options or { t_end = 1 }
    local simulation = run.prepare(desc)
    guard_steps(simulation)
    return setmetatable({ desc = desc, simulation = simulation, scenario = from,
        title = desc.title or from and from.name or 'simulation' }, Live)
end

-- ---- by the name of a scenario ----

local Named = {}

function Named:__call(values)
    local found = scenario.load(self.name, values or {})
    return live.new(found.desc, found)
end

-- Lists the options, as a scenario shows them with --help.
function Named:__tostring()
    local known, lines, columns = scenario.options(self.name), {}, (screen.size())
    local how = scenario.simulates(self.name) and "mare.simulation '%s' { ... } makes it, from"
        or 'from a shell mare %s runs it, with'
    lines[1] = ('%s: %s; '):format(self.name, known.title or 'a scenario')
        .. how:format(self.name)
    for _, option in ipairs(known) do
        local choices = option.choices and ' (' .. table.concat(option.choices, ', ') .. ')' or ''
        local default = option.default
        if type(default) == 'table' then default = table.concat(default, 'x') end
        local shown = default ~= nil and ' = ' .. tostring(default) or ''
        local words = (option.help or '') .. choices
        lines[#lines + 1] = ('  %-28s %s'):format(option.key .. shown,
            screen.wrapped(words, math.max(30, columns - 32), 31))
    end
    return table.concat(lines, '\n')
end

function Named.__help(self) return self.name end

-- mare.simulation 'NAME' { ... }: makes the scenario of a name or file with a table of options,
-- which may be given at once or to what this returns.
function live.from(name, values)
    local named = live.named(name)
    return values == nil and named or named(values)
end

-- Returns a scenario by its name or file, to be called with a table of options.
function live.named(name)
    scenario.check(name)
    return setmetatable({ name = name }, Named)
end

return live
