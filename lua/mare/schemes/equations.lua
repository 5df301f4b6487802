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
--                   what is added to each unknown per unit of time, in the order of the
--                   fields, of a vector's components x first: here they are q.m.x and
--                   q.m.y. x, y and t are not given yet, and are refused if they are used
--     riemann       'hll' (if not given) or 'rusanov'; limiter, theta: as for mare.euler
--     name, title, variables, integrals, units, options
--                   as in README.md
--
-- Numbers outside the functions are constants of the kernels.

local choices = require 'mare.schemes.choices'
local equation = require 'mare.schemes.equation'
local errors = require 'bindings.errors'
local options = require 'mare.base.options'
local resolve = require 'mare.translate.resolve'
local types = require 'mare.translate.types'
local unit = require 'mare.translate.unit'
local zlib = require 'bindings.zlib'

local equations = {}

local allowed = {
    name = 'string', title = 'string', fields = 'table', primitives = 'table',
    parameters = 'table', flux = 'function', speed = 'function', primitive = 'function',
    conserved = 'function', source = 'function', riemann = 'string', limiter = 'string',
    theta = 'number', passes = 'number', variables = 'table', integrals = 'table', units = 'table',
    options = 'table',
}

-- What a scenario's command line takes: see mare.options.
equations.options = {
    title = 'equations',
    { name = 'riemann', default = 'hll', choices = { 'hll', 'rusanov' },
        help = 'numerical flux between cells' },
    choices.limiter, choices.theta,
}

-- ---- names ----

-- Returns what an unknown is called in kernels, where names begin with a small letter.
local function symbol(name)
    return name:find '^%l' and name or 'q_' .. name
end

local function check_names(what, list)
    for k, entry in ipairs(list) do
        local name = type(entry) == 'table' and entry.vector or entry
        if type(name) ~= 'string' or not name:find '^%a[%w_]*$' then
            errors.argument("%s %d: a name or mare.vector 'name' is wanted, not %s", what, k,
                tostring(name))
        end
    end
    return list
end

