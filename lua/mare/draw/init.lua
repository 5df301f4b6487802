-- Pictures in the terminal. mare.plot(x) draws a field, an array of numbers, a
-- buffer, or curves in the form of image.lines, with what the terminal supports
-- (screen.lua), and returns the picture: p:save 'p.png' or 'p.svg' writes it to a
-- file, p:draw() shows it again.

local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local files = require 'bindings.files'
local handle = require 'bindings.handle'
local image = require 'mare.draw.image'
local characters = require 'mare.draw.characters'
local memory = require 'bindings.memory'
local pixels = require 'mare.draw.pixels'
local screen = require 'mare.draw.screen'

-- presenter: function(picture) that shows it instead of the terminal, where a notebook
-- has registered one; returns false if it leaves that to who gets the picture
local draw = { presenter = nil }

local Picture = {}
Picture.__index = Picture

-- Kitty and Sixel show the picture that a file would hold, as wide as the
-- terminal allows.
local function draw_pixels(self, how)
    local columns, rows, width, height = screen.size()
    local across = math.floor(math.min(1000, 0.9 * columns * width))
    local highest = 0.9 * rows * height
    local spec = setmetatable({ path = 'picture', width = math.max(200, across) },
        { __index = self.spec })
    if self.kind == 'lines' then spec.height = math.max(150, math.floor(0.5 * across)) end
    local canvas = image[self.kind .. '_canvas'](spec)
    if canvas.height > highest and spec.width * highest / canvas.height >= 200 then
        spec.width = math.floor(spec.width * highest / canvas.height)
        if self.kind == 'lines' then spec.height = math.floor(highest) end
        canvas:release()
        canvas = image[self.kind .. '_canvas'](spec)
    end
    local text = pixels[how](canvas)
    canvas:release()
    return text
end

-- Returns the picture as text for the terminal.
function Picture:text()
    local how = screen.pictures()
    if how == 'kitty' or how == 'sixel' then return draw_pixels(self, how) end
    local columns, rows = screen.size()
    local style = { columns = math.min(columns, 120), rows = math.max(8, math.min(rows - 4, 40)),
        unicode = how == 'blocks', colour = screen.has_colour(),
        true_colour = screen.has_true_colour() }
    return characters[self.kind](self.spec, style)
end

-- Shows the picture on standard output, or in a notebook.
function Picture:draw()
    local is_shown = nil
    if draw.presenter then
        is_shown = draw.presenter(self)
    else
        events.tell('answer', { message = self:text() })
        io.flush()
    end
    self.is_fresh = is_shown ~= false
    return self
end

-- Returns write(canvas, name of a file) of the picture as bytes, for a description with `more`.
local function bytes(self, more, write)
    local spec = setmetatable(more, { __index = self.spec })
    spec.path, spec.width = 'picture', self.spec.width or 800
    local canvas = image[self.kind .. '_canvas'](spec)
    local ok, data = pcall(write, canvas)
    canvas:release()
    if not ok then error(data, 0) end
    return data
end

-- Returns the picture as the bytes of a PNG file.
function Picture:png() return bytes(self, {}, pixels.png) end

-- Returns the picture as the text of an SVG file; a field in it is made of pixels.
function Picture:svg()
    local name = os.tmpname()
    local ok, text = pcall(bytes, self, { svg = name }, function(canvas)
        canvas:finish 'picture'
        return files.read(name)
    end)
    os.remove(name)
    if not ok then error(text, 0) end
    return text
end

local most_points = 5000        -- of curves that a notebook also gets as SVG

local function is_small(self)
    local count = 0
    for _, one in ipairs(self.kind == 'lines' and self.spec.series or {}) do
        count = count + #one.x
    end
    return count > 0 and count <= most_points
end

function Picture:__mime()
    return { ['image/png'] = self:png(), ['text/plain'] = tostring(self),
        ['image/svg+xml'] = is_small(self) and self:svg() or nil }
end

-- Writes the picture to a PNG or an SVG file, as the end of its name says.
function Picture:save(path)
    local ending = type(path) == 'string' and path:match '%.(%a+)$'
    if ending == 'png' then
        image[self.kind](setmetatable({ path = path }, { __index = self.spec }))
    elseif ending == 'svg' then
        local file = files.temporary(path)
        file:append(self:svg())
        file:commit()
    else
        errors.argument("picture: save '%s': the name must end in .png or .svg", tostring(path))
    end
    return self
end

-- In a session, a picture that was drawn just now is not shown again.
function Picture:__show()
    local is_fresh = self.is_fresh
    self.is_fresh = false
    return is_fresh and '' or self:text()
end

function Picture:__tostring()
    return ("picture '%s'"):format(self.spec.title or '')
end

-- Returns a heat map, not drawn yet. spec: as for image.field, without path.
function draw.field(spec)
    image.figure_spec(setmetatable({ path = 'plot' }, { __index = spec }))
    return setmetatable({ kind = 'field', spec = spec }, Picture)
end

-- Returns curves, not drawn yet. spec: as for image.lines, without path.
function draw.lines(spec)
    image.lines_spec(setmetatable({ path = 'plot' }, { __index = spec }))
    return setmetatable({ kind = 'lines', spec = spec }, Picture)
end

-- ---- mare.plot(x) ----

local function merged(base, spec)
    for key, value in pairs(spec or {}) do base[key] = value end
    return base
end

local function curve(values, spec)
    local series = { x = {}, y = {} }
    for k, value in ipairs(values) do series.x[k], series.y[k] = k, tonumber(value) or 0 / 0 end
    if #series.x == 0 then errors.argument 'plot: no numbers in it' end
    return draw.lines(merged({ series = { series } }, spec))
end

local function graph(f, spec)
    local from, to, n = spec.from or 0, spec.to or 1, spec.points or 200
    local series = { x = {}, y = {} }
    for k = 1, n do
        series.x[k] = from + (k - 1) / (n - 1) * (to - from)
        series.y[k] = tonumber(f(series.x[k])) or 0 / 0
    end
    return draw.lines(merged({ series = { series } }, spec))
end

-- Returns the numbers of a buffer or a C array as a Lua array; nil for anything
-- else.
local function numbers_of(x)
    if handle.kind(x) == 'buffer' then return x:totable() end
    local ok, name, n = pcall(memory.elements, x)
    if not (ok and name) then return nil end
    local values = {}
    for k = 1, n do values[k] = tonumber(x[k - 1]) end
    return values
end

local function picture_of(x, spec)
    local numbers = numbers_of(x)
    if numbers then return curve(numbers, spec) end
    if type(x) == 'function' then return graph(x, spec or {}) end
    if type(x) ~= 'table' then
        errors.argument('plot: a field, an array, a buffer or a function is wanted, not %s',
            type(x))
    end
    if x.series then return draw.lines(x) end
    if x.data then return draw.field(x) end
    return curve(x, spec)
end

-- mare.plot(x [, spec]): draws x, which is a field, an array of numbers, a
-- buffer, a function of numbers from spec.from to spec.to, or { series = ... }
-- or { data =, nx =, ny = } in the form of image.lines and image.field.
function draw.show(x, spec)
    if type(x) == 'table' and not handle.kind(x) and type(x.plot) == 'function' then
        return x:plot(spec)
    end
    local ok, plot = pcall(function() return type(x) == 'cdata' and x.plot end)
    if ok and type(plot) == 'function' then return x:plot(spec) end      -- an array of mare.array
    return picture_of(x, spec):draw()
end

return draw
