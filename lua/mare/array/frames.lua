-- Shows a variable of a simulation as coloured pixels, made on its devices: only these come down,
-- into slots as those of snapshot.lua, which may be read once their events have passed. Each part
-- adds its share to the sums of the pixels on its device, the first device of rank 0 adds those of
-- all and looks the colours up; see kernels/draw/colour.krn.

local colours = require 'mare.draw.colours'
local here = require 'mare.ranks.here'
local snapshot = require 'mare.array.snapshot'
local source = require 'mare.base.source'

local frames = {}

local Frames = {}
Frames.__index = Frames

-- Returns the first pixel that cells first .. first + count - 1 of n touch, and how many they
-- touch.
local function touched(first, count, n, pixels)
    local from = math.floor(first * pixels / n)
    return from, math.ceil((first + count) * pixels / n) - from
end

local function steps_of(range)
    return 256 * colours.size / (range[2] - range[1])
end

-- Adds the share of each part to the sums.
local function new_shade(self, program)
    local grid, w, h = self.sim.grid, self.width, self.height
    local function area(piece)
        local part = piece.state.part
        local p0, columns = touched(part.i0, part.nx, grid.nx, w)
        local q0, rows = touched(part.j0, part.ny, grid.ny, h)
        return p0, q0, columns, rows
    end
    return self.sim.fields:map { program = program, kernel = 'shade',
        global = function(piece)
            local _, _, columns, rows = area(piece)
            return { columns, rows }
        end,
        values = function(piece)
            local p0, q0, columns, rows = area(piece)
            return { values = self.values, sums = self.sums, nx = grid.nx, ny = grid.ny,
                part_nx = piece.columns, part_ny = piece.rows, width = w, height = h, p0 = p0,
                q0 = q0, columns = columns, rows = rows, low = self.range[1],
                steps = steps_of(self.range) }
        end }
end

local function new_colour(self, program, map, missing)
    local device, fields, count = self.device, self.sim.fields, self.width * self.height
    self.map = device:buffer { type = 'uint32', count = colours.size, label = 'colour map' }
    local list = {}
    for k = 1, colours.size do list[k] = map[k - 1] end
    self.map:upload(list)
    self.pixels = device:buffer { type = 'uint32', count = count, label = 'pixels' }
    return fields:kernel(device, program, 'colour'):bind {
        sums = self.sums:at(1), layers = self.sums.layers, cells = self.sim.grid.cells,
        map = self.map, missing = missing, pixels = self.pixels, width = self.width,
        height = self.height, global = { self.width, self.height },
    }
end

local function program_of(sim)
    return source.program('draw/colour.krn', { defines = { MARE_REAL = sim.precision } })
end

-- Begins to compile what frames of variables of these names want on a device.
function frames.prepare(sim, device, names)
    snapshot.prepare(sim, device, names)
    device:prepare(program_of(sim))
end

-- Makes what colours a variable. desc: { variable, width, height, range, map = of colours.map,
-- missing = colour, slots = 1 }
function frames.new(sim, desc)
    local self = setmetatable({
        sim = sim, device = sim.fields.devices[1], width = desc.width, height = desc.height,
        range = desc.range, slots = {}, done = {},
        values = snapshot.samples(sim, { desc.variable }),
        sums = sim.fields:replicate { type = 'int64', label = 'sums of pixels',
            count = desc.width * desc.height, collected = true },
    }, Frames)
    local program = program_of(sim)
    self.shade = new_shade(self, program)
    self.colour = here.rank == 0 and new_colour(self, program, desc.map, desc.missing) or nil
    self.stream, self.ready = self.device:stream { label = 'frames' }, self.device:event()
    for slot = 1, desc.slots or 1 do
        self.done[slot] = self.device:event()
        self.slots[slot] = self.device:host { type = 'uint32', count = self.width * self.height,
            label = 'frames' }
    end
    return self
end

-- Gives the next frames another range.
function Frames:show(range)
    self.shade:set('to.low', range[1])
    self.shade:set('to.steps', steps_of(range))
end

-- Queues everything; the slot must be free.
function Frames:take(slot)
    local main = self.device.stream
    if self.last then main:wait_event(self.done[self.last]) end
    self.values:run()
    self.sums:fill(0)
    self.shade:run()
    self.sums:collect()
    if not self.colour then return end
    self.colour:run()
    self.ready:record()
    main:flush()
    self.stream:wait_event(self.ready)
    self.pixels:download { into = self.slots[slot], stream = self.stream }
    self.done[slot]:record(self.stream)
    self.stream:flush()
    self.last = slot
end

-- Returns whether this rank has the pixels.
function Frames:is_whole()
    return self.colour ~= nil
end

-- Returns the addresses of the events that another thread waits for before it reads a slot.
function Frames:events(slot)
    return { self.done[slot]:address() }
end

-- Returns the pixels of a slot, 0xRRGGBB, row by row from the top.
function Frames:data(slot)
    return { pixels = self.slots[slot]:pointer() }
end

-- Waits for them and returns them.
function Frames:wait(slot)
    if self.colour then self.done[slot]:wait() end
    return self.slots[slot]:pointer()
end

function Frames:release()
    self.stream:wait()
    for _, list in ipairs { self.done, self.slots } do
        for _, object in ipairs(list) do object:release() end
    end
    for _, name in ipairs { 'values', 'shade', 'sums', 'colour', 'map', 'pixels', 'ready',
        'stream' } do
        if self[name] then self[name]:release() end
    end
end

return frames