-- Returns the fields as equation.lua wants them.
local function fields_of(list)
    local fields = {}
    for _, entry in ipairs(list) do
        local vector = type(entry) == 'table' and entry.vector
        for _, axis in ipairs { 'x', 'y' } do
            if vector then
                fields[#fields + 1] = { name = vector .. '_' .. axis, vector = symbol(vector),
                    axis = axis }
            end
        end
        if not vector then fields[#fields + 1] = { name = entry, symbol = symbol(entry) } end
    end
    return fields
end

-- Returns the members of a struct, in order.
local function names_of(list)
    local names = {}
    for _, entry in ipairs(list) do
        local vector = type(entry) == 'table' and entry.vector
        names[#names + 1] = vector and symbol(vector) .. 'n' or symbol(entry)
        if vector then names[#names + 1] = symbol(vector) .. 't' end
    end
    return names
end

-- Returns the type of a struct. along, across: what Lua calls the two components of vectors
local function record(written, list, along, across)
    local symbols = {}
    for _, entry in ipairs(list) do
        local name = type(entry) == 'table' and entry.vector or entry
        symbols[name] = symbol(name)
    end
    return types.record(written, list, symbols, along or 'n', across or 't')
end

-- Returns the members that hold the results of a source: it acts where cells are
-- turned, so that the component along x lies across.
local function turned_names(list)
    local names = names_of(list)
    for k, name in ipairs(names) do
        local vector = name:match '^(.*)n$'
        if vector and names[k + 1] == vector .. 't' then
            names[k], names[k + 1] = names[k + 1], name
        end
    end
    return names
end

-- ---- code ----

-- Returns the text of a call of a function of Lua, with as many of these arguments as
-- it takes.
local function call(f, name, ...)
    local count = #resolve.of(f).parameters
    return ('%s(%s)'):format(name, table.concat({ ... }, ', ', 1,
        math.min(count, select('#', ...))))
end

-- Returns the text of a function that calls one of Lua's and puts its results into a
-- struct. arguments: as they are declared
local function wrapper(result, name, arguments, text, names)
    if #names == 1 then
        return ('MR_FN %s %s(%s) {\n    %s to = { %s };\n    return to;\n}\n'):format(result, name,
            arguments, result, text)
    end
    local list = {}
    for k in ipairs(names) do list[k] = 'r.r' .. k end
    return ('MR_FN %s %s(%s) {\n    %s_results r = %s;\n    %s to = { %s };\n    return to;\n}\n')
        :format(result, name, arguments, text:match '^[%w_]+', text, result,
            table.concat(list, ', '))
end

-- Returns the text of a function by which one set of variables stands for the other.
local function copier(result, name, from, names)
    local list = {}
    for k, member in ipairs(names) do list[k] = 'q.' .. member end
    return ('MR_FN %s %s(%s q, parameters k) {\n    %s to = { %s };\n    return to;\n}\n'):format(
        result, name, from, result, table.concat(list, ', '))
end

-- Returns the text of a source, which acts for a time dt by the midpoint rule, of second order.
local function source_code(f, names)
    local function add(from, rate, factor)
        local lines = {}
        for k, name in ipairs(names) do
            lines[k] = ('    %s.%s = mr_fma(%s, %s%s, q.%s);\n'):format(from, name, factor, rate,
                #names > 1 and '.r' .. k or '', name)
        end
        return table.concat(lines)
    end
    local function rate_at(state)
        return call(f, 'lua_source', state, 'R(0.0)', 'R(0.0)', 'R(0.0)', 'k')
    end
    local kind = #names > 1 and 'lua_source_results' or 'real'
    return table.concat {
        'MR_FN cell source(cell q, real dt, parameters k) {\n    cell to = q;\n',
        ('    %s r = %s;\n'):format(kind, rate_at 'q'),
        add('to', 'r', 'R(0.5) * dt'),
        ('    %s s = %s;\n'):format(kind, rate_at 'to'),
        add('to', 's', 'dt'), '    return to;\n}\n',
    }
end

local function refuse_places(what, f)
    local parameters = resolve.of(f).parameters
    for k = 2, 4 do
        if parameters[k] and parameters[k].is_used then
            errors.argument("%s: source: '%s' is used: sources know the state and the parameters",
                what, parameters[k].name)
        end
    end
end

local function code_of(what, desc, parameter_list)
    local unknowns = names_of(desc.fields)
    local interpolated = names_of(desc.primitives)
    local q, p = record('cell', desc.fields), types.record('parameters', parameter_list)
    local w = record('primitive', desc.primitives)
    local list = {
        { f = desc.flux, name = 'lua_flux', parameters = { w, p }, results = #unknowns },
        { f = desc.speed, name = 'lua_speed', parameters = { w, p }, results = 2 },
    }
    local texts = {
        wrapper('flux', 'physical_flux', 'primitive w, parameters k',
            call(desc.flux, 'lua_flux', 'w', 'k'), unknowns),
        wrapper('waves', 'waves_of', 'primitive w, parameters k',
            call(desc.speed, 'lua_speed', 'w', 'k'), { 1, 2 }),
    }
    if desc.primitive then
        list[#list + 1] = { f = desc.primitive, name = 'lua_primitive', parameters = { q, p },
            results = #interpolated }
        list[#list + 1] = { f = desc.conserved, name = 'lua_conserved', parameters = { w, p },
            results = #unknowns }
        texts[#texts + 1] = wrapper('primitive', 'primitive_of', 'cell q, parameters k',
            call(desc.primitive, 'lua_primitive', 'q', 'k'), interpolated)
        texts[#texts + 1] = wrapper('cell', 'conserved_of', 'primitive w, parameters k',
            call(desc.conserved, 'lua_conserved', 'w', 'k'), unknowns)
    else
        texts[#texts + 1] = copier('primitive', 'primitive_of', 'cell', unknowns)
        texts[#texts + 1] = copier('cell', 'conserved_of', 'primitive', unknowns)
    end
    if desc.source then
        refuse_places(what, desc.source)
        list[#list + 1] = { f = desc.source, name = 'lua_source',
            parameters = { record('cell', desc.fields, 'y', 'x'), 'real', 'real', 'real',
                types.record('parameters', parameter_list, nil, 'y', 'x') },
            results = #unknowns }
        texts[#texts + 1] = source_code(desc.source, turned_names(desc.fields))
    end
    return unit.functions(what, list) .. table.concat(texts)
end

-- ---- plain Lua ----

-- Returns the table that a function of the script reads, of values in order.
local function values_of(list, ...)
    local values, k = {}, 0
    for _, entry in ipairs(list) do
        local vector = type(entry) == 'table' and entry.vector
        if vector then
            values[vector] = { n = (select(k + 1, ...)), t = (select(k + 2, ...)) }
        else
            values[entry] = (select(k + 1, ...))
        end
        k = k + (vector and 2 or 1)
    end
    return values
end

-- Returns the parameters as a function of the script reads them.
local function parameter_values(given, numbers)
    local values = {}
    for name in pairs(given) do
        local x = numbers[name .. '_x']
        values[name] = numbers[name] or { n = x, t = numbers[name .. '_y'] }
    end
    return values
end

-- Returns what turns the results of `initial` into the unknowns.
local function conserver(desc)
    if not desc.conserved then return nil end
    return function(scheme, ...)
        return desc.conserved(values_of(desc.primitives, ...),
            parameter_values(desc.parameters or {}, scheme.numbers))
    end
end

-- ---- equations ----

local function is_vector(value)
    return type(value) == 'table' and type(value.x) == 'number' and type(value.y) == 'number'
end

-- Returns the parameters as equation.lua wants them, and their names for a record.
local function parameters_of(what, given)
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
        entries[k] = is_vector(value) and { vector = name } or name
        for _, axis in ipairs(is_vector(value) and { 'x', 'y' } or {}) do
            list[#list + 1] = { name = name .. '_' .. axis, vector = name, axis = axis,
                default = value[axis] }
        end
        if not is_vector(value) then list[#list + 1] = { name = name, default = value } end
    end
    return list, entries
end

-- mare.vector 'm' is a vector in the plane, as a field; mare.vector(x, y) is one of these
-- components, as a parameter.
function equations.vector(x, y)
    if type(x) == 'string' and y == nil then return { vector = x } end
    errors.wanted('mare.vector: x', 'number', x)
    errors.wanted('mare.vector: y', 'number', y)
    return { x = x, y = y }
end

-- Tells functions apart, numbers outside them included, wherever in a script they stand: a run goes
-- on with those that it began with.
local function fingerprint(code)
    local text = code:gsub('#line[^\n]*\n', '')
    return string.format('%08x', zlib.crc32(0, text, #text))
end

-- Returns a scheme. The table is described above; options = of mare.options, where
-- what is not given may be.
function equations.new(desc)
    desc = options.pick('mare.equations', desc, equations.options)
    errors.fields('mare.equations', desc, allowed)
    local what = 'equations' .. (desc.name and ' ' .. desc.name or '')
    for _, name in ipairs { 'fields', 'flux', 'speed' } do
        if not desc[name] then errors.argument('%s: %s is missing', what, name) end
    end
    if not (desc.primitive and desc.conserved and desc.primitives)
        and (desc.primitive or desc.conserved or desc.primitives) then
        errors.argument('%s: primitives, primitive and conserved go together', what)
    end
    desc = setmetatable({ primitives = desc.primitives or desc.fields }, { __index = desc })
    if #desc.fields == 0 then errors.argument('%s: fields: at least one is wanted', what) end
    check_names(what .. ': field', desc.fields)
    check_names(what .. ': primitive', desc.primitives)
    local parameters, entries = parameters_of(what, desc.parameters or {})
    local made = equation.new {
        name = desc.name or 'equations', title = desc.title, fields = fields_of(desc.fields),
        primitives = names_of(desc.primitives), parameters = parameters,
        code = code_of(what, desc, entries), source = desc.source ~= nil,
        conserved = conserver(desc), variables = desc.variables, integrals = desc.integrals,
        units = desc.units,
    }
    local scheme = made { flux = desc.riemann, limiter = desc.limiter, theta = desc.theta,
        passes = desc.passes }
    scheme.functions = fingerprint(made.code)
    return scheme
end

return equations
