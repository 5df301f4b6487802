-- PNG pictures: a field with axes and colour bar, and line plots. Written to a temporary name and
-- renamed, so a picture under its final name is always whole. Without a font the text is left out.
--
--   local image = require 'mare.output.image'
--   image.field{
--       path = 'kh.png', data = rho, nx = 512, ny = 256,      -- row-major, y up, cdata or 0-based
--       x = { 0, 2 }, y = { 0, 1 },                           -- domain edges
--       title = 'Kelvin-Helmholtz, t = 2.00', label = 'density',  -- label: of the colour bar
--       xlabel = 'x', ylabel = 'y',                           -- with units where there are any
--       colours = 'viridis',          -- viridis | magma | cividis | diverging
--       range = { 0.9, 2.1 },         -- default: of the finite data; symmetric for diverging
--       width = 1200,                 -- pixels of the whole picture, about; the height follows
--   }     -- about: the plot shows whole pixels per cell, or whole cells per pixel, where it can
--   image.lines{
--       path = 'sod.png', title = 'Sod, t = 0.2', xlabel = 'x', ylabel = 'density',
--       series = { { x = xs, y = exact, label = 'exact' },
--                  { x = xs, y = rho, label = 'Mare', style = 'points' } },     -- or 'line'
--       xrange = { 0, 1 }, yrange = nil,                      -- default: that of the data
--       width = 1000, height = 640,
--   }                                 -- x, y: Lua arrays; values that are not finite leave gaps
--   image.check('kh.png')             -- raises now if the picture could not be written later

local cairo = require 'bindings.cairo'
local files = require 'bindings.files'
local colours = require 'mare.colours'
local axes = require 'mare.output.axes'
local raster = require 'mare.output.raster'
local ticks = require 'mare.output.ticks'

local image = {}

-- Sizes that measure text before the picture's own size is known use this canvas.
local function ruler()
    return cairo.canvas(1, 1, axes.paper)
end

local function fail(spec, ...)
    error(tostring(spec.path) .. ': ' .. string.format(...), 0)
end

local function check_size(spec, name, default, least)
    local value = spec[name] or default
    if not (type(value) == 'number' and value >= least and value <= 16384) then
        fail(spec, '%s = %s, must be %d to 16384 pixels', name, tostring(value), least)
    end
    return math.floor(value)
end

local function check_range(spec, name, range)
    local low, high = range[1], range[2]
    if not (low and high and low - low == 0 and high - high == 0 and low < high) then
        fail(spec, '%s must be { low, high } with low < high, both finite', name)
    end
    return { low, high }
end

local function write(canvas, path)
    local temporary = files.temporary(path)
    canvas:write_png(temporary.name, path)
    canvas:release()
    temporary:commit()
end

-- ---- fields ----

local function value_range(spec)
    if spec.range then return check_range(spec, 'range', spec.range) end
    local low, high = raster.range(spec.data, spec.nx * spec.ny)
    if not low then low, high = 0, 1 end
    if spec.colours == 'diverging' then
        high = math.max(math.abs(low), math.abs(high))
        low = -high
    end
    return { ticks.widen(low, high) }
end

-- Whole pixels per cell, or whole cells per pixel, if that changes the size by less than an eighth.
local function snapped(pixels, cells)
    local ratio = pixels / cells
    local whole = ratio >= 1 and math.floor(ratio + 0.5) or 1 / math.floor(1 / ratio + 0.5)
    local size = math.floor(cells * whole)
    if math.abs(size / pixels - 1) < 0.125 then return size end
    return math.floor(pixels)
end

-- The size in which the domain is drawn: true to scale, unless it is extremely flat or tall.
local function plot_size(spec, width, highest)
    local height = width * (spec.y[2] - spec.y[1]) / (spec.x[2] - spec.x[1])
    if height > highest then
        width, height = math.max(width * highest / height, 0.08 * highest), highest
    end
    local whole = snapped(math.max(width, 16), spec.nx)
    height = math.max(height * whole / width, 0.08 * whole)
    return whole, math.floor(height + 0.5)
end

local bar_gap, bar_width = 1.1, 1.15     -- em

-- Finds the box, the size of the picture and all ticks. Text widths depend on the ticks, these on
-- the size of the box, so it goes round twice.
local function field_layout(spec, em, width)
    local measure = ruler()
    local plot = { width = 0.78 * width, height = 0.6 * width, y_power = 0, bar_power = 0 }
    for _ = 1, 2 do
        plot.x_marks, plot.x_power = axes.x_ticks(measure, spec.x, plot.width, em)
        plot.y_marks, plot.y_power = axes.y_ticks(spec.y, plot.height, em)
        plot.bar_marks, plot.bar_power = axes.y_ticks(spec.range, plot.height, em)
        plot.label_above = measure:measure(spec.label, em) > plot.height
        plot.left = axes.side_room(measure, plot.y_marks, spec.ylabel, em)
        plot.right = (bar_gap + bar_width) * em
            + axes.side_room(measure, plot.bar_marks, plot.label_above and '' or spec.label, em)
        plot.width, plot.height = plot_size(spec, width - plot.left - plot.right, width)
    end
    local titled = spec.title ~= '' or plot.label_above
    local powers = plot.y_power ~= 0 or plot.bar_power ~= 0
    plot.top = (0.9 + (titled and 1.75 or 0) + (powers and 1.2 or 0)) * em
    plot.bottom = axes.bottom_room(spec.xlabel, plot.x_power, em)
    measure:release()
    return plot
