-- Writes what an equation computes, as kernel code, from functions of Lua: equations.lua says what
-- each is given and gives. Lists of unknowns and of primitives hold names, and { vector = name }
-- for a vector in the plane or, with components = 3, in space.

local errors = require 'bindings.errors'
local forms = require 'mare.schemes.forms'
local resolve = require 'mare.parse.resolve'
local tables = require 'bindings.tables'
local types = require 'mare.translate.types'
local unit = require 'mare.translate.unit'
local zlib = require 'bindings.zlib'

local lua_code = {}

-- ---- names ----

-- Returns what an unknown is called in kernels, where names begin with a small letter.
local function symbol(name)
    return name:find '^%l' and name or 'q_' .. name
end

function lua_code.check_names(what, list)
    local seen = {}
    for k, entry in ipairs(list) do
        local name = type(entry) == 'table' and entry.vector or entry
        if type(name) ~= 'string' or not name:find '^%a[%w_]*$' then
            errors.argument("%s %d: a name or mare.vector 'name' is wanted, not %s", what, k,
                tostring(name))
        end
        if seen[name] then errors.argument("%s %d: '%s' is there twice", what, k, name) end
        seen[name] = true
    end
    return list
end

lua_code.axes = { 'x', 'y', 'z' }

-- Returns the number of components of a vector, 0 for a scalar.
local function components_of(entry)
    return type(entry) == 'table' and (entry.components or 2) or 0
end

