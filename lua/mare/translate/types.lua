-- Defines the types of values while a function is translated. Numbers have the types of
-- dialect/types.lua; arrays, records and tuples are tables:
--
--     { kind = 'array', element = type of what is read, stored = type in memory,
--       written = its name in the dialect, count = type of x.count,
--       is_local = whether it is in local memory, size = its elements if so }
--     { kind = 'record', written = its name in the dialect, fields = { name = type },
--       texts = { name = what follows the record's text, such as '.rho' } }
--     { kind = 'tuple', element, size }
--
-- A variable takes the common type of all that is assigned to it. 'whole' and
-- 'fraction' are numbers that nothing has given a type yet.

local dialect = require 'mare.dialect.types'
local tables = require 'bindings.tables'

local types = {}

local open = { whole = true, fraction = true }
local names = { array = 'an array', record = 'a record', tuple = 'a list' }
local integers = { whole = true, int32 = true, int64 = true }

function types.is_number(type)
    return dialect.all[type] ~= nil and type ~= 'bool'
end

function types.is_integer(type)
    return integers[type] == true
end

-- Returns the common type of two numbers.
function types.common(a, b)
    if open[a] and open[b] then return (a == 'whole' and b == 'whole') and 'whole' or 'fraction' end
    return dialect.common(a, b)
end

-- Returns the type of the quotient of two numbers.
function types.quotient(a, b)
    local common = types.common(a, b)
    return open[common] and 'fraction' or dialect.real(common)
end

-- Returns the type of a variable of type `old` that is also assigned a `new`, or nil
-- if it cannot hold both.
function types.join(old, new)
    if old == nil or old == new then return new end
    if types.is_number(old) and types.is_number(new) then return types.common(old, new) end
    if type(old) ~= 'table' or old.kind ~= 'tuple' or type(new) ~= 'table' then return nil end
    if old.size ~= new.size then return nil end
    local element = types.join(old.element, new.element)
    return element == old.element and old or { kind = 'tuple', element = element, size = old.size }
end

-- Returns the type that a number of an open type has in the end.
function types.settled(type)
    return type == 'whole' and 'int32' or type == 'fraction' and 'real' or type
end

-- Returns the name of a type in the dialect.
function types.written(type)
    if dialect.all[type] then return dialect.all[types.settled(type)].written end
    return type.written
end

-- Returns the type of a vector. called: what Lua calls the components n, t and b
local function vector_of(called, components)
    local vector = { kind = 'record', written = 'vector', fields = {}, texts = {} }
    for k = 1, components do
        vector.fields[called[k]], vector.texts[called[k]] = 'real', types.components[k]
    end
    return vector
end

-- What the components of a vector are called behind its name: along the normal of a face and
-- across it, a right-handed triple.
types.components = { 'n', 't', 'b' }

-- Returns the type of a struct of reals and vectors: list = array of names and of
-- { vector = name, components = 3, if not 2 }, of which q.name.n and q.name.t are members NAMEn
-- and NAMEt. symbols: what members are called, where that is not as in Lua; along, across, beyond:
-- what Lua calls the components n, t and b
function types.record(written, list, symbols, along, across, beyond)
    local called = { along or 'n', across or 't', beyond or 'b' }
    local record = { kind = 'record', written = written, fields = {}, texts = {} }
    for _, entry in ipairs(list) do
        local name = entry.vector or entry
        record.texts[name] = '.' .. (symbols and symbols[name] or name)
        record.fields[name] = entry.vector and vector_of(called, entry.components or 2) or 'real'
    end
    return record
end

-- Returns what messages call a type.
function types.name(type)
    if type == nil then return 'nothing' end
    if type == 'bool' then return 'a boolean' end
    if dialect.all[type] then return open[type] and 'a number' or 'a number of type ' .. type end
    if type.written == 'vector' then return ('a vector (%s)'):format(tables.names(type.fields)) end
    return names[type.kind]
end

-- Returns a text that is the same for the same types.
function types.key(type)
    if dialect.all[type] then return type end
    if type.kind == 'array' then
        return type.stored .. type.count .. (type.is_local and ' local[]' or '[]')
    end
    return type.kind .. ' ' .. (type.written or type.element .. type.size)
end

types.literal, types.of_number = dialect.literal, dialect.of_number

return types
