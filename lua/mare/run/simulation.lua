-- mare.simulation 'NAME' { options } sets a scenario up, by its name or file, to be stepped by
-- hand; it takes the options of its command line and gives what help 'sim' describes:
--
--     sim = mare.simulation 'kelvin_helmholtz' { nx = 512, ny = 256 }
--     sim:run { t_end = 1, show = 'rho' }   sim:plot 'rho'   sim:save 'x.nc'
--
-- mare.simulation.new { ... } makes the bare simulation below that, from a grid and a scheme. Steps
-- are queued, not waited for, and however many with a handful of calls; read() waits. The axis
-- that a step sweeps first alternates with the number of steps taken, and dt follows from the state
-- on the device, so the bits of a run depend neither on how its steps were queued nor on how the
-- grid was split.

local alike = require 'mare.run.alike'
local at_rest = require 'mare.run.at_rest'
local clocks = require 'mare.array.clocks'
local core = require 'bindings.device'
local cycles = require 'mare.run.cycles'
local devices = require 'mare.array.devices'
local division = require 'mare.run.division'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local fields = require 'mare.array.fields'
local here = require 'mare.ranks.here'
local interior = require 'mare.links.interior'
local links = require 'mare.links'
local host_fields = require 'mare.array.host_fields'
local literal = require 'mare.base.literal'
local shapes = require 'mare.shapes'
local options = require 'mare.base.options'
local plans = require 'mare.links.plans'
local prepare = require 'mare.array.prepare'
local quadrature = require 'mare.schemes.quadrature'
local state = require 'mare.array.state'
local tables = require 'bindings.tables'
local trial = require 'mare.run.trial'

local simulation = {}

local Simulation = {}
Simulation.__index = Simulation

-- Allocates the maxima of all parts on all devices, or of each part on its own. Returns how many a
-- device has.
local function make_maxima(self)
    local copies, used, most = clocks.copy_maxima(self.fields), {}, 0
    for _, s in ipairs(self.states) do
        local first, place = self.fields:first_part(s.device), copies or s.device
        s.slot, s.slots = used[place] or 0, self.scheme:maxima(s.device, s.part, first)
        used[place] = s.slot + s.slots
        most = math.max(most, used[place])
    end
    self.maxima = self.fields:replicate { type = self.precision, count = most, label = 'maxima' }
    self.maxima:fill(0)
    if copies then self.maxima:share(function(s) return s.slot, s.slots end) end
    return most
end

-- Makes the clocks or, where there are some, shows them the maxima that are new.
local function make_clocks(self, total)
    if self.clocks then
        self.clocks:watch(self.maxima, total)
    else
        self.clocks = clocks.new(self.fields, self.maxima, total, self.scheme.gradual)
    end
end

local function bind_sweeps(self)
    local function settle(n) return self.clocks:settle(self.maxima, n) end
    for _, s in ipairs(self.states) do
        s.sweeps = self.scheme:bind(self.kernels[s.device], {
            state = s, grid = self.grid, boundaries = self.boundaries, clock = s.clock,
            maxima = self.maxima:on(s), slot = s.slot, first = self.first, levels = self.levels,
            settle = self.fields:is_whole() and settle,
            beside = s.part.columns and function(...) return self.fields:beside(s, ...) end,
        })
    end
end

-- Releases the launches of a scheme: a list, or lists by name.
local function release_launches(launches)
    if launches.release then return launches:release() end
    for _, entry in pairs(launches) do release_launches(entry) end
end

local function release_steps(self)
    for _, s in ipairs(self.states) do
        if s.sweeps then release_launches(s.sweeps) end
        s.sweeps = nil
    end
    if self.maxima then self.maxima:release() end
    self.maxima = nil
end

-- Compiles and binds the steps as shapes.lua has them now, in place of those that there are.
local function make_steps(self)
    release_steps(self)
    for _, device in ipairs(self.fields.devices) do
        self.kernels[device] = self.scheme:kernels(device, self.precision, self.domain,
            self.fields:first_part(device), self.maths)
    end
    make_clocks(self, make_maxima(self))
    bind_sweeps(self)
