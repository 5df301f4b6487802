-- Brings planes of a box of cells, or of points, into host memory without stopping the devices:
-- kernels copy or derive them into a buffer beside the fields (samples.lua), and a stream of its
-- own brings that down into one of several slots while the next steps are computed. The steps wait
-- for the kernels only; a slot may be read once its events have passed. A CPU's own memory is the
-- host's: there fields go into the slot at once, and the steps wait for the one copy.

local pieces = require 'mare.array.pieces'
local samples = require 'mare.array.samples'

local gather = {}

local Gather = {}
Gather.__index = Gather

-- Where the cells of a piece go: into a box of each plane.
local function region(self, piece)
    local c, size = self.cells, self.fields.element
    return {
        width = piece.columns * size, height = piece.rows, depth = #self.planes,
        src_slice = piece.columns * piece.rows * size,
        dst_offset = (piece.row * c.nx + piece.column) * size, dst_pitch = c.nx * size,
        dst_slice = c.nx * c.ny * size,
    }
end

-- The way of each field from the device into its plane of a slot.
local function direct_regions(self, piece)
    local l, c, size, list = piece.state.layout, self.cells, self.fields.element, {}
    for n, plane in ipairs(self.planes) do
        list[n] = {
            width = piece.columns * size, height = piece.rows,
            src_offset = l:offset(self.fields:index(plane.field), piece.i, piece.j) * size,
            src_pitch = l.stride * size,
            dst_offset = (((n - 1) * c.ny + piece.row) * c.nx + piece.column) * size,
            dst_pitch = c.nx * size,
        }
    end
    return list
end

-- Whether there is no more to do for it than to copy rows out of what is host memory anyway.
local function is_direct(self, piece)
    if piece.state.device.info.kind ~= 'cpu' or self.cells.step > 1 then return false end
    for _, plane in ipairs(self.planes) do
        if not plane.field then return false end
    end
    return true
end

-- Divides the pieces into those that kernels have to do with and those that are copied at once.
local function take_pieces(self, list)
    local staged = {}
    self.direct, self.staged = {}, staged
    for _, piece in ipairs(list) do
        if is_direct(self, piece) then
            piece.regions = direct_regions(self, piece)
            table.insert(self.direct, piece)
        else
            piece.region = region(self, piece)
            table.insert(staged, piece)
        end
    end
    self.samples = samples.new(self.fields, { planes = self.planes, pieces = staged,
        label = 'output' })
end

-- Streams and events of the devices.
local function new_lanes(self)
    for k, device in ipairs(self.fields.devices) do
        local lane = { device = device, ready = device:event(), copied = device:event(), done = {},
            stream = device:stream { label = 'output' } }
        for slot = 1, self.slot_count do lane.done[slot] = device:event() end
        self.lanes[k], self.lanes[device] = lane, lane
    end
end

-- desc: { planes = of samples.lua, cells = { i0, j0, nx, ny, step } or nil for all, or points =
-- { { i, j }, ... } instead, slots = 1 }
function gather.new(fields, desc)
    local grid, points = fields.grid, desc.points
    local self = setmetatable({
        fields = fields, planes = desc.planes, lanes = {}, slots = {},
        cells = points and { nx = #points, ny = 1, step = 1 }
            or desc.cells or { i0 = 0, j0 = 0, nx = grid.nx, ny = grid.ny, step = 1 },
        slot_count = desc.slots or 1,
    }, Gather)
    new_lanes(self)
    take_pieces(self, points and pieces.of_points(fields.states, points)
        or pieces.of_box(fields.states, self.cells))
    for slot = 1, self.slot_count do
        self.slots[slot] = fields:host { label = 'output',
            count = self.cells.nx * self.cells.ny * #self.planes }
    end
    return self
end

-- What the streams of the lanes do next comes after what has been queued.
local function fork(self)
    for _, lane in ipairs(self.lanes) do
        lane.ready:record()
        lane.device.stream:flush()
        lane.stream:wait_event(lane.ready)
    end
end

-- What needs no kernel, before the next step is queued. A core copies each box, so that two streams
-- take twice as many.
local function copy_directly(self, slot)
    fork(self)
    for _, piece in ipairs(self.direct) do
        local s = piece.state
        for n, box in ipairs(piece.regions) do
            local stream = n % 2 == 0 and self.lanes[s.device].stream or nil
            s[s.present]:download_region(self.slots[slot], box, stream)
        end
    end
    for _, lane in ipairs(self.lanes) do
        lane.copied:record(lane.stream)
        lane.stream:flush()
        lane.device.stream:wait_event(lane.copied)
    end
end

-- Queues everything; the slot must be free.
function Gather:take(slot)
    for _, lane in ipairs(self.lanes) do
        if self.last then lane.device.stream:wait_event(lane.done[self.last]) end
    end
    self.samples:run()
    if self.direct[1] then copy_directly(self, slot) end
    fork(self)
    for _, piece in ipairs(self.staged) do
        piece.staging:download_region(self.slots[slot], piece.region,
            self.lanes[piece.state.device].stream)
    end
    for _, lane in ipairs(self.lanes) do
        lane.done[slot]:record(lane.stream)
        lane.stream:flush()
    end
    self.last = slot
end

-- What another thread needs to read a slot: addresses of the events to wait for.
function Gather:events(slot)
    local list = {}
    for k, lane in ipairs(self.lanes) do list[k] = lane.done[slot]:address() end
    return list
end

-- Waits for a slot; the data of its first plane.
function Gather:wait(slot)
    for _, lane in ipairs(self.lanes) do lane.done[slot]:wait() end
    return self.slots[slot].data
end

-- A pointer to each plane of a slot, by name.
function Gather:data(slot)
    local planes, count = {}, self.cells.nx * self.cells.ny
    for n, plane in ipairs(self.planes) do
        planes[plane.name] = self.slots[slot].data + (n - 1) * count
    end
    return planes
end

function Gather:release()
    for _, lane in ipairs(self.lanes) do
        lane.stream:wait()
        for _, done in ipairs(lane.done) do done:release() end
        lane.ready:release()
        lane.copied:release()
        lane.stream:release()
    end
    self.samples:release()
    for _, slot in ipairs(self.slots) do slot:release() end
end

return gather
