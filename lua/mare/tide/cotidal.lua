-- Shows the tide that mare.harmonics has analysed: amphidromic points, a chart
-- of amplitude and phase, a NetCDF file, and a table of gauges.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local image = require 'mare.draw.image'
local memory = require 'bindings.memory'
local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'
local tables = require 'bindings.tables'
local tides = require 'mare.forcing.tides'

local cotidal = {}

-- ---- amphidromic points ----

-- Returns how often the phase turns anticlockwise around the cells a, b, c, d;
-- 0 if one of them is land.
local function turns(wave, a, b, c, d)
    local sum, corners = 0, { a, b, c, d, a }
    for k = 1, 4 do
        local step = wave.phase[corners[k + 1]] - wave.phase[corners[k]]
        sum = sum + (step + 180) % 360 - 180
    end
    for k = 1, 4 do
        if wave.amplitude[corners[k]] == 0 then return 0 end
    end
    return sum / 360
end

-- Returns the place in a square of cells (0 to 1 along x and y) where the tide
-- is smallest, with A cos g and A sin g bilinear.
local function least(wave, a, b, c, d)
    local best, at = math.huge, nil
    local function components(k)
        local g = math.rad(wave.phase[k])
        return wave.amplitude[k] * math.cos(g), wave.amplitude[k] * math.sin(g)
    end
    local ac, as = components(a)
    local bc, bs = components(b)
    local cc, cs = components(c)
    local dc, ds = components(d)
    for m = 0, 10 do
        for n = 0, 10 do
            local x, y = n / 10, m / 10
            local re = (1 - y) * ((1 - x) * ac + x * bc) + y * ((1 - x) * dc + x * cc)
            local im = (1 - y) * ((1 - x) * as + x * bs) + y * ((1 - x) * ds + x * cs)
            if re * re + im * im < best then best, at = re * re + im * im, { x, y } end
        end
    end
    return at[1], at[2]
end

-- Returns the amphidromic points of a wave { amplitude =, phase = } on a grid:
-- { { x =, y =, anticlockwise = whether high water turns that way }, ... }.
function cotidal.amphidromes(grid, wave)
    local list, nx = {}, grid.nx
    for j = 0, grid.ny - 2 do
        for i = 0, nx - 2 do
            local a = j * nx + i
            local around = turns(wave, a, a + 1, a + nx + 1, a + nx)
            if math.abs(around) > 0.5 then
                local x, y = least(wave, a, a + 1, a + nx + 1, a + nx)
                list[#list + 1] = { x = grid:x_centre(i) + x * grid.dx,
                    y = grid:y_centre(j) + y * grid.dy, anticlockwise = around > 0 }
            end
        end
    end
    return list
end

-- ---- chart ----

-- Returns the values, with NaN on land.
local function masked(basin, values)
    local out = memory.array('double', basin.nx * basin.ny)
    for k = 0, basin.nx * basin.ny - 1 do
        out[k] = basin.depths[k] == basin.depths[k] and values[k] or 0 / 0
    end
    return out
end

local reach = 4     -- cells from a gauge to its cell of water, at most

