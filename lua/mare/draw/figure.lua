-- The picture of a field without the field's pixels: axes, colour bar, title,
-- the explanation of arrows, and the box for the pixels. It depends on plain
-- values only, so a thread that receives these values draws the same frame.
-- Distances are in em, the font size.

local arrows = require 'mare.draw.arrows'
local axes = require 'mare.draw.axes'
local cairo = require 'bindings.cairo'
local colours = require 'mare.draw.colours'
local contours = require 'mare.draw.contours'
local tables = require 'bindings.tables'

local figure = {}

local Figure = {}
Figure.__index = Figure

-- Returns a size with whole pixels per cell, or whole cells per pixel, if it
-- differs by less than an eighth.
local function snapped(pixels, cells)
    local ratio = pixels / cells
    local whole = ratio >= 1 and math.floor(ratio + 0.5) or 1 / math.floor(1 / ratio + 0.5)
    local size = math.floor(cells * whole)
    if math.abs(size / pixels - 1) < 0.125 then return size end
    return math.floor(pixels)
end

-- Returns the size of the domain in pixels: true to scale, unless a shape is given or it is
-- extremely flat or tall.
local function plot_size(spec, width, highest)
    local height = width * (spec.shape or (spec.y[2] - spec.y[1]) / (spec.x[2] - spec.x[1]))
    if height > highest then
        width, height = math.max(width * highest / height, 0.08 * highest), highest
    end
    local whole = snapped(math.max(width, 16), spec.nx)
    height = math.max(height * whole / width, 0.08 * whole)
    return whole, math.floor(height + 0.5)
end

local bar_gap, bar_width = 1.1, 1.15     -- em
local longest_marks = { { label = '−0.0000' } }
local title_base, title_room, last_base = 1.75, 1.75, 0.86     -- em; last: above the lower edge

-- Finds the box, the size of the picture and all ticks. The widths of texts
-- depend on the ticks, which depend on the size of the box, so two passes are
-- made.
-- A range that is widened during a film leaves room for longer ticks.
local function find_layout(spec, em, width)
    local measure = cairo.canvas(1, 1, axes.paper)
    local plot = { width = 0.78 * width, height = 0.6 * width, y_power = 0, bar_power = 0 }
    for _ = 1, 2 do
        plot.x_marks, plot.x_power = axes.x_ticks(measure, spec.x, plot.width, em)
        plot.y_marks, plot.y_power = axes.y_ticks(spec.y, plot.height, em)
        plot.bar_marks, plot.bar_power = axes.y_ticks(spec.range, plot.height, em)
        plot.label_above = measure:measure(spec.label, em) > plot.height
        plot.left = axes.side_room(measure, plot.y_marks, spec.ylabel, em)
        plot.right = (bar_gap + bar_width) * em
            + axes.side_room(measure, spec.is_widened and longest_marks or plot.bar_marks,
                plot.label_above and '' or spec.label, em)
        plot.width, plot.height = plot_size(spec, width - plot.left - plot.right, width)
    end
    local titled = spec.title ~= '' or plot.label_above
    local powers = plot.y_power ~= 0 or plot.bar_power ~= 0 or spec.is_widened
    plot.top = (0.9 + (titled and title_room or 0) + (powers and 1.2 or 0)) * em
    plot.bottom = axes.bottom_room(spec.xlabel, plot.x_power, em)
    measure:release()
    return plot
end

local function even(pixels)
    return 2 * math.ceil(pixels / 2)
end

