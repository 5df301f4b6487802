-- `mare plot FILE.nc`: makes pictures and films of the variables in a NetCDF
-- file, `mare plot FILE.csv` one of a log of power.

local colours = require 'mare.draw.colours'
local dataset = require 'mare.files.dataset'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local figure = require 'mare.draw.figure'
local film = require 'mare.draw.film'
local image = require 'mare.draw.image'
local labels = require 'mare.draw.labels'
local numbers = require 'mare.base.numbers'
local options = require 'mare.base.options'
local picture = require 'mare.draw.picture'
local power_log = require 'mare.measure.power_log'
local raster = require 'mare.draw.raster'
local system = require 'bindings.system'

local plot = {}

local most_lines = 200       -- of contours; more would hide the picture

local declared = {
    title = 'Options',
    { name = 'var', type = 'string', help = 'variable to show; default: the first' },
    { name = 'times', default = 'last',
      help = "times to show: 0.5,1 (the nearest in the file), 'all' or 'last'" },
    { name = 'out', type = 'path', help = 'PNG file; default: FILE.VAR.png; several times '
      .. 'make one file each, with the time in its name' },
    { name = 'film', type = 'path', help = 'make a film instead: .gif, .png (APNG) or .mp4' },
    { name = 'range', type = 'string',
      help = 'range of the colours, such as 0.9,2.1; default: that of all values shown' },
    { name = 'colours', default = 'viridis', choices = colours.names(), help = 'colour map' },
    { name = 'contours', type = 'string', help = 'contour lines: how many (1 to 200), or '
      .. 'levels such as 0.5,1,1.5' },
    { name = 'contours-of', type = 'string',
      help = 'the variable of the contours, if another; angles (degrees) count as phases' },
    { name = 'vectors', type = 'string', help = 'two variables to draw as arrows: u,v' },
    { name = 'width', default = 1200, range = { 200, 16384 },
      help = 'width of the picture in pixels, approximately' },
}

-- ---- reading the options ----

local function levels_of(o)
    if not o.contours then return nil end
    local list = numbers('contours', o.contours)
    local is_count = #list == 1 and o.contours:match '^%s*%d+%s*$'
    local count = is_count and list[1] or #list
    if count < 1 or count > most_lines then
        errors.usage("option --contours: '%s' (allowed: 1 to %d lines)", o.contours, most_lines)
    end
    return is_count and count or list
end

local function nearest(times, wanted)
    local best = 1
    for k, t in ipairs(times) do
        if math.abs(t - wanted) < math.abs(times[best] - wanted) then best = k end
    end
    return best
end

