-- complete.lua - returns what could stand where somebody is typing: names of
-- the session, fields and methods of live objects, options of a scenario,
-- devices, variables, files. It opens no device and calls no function but
-- Mare's own, because a foreign one might never return, and Ctrl-C does not
-- interrupt completion. A metatable may offer __names(object), the fields that
-- are neither in its table nor in a table __index; __words(object, method), the
-- texts that the method takes; and __options(object, method), the fields of the
-- table that the method takes.

local arrays = require 'bindings.array'
local folders = require 'bindings.folders'
local posix = require 'bindings.posix'
local public = require 'mare.base.public'
local tables = require 'bindings.tables'

local complete = {}

local keywords = { 'and', 'break', 'do', 'else', 'elseif', 'end', 'false', 'for', 'function', 'if',
    'in', 'local', 'nil', 'not', 'or', 'repeat', 'return', 'then', 'true', 'until', 'while' }

local max_keys = 5000

-- ---- names of a value ----

local function add_keys(found, t)
    local count = 0
    for key in next, t do
        if type(key) == 'string' and key:find '^[%a_][%w_]*$' then found[key] = true end
        count = count + 1
        if count > max_keys then return end
    end
end

local function meta_of(value)
    local meta = arrays.metatable(value)
    return type(meta) == 'table' and meta or {}
end

local function add_names(found, value, depth)
    if type(value) == 'table' then add_keys(found, value) end
    local meta = meta_of(value)
    local names = rawget(meta, '__names')
    if names then
        local ok, list = pcall(names, value)
        for _, name in ipairs(ok and list or {}) do found[name] = true end
    end
    local index = rawget(meta, '__index')
    if type(index) == 'table' and depth < 8 then add_names(found, index, depth + 1) end
end

-- Returns all that can follow the value and a dot, sorted.
function complete.names(value)
    local found = {}
    add_names(found, value, 0)
    return tables.keys(found)
end

-- Returns value[key] if it can be reached through tables, or through functions
-- of a metatable with __names.
local function get(value, key)
    for _ = 1, 10 do
        local own = type(value) == 'table' and rawget(value, key)
        if own ~= nil and own ~= false then return own end
        local meta = meta_of(value)
        local index = rawget(meta, '__index')
        if type(index) == 'function' and rawget(meta, '__names') then
            local ok, result = pcall(index, value, key)
            return ok and result or nil
        end
        if type(index) ~= 'table' then return nil end
        value = index
    end
end

-- Returns the value of 'a.b.c', or nil if there is none.
local function value_of(environment, path)
    local value = environment
    for name in path:gmatch '[%a_][%w_]*' do
        value = get(value, name)
        if value == nil then return nil end
    end
    return value
end
complete.value_of = value_of