-- spec: { nx, ny = cells, x, y = ranges, range, colours, title, label, xlabel,
-- ylabel, width = about, missing = { colour, label }, is_widened = whether the
-- range will be another, shape }; see image.lua. All but the last two are required. The
-- picture has even numbers of pixels, as films require.
function figure.new(spec)
    local em = math.max(9, spec.width / 66)
    local plot = find_layout(spec, em, spec.width)
    local box = { x = math.ceil(plot.left), y = math.ceil(plot.top), width = plot.width,
        height = plot.height }
    return setmetatable({
        spec = spec, plot = plot, em = em, line = math.max(1, math.floor(em / 14 + 0.5)),
        box = box, bar = { x = box.x + box.width + math.floor(bar_gap * em), y = box.y,
            width = math.floor(bar_width * em), height = box.height },
        width = even(plot.left + plot.width + plot.right),
        height = even(plot.top + plot.height + plot.bottom), map = colours.map(spec.colours),
    }, Figure)
end

-- Returns the same figure with another range of the colour bar.
function Figure:with_range(range)
    local other, plot = setmetatable(tables.merged(self), Figure), tables.merged(self.plot)
    other.spec, other.plot = tables.merged(self.spec), plot
    other.spec.range = range
    plot.bar_marks, plot.bar_power = axes.y_ticks(range, plot.height, self.em)
    return other
end

local function draw_bar(self, canvas)
    local bar, map = self.bar, self.map
    canvas:pixels(bar.x, bar.y, bar.width, bar.height, function(pixels, stride)
        for row = 0, bar.height - 1 do
            local colour = map[math.floor((bar.height - 1 - row) * colours.size / bar.height)]
            for p = 0, bar.width - 1 do pixels[row * stride + p] = colour end
        end
    end)
end

-- Returns a canvas with everything that does not change during a film.
function Figure:canvas()
    local canvas = cairo.canvas(self.width, self.height, axes.paper, self.spec.svg)
    local spec, plot, box, bar = self.spec, self.plot, self.box, self.bar
    local em, line = self.em, self.line
    draw_bar(self, canvas)
    canvas:outline(box.x, box.y, box.width, box.height, line, axes.ink)
    canvas:outline(bar.x, bar.y, bar.width, bar.height, line, axes.ink)
    axes.x_axis(canvas, box, spec.x, plot.x_marks, plot.x_power, spec.xlabel, em, line)
    axes.y_axis(canvas, box, spec.y, plot.y_marks, plot.y_power, spec.ylabel, em, line)
    axes.bar_axis(canvas, bar, spec.range, plot.bar_marks, plot.bar_power,
        plot.label_above and '' or spec.label, em, line)
    self.title_end = self.width - 0.5 * em
    if plot.label_above then
        self.title_end = axes.corner_label(canvas, title_base * em, spec.label, em)
    end
    return canvas
end

-- Draws the title over an earlier one.
function Figure:title(canvas, text)
    local em = self.em
    if text == '' then return end
    canvas:fill_rectangle(0, 0, self.title_end, math.floor(2.25 * em), axes.paper)
    axes.title(canvas, self.box.x, self.title_end, title_base * em, text, em)
end

-- Explains the colour of missing values below the colour bar.
function Figure:missing_note(canvas)
    local bar, em, missing = self.bar, self.em, self.spec.missing
    local base = self.height - last_base * em
    local top = math.floor(base - em)
    canvas:fill_rectangle(bar.x, top, self.width - bar.x, self.height - top, axes.paper)
    canvas:fill_rectangle(bar.x, math.floor(base - 0.8 * em), bar.width, math.floor(0.9 * em),
        missing.colour)
    canvas:text(bar.x + bar.width + 0.62 * em, base, missing.label, em, axes.ink, 0)
end

-- ---- on top of the pixels ----

-- Returns every so many cells of the field as { i0, j0, nx, ny, step },
-- centred, for things that need `pixels` of room each.
function Figure:thinned(pixels)
    local spec = self.spec
    local step = math.max(1, math.ceil(pixels * spec.nx / self.box.width - 1e-9))
    local i0, j0 = math.floor(math.min(step, spec.nx) / 2), math.floor(math.min(step, spec.ny) / 2)
    if step == 1 then i0, j0 = 0, 0 end
    return { i0 = i0, j0 = j0, step = step, nx = math.floor((spec.nx - 1 - i0) / step) + 1,
        ny = math.floor((spec.ny - 1 - j0) / step) + 1 }
