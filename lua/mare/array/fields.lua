-- Fields are named planes of numbers over the parts of a grid, each part on its
-- device. Whatever reads or writes the state of a simulation goes through them.
-- Only the steps of a scheme are bound part by part (run/simulation.lua). All
-- else says once what is to be done in all parts:
--
--     fields:map { ... }        runs a kernel over cells, one launch per part
--     fields:stencil { ... }    does so after the halos have been filled
--     fields:exchange(...)      makes what fills the halos of one buffer
--     fields:reduce(list, most) sums rows, or their largest sizes: the same bits for every split
--     fields:replicate { ... }  makes memory of which every device has a copy
--     fields:copy(label)        keeps a copy, to go back to or to compare with
--     fields:entries { ... }    brings to the host what parts keep for a list
--     fields:gather { ... }     brings boxes of cells to the host, while the
--                               devices go on
--     fields:save, load, fill   move the whole grid with its ghost cells
--     fields:native()           tells a user's kernels where everything lies
--
-- Launches are bound once and run often, without garbage. This room alone knows
-- which parts there are and where they lie.

local collection = require 'mare.ranks.collection'
local copies = require 'mare.array.copies'
local entries = require 'mare.array.entries'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local gather = require 'mare.array.gather'
local here = require 'mare.ranks.here'
local map = require 'mare.array.map'
local replicas = require 'mare.array.replicas'
local row_sums = require 'mare.array.row_sums'
local state = require 'mare.array.state'
local swaps = require 'mare.links.swap'
local tables = require 'bindings.tables'

local fields = {}

local Fields = {}
Fields.__index = Fields

