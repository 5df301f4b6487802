-- A simulation on a grid of three dimensions:
--
--     local sim = mare.volume.simulation { grid = g, scheme = s, boundaries = 'periodic',
--         initial = function(x, y, z) return 1 + x * y, 0, 0, 0, 1 end }
--     sim:aim(0.1)   sim:step(10)   sim:read()   local rho = sim:field 'rho'
--
-- Steps are queued, and waited for by what needs to know where they ended: read(), the next step()
-- and all that looks at the state. dt follows from the state on the device. Steps come in pairs:
-- the first sweeps along x, y and z, the second along z, y and x, with the same dt unless the
-- target is near. Where the domain goes around along z, and no side is a function, both sweeps
-- along it are one pass, after which the state lies in the other buffer. The bits of a run depend
-- neither on how its steps were queued nor on how many slabs there are. run/loop.lua takes it as it
-- takes one on a plane.

local alike = require 'mare.run.alike'
local at_rest = require 'mare.run.at_rest'
local clocks = require 'mare.array.clocks'
local core = require 'bindings.device'
local devices = require 'mare.array.devices'
local division = require 'mare.run.division'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local grids = require 'mare.volume.grid'
local here = require 'mare.ranks.here'
local interior = require 'mare.volume.interior'
local kernels = require 'mare.volume.kernels'
local literal = require 'mare.base.literal'
local memory = require 'bindings.memory'
local options = require 'mare.base.options'
local plans = require 'mare.links.plans'
local sides = require 'mare.volume.sides'
local slabs = require 'mare.volume.slabs'
local tables = require 'bindings.tables'
local variables = require 'mare.volume.variables'

local simulation = {}

local Simulation = {}
Simulation.__index = Simulation

local allowed = { grid = 'table', scheme = 'table', boundaries = 'any', initial = 'function',
    options = 'table', devices = 'table', slabs = 'number', shapes = 'table', restart = 'table' }

-- Returns what kernels are bound to in a slab.
local function work_of(self, slab)
    return { scheme = self.scheme, grid = self.grid, boundaries = self.boundaries,
        precision = self.precision, maths = self.maths, count = self.fields.count,
        steps = self.has_pairs and 2 or 1, has_edges = self.interior ~= nil, shapes = self.shapes,
        maxima = self.maxima and self.maxima:on(slab), clock = slab.clock }
end

-- Allocates the maxima of all slabs, and the clocks that see them.
local function make_clocks(self)
    local total = 0
    for _, slab in ipairs(self.fields.list) do
        slab.slot, slab.slots = total, kernels.maxima(work_of(self, slab), slab)
        total = total + slab.slots
    end
    self.maxima = self.fields:replicate { type = self.precision, count = total, label = 'maxima' }
    self.maxima:fill(0)
    self.maxima:share(function(slab) return slab.slot, slab.slots end)
    self.clocks = clocks.new(self.fields, self.maxima, total, false)
end

local other = { 2, 1 }

-- Queues launches of all slabs that go from a buffer to the other one. Returns that.
local function run(self, from, get)
    for _, launches in ipairs(self.launches) do get(launches[from]):run() end
    return other[from]
end

local planes, columns = {}, {}
for _, name in ipairs { 'first', 'second', 'both' } do
    planes[name] = function(launches) return launches[name] end
    columns[name] = function(launches) return launches.columns[name] end
end

-- Queues what fills ghost cells.
local function queue_beyond(self, at)
    for _, launches in ipairs(self.launches) do
        for _, launch in ipairs(launches[at].beyond) do launch:run() end
    end
end

-- Queues the planes of a first step, and what brings slices to other slabs: on several devices
-- while what lies between them is swept.
local function first_planes(self, at)
    if not self.interior then
        at = run(self, at, planes.first)
        self.fields:exchange(at)
        return at
    end
    self.interior:run(self.ends[at], 'z')
    self.fields:exchange(other[at])
    self.interior:join()
    return other[at]