end

local function draw_field(canvas, box, spec)
    local map, missing = colours.map(spec.colours), false
    canvas:pixels(box.x, box.y, box.width, box.height, function(pixels, stride)
        raster.resample(spec.data, spec.nx, spec.ny, box.width, box.height, function(row, values)
            missing = raster.colour_row(pixels, row * stride, values, box.width, spec.range[1],
                spec.range[2], map) or missing
        end)
    end)
    return missing
end

local function draw_bar(canvas, bar, map)
    canvas:pixels(bar.x, bar.y, bar.width, bar.height, function(pixels, stride)
        for row = 0, bar.height - 1 do
            local colour = map[math.floor((bar.height - 1 - row) * colours.size / bar.height)]
            for p = 0, bar.width - 1 do pixels[row * stride + p] = colour end
        end
    end)
end

-- Explains the colour of values that are not numbers, below the colour bar.
local function nan_note(canvas, bar, em)
    local y = bar.y + bar.height + 0.9 * em
    canvas:fill_rectangle(bar.x, y, bar.width, math.floor(0.9 * em), colours.nan)
    canvas:text(bar.x + bar.width + 0.62 * em, y + 0.8 * em, 'NaN', em, axes.ink, 0)
end

local function check_field(spec)
    local out = { path = spec.path, data = spec.data, nx = spec.nx, ny = spec.ny,
        title = spec.title or '', label = spec.label or '', xlabel = spec.xlabel or 'x',
        ylabel = spec.ylabel or 'y', colours = spec.colours or 'viridis' }
    for _, name in ipairs { 'nx', 'ny' } do
        local n = spec[name]
        if not (type(n) == 'number' and n >= 1 and n % 1 == 0) then
            fail(spec, '%s = %s, must be a whole number of at least 1', name, tostring(n))
        end
    end
    if not spec.data then fail(spec, 'no data') end
    colours.map(out.colours)
    out.x, out.y = check_range(spec, 'x', spec.x or {}), check_range(spec, 'y', spec.y or {})
    out.range = value_range { path = spec.path, range = spec.range, data = spec.data, nx = spec.nx,
        ny = spec.ny, colours = out.colours }
    return out
end

function image.field(given)
    local spec, width = check_field(given), check_size(given, 'width', 1200, 200)
    local em = math.max(9, width / 66)
    local line = math.max(1, math.floor(em / 14 + 0.5))
    local plot = field_layout(spec, em, width)
    local box = { x = math.ceil(plot.left), y = math.ceil(plot.top), width = plot.width,
        height = plot.height }
    local bar = { x = box.x + box.width + math.floor(bar_gap * em), y = box.y,
        width = math.floor(bar_width * em), height = box.height }
    local canvas = cairo.canvas(math.ceil(plot.left + plot.width + plot.right),
        math.ceil(plot.top + plot.height + plot.bottom), axes.paper)
    local missing = draw_field(canvas, box, spec)
    draw_bar(canvas, bar, colours.map(spec.colours))
    canvas:frame(box.x, box.y, box.width, box.height, line, axes.ink)
    canvas:frame(bar.x, bar.y, bar.width, bar.height, line, axes.ink)
    axes.x_axis(canvas, box, spec.x, plot.x_marks, plot.x_power, spec.xlabel, em, line)
    axes.y_axis(canvas, box, spec.y, plot.y_marks, plot.y_power, spec.ylabel, em, line)
    axes.bar_axis(canvas, bar, spec.range, plot.bar_marks, plot.bar_power,
        plot.label_above and '' or spec.label, em, line)
    local right = canvas.width - 0.5 * em
    if plot.label_above then right = axes.corner_label(canvas, 1.75 * em, spec.label, em) end
    axes.title(canvas, box.x, right, 1.75 * em, spec.title, em)
    if missing then nan_note(canvas, bar, em) end
    write(canvas, spec.path)
end

-- ---- lines ----

-- After M. Okabe and K. Ito: distinct with every kind of colour vision
local series_colours = { 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9 }

-- Range of one coordinate over all series, with a margin on both sides.
local function data_range(series, axis, margin)
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

