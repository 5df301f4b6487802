-- What a filter makes of a picture, beside its spectrum: as a picture, as frames of a film, and in
-- the terminal, where keys change the filter.

local cairo = require 'bindings.cairo'
local creation = require 'mare.ndarray.creation'
local draw = require 'mare.draw'
local events = require 'mare.base.events'
local film = require 'mare.draw.film'
local image = require 'mare.draw.image'
local memory = require 'bindings.memory'
local terminal = require 'bindings.terminal'

local shown = {}

local Shown = {}
Shown.__index = Shown

local rate = 20             -- frames of a film per second
local grey = 0x010101

-- Returns what shows pictures of these sizes.
function shown.new(width, height, device)
    local both = creation.zeros({ height, 2 * width }, { device = device, type = 'uint32' })
    return setmetatable({ width = width, height = height, both = both:copy():eval(),
        pixels = memory.array('uint32', 2 * width * height) }, Shown)
end

-- Returns the pixels of a picture and, on its right, the spectrum: a C array of 0xRRGGBB.
function Shown:pixels_of(picture, spectrum)
    local width = self.width
    self.both { {}, { 0, width } }:assign(picture:to 'uint32' * grey)
    self.both { {}, { width, 2 * width } }:assign(spectrum:to 'uint32' * grey)
    self.both:buffer():download { into = self.pixels }
    return self.pixels
end

function Shown:save(path, picture, spectrum)
    local pixels, width, height = self:pixels_of(picture, spectrum), 2 * self.width, self.height
    local canvas = cairo.canvas(width, height, 0)
    canvas:pixels(0, 0, width, height, function(to, stride)
        for row = 0, height - 1 do
            for k = 0, width - 1 do to[row * stride + k] = pixels[row * width + k] end
        end
    end)
    image.write(canvas, path)
end

-- Returns the writer of a film.
function Shown:film(path)
    film.check(path)
    return film.writer { path = path, rate = rate, bare = { width = 2 * self.width,
        height = self.height, colours = 'grey', missing = 0x000000 } }
end

function Shown:add(writer, k, picture, spectrum)
    local pixels = self:pixels_of(picture, spectrum)
    writer:write(k / rate, function() return pixels end)
end

-- ---- keys ----

local turn, ratio = 5, 1.1      -- degrees; of widths

local keys = {
    ['\27[C'] = function(g) g.angle = (g.angle + turn) % 360 end,
    ['\27[D'] = function(g) g.angle = (g.angle - turn) % 360 end,
    ['\27[A'] = function(g) g.widths[2] = g.widths[2] * ratio end,
    ['\27[B'] = function(g) g.widths[2] = g.widths[2] / ratio end,
    ['+'] = function(g) for k = 1, 2 do g.widths[k] = g.widths[k] * ratio end end,
    ['-'] = function(g) for k = 1, 2 do g.widths[k] = g.widths[k] / ratio end end,
}

-- Changes a Gaussian as a text of typed keys wants. Returns false at q.
function shown.press(text, gauss)
    while text ~= '' do
        local key = text:match '^\27%[.' or text:sub(1, 1)
        if key == 'q' then return false end
        if keys[key] then keys[key](gauss) end
        text = text:sub(#key + 1)
    end
    return true
end

-- Shows what filtered() returns, a picture, a spectrum, and whether other pictures follow: again
-- after each key, or after `pause` milliseconds (nil: those of a film) where others follow, until
-- q or the end of input.
function Shown:by_keys(gauss, filtered, pause)
    local is_first = true
    local function step()
        local picture, spectrum, has_more = filtered()
        self:pixels_of(picture, spectrum)
        local text = draw.field { data = (self.both % 256):float():flip(0):data(),
            nx = 2 * self.width, ny = self.height, range = { 0, 255 }, colours = 'grey',
            x = { 0, 2 * self.width }, y = { 0, self.height },
            title = ('widths %.3g, %.3g, angle %g'):format(gauss.widths[1], gauss.widths[2],
            gauss.angle) }:text()
        events.tell('answer', { message = (is_first and '\27[2J\27[H' or '\27[H') .. text })
        is_first = false
        return has_more
    end
    terminal.by_keys(function()
        repeat
            local has_more = step()
            terminal.ahead = ''
            local text, is_over = terminal.look_ahead(has_more and (pause or 1000 / rate) or -1)
            terminal.ahead = ''
        until is_over or not shown.press(text, gauss)
    end)
end

return shown
