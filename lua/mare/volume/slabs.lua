-- The state of a volume: slabs of slices along z, each on its device with two buffers, of which
-- number `at` has it between steps, and the other one what the first sweeps of a step leave. A
-- slice has its fields one behind the other, each of ny rows of `stride` elements, and four slices
-- on either side of a slab are room for those of other slabs (kernels/volume/volume.h). Where
-- functions give what lies beyond sides along x or y, a field has room for ghost cells around it.

local constants = require 'mare.base.constants'
local crossing = require 'mare.links.crossing'
local errors = require 'bindings.errors'
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

-- Returns the first element of a field of slice k of the slab, ghost cells included.
function Slab:start(field, k)
    return ((k + beyond_slab) * self.fields + field) * self.plane
end

-- Returns that of its cell (0, 0).
function Slab:offset(field, k) return self:start(field, k) + self.origin end

local buffers = { 'state', 'scratch' }

-- Groups along y of a launch on CUDA, of which the sweep along z has one a row.
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

local function new_slab(self, own, device)
    local ghosts, before = self.ghosts, self.ghosts.x > 0 and line or 0
    local unit = before > 0 and line or alignment
    local stride = math.ceil((before + self.grid.nx + ghosts.x) / unit) * unit
    local slab = setmetatable({ device = device, k0 = own.k0, nz = own.nz, fields = #self.names,
        stride = stride, plane = stride * (self.grid.ny + 2 * ghosts.y),
        before = before, origin = ghosts.y * stride + before }, Slab)
    local count = (own.nz + 2 * beyond_slab) * slab.fields * slab.plane + beyond
    local bytes = count * self.element
    check_rows(self, device)
    if bytes > device.info.max_buffer then refuse_size(self, own, device, bytes) end
    for _, name in ipairs(buffers) do
        slab[name] = device:buffer { type = self.precision, count = count,
            label = ('%s of slab %d'):format(name, own.index) }
        slab[name]:fill(0)
    end
    return slab
end

-- Makes what copies slices to the slab above or below.
local function new_copies(self, to, from, is_above)
    local slices = beyond_slab * to.fields * to.plane
    for k, name in ipairs(buffers) do
        table.insert(self.copies[k], crossing.new(to[name], from[name], 'copy', {
            offset = to:start(0, is_above and -beyond_slab or to.nz),
            src_offset = from:start(0, is_above and from.nz - beyond_slab or 0),
            count = slices }))
    end
end

-- Allocates. desc: { grid, names = of the fields, precision, count = of slabs, devices, is_around =
-- whether the domain goes around along z, ghosts = of sides.ghosts }. Slabs go to the devices in
-- turn.
function slabs.new(desc)
    local list, used = {}, {}
    local self = setmetatable({ grid = desc.grid, names = desc.names, precision = desc.precision,
        ghosts = desc.ghosts, count = desc.count, element = state.bytes[desc.precision],
        devices = {}, list = list, states = list, copies = { {}, {} }, at = 1 }, Slabs)
    for k, own in ipairs(desc.grid:slabs(desc.count)) do
        local device = desc.devices[(k - 1) % #desc.devices + 1]
        self.list[k] = new_slab(self, own, device)
        if not used[device] then table.insert(self.devices, device) end
        used[device] = true
    end
    local n = desc.count
    for k = 1, n > 1 and (desc.is_around and n or n - 1) or 0 do
        local low, high = self.list[k], self.list[k % n + 1]
        new_copies(self, high, low, true)
        new_copies(self, low, high, false)
    end
    return self
end

-- Brings the outermost slices of slabs beside those of the others, of the first or second buffer.
function Slabs:exchange(which)
    crossing.run_all(self.copies[which])
end

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

-- Brings a field of a box of cells to the host. box: { i, j, k = its first cell, nx, ny, nz }.
-- Returns its numbers from 0 on, x fastest. Waits.
function Slabs:read(field, box)
    local data, size = memory.array(self.precision, box.nx * box.ny * box.nz), self.element
    for _, slab in ipairs(self.list) do
        local low = math.max(box.k, slab.k0)
        local high = math.min(box.k + box.nz, slab.k0 + slab.nz)
        if low < high then
            slab[buffers[self.at]]:download_region(data, {
                width = box.nx * size, height = box.ny, depth = high - low,
                src_offset = (slab:offset(field, low - slab.k0) + box.j * slab.stride + box.i)
                    * size,
                src_pitch = slab.stride * size, src_slice = slab.fields * slab.plane * size,
                dst_offset = (low - box.k) * box.nx * box.ny * size, dst_pitch = box.nx * size,
                dst_slice = box.nx * box.ny * size,
            })
        end
    end
    return data
end

-- The numbers of a whole state, which save() gives: field by field, without padding.
function Slabs:saved_count() return self.grid.cells * #self.names end

-- Returns host memory, as device:host does.
function Slabs:host(options)
    return self.devices[1]:host(tables.merged({ type = self.precision }, options))
end

-- Returns where a field of a slab lies among these numbers (own, as names of a box have it), and in
-- the slab.
local function box_of(self, slab, field, saved, own)
    local g, size = self.grid, self.element
    return { width = g.nx * size, height = g.ny, depth = slab.nz,
        [saved .. '_offset'] = (field * g.nz + slab.k0) * g.nx * g.ny * size,
        [saved .. '_pitch'] = g.nx * size, [saved .. '_slice'] = g.nx * g.ny * size,
        [own .. '_offset'] = slab:offset(field, 0) * size,
        [own .. '_pitch'] = slab.stride * size,
        [own .. '_slice'] = slab.fields * slab.plane * size }
end

-- Writes the state into host memory. Waits.
function Slabs:save(host)
    for _, slab in ipairs(self.list) do
        for field = 0, slab.fields - 1 do
            slab[buffers[self.at]]:download_region(host, box_of(self, slab, field, 'dst', 'src'))
        end
    end
end

-- Loads into the first buffers what save() gave.
function Slabs:load(saved)
    self.at = 1
    for _, slab in ipairs(self.list) do
        for field = 0, slab.fields - 1 do
            slab.state:upload_region(saved, box_of(self, slab, field, 'src', 'dst'))
        end
    end
end

-- Makes memory of which each device has a copy: see array/replicas.lua, which reads of this what it
-- reads of fields.
function Slabs:replicate(desc) return replicas.new(self, desc) end

function Slabs:release()
    for k, name in ipairs(buffers) do
        for _, copy in ipairs(self.copies[k]) do copy:release() end
        for _, slab in ipairs(self.list) do slab[name]:release() end
    end
end

return slabs
