-- Reads tide gauges from comma-separated values with a line of column names:
-- name, lat, lon (degrees), and NAME_amplitude_m and NAME_phase_deg for each
-- constituent.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local tables = require 'bindings.tables'

local gauges = {}

local function split(line)
    local list = {}
    for word in (line:gsub('\r$', '') .. ','):gmatch '(.-),' do list[#list + 1] = word end
    return list
end

local function fail(path, line, message, ...)
    errors.usage('%s: line %d: ' .. message, path, line, ...)
end

local numeric = { lat = 'y', lon = 'x', i = 1, j = 2 }

local function parse(path, line, number, columns)
    local words, gauge = split(line), { constituents = {} }
    if #words ~= #columns then fail(path, number, '%d values, not %d', #words, #columns) end
    for k, column in ipairs(columns) do
        local name, what = column:match '^(%w+)_(%a+)_%a+$'
        local value = tonumber(words[k])
        if what == 'amplitude' or what == 'phase' then
            local wave = gauge.constituents[name] or {}
            gauge.constituents[name], wave[what] = wave, value
        elseif numeric[column] then
            if not value then fail(path, number, "%s is '%s', no number", column, words[k]) end
            gauge[numeric[column]] = value
        else
            gauge[column] = words[k]
        end
    end
    return gauge
end

-- Returns the lines of a table, which must have the wanted columns, and its
-- columns.
local function read(path, wanted)
    local reason = files.unreadable(errors.wanted('gauges: file', 'string', path))
    if reason then errors.usage('%s: %s', path, reason) end
    local file = assert(files.ordinary(path))
    local columns, list, number = split(file:read '*l' or ''), {}, 1
    local seen = tables.set(columns)
    for _, name in ipairs(wanted) do
        if not seen[name] then fail(path, 1, "no column '%s'", name) end
    end
    for line in file:lines() do
        number = number + 1
        list[#list + 1] = parse(path, line, number, columns)
    end
    file:close()
    return list, columns
end

-- Returns { { name =, x = degrees east, y = degrees north, constituents = { M2
-- = { amplitude = (m), phase = (degrees behind Greenwich) }, ... } }, ... }.
function gauges.read(path)
    return (read(path, { 'name', 'lat', 'lon' }))
end

-- Reads a table with columns i and j instead of names and places. Returns { {
-- i, j, NAME = { amplitude, phase }, ... }, ... }, and the names of the
-- constituents, each of which every line must have.
function gauges.cells(path)
    local list, columns = read(path, { 'i', 'j' })
    local names, cells = {}, {}
    for _, column in ipairs(columns) do names[#names + 1] = column:match '^(%w+)_amplitude_m$' end
    for k, line in ipairs(list) do
        cells[k] = { line[1], line[2] }
        for _, name in ipairs(names) do
            local wave = line.constituents[name]
            if not (wave.amplitude and wave.phase) then
                fail(path, k + 1, 'amplitude or phase of %s is missing', name)
            end
            cells[k][name] = { wave.amplitude, wave.phase }
        end
    end
    if not (cells[1] and names[1]) then fail(path, 1, 'no cells, or no NAME_amplitude_m') end
    return cells, names
end

return gauges
