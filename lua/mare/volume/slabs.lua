-- The state of a volume: slabs of slices along z, each on its device with two buffers, of which
-- number `at` has it between steps, and the other one what the first sweeps of a step leave. A
-- slice has its fields one behind the other, each of ny rows of `stride` elements, and four slices
-- on either side of a slab are room for those of other slabs (kernels/volume/volume.h). Where
-- functions give what lies beyond sides along x or y, a field has room for ghost cells around it.
-- Each of several ranks has some slabs, beside each other, and knows where the others are.

local collection = require 'mare.ranks.collection'
local constants = require 'mare.base.constants'
local devices = require 'mare.array.devices'
local errors = require 'bindings.errors'
local exchange = require 'mare.volume.exchange'
local here = require 'mare.ranks.here'
local memory = require 'bindings.memory'
local replicas = require 'mare.array.replicas'
local state = require 'mare.array.state'
local tables = require 'bindings.tables'

local slabs = {}

local Slabs, Slab = {}, {}
Slabs.__index, Slab.__index = Slabs, Slab

local beyond_slab = 2 * constants.REACH     -- slices: two steps along z look at as many
local alignment = 8                         -- rows begin at multiples of 32 bytes,
local line = 32                             -- with ghost cells before them of 128
local beyond = 256                  -- elements behind all, which work-items read and do not use

-- Whether the slab lies on this device.
function Slab:is_on(device) return rawequal(self.device, device) end

-- Whether the slab belongs to another rank.
function Slab:is_elsewhere() return self.rank ~= nil end

-- Returns the first element of a field of slice k of the slab, ghost cells included.
function Slab:start(field, k)
    return ((k + beyond_slab) * self.fields + field) * self.plane
end

-- Returns that of its cell (0, 0).
function Slab:offset(field, k) return self:start(field, k) + self.origin end

local buffers = { 'state', 'scratch' }

-- Groups along y of a launch on CUDA, as in core/backends/cuda.c; the sweep along z has one a row.
-- The launch is refused, too, but when memory has been taken.
local most_rows = 65535

local function check_rows(self, device)
    local rows = self.grid.ny + 2 * self.ghosts.y
    if device.info.name:find '^cuda' and rows > most_rows then
        errors.usage('volume: %d cells along y%s, %s takes up to %d rows; x and z may be longer',
            self.grid.ny, rows > self.grid.ny and ' and ghost cells' or '', device.name, most_rows)
    end
end

-- Says what to do about a slab whose buffer would be too large.
local function refuse_size(self, own, device, bytes)
    local grid, most = self.grid, self.grid:most_slabs()
    errors.usage('volume: a slab of %d x %d x %d cells needs a buffer of %.1f GiB, %s has them up '
        .. 'to %.1f GiB: %s', grid.nx, grid.ny, own.nz, bytes / 2 ^ 30, device.name,
        device.info.max_buffer / 2 ^ 30, (self.count < most
        and 'more slabs are wanted, at most %d' or 'fewer cells along x and y are wanted, for '
        .. 'slabs may be %d at most'):format(most))
end

-- Returns how a slab lies, or would lie, in a buffer.
local function new_slab(self, own)
    local ghosts, before, grid = self.ghosts, self.ghosts.x > 0 and line or 0, self.grid
    local unit = before > 0 and line or alignment
    local stride = math.ceil((before + grid.nx + ghosts.x) / unit) * unit
    return setmetatable({ index = own.index, k0 = own.k0, nz = own.nz, fields = #self.names,
        grid = grid, element = self.element, stride = stride,
        plane = stride * (grid.ny + 2 * ghosts.y), before = before,
        origin = ghosts.y * stride + before }, Slab)
end