-- Returns the numbers of the selected records.
local function records_of(field, o, path)
    local times, list = field.times or { 0 }, {}
    if #times == 0 then errors.usage('%s: has no times yet', path) end
    if o.times == 'last' then return { #times } end
    if o.times == 'all' then
        for k = 1, #times do list[k] = k end
        return list
    end
    local slack = 1e-9 * math.max(math.abs(times[1]), math.abs(times[#times]))
    for _, t in ipairs(numbers('times', o.times)) do
        if t < times[1] - slack or t > times[#times] + slack then
            errors.usage('option --times: %g: %s is from %g to %g', t, path, times[1],
                times[#times])
        end
        list[#list + 1] = nearest(times, t)
    end
    return list
end

-- Returns another variable, which must have the same cells and times.
local function companion(data, field, option, name)
    local other = data:field(name)
    if other.nx ~= field.nx or other.ny ~= field.ny then
        errors.usage('option --%s: %s has %d x %d cells, %s %d x %d', option, name, other.nx,
            other.ny, field.name, field.nx, field.ny)
    end
    if other.times and #other.times ~= #(field.times or {}) then
        errors.usage('option --%s: %s has other times than %s', option, name, field.name)
    end
    return other
end

local function vectors_of(data, field, o)
    if not o.vectors then return nil end
    local u, v = o.vectors:match '^%s*([^,%s]+)%s*,%s*([^,%s]+)%s*$'
    if not u then errors.usage("option --vectors: '%s' (allowed: two variables)", o.vectors) end
    u, v = companion(data, field, 'vectors', u), companion(data, field, 'vectors', v)
    return { u = u, v = v, unit = u.unit }
end

-- Returns { levels, field, period } of the contour lines, or nil.
local function lines_of(data, field, o)
    local levels = levels_of(o)
    if not (levels or o.contours_of) then return nil end
    local other = o.contours_of and companion(data, field, 'contours-of', o.contours_of)
    local is_angle = (other or field).unit and (other or field).unit:find '^deg'
    return { levels = levels or is_angle and 12 or 8, field = other,
        period = is_angle and 360 or nil }
end

-- ---- drawing ----

-- Returns the common range of all records.
local function common_range(data, field, records, colour_map)
    local ends, count = {}, 0
    for _, k in ipairs(records) do
        local low, high = raster.range(data:read(field, k), field.nx * field.ny)
        if low then
            ends[count], ends[count + 1] = low, high
            count = count + 2
        end
    end
    return image.range(ends, count, colour_map)
end

-- Returns the description for image.field, without path, data and title.
local function describe(field, o, range)
    local spec = labels.axes(field.x, field.y, field.length_unit, field.coordinates)
    spec.nx, spec.ny, spec.range, spec.width = field.nx, field.ny, range, o.width
    spec.colours, spec.label = o.colours, labels.with_unit(field.label, field.unit)
    local a = field.attributes
    if a._FillValue or a.missing_value then
        spec.missing = { colour = 0xb4aca0, label = 'no data' }
    end
    return spec
end

-- Turns kh.png into kh-0.5.png.
local function path_at(path, t)
    local stem, ending = path:match '^(.*)(%.[^./]*)$'
    return string.format('%s-%.10g%s', stem or path, t, ending or '')
end

local function draw_images(job, o, path)
    local written = {}
    for _, k in ipairs(job.records) do
        local spec, t = describe(job.field, o, job.range), job.field.times and job.field.times[k]
        spec.path = #job.records > 1 and path_at(path, t) or path
        spec.title = t and job.title .. ', ' .. job.clock(t) or job.title
        spec.data = job.data:read(job.field, k)
        local lines = job.lines or {}
        spec.contours, spec.contour_period = lines.levels, lines.period
        spec.contour_data = lines.field and job.data:read(lines.field, k)
        spec.vectors = job.vectors and { unit = job.vectors.unit,
            u = job.data:read(job.vectors.u, k), v = job.data:read(job.vectors.v, k) }
        image.field(spec)
        written[#written + 1] = spec.path
    end
    return written
end

-- Returns what a frame of a film reads, by name.
local function frame_of(job, fig, k)
    local data, nx, layers = job.data:read(job.field, k), job.field.nx, {}
    layers.pixels = {}
    image.shade(fig, data, layers.pixels, fig.box.width)
    local lines = job.lines
    if lines then
        layers.contours = raster.thinned(lines.field and job.data:read(lines.field, k) or data, nx,
            fig:contour_cells())
    end
    for _, name in ipairs(job.vectors and { 'u', 'v' } or {}) do
        layers[name] = raster.thinned(job.data:read(job.vectors[name], k), nx, fig:arrow_cells())
    end
    return layers
end

local function make_film(job, o)
    local spec, times, lines = describe(job.field, o, job.range), job.field.times, job.lines
    spec.path, spec.title = o.film, job.title
    spec = image.figure_spec(spec)
    local fig = figure.new(spec)
    system.ignore_pipes()
    local out = film.writer {
        path = o.film, rate = film.rate, figure = spec, title = job.title,
        time = { unit = job.field.time_unit, last = times[#times], step = job.step },
        vectors = job.vectors and { unit = job.vectors.unit },
        contours = lines and { levels = lines.levels, range = lines.field
            and common_range(job.data, lines.field, job.records) or job.range,
            is_ground = not lines.field, period = lines.period },
    }
    for _, k in ipairs(job.records) do
        local layers = frame_of(job, fig, k)
        out:write(times[k], function(name) return layers[name] end)
    end
    out:close()
    return { o.film }
end

-- Turns kh.nc and rho into kh.rho.png, since kh.png may be the picture of the
-- run itself.
local function picture_path(path, name)
    return path:gsub('%.nc%d?$', '') .. '.' .. name:gsub('/', '_') .. '.png'
end

-- Draws a variable over time, with one line per station.
local function draw_curves(data, name, o, range)
    for _, option in ipairs { 'film', 'contours', 'contours_of', 'vectors' } do
        if o[option] then
            errors.usage('option --%s: %s is of time alone', option:gsub('_', '-'), name)
        end
    end
    if o.times ~= 'last' then errors.usage('option --times: %s is drawn over time', name) end
    local curve, series = data:curve(name), {}
    if #curve.times == 0 then errors.usage('%s: has no times yet', data.path) end
    local unit, factor = labels.time_unit(curve.time_unit, curve.times[#curve.times])
    local times = {}
    for k, t in ipairs(curve.times) do times[k] = t * factor end
    for k, one in ipairs(curve.series) do
        series[k] = { x = times, y = one.values, label = one.label }
    end
    local out = o.out or picture_path(data.path, name)
    errors.option('out', image.check, out)
    image.lines { path = out, title = data.title, series = series, yrange = range, width = o.width,
        xlabel = labels.with_unit('t', unit), ylabel = labels.with_unit(curve.label, curve.unit) }
    return { out }
end

-- Draws pictures or a film of a variable over y and x.
local function draw_field(data, name, o, range)
    local path, field = data.path, data:field(name)
    local times, records = field.times, records_of(field, o, path)
    if o.film and not times then errors.usage('option --film: %s has no times', name) end
    if o.film then errors.option('film', film.check, o.film) end
    if o.out then errors.option('out', image.check, o.out) end
    local step = times and #times > 1 and (times[#times] - times[1]) / (#times - 1) or nil
    local job = {
        data = data, field = field, records = records, step = step,
        lines = lines_of(data, field, o),
        vectors = vectors_of(data, field, o), title = data.title or path:match '[^/]*$',
        range = range or common_range(data, field, records, o.colours),
        clock = times and labels.clock(field.time_unit, times[#times], step),
    }
    if o.film and #records < 3 then
        events.note('%s has %d frames; --every gives a run more records, --times all takes them',
            o.film, #records)
    end
    local written = o.film and make_film(job, o) or {}
    if o.out or not o.film then
        for _, one in ipairs(draw_images(job, o, o.out or picture_path(path, name))) do
            written[#written + 1] = one
        end
    end
    return written
end

-- Draws a log of power (--power-log, or a wall meter's): a line for each meter.
local function draw_log(path, o)
    for _, option in ipairs { 'film', 'contours', 'contours_of', 'vectors', 'var' } do
        if o[option] then errors.usage('option --%s: %s is a log of power', option, path) end
    end
    local out = o.out or path:gsub('%.csv$', '') .. '.png'
    errors.option('out', image.check, out)
    image.lines { path = out, title = path:match '[^/]*$', series = power_log.curves(path),
        yrange = picture.range(o.range), width = o.width, xlabel = 't (s)', ylabel = 'power (W)' }
    return { out }
end

-- words: of the command line after FILE.
function plot.run(path, words)
    options.source, options.program = words, 'mare plot FILE.nc'
    local o = options { title = 'Pictures and films of a NetCDF file', declared }
    if path:find '%.csv$' then
        local written = draw_log(path, o)
        return events.tell('files', { message = 'wrote ' .. written[1], paths = written })
    end
    local range, data = picture.range(o.range), dataset.open(path)
    local name = o.var or data.names[1] or data.curve_names[1]
        or errors.usage('%s: has no variable over y and x, or over time', path)
    local draw = data.curves[name] and draw_curves or draw_field
    local written = draw(data, name, o, range)
    data:close()
    events.tell('files', { message = 'wrote ' .. table.concat(written, ', '), paths = written })
end

return plot
