-- What a script may choose of a scheme: limiters, fluxes and numbers, checked by name.

local errors = require 'bindings.errors'
local files = require 'bindings.files'

local choices = {}

choices.limiters = {
    minmod = 'generalised minmod, theta from 1 (safest) to 2 (sharpest)',
    mc = 'monotonised central',
    van_leer = 'harmonic mean, between minmod and mc',
    superbee = 'the most compressive: squares smooth waves off',
    none = 'no slopes: first order',
}

function choices.names_of(list)
    local names = {}
    for name in pairs(list) do names[#names + 1] = name end
    table.sort(names)
    return names
end

-- Checks of what a script hands to a scheme of these equations: choose(what, name, list) and
-- number(what, value, low, high), which return what is right and raise what is not. A flux may also
-- be a header of the user's: 'mine.h', which becomes its whole name.
function choices.checks(equations)
    local function choose(what, name, list)
        if list[name] then return name end
        if what == 'flux' and type(name) == 'string' and name:find '%.h$' then
            return files.resolve(name) or name
        end
        errors.argument("%s: %s '%s' (there are: %s)", equations, what, tostring(name),
            table.concat(choices.names_of(list), ', '))
    end
    local function number(what, value, low, high)
        if type(value) == 'number' and value >= low and value <= high then return value end
        errors.argument('%s: %s = %s, must be from %g to %g', equations, what, tostring(value),
            low, high)
    end
    return choose, number
end

-- Whether a flux is a header of the user's.
function choices.is_own(flux) return flux:find '%.h$' ~= nil end

-- The header of a choice, without its ending: in the folder, or the user's own.
function choices.header(folder, name)
    return choices.is_own(name) and name:gsub('%.h$', '') or folder .. '/' .. name
end

-- The defines of `limiter`, `theta` and headers { EQUATION = 'physics/euler/equation', ... }.
function choices.defines(limiter, theta, headers)
    local defines = {
        LIMITER = string.format('"physics/limiters/%s.h"', limiter),
        THETA = limiter == 'minmod' and string.format('R(%.16e)', theta) or nil,
    }
    for name, header in pairs(headers) do defines[name] = string.format('"%s.h"', header) end
    return defines
end

return choices
