-- mare.equations makes a conservation law of functions of Lua, its flux and its speeds.
--
--     local burgers = mare.equations {
--         fields = { 'u' },
--         flux = function(q, p) return 0.5 * q.u ^ 2 end,
--         speed = function(q, p) return q.u, q.u end,
--     }
--
-- is a scheme, as mare.euler { ... } is one. The functions become functions of kernels
-- (translate/README.md says what they may contain), so that it runs as one that is
-- written in C. The table has
--
--     fields        the unknowns: names, and mare.vector 'm' for a vector in the plane,
--                   whose components are two unknowns, m_x and m_y
--     dimensions    2, if not given, or 3 for mare.volume: there vectors have a third
--                   component, m_z, which is q.m.b; n, t and b are a right-handed triple.
--                   Runge-Kutta methods are of two dimensions
--     flux(q, p)    the flux of each unknown, in the order of the fields, along the
--                   normal of a face; q.m.n and q.m.t are a vector's components along
--                   the normal and across it, and count as two results, n first
--     speed(q, p)   the lowest and the highest velocity of signals along the normal
--     parameters    { name = number or mare.vector(x, y) }: p.name, p.name.n, p.name.t
--     primitives, primitive(q, p), conserved(w, p)
--                   names of other variables, which are interpolated between cells, and
--                   how they follow; flux and speed are then called with them, and so
--                   does `initial` give them
--     source(q, x, y, t, p)
--                   what is added to each unknown per unit of time in the cell whose
--                   middle is x, y, at time t; in the order of the fields, of a vector's
--                   components x first: here they are q.m.x and q.m.y. In three dimensions
--                   source(q, x, y, z, t, p), and q.m.z
--     riemann       'hll' (if not given), 'rusanov', or riemann(a, b, p): the flux of each
--                   unknown through a face between the states a and b, as flux gives it
--     scheme        'muscl_hancock' (if not given), 'ssp_rk2' or 'ssp_rk3'; limiter, theta:
--                   as for mare.euler
--     name, title, variables, integrals, units, options
--                   as in README.md
--
-- Numbers outside the functions are constants of the kernels.

local choices = require 'mare.schemes.choices'
local equation = require 'mare.schemes.equation'
local errors = require 'bindings.errors'
local options = require 'mare.base.options'
local lua_code = require 'mare.schemes.lua_code'

local equations = {}

local allowed = {
    name = 'string', title = 'string', fields = 'table', primitives = 'table',
    parameters = 'table', flux = 'function', speed = 'function', primitive = 'function',
    conserved = 'function', source = 'function', riemann = 'any', limiter = 'string',
    scheme = 'string', dimensions = 'number',
    theta = 'number', passes = 'number', variables = 'table', integrals = 'table', units = 'table',
    options = 'table',
}

-- What a scenario's command line takes: see mare.options.
equations.options = {
    title = 'equations',
    { name = 'riemann', default = 'hll', choices = { 'hll', 'rusanov' },
        help = 'numerical flux between cells' },
    choices.method, choices.limiter, choices.theta,
}

-- ---- plain Lua ----

-- Returns what turns the results of `initial` into the unknowns.
local function conserver(desc)
    if not desc.conserved then return nil end
    return function(scheme, ...)
        return desc.conserved(lua_code.values_of(desc.primitives, ...),
            lua_code.parameter_values(scheme.equation.parameters, scheme.numbers))
    end
end

-- ---- equations ----

local function is_vector(value)
    return type(value) == 'table' and type(value.x) == 'number' and type(value.y) == 'number'
end

-- Returns a list of fields whose vectors tell how many components they have.
local function with_components(list, dimensions)
    local new = {}
    for k, entry in ipairs(list) do
        new[k] = type(entry) == 'table' and { vector = entry.vector, components = dimensions }
            or entry
    end
    return new
end

local function check_vector(what, name, value, dimensions)
    if (value.z ~= nil) == (dimensions == 3) then return end
    errors.argument("%s: parameter '%s': a vector of %d components is wanted", what, name,
        dimensions)
end

