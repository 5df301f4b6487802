-- Fills the ghost cells of all parts: from the neighbour, or by the rule of the boundary. First
-- all x sides over interior rows, then all y sides over the full width, so that corners arrive in
-- two hops. One kernel launch fills both sides of a part along an axis. A neighbour on the same
-- device, or on one that has a barrier with it, is read in place; of one elsewhere the strip is
-- brought into a buffer of this device first, in the way that links finds for the two, and read
-- from there.

local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'
local grid = require 'mare.array.grid'
local here = require 'mare.ranks.here'
local parcels = require 'mare.links.parcels'
local record = require 'mare.translate.record'
local ways = require 'mare.links'
local source = require 'mare.base.source'
local strips = require 'mare.links.strips'

local exchange = {}

local Exchange = {}
Exchange.__index = Exchange

local copy, mirror = constants.KIND_COPY, constants.KIND_MIRROR
local kinds = boundary.kinds

local axes = {
    { name = 'x', low = 'west', high = 'east' },
    { name = 'y', low = 'south', high = 'north' },
}

local first_tag = 16        -- of messages between ranks

local side_fields = { west = 'any', east = 'any', south = 'any', north = 'any' }

-- What a kind is called: that of an open side is a table { kind =, ... }.
function exchange.kind_name(kind)
    return type(kind) == 'table' and kind.kind or kind
end

-- What the sides are, in words, by name. domain: of scheme:domain, or nil.
function exchange.describe(boundaries, domain)
    local texts = {}
    for side, kind in pairs(boundaries) do
        local name = exchange.kind_name(kind)
        texts[side] = domain and domain:side_text(side, name)
            or name == 'function' and record.text(kind.state) or name
    end
    return texts
end

