-- options.lua - the options of a scenario. One table gives the command line,
-- --help, validation and metadata.
--
--     local o = mare.options{
--         title = 'Kelvin-Helmholtz instability', help = 'Two shear layers ...',
--         options.simulation,                 -- a shared group: see below
--         { name = 'nx', default = 1024 },    -- overrides fields of an option already declared
--         { name = 'start', default = 'noise', choices = { 'noise', 'smooth' }, help = '...' },
--     }
--     o.nx, o.t_end (declared as 't-end'), o.decompose[1] (a pair is { 2, 2 })
--     o.every          nil when it has no default and was not given
--     o:metadata()     { { name = 't_end', value = 2, unit = 's', help = '...' }, ... } in order
--                      of declaration; values are numbers or strings ('true', '2x2'), and
--                      options without a value are left out
--     o:given 'nx'     true when the user set it
--     o:words()        what the user set, as words of a command line: { '--nx=64', '--quiet' }
--     options.over(o, { t_end = 2 })   the same options with other values, for one part of a run
--
-- A declaration has these fields:
--     name        with dashes
--     help        one line
--     default     none: the option may stay without a value
--     type        'integer' 'number' 'boolean' 'string' 'pair' 'path'; else as the default's
--     range       { min, max }, inclusive; holds for numbers and for both numbers of a pair
--     choices     { ... }
--     unit        a text
--     needs       { keys }: a command line with this option must have one of these options too
--     writes      'file' or 'png': the scenario writes such a file by itself; true: others check
--                 the path. No two options may name the same file. 'none' names no file.
--     withdrawn   true: this scenario lacks the option, although one of its groups has it
-- Options of every run have more: see run_options.lua.
--
-- A boolean is a flag: --name when its default is false, --no-name when it is true. Values come
-- from options.source: an array of command-line words, which the launcher sets, or a table of
-- values { nx = 64, quiet = true } from a session, a test or an embedding program. A wrong value
-- raises an error with status 'usage' (exit status 2).

local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local paths = require 'mare.base.paths'
local suggest = require 'bindings.suggest'
local tables = require 'bindings.tables'

local M = require('bindings.home').options or {}

-- ---- values ----

local function finite(text)
    local value = tonumber(text)
    return value and value == value and math.abs(value) < math.huge and value or nil
end

local function whole(text)
    local value = finite(text)
    return value and value % 1 == 0 and value or nil
end

local function pair(value)
    if type(value) ~= 'table' then
        local a, b = tostring(value):match '^(%d+)x(%d+)$'
        value = { a, b }
    end
    local a, b = whole(value[1]), whole(value[2])
    return a and b and { a, b } or nil
end

local function text(value)
    return type(value) == 'string' and value or nil
end

local function path(value)
    return text(value) and value ~= '' and value or nil
end

local function truth(value)
    if type(value) == 'boolean' then return value end
end

-- How each type reads a value (nil: the value is wrong), and how errors and
-- --help name it.
local types = {
    integer = { read = whole, noun = 'a whole number', metavar = 'N' },
    number = { read = finite, noun = 'a number', metavar = 'X' },
    boolean = { read = truth, noun = 'true or false' },
    string = { read = text, noun = 'a text', metavar = 'TEXT' },
    pair = { read = pair, noun = 'two whole numbers as 2x2', metavar = 'AxB' },
    path = { read = path, noun = 'a file name', metavar = 'FILE' },
}

local function show(value)
    if type(value) == 'table' then
        return tostring(value[1]) .. 'x' .. tostring(value[2])
    end
    return type(value) == 'number' and ('%.14g'):format(value) or tostring(value)
end

local most_shown = 60       -- bytes of a wrong value

local function shorten(value)
    local shown = show(value)
    return #shown > most_shown and shown:sub(1, most_shown) .. ' ...' or shown
end

local function allowed(option)
    if option.choices then return table.concat(option.choices, ', ') end
    local noun, range = types[option.type].noun, option.range
    if not range then return noun end
    local low, high = range[1] or -math.huge, range[2] or math.huge
    if high == math.huge then return ('%s, at least %s'):format(noun, show(low)) end
    if low == -math.huge then return ('%s, at most %s'):format(noun, show(high)) end
    return ('%s from %s to %s'):format(noun, show(low), show(high))
end

