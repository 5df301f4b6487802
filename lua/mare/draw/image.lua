-- PNG pictures: a field with axes and colour bar, and line plots. A picture is
-- written under a temporary name and renamed, so its final name always holds a
-- complete picture. If no font is installed, texts are left out.
--
--   local image = require 'mare.draw.image'
--   image.field{
--       path = 'kh.png', data = rho, nx = 512, ny = 256,      -- row-major, y up, cdata or 0-based
--       x = { 0, 2 }, y = { 0, 1 },                           -- domain edges
--       title = 'Kelvin-Helmholtz, t = 2.00', label = 'density',  -- label: of the colour bar
--       xlabel = 'x', ylabel = 'y',                           -- with units, if there are any
--       shape = 0.6,                  -- height over width, of axes with different units; default:
--                                     -- that of the domain
--       colours = 'viridis',          -- viridis | magma | cividis | diverging
--       range = { 0.9, 2.1 },         -- default: of the finite data; symmetric for diverging
--       missing = { colour = 0xb4aca0, label = 'land' },      -- how NaN is shown
--       contours = 8,                 -- about how many levels, or an array of them; of the field,
--       contour_data = phase,         -- or of these data,
--       contour_period = 360,         -- which may be angles: no lines are drawn where they jump
--       vectors = { u = u, v = v, unit = 'm s-1', reference = 0.5 },    -- reference: value of the
--                                     -- arrow that is explained; default: a round one
--       marks = { { x = 4, y = 52, colour = 0xd55e00, size = 0.3 } },   -- discs; size in em
--       tracks = { { x = xs, y = ys, colour = 0xd55e00 } },   -- lines, with a disc at their end
--       width = 1200,                 -- pixels of the whole picture, about; the height follows
--   }     -- about: if possible, the plot shows whole pixels per cell or whole cells per pixel
--   image.lines{
--       path = 'sod.png', title = 'Sod, t = 0.2', xlabel = 'x', ylabel = 'density',
--       series = { { x = xs, y = exact, label = 'exact' },
--                  { x = xs, y = rho, label = 'Mare', style = 'points' } },     -- or 'line'
--       xrange = { 0, 1 }, yrange = nil,                      -- default: that of the data
--       xlog = true, ylog = true,     -- logarithmic axes: values not above 0 leave a gap
--       xticks = { 1, 2, 4 }, yticks = { { 1, 'first' }, { 2, 'second' } },    -- what is marked,
--                                     -- with texts; default: round numbers
--       notes = { { x = 0.5, y = 1, text = 'contact', align = 1 } },    -- beside a point: to its
--                                     -- right (align = 0) or left (1)
--       width = 1000, height = 640,
--   }                                 -- x, y: Lua arrays; values that are not finite leave gaps
--   image.panels { path = 'sea.png', panels = { eta, speed } }   -- each as for field, without path
--   image.check('kh.png')             -- raises an error if the picture cannot be written later

local axes = require 'mare.draw.axes'
local cairo = require 'bindings.cairo'
local colours = require 'mare.draw.colours'
local errors = require 'bindings.errors'
local figure = require 'mare.draw.figure'
local files = require 'bindings.files'
local lines = require 'mare.draw.lines'
local paths = require 'mare.base.paths'
local raster = require 'mare.draw.raster'
local ticks = require 'mare.draw.ticks'

local image = {}

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

-- Writes a canvas as PNG and releases it.
function image.write(canvas, path)
    local temporary = files.temporary(path)
    canvas:write_png(temporary.name, path)
    canvas:release()
    temporary:commit()
end

-- ---- fields ----

-- The noise of a constant field in single precision, relative to its values.
local rounding = 2 ^ -20

-- Returns the range in which n values are shown if no range is given. Values that differ by no
-- more than rounding count as equal.
function image.range(data, n, colour_map)
    local low, high = raster.range(data, n)
    if not low then low, high = 0, 1 end
    if colour_map == 'diverging' then
        high = math.max(math.abs(low), math.abs(high))
        low = -high
    elseif low == 0 and high == 0 then
        return { 0, 1 }
    end
    return { ticks.widen(low, high, rounding) }
end

-- The share of its width by which a range is widened more than it must be.
local foresight = 0.1

-- Returns the range of the next frame of a film whose range is not given: `range`, that of the
-- frames before it, as long as the n values are within it, else a wider one: an end that gives way
-- goes a tenth of the width beyond the values, so that this is rare, but not from above 0 to below.
-- nil as long as all values of all frames were equal.
function image.widened(range, data, n, colour_map)
    local low, high = raster.range(data, n)
    if not low then return range end
    if not range then
        local is_constant = high - low <= rounding * math.max(math.abs(low), math.abs(high))
        return not is_constant and image.range(data, n, colour_map) or nil
    end
    local new = { math.min(low, range[1]), math.max(high, range[2]) }
    local more = foresight * (new[2] - new[1])
    if low < range[1] then new[1] = low >= 0 and math.max(0, low - more) or low - more end
    if high > range[2] then new[2] = high <= 0 and math.min(0, high + more) or high + more end
    if colour_map ~= 'diverging' then return new end
    local size = math.max(-new[1], new[2])
    return { -size, size }
