-- Line plots: curves and points over one axis, with a grid and a legend. See
-- image.lua.

local axes = require 'mare.draw.axes'
local cairo = require 'bindings.cairo'
local raster = require 'mare.draw.raster'
local ticks = require 'mare.draw.ticks'

local lines = {}

-- Colours by M. Okabe and K. Ito, which people with every kind of colour vision
-- can distinguish; the last is their black.
local series_colours = { 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, axes.ink }

local row_height = 1.5          -- of the legend, em

-- Returns the range of one coordinate over all series, with a margin at both
-- ends.
function lines.range(series, axis, margin)
    local low, high = math.huge, -math.huge
    for _, one in ipairs(series) do
        local a, b = raster.range(setmetatable({}, { __index = function(_, i)
            return one[axis][i + 1]
        end }), #one[axis])
        if a then low, high = math.min(low, a), math.max(high, b) end
    end
    if low > high then low, high = 0, 1 end
    low, high = ticks.widen(low, high)
    local room = margin * (high - low)
    return { low - room, high + room }
end

function lines.colour(k)
    return series_colours[(k - 1) % #series_colours + 1]
end

-- Returns the radius of points: many points are smaller, so as not to hide each
-- other.
local function point_radius(box, n, em)
    return math.max(0.16 * em, math.min(0.24 * em, box.width / n))
end

local function draw_series(canvas, box, spec, one, em)
    local function place(i)
        local x, y = one.x[i], one.y[i]
        if x - x ~= 0 or y - y ~= 0 then return end
        return axes.place_x(box, spec.xrange, x), axes.place_y(box, spec.yrange, y)
    end
    if one.style == 'line' then
        canvas:curve(#one.x, place, 0.1 * em, one.colour)
        return
    end
    local radius = point_radius(box, #one.x, em)
    for i = 1, #one.x do
        local x, y = place(i)
        if x then canvas:disc(x, y, radius, one.colour) end
    end
end

-- Returns the rows of the legend, { { series, x from the left }, ... } each, as far as there is
-- room for them.
local function legend_rows(measure, series, width, most, em)
    local rows, x = {}, width
    for _, one in ipairs(series) do
        local wanted = 2.3 * em + measure:measure(one.label, em)
        if one.label ~= '' and wanted <= width then
            if x + wanted > width then
                if #rows == most then break end
                rows[#rows + 1], x = {}, 0
            end
            table.insert(rows[#rows], { one, x })
            x = x + wanted + 1.7 * em
        end
    end
    return rows
end

-- Draws a row above the box: a sample and the name of every series.
local function legend(canvas, left, base, row, em)
    local y = base - 0.36 * em
    for _, entry in ipairs(row) do
        local one, x = entry[1], left + entry[2]
        if one.style == 'line' then
            canvas:line(x, y, x + 1.8 * em, y, 0.16 * em, one.colour)
        else
            canvas:disc(x + 0.9 * em, y, 0.22 * em, one.colour)
        end
        canvas:text(x + 2.3 * em, base, one.label, em, axes.ink, 0)
    end
end

-- Returns the ticks of an axis and their common power of ten.
local function marks_of(measure, spec, axis, pixels, em)
    local range, given = spec[axis .. 'range'], spec[axis .. 'ticks']
    if given then return given, 0 end
    if spec[axis .. 'log'] then return ticks.decades(range[1], range[2], pixels / (5 * em)) end
    if axis == 'y' then return axes.y_ticks(range, pixels, em) end
    return axes.x_ticks(measure, range, pixels, em)
end

local function find_layout(spec, em)
    local measure = cairo.canvas(1, 1, axes.paper)
    local width, height = spec.width, spec.height
    local plot = {}
    plot.y_marks, plot.y_power = marks_of(measure, spec, 'y', 0.75 * height, em)
    plot.x_marks, plot.x_power = marks_of(measure, spec, 'x', 0.85 * width, em)
    local bottom = axes.bottom_room(spec.xlabel, plot.x_power, em)
    local left = axes.side_room(measure, plot.y_marks, spec.ylabel, em)
    plot.legend = legend_rows(measure, spec.series, width - math.ceil(left),
        math.max(1, math.floor(0.2 * height / row_height / em)), em)
    local top = 1 + (spec.title ~= '' and 1.75 or 0) + (plot.y_power ~= 0 and 1.2 or 0)
        + (plot.legend[1] and 0.3 + row_height * #plot.legend or 0)
    plot.box = { x = math.ceil(left), y = math.ceil(top * em) }
    plot.box.width = math.floor(width - left - 1.4 * em)
    plot.box.height = math.floor(height - plot.box.y - bottom)
    measure:release()
    return plot
end

local function draw_notes(canvas, box, spec, em)
    for _, note in ipairs(spec.notes) do
        local x, y = axes.place_x(box, spec.xrange, note.x), axes.place_y(box, spec.yrange, note.y)
        local gap = (1 - 2 * note.align) * 0.6 * em
        canvas:text(x + gap, y + 0.36 * em, note.text, 0.9 * em, axes.ink, note.align)
    end
end

-- Returns the whole picture. spec: as completed by image.lines_spec.
function lines.canvas(spec)
    local width, height = spec.width, spec.height
    local em = math.max(9, math.min(width, 1.6 * height) / 60)
    local line = math.max(1, math.floor(em / 14 + 0.5))
    local canvas = cairo.canvas(width, height, axes.paper, spec.svg)
    local plot = find_layout(spec, em)
    local box = plot.box
    axes.x_grid(canvas, box, spec.xrange, plot.x_marks, line)
    axes.y_grid(canvas, box, spec.yrange, plot.y_marks, line)
    canvas:clipped(box.x, box.y, box.width, box.height, function()
        for _, one in ipairs(spec.series) do draw_series(canvas, box, spec, one, em) end
        draw_notes(canvas, box, spec, em)
    end)
    canvas:outline(box.x, box.y, box.width, box.height, line, axes.soft)
    axes.x_axis(canvas, box, spec.xrange, plot.x_marks, plot.x_power, spec.xlabel, em, line)
    axes.y_axis(canvas, box, spec.yrange, plot.y_marks, plot.y_power, spec.ylabel, em, line)
    axes.title(canvas, box.x, width - 0.5 * em, 1.75 * em, spec.title, em)
    for k, row in ipairs(plot.legend) do
        local base = (spec.title ~= '' and 3.5 or 1.75) + row_height * (k - 1)
        legend(canvas, box.x, base * em, row, em)
    end
    return canvas
end

return lines