local function sorted(set)
    local names = {}
    for name in pairs(set or {}) do names[#names + 1] = name end
    table.sort(names)
    return table.concat(names, ', ')
end

local function refuse(side, name, scheme)
    local is_open = scheme.open_sides or {}
    errors.argument("boundary in the %s: '%s' (there are for %s: %s%s%s)", side, tostring(name),
        scheme.name, sorted(kinds), is_open['function'] and ', function(q, x, y, t, p)' or '',
        next(is_open) and ('; open ones as { kind = %s, ... }'):format(sorted(is_open)) or '')
end

-- A kind for all sides, or { west = kind, ... } -> { west = kind, east =, south =, north = }.
-- scheme: its open_sides names the kinds of open sides that it has, and it checks what they want
-- beside their kind.
function exchange.boundaries(given, scheme)
    local result, each = {}, type(given) == 'table' and not given.kind
    if each then errors.fields('boundaries', given, side_fields) end
    for _, side in ipairs(grid.sides) do
        local kind = given
        if each then kind = given[side] end
        if type(kind) == 'function' then kind = { kind = 'function', state = kind } end
        local name = exchange.kind_name(kind)
        local is_open = type(kind) == 'table' and scheme.open_sides and scheme.open_sides[name]
        if not (is_open or kinds[kind]) then refuse(side, name, scheme) end
        if is_open and scheme.check_side then scheme:check_side(side, kind) end
        result[side] = kind
    end
    for _, axis in ipairs(axes) do
        if (result[axis.low] == 'periodic') ~= (result[axis.high] == 'periodic') then
            errors.argument('boundaries: %s and %s must both be periodic or neither', axis.low,
                axis.high)
        end
    end
    return result
end

-- Messages to a side of a part have a number of their own.
local function tag_of(part, side)
    for k, name in ipairs(grid.sides) do
        if name == side then return first_tag + 4 * (part.index - 1) + k - 1 end
    end
end

local function label_of(to, from)
    return ('ghosts of part %d from %d'):format(to.part.index, from.part.index)
end

-- Adds the link or the room in a parcel by which the strip of another part comes to a side of this
-- one. Returns where it will lie.
local function bring(self, axis, to, side, from, moves)
    local strip, packed = strips.to_move(axis.name, from, self.which, side == axis.low)
    local label, way = label_of(to, from), ways.between(from, to, self.barrier)
    if way == 'relay' then return moves.parcels:add(from.device, to.device, strip, packed) end
    local link = not from:is_elsewhere() and ways.copy(strip, to.device, label)
        or ways.receive(way, { device = to.device, type = strip.type, count = strip.count },
            from.rank, tag_of(to.part, side), label)
    moves.links[#moves.links + 1] = link
    packed.buffer = link.buffer
    return packed
end

-- The part beyond a side, nil where there is a boundary.
local function neighbour(self, s, side)
    if s.part.edge[side] and self.boundaries[side] ~= 'periodic' then return nil end
    return self.of_part[s.part.neighbours[side]]
end

-- Adds the links that bring strips of a part to neighbours on other ranks.
local function add_sends(self, axis, from, links)
    for _, side in ipairs { axis.low, axis.high } do
        local to = neighbour(self, from, side)
        local way = to and to:is_elsewhere() and ways.between(from, to, self.barrier)
        if way and way ~= 'place' then
            local there = side == axis.low and axis.high or axis.low
            local strip = strips.to_move(axis.name, from, self.which, there == axis.low)
            links[#links + 1] = ways.send(way, strip, to.rank,
                tag_of(to.part, there), label_of(to, from))
        end
    end
end

-- Kind and source of one side's ghost cells. Where nothing is copied the source is a place holder.
-- Notes in self.joint the axis along which cells of other devices are read.
local function side_of(self, axis, to, side, moves)
    local from = neighbour(self, to, side)
    if not from then
        local known = kinds[self.boundaries[side]]
        return { kind = known and known.rule or self.beyond_open, buffer = to[self.which],
            origin = 0, along = 0, across = 0, plane = 0 }
    end
    local way = ways.between(from, to, self.barrier)
    if way == 'place' and not from:is_on(to.device) then self.joint[axis.name] = true end
    local strip = way == 'place'
        and strips.in_place(axis.name, from, self.which, side == axis.low)
        or bring(self, axis, to, side, from, moves)
    strip.kind = copy
    return strip
end

-- What the launch takes that fills both ends of a part along an axis, but for memory of parcels,
-- which is there later, and whether a step can do without it.
local function arguments_of(self, axis, to, moves)
    local e, layout = strips.extent(axis.name, to.layout), to.layout
    local low = side_of(self, axis, to, axis.low, moves)
    local high = side_of(self, axis, to, axis.high, moves)
    local is_idle = to.around and to.around[axis.name]
        or self.has_shut_walls and low.kind == mirror and high.kind == mirror
    return {
        low = low, high = high, state = to[self.which],
        axis = { origin = e.origin, along = e.along, across = e.across, plane = layout.plane,
            cells = e.cells, lines = e.lines, fields = layout.fields,
            normals = boundary.mask(self.normal[axis.name]), staggered = self.staggered },
        global = { e.lines, 2 * layout.fields },
        -- Behind the meeting of devices, for which it waits in its place.
        programmatic = self.barrier and self.barrier.way == 'words'
            and to.device.info.has_programmatic,
    }, is_idle
end

local function complete(values)
    local low, high = values.low, values.high
    values.low_cells, values.low = low.buffer or low.parcel.buffer, strips.line_end(low)
    values.high_cells, values.high = high.buffer or high.parcel.buffer, strips.line_end(high)
    return values
end

local function add_all(list, more)
    for _, one in ipairs(more) do list[#list + 1] = one end
end

local function program_of(fields)
    return source.program('array/halo.krn', {
        defines = { MARE_REAL = fields.precision, HALO = fields.halo } })
end

-- Begins to compile what exchanges want.
function exchange.prepare(fields)
    for _, device in ipairs(fields.devices) do device:prepare(program_of(fields)) end
end

-- Makes all that fills the ghost cells along an axis.
local function new_axis(self, axis, fields, program, gradual)
    local moves = { links = {}, parcels = parcels.new(fields, gradual) }
    local made = { links = moves.links, launches = {}, needed = {}, on = {}, ticking = {} }
    local values, is_idle = {}, {}
    for n, s in ipairs(self.states) do
        values[n], is_idle[n] = arguments_of(self, axis, s, moves)
        add_sends(self, axis, s, moves.links)
    end
    made.parcels = moves.parcels:make()
    for n, s in ipairs(self.states) do
        local launch = fields:kernel(s.device, program, 'halo'):bind(complete(values[n]))
        made.launches[n] = launch
        if not is_idle[n] then
            local k = #made.needed + 1
            made.needed[k], made.on[k] = launch, s.device
            made.ticking[k] = made.parcels and made.parcels:unpack(s, values[n]) or launch
        end
    end
    made.is_staged = here.size > 1 and #made.links > 0 or made.parcels ~= nil
    made.is_joint = self.joint[axis.name]
    return made
end

-- fields: those whose halos are filled; boundaries: of exchange.boundaries;
-- scheme: its `normal` = { x = planes of the components of vectors along x, y = } is what a
-- reflecting wall turns around; where it is `staggered`, those lie on the low faces of cells; where
-- it has_shut_walls, no step depends on the ghost cells behind a wall; it may have a method
-- ghosts(state, which, fraction, is_shown, exchange) -> launches that fill a part's ghost cells
-- beyond its open sides, all of them where it keeps_open;
-- which: the buffer, `now` if nil, which holds the state at the step's time + fraction * dt
function exchange.new(fields, boundaries, scheme, which, fraction)
    local states = fields.states
    local self = setmetatable({
        states = states, of_part = fields.of_part, devices = fields.devices,
        boundaries = boundaries, grid = fields.grid,
        normal = scheme.normal, axes = {}, staggered = scheme.staggered and 1 or 0,
        which = which or 'now',
        joint = {}, moved = {}, has_shut_walls = scheme.has_shut_walls, barrier = fields.barrier,
        -- A step does not write where it reads, or only in a stage behind another exchange.
        is_kept = fields.moves or scheme.stages ~= nil,
        beyond_open = scheme.keeps_open and kinds.fixed.rule or kinds.outflow.rule,
    }, Exchange)
    for k, device in ipairs(fields.devices) do self.moved[k] = device:event() end
    local program = program_of(fields)
    for k, axis in ipairs(axes) do
        self.axes[k] = new_axis(self, axis, fields, program, scheme.gradual)
    end
    local first = self.axes[1].is_staged and self.axes[1] or self.axes[2]
    self.parcels = first.parcels and first.parcels:ticks() and first.parcels or nil
    self.is_joint = self.joint.x or self.joint.y
    self.open, self.shown = {}, {}
    for _, s in ipairs(scheme.ghosts and states or {}) do
        add_all(self.open, scheme:ghosts(s, self.which, fraction or 0, false, self))
        add_all(self.shown, scheme:ghosts(s, self.which, 0, true, self))
    end
    return self
end

local function run(launches, on, streams)
    for k = 1, #launches do launches[k]:run(streams and streams[on[k]]) end
end

local function pack(axis, streams)
    for k = 1, #axis.links do axis.links[k]:pack(streams) end
    if axis.parcels then axis.parcels:pack(streams) end
end

local function start(axis)
    for k = 1, #axis.links do axis.links[k]:start() end
end

-- What is sent has arrived behind it, too: while a rank waits for its device MPI brings nothing on.
local function finish(axis, streams)
    if axis.parcels then axis.parcels:bring(streams) end
    for k = 1, #axis.links do axis.links[k]:finish(streams) end
    for k = 1, #axis.links do
        local link = axis.links[k]
        if link.settle then link:settle() end
    end
end

-- Moves the strips of an axis. Between ranks, and devices that do not reach each other, the host
-- waits for its devices, and for other ranks.
local function move(self, axis)
    pack(axis)
    for k = 1, axis.is_staged and #self.devices or 0 do self.devices[k].stream:wait() end
    start(axis)
    finish(axis)
end

-- Moves strips along y, with ghost cells along x, while parts go on whose edges are done, and
-- queues what fills ghost cells with them, on the `streams` of links/interior.lua.
function Exchange:move_early(streams)
    local x, y = self.axes[1], self.axes[2]
    run(x.needed, x.on, streams)
    pack(y, streams)
    for _, device in ipairs(self.devices) do streams[device]:wait() end
    start(y)
    finish(y, streams)
    if #x.needed == 0 then run(y.needed, y.on, streams) end
    for k, device in ipairs(self.devices) do self.moved[k]:record(streams[device]) end
    self.is_early = true
end

-- Queues, behind the rest, the ghost cells that depend on it. Steps follow all of them.
function Exchange:complete()
    for k, device in ipairs(self.devices) do device.stream:wait_event(self.moved[k]) end
    if #self.axes[1].needed == 0 then return end
    run(self.axes[1].needed)
    run(self.axes[2].needed)
end

-- Queues as much of run() as there is before the host waits for its devices. Whoever does that next
-- calls start() then, and run() does the rest.
function Exchange:begin()
    for a = 1, 2 do
        local axis = self.axes[a]
        if axis.is_staged then
            pack(axis)
            self.begun = a
            return
        end
        if #axis.links > 0 then move(self, axis) end
        run(axis.needed)
    end
    self.begun = 3
end

-- Returns the parcels that bring the rates of all devices to the host between begin() and run(), or
-- nil. Then run() ticks the clocks with what tick() was told last.
function Exchange:carrier() return not self.is_early and self.parcels or nil end

function Exchange:tick(rate)
    self.parcels:tell(rate)
    self.is_told = true
end

function Exchange:start()
    if self.begun < 3 then start(self.axes[self.begun]) end
end

-- Lets run() begin anew.
function Exchange:forget() self.begun, self.is_early, self.is_told = nil, nil, nil end

-- Queues everything; only what moves between devices or ranks waits. is_shown: for output, not for
-- a step, which may do without some ghost cells: behind walls that are shut, and where a part goes
-- `around`. is_next: right behind a tick of the clocks.
--
-- Where cells of other devices are read in place, a barrier stands before each axis that does so,
-- and behind the last where what was read may be overwritten before the next tick.
function Exchange:run(is_shown, is_next)
    local is_ordered, barrier, begun = is_next, self.barrier, self.begun
    local first, is_told = self.is_early and 3 or begun or 1, self.is_told
    self:forget()
    for a = first, 2 do
        local axis = self.axes[a]
        local launches = is_shown and axis.launches or axis.needed
        if a == begun then
            finish(axis)
            launches = is_told and axis.ticking or launches
        elseif axis.is_staged or #axis.links > 0 then move(self, axis) end
        if axis.is_joint and #launches > 0 and not is_ordered then
            barrier:run()
            is_ordered = true
        end
        run(launches)
        is_ordered = is_ordered and #launches == 0
    end
    if self.is_joint and not is_ordered and (is_shown or not self.is_kept) then barrier:run() end
    run(is_shown and self.shown or self.open)
end

-- Whether what fills ghost cells asks the clock for the time.
function Exchange:reads_clock() return #self.open > 0 end

function Exchange:release()
    for _, axis in ipairs(self.axes) do
        for _, launch in ipairs(axis.launches) do launch:release() end
        for _, link in ipairs(axis.links) do link:release() end
        if axis.parcels then axis.parcels:release() end
    end
    for _, list in ipairs { self.open, self.shown, self.moved } do
        for _, object in ipairs(list) do object:release() end
    end
end

return exchange