local function in_range(option, value)
    local range = option.range
    if not range then return true end
    for _, number in ipairs(type(value) == 'table' and value or { value }) do
        if number < (range[1] or -math.huge) or number > (range[2] or math.huge) then
            return false
        end
    end
    return true
end

local function in_choices(option, value)
    if not option.choices then return true end
    for _, choice in ipairs(option.choices) do
        if choice == value then return true end
    end
    return false
end

-- Returns the value, or nil if it is not allowed.
local function accept(option, given)
    local value = types[option.type].read(given)
    if value == nil or not in_range(option, value) or not in_choices(option, value) then
        return nil
    end
    return value
end

local function read(option, given)
    local value = accept(option, given)
    if value == nil then
        errors.usage("option --%s: '%s' (allowed: %s)", option.name, shorten(given),
            allowed(option))
    end
    return value
end

-- Returns the value of the field `name` in a call, checked against a declared
-- option. what: the beginning of the error message.
function M.field(what, name, option, given)
    if given == nil then errors.argument('%s: %s is missing', what, name) end
    local value = accept(option, given)
    if value == nil then
        errors.argument("%s: %s = '%s' (allowed: %s)", what, name, shorten(given),
            allowed(option))
    end
    return value
end

-- ---- declarations ----

local function infer(option)
    local default = option.default
    if option.choices or type(default) == 'string' then return 'string' end
    if type(default) == 'number' then return default % 1 == 0 and 'integer' or 'number' end
    if type(default) == 'boolean' then return 'boolean' end
    if type(default) == 'table' then return 'pair' end
    error(("option '%s': type is missing"):format(option.name), 0)
end

local option_fields = {
    name = 'string', default = 'any', type = types, help = 'string', unit = 'string',
    range = 'table', choices = 'table', needs = 'table', withdrawn = 'boolean',
    writes = 'any', setup = 'boolean', rerun = 'string', keeps_bits = 'boolean',
}

