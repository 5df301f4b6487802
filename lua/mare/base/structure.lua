-- structure.lua - checks plain values that were read from a file against what
-- their reader needs, so that a damaged file is an error with a name and not a
-- failure somewhere later.
--
--     local rule = { t = structure.number, names = structure.list(structure.text),
--         size = structure.optional(structure.whole) }
--     structure.fault(header, rule) -> nil, or 'names[2] is no text'
--
-- A rule is a function from a value and its name to a fault in words, or nil; or
-- a table of the rules of named fields. Fields without a rule are not looked at.

local structure = {}

function structure.number(value, name)
    if type(value) ~= 'number' or value ~= value then return name .. ' is no number' end
end

function structure.whole(value, name)
    local is_whole = type(value) == 'number' and value >= 0 and value < 2 ^ 53 and value % 1 == 0
    if not is_whole then return name .. ' is no count' end
end

function structure.text(value, name)
    if type(value) ~= 'string' then return name .. ' is no text' end
end

function structure.any() end

local function check(value, rule, name)
    if type(rule) == 'function' then return rule(value, name) end
    if type(value) ~= 'table' then return name .. ' is no table' end
    for field, inner in pairs(rule) do
        local fault = check(value[field], inner, name == '' and field or name .. '.' .. field)
        if fault then return fault end
    end
end

function structure.optional(rule)
    return function(value, name)
        if value ~= nil then return check(value, rule, name) end
    end
end

-- An array without holes; count: its length, if that is known.
function structure.list(rule, count)
    return function(value, name)
        if type(value) ~= 'table' then return name .. ' is no list' end
        local length = 0
        for _ in pairs(value) do length = length + 1 end
        if length ~= #value then return name .. ' is no list' end
        if count and length ~= count then
            return ('%s has %d entries, must have %d'):format(name, length, count)
        end
        for k, one in ipairs(value) do
            local fault = check(one, rule, ('%s[%d]'):format(name, k))
            if fault then return fault end
        end
    end
end

function structure.fault(value, rule)
    if type(value) ~= 'table' then return 'it is no table' end
    return check(value, rule, '')
end

return structure
