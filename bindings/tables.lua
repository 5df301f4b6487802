-- tables.lua - what modules do with tables that Lua's own library lacks.

local tables = {}

-- Returns the keys of a table, sorted. before: as for table.sort
function tables.keys(list, before)
    local keys = {}
    for key in pairs(list) do keys[#keys + 1] = key end
    table.sort(keys, before)
    return keys
end

-- Returns the keys as a text for messages.
function tables.names(list)
    return table.concat(tables.keys(list), ', ')
end

-- Returns a new table with the entries of all that are given, where those of later
-- ones replace those of earlier ones. nil counts as an empty table.
function tables.merged(...)
    local all = {}
    for k = 1, select('#', ...) do
        for key, value in pairs(select(k, ...) or {}) do all[key] = value end
    end
    return all
end

-- Returns what each entry of a list has in a field.
function tables.column(list, field)
    local column = {}
    for k, entry in ipairs(list) do column[k] = entry[field] end
    return column
end

-- Returns { [value] = true } for the values of a list.
function tables.set(list)
    local set = {}
    for _, value in ipairs(list) do set[value] = true end
    return set
end

-- Returns list[key], which becomes an empty table with this metatable (nil: none) if there is none.
function tables.under(list, key, metatable)
    local found = list[key]
    if not found then
        found = setmetatable({}, metatable)
        list[key] = found
    end
    return found
end

return tables
