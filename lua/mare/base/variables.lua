-- The variables of a scheme: { { name, long_name, units, kernel = of those that are derived,
-- ghosts = that it needs them }, ... }, the unknowns first.

local errors = require 'bindings.errors'

local variables = {}

-- The one of a name, and its place in the list. who: what a refusal begins with, as 'picture: '
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

-- The kernel that derives a variable; nil where it is an unknown that is shown as it is stored.
function variables.derivation(sim, v)
    if sim.domain and sim.scheme:shows(v, sim.domain) then return nil end
    return v.kernel
end

return variables
