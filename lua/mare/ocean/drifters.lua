-- Drifters of a run, carried by its currents on the devices in every step (kernels/physics/ocean/
-- drift.krn), with the same bits however the grid is split. Where they are is kept in memory at the
-- times that are wanted, and in every checkpoint; at the end it becomes a CF trajectory file.
--
-- Every device of every rank knows where all of them are. A part moves those in its own cells; what
-- others have moved is copied and adopted after each of the two halves of a step.

local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local here = require 'mare.ranks.here'
local image = require 'mare.draw.image'
local memory = require 'bindings.memory'
local picture = require 'mare.draw.picture'
local schedule = require 'mare.base.schedule'
local source = require 'mare.base.source'
local writer = require 'mare.files.trajectory'
local structure = require 'mare.base.structure'
local zlib = require 'bindings.zlib'

local drifters = {}

local Drifters = {}
Drifters.__index = Drifters

local walls = { west = constants.WALL_WEST, east = constants.WALL_EAST,
    south = constants.WALL_SOUTH, north = constants.WALL_NORTH }

-- ---- what is wanted ----

local fields = {
    places = 'table', path = 'string', every = 'number', steps = 'number', times = 'table',
}

-- Returns places as cells from the south-west corner, x of all, y of all, and all afloat.
local function place(desc, places)
    local g, bed, list, n = desc.grid, desc.domain.bed, {}, #places
    for k, at in ipairs(places) do
        local x, y = tonumber(at[1]), tonumber(at[2])
        if not (x and y and x >= g.x[1] and x < g.x[2] and y >= g.y[1] and y < g.y[2]) then
            errors.argument('drifters: %d is at (%s, %s), must be within %g to %g, %g to %g', k,
                tostring(at[1]), tostring(at[2]), g.x[1], g.x[2], g.y[1], g.y[2])
        end
        local i, j = g:cell(x, y)
        if bed:is_land(i, j) then
            errors.argument('drifters: %d is at (%g, %g), which is land, must be in water', k, x, y)
        end
        list[k], list[n + k], list[2 * n + k] = (x - g.x[1]) / g.dx, (y - g.y[1]) / g.dy, 0
    end
    return list
end