local function check_series(spec)
    local out = {}
    if type(spec.series) ~= 'table' or #spec.series == 0 then fail(spec, 'no series to draw') end
    for i, one in ipairs(spec.series) do
        if not (one.x and one.y and #one.x == #one.y and #one.x > 0) then
            fail(spec, 'series %d: x and y must be arrays of the same length', i)
        end
        local style = one.style or 'line'
        if style ~= 'line' and style ~= 'points' then
            fail(spec, "series %d: style = %s, must be 'line' or 'points'", i, tostring(style))
        end
        out[i] = { x = one.x, y = one.y, label = one.label or '', style = style,
            colour = one.colour or series_colours[(i - 1) % #series_colours + 1] }
    end
    return out
end

local function check_lines(spec)
    local out = { path = spec.path, title = spec.title or '', xlabel = spec.xlabel or '',
        ylabel = spec.ylabel or '', series = check_series(spec) }
    out.xrange = spec.xrange and check_range(spec, 'xrange', spec.xrange)
        or data_range(out.series, 'x', 0)
    out.yrange = spec.yrange and check_range(spec, 'yrange', spec.yrange)
        or data_range(out.series, 'y', 0.06)
    return out
end

local function draw_series(canvas, box, spec, one, em)
    local function place(i)
        local x, y = one.x[i], one.y[i]
        if x - x ~= 0 or y - y ~= 0 then return end
        return axes.place_x(box, spec.xrange, x), axes.place_y(box, spec.yrange, y)
    end
    if one.style == 'line' then
        canvas:curve(#one.x, place, 0.13 * em, one.colour)
        return
    end
    for i = 1, #one.x do
        local x, y = place(i)
        if x then canvas:disc(x, y, 0.22 * em, one.colour) end
    end
end

-- One row above the box: sample and name of every series that has one.
local function legend(canvas, x, base, series, em)
    local y = base - 0.36 * em
    for _, one in ipairs(series) do
        if one.label ~= '' then
            if one.style == 'line' then
                canvas:line(x, y, x + 1.8 * em, y, 0.16 * em, one.colour)
            else
                canvas:disc(x + 0.9 * em, y, 0.26 * em, one.colour)
            end
            canvas:text(x + 2.3 * em, base, one.label, em, axes.ink, 0)
            x = x + 4 * em + canvas:measure(one.label, em)
        end
    end
end

local function has_labels(series)
    for _, one in ipairs(series) do
        if one.label ~= '' then return true end
    end
    return false
end

local function lines_layout(spec, em, width, height)
    local measure = ruler()
    local plot = { legend = has_labels(spec.series) }
    plot.y_marks, plot.y_power = axes.y_ticks(spec.yrange, 0.75 * height, em)
    plot.x_marks, plot.x_power = axes.x_ticks(measure, spec.xrange, 0.85 * width, em)
    local top = 1 + (spec.title ~= '' and 1.75 or 0) + (plot.legend and 1.8 or 0)
        + (plot.y_power ~= 0 and 1.2 or 0)
    local bottom = axes.bottom_room(spec.xlabel, plot.x_power, em)
    local left = axes.side_room(measure, plot.y_marks, spec.ylabel, em)
    plot.box = { x = math.ceil(left), y = math.ceil(top * em) }
    plot.box.width = math.floor(width - left - 1.4 * em)
    plot.box.height = math.floor(height - plot.box.y - bottom)
    measure:release()
    return plot
end

function image.lines(given)
    local spec = check_lines(given)
    local width = check_size(given, 'width', 1000, 200)
    local height = check_size(given, 'height', math.floor(0.62 * width), 150)
    local em = math.max(9, math.min(width, 1.6 * height) / 60)
    local line = math.max(1, math.floor(em / 14 + 0.5))
    local canvas = cairo.canvas(width, height, axes.paper)
    local plot = lines_layout(spec, em, width, height)
    local box = plot.box
    axes.x_grid(canvas, box, spec.xrange, plot.x_marks, line)
    axes.y_grid(canvas, box, spec.yrange, plot.y_marks, line)
    canvas:clipped(box.x, box.y, box.width, box.height, function()
        for _, one in ipairs(spec.series) do draw_series(canvas, box, spec, one, em) end
    end)
    canvas:frame(box.x, box.y, box.width, box.height, line, axes.soft)
    axes.x_axis(canvas, box, spec.xrange, plot.x_marks, plot.x_power, spec.xlabel, em, line)
    axes.y_axis(canvas, box, spec.yrange, plot.y_marks, plot.y_power, spec.ylabel, em, line)
    axes.title(canvas, box.x, width - 0.5 * em, 1.75 * em, spec.title, em)
    if plot.legend then
        legend(canvas, box.x, (spec.title ~= '' and 3.5 or 1.75) * em, spec.series, em)
    end
    write(canvas, spec.path)
end

-- Raises now what field{} or lines{} would raise later because of the path or a missing library.
function image.check(path)
    cairo.version()
    files.check(path)
end

return image
