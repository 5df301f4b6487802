-- help.lua - help() in a session prints what something is, from the reference.

local arrays = require 'bindings.array'
local handle = require 'bindings.handle'
local options = require 'mare.base.options'
local printable = require 'bindings.printable'
local reference = require 'mare.session.reference'
local screen = require 'mare.draw.screen'
local suggest = require 'bindings.suggest'
local tables = require 'bindings.tables'

local help = {}

local max_found = 25
local least_room = 30       -- columns for texts beside the names, even on a narrow screen

-- Returns the first sentence in one line. A full stop inside parentheses, as in
-- "(1981, J. Fluid Mech. 107)", ends none.
local function first_sentence(text)
    local flat = text:gsub('%s+', ' ')
    for stop in flat:gmatch '[^%.%s]%.()%s' do
        local sentence = flat:sub(1, stop - 1)
        local _, opened = sentence:gsub('%(', '')
        local _, closed = sentence:gsub('%)', '')
        if opened == closed then return sentence end
    end
    return flat
end

local function bold(text) return screen.paint('1', text) end

local function show(entry)
    local lines = { bold(entry.signature or entry.name or 'function') }
    lines[#lines + 1] = entry.text ~= '' and entry.text or 'It says nothing of itself.'
    if entry.where then lines[#lines + 1] = '(' .. entry.where .. ')' end
    return table.concat(lines, '\n')
end

-- Returns the names in a column with what each is beside it, as wide as the
-- screen.
local function list(entries)
    local widest, lines = 0, {}
    for _, entry in ipairs(entries) do widest = math.max(widest, #entry.name) end
    local indent = widest + 4
    local room = math.max(least_room, (screen.size()) - 1 - indent)
    for k, entry in ipairs(entries) do
        lines[k] = ('  %s%s  %s'):format(entry.name, (' '):rep(widest - #entry.name),
            screen.wrapped(first_sentence(entry.text), room, indent))
    end
    return table.concat(lines, '\n')
end

local function with_prefix(prefix)
    local found = {}
    for _, entry in ipairs(reference.all()) do
        if entry.name:sub(1, #prefix) == prefix and entry.name ~= prefix then
            found[#found + 1] = entry
        end
    end
    return found
end

-- Returns the options of a scenario, or of a method that takes those of a run, as
-- text.
local function what_it_takes(entry)
    local live = require 'mare.live'
    if entry.kind == 'scenario' then
        return '\n' .. tostring(live.named(entry.name)):gsub('^[^\n]*', 'Options:')
    elseif not live.takes_options[entry.name:match '^sim:(%w+)$'] then
        return ''
    end
    local entries = {}
    for key, option in pairs(live.run_options()) do
        entries[#entries + 1] = { name = key, text = options.help_text(option) }
    end
    table.sort(entries, function(a, b) return a.name < b.name end)
    return '\nOptions:\n' .. list(entries)
end

-- Modules whose objects have another name in a session. Help shows the methods of
-- that name.
local objects = { ['mare.simulation'] = 'sim:' }

-- Returns the text of a module or a type and of its members. The text of a
-- constructor is shown whole, with the fields that it takes.
local function show_with_members(entry)
    local class = entry.kind ~= 'function'
        and (objects[entry.name] or entry.name:gsub('^mare%.', '') .. ':')
    local maker, members = reference.all()[entry.name .. '.new'], {}
    for _, prefix in ipairs { entry.name .. '.', class or nil } do
        for _, member in ipairs(with_prefix(prefix)) do
            if member ~= maker then members[#members + 1] = member end
        end
    end
    local text = show(entry)
    if maker then text = ('%s\n%s takes\n%s'):format(text, bold(entry.name), maker.text) end
    if #members == 0 then return text .. what_it_takes(entry) end
    return text .. '\n' .. list(members)
end

-- Returns the names of the entries of a kind, without their prefix.
local function names_of(is_wanted, prefix)
    local names = {}
    for _, entry in ipairs(reference.all()) do
        if is_wanted(entry) then names[#names + 1] = entry.name:sub(#prefix + 1) end
    end
    return screen.wrapped(table.concat(names, ' '), (screen.size()) - 3, 2)
end

local function overview()
    local all = reference.all()
    -- The many functions of arrays are told of under mare.array.
    local function is_module(entry)
        local name = entry.name:match '^mare%.([%w_]+)$'
        return entry.kind == 'module' or name ~= nil and not all['mare.array.' .. name]
    end
    local function is_scenario(entry) return entry.kind == 'scenario' end
    return table.concat({
        bold 'What most sessions are made of',
        "  sim = mare.simulation 'kelvin_helmholtz' { nx = 512 }  a scenario, set up",
        "  sim:run { t_end = 1, show = 'rho' }   sim:step(10)     computes",
        "  sim:plot 'rho'   f = sim:field 'rho'                   looks at it",
        "  sim:save 'x.nc'                                        keeps it (.png, .ck)",
        "  help 'sim'   help(mare.grid)   help 'checkpoint'       tells more, or searches",
        '  examples()                                             shows how, step by step',
        '',
        bold 'Keys' .. '  Tab completes; Ctrl-C stops what runs; Ctrl-R searches what was typed;',
        '  _ is the last value, _1 ... _9 are the last nine.',
        '',
        bold 'mare.',
        '  ' .. names_of(is_module, 'mare.'),
        bold 'Scenarios',
        '  ' .. names_of(is_scenario, ''),
        bold 'Also' .. "  help 'buffer', 'mr_gid_x' (a word of kernels), 'mare_buffer_create' (C)",
    }, '\n')
end

-- Returns the entries that contain the text, those with it in their name first.
function help.search(text)
    local wanted, by_name, by_text = text:lower(), {}, {}
    for _, entry in ipairs(reference.all()) do
        local name = entry.name:lower()
        local is_option = entry.kind == 'option' and name:find(wanted:gsub('_', '-'), 1, true)
        if is_option or name:find(wanted, 1, true) then
            by_name[#by_name + 1] = entry
        elseif entry.text:lower():find(wanted, 1, true) then
            by_text[#by_text + 1] = entry
        end
    end
    for _, entry in ipairs(by_text) do by_name[#by_name + 1] = entry end
    return by_name
end

-- Returns all names that help knows, sorted, for completion.
function help.names()
    local names = tables.column(reference.all(), 'name')
    table.sort(names)
    return names
end

-- The names that of_text knows, without mare's own.
local function short_names()
    local names = {}
    for k, name in ipairs(help.names()) do names[k] = name:gsub('^mare%.', '') end
    return names
end

-- Returns the help of a name, or what a search of it finds, and whether there is anything.
local function of_text(text)
    local all = reference.all()
    local entry = all[text] or all['mare.' .. text]
    if entry then return show_with_members(entry), true end
    local found = help.search(text)
    if #found == 0 then
        local meant = suggest((text:gsub('^mare%.', '')), short_names())
        return printable(("Nothing about '%s'%s."):format(text, meant)), false
    end
    local rest = #found - max_found
    for k = #found, max_found + 1, -1 do found[k] = nil end
    return list(found) .. (rest > 0 and ('\n  ... %d more'):format(rest) or ''), true
end

local function of_value(x)
    if x == nil then return "nil: there is nothing of that name. help 'text' searches." end
    for _, entry in ipairs(reference.all()) do
        if entry.value == x then return show_with_members(entry) end
    end
    if type(x) == 'function' then
        local entry = reference.of_function(x)
        return entry and show(entry) or "A function of Lua, or one that was typed."
    end
    local kind = handle.kind(x)
    if kind then return show_with_members(reference.all()[kind]) end
    local meta = (type(x) == 'table' or arrays.is(x)) and arrays.metatable(x)
    if type(meta) == 'table' and rawget(meta, '__help') then return of_text(meta.__help(x)) end
    local methods = type(meta) == 'table' and (rawget(meta, '__methods') or rawget(meta, '__index'))
    local path = type(methods) == 'table' and reference.file_of(methods)
    if path then
        return show { signature = reference.short(path), text = reference.head_of(path) }
    end
    return ("A %s. help 'text' searches."):format(type(x))
end

-- Returns what help(...) prints; of a text, also whether there is anything about it.
function help.text(...)
    if select('#', ...) == 0 then return overview() end
    local x = ...
    if type(x) == 'string' then return of_text(x) end
    return of_value(x)
end

-- help(x) prints what x is: a function, an object, a module of mare. help
-- 'name' does so by name, also for the C interface, scenarios and the words of
-- kernels; help 'text' searches everything.
function help.help(...)
    io.write((help.text(...)), '\n')
end

return help
