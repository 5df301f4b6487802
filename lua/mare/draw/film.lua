-- Films of a run: frames with axes, colour bar and time, as APNG (.png, .apng),
-- GIF or, if ffmpeg is installed, MP4. Until a film is complete, data are only
-- appended to it. The final name holds a complete film or what it held before.
-- A writer is used like one of netcdf.lua:
--
--   local out = film.writer{
--       path = 'kh.gif', rate = 20,                 -- frames per second
--       figure = image.figure_spec{ ... },
--       title = 'Kelvin-Helmholtz', time = { unit = 's', last = 2, step = 0.02 },
--       contours = { levels = 8, range = { 0, 1 }, is_ground = true },       -- or nil; and period
--       vectors = { unit = 'm s-1', reference = 0.5 },                       -- or nil
--       owner = nil,                                -- names the run, if the film will be sealed
--   }
-- or, for frames that are nothing but their pixels, instead of figure and all below it
--       bare = { width, height, colours, missing = colour }
--   out:write(t, function(name, type) return pointer end, range)  -- nil: as before
--       -- 'pixels', type 'uint32_t': 0xRRGGBB, of the figure's box, top row first;
--       -- 'contours' at figure:contour_cells(), 'u' and 'v' at figure:arrow_cells()
--   out:close(), out:abort()
--   local position = out:seal(); out:keep(); film.resume(spec, position)  -- see netcdf.lua

local apng = require 'mare.draw.apng'
local bit = require 'bit'
local cairo = require 'bindings.cairo'
local colours = require 'mare.draw.colours'
local errors = require 'bindings.errors'
local figure = require 'mare.draw.figure'
local files = require 'bindings.files'
local gif = require 'mare.draw.gif'
local image = require 'mare.draw.image'
local labels = require 'mare.draw.labels'
local literal = require 'mare.base.literal'
local mp4 = require 'mare.draw.mp4'
local raster = require 'mare.draw.raster'
local structure = require 'mare.base.structure'
local zlib = require 'bindings.zlib'

local film = { rate = 20 }       -- frames per second of a run's films

local Writer = {}
Writer.__index = Writer

-- The encoders by the ending of a file's name.
local modules = { png = apng, apng = apng, gif = gif, mp4 = mp4 }

local function module_of(path)
    return modules[(path:match '%.(%w+)$' or ''):lower()]
        or error(path .. ': a film ends in .mp4, .gif, .png or .apng', 0)
end

-- Raises the errors now that a writer would raise later because of the path or
-- of missing programs.
function film.check(path)
    local module = module_of(path)
    cairo.version()
    if module.check then module.check() end
    files.check(path)
end

-- Calls f(self, ...). An error aborts the writer; whoever uses it on is told of it again.
local function guarded(self, f, ...)
    if self.failure then error(self.failure, 0) end
    local ok, message = pcall(f, self, ...)
    if not ok then
        self.failure = message
        self:abort()
        error(message, 0)
    end
end

local function new_writer(spec)
    errors.wanted('film', 'table', spec)
    errors.wanted('film: path', 'string', spec.path)
    local module, bare = module_of(spec.path), spec.bare
    errors.wanted('film: figure', 'table', bare or spec.figure)
    local fig = not bare and figure.new(spec.figure) or nil
    local self = setmetatable({ path = spec.path, spec = spec, figure = fig, frames = 0,
        width = (bare or fig).width, height = (bare or fig).height, last = -math.huge,
        temporary = files.temporary(spec.path) }, Writer)
    self.is_settled = fig ~= nil and not fig.spec.is_widened
    guarded(self, function()
        self.encoder = module.encoder({ width = self.width, height = self.height, rate = spec.rate,
            map = colours.map((bare or spec.figure).colours),
            missing = bare and bare.missing or spec.figure.missing.colour }, self.temporary)
        self.canvas = fig and fig:canvas()
    end)
    return self
end

-- Opens a film for output, as the head of this module describes.
function film.writer(spec)
    return new_writer(spec)
end

-- Copies the pixels; returns whether one has the colour of missing values.
local function copy(from, box, missing, to, stride)
    local found = false
    for row = 0, box.height - 1 do
        for p = 0, box.width - 1 do
            local colour = from[row * box.width + p]
            to[row * stride + p] = colour
            found = found or bit.tobit(colour) == missing
        end
    end
    return found
end

