-- Finds variables of a scheme. scheme.variables is an array of { name,
-- long_name, units, kernel (of derived variables), ghosts (whether the kernel
-- reads ghost cells) }, with the unknowns first.

local errors = require 'bindings.errors'

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

-- Returns the kernel that derives a variable, or nil if it is an unknown that
-- is shown as it is stored.
function variables.derivation(sim, v)
    if sim.domain and sim.scheme:shows(v, sim.domain) then return nil end
    return v.kernel
end

return variables