end

-- Returns a description with everything that figure.new requires; defaults are
-- filled in. Raises an error if something is wrong.
function image.figure_spec(spec)
    errors.wanted('picture', 'table', spec)
    for _, name in ipairs { 'nx', 'ny' } do
        local n = spec[name]
        if not (type(n) == 'number' and n >= 1 and n % 1 == 0) then
            fail(spec, '%s = %s, must be a whole number of at least 1', name, tostring(n))
        end
    end
    local missing = spec.missing or {}
    local out = { path = spec.path, nx = spec.nx, ny = spec.ny, title = spec.title or '',
        label = spec.label or '', xlabel = spec.xlabel or 'x', ylabel = spec.ylabel or 'y',
        colours = spec.colours or 'viridis', width = check_size(spec, 'width', 1200, 200),
        missing = { colour = missing.colour or colours.nan, label = missing.label or 'NaN' } }
    colours.map(out.colours)
    out.x, out.y = check_range(spec, 'x', spec.x or {}), check_range(spec, 'y', spec.y or {})
    out.is_widened, out.svg, out.shape = spec.is_widened, spec.svg, spec.shape
    if out.shape and not (tonumber(out.shape) and out.shape >= 0.05 and out.shape <= 20) then
        fail(spec, 'shape = %s, must be a number from 0.05 to 20', tostring(out.shape))
    end
    out.range = spec.range and check_range(spec, 'range', spec.range)
        or image.range(spec.data or fail(spec, 'no data'), spec.nx * spec.ny, out.colours)
    return out
end

-- Writes the pixels of a figure's box to [row * stride + column]; returns
-- whether values were missing.
function image.shade(fig, data, pixels, stride)
    local spec, missing = fig.spec, false
    raster.resample(data, spec.nx, spec.ny, fig.box.width, fig.box.height, function(row, values)
        missing = raster.colour_row(pixels, row * stride, values, fig.box.width, spec.range,
            fig.map, spec.missing.colour) or missing
    end)
    return missing
end

local function is_mark(mark) return tonumber(mark.x) and tonumber(mark.y) end

local function is_track(track)
    return type(track.x) == 'table' and type(track.y) == 'table' and #track.x == #track.y
end

-- Returns spec[name], a list of tables that are as they should be.
local function checked(spec, name, is_right)
    local list = spec[name]
    for k, one in ipairs(errors.wanted(name, 'table', list)) do
        if type(one) ~= 'table' or not is_right(one) then
            fail(spec, '%s[%d]: x and y must be %s', name, k,
                name == 'marks' and 'numbers' or 'arrays of the same length')
        end
    end
    return list
end

local function overlay(canvas, fig, given)
    local nx = given.nx
    if given.contours then
        local data, n = given.contour_data or given.data, nx * given.ny
        local range = given.contour_data and image.range(data, n) or fig.spec.range
        fig:contours(canvas, raster.thinned(data, nx, fig:contour_cells()), given.contours, range,
            not given.contour_data, given.contour_period)
    end
    if given.tracks then fig:tracks(canvas, checked(given, 'tracks', is_track)) end
    if given.marks then fig:marks(canvas, checked(given, 'marks', is_mark)) end
    local vectors = given.vectors
    if vectors then
        local cells = fig:arrow_cells()
        fig:arrows(canvas, raster.thinned(vectors.u, nx, cells),
            raster.thinned(vectors.v, nx, cells), vectors.unit, vectors.reference)
    end
end

-- Returns the picture that field{} writes.
function image.field_canvas(given)
    local fig = figure.new(image.figure_spec(given))
    local canvas, box, missing = fig:canvas(), fig.box, nil
    canvas:pixels(box.x, box.y, box.width, box.height, function(pixels, stride)
        missing = image.shade(fig, given.data or fail(given, 'no data'), pixels, stride)
    end)
    overlay(canvas, fig, given)
    fig:title(canvas, fig.spec.title)
    if missing then fig:missing_note(canvas) end
    return canvas
end

-- Draws a field into a PNG file; help(mare.image) shows all that it takes.
function image.field(given)
    image.write(image.field_canvas(given), given.path)
end