-- Returns the fields as equation.lua wants them.
function lua_code.fields_of(list)
    local fields = {}
    for _, entry in ipairs(list) do
        for k = 1, components_of(entry) do
            local axis = lua_code.axes[k]
            fields[#fields + 1] = { name = entry.vector .. '_' .. axis,
                vector = symbol(entry.vector), axis = axis }
        end
        if type(entry) ~= 'table' then
            fields[#fields + 1] = { name = entry, symbol = symbol(entry) }
        end
    end
    return fields
end

-- Returns the members of a struct, in order.
function lua_code.names_of(list)
    local names = {}
    for _, entry in ipairs(list) do
        for k = 1, components_of(entry) do
            names[#names + 1] = symbol(entry.vector) .. types.components[k]
        end
        if type(entry) ~= 'table' then names[#names + 1] = symbol(entry) end
    end
    return names
end

-- Returns the type of a struct. along, across, beyond: what Lua calls the components of vectors
local function record(written, list, along, across, beyond)
    local symbols = {}
    for _, entry in ipairs(list) do
        local name = type(entry) == 'table' and entry.vector or entry
        symbols[name] = symbol(name)
    end
    return types.record(written, list, symbols, along or 'n', across or 't', beyond)
end

-- Returns the members in the order of results that begin with the components along x, where cells
-- are turned: there that component lies across.
local function turned_names(list)
    local names, k = lua_code.names_of(list), 1
    for _, entry in ipairs(list) do
        local is_vector = type(entry) == 'table'
        if is_vector then names[k], names[k + 1] = names[k + 1], names[k] end
        k = k + (is_vector and 2 or 1)
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

-- Returns the text of a function that calls one of Lua's and puts its results into a struct.
-- arguments: as they are declared; order: the number of each member's result, if not its own
local function wrapper(result, name, arguments, text, names, order)
    if #names == 1 then
        return ('MR_FN %s %s(%s) {\n    %s to = { %s };\n    return to;\n}\n'):format(result, name,
            arguments, result, text)
    end
    local list = {}
    for k, member in ipairs(names) do list[k] = 'r.r' .. (order and order[member] or k) end
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

-- Returns the text of a function that sees the vectors among variables from the next axis.
local function turner(list)
    local turns = {}
    for _, entry in ipairs(list) do
        for k = 1, components_of(entry) do
            local name, next = symbol(entry.vector), types.components[k % components_of(entry) + 1]
            turns[#turns + 1] = ('    to.%s%s = w.%s%s;\n'):format(name, types.components[k], name,
                next)
        end
    end
    return ('#define TURNED_PRIMITIVE 1\nMR_FN primitive turned_primitive(primitive w) {\n'
        .. '    primitive to = w;\n%s    return to;\n}\n'):format(table.concat(turns))
end

-- Returns for each member, in order, the number of its result.
function lua_code.turned_order(list)
    local at, order = {}, {}
    for k, name in ipairs(turned_names(list)) do at[name] = k end
    for k, name in ipairs(lua_code.names_of(list)) do order[k] = at[name] end
    return order
end

-- What a source calls the components of vectors that kernels have along n, t and b where it acts:
-- in the plane beside a sweep along y, in space where they are along x, y and z.
local function axes_of_source(desc)
    if desc.dimensions == 3 then return lua_code.axes end
    return { 'y', 'x' }
end

-- Returns the text of a source: what it adds per time at a place and a time. Its results begin with
-- the components of vectors along x.
local function source_code(f, desc, parameter_list)
    local members, order = lua_code.names_of(desc.fields), {}
    local in_space = desc.dimensions == 3
    for k, name in ipairs(in_space and members or turned_names(desc.fields)) do order[name] = k end
    local place = in_space and { 'at.x', 'at.y', 'at.z', 'at.t', 'k' }
        or { 'at.x', 'at.y', 'at.t', 'k' }
    return wrapper('cell', 'rate_of', 'cell q, spot at, parameters k',
        call(f, 'lua_source', 'q', unpack(place)), members, order)
        .. forms.of_source(desc, parameter_list, symbol, members, order, axes_of_source(desc))
end

-- Returns the types of what a source takes.
local function source_parameters(desc, parameter_list)
    local n, t, b = unpack(axes_of_source(desc))
    local list = { record('cell', desc.fields, n, t, b), 'real', 'real', 'real' }
    if b then list[5] = 'real' end
    list[#list + 1] = types.record('parameters', parameter_list, nil, n, t, b)
    return list
end

-- Returns the code of an equation. desc: as of mare.equations; parameter_list: names and
-- { vector = name }
function lua_code.of(what, desc, parameter_list)
    local unknowns = lua_code.names_of(desc.fields)
    local interpolated = lua_code.names_of(desc.primitives)
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
    if type(desc.riemann) == 'function' then
        list[#list + 1] = { f = desc.riemann, name = 'lua_riemann', parameters = { w, w, p },
            results = #unknowns }
        texts[#texts + 1] = wrapper('flux', 'own_flux', 'primitive a, primitive b, parameters k',
            call(desc.riemann, 'lua_riemann', 'a', 'b', 'k'), unknowns)
    end
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
        list[#list + 1] = { f = desc.source, name = 'lua_source',
            parameters = source_parameters(desc, parameter_list), results = #unknowns }
        texts[#texts + 1] = source_code(desc.source, desc, parameter_list)
    end
    return unit.functions(what, list) .. table.concat(texts) .. turner(desc.primitives)
        .. forms.of(desc, parameter_list, symbol, unknowns, interpolated)
end

-- Tells functions apart, numbers outside them included, wherever in a script they stand: a run goes
-- on with those that it began with.
function lua_code.fingerprint(code)
    local text = code:gsub('#line[^\n]*\n', '')
    return string.format('%08x', zlib.crc32(0, text, #text))
end

-- ---- stencils ----

local places = { 'here', 'west', 'east', 'south', 'north' }
local beside = { here = '', west = ' - 1', east = ' + 1', south = ' - stride', north = ' + stride' }

-- Returns the type of a cell with its neighbours, and the struct and the function that reads it.
local function around(list)
    local all = { kind = 'record', written = 'around', fields = {}, texts = {} }
    local members, reads = {}, {}
    for k, name in ipairs(list) do
        local own = { kind = 'record', written = 'vector', fields = {}, texts = {} }
        for _, place in ipairs(places) do
            own.fields[place], own.texts[place] = 'real', '_' .. place
            members[#members + 1] = symbol(name) .. '_' .. place
            reads[#reads + 1] = ('    q.%s = at[%d * plane%s];\n'):format(members[#members], k - 1,
                beside[place])
        end
        all.fields[name], all.texts[name] = own, '.' .. symbol(name)
    end
    return all, ('typedef struct around { real %s; } around;\n'):format(
        table.concat(members, ', '))
        .. 'MR_FN around look_around(const MR_GLOBAL real *at, mr_index plane, int stride) {\n'
        .. '    around q;\n' .. table.concat(reads) .. '    return q;\n}\n'
end

-- Returns the code of an equation whose unknowns change by a stencil. desc: as of mare.stencil
function lua_code.stencil(what, desc, parameter_list)
    local names = lua_code.names_of(desc.fields)
    local q, declared = around(desc.fields)
    local p = types.record('parameters', parameter_list)
    p.fields.dx, p.fields.dy, p.texts.dx, p.texts.dy = 'real', 'real', '.mr_dx', '.mr_dy'
    local text = unit.functions(what, {
        { f = desc.rate, name = 'lua_rate', parameters = { q, 'real', 'real', 'real', p },
            results = #names },
        { f = desc.limit, name = 'lua_limit', parameters = { p }, results = 1 },
    })
    return table.concat { declared, text,
        wrapper('cell', 'stencil_rate', 'around q, spot at, parameters k',
            call(desc.rate, 'lua_rate', 'q', 'at.x', 'at.y', 'at.t', 'k'), names),
        copier('primitive', 'primitive_of', 'cell', names),
        copier('cell', 'conserved_of', 'primitive', names),
        [[
MR_FN flux physical_flux(primitive w, parameters k) { flux none = { R(0.0) }; return none; }
/* So that signal_rate, twice the larger of the speeds over cells, is the limit. */
MR_FN waves waves_of(primitive w, parameters k) {
    real all = R(0.0);
    waves s;
#define SUM_(name, k) all += w.name;
    EACH_PRIMITIVE(SUM_)
    s.fastest = R(0.5) * ]], call(desc.limit, 'lua_limit', 'k'), [[ * mr_min(k.mr_dx, k.mr_dy)
        + (all - all);
    s.slowest = -s.fastest;
    return s;
}
]] }
end

-- ---- plain Lua ----

-- Returns the table that a function of the script reads, of values in order.
function lua_code.values_of(list, ...)
    local values, k = {}, 0
    for _, entry in ipairs(list) do
        local count = components_of(entry)
        if count > 0 then
            local n, t, b = select(k + 1, ...)
            b = count > 2 and b or nil
            values[entry.vector] = { n = n, t = t, b = b, x = n, y = t, z = b }
        else
            values[entry] = (select(k + 1, ...))
        end
        k = k + math.max(1, count)
    end
    return values
end

-- Returns the parameters as a function of the script reads them: of vectors, the normal is x.
function lua_code.parameter_values(parameters, numbers)
    local values = {}
    for _, p in ipairs(parameters) do
        local of = p.vector or ''
        local x, y, z = numbers[of .. '_x'], numbers[of .. '_y'], numbers[of .. '_z']
        values[p.vector or p.name] = p.vector and { n = x, t = y, b = z, x = x, y = y, z = z }
            or numbers[p.name]
    end
    return values
end

-- ---- cells ----

-- Returns the parameters of an equation: names and { vector = name }.
local function parameters_of(equation)
    local list = {}
    for _, p in ipairs(equation.parameters) do
        if not p.vector then list[#list + 1] = p.name end
        if p.axis == 'x' then
            list[#list + 1] = { vector = p.vector, components = equation.dimensions }
        end
    end
    return list
end

-- Returns the type of what `initial` gives, by the names that it has in Lua: components of vectors
-- are along x, y and z.
local function given_record(equation)
    if equation.given then return record('primitive', equation.given, 'x', 'y', 'z') end
    local symbols, names = {}, equation.initial or equation.primitives
    for k, name in ipairs(names) do symbols[name] = equation.primitives[k] end
    return types.record('primitive', names, symbols)
end

-- Returns the text of the function by which the unknowns follow from what `initial` gives, and adds
-- the function of Lua that it calls.
local function conserved_code(equation, list)
    if equation.code then return '' end
    local names, texts = equation.primitives, { 'k' }
    if not equation.conserved then
        return copier('cell', 'conserved_of', 'primitive', names)
    end
    local parameters = { types.record('parameters', parameters_of(equation), nil, 'x', 'y') }
    for k, name in ipairs(names) do parameters[k + 1], texts[k + 1] = 'real', 'w.' .. name end
    list[#list + 1] = { f = equation.conserved, name = 'lua_given', parameters = parameters,
        results = #equation.fields }
    return wrapper('cell', 'conserved_of', 'primitive w, parameters k',
        call(equation.conserved, 'lua_given', unpack(texts)), equation.symbols)
end

-- Returns the types of what functions of this kind take, and the texts of what they are given.
local function taken_by(equation, kind)
    local takes, place = {}, { 'at.x', 'at.y', equation.dimensions == 3 and 'at.z' or nil }
    for n = 1, #place do takes[n] = 'real' end
    if kind == 'place' then return takes, place end
    takes = { given_record(equation), 'real', unpack(takes) }
    takes[#takes + 1] = types.record('parameters', parameters_of(equation), nil, 'x', 'y', 'z')
    place[#place + 1], place[#place + 2] = 'at.t', 'k'
    table.insert(place, 1, 'q')
    return takes, place
end

local takes_place = 'primitive q, spot at, parameters k'

-- Returns the text of chosen_at(int which, primitive q, spot at, parameters k), where `which` is
-- the number of a function of the list: functions that pointwise.lua describes, of this kind.
function lua_code.cells(equation, what, functions, kind)
    local takes, place = taken_by(equation, kind)
    local list, texts, choices = {}, {}, {}
    for n, f in ipairs(functions) do
        local name = n == 1 and 'lua_state' or 'lua_state' .. n
        list[n] = { f = f, name = name, parameters = takes, results = #equation.primitives }
        texts[n] = wrapper('primitive', 'given_at_' .. n, takes_place,
            call(f, name, unpack(place)), equation.primitives)
        choices[n] = n > 1 and ('    if (which == %d) w = given_at_%d(q, at, k);\n'):format(n, n)
            or '    primitive w = given_at_1(q, at, k);\n'
    end
    local conserved = conserved_code(equation, list)
    return table.concat { '#include "traverse/types.h"\n', unit.functions(what, list), conserved,
        table.concat(texts), ('MR_FN cell chosen_at(int which, %s) {\n'):format(takes_place),
        table.concat(choices), '    return conserved_of(w, k);\n}\n' }
end

-- Returns the text of cell_at(primitive q, spot at, parameters k), which pointwise.krn wants, by
-- one such function.
function lua_code.cell(equation, what, f, kind)
    return lua_code.cells(equation, what, { f }, kind)
        .. ('MR_FN cell cell_at(%s) {\n    return chosen_at(1, q, at, k);\n}\n'):format(takes_place)
end

-- Returns the text of the struct `values` and of values_of(cell q, parameters k), which
-- volume/sums.krn wants. list: of volume/variables.lua
function lua_code.values(equation, what, list)
    local symbols, functions, lines = {}, {}, {}
    local names = tables.column(equation.fields, 'name')
    for k, name in ipairs(names) do symbols[name] = equation.symbols[k] end
    local q = types.record('cell', names, symbols)
    local p = types.record('parameters', parameters_of(equation), nil, 'x', 'y', 'z')
    for n, v in ipairs(list) do
        local text = v.plane and 'q.' .. equation.symbols[v.plane + 1]
            or v.result and 'primitive_of(q, k).' .. equation.primitives[v.result]
        if not text then
            local name = 'lua_' .. v.name
            functions[#functions + 1] = { f = v.value, name = name, parameters = { q, p },
                results = 1 }
            text = call(v.value, name, 'q', 'k')
        end
        lines[n] = ('    v.of[%d] = (double)%s;\n'):format(n - 1, text)
    end
    return table.concat { '#include "traverse/types.h"\n', unit.functions(what, functions),
        ('typedef struct values { double of[%d]; } values;\n'):format(#list),
        'MR_FN values values_of(cell q, parameters k) {\n    values v;\n', table.concat(lines),
        '    return v;\n}\n' }
end

return lua_code
