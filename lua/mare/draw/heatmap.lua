-- Draws tables of numbers as coloured squares: rows of panels that share their
-- axes. Each square shows its value; the best one of each panel is framed.

local axes = require 'mare.draw.axes'
local cairo = require 'bindings.cairo'
local colours = require 'mare.draw.colours'
local errors = require 'bindings.errors'

local heatmap = {}

local em = 13
local cell = { width = 58, height = 26 }
local margin = { left = 78, top = 40, between = 40, below = 62 }
local light = 0xffffff

-- Returns the width of every panel: of its squares, or of the longest label.
local function panel_width(spec)
    local width, measure = #spec.x * cell.width, cairo.canvas(1, 1, axes.paper)
    for _, row in ipairs(spec.rows) do
        for _, panel in ipairs(row) do
            width = math.max(width, math.ceil(measure:measure(panel.label, em)))
        end
    end
    measure:release()
    return width
end

-- Returns the lowest and the highest value of a panel.
local function range_of(panel)
    local low, high = math.huge, -math.huge
    for _, row in ipairs(panel.values) do
        for i = 1, panel.columns do
            local value = row[i]
            if value then low, high = math.min(low, value), math.max(high, value) end
        end
    end
    return low, high
end

local function fill(canvas, x, y, value, low, high, map, format)
    if not value then
        canvas:fill_rectangle(x, y, cell.width, cell.height, axes.grid)
        return
    end
    local share = high > low and (value - low) / (high - low) or 1
    canvas:fill_rectangle(x, y, cell.width, cell.height, map[math.floor(share * 255 + 0.5)])
    canvas:text(x + cell.width / 2, y + cell.height / 2 + 0.35 * em, format:format(value), em,
        share < 0.6 and light or axes.ink, 0.5)
end

-- Draws a panel with its upper left corner at x, y. panel: { label, values =
-- rows (top first) of columns, format = '%.0f', best = 'high', 'low' or nil }.
local function draw_panel(canvas, spec, panel, x, y, map)
    local low, high = range_of(panel)
    canvas:text(x, y - 0.5 * em, panel.label, em, axes.ink, 0)
    for j, row in ipairs(panel.values) do
        for i = 1, #spec.x do
            fill(canvas, x + (i - 1) * cell.width, y + (j - 1) * cell.height, row[i], low, high,
                map, panel.format or '%.0f')
        end
    end
    local best = panel.best == 'high' and high or panel.best == 'low' and low
    for j, row in ipairs(panel.values) do
        for i = 1, #spec.x do
            if best and row[i] == best then
                canvas:outline(x + (i - 1) * cell.width + 2, y + (j - 1) * cell.height + 2,
                    cell.width - 4, cell.height - 4, 2, 0xd01c1c)
            end
        end
    end
    for i, text in ipairs(spec.x) do
        canvas:text(x + (i - 0.5) * cell.width, y + #spec.y * cell.height + 1.2 * em, text, em,
            axes.soft, 0.5)
    end
end

local function draw_row(canvas, spec, row, y, width, map)
    for j, text in ipairs(spec.y) do
        canvas:text(margin.left - 0.5 * em, y + (j - 0.5) * cell.height + 0.35 * em, text, em,
            axes.soft, 1)
    end
    canvas:text(margin.left - 4.2 * em, y + #spec.y * cell.height / 2, spec.ylabel, em, axes.soft,
        0.5, -math.pi / 2)
    for k, panel in ipairs(row) do
        local x = margin.left + (k - 1) * (width + margin.between)
        panel.columns = #spec.x
        draw_panel(canvas, spec, panel, x, y, map)
        canvas:text(x + #spec.x * cell.width / 2, y + #spec.y * cell.height + 2.5 * em, spec.xlabel,
            em, axes.soft, 0.5)
    end
end

-- Returns a canvas with the picture. spec: { x, y = texts of the columns and,
-- top first, of the rows, xlabel, ylabel, rows = { { panel, ... }, ... } },
-- with panels as above.
function heatmap.canvas(spec)
    errors.wanted('heatmap', 'table', spec)
    for _, name in ipairs { 'x', 'y', 'rows' } do
        errors.wanted('heatmap: ' .. name, 'table', spec[name])
    end
    local height = #spec.y * cell.height + margin.below + margin.top
    local panels, wide = 0, panel_width(spec)
    for _, row in ipairs(spec.rows) do panels = math.max(panels, #row) end
    local width = margin.left + panels * (wide + margin.between)
    local canvas, map = cairo.canvas(width, #spec.rows * height, axes.paper), colours.map 'viridis'
    for k, row in ipairs(spec.rows) do
        draw_row(canvas, spec, row, (k - 1) * height + margin.top, wide, map)
    end
    return canvas
end

return heatmap