local function starting(list, word)
    local out = {}
    for _, name in ipairs(list) do
        if name:sub(1, #word) == word then out[#out + 1] = name end
    end
    return out
end

-- Returns the names that can follow a colon: those of functions.
local function callable(value, names)
    local out = {}
    for _, name in ipairs(names) do
        local field = get(value, name)
        if type(field) == 'function' or meta_of(field).__call then out[#out + 1] = name end
    end
    return out
end

local function members(environment, text)
    local path, mark, word = text:match '([%a_][%w_%.]*)%s*([.:])%s*([%w_]*)$'
    if not path then return end
    local value = value_of(environment, path)
    if value == nil then return {}, word end
    local names = complete.names(value)
    if mark == ':' then names = callable(value, names) end
    return starting(names, word), word
end

local function globals(environment, text)
    local word = text:match '[%a_][%w_]*$' or ''
    local found = tables.set(keywords)
    add_names(found, environment, 0)
    return starting(tables.keys(found), word), word
end

-- ---- options of a scenario ----

local function scenario_option(_, text)
    local name, inside = text:match 'simulation%s*%(?%s*[\'"]([%w_]+)[\'"]%s*%)?%s*{([^}]*)$'
    local word = name and (inside:match '^%s*([%w_]*)$' or inside:match '[,;]%s*([%w_]*)$')
    if not word then return end
    local ok, options = pcall(require('mare.live.scenario').options, name)
    local names = {}
    for _, option in ipairs(ok and options or {}) do names[#names + 1] = option.key .. ' = ' end
    table.sort(names)
    return starting(names, word), word
end

-- Completes options of a method's table: sim:run { t_
local function method_option(environment, text)
    local path, method, inside =
        text:match '([%a_][%w_%.]*)%s*:%s*([%w_]+)%s*%(?[^%({}]*{([^{}]*)$'
    local word = path and (inside:match '^%s*([%w_]*)$' or inside:match '[,;]%s*([%w_]*)$')
    local value = word and value_of(environment, path)
    local options = value ~= nil and value and rawget(meta_of(value), '__options')
    local names = options and options(value, method)
    if not names then return end
    for k, name in ipairs(names) do names[k] = name .. ' = ' end
    table.sort(names)
    return starting(names, word), word
end

-- ---- inside a quoted text ----

-- Returns the quoted text that is open at the end, and what stands before it.
local function open_text(text)
    local at, quote, start = 1, nil, nil
    while at <= #text do
        local c = text:sub(at, at)
        if quote and c == '\\' then
            at = at + 1
        elseif quote and c == quote then
            quote = nil
        elseif not quote and (c == '"' or c == "'") then
            quote, start = c, at
        end
        at = at + 1
    end
    if quote then return text:sub(1, start - 1), text:sub(start + 1) end
end

local function device_names()
    local names = { 'auto' }
    for _, backend in ipairs(public.table().device.backends()) do
        for i = 0, backend.device_count - 1 do
            names[#names + 1] = ('%s:%d'):format(backend.name, i)
        end
    end
    return names
end

local function file_names(word)
    local within, prefix = word:match '^(.*/)([^/]*)$'
    within, prefix = within or '', prefix or word
    local names = {}
    for _, name in ipairs(folders.list(within == '' and '.' or within) or {}) do
        local is_hidden = name:sub(1, 1) == '.' and prefix:sub(1, 1) ~= '.'
        if not is_hidden then
            local status = posix.status(within .. name)
            local is_folder = status and status.is_folder
            names[#names + 1] = within .. name .. (is_folder and '/' or '')
        end
        if #names > max_keys then break end
    end
    table.sort(names)
    return names
end

-- Completes the choices of an option: simulation 'x' { flux = '
local function option_choices(before)
    local name, key = before:match
        'simulation%s*%(?%s*[\'"]([%w_]+)[\'"]%s*%)?%s*{.-([%w_]+)%s*=%s*$'
    if not name then return end
    local ok, options = pcall(require('mare.live.scenario').options, name)
    for _, option in ipairs(ok and options or {}) do
        if option.key == key then return option.choices end
    end
end

-- Completes the texts that an object's method takes.
local function method_words(environment, before)
    local path, method = before:match '([%a_][%w_%.]*)%s*[:.]%s*([%w_]+)%s*%(?%s*$'
    local value = path and value_of(environment, path)
    local words = value ~= nil and rawget(meta_of(value), '__words')
    if not words then return end
    local ok, list = pcall(words, value, method)
    return ok and list or nil
end

local function words_for(environment, before, word)
    if before:find '[%w_]*device%s*=%s*$' or before:find '%f[%w]open%s*%(?%s*$' then
        return device_names()
    elseif before:find 'simulation%s*%(?%s*$' or before:find '%f[%w]examples%s*%(?%s*$' then
        return require('mare.live.scenario').names()
    elseif before:find '%f[%w]help%s*%(?%s*$' then
        return require('mare.session.help').names()
    end
    return option_choices(before) or method_words(environment, before) or file_names(word)
end

local function within_text(environment, text)
    local before, word = open_text(text)
    if not before then return end
    return starting(words_for(environment, before, word), word), word
end

-- ---- everything ----

-- Returns the words that could stand at the end of `text`, and where in it they
-- begin.
function complete.at(environment, text)
    for _, source in ipairs { within_text, scenario_option, method_option, members,
        globals } do
        local ok, words, word = pcall(source, environment, text)
        if ok and words then return words, #text - #word + 1 end
    end
    return {}, #text + 1
end

return complete
