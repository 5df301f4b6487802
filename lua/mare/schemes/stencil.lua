-- mare.stencil makes equations whose unknowns change by a function of a cell and its four
-- neighbours, such as diffusion and reactions:
--
--     local heat = mare.stencil {
--         fields = { 'u' }, parameters = { d = 1 },
--         rate = function(q, x, y, t, p)
--             return p.d * ((q.u.west - 2 * q.u.here + q.u.east) / p.dx ^ 2
--                 + (q.u.south - 2 * q.u.here + q.u.north) / p.dy ^ 2)
--         end,
--         limit = function(p) return 2 * p.d * (1 / p.dx ^ 2 + 1 / p.dy ^ 2) end,
--     }
--
-- is a scheme. rate gives what is added to each unknown per time, in the order of the fields. dt is
-- cfl / limit: limit is one over a step that is stable at cfl = 1 (for diffusion, where that of
-- Euler's method ends). dx and dy are the sizes of a cell. `scheme` is 'ssp_rk2' or 'ssp_rk3';
-- name, title, variables, integrals, units, options: as of mare.equations.

local choices = require 'mare.schemes.choices'
local equation = require 'mare.schemes.equation'
local errors = require 'bindings.errors'
local lua_code = require 'mare.schemes.lua_code'
local options = require 'mare.base.options'
local tables = require 'bindings.tables'

local stencil = {}

local allowed = { name = 'string', title = 'string', fields = 'table', parameters = 'table',
    rate = 'function', limit = 'function', scheme = 'string', variables = 'table',
    integrals = 'table', units = 'table', options = 'table' }

local methods = { ssp_rk2 = choices.methods.ssp_rk2, ssp_rk3 = choices.methods.ssp_rk3 }

-- What a scenario's command line takes.
stencil.options = { title = 'stencils',
    tables.merged(choices.method, { default = 'ssp_rk2', choices = tables.keys(methods) }) }

local function parameters_of(given)
    local list = {}
    for _, name in ipairs(tables.keys(given)) do
        errors.wanted('mare.stencil: parameter ' .. tostring(name), 'number', given[name])
        if name == 'dx' or name == 'dy' then
            errors.argument('mare.stencil: parameter %s: that is the size of a cell', name)
        end
        list[#list + 1] = { name = name, default = given[name] }
    end
    return list
end

-- Returns a scheme. The table is described above; options = of mare.options, where what is not
-- given may be.
function stencil.new(desc)
    desc = options.pick('mare.stencil', desc, stencil.options)
    errors.fields('mare.stencil', desc, allowed)
    errors.needs('mare.stencil', desc, { 'fields', 'rate', 'limit' })
    local what = 'stencil' .. (desc.name and ' ' .. desc.name or '')
    for _, name in ipairs(lua_code.check_names(what .. ': field', desc.fields)) do
        if type(name) ~= 'string' then
            errors.argument('%s: fields are names: vectors have no place here', what)
        end
    end
    local parameters = parameters_of(desc.parameters or {})
    local made = equation.new {
        name = desc.name or 'stencil', title = desc.title,
        fields = lua_code.fields_of(desc.fields), parameters = parameters, rates = true,
        code = lua_code.stencil(what, desc, tables.column(parameters, 'name')),
        variables = desc.variables, integrals = desc.integrals, units = desc.units,
        given = desc.fields, unknowns = desc.fields,
    }
    local name = choices.checks(what)('scheme', desc.scheme or 'ssp_rk2', methods)
    local scheme = made { flux = 'rusanov', limiter = 'none', scheme = name }
    scheme.stage_file, scheme.flux = 'traverse/stencil.krn', 'none'
    scheme.fingerprint = lua_code.fingerprint(made.code)
    scheme.functions = { rate = desc.rate, limit = desc.limit }
    return scheme
end

return stencil