end

-- Queues the first or the second step of a pair, which leaves the state where it is. The rate
-- behind the first is what it was: planes of the second find the next.
local function queue_first(self, at)
    queue_beyond(self, at)
    at = first_planes(self, at)
    run(self, at, columns.first)
    self.clocks:go_on()
end

local function queue_second(self, at)
    queue_beyond(self, at)
    self.fields:exchange(at)
    run(self, run(self, at, columns.second), planes.second)
    self.clocks:tick()
end

-- Queues both. Returns where the state is then. What was the largest rate before the first step
-- stands for the second as well.
local function queue_pair(self, at)
    if not self.has_pairs then
        queue_first(self, at)
        queue_second(self, at)
        return at
    end
    at = first_planes(self, at)
    at = run(self, at, columns.both)
    self.clocks:go_on()
    at = run(self, at, planes.second)
    self.clocks:tick()
    return at
end

-- Records steps that begin in each of both buffers.
local function make_steps(self)
    self.launches = {}
    for k, slab in ipairs(self.fields.list) do
        self.launches[k] = kernels.bind(work_of(self, slab), slab)
    end
    self.ends = { {}, {} }
    for k, slab in ipairs(self.interior and self.fields.list or {}) do
        for at = 1, 2 do
            local own = self.launches[k][at]
            self.ends[at][k] = { device = slab.device,
                sweeps = { z = own.between, edges = { z = own.edges } } }
        end
    end
    local record = plans.recorder(self.fields.devices)
    self.plans = {}
    for at = 1, 2 do
        self.plans[at] = {
            first = record(function() queue_first(self, at) end, 'a step'),
            second = record(function() queue_second(self, at) end, 'a step'),
            pair = record(function() queue_pair(self, at) end, 'two steps'),
            pairs = record(function() queue_pair(self, queue_pair(self, at)) end, 'four steps'),
        }
    end
end

-- Lets edges of slabs come first where they go to other devices.
local function make_interior(self)
    local may_be = #self.fields.devices > 1 or here.size > 1
    for _, slab in ipairs(self.fields.list) do
        may_be = may_be and kernels.may_have_edges(self.boundaries, slab)
    end
    self.interior = may_be and interior.new(self.fields.devices) or nil
end

-- Returns a scheme, which must be one in space.
function simulation.checked(scheme)
    if type(scheme) ~= 'table' or scheme.dimensions ~= 3 then
        errors.argument 'volume: scheme: one of mare.equations with dimensions = 3 is wanted'
    elseif scheme.stages then
        errors.usage('volume: scheme %s: in three dimensions it must be muscl_hancock',
            scheme.scheme)
    end
    return scheme
end

-- Refuses ranks that do not make the same simulation.
local function check_alike(self, desc)
    local g = self.grid
    local traits = { { 'build', core.full_version },
        { 'grid', { g.nx, g.ny, g.nz, g.x, g.y, g.z } }, { 'precision', self.precision },
        { 'maths', self.maths }, { 'cfl', self.cfl }, { 'dt', self.dt or 'none' },
        { 'slabs', desc.slabs or 'one each' },
        { 'boundaries', exchange.describe(self.boundaries) }, { 'fields', self.scheme.fields },
        { 'scheme', self.scheme:parameters() },
        { 'restart', desc.restart and { desc.restart.t, desc.restart.steps } or 'new' } }
    for _, trait in ipairs(traits) do trait[2] = literal.encode(trait[2]) end
    alike.check(traits)
    division.tell_shared(self.devices)
end

