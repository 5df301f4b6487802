-- Brings planes of a box of cells, or of points, into host memory without stopping
-- the devices. Kernels copy or derive them into buffers beside the fields
-- (samples.lua), and a second stream downloads these into one of several slots
-- while the next steps are computed. The steps only wait for the kernels. A slot
-- may be read once its events have passed. On a CPU the memory of the device is
-- that of the host: fields are copied into the slot at once, and the steps wait
-- for that one copy. Of several ranks rank 0 gets the box, or all do; then take()
-- waits until it is there.

local collection = require 'mare.ranks.collection'
local here = require 'mare.ranks.here'
local pieces = require 'mare.array.pieces'
local samples = require 'mare.array.samples'

local gather = {}

local Gather = {}
Gather.__index = Gather

-- Returns the box of a slot that the planes of a piece fill, in bytes.
local function box_of(self, piece)
    local c, size = self.cells, self.fields.element
    return { rank = piece.state.rank, width = piece.columns * size, height = piece.rows,
        depth = #self.planes, dst_offset = (piece.row * c.nx + piece.column) * size,
        dst_pitch = c.nx * size, dst_slice = c.nx * c.ny * size }
end

-- Returns the region of a slot that the samples of a piece fill; place: where.
local function region(piece, place)
    return {
        width = place.width, height = place.height, depth = place.depth,
        src_slice = place.width * piece.rows, dst_offset = place.dst_offset,
        dst_pitch = place.dst_pitch, dst_slice = place.dst_slice,
    }
end

-- Returns the region of each field that goes from the device to the slot at once.
local function direct_regions(self, piece, place)
    local l, size, list = piece.state.layout, self.fields.element, {}
    for n, plane in ipairs(self.planes) do
        list[n] = {
            width = place.width, height = place.height,
            src_offset = l:offset(self.fields:index(plane.field), piece.i, piece.j) * size,
            src_pitch = l.stride * size, dst_pitch = place.dst_pitch,
            dst_offset = place.dst_offset + (n - 1) * place.dst_slice,
        }
    end
    return list
end

-- Returns whether nothing is to be done for a piece but to copy rows of memory
-- that is the host's anyway.
local function is_direct(self, piece)
    if piece.state.device.info.kind ~= 'cpu' or self.cells.step > 1 then return false end
    for _, plane in ipairs(self.planes) do
        if not plane.field then return false end
    end
    return true
end