-- Draws a PNG of a constituent: amplitude in colour, lines of equal phase every
-- 30 degrees, amphidromic points, and gauges near water. basin: of basin.lua.
-- found: the result of mare.harmonics. stations: { { x =, y = }, ... }.
function cotidal.chart(path, basin, found, name, stations)
    local marks, wave = {}, found[name]
    for _, one in ipairs(stations or {}) do
        if basin:nearest_water(one.x, one.y, reach) then
            marks[#marks + 1] = { x = one.x, y = one.y, colour = 0x1a1a1a, size = 0.14 }
        end
    end
    for _, one in ipairs(cotidal.amphidromes(basin.grid, wave)) do
        marks[#marks + 1] = { x = one.x, y = one.y, colour = 0xd55e00 }
    end
    image.field {
        path = path, data = masked(basin, wave.amplitude), nx = basin.nx, ny = basin.ny,
        x = basin.x, y = basin.y, title = name .. ', phase every 30 degrees',
        label = 'amplitude (m)', xlabel = 'longitude (°)', ylabel = 'latitude (°)',
        missing = { colour = 0xb4aca0, label = 'land' },
        contours = 12, contour_data = masked(basin, wave.phase), contour_period = 360,
        marks = marks,
    }
end

-- ---- file ----

local function define_variable(file, name, dims, attributes)
    file:define_variable(name, 'float', dims, { deflate = 4 })
    file:define_missing(name, 0 / 0)
    for _, key in ipairs(tables.keys(attributes)) do
        file:put_attribute(name, key, attributes[key])
    end
end

local function define(file, basin, names, about)
    local y = file:define_dimension('latitude', basin.ny)
    local x = file:define_dimension('longitude', basin.nx)
    output.put_global_attributes(file, about)
    for _, axis in ipairs { { 'latitude', y, 'degrees_north' }, { 'longitude', x, 'degrees_east' } }
    do
        local name = axis[1]
        file:define_variable(name, 'double', { axis[2] })
        file:put_attribute(name, 'units', axis[3])
        file:put_attribute(name, 'standard_name', name)
    end
    for _, name in ipairs(names) do
        define_variable(file, 'amplitude_' .. name, { y, x }, { units = 'm',
            long_name = 'amplitude of ' .. name })
        define_variable(file, 'phase_' .. name, { y, x }, { units = 'degree',
            long_name = 'phase of ' .. name .. ' behind Greenwich' })
    end
    file:end_definitions()
end

local function put(file, basin, found, names)
    local g, lat, lon = basin.grid, netcdf.doubles(basin.ny), netcdf.doubles(basin.nx)
    for j = 0, g.ny - 1 do lat[j] = g:y_centre(j) end
    for i = 0, g.nx - 1 do lon[i] = g:x_centre(i) end
    file:put('latitude', { 0 }, { g.ny }, lat)
    file:put('longitude', { 0 }, { g.nx }, lon)
    for _, name in ipairs(names) do
        for _, what in ipairs { 'amplitude', 'phase' } do
            file:put(what .. '_' .. name, { 0, 0 }, { g.ny, g.nx },
                masked(basin, found[name][what]))
        end
    end
end

-- Writes amplitude and phase of the named constituents in every cell as CF
-- NetCDF, complete or not at all. about: { title = , ... }, or the simulation
-- that mare.run returns.
function cotidal.write(path, basin, found, names, about)
    if not basin.grid.spherical then
        errors.argument 'cotidal: write: a grid of longitude and latitude is wanted'
    end
    local temporary, file = files.temporary(path), nil
    local ok, failure = pcall(function()
        file = netcdf.create(temporary.name, path)
        define(file, basin, names, about or {})
        put(file, basin, found, names)
        file:close()
        temporary:commit()
    end)
    if ok then return end
    if file then pcall(file.abort, file) end
    temporary:discard()
    error(failure, 0)
end

-- ---- gauges ----

-- Compares a constituent at the gauges (gauges.lua) that have it and lie near
-- water. Returns { { gauge, computed = { amplitude, phase }, observed, error
-- (m) }, ... }.
function cotidal.compare(basin, found, name, stations)
    local list = {}
    for _, gauge in ipairs(stations) do
        local at, observed = basin:nearest_water(gauge.x, gauge.y, reach),
            gauge.constituents[name]
        if at and observed and observed.amplitude and observed.phase then
            local k = at[2] * basin.nx + at[1]
            local computed = { amplitude = found[name].amplitude[k], phase = found[name].phase[k] }
            list[#list + 1] = { gauge = gauge, observed = observed, computed = computed,
                error = tides.vector_error(computed, observed) }
        end
    end
    return list
end

-- Returns tides.score of the result of compare().
function cotidal.score(list)
    local pairs_of = {}
    for k, one in ipairs(list) do pairs_of[k] = { one.observed, one.computed } end
    if not pairs_of[1] then
        errors.raise('MARE_ERROR_STATE', 'cotidal: no gauge lies at water of the grid')
    end
    return tides.score(pairs_of)
end

-- Draws a PNG of the result of compare(): A cos g and A sin g of each gauge,
-- observed along x and computed along y. A perfect model lies on the diagonal.
function cotidal.scatter(path, list, name)
    local curves = {
        { label = 'A cos g', style = 'points', x = {}, y = {}, of = math.cos },
        { label = 'A sin g', style = 'points', x = {}, y = {}, of = math.sin },
    }
    local most = 0
    for k, one in ipairs(list) do
        local a, b = one.observed, one.computed
        for _, curve in ipairs(curves) do
            curve.x[k] = a.amplitude * curve.of(math.rad(a.phase))
            curve.y[k] = b.amplitude * curve.of(math.rad(b.phase))
        end
        most = math.max(most, 1.05 * a.amplitude, 1.05 * b.amplitude)
    end
    for _, curve in ipairs(curves) do curve.of = nil end
    image.lines {
        path = path, width = 900, height = 900, title = name .. ' at gauges',
        xlabel = 'observed (m)', ylabel = 'computed (m)', xrange = { -most, most },
        yrange = { -most, most }, series = { { label = '', style = 'line', colour = 0x7f7f7f,
            x = { -most, most }, y = { -most, most } }, curves[1], curves[2] },
    }
end

-- Returns lines, one per gauge: name, observed amplitude and phase, computed
-- ones, vector error.
function cotidal.table(list)
    local lines = { string.format('%-26s %8s %6s %8s %6s %8s', 'gauge', 'observed', 'deg',
        'computed', 'deg', 'error m') }
    for _, one in ipairs(list) do
        lines[#lines + 1] = string.format('%-26s %8.3f %6.1f %8.3f %6.1f %8.3f',
            one.gauge.name:sub(1, 26), one.observed.amplitude, one.observed.phase,
            one.computed.amplitude, one.computed.phase, one.error)
    end
    return table.concat(lines, '\n')
end

return cotidal
