-- Zooms into the Mandelbrot set. A device computes one frame after the other; a
-- thread writes them into a film, and the last one becomes a picture.
-- scenarios/mandelbrot.lua is the command line.

local cairo = require 'bindings.cairo'
local devices = require 'mare.array.devices'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local files = require 'bindings.files'
local film = require 'mare.draw.film'
local home = require 'bindings.home'
local image = require 'mare.draw.image'
local literal = require 'mare.base.literal'
local options = require 'mare.base.options'
local renderer = require 'mare.mandelbrot.renderer'
local system = require 'bindings.system'
local tables = require 'bindings.tables'
local view = require 'mare.mandelbrot.view'
local worker = require 'bindings.worker'
local paths = require 'mare.base.paths'

local mandelbrot = { options = require 'mare.mandelbrot.options' }

local slots = 2                 -- one frame is downloaded while the next is computed

-- ---- the film ----

local function answer(writer)
    local text = writer:receive()
    local reply = text and literal.decode(text)
    if not reply or reply.failure then
        errors.raise('MARE_ERROR_IO', '%s', reply and reply.failure or 'the thread has ended')
    end
    return reply
end

local function ask(writer, message)
    writer:send(literal.encode(message))
end

local function open_film(o)
    system.ignore_pipes()
    local writer = worker.start 'mare.run.service'
    ask(writer, { kind = 'open', id = 1, spec = { path = o.film, rate = o.rate,
        bare = { width = o.size[1], height = o.size[2], colours = o.colours, missing = 0 } } })
    answer(writer)
    return writer
end

local function write_frame(self, k, slot)
    ask(self.writer, { kind = 'write', id = 1, slot = slot, t = k,
        events = { self.renderer.done[slot]:address() },
        data = { pixels = worker.address(self.renderer.slots[slot]:pointer()) } })
end

local function close_film(writer)
    ask(writer, { kind = 'close', id = 1 })
    repeat local reply = answer(writer) until reply.kind == 'close'
    writer:stop()
end

-- ---- the frames ----

-- Waits until a slot is free.
local function free(self, slot)
    local r = self.renderer
    if not self.busy[slot] then return end
    r:wait(slot)
    self.kernel_seconds = self.kernel_seconds + r:kernel_seconds(slot)
    while self.writer and self.busy[slot] do
        local reply = answer(self.writer)
        if reply.slot then self.busy[reply.slot] = false end
    end
    self.busy[slot] = false
end

local function compute(self, list)
    if self.energy then self.energy:begin() end
    local begin = system.now()
    local memos = { begin = begin }
    for k, frame in ipairs(list) do
        local slot = k % slots + 1
        if home.interrupted() then errors.interrupt() end
        free(self, slot)
        self.events:progress(memos, system.now(), function()
            return { frame = k, frames = #list, width = frame.width, mode = frame.mode,
                message = ('frame %d of %d, %.3g wide, in %s'):format(k, #list, frame.width,
                    frame.mode) }
        end)
        self.renderer:take(frame, slot)
        self.busy[slot] = true
        if self.energy then self.energy:look() end
        if self.writer then write_frame(self, k, slot) end
    end
    for slot = 1, slots do free(self, slot) end
    self.seconds = system.now() - begin
    if self.energy then self.found, self.no_energy = self.energy:finish() end
end

local function write_image(r, path, pixels)
    local canvas = cairo.canvas(r.width, r.height, 0)
    canvas:pixels(0, 0, r.width, r.height, function(to, stride)
        for row = 0, r.height - 1 do
            for p = 0, r.width - 1 do to[row * stride + p] = pixels[row * r.width + p] end
        end
    end)
    image.write(canvas, path)
end

-- Checks the fields of a call in the same way as options of the command line.
local function read(given)
    errors.wanted('mandelbrot.zoom', 'table', given)
    errors.wanted('mandelbrot.zoom: device', 'table', given.device)
    local o = tables.merged(given)
    for _, option in ipairs(options.declared(mandelbrot.options)) do
        local name = option.name == 'colour' and 'colours' or option.name
        local is_needed = option.default ~= nil and option.type ~= 'boolean'
            and (option.name ~= 'rate' or o.film)
        if is_needed or o[name] ~= nil then
            o[name] = options.field('mandelbrot.zoom', name, option, o[name])
        end
    end
    return o
end

local function check(o)
    errors.option('device', devices.check_kind, o.device, 'a zoom')
    if o.image then errors.option('image', image.check, o.image) end
    if not o.film then return end
    errors.option('film', film.check, o.film)
    paths.distinct { { 'option --image', o.image }, { 'option --film', o.film } }
    local other = files.writer(o.film)
    if other then errors.usage('%s: another run is writing it (%s)', o.film, other) end
    local width, height = unpack(o.size)
    if o.film:find '%.[mM][pP]4$' and (width % 2 ~= 0 or height % 2 ~= 0) then
        errors.usage('option --size: %dx%d (allowed: even numbers, for an MP4)', width, height)
    end
end

-- Makes the renderer; everything is compiled before the first frame.
local function new_renderer(o, list, centre)
    local r = renderer.new { device = o.device, centre = centre, width = o.size[1],
        height = o.size[2], samples = o.samples, iterations = o.iterations, colours = o.colours,
        period = o.period, shortcuts = o.shortcuts, slots = slots }
    for _, frame in ipairs(list) do
        errors.option('precision', r.prepare, r, frame.mode)
    end
    return r
end

-- Computes a zoom. o: { device; centre, width, zoom, frames, precision: as for
-- view.frames; size = { width, height } in pixels; samples, iterations,
-- colours, period, shortcuts: as for renderer.new; film, image = paths or nil;
-- rate = frames per second; energy = of energy.recorder, or nil; quiet }. Returns
-- { frames = of view.frames, seconds = until the last frame was in host memory,
-- kernel_seconds = their sum over all kernels, pixels = of the last frame,
-- 0xRRGGBB, top first, at [0 .. width * height - 1], renderer }. With `energy`
-- it adds the results of its finish(), or no_energy, the reason why they are
-- missing.
function mandelbrot.zoom(o)
    o = read(o)
    check(o)
    local list, centre = view.frames { centre = o.centre, width = o.width, zoom = o.zoom,
        frames = o.frames, precision = o.precision, columns = o.size[1] * o.samples,
        rows = o.size[2] * o.samples }
    local self = { renderer = new_renderer(o, list, centre), busy = {}, kernel_seconds = 0,
        energy = o.energy, events = events.source { quiet = o.quiet or nil },
        writer = o.film and open_film(o) }
    local ok, failure = pcall(compute, self, list)
    self.events:tell 'interlude'
    if ok and self.writer then ok, failure = pcall(close_film, self.writer) end
    if not ok then
        if self.writer then self.writer:stop() end
        error(failure, 0)
    end
    local pixels = self.renderer.slots[#list % slots + 1]:pointer()
    if o.image then write_image(self.renderer, o.image, pixels) end
    return { frames = list, seconds = self.seconds, kernel_seconds = self.kernel_seconds,
        pixels = pixels, renderer = self.renderer, energy = self.found, no_energy = self.no_energy }
end

return mandelbrot
