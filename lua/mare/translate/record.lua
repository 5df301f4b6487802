-- Writes down a function of Lua as text: its own, and the values of what it uses from outside. A
-- file that holds that holds all that the function depends on, if it uses nothing else but numbers,
-- truth values, texts, such fields of tables, functions of which the same holds, and libraries.
--
--     record.of(f) -> { text = "function(x) return rate * x end",
--         values = { rate = '0.7', ['settings.dt'] = '0.1', helper = 'function(a) ... end' },
--         closes_over = nil, or "'queue' (a userdata)": what no text can hold }

local literal = require 'mare.base.literal'
local lists = require 'mare.parse.lists'
local text = require 'mare.parse.text'

local record = {}

local plain = { number = true, boolean = true, string = true }

-- Whether a value is one of the libraries, or a function of one that is written in C.
local function is_library(value)
    if type(value) == 'function' then return debug.getinfo(value, 'S').what == 'C' end
    if value == _G then return true end
    for _, module in pairs(package.loaded) do if module == value then return true end end
    return false
end

-- Returns the keys by which a text reads a table, or nil if it does anything else with it.
local function keys_read(own, name)
    local list = {}
    for before, after in own:gmatch('()%f[%w_]' .. name .. '%f[^%w_]()') do
        if not own:sub(1, before - 1):find '[%.:]%s*$' then
            local rest = own:sub(after)
            local key = rest:match '^%.([%a_][%w_]*)' or tonumber(rest:match '^%[(%d+)%]')
            if not key then return nil end
            list[#list + 1] = key
        end
    end
    return list
end

local add

local function source_of(f)
    return 'function' .. text.of(f).source
end

-- Adds what a function uses from outside itself.
local function add_upvalues(self, f)
    if self.seen[f] then return end
    self.seen[f] = true
    local own = source_of(f)
    for k, name in ipairs(text.upvalues(f)) do
        add(self, name, select(2, debug.getupvalue(f, k)), own)
    end
end

local function refuse(self, name, value)
    self.closes_over = self.closes_over or ("'%s' (a %s)"):format(name, type(value))
end

local function add_list(self, name, list)
    local texts = {}
    for k, one in ipairs(list) do texts[k] = literal.encode(one) end
    self.values[name] = ('{ %s }'):format(table.concat(texts, ', '))
end

-- Adds what a function reads of a table.
local function add_table(self, name, value, own)
    local keys = keys_read(own, name)
    if not keys and lists.is(value) then return add_list(self, name, value) end
    if not keys then return refuse(self, name, value) end
    for _, key in ipairs(keys) do
        local entry, path = value[key], ('%s.%s'):format(name, key)
        if lists.is(entry) then
            add_list(self, path, entry)
        elseif type(entry) == 'table' then
            return refuse(self, path, entry)
        else
            add(self, path, entry, own)
        end
    end
end

-- own: the text of the function that uses the value by this name
function add(self, name, value, own)
    local kind = type(value)
    if kind == 'nil' then
        self.values[name] = 'nil'
    elseif plain[kind] then
        self.values[name] = literal.encode(value)
    elseif is_library(value) then
        return
    elseif kind == 'function' then
        self.values[name] = source_of(value)
        add_upvalues(self, value)
    elseif kind == 'table' then
        add_table(self, name, value, own)
    else
        refuse(self, name, value)
    end
end

-- Returns the record of a function; its text must be there to be found (text.lua).
function record.of(f)
    local self = { text = source_of(f), values = {}, seen = {} }
    add_upvalues(self, f)
    return { text = self.text, values = self.values, closes_over = self.closes_over }
end

-- Returns a record as one text, in which everything stands that tells it from another one.
function record.text(f)
    local own = record.of(f)
    local names, lines = {}, { own.text }
    for name in pairs(own.values) do names[#names + 1] = name end
    table.sort(names)
    for k, name in ipairs(names) do
        lines[#lines + 1] = (k == 1 and 'where ' or '    ') .. name .. ' = ' .. own.values[name]
    end
    if own.closes_over then lines[#lines + 1] = 'and which closes over ' .. own.closes_over end
    return table.concat(lines, '\n')
end

-- Returns the first lines of two texts that are not the same.
function record.difference(a, b)
    local left, right = (a .. '\n'):gmatch '([^\n]*)\n', (b .. '\n'):gmatch '([^\n]*)\n'
    while true do
        local one, other = left(), right()
        if one ~= other then return one or 'none', other or 'none' end
    end
end

return record