local function checksum(list)
    local doubles = memory.array('double', #list)
    for k, value in ipairs(list) do doubles[k - 1] = value end
    return string.format('%08x', zlib.crc32(0, doubles, 8 * #list))
end

-- Refuses what is no list of drifters in a checkpoint.
local function check_kept(earlier, count)
    local places = structure.list(structure.number, 3 * count)
    local fault = structure.fault(earlier, { now = places,
        records = structure.list { t = structure.number, at = places } })
    if fault then errors.usage('drifters: the checkpoint is damaged: %s', fault) end
end

-- Refuses to go on with drifters other than those of a checkpoint; self may be nil.
local function check_same(self, earlier)
    local count = self and self.count or 0
    local fault = structure.fault(earlier, { count = structure.whole, places = structure.text })
    if fault then errors.usage('drifters: the checkpoint is damaged: %s', fault) end
    if earlier.count ~= count then
        errors.usage('drifters: the run to be continued had %d, not %d', earlier.count, count)
    end
    if earlier.places ~= self.places then
        errors.usage('drifters: the run to be continued had its %d from other places (is --seed '
            .. 'another?)', count)
    end
end

-- desc: as for run.new, with drifters = { places = { { x, y }, ... }, path = file or nil, every =,
-- steps = or times = when to note where they are (start and end) }; earlier: what a checkpoint
-- knows. Nil where there are none.
function drifters.new(desc, earlier)
    local given = errors.wanted('drifters', 'table', desc).drifters
    if not given and earlier then check_same(nil, earlier) end
    if not given then return nil end
    errors.fields('drifters', given, fields)
    errors.wanted('drifters: scheme of the run', 'table', desc.scheme)
    if not desc.scheme.domain then
        errors.argument('drifters are for mare.ocean, not %s', desc.scheme.name)
    end
    for _, name in ipairs { 'grid', 'domain', 'options' } do
        errors.wanted('drifters: ' .. name .. ' of the run', 'table', desc[name])
    end
    if not (given.places and given.places[1]) then errors.argument 'drifters: no places' end
    if given.path and here.rank == 0 then files.check(given.path) end
    local self = setmetatable({
        name = 'drifters', count = #given.places, path = given.path, records = {},
        now = place(desc, given.places), schedule = schedule.new { every = given.every,
            steps = given.steps, times = given.times, t_end = desc.options.t_end },
    }, Drifters)
    self.places = checksum(self.now)
    if earlier then
        check_same(self, earlier)
        check_kept(earlier, self.count)
        self.now, self.records = earlier.now, earlier.records
        self.last = self.records[#self.records] and self.records[#self.records].t
    end
    return self
end

-- ---- on the devices ----

local function radians(degrees, spherical) return spherical and math.rad(degrees) or 0 end

-- Returns the arguments that are the same for all parts.
local function common(self, sim)
    local g, kinds, held = sim.grid, sim.boundaries, 0
    local dx, dy = g:cell_size(0)
    for side, bit in pairs(walls) do
        if boundary.is_wall(kinds[side]) then held = held + bit end
    end
    return { count = self.count, all_nx = g.nx, all_ny = g.ny, walls = held,
        wrap_x = kinds.west == 'periodic' and 1 or 0, wrap_y = kinds.south == 'periodic' and 1 or 0,
        dry = sim.scheme.dry or 0, per_x = 1 / dx, per_y = 1 / dy,
        south = radians(g.y[1], g.spherical), d_lat = radians(g.dy, g.spherical),
        bed = function(piece)       -- nil of a part on another rank: nothing is computed there
            local own = piece.state.domain
            return own and own.bed
        end }
end

-- Half of a step, from where they are to where they get: launches by the buffer of the state that
-- they read, and in `others` what devices then learn of parts elsewhere.
local function new_half(self, program, values, from, to)
    local half = {}
    values.from, values.to = from, to
    local function all() return { self.count } end
    for _, which in ipairs { 'now', 'other' } do
        values.src = self.sim.fields:buffer(which)
        half[which] = self.sim.fields:map { program = program, kernel = 'drift', values = values,
            global = all }
    end
    half.others = to:adopt { foreign = self.foreign, program = program, kernel = 'adopt',
        values = values, global = all }
    return half
end

-- Makes everything for a simulation, before its steps are recorded.
function Drifters:attach(sim)
    local values, defines = common(self, sim), sim.domain:beside_defines()
    defines.MARE_REAL = sim.precision
    local program = source.program('physics/ocean/drift.krn', { defines = defines })
    local function places(list)
        return sim.fields:replicate { type = 'double', count = 3 * self.count, label = 'drifters',
            values = list }
    end
    self.sim, self.a, self.b, self.foreign = sim, places(self.now), places(self.now), places()
    values.foreign = self.foreign
    self.halves = { new_half(self, program, values, self.a, self.b),
        new_half(self, program, values, self.b, self.a) }
end

-- Queues half of a step, the first or second, in the velocity of buffer `which`, whose ghost cells
-- are filled.
function Drifters:half(k, which)
    local half = self.halves[k]
    half[which]:run()
    half.others:run()
end

-- ---- what is known of them ----

-- Waits for the devices.
local function fetch(self)
    self.now = self.a:at(1):totable()
    return self.now
end

-- Returns the next time after t at which they are noted.
function Drifters:next_time(t) return self.schedule:next_time(t) end
-- Returns the next step after step n at which they are noted.
function Drifters:next_step(n) return self.schedule:next_step(n) end
-- Returns whether they are noted at time t.
function Drifters:hits(t) return self.schedule:hits(t) end

local function take(self, sim)
    if self.last == sim.now.t then return end
    self.records[#self.records + 1] = { t = sim.now.t, at = fetch(self) }
    self.last = sim.now.t
end

-- Notes where they are, if that is due.
function Drifters:write(sim)
    if self.schedule:due(sim.now.t, sim.now.steps) then take(self, sim) end
end

-- Returns what a checkpoint keeps.
function Drifters:save()
    return { count = self.count, places = self.places, now = fetch(self), records = self.records }
end

drifters.fates = { [constants.FATE_AFLOAT] = 'afloat', [constants.FATE_BEACHED] = 'beached',
    [constants.FATE_GONE] = 'gone' }

-- { time = { ... }, [k] = of drifter k { x = { ... }, y = { ... }, fate = { 'afloat', 'beached' on
-- land or 'gone' through a side, ... } } }, one entry a record
function Drifters:arrays()
    local g, n, all = self.sim.grid, self.count, { time = {} }
    for k = 1, n do all[k] = { x = {}, y = {}, fate = {} } end
    for r, record in ipairs(self.records) do
        all.time[r] = record.t
        for k = 1, n do
            all[k].x[r] = g.x[1] + record.at[k] * g.dx
            all[k].y[r] = g.y[1] + record.at[n + k] * g.dy
            all[k].fate[r] = drifters.fates[record.at[2 * n + k]]
        end
    end
    return all
end

-- Writes the file of a run that is complete. Returns the arrays.
function Drifters:close(sim, describe)
    if self.schedule:wants_end() then take(self, sim) end
    local arrays = self:arrays()
    if self.path and here.rank == 0 then
        errors.on_disk(writer.write, describe(self.path, nil, {}), arrays)
    end
    return arrays
end

local track_colours = { afloat = 0xffffff, beached = 0xe69f00, gone = 0xaaaaaa }

-- Draws a PNG of where they were, over the depth of the water. sim: of mare.run, at its end; title:
-- a text, or nil. Orange: beached.
function drifters.chart(path, sim, title)
    local g, bed, spec = sim.grid, sim.domain.bed, picture.axes(sim.grid, sim.scheme)
    local depths, list = memory.array('double', g.cells), {}
    for k = 0, g.cells - 1 do
        local i, j = k % g.nx, math.floor(k / g.nx)
        depths[k] = bed:is_land(i, j) and 0 / 0 or bed:depth_at(i, j)
    end
    for k, one in ipairs(sim.tracks) do
        list[k] = { x = one.x, y = one.y, colour = track_colours[one.fate[#one.fate]] }
    end
    spec.path, spec.data, spec.tracks = path, depths, list
    spec.title, spec.label = title or 'drifters', 'depth (m)'
    spec.missing = sim.scheme.missing
    image.field(spec)
end

-- Gives back what they have on the devices.
function Drifters:release()
    for _, half in ipairs(self.halves) do
        for _, launches in pairs(half) do launches:release() end
    end
    for _, name in ipairs { 'a', 'b', 'foreign' } do self[name]:release() end
end

return drifters