end

local function make_fields(self, parts)
    self.fields = fields.new { grid = self.grid, parts = parts, names = self.scheme.fields,
        precision = self.precision, halo = self.scheme.halo, buffers = self.scheme.buffers or 2,
        barrier = self.barrier, is_joined = parts[1].joined ~= nil, margin = parts[1].margin }
    self.fields.moves = self.levels ~= nil
    function self.fields.settle() self:find_state() end
    function self.fields.fill_halos() self:fill_ghosts() end
    self.states, self.kernels = self.fields.states, {}
    if self.states[1].part.edge_rows then
        self.interior = interior.new(self.fields.devices, self.states)
    end
    for _, s in ipairs(self.domain and self.states or {}) do
        self.scheme:prepare(self.domain, s)
    end
end

-- Makes one exchange for each stage of a step, or one for a step of sweeps; `exchange_of` has them
-- by the buffer whose ghost cells they fill.
local function make_exchanges(self)
    local scheme, exchange_of = self.scheme, {}
    local function of(which, fraction)
        exchange_of[which] = exchange_of[which]
            or self.fields:exchange(self.boundaries, scheme, which, fraction)
        return exchange_of[which]
    end
    self.exchanges, self.exchange_of = { x = {}, y = {} }, exchange_of
    for axis, exchanges in pairs(self.exchanges) do
        local odd = self.levels and axis ~= self.first
        for k, stage in ipairs(scheme.stages or { { src = 'now' } }) do
            exchanges[k] = of(odd and 'other' or stage.src, stage.fraction)
        end
    end
    for _, which in ipairs(scheme.back or {}) do of(which) end
    local function after(which)
        local launches = {}
        for _, s in ipairs(scheme.after_step and self.states or {}) do
            for _, launch in ipairs(scheme:after_step(s, which)) do
                launches[#launches + 1] = launch
            end
        end
        return launches
    end
    self.after = { x = after(scheme.levels and 'other' or 'now'), y = after 'now' }
end

-- Returns the buffers that hold the state before a step that sweeps along `axis` first, and after
-- it.
local function ends_of(self, axis)
    if not self.levels then return 'now', 'now' end
    if axis == self.first then return 'now', 'other' end
    return 'other', 'now'
end

-- Queues the k-th launch of a step of all parts; where parts are joined, the first has it.
local function run_sweeps(states, axis, k)
    for s = 1, #states do
        local launch = states[s].sweeps[axis][k]
        if launch then launch:run() end
    end
end

-- Queues the kernels of one step that sweeps along `axis` first. following: the axis of another
-- that is queued right behind, if any
local function queue_step(self, axis, following)
    if self.cycle then return self.cycle:queue(axis, 1) end
    local states, exchanges = self.states, self.exchanges[axis]
    local before, after = ends_of(self, axis)
    local next = following and not self.particles and self.exchanges[following][1]
    for k = 1, #states[1].sweeps[axis] do
        if exchanges[k] then exchanges[k]:run(false, k == 1) end
        if k == 1 and self.particles then self.particles:half(1, before) end
        if self.interior then self.interior:run(axis)
        else run_sweeps(states, axis, k) end
    end
    if self.interior and next then next:move_early(self.interior:await()) end
    for k = 1, #self.after[axis] do self.after[axis][k]:run() end
    if self.particles then
        self.exchange_of[after]:run(true)
        self.particles:half(2, after)
    end
    self.clocks:tick(next)
end

local axes = { 'x', [0] = 'y' }

-- Queues so many steps, x first.
local function queue_steps(self, count)
    if self.cycle then return self.cycle:queue('x', count) end
    for k = 1, count do queue_step(self, axes[k % 2], k < count and axes[(k + 1) % 2]) end
end

-- Queues an even number of steps, x first, which tick the clock themselves.
local function queue_sequence(self, count)
    local sweeps, exchanges = self.states[1].sweeps, self.exchanges
    local sequence = sweeps.sequence
    for k = 1, count, 2 do
        exchanges.x[1]:run()
        if k == 1 then sweeps.x[1]:run() else sequence.even:run() end
        exchanges.y[1]:run()
        sequence.odd:run()
    end
    sequence.settle:run()
end

local block_steps = 16      -- of the longest plan: many kernels share the cost of starting it
simulation.block_steps = block_steps
local most_together = 1000  -- in one launch

-- Records steps as plans: x and y are one step each, named after the first sweep's axis, `pair` is
-- x, y. In a sequence of steps the clock stands still for all kernels but those of the steps.
local function make_plans(self)
    local record = plans.recorder(self.fields.devices, self.barrier, self.particles)
    local made = {}
    made.x = record(function() queue_step(self, 'x') end, 'a step, x first')
    made.y = record(function() queue_step(self, 'y') end, 'a step, y first')
    made.pair = record(function(count) queue_steps(self, 2 * (count or 1)) end, 'two steps', true)
    local sequence = self.states[1].sweeps.sequence
    if sequence and (self.particles or self.exchanges.x[1]:reads_clock()) then sequence = nil end
    self.all_steps = sequence and sequence.all
    made.block = record(function(count)
        if sequence and not sequence.all then queue_sequence(self, block_steps)
        else queue_steps(self, block_steps * (count or 1)) end
    end, 'many steps', true)
    self.plans = made
end

-- Returns the axis of the first sweep.
local function first_of(scheme, o)
    local first = options.value(o, 'first')
    if scheme.levels and first ~= 'x' then
        errors.usage("option --first: '%s', but steps of %s %s go over both axes at once", first,
            scheme.scheme or '', scheme.name)
    end
    return first
end

-- Whether the steps of all parts read cells of others where they lie, instead of ghost cells.
-- whole: of division.lua, over which they go at once, or nil
local function reads_beside(self, parts, whole)
    local is_apart = self.weights or not self.barrier
        and (here.size > 1 or not devices.are_on_one(parts))
    if #parts == 1 or is_apart or not self.levels or not self.scheme.reads_beside then
        return false
    end
    for _, kind in pairs(self.boundaries) do
        if kind ~= 'periodic' then return false end
    end
    local can = true
    for _, part in ipairs(parts) do
        can = can and (part.rank ~= nil
            or self.scheme:reads_beside(part.device, self.precision, whole or part))
    end
    for _, one in ipairs(here.all(can)) do can = can and one end
    return can
end

-- Tells parts whose steps do so that they do: `columns` of all parts, and `room` for the largest;
-- and where the steps of all are one launch, of what, `joined`.
local function join_parts(self, parts)
    local is_one = here.size == 1 and #parts > 1 and devices.are_on_one(parts)
    local whole = is_one and division.whole(self, parts,
        #parts * state.size(parts[1], self.scheme, self.precision)) or nil
    if not reads_beside(self, parts, whole) then return end
    local columns, room = {}, { nx = 0, ny = 0 }
    for k, part in ipairs(parts) do
        columns[k] = part.nx
        room.nx, room.ny = math.max(room.nx, part.nx), math.max(room.ny, part.ny)
    end
    for _, part in ipairs(parts) do part.columns, part.room = columns, room end
    for _, part in ipairs(parts) do part.joined = whole end
    if whole then whole.columns = columns end
end

-- Tells parts whose cells go to others through the host, and only along y, how many rows steps
-- take first: they leave while the rest is computed. All ranks do so, or none.
local function set_edges(self, parts)
    local px, py = self.decompose[1], self.decompose[2]
    local can_not = parts[1].margin or not self.levels or not self.scheme.edge_rows
    if px > 1 or py == 1 or self.barrier or can_not then return end
    local found, can = {}, links.are_by_host(parts)
    for k, part in ipairs(can and parts or {}) do
        found[k] = part.device and self.scheme:edge_rows(part.device, self.precision, part)
        can = can and (part.rank or found[k]) ~= nil
    end
    for _, one in ipairs(here.all(can)) do can = can and one end
    for k, part in ipairs(can and parts or {}) do part.edge_rows = found[k] end
end

-- Refuses ranks that do not make the same simulation.
local function check_alike(self, desc)
    local g = self.grid
    local traits = { { 'build', core.full_version }, { 'grid', { g.nx, g.ny, g.x, g.y } },
        { 'precision', self.precision }, { 'maths', self.maths }, { 'cfl', self.cfl },
        { 'dt', self.dt or 'none' }, { 'exchange_every', self.exchange_every },
        { 'first', self.first }, { 'decompose', self.decompose },
        { 'weights', self.weights or 'equal' },
        { 'boundaries', exchange.describe(self.boundaries, self.domain) },
        { 'fields', self.scheme.fields }, { 'scheme', self.scheme:parameters() },
        { 'restart', desc.restart and { desc.restart.t, desc.restart.steps } or 'new' },
        { 'particles', desc.particles and desc.particles.places or 'none' } }
    for _, trait in ipairs(traits) do trait[2] = literal.encode(trait[2]) end
    alike.check(traits)
end

local allowed = {
    grid = 'table', scheme = 'table', boundaries = 'any', initial = 'function', devices = 'table',
    restart = 'table', options = 'table', domain = 'table', particles = 'table', shown = 'table',
}

-- Refuses a value that has not the method by which one knows what `maker` makes.
local function check_made(what, value, method, maker)
    if type(value) ~= 'table' or not value[method] then
        errors.argument('simulation: %s is missing, or not made by %s', what, maker)
    end
end

function Simulation:__tostring()
    local names = tables.column(self.devices, 'name')
    return ('%d x %d cells of %s in %s on %s\nt = %.6g after %.0f steps, cfl %g'):format(
        self.grid.nx, self.grid.ny, self.scheme.name, self.precision, table.concat(names, ', '),
        self.now.t, self.now.steps, self.cfl)
end

local function check_description(desc)
    errors.fields('simulation', desc, allowed)
    check_made('grid', desc.grid, 'split', 'mare.grid')
    check_made('scheme', desc.scheme, 'conserved', 'a scheme such as mare.euler')
    if desc.scheme.dimensions == 3 then
        errors.argument('simulation: scheme %s has three dimensions: mare.volume is wanted',
            desc.scheme.name)
    end
    if desc.grid.halo ~= desc.scheme.halo then
        errors.argument('simulation: a grid with halo = %d, scheme %s wants %d', desc.grid.halo,
            desc.scheme.name, desc.scheme.halo)
    end
end

-- Returns the simulation with its options, devices, and how these divide the grid; nothing is on
-- them yet.
local function describe(desc)
    local o = desc.options or {}
    local self = setmetatable({
        grid = desc.grid, scheme = desc.scheme, precision = options.value(o, 'precision'),
        maths = options.value(o, 'maths'), cfl = options.value(o, 'cfl'),
        dt = options.value(o, 'dt'), exchange_every = options.value(o, 'exchange_every'),
        now = {}, version = 0, is_new = true,
        first = first_of(desc.scheme, o), quadrature = options.value(o, 'quadrature'),
        initial_on = options.value(o, 'initial_on'),
        boundaries = exchange.boundaries(desc.boundaries, desc.scheme),
        devices = devices.open(desc.devices or o.device),
    }, Simulation)
    self.decompose = division.numbers(desc.grid, options.value(o, 'decompose'), self.devices)
    self.weights = division.weights(options.value(o, 'weights'),
        self.decompose[1] * self.decompose[2], self.devices, function(device)
            return trial.rate(simulation.new, desc, device)
        end)
    if self.scheme.domain then
        self.domain = desc.domain
            or self.scheme:domain(self.grid, self.boundaries, self.precision)
    end
    return self
end

-- Allocates the parts on their devices, compiles, and makes what steps are queued by.
local function make(self, desc)
    local parts = errors.option('decompose', self.grid.split, self.grid, self.decompose[1],
        self.decompose[2], self.weights)
    self.levels = self.scheme.levels
        or self.scheme.levels_on and self.scheme:levels_on(devices.everywhere(self.devices))
    self.barrier = devices.assign(parts, self.devices)
    join_parts(self, parts)
    cycles.plan(self, parts)
    set_edges(self, parts)
    devices.check(parts, self.scheme, self.precision)
    make_fields(self, parts)
    prepare.kernels(self, desc.shown)
    shapes.settle(make_steps, self)
    make_exchanges(self)
    self.cycle = cycles.new(self, function(axis, left)
        for s = 1, #self.states do self.states[s].sweeps.cycle[axis][left]:run() end
    end)
    self.particles = desc.particles
    if self.particles then self.particles:attach(self) end
    make_plans(self)
    -- Threads that compile must not hold the driver while one device waits for another.
    if self.barrier and self.barrier.way == 'words' then prepare.await(self) end
end

-- Makes a simulation. desc: { grid =, scheme =, boundaries = 'periodic' or { west = ... },
--   initial = function(x, y) -> what scheme:conserved takes, at cell centres and around the domain,
--   devices = open ones or their names, or options.device,
--   domain = scheme:domain(...), if it was made already, particles = of
--   scheme.particles.new, shown = names of the variables that pictures will show, if any,
--   restart = where to go on instead: { state = pointer to what save() gave, t, steps, rate },
--   options = those of every run, by default as run_options.lua has them: device, decompose,
--     weights, precision, maths, cfl, dt, exchange_every, first, quadrature, initial_on }
function simulation.new(desc)
    check_description(desc)
    local self = describe(desc)
    if here.size > 1 then
        check_alike(self, desc)
        division.tell_shared(self.devices)
    end
    make(self, desc)
    if desc.restart then
        self:load(desc.restart)
        self:warm_up()
        self:start(desc.restart)
    else self:set(desc.initial) end
    return self
end

-- Takes two steps of dt = 0, if none were taken yet: they change nothing, but drivers that compile
-- late do it here, which a picture of the initial state need not wait for. aim: { t_end, steps } of
-- a run, if one begins; where it ends at once, as in sim:save, no step has to be compiled.
function Simulation:warm_up(aim)
    local is_over = aim and (aim.steps and aim.steps <= self.now.steps
        or aim.t_end and aim.t_end <= self.now.t)
    if is_over or not self.is_new or self.now.dt > 0 then return end
    self:step(2)
    self:read()
end

-- Sets the clocks: { t, steps, rate = largest signal rate of the state, if known, last = dt of the
-- last step, if there was one }
function Simulation:start(at)
    self.clocks:start { t = at.t, steps = at.steps, cfl = self.cfl, rate = at.rate, last = at.last,
        dt = self.dt }
    self:read()
end

local one_level = { 'now' }

-- Returns the buffers that hold what the next step depends on, the state first.
local function levels(self, steps)
    return self.levels and self.levels(steps) or one_level
end

-- Returns the elements of what save() gives.
function Simulation:saved_count()
    return self.fields:saved_count() * #levels(self, 0)
end

-- Writes all fields of the whole grid, with the ghost cells around it, into host memory: with the
-- clock everything that the next step depends on. Waits.
function Simulation:save(host)
    self:find_state()
    for k, which in ipairs(levels(self, self.now.steps)) do
        self.fields:save(host, which, (k - 1) * self.fields:saved_count())
    end
end

-- Writes what this rank holds of all that into host memory. share: of array/share.lua
function Simulation:save_share(share, host)
    self:find_state()
    share:save(host, levels(self, self.now.steps))
end

-- Loads the state and the clock of a checkpoint: { state = what save() gave, t, steps, rate }
function Simulation:load(at)
    for k, which in ipairs(levels(self, at.steps)) do
        self.fields:load(at.state, which, (k - 1) * self.fields:saved_count())
        if k == 1 then self.fields:spread(which) end
    end
    self:start(at)
    self.version = self.version + 1
end

-- Fills the ghost cells of the state.
function Simulation:fill_ghosts()
    self:find_state()
    self.exchange_of[self.fields:present()]:run(true)
end

-- Fills the fields with the initial state, on the devices if it is to be computed there.
local function fill(self, initial)
    local scheme = self.scheme
    local value = quadrature.sampler(scheme, self.grid, initial, self.quadrature, self.domain)
    local can = scheme.fill_fields and not self.domain
    local is_done = can and scheme:fill_fields(initial, self.fields, { on = self.initial_on,
        count = self.quadrature })
    if not can and self.initial_on == 'device' then
        errors.usage("option --initial-on: 'device', but not for the schemes of %s", scheme.name)
    end
    if not is_done then self.fields:fill(value) end
end

-- Computes the level before the initial state, for a scheme that wants one, by steps back in time.
local function go_back(self)
    for k, which in ipairs(self.scheme.back or {}) do
        self.exchange_of[which]:run()
        for _, s in ipairs(self.states) do s.sweeps.back[k]:run() end
    end
end

-- Queues what tells the clocks' next tick about the state, which is in buffer `which`.
local function measure(self, which)
    for _, s in ipairs(self.states) do
        if self.scheme.unwatched then s.sweeps.measure:set('src', s[which]) end
        s.sweeps.measure:run()
    end
end

-- Sets the state from a function of position and the clock to { t = 0, steps = 0 }. Raises where it
-- is no state that steps can be taken from.
function Simulation:set(initial, start)
    start = start or { t = 0, steps = 0 }
    self:start(start)
    fill(self, initial)
    measure(self, levels(self, start.steps)[1])
    self.version = self.version + 1
    self:aim(start.t)
    if self:is_too_slow() then
        errors.usage('option --dt: %s', self:why_failed())
    elseif self.now.failed then
        errors.raise('MARE_ERROR_STATE', 'the initial state is invalid: %s', self:why_failed())
    end
    at_rest(self.now, self.dt)
    go_back(self)
end

-- Says that somebody has written another state into the fields: the next step follows from it.
function Simulation:changed()
    local now = self.now
    self:start { t = now.t, steps = now.steps }
    measure(self, self.fields:present())
    self.version = self.version + 1
    self:aim(now.t)
    if self.now.failed then
        errors.raise('MARE_ERROR_STATE', 'the state that was set is invalid: %s',
            self:why_failed())
    end
end

-- Changes the state on the devices: f(q, x, y, t, p) returns for a cell what `initial` returns; q
-- holds that as it is now. f becomes a kernel: schemes/pointwise.lua.
function Simulation:change(f)
    local scheme = self.scheme
    if not scheme.change then
        errors.argument('simulation: change: not for the schemes of %s', scheme.name)
    end
    self:find_state()
    scheme:change(f, self.fields, self.now.t)
    self:changed()
end

local function is_held(self)
    return self.held and self.stop == self.goal
end

-- Lets the next steps end at the goal or, if that is earlier, where what surrounds the equations,
-- such as the wind, is to be renewed.
local function approach(self)
    local t, domain = self.now.t, self.domain
    if domain then
        for k = 1, #self.states do domain:update(self.states[k], t) end
    end
    self.stop = math.min(self.goal, domain and domain:next_time(t) or math.huge)
    self.clocks:aim(self.stop, is_held(self))
end

-- Lets the next steps end exactly at `t`: steps after that change nothing. They also end at `stop`,
-- if that is earlier; read() then aims at `t` again. With `held` they end before the first step
-- whose dt `t` would change, so that all of them are steps of a run with a later end, too.
function Simulation:aim(t, held)
    if type(t) ~= 'number' or t ~= t then
        errors.argument('simulation: aim(%s): a time is wanted', tostring(t))
    end
    self.goal, self.held = t, held
    approach(self)
    self:read()
end

-- Queues an even number of steps, x first: where the groups of a GPU take many at once, in launches
-- that a display may have to wait for.
local function queue_pairs(self, n)
    local own, all = self.plans, self.all_steps
    while all and n > 0 do
        all:set('steps', math.min(n, most_together))
        all:run()
        n = n - math.min(n, most_together)
    end
    own.block:run(math.floor(n / block_steps))
    own.pair:run(n % block_steps / 2)
end

-- Queues n steps, 1 if not given. How they begin depends on how many were taken: behind an odd
-- number that nobody has read it reads, which waits.
function Simulation:step(n)
    n = n or 1
    if not (type(n) == 'number' and n >= 0 and n % 1 == 0) then
        errors.argument('simulation: step(%s): a whole number is wanted', tostring(n))
    end
    if self.unread and self.unread % 2 == 1 then self:read() end
    local own = self.plans
    for _, e in pairs(self.exchange_of) do e:forget() end
    local along_y = (self.now.steps + (self.first == 'x' and 0 or 1)) % 2 == 1
    self.version, self.unread = self.version + 1, (self.unread or 0) + n
    if along_y and n > 0 then
        own.y:run()
        n = n - 1
    end
    queue_pairs(self, n - n % 2)
    if n % 2 == 1 then own.x:run() end
end

local function read_clocks(self)
    if self.is_new then prepare.await(self) end
    local now = self.clocks:read(self.now)
    self.fields:hold_in(levels(self, now.steps)[1])
    return now
end

-- Reads if steps were queued since the last time, as by a loop that an interrupt ended.
function Simulation:catch_up()
    if self.unread then self:read() end
end

-- Reads where the state may be in one of two buffers: that depends on how many steps were taken.
function Simulation:find_state()
    if self.levels then self:catch_up() end
end

-- Looks at a state whose steps write no maxima (`unwatched`): an invalid one is to be noticed. The
-- next dt is chosen once more, from what it was chosen from, and is the same.
local function watch(self)
    measure(self, self.fields:present())
    if self.goal then self.clocks:aim(self.stop, is_held(self)) end
    return read_clocks(self)
end

-- Waits, and returns { t, dt (of the next step), steps, failed }; always the same table.
function Simulation:read()
    local is_unseen = self.unread and self.scheme.unwatched
    local now = read_clocks(self)
    self.is_new, self.unread = self.is_new and not self.unread, false
    if is_unseen and not now.failed then now = watch(self) end
    if self.goal and now.t >= self.stop and self.stop < self.goal and not now.failed then
        approach(self)
        now = read_clocks(self)
    end
    return now
end

Simulation.field, Simulation.stored = host_fields.field, host_fields.stored
Simulation.invalid = host_fields.invalid

-- Returns whether the signals of the state have become too fast for the dt that is wanted.
function Simulation:is_too_slow()
    local rate = self.now.rate
    return self.dt ~= nil and rate < math.huge and rate * self.dt > 1
end

-- Says why there is no next step, and in which cell if it is one's fault.
function Simulation:why_failed()
    if self:is_too_slow() then
        return string.format('dt = %g is unstable: it must be at most %.6g in step %.0f', self.dt,
            1 / self.now.rate, self.now.steps)
    end
    local what, i, j = self:invalid()
    return what or 'signals faster than numbers can hold', i, j
end

-- Returns the bytes that a step cannot do without moving, for each cell: see progress.lua.
function Simulation:bytes_per_cell()
    return (2 * self.scheme.updated + self.scheme.read_only) * state.bytes[self.precision]
end

-- Compiles and binds the steps once more, as shapes.lua has them now. State and clock stay, the
-- clock's rate must be told to start().
function Simulation:rebuild()
    for _, plan in pairs(self.plans) do plan:release() end
    shapes.settle(make_steps, self)
    make_plans(self)
end

local Released = { __tostring = function() return 'simulation: released' end }

function Released.__index(_, name)
    if name == 'release' then return function() end end
    if Simulation[name] then errors.argument('simulation: %s: it has been released', name) end
end

-- Frees everything on the devices, and its host memory. The devices stay open.
function Simulation:release()
    for _, plan in pairs(self.plans) do plan:release() end
    for _, e in pairs(self.exchange_of) do e:release() end
    if self.particles then self.particles:release() end
    release_launches(self.after)
    host_fields.release(self)
    release_steps(self)
    self.fields:release()
    self.clocks:release()
    if self.interior then self.interior:release() end
    if self.barrier then self.barrier:release() end
    setmetatable(self, Released)
end

return simulation