-- Makes what brings the pieces of all ranks together. Returns the own pieces, each
-- with its place in the memory of this rank.
local function collect_pieces(self, list, everywhere)
    local boxes, own = {}, {}
    for k, piece in ipairs(list) do boxes[k] = box_of(self, piece) end
    local bytes = self.cells.nx * self.cells.ny * #self.planes * self.fields.element
    self.collection = collection.new(boxes, bytes, everywhere)
    for k, piece in ipairs(list) do
        if not piece.state:is_elsewhere() then
            piece.place = self.collection:region(k)
            own[#own + 1] = piece
        end
    end
    return own
end

-- Divides the pieces into those that kernels sample and those that are copied at
-- once.
local function take_pieces(self, list)
    local staged = {}
    self.direct, self.staged = {}, staged
    for _, piece in ipairs(list) do
        if is_direct(self, piece) then
            piece.regions = direct_regions(self, piece, piece.place)
            table.insert(self.direct, piece)
        else
            piece.region = region(piece, piece.place)
            table.insert(staged, piece)
        end
    end
    self.samples = samples.new(self.fields, { planes = self.planes, pieces = staged,
        label = 'output' })
end

-- Makes the second stream of each device, and its events.
local function new_streams(self)
    for k, device in ipairs(self.fields.devices) do
        local one = { device = device, ready = device:event(), copied = device:event(), done = {},
            stream = device:stream { label = 'output' } }
        for slot = 1, self.slot_count do one.done[slot] = device:event() end
        self.streams[k], self.streams[device] = one, one
    end
end

-- Allocates and binds everything. desc: { planes = as for samples.lua, cells = {
-- i0, j0, nx, ny, step } (nil: all) or points = { { i, j }, ... }, slots (1),
-- everywhere = whether all ranks want it }
function gather.new(fields, desc)
    local grid, points = fields.grid, desc.points
    local self = setmetatable({
        fields = fields, planes = desc.planes, streams = {}, slots = {},
        cells = points and { nx = #points, ny = 1, step = 1 }
            or desc.cells or { i0 = 0, j0 = 0, nx = grid.nx, ny = grid.ny, step = 1 },
        slot_count = desc.slots or 1,
    }, Gather)
    new_streams(self)
    local list = points and pieces.of_points(fields.of_part, points)
        or pieces.of_box(fields.of_part, self.cells)
    take_pieces(self, collect_pieces(self, list, desc.everywhere))
    for slot = 1, self.slot_count do
        self.slots[slot] = fields:host { label = 'output',
            count = math.max(1, self.collection.bytes / fields.element) }
    end
    return self
end

-- Lets the second streams wait for what has been queued on the first ones.
local function fork(self)
    for _, one in ipairs(self.streams) do
        one.ready:record()
        one.device.stream:flush()
        one.stream:wait_event(one.ready)
    end
end

-- Copies what needs no kernel, before the next step. One core copies each box, so
-- two streams are twice as fast as one.
local function copy_directly(self, slot)
    fork(self)
    for _, piece in ipairs(self.direct) do
        local s = piece.state
        for n, box in ipairs(piece.regions) do
            local stream = n % 2 == 0 and self.streams[s.device].stream or nil
            s[s.present]:download_region(self.slots[slot], box, stream)
        end
    end
    for _, one in ipairs(self.streams) do
        one.copied:record(one.stream)
        one.stream:flush()
        one.device.stream:wait_event(one.copied)
    end
end

-- Brings the pieces of all ranks together. Waits for the devices.
local function collect(self, slot)
    if here.size == 1 then return end
    for _, one in ipairs(self.streams) do one.done[slot]:wait() end
    self.collection:run(self.slots[slot]:pointer())
end

-- Queues everything. The slot must be free.
function Gather:take(slot)
    for _, one in ipairs(self.streams) do
        if self.last then one.device.stream:wait_event(one.done[self.last]) end
    end
    self.samples:run()
    if self.direct[1] then copy_directly(self, slot) end
    fork(self)
    for _, piece in ipairs(self.staged) do
        piece.staging:download_region(self.slots[slot], piece.region,
            self.streams[piece.state.device].stream)
    end
    for _, one in ipairs(self.streams) do
        one.done[slot]:record(one.stream)
        one.stream:flush()
    end
    self.last = slot
    collect(self, slot)
end

-- Returns whether a slot of this rank holds the box.
function Gather:is_whole()
    return self.collection.is_whole
end

-- Returns the addresses of the events for which another thread must wait before it
-- reads a slot.
function Gather:events(slot)
    local list = {}
    for k, one in ipairs(self.streams) do list[k] = one.done[slot]:address() end
    return list
end

-- Waits for a slot. Returns a pointer to its first plane.
function Gather:wait(slot)
    for _, one in ipairs(self.streams) do one.done[slot]:wait() end
    return self.slots[slot]:pointer()
end

-- Returns a pointer to each plane of a slot, by name.
function Gather:data(slot)
    local planes, count = {}, self.cells.nx * self.cells.ny
    for n, plane in ipairs(self.planes) do
        planes[plane.name] = self.slots[slot]:pointer() + (n - 1) * count
    end
    return planes
end

function Gather:release()
    for _, one in ipairs(self.streams) do
        one.stream:wait()
        for _, done in ipairs(one.done) do done:release() end
        one.ready:release()
        one.copied:release()
        one.stream:release()
    end
    self.samples:release()
    for _, slot in ipairs(self.slots) do slot:release() end
end

return gather