-- Makes a simulation. desc: { grid = of mare.volume.grid or what that takes, scheme = of
-- mare.equations { dimensions = 3, ... }, boundaries = 'periodic', 'reflective', 'outflow' or a
-- function(q, x, y, z, t, p) of sides.lua, or a table of these by west, east, south, north, low,
-- high; initial = function(x, y, z) -> what the scheme's initial state consists of, at cell
-- centres; devices = open ones or their names; slabs = how many (one for each device, or rank);
-- options = { device, precision, maths, cfl, dt }, restart = { state = what save() gave, t, steps,
-- rate }, to go on from there }. All ranks make the same: each has one device, and as many slabs as
-- others, or one more.
function simulation.new(desc)
    errors.fields('volume', desc, allowed)
    errors.needs('volume', desc, { 'grid', 'scheme', 'boundaries', 'initial' })
    simulation.checked(desc.scheme)
    local o = desc.options or {}
    local self = setmetatable({
        grid = desc.grid.slabs and desc.grid or grids.new(desc.grid), scheme = desc.scheme,
        boundaries = sides.of(desc.boundaries, desc.scheme), shapes = desc.shapes,
        precision = options.value(o, 'precision'), maths = options.value(o, 'maths'),
        cfl = options.value(o, 'cfl'), dt = options.value(o, 'dt'), now = {}, version = 0,
        devices = devices.open(desc.devices or o.device),
    }, Simulation)
    -- Ghost cells are due between two steps. run/loop.lua asks for whole pairs.
    self.has_pairs = self.boundaries.low == 'periodic'
        and not sides.has_functions(self.boundaries)
    for _, device in ipairs(self.devices) do devices.check_kind(device, 'a volume') end
    if here.size > 1 then check_alike(self, desc) end
    self.fields = slabs.new { grid = self.grid, names = self.scheme.fields,
        precision = self.precision, devices = self.devices,
        count = desc.slabs or here.size > 1 and here.size or #self.devices,
        is_around = self.boundaries.low == 'periodic',
        ghosts = sides.ghosts(self.boundaries) }
    make_interior(self)
    make_clocks(self)
    make_steps(self)
    if desc.restart then self:load(desc.restart) else self:set(desc.initial) end
    return self
end

-- Waits for steps that nobody has read: how many were taken tells which buffer has the state.
local function find_state(self)
    if self.queued then self:read() end
end

local function start(self, at)
    self.queued, self.now.t, self.now.steps = nil, at.t, at.steps
    self.clocks:start { t = at.t, steps = at.steps, rate = at.rate, cfl = self.cfl, dt = self.dt }
end

-- Tries a script's function once: what it forgets to return must not surface within the scheme.
local function check_initial(self, initial)
    if type(initial) ~= 'function' then
        errors.argument('volume: initial must be a function(x, y, z), not %s', type(initial))
    end
    local g, count = self.grid, #self.scheme.fields
    local x, y, z = g:centre('x', 0), g:centre('y', 0), g:centre('z', 0)
    local values = { initial(x, y, z) }
    for k = 1, count do
        if type(values[k]) ~= 'number' then
            errors.argument('volume: initial(%g, %g, %g) gives %s as value %d, %s wants %d numbers',
                x, y, z, type(values[k]), k, self.scheme.name, count)
        end
    end
end

-- Lets the next step follow from the state as it is at time t.
local function measure(self, t, what)
    for _, launches in ipairs(self.launches) do launches[self.fields.at].measure:run() end
    self.version = self.version + 1
    self:aim(t)
    if self.now.failed then
        errors.raise('MARE_ERROR_STATE', 'the %s is invalid: %s', what, self:why_failed())
    end
end

-- Sets the state from a function of position, and the clock to 0.
function Simulation:set(initial)
    local g, scheme = self.grid, self.scheme
    check_initial(self, initial)
    self.fields.at = 1
    start(self, { t = 0, steps = 0 })
    local function value(i, j, k)
        return scheme:conserved(initial(g:centre('x', i), g:centre('y', j), g:centre('z', k)))
    end
    for _, slab in ipairs(self.fields.list) do
        if not kernels.fill(work_of(self, slab), slab, initial) then
            self.fields:fill(slab, value)
        end
    end
    measure(self, 0, 'initial state')
    at_rest(self.now, self.dt)
end

