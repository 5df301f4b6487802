-- `mare rerun FILE`: repeats the run that made a file. The file holds the text
-- of the scenario, its arguments and its device, and is not changed. The
-- outputs of the repeated run are named after its new file. Text that is not that of a scenario at
-- hand runs only with --trust.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local files = require 'bindings.files'
local json = require 'mare.base.json'
local netcdf = require 'bindings.netcdf'
local options = require 'mare.base.options'
local paths = require 'mare.base.paths'
local scenario = require 'mare.live.scenario'

local rerun = {}

-- Returns the option that a word sets, or nil.
local function key_of(word)
    local name = word:match '^%-%-([%w-]+)'
    return name and (name:gsub('^no%-', ''):gsub('-', '_'))
end

-- Returns the present names of the recorded devices, such as "cuda:0 (NVIDIA
-- H200)", or nil if one is missing.
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

-- Returns whether an option other than --out named this file.
local function is_by_product(path, attributes)
    local name = files.resolve(path)
    for key, value in pairs(attributes) do
        if key:find '^option_' and key ~= 'option_out' and type(value) == 'string'
            and files.resolve(value) == name then
            return true
        end
    end
    return false
end

-- Renames the files that the scenario writes by itself after the new file,
-- except those that `changed` names.
local function write_elsewhere(base, changed)
    options.elsewhere = function(key, path)
        if changed[key] then return path end
        return base .. '.' .. key .. (path:match '%.%w+$' or '')
    end
end

-- Adds words for the files that options of every run named, under their new names.
local function add_outputs(words, base, path, attributes, changed)
    for _, option in ipairs(options.declared { options.simulation }) do
        local ending, before = option.rerun, attributes['option_' .. option.key]
        if option.key == 'out' and not is_by_product(path, attributes) then before = path end
        if before and ending and ending ~= 'dropped' and not changed[option.key] then
            ending = ending == '.*' and before:match '%.%w+$' or ending
            words[#words + 1] = ('--%s=%s%s'):format(option.name, base, ending)
        end
    end
end

-- Returns the words of the run that made the file, without those that `changes`
-- replace.
local function words_of(path, attributes, changes)
    local changed, words, known = {}, {}, options.of_run()
    for _, word in ipairs(changes) do changed[key_of(word) or ''] = true end
    for _, word in ipairs(json.texts(attributes.arguments) or {}) do
        local key = key_of(word)
        local is_moved = known[key] and known[key].rerun and not word:find '=none$'
        local is_taken = not is_moved and not changed[key]
        if is_taken then words[#words + 1] = word end
    end
    if not changed.device then
        local recorded = attributes.device or 'an unknown device'
        local names = same_devices(recorded)
        words[#words + 1] = names and '--device=' .. names
        if not names then
            events.warn('made on %s, which is not here: the last bits may differ',
                recorded)
        end
    end
    local base = path:gsub('%.nc$', '') .. '.rerun'
    write_elsewhere(base, changed)
    add_outputs(words, base, path, attributes, changed)
    for _, word in ipairs(changes) do words[#words + 1] = word end
    return words
end

-- ---- files of several runs ----

-- Returns the commands of a history, without dates and without the options that
-- keep the bits of a continued run, and with the options in order.
local function commands_of(history)
    local list, known = {}, options.of_run()
    for line in history:gmatch '[^\n]+' do
        local words = {}
        for word in line:gsub('^%S+ ', ''):gsub(' %-%-', '\n--'):gmatch '[^\n]+' do
            local option = known[key_of(word)]
            if not (option and option.keeps_bits) then words[#words + 1] = word end
        end
        table.sort(words)
        list[#list + 1] = table.concat(words, ' ')
    end
    return list
end

-- Warns if the last command of the file's history would not make the same file
-- by itself.
local function check_history(path, attributes, first)
    local commands, restart = commands_of(attributes.history or ''), nil
    for k = 2, #commands do
        if commands[k] ~= commands[1] then
            return events.warn('%s was continued with other options, the last of which run again: '
                .. 'the bits may differ (first: %s; then: %s)', path, commands[1], commands[k])
        end
    end
    for _, word in ipairs(json.texts(attributes.arguments) or {}) do
        restart = word:match '^%-%-restart=(.*)' or restart
    end
    if #commands < 2 and restart and (restart ~= 'latest' or first and first > 0) then
        events.warn('the run of %s went on from a checkpoint, this one begins at t = 0: the bits '
            .. 'are the same only where its options were, and its times may be others', path)
    end
end

local function read(path)
    local file = netcdf.open(path)
    local attributes, first = file:attributes(), nil
    if (file:dimensions().time or 0) > 0 then first = file:get('time', { 0 }, { 1 })[0] end
    file:close()
    for _, name in ipairs { 'scenario', 'scenario_text', 'arguments', 'device', 'history' } do
        if type(attributes[name] or '') ~= 'string' then
            errors.usage("%s: the attribute '%s' is no text", path, name)
        end
    end
    return attributes, first
end

-- ---- what may run ----

-- Whether the text is that of a scenario of Mare's, or of a file where the run read it.
local function is_at_hand(name, text)
    for _, one in ipairs { name, name:match '^([%w_]+)%.lua$' } do
        local ok, found = pcall(scenario.text, one)
        if ok and found == text then return true end
    end
    return false
end

-- Refuses text that anybody may have written into the file, unless the user trusts it.
local function check_text(path, attributes, is_trusted)
    local name = attributes.scenario or 'none'
    if is_trusted or is_at_hand(name, attributes.scenario_text) then return end
    errors.usage("%s: holds a program that is not the text of %s: 'mare rerun --trust %s' runs it, "
        .. "'mare rerun --text %s' shows it", path, name, path, path)
end

-- Refuses functions that depend on what the file does not hold.
local function check_functions(path, attributes)
    for name, text in pairs(attributes) do
        local of = type(text) == 'string' and (name:match '^function_(.*)'
            or name:match '^boundary_.*')
        local outside = of and of ~= 'initial' and text:match '\nand which closes over ([^\n]*)$'
        if outside then
            errors.usage('%s: %s closes over %s, whose value no file holds', path, of, outside)
        end
    end
end

-- Returns the name and the text of the scenario, and the words to run it with. flags: what stood
-- before the name of the file, { trust = true, text = true }
function rerun.prepare(path, changes, flags)
    local attributes, first = read(path)
    if not (attributes.scenario_text and attributes.arguments) then
        errors.usage('%s: does not tell what made it', path)
    end
    flags = flags or {}
    if flags.text then return attributes.scenario, attributes.scenario_text end
    check_text(path, attributes, flags.trust)
    check_functions(path, attributes)
    check_history(path, attributes, first)
    paths.kept = path
    local here = 'Mare ' .. device.full_version
    if attributes.source ~= here then
        events.warn('made by %s, this is %s', attributes.source, here)
    end
    return attributes.scenario, attributes.scenario_text, words_of(path, attributes, changes)
end

return rerun
