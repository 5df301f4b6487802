-- Variables of a simulation, gathered from its devices into host memory without stopping them:
-- kernels sample or derive them into a buffer beside the state, and a stream of its own brings that
-- down into one of several slots while the next steps are computed. The steps wait for the kernels
-- only; a slot may be read once its events have passed. A CPU's own memory is the host's: there
-- unknowns go from the state into the slot at once, and the steps wait for the one copy.

local bind = require 'mare.array.bind'
local source = require 'mare.base.source'
local state = require 'mare.array.state'
local variables = require 'mare.base.variables'

local snapshot = {}

local Snapshot = {}
Snapshot.__index = Snapshot

-- First index and number of the sampled cells first, first + step, ... (count of them) that fall
-- into cells low .. low + length - 1.
local function overlap(first, step, count, low, length)
    local from = math.max(0, math.ceil((low - first) / step))
    local to = math.min(count - 1, math.floor((low + length - 1 - first) / step))
    return from, to - from + 1
end

local function kernel_of(self, device, v)
    local cache, sim = self.programs[device] or {}, self.sim
    self.programs[device] = cache
    local name = variables.derivation(sim, v)
    local file = name and sim.scheme.derive or 'array/sample.krn'
    if not cache[file] then
        local defines = name and sim.domain and sim.domain:defines() or {}
        defines.MARE_REAL = sim.precision
        cache[file] = device:program(source.program(file, { defines = defines }))
    end
    return cache[file]:kernel(name or 'sample')
end

-- i, j: the first cell, counted in the part
local function bind_part(self, piece, i, j)
    local s, c = piece.state, self.cells
    for n, name in ipairs(self.names) do
        local v, k = variables.find(self.sim.scheme, name)
        local kernel = variables.derivation(self.sim, v)
        local values = {
            src = s.now, south = j, step = c.step, stride = s.layout.stride, plane = s.layout.plane,
            origin = s.layout:offset(kernel and 0 or k - 1, i, j), out = piece.staging,
            first = (n - 1) * piece.columns * piece.rows, columns = piece.columns,
            rows = piece.rows,
        }
        for key, value in pairs(self.sim.scheme:derive_values(self.sim.grid, s)) do
            values[key] = value
        end
        piece.launches[n] = bind(kernel_of(self, s.device, v), values,
            { global = { piece.columns, piece.rows } })
        self.wants_ghosts = self.wants_ghosts or kernel and v.ghosts
    end
end

-- Where the cells of a part go: into a box of each variable's plane.
local function region(self, piece)
    local c, size = self.cells, self.element
    return {
        width = piece.columns * size, height = piece.rows, depth = #self.names,
        src_slice = piece.columns * piece.rows * size,
        dst_offset = (piece.row * c.nx + piece.column) * size, dst_pitch = c.nx * size,
        dst_slice = c.nx * c.ny * size,
    }
end

-- The way of each variable from the state into its plane of a slot; i, j: the first cell, counted
-- in the part. Nil where there is more to do than to copy rows.
local function direct_regions(self, piece, i, j)
    local s, c, size, list = piece.state, self.cells, self.element, {}
    for n, name in ipairs(self.names) do
        local v, k = variables.find(self.sim.scheme, name)
        if variables.derivation(self.sim, v) then return nil end
        list[n] = {
            width = piece.columns * size, height = piece.rows,
            src_offset = s.layout:offset(k - 1, i, j) * size, src_pitch = s.layout.stride * size,
            dst_offset = (((n - 1) * c.ny + piece.row) * c.nx + piece.column) * size,
            dst_pitch = c.nx * size,
        }
    end
    return list
end

