-- draw.lua - pictures in the terminal. mare.plot(x) draws a field, an array of numbers, a buffer,
-- or curves as image.lines takes them, by what the terminal can show (repl/screen.lua), and returns
-- the picture: p:save 'p.png' writes it as a file, p:draw() shows it again.

local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local image = require 'mare.output.image'
local cells = require 'mare.output.cells'
local pixels = require 'mare.output.pixels'
local screen = require 'mare.repl.screen'

local draw = {}

local Picture = {}
Picture.__index = Picture

local is_quiet = false

-- Kitty and Sixel show the picture that a file would hold, as wide as the terminal allows.
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

-- The picture as text for the terminal.
function Picture:text()
    local how = screen.pictures()
    if how == 'kitty' or how == 'sixel' then return draw_pixels(self, how) end
    local columns, rows = screen.size()
    local style = { columns = math.min(columns, 120), rows = math.max(8, math.min(rows - 4, 40)),
        unicode = how == 'blocks', colour = screen.has_colour(),
        true_colour = screen.has_true_colour() }
    return cells[self.kind](self.spec, style)
end

-- Shows it on standard output.
function Picture:draw()
    io.write(self:text(), '\n')
    io.flush()
    return self
end

-- Writes it into a PNG file.
function Picture:save(path)
    if type(path) ~= 'string' or not path:find '%.png$' then
        errors.argument("picture: save '%s': the name must end in .png", tostring(path))
    end
    image[self.kind](setmetatable({ path = path }, { __index = self.spec }))
    return self
end

-- In a session: what has just been drawn is not shown twice.
function Picture:__show()
    local is_fresh = self.is_fresh
    self.is_fresh = false
    return is_fresh and '' or self:text()
end

function Picture:__tostring()
    return ("picture '%s'"):format(self.spec.title or '')
end

local function new(kind, spec)
    local self = setmetatable({ kind = kind, spec = spec }, Picture)
    if is_quiet then return self end
    self.is_fresh = true
    return self:draw()
end

-- f() without drawing: for a picture that only goes to a file.
function draw.quietly(f)
    local before = is_quiet
    is_quiet = true
    local ok, result = pcall(f)
    is_quiet = before
    if not ok then error(result, 0) end
    return result
end

-- A heat map. spec: as image.field takes it, less path
function draw.field(spec)
    image.figure_spec(setmetatable({ path = 'plot' }, { __index = spec }))
    return new('field', spec)
end

-- Curves. spec: as image.lines takes it, less path
function draw.lines(spec)
    image.lines_spec(setmetatable({ path = 'plot' }, { __index = spec }))
    return new('lines', spec)
end

-- ---- mare.plot(x) ----

local function curve(values, spec)
    local series = { x = {}, y = {} }
    for k, value in ipairs(values) do series.x[k], series.y[k] = k, tonumber(value) or 0 / 0 end
    if #series.x == 0 then errors.argument 'plot: no numbers in it' end
    local full = { series = { series } }
    for key, value in pairs(spec or {}) do full[key] = value end
    return draw.lines(full)
end

-- mare.plot(x [, spec]): x is a field, an array of numbers, a function of numbers from spec.from to
-- spec.to, a buffer, or { series = ... } or { data =, nx =, ny = } as image.lines and image.field
-- take them.
function draw.show(x, spec)
    if type(x) == 'table' and type(x.plot) == 'function' and not handle.kind(x) then
        return x:plot(spec)
    elseif handle.kind(x) == 'buffer' then
        return curve(x:totable(), setmetatable(spec or {}, nil))
    elseif type(x) == 'function' then
        return draw.graph(x, spec or {})
    elseif type(x) ~= 'table' then
        errors.argument('plot: a field, an array, a buffer or a function is wanted, not %s',
            type(x))
    end
    if x.series then return draw.lines(x) end
    if x.data then return draw.field(x) end
    return curve(x, spec)
end

-- The graph of a function between spec.from and spec.to, 0 and 1 if not given.
function draw.graph(f, spec)
    local from, to, n = spec.from or 0, spec.to or 1, spec.points or 200
    local x, y = {}, {}
    for k = 1, n do
        x[k] = from + (k - 1) / (n - 1) * (to - from)
        y[k] = tonumber(f(x[k])) or 0 / 0
    end
    return draw.lines { series = { { x = x, y = y } }, title = spec.title, xlabel = spec.xlabel,
        ylabel = spec.ylabel }
end

return draw
