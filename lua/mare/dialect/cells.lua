-- The arguments of expressions: a cell q, where q.rho is the value of a field and
-- q:at(i, j) the cell i further along x and j further along y, and tables of
-- parameters. A name that does not exist is an error that lists the names that do.

local errors = require 'bindings.errors'
local nodes = require 'mare.dialect.nodes'
local operations = require 'mare.dialect.operations'
local tables = require 'bindings.tables'

local cells = {}

local Cell = {}

-- The functions of each cell. They are kept here because all keys of a cell are
-- names of fields.
local known = setmetatable({}, { __mode = 'k' })

local function is_whole(value)
    return type(value) == 'number' and value % 1 == 0
end

local function at(cell, i, j)
    if not (cells.is(cell) and is_whole(i) and is_whole(j)) then
        errors.argument 'at: q:at(i, j) with whole numbers of cells along x and y is wanted'
    end
    return known[cell].at(i, j)
end

function Cell.__index(cell, name)
    if name == 'at' then return at end
    return known[cell].value(name)
end

function Cell.__newindex(_, name)
    errors.argument("a cell is not to be changed: '%s'", tostring(name))
end

function cells.is(value)
    return getmetatable(value) == Cell
end

local function new(value, neighbour)
    local cell = setmetatable({}, Cell)
    known[cell] = { value = value, at = neighbour }
    return cell
end

-- fields: { name = function(i, j) that returns the value i and j cells away, ... }
function cells.new(fields, i, j)
    i, j = i or 0, j or 0
    return new(function(name)
        local field = fields[name] or errors.argument("no field '%s' (there are: %s)",
            tostring(name), tables.names(fields))
        return field(i, j)
    end, function(di, dj) return cells.new(fields, i + di, j + dj) end)
end

-- Returns one of two cells; the kernel chooses if the condition is a node.
function cells.chosen(condition, yes, no)
    if type(condition) == 'boolean' then return condition and yes or no end
    return new(function(name)
        return nodes.apply(operations.where, condition, yes[name], no[name])
    end, function(i, j) return cells.chosen(condition, yes:at(i, j), no:at(i, j)) end)
end

-- Returns a table that refuses names that are not in the list. what: what the
-- error calls them, such as 'parameter'.
function cells.names(what, list)
    return setmetatable({}, { __index = function(_, name)
        if list[name] ~= nil then return list[name] end
        errors.argument("no %s '%s' (there are: %s)", what, tostring(name), tables.names(list))
    end })
end

-- Returns f(...) as a node. who: the beginning of an error message, such as
-- "variable 'p'".
function cells.value(who, f, ...)
    local ok, result = pcall(function(...) return nodes.wrap(f(...), 'result') end, ...)
    if ok then return result end
    if errors.is(result) then
        result.message = who .. ': ' .. result.message
        error(result, 0)
    end
    local hint = tostring(result):find 'attempt to compare'
        and ' (values are compared by lt, le, gt, ge, eq and ne)' or ''
    errors.argument('%s: %s%s', who, tostring(result), hint)
end

return cells