-- Changes the state on the devices: f(q, x, y, z, t, p) returns for a cell what `initial` returns;
-- q holds that as it is now. f becomes a kernel.
function Simulation:change(f)
    errors.wanted('volume: change', 'function', f)
    local now = self:read()
    for _, slab in ipairs(self.fields.list) do
        kernels.change(work_of(self, slab), slab, self.fields.at, f, now.t)
    end
    start(self, { t = now.t, steps = now.steps })
    measure(self, now.t, 'state that was set')
end

-- Raises unless host memory has room for a state.
local function check_memory(self, call, given)
    local what, wanted = 'volume: ' .. call, self:saved_count() * self.fields.element
    local _, bytes = memory.pointer(what, given, self.precision)
    if bytes and bytes < wanted then
        errors.argument('%s: a state has %.0f bytes, this memory %.0f', what, wanted, bytes)
    end
end

-- Writes the state of the whole grid into host memory: with the clock everything that the next step
-- depends on. Waits. All ranks call it, and get all.
function Simulation:save(host)
    check_memory(self, 'save', host)
    find_state(self)
    self.fields:save(host)
end

-- Writes what this rank holds of all that into host memory. share: of array/share.lua
function Simulation:save_share(share, host)
    find_state(self)
    share:save(host, { self.fields:present() })
end

-- Returns how many numbers that is.
function Simulation:saved_count() return self.fields:saved_count() end

local function is_finite(value)
    return type(value) == 'number' and value - value == 0
end

-- Loads a state and its clock: { state = what save() gave, t, steps, rate }
function Simulation:load(at)
    errors.wanted('volume: load', 'table', at)
    check_memory(self, 'load: state', at.state)
    if not is_finite(at.t) then
        errors.argument('volume: load: t = %s: a time is wanted', tostring(at.t))
    elseif not (is_finite(at.steps) and at.steps >= 0 and at.steps % 1 == 0) then
        errors.argument('volume: load: steps = %s: a whole number is wanted', tostring(at.steps))
    end
    self.fields:load(at.state)
    start(self, at)
    self.version = self.version + 1
    self:aim(at.t)
end

-- Lets the next steps end exactly at `t`, not before the time that the state has (math.huge: they
-- end nowhere). Steps after that change nothing.
function Simulation:aim(t, held)
    if type(t) ~= 'number' or t ~= t then
        errors.argument('volume: aim(%s): a time is wanted', tostring(t))
    end
    find_state(self)
    if t < (self.now.t or t) then
        errors.argument('volume: aim(%g): the state is at t = %g already', t, self.now.t)
    end
    self.stop = t
    self.clocks:aim(t, held)
    self:read()
end

-- Queues n steps, 1 if not given, once those of the call before have been taken.
function Simulation:step(n)
    n = n or 1
    if not (type(n) == 'number' and n >= 0 and n % 1 == 0) then
        errors.argument('volume: step(%s): a whole number is wanted', tostring(n))
    end
    find_state(self)
    self.version = self.version + 1
    local at, lead = self.fields.at, n > 0 and self.now.steps % 2 or 0
    local pairs_ = math.floor((n - lead) / 2)
    if lead == 1 then self.plans[at].second:run(1) end
    self.plans[at].pairs:run(math.floor(pairs_ / 2))
    if pairs_ % 2 == 1 then
        self.plans[at].pair:run(1)
        at = self.has_pairs and other[at] or at
    end
    if (n - lead) % 2 == 1 then self.plans[at].first:run(1) end
    self.queued = { before = self.now.steps + lead, pairs = pairs_ }
end

-- Waits, and returns { t, dt (of the next step), steps, failed }; always the same table.
function Simulation:read()
    local now, queued = self.clocks:read(self.now), self.queued
    if queued and self.has_pairs then
        local taken = math.min(queued.pairs, math.floor((now.steps - queued.before) / 2))
        if taken % 2 == 1 then self.fields.at = other[self.fields.at] end
    end
    self.queued = nil
    return now
end

