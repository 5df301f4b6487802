-- Renders frames of a zoom on a device: escape times, their colours, and the
-- download of the pixels, which overlaps with the next frame. A slot holds one
-- frame in host memory:
--
--     r:take(frame, slot)          -- queues everything; the slot must be free
--     r:wait(slot)                 -- then r.slots[slot]:pointer() has the pixels, 0xRRGGBB,
--                                  -- from the top

local colours = require 'mare.draw.colours'
local errors = require 'bindings.errors'
local exact = require 'mare.mandelbrot.exact'
local source = require 'mare.base.source'

local renderer = {}

local Renderer = {}
Renderer.__index = Renderer

local group = { 8, 16 }         -- a warp computes 8 x 4 neighbours with similar escape times

renderer.most_iterations = 2 ^ 24 - 1       -- escape times are stored in 256ths

local kernels = {
    float = { file = 'escape.krn', real = 'float', number = '"mandelbrot/plain.h"' },
    double = { file = 'escape.krn', real = 'double', number = '"mandelbrot/plain.h"' },
    ['double-double'] = { file = 'escape.krn', real = 'double',
        number = '"mandelbrot/double_double.h"' },
    perturbation = { file = 'perturbation.krn', real = 'double' },
}

-- Returns the program of a mode as device:program takes it. shortcuts: see
-- escape.krn.
function renderer.program(mode, shortcuts)
    local kernel = kernels[mode]
    return source.program('mandelbrot/' .. kernel.file, { defines = { MARE_REAL = kernel.real,
        NUMBER = kernel.number, SHORTCUTS = shortcuts and 1 or 0 } })
end

-- Computes the orbit of the centre and uploads it.
local function reference(self)
    local c = self.centre
    local orbit, length = exact.orbit(c.bits, c.x, c.y, self.iterations)
    local buffer = self.device:buffer { type = 'double', count = 2 * length, label = 'orbit' }
    buffer:upload(orbit, { count = 2 * length })
    return buffer, length
end

local function bind(self, mode)
    local device, c = self.device, self.centre
    if mode ~= 'float' and not device.info.has_double then
        errors.argument("%s computes in double, which device '%s' cannot", mode, device.name)
    end
    local values = { width = self.columns, height = self.rows, centre_x = c.x_high,
        centre_y = c.y_high, left = 0, top = 0, step = 0, limit = self.iterations,
        times = self.times, global = { self.columns, self.rows }, group = group }
    if mode == 'perturbation' then
        values.orbit, values.length = reference(self)
    else
        values.low_x, values.low_y = c.x_low, c.y_low
    end
    local kernel = device:program(renderer.program(mode, self.shortcuts)):kernel 'escape'
    return kernel:bind(values):runner { 'left', 'top', 'step' }
end

local function light(value)
    return value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4
end

local function make_map(device, name)
    local map, list = colours.map(name), {}
    for k = 0, colours.size - 1 do
        for _, value in ipairs { colours.split(map[k]) } do list[#list + 1] = light(value) end
    end
    local buffer = device:buffer { type = 'float', count = #list, label = 'colour map' }
    buffer:upload(list)
    return buffer
end

local function make_slot(self, k)
    local device, count = self.device, self.width * self.height
    local pixels = device:buffer { type = 'uint32', count = count, label = 'pixels' }
    self.slots[k] = device:host { type = 'uint32', count = count, label = 'frames' }
    self.bring[k] = pixels:downloader { into = self.slots[k], stream = self.stream }
    self.began[k], self.ready[k], self.done[k] = device:event(), device:event(), device:event()
    self.shades[k] = self.shade:bind { times = self.times, width = self.width,
        height = self.height, samples = self.samples, map = self.map, colours = colours.size,
        period = self.period, pixels = pixels, global = { self.width, self.height } }
end

-- desc: { device, centre = of view.frames, width, height, samples = points
-- across a pixel, iterations, colours = the name of a colour map, period = of
-- the colours, shortcuts = see escape.krn, slots = 1 }
function renderer.new(desc)
    local device = desc.device
    local self = setmetatable({ device = device, centre = desc.centre, width = desc.width,
        height = desc.height, samples = desc.samples, iterations = desc.iterations,
        columns = desc.width * desc.samples, rows = desc.height * desc.samples,
        shortcuts = desc.shortcuts, period = desc.period, launches = {}, slots = {}, bring = {},
        began = {}, ready = {}, done = {}, shades = {} }, Renderer)
    self.times = device:buffer { type = 'uint32', count = self.columns * self.rows,
        label = 'escape times' }
    self.map, self.stream = make_map(device, desc.colours), device:stream { label = 'frames' }
    self.shade = device:program(source.program 'mandelbrot/shade.krn'):kernel 'shade'
    for k = 1, desc.slots or 1 do make_slot(self, k) end
    return self
end

-- Compiles the kernels of a mode and computes its reference orbit.
function Renderer:prepare(mode)
    self.launches[mode] = self.launches[mode] or bind(self, mode)
    return self.launches[mode]
end

-- Queues a frame of view.frames.
function Renderer:take(frame, slot)
    local launch, main, copy = self:prepare(frame.mode), self.device.stream, self.stream
    self.began[slot]:record()
    launch(frame.left, frame.top, frame.step)
    self.shades[slot]:run()
    self.ready[slot]:record()
    main:flush()
    copy:wait_event(self.ready[slot])
    self.bring[slot]()
    self.done[slot]:record(copy)
    copy:flush()
end

function Renderer:wait(slot)
    self.done[slot]:wait()
end

-- Returns the seconds that the kernels of a slot's frame took.
function Renderer:kernel_seconds(slot)
    return self.began[slot]:elapsed_ms(self.ready[slot]) / 1000
end

return renderer
