-- A variable of a simulation as coloured pixels, made on its devices: only these come down, into
-- slots as those of snapshot.lua, which may be read once their events have passed. Each part adds
-- its share to the sums of the pixels on its device, the first device adds those of all and looks
-- the colours up; see kernels/draw/colour.krn.

local colours = require 'mare.draw.colours'
local snapshot = require 'mare.array.snapshot'
local source = require 'mare.base.source'

local frames = {}

local Frames = {}
Frames.__index = Frames

local function program(device, precision)
    return device:program(source.program('draw/colour.krn',
        { defines = { MARE_REAL = precision } }))
end

-- The first pixel that cells first .. first + count - 1 of n touch, and how many these are.
local function touched(first, count, n, pixels)
    local from = math.floor(first * pixels / n)
    return from, math.ceil((first + count) * pixels / n) - from
end

local function bind_shade(self, piece)
    local grid, part, device = self.sim.grid, piece.state.part, piece.state.device
    local p0, columns = touched(part.i0, part.nx, grid.nx, self.width)
    local q0, rows = touched(part.j0, part.ny, grid.ny, self.height)
    return program(device, self.sim.precision):kernel('shade'):bind {
        values = piece.staging, nx = grid.nx, ny = grid.ny, part_nx = part.nx, part_ny = part.ny,
        i0 = part.i0, j0 = part.j0, sums = self.sums[device], width = self.width,
        height = self.height, p0 = p0, q0 = q0, columns = columns, rows = rows,
        low = self.range[1], steps = 256 * colours.size / (self.range[2] - self.range[1]),
        global = { columns, rows },
    }
end

-- The first device has room for the sums of all, its own in front.
local function make_sums(self)
    local members, count = self.sim.members, self.width * self.height
    self.sums, self.copies = {}, {}
    for k, member in ipairs(members) do
        local sums = member.device:buffer { type = 'int64', label = 'sums of pixels',
            count = k == 1 and #members * count or count }
        self.sums[k], self.sums[member.device] = sums, sums
        self.copies[k] = { offset = (k - 1) * count, src_offset = 0, count = count }
    end
end

local function make_colours(self, map, missing)
    local device, count = self.device, self.width * self.height
    self.map = device:buffer { type = 'uint32', count = colours.size, label = 'colour map' }
    local list = {}
    for k = 1, colours.size do list[k] = map[k - 1] end
    self.map:upload(list)
    self.pixels = device:buffer { type = 'uint32', count = count, label = 'pixels' }
    self.colour = program(device, self.sim.precision):kernel('colour'):bind {
        sums = self.sums[1], layers = #self.sim.members, cells = self.sim.grid.cells,
        map = self.map, missing = missing, pixels = self.pixels, width = self.width,
        height = self.height, global = { self.width, self.height },
    }
end

-- desc: { variable, width, height, range, map = of colours.map, missing = colour, slots = 1 }
function frames.new(sim, desc)
    local self = setmetatable({
        sim = sim, device = sim.members[1].device, width = desc.width, height = desc.height,
        range = desc.range, shades = {}, slots = {}, done = {},
        values = snapshot.new(sim, { variables = { desc.variable }, slots = 0 }),
    }, Frames)
    make_sums(self)
    for k, piece in ipairs(self.values.pieces) do self.shades[k] = bind_shade(self, piece) end
    make_colours(self, desc.map, desc.missing)
    self.stream, self.ready = self.device:stream { label = 'frames' }, self.device:event()
    for slot = 1, desc.slots or 1 do
        self.done[slot] = self.device:event()
        self.slots[slot] = self.device:host { type = 'uint32', count = self.width * self.height,
            label = 'frames' }
    end
    return self
end

-- Queues everything; the slot must be free.
function Frames:take(slot)
    local sums, main = self.sums, self.device.stream
    if self.last then main:wait_event(self.done[self.last]) end
    self.values:compute()
    for k = 1, #sums do sums[k]:fill(0) end
    for k = 1, #self.shades do self.shades[k]:run() end
    for k = 2, #sums do sums[1]:copy(sums[k], self.copies[k]) end
    self.colour:run()
    self.ready:record()
    main:flush()
    self.stream:wait_event(self.ready)
    self.pixels:download { into = self.slots[slot], stream = self.stream }
    self.done[slot]:record(self.stream)
    self.stream:flush()
    self.last = slot
end

-- Addresses of the events that another thread waits for before it reads a slot.
function Frames:events(slot)
    return { self.done[slot]:address() }
end

-- The pixels of a slot, 0xRRGGBB, row by row from the top.
function Frames:data(slot)
    return { pixels = self.slots[slot].data }
end

-- The same, once they are there.
function Frames:wait(slot)
    self.done[slot]:wait()
    return self.slots[slot].data
end

function Frames:release()
    self.stream:wait()
    self.values:release()
    for _, list in ipairs { self.shades, self.done, self.slots } do
        for _, object in ipairs(list) do object:release() end
    end
    for _, sums in ipairs(self.sums) do sums:release() end
    for _, name in ipairs { 'colour', 'map', 'pixels', 'ready', 'stream' } do
        self[name]:release()
    end
end

return frames