end

function Figure:contour_cells() return self:thinned(1) end
function Figure:arrow_cells() return self:thinned(2.6 * self.em) end

-- Returns a function from samples of `cells` to pixels.
local function placing(self, cells)
    local box, spec = self.box, self.spec
    return function(i, j)
        return box.x + (cells.i0 + i * cells.step + 0.5) / spec.nx * box.width,
            box.y + box.height - (cells.j0 + j * cells.step + 0.5) / spec.ny * box.height
    end
end

local function clipped(self, canvas, draw)
    local box = self.box
    canvas:clipped(box.x, box.y, box.width, box.height, draw)
end

-- Draws contour lines. data: at contour_cells(). wanted: levels, or their
-- number. range: of the values. is_ground: whether the pixels show the same
-- field. period: set if the data are angles.
function Figure:contours(canvas, data, wanted, range, is_ground, period)
    local cells = self:contour_cells()
    clipped(self, canvas, function()
        contours.draw(canvas, { data = data, nx = cells.nx, ny = cells.ny,
            place = placing(self, cells), range = range, map = is_ground and self.map,
            period = period,
            levels = contours.levels(wanted, range, period) }, self.em)
    end)
end

-- Draws discs. list: { { x =, y = in units of the axes, colour =, size = in em
-- (0.3) }, ... }
function Figure:marks(canvas, list)
    local box, spec, em = self.box, self.spec, self.em
    clipped(self, canvas, function()
        for _, mark in ipairs(list) do
            local x = box.x + (mark.x - spec.x[1]) / (spec.x[2] - spec.x[1]) * box.width
            local y = box.y + (spec.y[2] - mark.y) / (spec.y[2] - spec.y[1]) * box.height
            local size = (mark.size or 0.3) * em
            canvas:disc(x, y, size + 0.1 * em, axes.paper)
            canvas:disc(x, y, size, mark.colour)
        end
    end)
end

-- Draws lines with a disc at the end of each. list: { { x = array, y = array in
-- units of the axes, colour = }, ... }. A line that jumps by half of the domain
-- has crossed a periodic side.
function Figure:tracks(canvas, list)
    local box, spec, em = self.box, self.spec, self.em
    clipped(self, canvas, function()
        for _, track in ipairs(list) do
            local n, last_x, last_y = #track.x, nil, nil
            for k = 1, n do
                local x = box.x + (track.x[k] - spec.x[1]) / (spec.x[2] - spec.x[1]) * box.width
                local y = box.y + (spec.y[2] - track.y[k]) / (spec.y[2] - spec.y[1]) * box.height
                local is_near = last_x and math.abs(x - last_x) < 0.5 * box.width
                    and math.abs(y - last_y) < 0.5 * box.height
                if is_near then canvas:line(last_x, last_y, x, y, 0.08 * em, track.colour) end
                last_x, last_y = x, y
            end
            if n > 0 then canvas:disc(last_x, last_y, 0.16 * em, track.colour) end
        end
    end)
end

-- Draws arrows; u, v: at arrow_cells(). One arrow is explained below the box,
-- over an earlier explanation.
function Figure:arrows(canvas, u, v, unit, reference)
    local cells, em, box = self:arrow_cells(), self.em, self.box
    local scale, value = arrows.scale(u, v, cells.nx * cells.ny, reference, em)
    local base = self.height - last_base * em
    local label_begins = box.x + (box.width - canvas:measure(self.spec.xlabel, em)) / 2
    canvas:fill_rectangle(0, base - em, label_begins - 0.2 * em, 1.7 * em, axes.paper)
    if not scale then return end
    clipped(self, canvas, function()
        arrows.draw(canvas, { u = u, v = v, nx = cells.nx, ny = cells.ny,
            place = placing(self, cells) }, scale, em)
    end)
    arrows.explain(canvas, box.x, base, value, scale, unit, em)
end

return figure