-- Draws fields beside each other into a PNG file. given: { path, panels = { each as for field{},
-- without path } }
function image.panels(given)
    errors.wanted('image.panels', 'table', given)
    local drawn, width, height = {}, 0, 0
    if #errors.wanted('image.panels: panels', 'table', given.panels) == 0 then
        errors.argument 'image.panels: panels is empty'
    end
    for k, panel in ipairs(given.panels) do
        errors.wanted(('image.panels: panel %d'):format(k), 'table', panel)
        drawn[k] = image.field_canvas(setmetatable({ path = given.path }, { __index = panel }))
        width, height = width + drawn[k].width, math.max(height, drawn[k].height)
    end
    local canvas, x = cairo.canvas(width, height, axes.paper), 0
    for _, one in ipairs(drawn) do
        canvas:pixels(x, 0, one.width, one.height, function(pixels, stride)
            local from, of_one = one:memory()
            for j = 0, one.height - 1 do
                for i = 0, one.width - 1 do pixels[j * stride + i] = from[j * of_one + i] end
            end
        end)
        x = x + one.width
        one:release()
    end
    image.write(canvas, given.path)
end

-- ---- lines ----

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
            colour = one.colour or lines.colour(i) }
    end
    return out
end

local function check_notes(spec)
    local out = {}
    for k, note in ipairs(spec.notes or {}) do
        if not (tonumber(note.x) and tonumber(note.y) and type(note.text) == 'string') then
            fail(spec, 'note %d: x and y must be numbers, text a text', k)
        end
        out[k] = { x = note.x, y = note.y, text = note.text, align = note.align or 0 }
    end
    return out
end

-- Returns the ticks that are given for an axis, or nil.
local function check_ticks(spec, name, is_log)
    if not spec[name] then return nil end
    local out = {}
    for k, one in ipairs(errors.wanted('picture: ' .. name, 'table', spec[name])) do
        local value, text = one, nil
        if type(one) == 'table' then value, text = one[1], one[2] end
        if type(value) ~= 'number' or value - value ~= 0 or is_log and value <= 0 then
            fail(spec, '%s: entry %d must be a number%s or { number, text }', name, k,
                is_log and ' above 0' or '')
        end
        out[k] = { value = is_log and math.log10(value) or value,
            label = tostring(text or ('%.6g'):format(value)) }
    end
    return out
end

-- Returns log10 of the values, NaN for values that have none.
local function logarithms(values)
    local out = {}
    for k, value in ipairs(values) do out[k] = value > 0 and math.log10(value) or 0 / 0 end
    return out
end

-- Replaces the values along a logarithmic axis by their logarithms.
local function take_logarithms(spec, axis)
    spec[axis .. 'log'] = true
    for _, one in ipairs(spec.series) do one[axis] = logarithms(one[axis]) end
    for _, note in ipairs(spec.notes) do note[axis] = logarithms({ note[axis] })[1] end
end

-- Returns the range of an axis. If none is given, it is that of the curves plus
-- a margin.
local function range_of(given, spec, axis, margin)
    local name = axis .. 'range'
    local range = given[name] and check_range(given, name, given[name])
    if not given[axis .. 'log'] then return range or lines.range(spec.series, axis, margin) end
    if range and range[1] <= 0 then
        fail(given, '%s must be above 0 along a logarithmic axis', name)
    end
    take_logarithms(spec, axis)
    return range and logarithms(range) or lines.range(spec.series, axis, margin)
end

-- Returns a description with everything that lines.canvas requires. Raises an
-- error if something is wrong.
function image.lines_spec(given)
    errors.wanted('picture', 'table', given)
    local spec = { svg = given.svg, title = given.title or '', xlabel = given.xlabel or '',
        ylabel = given.ylabel or '', series = check_series(given), notes = check_notes(given) }
    spec.xrange = range_of(given, spec, 'x', 0)
    spec.yrange = range_of(given, spec, 'y', 0.06)
    spec.xticks = check_ticks(given, 'xticks', given.xlog)
    spec.yticks = check_ticks(given, 'yticks', given.ylog)
    spec.width = check_size(given, 'width', 1000, 200)
    spec.height = check_size(given, 'height', math.floor(0.62 * spec.width), 150)
    return spec
end

-- Returns the picture that lines{} writes.
function image.lines_canvas(given)
    return lines.canvas(image.lines_spec(given))
end

-- Draws curves into a PNG file; help(mare.image) shows all that it takes.
function image.lines(given)
    image.write(image.lines_canvas(given), given.path)
end

-- Draws tables of numbers as coloured squares into a PNG file. spec: as for
-- heatmap.canvas, and path.
function image.heatmap(spec)
    image.write(require('mare.draw.heatmap').canvas(spec), spec.path)
end

-- Raises the errors now that field{} or lines{} would raise later because of
-- the path or a missing library.
image.check = paths.check_picture

return image
