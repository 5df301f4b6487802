-- Finds variables of a scheme. scheme.variables is an array of { name,
-- long_name, units, value (of derived variables: see array/derive.lua) }, with
-- the unknowns first.

local errors = require 'bindings.errors'
local tables = require 'bindings.tables'

local variables = {}

-- Returns the variable of that name and its index. who: the beginning of the
-- error message, such as 'picture: '.
function variables.find(scheme, name, who)
    local names = {}
    if type(name) ~= 'string' then
        errors.argument('%sthe name of a variable is wanted, not a %s', who or '', type(name))
    end
    for k, v in ipairs(scheme.variables) do
        if v.name == name then return v, k end
        names[k] = v.name
    end
    errors.argument("%sno variable '%s' (there are: %s)", who or '', tostring(name),
        table.concat(names, ', '))
end

-- Returns whether a kernel computes the variable; otherwise it is an unknown
-- that is shown as it is stored.
function variables.is_derived(sim, v)
    if sim.domain and sim.scheme:shows(v, sim.domain) then return false end
    return v.value ~= nil
end

-- Returns the option of a scenario that adds variables to the unknowns in its
-- files. fields: the names of unknowns that have a `value` too, if there are any.
function variables.option(list, fields)
    local is_unknown, names = tables.set(fields or {}), {}
    for _, v in ipairs(list) do
        if v.value and not is_unknown[v.name] then names[#names + 1] = v.name end
    end
    return { name = 'variables', type = 'string', needs = { 'out', 'series' },
        help = 'more for --out, of ' .. table.concat(names, ',') }
end

return variables