local function declare(list, declaration, group)
    errors.fields("option '" .. tostring(declaration.name) .. "'", declaration, option_fields)
    local option = list[declaration.name]
    if not option then
        option = { group = group, key = declaration.name:gsub('-', '_') }
        list[#list + 1], list[declaration.name] = option, option
    end
    for field, value in pairs(declaration) do option[field] = value end
end

-- Flattens declarations and groups. A later declaration of the same name
-- overrides fields of the earlier one.
local function collect(spec)
    local list = {}
    for _, entry in ipairs(spec) do
        for _, declaration in ipairs(entry.name and { entry } or entry) do
            declare(list, declaration, entry.title)
        end
    end
    local kept = {}
    for _, option in ipairs(list) do
        option.type = option.type or infer(option)
        if option.default ~= nil then option.default = read(option, option.default) end
        if not option.withdrawn then kept[#kept + 1] = option end
    end
    return kept
end

-- Returns the options of a specification in order: { key, name, type, default,
-- help, group, ... }.
M.declared = collect

-- ---- the command line ----

-- Says in one line what an option is for, and which values it takes.
local function help_text(option)
    local pieces, notes = {}, {}
    if option.help then pieces[1] = option.help end
    if option.choices then
        pieces[#pieces + 1] = '(' .. table.concat(option.choices, ', ') .. ')'
    end
    if option.unit then notes[#notes + 1] = option.unit end
    if option.default ~= nil and option.type ~= 'boolean' then
        notes[#notes + 1] = 'default ' .. show(option.default)
    end
    if #notes > 0 then pieces[#pieces + 1] = '[' .. table.concat(notes, ', ') .. ']' end
    return table.concat(pieces, ' ')
end

M.help_text = help_text

local function add_to_parser(parser, option)
    if option.type ~= 'boolean' then
        return parser:option('--' .. option.name, help_text(option)):target(option.key)
            :argname('<' .. types[option.type].metavar .. '>')
    end
    local name = option.default and '--no-' .. option.name or '--' .. option.name
    return parser:flag(name, help_text(option)):target(option.key)
end

-- argparse is loaded only for scripts with options: it would be a third of what
-- the garbage collector of a small script has to scan.
local function make_parser(spec, list)
    local argparse = require 'argparse'
    local about = (spec.title or '') .. (spec.help and '\n' .. spec.help or '')
    local parser = argparse(M.program, about):add_help(false)
    local groups = {}
    for _, option in ipairs(list) do
        local element = add_to_parser(parser, option)
        local title = option.group or 'Of this scenario'
        if not groups[title] then
            groups[#groups + 1], groups[title] = title, {}
        end
        table.insert(groups[title], element)
    end
    parser:argument('extra'):args('*'):hidden(true)
    for _, title in ipairs(groups) do parser:group(title, unpack(groups[title])) end
    parser:group('Other', parser:flag('-h --help', 'show this text and stop'))
    return parser
end

-- Turns "--nx", "-1" into "--nx=-1": a negative number is a value, not an option.
local function join_negatives(words)
    local joined = {}
    for _, word in ipairs(words) do
        local last = joined[#joined]
        if word:find '^%-[%d.]' and last and last:find '^%-%-[^=]+$' then
            joined[#joined] = last .. '=' .. word
        else
            joined[#joined + 1] = word
        end
    end
    return joined
end

-- Refuses what the parser did not understand; suggests an option that is near.
local function refuse_words(list, problem)
    local name, flags = problem:match "^unknown option '%-%-([%w-]+)'$", {}
    for k, option in ipairs(list) do
        local is_off = option.type == 'boolean' and option.default
        flags[k] = (is_off and 'no-' or '') .. option.name
    end
    errors.usage('%s%s', problem, name and suggest(name, flags, '--') or '')
end

local function parse_words(spec, list, words)
    local parser = make_parser(spec, list)
    local ok, result = parser:pparse(join_negatives(words))
    if not ok then refuse_words(list, (result:gsub('\n.*', ''))) end
    if result.extra[1] then errors.usage("'%s' is no option", result.extra[1]) end
    if result.help then
        events.tell('answer', { message = parser:get_help() })
        errors.stop()
    end
    for _, option in ipairs(list) do
        if result[option.key] and option.type == 'boolean' then
            result[option.key] = not option.default
        end
    end
    return result
end

-- ---- the values ----

local function check_names(list, values)
    local known, keys = {}, {}
    for k, option in ipairs(list) do known[option.key], keys[k] = true, option.key end
    for key in pairs(values) do
        if not known[key] then
            errors.usage("unknown option '%s'%s", tostring(key), suggest(key, keys))
        end
    end
    return values
end

-- Returns in words the options that an option needs, if it has none of them. A run in three
-- dimensions does not declare all.
local function missing_needs(option, values, declared)
    local names = {}
    for _, key in ipairs(option.needs or {}) do
        if values[key] then return nil end
        local needed = declared[key]
        names[#names + 1] = needed and '--' .. needed.name .. ' ' .. types[needed.type].metavar
    end
    return names[1] and table.concat(names, ' or ')
end

-- Refuses options that would have no effect without another option.
local function check_needs(list, given, values)
    local declared = {}
    for _, option in ipairs(list) do declared[option.key] = option end
    for _, option in ipairs(list) do
        local missing = given[option.key] ~= nil and missing_needs(option, values, declared)
        if missing then errors.usage('option --%s wants %s', option.name, missing) end
    end
end

-- Checks the table of options in a call. declared: the options it may hold, by
-- key, as of_run() returns them. values: those given and the defaults behind them.
function M.check(what, given, declared, values)
    local names = {}
    for key in pairs(declared) do names[key] = 'any' end
    errors.fields(what, given, names)
    for key, value in pairs(given) do
        local option = declared[key]
        M.field(what, key, option, value)
        local missing = missing_needs(option, values, declared)
        if missing then errors.argument('%s: %s wants %s', what, key, missing) end
    end
    return given
end

local function metadata(values, list)
    local out = {}
    for _, option in ipairs(list) do
        local value = values[option.key]
        if type(value) == 'boolean' or type(value) == 'table' then value = show(value) end
        if value ~= nil then
            out[#out + 1] = { name = option.key, value = value, unit = option.unit,
                              help = option.help }
        end
    end
    return out
end

-- Returns the given options as words; each word holds every bit of its value.
-- given(key): what the user typed for an option, or nil.
local function words(given, list)
    local out = {}
    for _, option in ipairs(list) do
        local value = given(option.key)
        if option.type == 'boolean' then
            if value ~= nil and value ~= option.default then
                out[#out + 1] = (option.default and '--no-' or '--') .. option.name
            end
        elseif value ~= nil then
            value = types[option.type].read(value)
            local shown = show(value)
            if type(value) == 'number' and tonumber(shown) ~= value then
                shown = ('%.17g'):format(value)
            end
            out[#out + 1] = '--' .. option.name .. '=' .. shown
        end
    end
    return out
end

-- Redirects the files that the scenario writes by itself, for a rerun.
local function move(list, given)
    for _, option in ipairs(list) do
        local name = given[option.key]
        if name and type(option.writes) == 'string' then
            given[option.key] = M.elsewhere(option.key, name)
        end
    end
end

-- Reads the options from M.source; see the head of this file.
local function evaluate(_, spec)
    local list = collect(errors.wanted('options', 'table', spec))
    local source = M.source
    local is_words = #source > 0 or next(source) == nil
    local given = is_words and parse_words(spec, list, source) or check_names(list, source)
    if M.elsewhere then move(list, given) end
    local methods = {}
    local values = setmetatable({}, { __index = methods })
    for _, option in ipairs(list) do
        local value = given[option.key]
        if value == nil then value = option.default else value = read(option, value) end
        if not (option.writes and value == 'none') then values[option.key] = value end
    end
    if is_words then    -- a table of values comes from a session, which may name files later
        check_needs(list, given, values)
        paths.check(list, values)
    end
    function methods:metadata() return metadata(self, list) end
    function methods.typed(_, key) return given[key] end
    function methods:given(key) return self:typed(key) ~= nil end
    function methods:words()
        return words(function(key) return self:typed(key) end, list)
    end
    return values
end

-- Returns the options `base`, of mare.options or a plain table, with the values
-- `given` before theirs. is_hidden(key) tells which values of base do not count.
function M.over(base, given, is_hidden)
    local function typed(_, key)
        if given[key] ~= nil then return given[key] end
        if not is_hidden(key) and base.typed then return base:typed(key) end
    end
    return setmetatable(tables.merged(given), { __index = function(_, key)
        if key == 'typed' then return typed end
        if not is_hidden(key) then return base[key] end
    end })
end

-- The launcher sets these, and script = { name, text } of the file that it
-- runs.
M.source = M.source or {}                   -- see the head of this file
M.program = M.program or 'scenario'         -- the name that --help shows
M.elsewhere = false     -- or of a rerun: (key, path) -> the path to write instead

-- apply(name, f, value): calls f(value); an error of f names the option.
M.apply = errors.option

-- Refuses the value of an option for a reason that only the scenario knows.
-- wanted: what is allowed, in words. A value of nil is reported as missing.
function M.refuse(name, value, wanted)
    local what = value == nil and ' is missing' or (": '%s'"):format(show(value))
    errors.usage('option --%s%s (allowed: %s)', name, what, wanted)
end

-- numbers(name, text, count, range): returns the list of numbers that a text
-- option holds; see numbers.lua.
M.numbers = require 'mare.base.numbers'

-- ---- shared groups ----

for name, group in pairs(require 'mare.base.run_options') do M[name] = group end

local known = {}        -- what of_run() has returned, until an option is added at the end

-- Returns the options of every run by key: { key, name, type, default, range,
-- help, ... }.
function M.of_run()
    local last = M.simulation[#M.simulation]
    if known.last == last then return known.options end
    known.last, known.options = last, {}
    for _, option in ipairs(collect { M.simulation }) do known.options[option.key] = option end
    return known.options
end

-- Returns the value of an option of every run in a table of options, or its
-- default.
function M.value(values, key)
    local option, value = M.of_run()[key], values[key]
    if value == nil then return option.default end
    return M.field('options', key, option, value)
end

-- Returns the fields given to a constructor. A field `options` holds those of a
-- scenario: each option of the group stands in for a field that is not given.
function M.pick(what, given, group)
    if type(given) ~= 'table' or given.options == nil then return given end
    local picked, of_run = tables.merged(given), M.of_run()
    picked.options = nil
    local values = errors.wanted(what .. ': options', 'table', given.options)
    for _, option in ipairs(collect { group }) do
        local key = option.key
        if picked[key] == nil and not of_run[key] then picked[key] = values[key] end
    end
    return picked
end

return setmetatable(M, { __call = evaluate })
