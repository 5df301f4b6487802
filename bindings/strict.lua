-- strict.lua - refuses unknown names of public tables, such as mare.array.zerros. Only scripts are
-- refused: Mare's own Lua may ask a table whether it has a field.

local elsewhere = require 'bindings.elsewhere'
local errors = require 'bindings.errors'
local suggest = require 'bindings.suggest'

local strict = {}

local made = setmetatable({}, { __mode = 'k' })     -- the metatables of tables that had none

-- Raises that the table `title` has no such name; names: those that it has.
function strict.refuse(title, name, names)
    local told = title == 'mare' and elsewhere.told('functions', name)
    errors.argument("%s: there is no '%s'%s: help(%s) lists all", title, name,
        told or suggest(name, names), title:match '^mare%.?[^.]*')
end

local function names_of(t)
    local names = {}
    for name in pairs(t) do names[#names + 1] = type(name) == 'string' and name or nil end
    return names
end

-- Names that begin with '_' are those of protocols, which a table may lack.
local function index_of(title)
    return function(t, name)
        local is_asked = type(name) ~= 'string' or name:find '^_' or errors.is_inside(2)
        if not is_asked then strict.refuse(title, name, names_of(t)) end
    end
end

local function guard(t, title)
    local meta = getmetatable(t)
    if not meta then
        meta = {}
        made[meta] = true
        setmetatable(t, meta)
    end
    if rawget(meta, '__index') == nil then meta.__index = index_of(title) end
end

-- Whether the table has no metatable, or one that only refuses unknown names.
function strict.is_plain(t)
    local meta = getmetatable(t)
    return meta == nil or made[meta] ~= nil
end

local function has_only_functions(t)
    for _, value in pairs(t) do
        if type(value) ~= 'function' then return false end
    end
    return next(t) ~= nil
end

-- Guards a module and the tables of functions in it. title: its name, 'mare.array'
function strict.guard(module, title)
    for name, inner in pairs(module) do
        if type(inner) == 'table' and strict.is_plain(inner) and has_only_functions(inner) then
            guard(inner, title .. '.' .. name)
        end
    end
    guard(module, title)
end

return strict