-- Returns the devices of this rank's parts, each once.
local function devices_of(parts)
    local list, seen = {}, {}
    for _, part in ipairs(parts) do
        if part.device and not seen[part.device] then
            list[#list + 1], seen[part.device] = part.device, true
        end
    end
    return list
end

-- What ranks call a buffer of a part.
local function name_of(index, k) return ('%s of part %d'):format(state.buffers[k], index) end

-- Shows the buffers of this rank's parts to others, and opens those of the parts around them.
local function open_beside(self, buffers)
    local own, wants = {}, {}
    for _, s in ipairs(self.states) do
        for k = 1, buffers do own[name_of(s.part.index, k)] = s[state.buffers[k]] end
        for place = 0, 8 do
            local index = self:beside(s, place % 3 - 1, math.floor(place / 3) - 1).part.index
            for k = 1, buffers do wants[name_of(index, k)] = true end
        end
    end
    local swap = swaps.new(self.devices[1], own, wants)
    for index, s in ipairs(self.of_part) do
        for k = 1, buffers do
            s[state.buffers[k]] = s[state.buffers[k]] or swap.opened[name_of(index, k)]
        end
    end
    return swap
end

-- Returns the same fields with ghost cells for the margin.
local function new_wide(desc)
    local parts, margin = {}, desc.margin
    for k, part in ipairs(desc.parts) do
        parts[k] = tables.merged(part, { room = { nx = part.room.nx - margin, ny = part.ny } })
    end
    return fields.new(tables.merged(desc, { parts = parts, halo = desc.halo + margin,
        margin = false }))
end

-- Returns the state of part k, maybe in memory that is allocated for others, or for more, at once.
local function new_state(self, k, wanted, margin)
    local joined, wide = self.joined, self.wide and self.wide.of_part[k]
    local s = state.new(self.parts[k], wanted, joined and function(name, count)
        return joined[name]:view((k - 1) * joined.each, count)
    end or wide and function(name) return wide[name]:view(margin * wide.layout.stride) end)
    s.joined, s.wide = joined, wide
    return s
end

-- Allocates fields, filled with zeros. desc: { grid, parts = of grid:split, each
-- with its device or its rank, if that is another, as of devices.assign, names,
-- precision = 'float', halo = ghost cells on each side (0), buffers = how many of
-- `now`, `other` and `third` each part has (1), packed = whether rows follow each
-- other without padding, label, barrier = of all devices, or nil: with one, ranks
-- open the buffers of parts beside theirs, is_joined = whether the parts lie one behind
-- the other in one buffer of their device, margin = rows beyond the ghost cells that parts
-- have in the south and north: `wide` then has them as such }
function fields.new(desc)
    local self = setmetatable({
        grid = desc.grid, parts = desc.parts, names = desc.names, programs = {},
        states = {}, of_part = {},      -- of this rank, and of all by their index
        precision = desc.precision or 'float', halo = desc.halo or 0,
        barrier = desc.barrier, devices = devices_of(desc.parts),
        element = state.bytes[desc.precision or 'float'],
    }, Fields)
    local wanted = { fields = #desc.names, halo = self.halo, precision = self.precision,
        buffers = desc.buffers or 1, packed = desc.packed, label = desc.label }
    self.joined = desc.is_joined and state.join(desc.parts, wanted) or nil
    self.wide = desc.margin and new_wide(desc) or nil
    for k, part in ipairs(desc.parts) do
        if part.device then
            self.of_part[k] = new_state(self, k, wanted, desc.margin)
            table.insert(self.states, self.of_part[k])
        else
            self.of_part[k] = state.elsewhere(part, wanted)
        end
    end
    if self.barrier and here.size > 1 then self.swap = open_beside(self, wanted.buffers) end
    return self
end

-- Returns whether the grid is one part.
function Fields:is_whole()
    return #self.parts == 1
end

-- Returns how many parts there are.
function Fields:count_parts()
    return #self.parts
end

-- Allocates other fields over the same parts. desc: as for fields.new, without
-- grid and parts.
function Fields:like(desc)
    return fields.new(tables.merged({ grid = self.grid, parts = self.parts }, desc))
end

-- Returns the first part on a device (nil: of all) and its device. Choices that are
-- made once for many parts look at this one.
function Fields:first_part(device)
    for _, s in ipairs(self.states) do
        if not device or s:is_on(device) then return s.part, s.device end
    end
end

-- Returns the state of the part that is so many (-1, 0 or 1) east and north of
-- another in a domain that is periodic everywhere.
function Fields:beside(own, east, north)
    local part = own.part
    if east ~= 0 then part = self.parts[part.neighbours[east > 0 and 'east' or 'west']] end
    if north ~= 0 then part = self.parts[part.neighbours[north > 0 and 'north' or 'south']] end
    return self.of_part[part.index]
end

-- Returns the number of a field, from 0.
function Fields:index(name)
    for k, known in ipairs(self.names) do
        if known == name then return k - 1 end
    end
    errors.argument("no field '%s' (there are: %s)", tostring(name),
        table.concat(self.names, ', '))
end

-- ---- which buffer holds the fields ----

-- Is called before the fields are read. A simulation puts a function here that
-- finds out which buffer holds its state.
function Fields.settle() end

-- Says which buffer holds the fields from now on. Launches of map() follow if
-- `moves` is set.
function Fields:hold_in(which)
    for k = 1, #self.states do self.states[k].present = which end
end

-- Returns the name of the buffer that holds the fields.
function Fields:present()
    return self.states[1].present
end

-- Returns the memory of a part that holds the fields: fields can be arguments of
-- map().
function Fields:on(own)
    local s = self.of_part[own.part.index]
    return s[s.present]
end

-- Returns an argument of map() that stands for buffer `which` of a part, even when
-- another one holds the fields.
function Fields:buffer(which)
    return { on = function(_, own) return self.of_part[own.part.index][which] end }
end

-- Returns where a part has a field in that memory: the element of its first own
-- cell, and how many elements a row has.
function Fields:place(own, name)
    local l = self.of_part[own.part.index].layout
    return l:offset(self:index(name), 0, 0), l.stride
end

-- ---- kernels ----

-- Returns a kernel of a program (what device:program takes). A device loads it
-- once.
function Fields:kernel(device, program, name)
    local loaded = self.programs[device] or setmetatable({}, { __mode = 'k' })
    self.programs[device] = loaded
    loaded[program] = loaded[program] or device:program(program)
    return loaded[program]:kernel(name)
end

-- Binds launches of a kernel: map.lua.
function Fields:map(desc) return map.new(self, desc) end

-- Fills the halos. A simulation puts its own function here.
function Fields.fill_halos()
    errors.raise('MARE_ERROR_STATE', 'fields: nothing says what fills their halos')
end

local Stencil = {}
Stencil.__index = Stencil

function Stencil:run()
    self.fields:fill_halos()
    self.inner:run()
end

function Stencil:release() self.inner:release() end

-- Binds launches of a kernel that looks at neighbours: they fill the halos first.
-- desc: as for map().
function Fields:stencil(desc)
    return setmetatable({ fields = self, inner = map.new(self, desc) }, Stencil)
end

-- Makes what fills the halos of one buffer: exchange.lua.
function Fields:exchange(...) return exchange.new(self, ...) end

-- Makes sums over rows: row_sums.lua.
function Fields:reduce(sources, most) return row_sums.new(self, sources, most) end

-- Copies buffers (nil: all of them) on their devices: copies.lua.
function Fields:copy(label, buffers) return copies.new(self, label, buffers) end

-- Makes what fetches the entries of a list: entries.lua.
function Fields:entries(desc) return entries.new(self, desc) end

-- Allocates memory on every device: replicas.lua.
function Fields:replicate(desc) return replicas.new(self, desc) end

-- ---- host memory ----

-- Allocates host memory that the devices reach. desc: { type = that of the fields,
-- count, label }
function Fields:host(desc)
    return self.devices[1]:host { type = desc.type or self.precision, count = desc.count,
        label = desc.label }
end

-- Makes what brings planes to the host: gather.lua.
function Fields:gather(desc) return gather.new(self, desc) end

-- Makes what brings a box of bytes of each part to rank 0, or to all ranks.
local function new_collection(self, count, everywhere, box_of, ...)
    local boxes = {}
    for k, s in ipairs(self.of_part) do boxes[k] = box_of(s, ...) end
    return collection.new(boxes, count * self.element, everywhere)
end

-- Of host memory or a C array.
local function pointer_of(host)
    return type(host) == 'table' and host:pointer() or host
end

-- Brings field k, from 1, of the whole grid into host memory, x fastest, on all
-- ranks. Waits for the devices.
function Fields:download(k, host)
    local nx = self.grid.nx
    self.whole = self.whole or new_collection(self, self.grid.cells, true, state.own_box, nx)
    for _, s in ipairs(self.states) do
        s:download(k - 1, host, self.whole:region(s.part.index))
    end
    self.whole:run(pointer_of(host))
end

local function padded(self)
    return self.grid.nx + 2 * self.halo, self.grid.ny + 2 * self.halo
end

-- Returns how many elements save() writes.
function Fields:saved_count()
    local width, height = padded(self)
    return width * height * #self.names
end

local function saved_on(self, everywhere)
    self.saved = self.saved or {}
    self.saved[everywhere] = self.saved[everywhere]
        or new_collection(self, self:saved_count(), everywhere, state.saved_box, padded(self))
    return self.saved[everywhere]
end

-- Writes all fields of the whole grid, with the ghost cells around it, from buffer
-- `which` (nil: the one that holds them) into host memory from element `first` on,
-- one plane after the other. Waits for the devices. Only rank 0 gets them, or all
-- ranks with `everywhere`; the others need no memory.
function Fields:save(host, which, first, everywhere)
    local saved = saved_on(self, everywhere or false)
    local shift, into = (first or 0) * self.element, host
    if not saved.is_whole then
        self.parcel = self.parcel or self:host { label = 'saved cells',
            count = saved.bytes / self.element }
        into = self.parcel
    end
    for _, s in ipairs(self.states) do
        s:save(into, which or s.present, saved:region(s.part.index, shift))
    end
    saved:run(pointer_of(into), shift)
end

-- Reads what save() has written.
function Fields:load(host, which, first)
    local width, height = padded(self)
    for _, s in ipairs(self.states) do
        s:load(host, width, height, which or s.present, first or 0)
    end
end

-- Sets the fields. value(i, j) returns those of cell (i, j) of the whole grid.
-- It is also asked for ghost cells, which keep what it says where the
-- boundary is fixed.
function Fields:fill(value)
    for _, s in ipairs(self.states) do s:fill(value) end
end

-- Copies buffer `which`, with its ghost cells, to the others.
function Fields:spread(which)
    for _, s in ipairs(self.states) do s:spread(which) end
end

-- ---- for others' kernels ----

-- Returns { device, buffer, type, names, i0, j0, nx, ny, offset, stride, plane } of
-- each part. Its own cells begin at cell (i0, j0) of the grid. In its buffer they
-- begin at element `offset`; rows are `stride` elements apart and fields `plane`.
function Fields:native()
    self:settle()
    local list = {}
    for k, s in ipairs(self.states) do
        local l, part = s.layout, s.part
        list[k] = { device = s.device, buffer = s[s.present], type = self.precision,
            names = self.names, i0 = part.i0, j0 = part.j0, nx = part.nx, ny = part.ny,
            offset = l:offset(0, 0, 0), stride = l.stride, plane = l.plane }
    end
    return list
end

function Fields:release()
    for _, s in ipairs(self.states) do s:release(self.swap ~= nil) end
    if self.wide then self.wide:release() end
    for _, one in ipairs(self.joined or {}) do one:release() end
    if self.swap then self.swap:release() end
    if self.parcel then self.parcel:release() end
end

return fields
