-- Runs again what made a file: the scenario's text, its arguments and its device are in the file,
-- which is not touched. What the run writes gets names after the new file.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local json = require 'dkjson'
local netcdf = require 'bindings.netcdf'

local rerun = {}

local left_out = { out = true, image = true, film = true, series = true, checkpoint = true,
    checkpoint_every = true, keep = true, restart = true, wall_limit = true, device = true,
    json_log = true }

-- The option that a word sets, or nil.
local function key_of(word)
    local name = word:match '^%-%-([%w-]+)'
    return name and (name:gsub('^no%-', ''):gsub('-', '_'))
end

-- Names of the devices as the file knows them, if they are there: "cuda:0 (NVIDIA H200)".
local function same_devices(recorded)
    local there, names = {}, {}
    for _, info in ipairs(device.list()) do
        there[string.format('%s (%s)', info.name, info.model)] = info.name
    end
    for entry in recorded:gmatch '%w+:%d+ %b()' do
        if not there[entry] then return nil end
        names[#names + 1] = there[entry]
    end
    return names[1] and table.concat(names, ',')
end

-- The words of the run that made the file, less those that `changes` set anew.
local function words_of(path, attributes, changes)
    local changed, words = {}, {}
    for _, word in ipairs(changes) do changed[key_of(word) or ''] = true end
    for _, word in ipairs(json.decode(attributes.arguments) or {}) do
        local key = key_of(word)
        if not (left_out[key] or changed[key]) then words[#words + 1] = word end
    end
    if not changed.device then
        local names = same_devices(attributes.device)
        words[#words + 1] = names and '--device=' .. names
        if not names then
            io.stderr:write('mare: warning: made on ', attributes.device,
                ', which is not here: the last bits may differ\n')
        end
    end
    local base = path:gsub('%.nc$', '') .. '.rerun'
    local of_series = attributes.option_series
    if not changed.out and (attributes.option_out or not of_series) then
        words[#words + 1] = '--out=' .. base .. '.nc'
    end
    if of_series and not changed.series then
        words[#words + 1] = '--series=' .. base .. '.series.nc'
    end
    if attributes.option_image and not changed.image then
        words[#words + 1] = '--image=' .. base .. '.png'
    end
    if attributes.option_film and not changed.film then
        words[#words + 1] = '--film=' .. base .. attributes.option_film:match '%.%w+$'
    end
    for _, word in ipairs(changes) do words[#words + 1] = word end
    return words
end

-- Name and text of the scenario, and the words to run it with.
function rerun.prepare(path, changes)
    local file = netcdf.open(path)
    local attributes = file:attributes()
    file:close()
    if not (attributes.scenario_text and attributes.arguments) then
        errors.usage('%s: does not tell what made it', path)
    end
    local here = 'Mare ' .. device.version
    if attributes.source ~= here then
        io.stderr:write('mare: warning: made by ', attributes.source, ', this is ', here, '\n')
    end
    return attributes.scenario, attributes.scenario_text, words_of(path, attributes, changes)
end

return rerun
