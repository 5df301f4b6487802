-- reference.lua - everything public, with the comments at its definition: the
-- modules of `mare` and their functions, the methods of objects, the C
-- interface, the words of kernels, the scenarios. An entry is
--     { name = 'mare.grid.new', kind = 'function', signature = 'mare.grid.new(desc)', text = ...,
--       where = 'lua/mare/array/grid.lua:67', value = the function or table }

local handle = require 'bindings.handle'
local home = require 'bindings.home'
local public = require 'mare.base.public'
local source = require 'mare.base.source'
local strict = require 'bindings.strict'
local tables = require 'bindings.tables'

local reference = {}

-- ---- comments of files ----

local files = {}

local function lines_of(path)
    if not files[path] then
        local lines, file = {}, io.open(path, 'r')
        for line in file and file:lines() or function() end do lines[#lines + 1] = line end
        if file then file:close() end
        files[path] = lines
    end
    return files[path]
end

-- Returns the comment lines first .. last without dashes.
local function text_of(lines, first, last)
    local out = {}
    for k = first, last do out[#out + 1] = lines[k]:gsub('^%s*%-%-%s?', '') end
    return table.concat(out, '\n')
end

-- Returns the comment right above a line, or '' if there is none or only a
-- heading.
local function comment_above(path, number)
    local lines = lines_of(path)
    local first = number
    while first > 1 and lines[first - 1] and lines[first - 1]:find '^%s*%-%-' do
        first = first - 1
    end
    local text = text_of(lines, first, number - 1)
    return text:find '^%-%-%-%-' and '' or text
end

-- Returns the comment at the head of a file, without the file's own name.
local function head_of(path)
    local lines, last = lines_of(path), 0
    while lines[last + 1] and lines[last + 1]:find '^%-%-' do last = last + 1 end
    return (text_of(lines, 1, last):gsub('^[%w_]+%.lua %- ', ''))
end

local function short(path)
    return path:sub(1, #home.root + 1) == home.root .. '/' and path:sub(#home.root + 2) or path
end

-- Returns the parameters in the line that defines a function, without a
-- method's self.
local function parameters(path, number)
    local line = lines_of(path)[number] or ''
    return (line:match '%b()' or '(...)'):gsub('^%(self,?%s*', '(')
end

-- Returns the entry of a Lua function, or nil if it is built in or was typed.
function reference.of_function(f, name)
    local info = debug.getinfo(f, 'S')
    local path = info.source:match '^@(.*)'
    if not path or #lines_of(path) == 0 then return nil end
    return { name = name, kind = 'function', value = f,
        signature = name and name .. parameters(path, info.linedefined) or nil,
        text = comment_above(path, info.linedefined),
        where = ('%s:%d'):format(short(path), info.linedefined) }
end

-- Returns the file where most functions of a table are defined, the first by
-- name of several; its head describes the objects that have these methods.
function reference.file_of(methods)
    local counts, best = {}, nil
    for _, f in pairs(methods) do
        local info = type(f) == 'function' and debug.getinfo(f, 'S')
        local path = info and info.source:match '^@(.*)'
        if path then counts[path] = (counts[path] or 0) + 1 end
    end
    for path, count in pairs(counts) do
        local most = best and counts[best] or 0
        if count > most or count == most and path < best then best = path end
    end
    return best
end

reference.head_of, reference.short = head_of, short

-- ---- Lua ----

local function add(list, entry)
    if entry and not list[entry.name] then
        list[#list + 1], list[entry.name] = entry, entry
    end
end

local function sorted(t)
    local names = {}
    for name in pairs(t) do
        if type(name) == 'string' and not name:find '^__' then names[#names + 1] = name end
    end
    table.sort(names)
    return names
end

local function add_functions(list, prefix, t)
    for _, name in ipairs(sorted(t)) do
        local value = rawget(t, name)
        if type(value) == 'function' then
            add(list, reference.of_function(value, prefix .. name))
        end
    end
end

-- Adds the methods of the classes that a file defines: "function
-- Grid:x_centre(i)" becomes grid:x_centre.
local function add_classes(list, path)
    for number, line in ipairs(lines_of(path)) do
        local class, method = line:match '^function (%u%l+)[:.]([%l][%w_]*)%('
        if class then
            local name = class:lower() .. ':' .. method
            add(list, { name = name, kind = 'method', text = comment_above(path, number),
                signature = name .. parameters(path, number),
                where = ('%s:%d'):format(short(path), number) })
        end
    end
end

local function path_of(module)
    return package.searchpath and package.searchpath(module, package.path)
        or home.root .. '/lua/' .. module:gsub('%.', '/') .. '.lua'
end

-- Adds a table inside a module: functions, or choices with their descriptions.
local function add_inner(list, prefix, t, path)
    add_functions(list, prefix, t)
    for _, name in ipairs(sorted(t)) do
        if type(t[name]) == 'string' and t[name]:find '%a%a' then      -- a description, not data
            add(list, { name = prefix .. name, kind = 'choice', text = t[name],
                signature = prefix .. name, where = short(path) })
        end
    end
end

-- Adds a group of declarations of options.lua. Options of every simulation are
-- named as on the command line.
local function add_options(list, prefix, group, path)
    local options = require 'mare.base.options'
    for _, option in ipairs(options.declared { group }) do
        local own = prefix == 'mare.options.simulation.' or prefix == 'mare.options.device.'
        local name = own and '--' .. option.name or prefix .. option.key
        add(list, { name = name, kind = 'option', text = options.help_text(option),
            signature = ('--%s on a command line, %s = in a table'):format(option.name, option.key),
            where = short(path) })
    end
end

local function add_modules(list)
    local mare = public.table()
    local names = getmetatable(mare).__names()
    table.sort(names)
    for _, name in ipairs(names) do
        local value, module = mare[name], getmetatable(mare).__module(name)
        if type(value) == 'function' then
            add(list, reference.of_function(value, 'mare.' .. name))
        elseif type(value) == 'table' and module then
            local path = path_of(module)
            add(list, { name = 'mare.' .. name, kind = 'module', value = value, where = short(path),
                text = head_of(path), signature = 'mare.' .. name })
            add_functions(list, 'mare.' .. name .. '.', value)
            for _, key in ipairs(sorted(value)) do
                local inner, prefix = value[key], 'mare.' .. name .. '.' .. key .. '.'
                if type(inner) == 'table' and strict.is_plain(inner) then
                    local is_group = type(inner[1]) == 'table' and inner[1].name
                    local add_all = is_group and add_options or add_inner
                    add_all(list, prefix, inner, path)
                end
            end
            add_classes(list, path)
        end
    end
end

local function add_handles(list)
    require 'mare.draw'
    for _, kind in ipairs(sorted(handle.classes)) do
        local methods, path = handle.classes[kind].methods, handle.classes[kind].path
        add(list, { name = kind, kind = 'type', text = head_of(path), signature = kind,
            value = methods, where = short(path) })
        add_functions(list, kind .. ':', methods)
    end
end

-- Objects of scenarios and sessions that are not in the table `mare`.
local object_files = { 'mare.live.field', 'mare.draw', 'mare.session.watch', 'mare.ndarray.views',
    'mare.ndarray.assign', 'mare.ndarray.transfer', 'mare.ndarray.functions',
    'mare.ndarray.reduce', 'mare.ndarray.indices', 'mare.ndarray.ordering',
    'mare.ndarray.joining', 'mare.ndarray.products', 'mare.ndarray.linear', 'mare.ndarray.files' }

local function add_objects(list)
    for _, module in ipairs(object_files) do add_classes(list, path_of(module)) end
    local methods, path = require('mare.live').methods, path_of 'mare.live'
    add(list, { name = 'sim', kind = 'type', text = head_of(path), signature = 'sim',
        value = methods, where = short(path) })
    for _, name in ipairs(sorted(methods)) do
        local entry = reference.of_function(methods[name], 'sim:' .. name)
        entry.kind = 'method'
        add(list, entry)
    end
end

-- ---- C ----

local function c_comment(text)
    return (text:gsub('\n%s*%*%s?', '\n'):gsub('^%s+', ''):gsub('%s+$', ''))
end

-- Returns the end of the declaration that begins at `at`: its semicolon, after
-- the braces if it has any.
local function end_of_declaration(text, at)
    local stop, open = text:find(';', at, true) or #text, text:find('{', at, true)
    if not open or open > stop then return stop end
    local _, close = text:find('%b{}', open)
    return text:find(';', close, true)
end

local function name_of_declaration(declaration)
    local flat = declaration:gsub('/%*.-%*/', ''):gsub('%s+', ' ')
    return flat:match '(mare_[%w_]+)%s*%(' or flat:match '(mare_[%w_]+);$'
        or flat:match '^enum { ([%u_]+)'
end

-- Adds an interface: comments and declarations in sections with headings. A
-- comment belongs to the declaration after it, or to the one on the same line.
-- The comment of a section belongs to all its declarations.
local function add_header(list, path)
    local file = assert(io.open(path, 'r'))
    local text = file:read('*a'):match '/%* cdef:begin %*/(.-)%s*/%* cdef:end %*/'
    file:close()
    local section, above, at = '', '', text:match '^%s*()'
    while at <= #text do
        local comment, after = text:match('^/%*(.-)%*/()', at)
        local heading, rest = (comment or ''):match '^ %-%-%-%- (.-) %-%-%-%-(.*)$'
        if heading then
            section, above = heading .. '. ' .. c_comment(rest), ''
        elseif comment then
            above = c_comment(comment)
        else
            local stop = end_of_declaration(text, at)
            local beside, beyond = text:match('^ */%*([^\n]-)%*/()', stop + 1)
            local words = beside and c_comment(beside) or above
            local name = name_of_declaration(text:sub(at, stop))
            add(list, name and { name = name, kind = 'C', where = short(path),
                signature = text:sub(at, stop),
                text = (words ~= '' and words .. '\n' or '') .. 'Of: ' .. section })
            above, after = '', beyond or stop + 1
        end
        at = text:match('^%s*()', after)
    end
end

local function add_c(list)
    add_header(list, home.header)
    add_header(list, home.root .. '/bindings/mare_engine.h')
end

-- ---- kernels, scenarios, the session ----

local function add_word(list, name, entry)
    add(list, tables.merged({ name = name }, entry))
end

-- Adds the table of words in the README of kernels. Some words are explained in
-- the meaning of others.
local function add_kernel_words(list)
    for words, meaning in source.read 'README.md':gmatch '\n| (`[^|]*`[^|]*) | ([^|\n]*) |' do
        local entry = { kind = 'kernel word', text = meaning, signature = words:gsub('`', ''),
            where = 'the README.md of kernels' }
        for word in words:gmatch '%f[%w_][%a_][%w_]*' do
            if word:find '^[Mm][Rr]_%w' or word == 'real' or word == 'R' then
                add_word(list, word, entry)
                if meaning:find 'also `_y _z`' then
                    add_word(list, word:gsub('_x$', '_y'), entry)
                    add_word(list, word:gsub('_x$', '_z'), entry)
                end
            end
        end
        for word in meaning:gmatch '%f[%w_][Mm][Rr]_%w[%w_]*' do add_word(list, word, entry) end
    end
end

local function add_scenarios(list)
    local scenario = require 'mare.live.scenario'
    for _, name in ipairs(scenario.names()) do
        local path = home.root .. '/scenarios/' .. name .. '.lua'
        local how = scenario.simulates(name) and "mare.simulation '%s' { ... }"
            or 'mare %s, from a shell'
        add(list, { name = name, kind = 'scenario', text = head_of(path), where = short(path),
            signature = how:format(name) })
    end
end

-- Adds the kinds of sides that are tables.
local function add_tables(list, path, module, whose)
    for _, name in ipairs(sorted(module.kinds)) do
        add(list, { name = 'boundaries.' .. name, kind = 'choice', where = short(path),
            signature = ("{ kind = '%s', ... }"):format(name),
            text = whose .. ': ' .. module.kinds[name] .. '.\n' .. head_of(path) })
    end
end

-- Adds what the sides of a grid may be.
local function add_boundaries(list)
    local boundary = require 'mare.array.boundary'
    add(list, { name = 'boundaries', kind = 'type', where = short(path_of 'mare.array.boundary'),
        signature = "boundaries = 'periodic' or { west =, east =, south =, north = }",
        text = 'What the sides of a grid are: one kind for all, or one for each side. Some are '
            .. "tables,\nsuch as { kind = 'flather', eta = 0.5 } of an ocean." })
    for _, name in ipairs(sorted(boundary.kinds)) do
        add(list, { name = 'boundaries.' .. name, kind = 'choice',
            text = boundary.kinds[name].says, where = short(path_of 'mare.array.boundary'),
            signature = ("'%s'"):format(name) })
    end
    add_tables(list, path_of 'mare.ocean.open', require 'mare.ocean.open', 'of an ocean')
    add_tables(list, path_of 'mare.schemes.sides', require 'mare.schemes.sides',
        'of gas, flat water and other equations')
end

local function add_session(list)
    for name, load in pairs(reference.words) do
        local value = load()
        if type(value) == 'function' then add(list, reference.of_function(value, name)) end
    end
end

local all

-- Returns all entries as an array that is also indexed by name.
function reference.all()
    if all then return all end
    local list = {}
    for _, step in ipairs { add_modules, add_handles, add_objects, add_c, add_kernel_words,
        add_scenarios, add_boundaries, add_session } do step(list) end
    all = list
    return all
end

return reference