local first_of = { x = 'i', y = 'j', z = 'k' }

-- Raises unless a box of cells lies within the grid.
local function check_box(g, box)
    for axis, first in pairs(first_of) do
        local n = 'n' .. axis
        local from, count = box[first], box[n]
        if not (type(from) == 'number' and type(count) == 'number' and from % 1 == 0
            and count % 1 == 0 and from >= 0 and count >= 1 and from + count <= g[n]) then
            errors.argument('volume: field: box: %s = %s, %s = %s: cells of %d are wanted', first,
                tostring(from), n, tostring(count), g[n])
        end
    end
end

-- Returns a variable of all cells, or of a box { i, j, k, nx, ny, nz } of them, as numbers from 0
-- on, x fastest. Waits. All ranks call it and get the same; with only_first rank 0 alone does, and
-- others get nil.
function Simulation:field(name, box, only_first)
    local g = self.grid
    if box then check_box(g, box) end
    find_state(self)
    return variables.read(self, name,
        box or { i = 0, j = 0, k = 0, nx = g.nx, ny = g.ny, nz = g.nz }, only_first)
end

local across = { x = { 'y', 'z' }, y = { 'x', 'z' }, z = { 'x', 'y' } }

-- Returns the slice across an axis through a place, by default the middle: { data = numbers from 0
-- on, nx, ny, x, y = { low, high }, axes = the names of these two }.
function Simulation:slice(name, axis, place)
    local g, of = self.grid, across[axis]
    if not of then errors.argument("volume: slice across '%s', must be x, y or z", axis) end
    place = place or 0.5 * (g[axis][1] + g[axis][2])
    if not (type(place) == 'number' and place >= g[axis][1] and place <= g[axis][2]) then
        errors.argument('volume: slice at %s = %s, must be from %g to %g', axis, tostring(place),
            g[axis][1], g[axis][2])
    end
    local box = { i = 0, j = 0, k = 0, nx = g.nx, ny = g.ny, nz = g.nz }
    box['n' .. axis], box[first_of[axis]] = 1, g:cell(axis, place)
    return { data = self:field(name, box), nx = g['n' .. of[1]], ny = g['n' .. of[2]],
        x = g[of[1]], y = g[of[2]], axes = { of[1], of[2] } }
end

-- Returns the sum of a variable over all cells times their size, in double.
function Simulation:integral(name)
    local g, sum = self.grid, 0
    local data = self:field(name)
    for k = 0, g.cells - 1 do sum = sum + data[k] end
    return sum * g.dx * g.dy * g.dz
end

-- Returns what kernels over the cells of a slab are bound to, as kernels/volume/volume.h has it.
function Simulation:block(slab) return kernels.block(work_of(self, slab), slab) end

-- Says why there is no next step.
function Simulation:why_failed()
    local rate = self.now.rate
    if self.dt and rate < math.huge and rate * self.dt > 1 then
        return ('dt = %g is unstable: it must be at most %.6g'):format(self.dt, 1 / rate)
    end
    return variables.invalid(self) or 'signals faster than numbers can hold'
end

-- Returns the bytes that a step cannot do without moving, for each cell: see progress.lua.
function Simulation:bytes_per_cell()
    return 2 * #self.scheme.fields * self.fields.element
end

function Simulation:__tostring()
    return ('%s of %s in %s on %s\nt = %.6g after %.0f steps, cfl %g'):format(tostring(self.grid),
        self.scheme.name, self.precision, table.concat(tables.column(self.devices, 'name'), ', '),
        self.now.t, self.now.steps, self.cfl)
end

-- Frees everything on the devices. These stay open.
function Simulation:release()
    for _, way in ipairs(self.plans) do
        for _, plan in pairs(way) do plan:release() end
    end
    for _, own in ipairs(self.launches) do kernels.release(own) end
    if self.interior then self.interior:release() end
    self.clocks:release()
    self.maxima:release()
    self.fields:release()
end

return simulation