-- piece: { state, column, columns, row, rows }
local function add_piece(self, piece, i, j)
    local device = piece.state.device
    self.pieces[#self.pieces + 1] = piece
    piece.launches = {}
    if device.info.kind == 'cpu' and self.slot_count > 0 and self.cells.step == 1 then
        piece.direct = direct_regions(self, piece, i, j)
        if piece.direct then
            self.copies = true
            return
        end
    end
    piece.staging = device:buffer { type = self.sim.precision, label = 'output',
        count = piece.columns * piece.rows * #self.names }
    bind_part(self, piece, i, j)
    piece.region = region(self, piece)
end

local function add_cells(self, s)
    local c, part = self.cells, s.part
    local column, columns = overlap(c.i0, c.step, c.nx, part.i0, part.nx)
    local row, rows = overlap(c.j0, c.step, c.ny, part.j0, part.ny)
    if columns < 1 or rows < 1 then return end
    add_piece(self, { state = s, column = column, columns = columns, row = row, rows = rows },
        c.i0 + column * c.step - part.i0, c.j0 + row * c.step - part.j0)
end

local function add_points(self, s, points)
    for k, point in ipairs(points) do
        local i, j = point[1] - s.part.i0, point[2] - s.part.j0
        if i >= 0 and i < s.part.nx and j >= 0 and j < s.part.ny then
            add_piece(self, { state = s, column = k - 1, columns = 1, row = 0, rows = 1 }, i, j)
        end
    end
end

-- Streams and events of the devices.
local function new_lanes(self, slots)
    for k, member in ipairs(self.sim.members) do
        local device = member.device
        local lane = { device = device, ready = device:event(), copied = device:event(), done = {},
            stream = device:stream { label = 'output' } }
        for slot = 1, slots do lane.done[slot] = device:event() end
        self.lanes[k], self.lanes[device] = lane, lane
    end
end

-- { variables = { names }, cells = { i0, j0, nx, ny, step } or nil for all, or points = { { i, j },
-- ... } instead, slots = 1 }; without slots (0) only compute() is of use.
function snapshot.new(sim, desc)
    local grid, points = sim.grid, desc.points
    local self = setmetatable({
        sim = sim, names = desc.variables, element = state.bytes[sim.precision],
        cells = points and { nx = #points, ny = 1, step = 1 }
            or desc.cells or { i0 = 0, j0 = 0, nx = grid.nx, ny = grid.ny, step = 1 },
        programs = {}, pieces = {}, lanes = {}, slots = {}, slot_count = desc.slots or 1,
    }, Snapshot)
    new_lanes(self, self.slot_count)
    for _, s in ipairs(sim.states) do
        if points then add_points(self, s, points) else add_cells(self, s) end
    end
    for slot = 1, self.slot_count do
        self.slots[slot] = sim.members[1].device:host {
            type = sim.precision, count = self.cells.nx * self.cells.ny * #self.names,
            label = 'output',
        }
    end
    return self
end

-- Queues the kernels only: without slots the values of each piece are in its `staging` then.
function Snapshot:compute()
    self.sim:find_state()
    if self.wants_ghosts then self.sim:fill_ghosts() end
    for _, piece in ipairs(self.pieces) do
        local s, launches = piece.state, piece.launches
        for n = 1, #launches do
            if self.sim.levels then launches[n]:set('src', s[s.present]) end
            launches[n]:run()
        end
    end
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
    for _, piece in ipairs(self.pieces) do
        local s = piece.state
        for n, box in ipairs(piece.direct or {}) do
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
function Snapshot:take(slot)
    for _, lane in ipairs(self.lanes) do
        if self.last then lane.device.stream:wait_event(lane.done[self.last]) end
    end
    self:compute()
    if self.copies then copy_directly(self, slot) end
    fork(self)
    for _, piece in ipairs(self.pieces) do
        if piece.staging then
            piece.staging:download_region(self.slots[slot], piece.region,
                self.lanes[piece.state.device].stream)
        end
    end
    for _, lane in ipairs(self.lanes) do
        lane.done[slot]:record(lane.stream)
        lane.stream:flush()
    end
    self.last = slot
end

-- What another thread needs to read a slot: addresses of the events to wait for.
function Snapshot:events(slot)
    local list = {}
    for k, lane in ipairs(self.lanes) do list[k] = lane.done[slot]:address() end
    return list
end

-- Waits for a slot; the data of its first variable.
function Snapshot:wait(slot)
    for _, lane in ipairs(self.lanes) do lane.done[slot]:wait() end
    return self.slots[slot].data
end

-- A pointer to each variable of a slot, by name.
function Snapshot:data(slot)
    local planes, count = {}, self.cells.nx * self.cells.ny
    for n, name in ipairs(self.names) do
        planes[name] = self.slots[slot].data + (n - 1) * count
    end
    return planes
end

function Snapshot:release()
    for _, lane in ipairs(self.lanes) do
        lane.stream:wait()
        for _, done in ipairs(lane.done) do done:release() end
        lane.ready:release()
        lane.copied:release()
        lane.stream:release()
    end
    for _, piece in ipairs(self.pieces) do
        for _, launch in ipairs(piece.launches) do launch:release() end
        if piece.staging then piece.staging:release() end
    end
    for _, slot in ipairs(self.slots) do slot:release() end
end

return snapshot
