-- What a script may choose of a scheme: limiters, fluxes and numbers, checked by name.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local tables = require 'bindings.tables'
local variables = require 'mare.base.variables'

local choices = {}

choices.limiters = {
    minmod = 'generalised minmod, theta from 1 (safest) to 2 (sharpest)',
    mc = 'monotonised central',
    van_leer = 'harmonic mean, between minmod and mc',
    superbee = 'the most compressive: squares smooth waves off',
    none = 'no slopes: first order',
}

-- The stages of the Runge-Kutta methods of Shu and Osher (1988), by name: see
-- kernels/traverse/stage.krn. src is the state `fraction` of a step later than its start.
choices.stages = {
    ssp_rk2 = {
        { keep = 0, base = 'now', src = 'now', dst = 'other', fraction = 0 },
        { keep = 1 / 2, base = 'now', src = 'other', dst = 'now', fraction = 1 },
    },
    ssp_rk3 = {
        { keep = 0, base = 'now', src = 'now', dst = 'other', fraction = 0 },
        { keep = 3 / 4, base = 'now', src = 'other', dst = 'third', fraction = 1 },
        { keep = 1 / 3, base = 'now', src = 'third', dst = 'now', fraction = 1 / 2 },
    },
}

-- How equations that bring code are stepped.
choices.methods = {
    muscl_hancock = 'second order, dimension split in alternating order',
    ssp_rk2 = 'limited slopes along both axes at once, Runge-Kutta of second order',
    ssp_rk3 = 'the same, of third order in time',
}

-- What a scenario's command line takes, in several equations.
choices.method = { name = 'scheme', default = 'muscl_hancock',
    choices = tables.keys(choices.methods), help = 'of the time step' }
choices.limiter = { name = 'limiter', default = 'mc', choices = tables.keys(choices.limiters),
    help = 'of slopes' }
choices.theta = { name = 'theta', type = 'number', default = 1.3, range = { 1, 2 },
    help = 'of the minmod limiter' }

-- Returns the options of an equation with these schemes and fluxes. list: its variables
function choices.options(title, schemes, fluxes, list)
    return {
        title = title,
        tables.merged(choices.method, { choices = tables.keys(schemes) }),
        { name = 'flux', default = 'hllc', choices = tables.keys(fluxes), help = 'between cells' },
        choices.limiter, choices.theta, variables.option(list),
    }
end

-- Returns checks of what a script hands to a scheme of these equations: choose(what, name, list)
-- and number(what, value, low, high), which return what is right and raise what is not. A flux may
-- also be a header of the user's: 'mine.h', which becomes its whole name.
function choices.checks(equations)
    local function choose(what, name, list)
        if list[name] then return name end
        if what == 'flux' and type(name) == 'string' and name:find '%.h$' then
            return files.resolve(name) or name
        end
        errors.argument("%s: %s '%s' (there are: %s)", equations, what, tostring(name),
            tables.names(list))
    end
    local function number(what, value, low, high)
        if type(value) == 'number' and value >= low and value <= high
            and math.abs(value) < math.huge then
            return value
        elseif low == -math.huge and high == math.huge then
            errors.argument('%s: %s = %s, must be a finite number', equations, what,
                tostring(value))
        end
        errors.argument('%s: %s = %s, must be from %g to %g', equations, what, tostring(value),
            low, high)
    end
    return choose, number
end

-- Whether a flux is a header of the user's.
function choices.is_own(flux) return flux:find '%.h$' ~= nil end

-- Returns the header of a choice, without its ending: in the folder, or the user's own.
function choices.header(folder, name)
    return choices.is_own(name) and name:gsub('%.h$', '') or folder .. '/' .. name
end

-- Returns the defines of `limiter`, `theta` and headers { EQUATION = 'physics/euler/equation', ...
-- }.
function choices.defines(limiter, theta, headers)
    local defines = {
        LIMITER = string.format('"physics/limiters/%s.h"', limiter),
        THETA = limiter == 'minmod' and string.format('R(%.16e)', theta) or nil,
    }
    for name, header in pairs(headers) do defines[name] = string.format('"%s.h"', header) end
    return defines
end

return choices