-- Draws everything that changes from frame to frame.
local function draw(fig, canvas, spec, t, get)
    local box, missing = fig.box, nil
    local pixels = get('pixels', 'uint32_t')
    raster.check(pixels, box.width * box.height)
    canvas:pixels(box.x, box.y, box.width, box.height, function(to, stride)
        missing = copy(pixels, box, spec.figure.missing.colour, to, stride)
    end)
    local lines, vectors = spec.contours, spec.vectors
    if lines then
        fig:contours(canvas, get 'contours', lines.levels,
            lines.is_ground and fig.spec.range or lines.range, lines.is_ground, lines.period)
    end
    if vectors then fig:arrows(canvas, get 'u', get 'v', vectors.unit, vectors.reference) end
    if missing then fig:missing_note(canvas) end
    local time = spec.time
    fig:title(canvas, spec.title .. ', ' .. labels.clock(time.unit, time.last, time.step)(t))
end

-- Writes a single frame as an ordinary PNG.
function film.still(spec, t, get)
    local fig = figure.new(spec.figure)
    local canvas = fig:canvas()
    draw(fig, canvas, spec, t, get)
    image.write(canvas, spec.path)
end

-- Draws the next frames with another range.
local function show(self, range)
    local now = self.figure.spec.range
    self.is_settled = true
    if range[1] == now[1] and range[2] == now[2] then return end
    self.figure = self.figure:with_range(range)
    self.canvas:release()
    self.canvas = self.figure:canvas()
end

-- Adds the frame of time t; get(name, type) returns a pointer to what is drawn.
-- range: that of its colours, nil if it is that of the frame before.
function Writer:write(t, get, range)
    guarded(self, function()
        local pixels, stride
        if range then show(self, range) end
        if self.figure then
            draw(self.figure, self.canvas, self.spec, t, get)
            pixels, stride = self.canvas:memory()
        else
            pixels, stride = get('pixels', 'uint32_t'), self.width
        end
        self.encoder:frame(pixels, stride, self.frames)
    end)
    self.frames, self.last = self.frames + 1, t
end

-- Returns a text of all that must be equal when a film is continued.
local function shape_of(self)
    return literal.encode { self.width, self.height, self.spec.rate }
end

-- Returns the checksum of the frames in the first `size` bytes of a file.
local function digest(path, data, size)
    local ignored = module_of(path).changing or { offset = 0, size = 0 }
    local rest = ignored.offset + ignored.size
    return zlib.crc32(zlib.crc32(0, data, ignored.offset), data + rest, size - rest)
end

-- Seals the film and returns the position for resume().
function Writer:seal()
    guarded(self, function()
        self.encoder:pause()
        local name = self.temporary:own(self.spec.owner)
        files.sync(name, self.path)
        local data, size = files.map(name)
        if not data then error(('%s: cannot be read: %s'):format(self.path, size), 0) end
        self.position = { path = self.path, temporary = name, frames = self.frames,
            last = self.last, size = size, shape = shape_of(self),
            digest = size > 0 and digest(self.path, data, size) or 0,
            range = self.figure and self.is_settled and self.figure.spec.range or nil }
    end)
    return self.position
end

-- Something refers to the position: from now on a failed or aborted run leaves
-- the temporary file.
function Writer:keep()
    self.is_kept = true
end

-- Copies the earlier frames from the temporary file or from the complete film.
-- A complete MP4 cannot be used: it holds other bytes than the stream that it
-- was made of.
local function restore(self, position)
    for _, name in ipairs { position.temporary, position.path } do
        local data, size = files.map(name)
        if data and position.size > 0 and size >= position.size
            and digest(self.path, data, position.size) == position.digest then
            self.temporary:append(data, position.size)
            return
        end
    end
    if position.size > 0 then
        error(string.format('%s: the frames until now are not in %s any more; give another --film '
            .. 'for what comes', position.path, position.temporary), 0)
    end
end

-- Returns in words what is wrong with a position of a checkpoint, or nil; see netcdf.lua.
function film.fault(position)
    return structure.fault(position, { frames = structure.whole, last = structure.number })
end

-- Returns a writer that continues where seal() returned that position.
function film.resume(spec, position)
    local self = new_writer(spec)
    guarded(self, function()
        if shape_of(self) ~= position.shape then
            error(spec.path .. ': its frames have had another size; give another --film for what '
                .. 'comes', 0)
        end
        restore(self, position)
    end)
    self.frames, self.last = position.frames, position.last
    self.is_settled = position.range ~= nil
    return self
end

local function release(self)
    if self.canvas then self.canvas:release() end
    self.canvas = nil
end

-- Completes the film under its final name.
function Writer:close()
    guarded(self, function()
        self.encoder:finish(self.frames):commit()
        release(self)
    end)
end

-- Closes the film. One that is kept stays under its temporary name; others are
-- removed.
function Writer:abort()
    if self.encoder then self.encoder:abort() end
    release(self)
    if self.is_kept then self.temporary:keep() else self.temporary:discard() end
end

return film