-- Allocates what belongs to this rank.
local function allocate(self, slab, device)
    local count = (slab.nz + 2 * beyond_slab) * slab.fields * slab.plane + beyond
    local bytes = count * self.element
    check_rows(self, device)
    if bytes > device.info.max_buffer then refuse_size(self, slab, device, bytes) end
    slab.device = device
    for _, name in ipairs(buffers) do
        slab[name] = device:buffer { type = self.precision, count = count,
            label = ('%s of slab %d'):format(name, slab.index) }
        slab[name]:fill(0)
    end
end

local function check_count(desc)
    local most = desc.grid:most_slabs()
    if most < here.size then
        errors.usage('volume: %d slices make %d slabs at most, fewer than the %d ranks',
            desc.grid.nz, most, here.size)
    elseif desc.count < here.size then
        errors.usage('volume: slabs = %g: there are %d ranks, each needs one', desc.count,
            here.size)
    end
end

-- Allocates. desc: { grid, names = of the fields, precision, count = of slabs, devices, is_around =
-- whether the domain goes around along z, ghosts = of sides.ghosts }. Ranks have neighbouring
-- slabs, which go to their devices in turn. `list` has those of this rank, of_part all.
function slabs.new(desc)
    if here.size > 1 then check_count(desc) end
    local list, used = {}, {}
    local self = setmetatable({ grid = desc.grid, names = desc.names, precision = desc.precision,
        ghosts = desc.ghosts, count = desc.count, element = state.bytes[desc.precision],
        devices = {}, list = list, states = list, of_part = {}, halo = 0, at = 1 }, Slabs)
    for k, own in ipairs(desc.grid:slabs(desc.count)) do
        local slab, rank = new_slab(self, own), devices.rank_of(k, desc.count)
        self.of_part[k] = slab
        if rank == here.rank then
            local device = desc.devices[#list % #desc.devices + 1]
            allocate(self, slab, device)
            list[#list + 1] = slab
            if not used[device] then table.insert(self.devices, device) end
            used[device] = true
        else
            slab.rank = rank
        end
    end
    self.slices = exchange.new(self, beyond_slab, desc.is_around)
    return self
end

-- Brings the outermost slices of slabs beside those of the others, of the first or second buffer.
function Slabs:exchange(which) self.slices:run(buffers[which]) end

-- Says in words how slices get from rank to rank.
function Slabs:transport() return self.slices.transport end

-- Computes slice k of the grid into host memory.
local function compute_slice(self, slab, data, put, value, k)
    for j = 0, self.grid.ny - 1 do
        for i = 0, self.grid.nx - 1 do
            put(data, j * slab.stride + i, slab.plane, value(i, j, k))
        end
    end
end

-- Fills the first buffer of a slab: value(i, j, k) returns what the fields are in a cell of the
-- grid.
function Slabs:fill(slab, value)
    local put, count = state.putter(#self.names), slab.fields * slab.plane
    local host = slab.device:host { type = self.precision, count = count }
    local data = host:pointer()
    for at = 0, count - 1 do data[at] = 0 end           -- the padding behind rows
    for k = 0, slab.nz - 1 do
        compute_slice(self, slab, data, put, value, slab.k0 + k)
        slab.state:upload(data, { offset = slab:offset(0, k), count = count })
    end
    host:release()
end

-- Returns which bytes of a box of cells a slab has, as ranks/collection.lua takes them; nil where
-- none. box: of Slabs:read
local function share_of(slab, box)
    local low = math.max(box.k, slab.k0)
    local high = math.min(box.k + box.nz, slab.k0 + slab.nz)
    local row = box.nx * slab.element
    return low < high and { rank = slab.rank, width = row, height = box.ny, depth = high - low,
        dst_offset = (low - box.k) * row * box.ny, dst_pitch = row, dst_slice = row * box.ny,
        slab = slab, first = low - slab.k0 } or nil
end

-- Brings a field of a box of cells to the host. box: { i, j, k = its first cell, nx, ny, nz };
-- only_first: whether only rank 0 wants it. Returns its numbers from 0 on, x fastest, on other
-- ranks nil then. Waits. All ranks call it.
function Slabs:read(field, box, only_first)
    local size, parts = self.element, {}
    for _, slab in ipairs(self.of_part) do parts[#parts + 1] = share_of(slab, box) end
    local all = collection.new(parts, box.nx * box.ny * box.nz * size, not only_first)
    local data = memory.array(self.precision, math.max(1, all.bytes / size))
    for k, part in ipairs(parts) do
        local slab, to = part.slab, all:region(k)
        if not slab:is_elsewhere() then
            slab[buffers[self.at]]:download_region(data, {
                width = part.width, height = part.height, depth = part.depth,
                src_offset = (slab:offset(field, part.first) + box.j * slab.stride + box.i) * size,
                src_pitch = slab.stride * size, src_slice = slab.fields * slab.plane * size,
                dst_offset = to.dst_offset, dst_pitch = to.dst_pitch, dst_slice = to.dst_slice,
            })
        end
    end
    all:run(data)
    return all.is_whole and data or nil
end

-- The numbers of a whole state, which save() gives: field by field, without padding.
function Slabs:saved_count() return self.grid.cells * #self.names end

-- Returns host memory, as device:host does.
function Slabs:host(options)
    return self.devices[1]:host(tables.merged({ type = self.precision }, options))
end

-- Returns where the slab lies among these numbers, in bytes: a row for each field.
function Slab:saved_box()
    local slice = self.grid.nx * self.grid.ny * self.element
    return { rank = self.rank, width = slice * self.nz, height = self.fields, depth = 1,
        dst_offset = slice * self.k0, dst_pitch = slice * self.grid.nz, dst_slice = 0 }
end

-- Returns where a field lies in the slab and in host memory (own and saved, as names of a box have
-- it). box: of saved_box, or that moved elsewhere
local function box_of(slab, field, box, saved, own)
    local g, size = slab.grid, slab.element
    return { width = g.nx * size, height = g.ny, depth = slab.nz,
        [saved .. '_offset'] = box.dst_offset + field * box.dst_pitch,
        [saved .. '_pitch'] = g.nx * size, [saved .. '_slice'] = g.nx * g.ny * size,
        [own .. '_offset'] = slab:offset(field, 0) * size,
        [own .. '_pitch'] = slab.stride * size,
        [own .. '_slice'] = slab.fields * slab.plane * size }
end

-- Writes the slab in buffer `which` into such a box of host memory. Waits.
function Slab:save(host, which, box)
    for field = 0, self.fields - 1 do
        self[which]:download_region(host, box_of(self, field, box, 'dst', 'src'))
    end
end

-- Of host memory or a C array.
local function pointer_of(host) return type(host) == 'table' and host:pointer() or host end

-- Writes the state into host memory. Waits. All ranks call it, and get all.
function Slabs:save(host)
    local boxes = {}
    for k, slab in ipairs(self.of_part) do boxes[k] = slab:saved_box() end
    local all = collection.new(boxes, self:saved_count() * self.element, true)
    for k, slab in ipairs(self.of_part) do
        if not slab:is_elsewhere() then slab:save(host, buffers[self.at], all:region(k)) end
    end
    all:run(pointer_of(host))
end

-- Returns the name of the buffer that has the state.
function Slabs:present() return buffers[self.at] end

-- Loads into the first buffers what save() gave.
function Slabs:load(saved)
    self.at = 1
    for _, slab in ipairs(self.list) do
        for field = 0, slab.fields - 1 do
            slab.state:upload_region(saved, box_of(slab, field, slab:saved_box(), 'src', 'dst'))
        end
    end
end

-- Makes memory of which each device has a copy: see array/replicas.lua, which reads of this what it
-- reads of fields.
function Slabs:replicate(desc) return replicas.new(self, desc) end

function Slabs:release()
    self.slices:release()
    for _, slab in ipairs(self.list) do
        for _, name in ipairs(buffers) do slab[name]:release() end
    end
end

return slabs