-- Returns the parameters as equation.lua wants them, and their names for a record.
local function parameters_of(what, given, dimensions)
    local names, list, entries = {}, {}, {}
    for name, value in pairs(given) do
        if type(name) ~= 'string' or not name:find '^%l[%w_]*$' then
            errors.argument("%s: parameter '%s': its name must be a small letter, then letters, "
                .. 'digits and _', what, tostring(name))
        elseif type(value) ~= 'number' and not is_vector(value) then
            errors.argument("%s: parameter '%s' must be a number or mare.vector(x, y), not %s",
                what, tostring(name), type(value))
        end
        names[#names + 1] = name
    end
    table.sort(names)
    for k, name in ipairs(names) do
        local value = given[name]
        entries[k] = is_vector(value) and { vector = name, components = dimensions } or name
        if is_vector(value) then check_vector(what, name, value, dimensions) end
        for n = 1, is_vector(value) and dimensions or 0 do
            local axis = lua_code.axes[n]
            list[#list + 1] = { name = name .. '_' .. axis, vector = name, axis = axis,
                default = value[axis] }
        end
        if not is_vector(value) then list[#list + 1] = { name = name, default = value } end
    end
    return list, entries
end

-- mare.vector 'm' is a vector in the plane or in space, as a field; mare.vector(x, y) and
-- mare.vector(x, y, z) are one of these components, as a parameter.
function equations.vector(x, y, z)
    if type(x) == 'string' and y == nil then return { vector = x } end
    errors.wanted('mare.vector: x', 'number', x)
    errors.wanted('mare.vector: y', 'number', y)
    if z ~= nil then errors.wanted('mare.vector: z', 'number', z) end
    return { x = x, y = y, z = z }
end

-- Returns what says what is wrong with a cell: its numbers, or what `speed` gives for them.
local function invalid_of(desc)
    return function(scheme, ...)
        local what = scheme:not_finite(...)
        if what then return what end
        local p = lua_code.parameter_values(scheme.equation.parameters, scheme.numbers)
        local w = lua_code.values_of(desc.fields, ...)
        if desc.primitive then w = lua_code.values_of(desc.primitives, desc.primitive(w, p)) end
        local low, high = desc.speed(w, p)
        if not (low <= high and high - low < math.huge) then
            return ('speed(q, p) gives %g, %g, not the lowest and the highest velocity'):format(low,
                high)
        end
    end
end

local function is_own(riemann) return type(riemann) == 'function' end

-- Refuses a flux of the script that plain Lua finds not to be the physical one of equal states.
local function check_riemann(what, desc, scheme)
    local p, numbers = lua_code.parameter_values(scheme.equation.parameters, scheme.numbers), {}
    for k = 1, 3 * #desc.primitives do numbers[k] = 1 + 0.1 * k end
    local w = lua_code.values_of(desc.primitives, unpack(numbers))
    local found, wanted = { pcall(desc.riemann, w, w, p) }, { pcall(desc.flux, w, p) }
    for k = 2, found[1] and wanted[1] and #wanted or 0 do
        if math.abs(found[k] - wanted[k]) > 1e-6 * math.max(1, math.abs(wanted[k])) then
            errors.argument('%s: riemann(a, a, p) gives %g as value %d, flux(a, p) %g', what,
                found[k], k - 1, wanted[k])
        end
    end
end

-- Returns the functions of the script by name.
local function functions_of(desc)
    local list = {}
    for name in pairs(allowed) do
        if type(desc[name]) == 'function' then list[name] = desc[name] end
    end
    return list
end

-- Returns a scheme. The table is described above; options = of mare.options, where
-- what is not given may be.
function equations.new(desc)
    desc = options.pick('mare.equations', desc, equations.options)
    errors.fields('mare.equations', desc, allowed)
    local what = 'equations' .. (desc.name and ' ' .. desc.name or '')
    errors.needs(what, desc, { 'fields', 'flux', 'speed' })
    if not (desc.primitive and desc.conserved and desc.primitives)
        and (desc.primitive or desc.conserved or desc.primitives) then
        errors.argument('%s: primitives, primitive and conserved go together', what)
    end
    local dimensions = desc.dimensions or 2
    if dimensions ~= 2 and dimensions ~= 3 then
        errors.argument('%s: dimensions = %g, must be 2 or 3', what, dimensions)
    end
    desc = setmetatable({ fields = with_components(desc.fields, dimensions),
        primitives = with_components(desc.primitives or desc.fields, dimensions) },
        { __index = desc })
    if #desc.fields == 0 then errors.argument('%s: fields: at least one is wanted', what) end
    lua_code.check_names(what .. ': field', desc.fields)
    lua_code.check_names(what .. ': primitive', desc.primitives)
    local parameters, entries = parameters_of(what, desc.parameters or {}, dimensions)
    local made = equation.new {
        name = desc.name or 'equations', title = desc.title,
        fields = lua_code.fields_of(desc.fields),
        primitives = lua_code.names_of(desc.primitives), parameters = parameters,
        code = lua_code.of(what, desc, entries), source = desc.source ~= nil,
        rates = desc.source ~= nil,
        fluxes = is_own(desc.riemann) and { own = 'a function of the script' } or nil,
        conserved = conserver(desc), variables = desc.variables, integrals = desc.integrals,
        units = desc.units, given = desc.primitives, unknowns = desc.fields,
        dimensions = desc.dimensions, invalid = invalid_of(desc),
    }
    local scheme = made { flux = is_own(desc.riemann) and 'own' or desc.riemann,
        limiter = desc.limiter, theta = desc.theta, passes = desc.passes, scheme = desc.scheme }
    scheme.fingerprint = lua_code.fingerprint(made.code)
    scheme.functions = functions_of(desc)
    if is_own(desc.riemann) then check_riemann(what, desc, scheme) end
    return scheme
end

return equations
