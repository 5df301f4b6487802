-- Makes an equation of data: one table tells its fields, parameters, fluxes, source and variables,
-- and from it follow the types of the kernels in kernels/traverse/ and a scheme that a simulation
-- takes. README.md lists what the table may hold.

local choices = require 'mare.schemes.choices'
local derive = require 'mare.array.derive'
local errors = require 'bindings.errors'
local oracle = require 'mare.schemes.oracle'
local pointwise = require 'mare.schemes.pointwise'
local reserved = require 'mare.dialect.reserved'
local sides = require 'mare.schemes.sides'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'
local traversal = require 'mare.schemes.traversal'

local equation = {}

local Equation, Scheme = {}, {}
Equation.__index, Scheme.__index = Equation, Scheme

local most_fields = 16

local allowed = {
    name = 'string', fields = 'table', primitives = 'table', parameters = 'table',
    header = 'string', code = 'string', fluxes = 'table', folder = 'string', source = 'any',
    rates = 'boolean', given = 'table', unknowns = 'table',
    halo = 'number', variables = 'table', integrals = 'table', derive = 'table',
    initial = 'table', conserved = 'function', invalid = 'function',
    sample = 'function', units = 'table', title = 'string', dimensions = 'number',
}
local field_keys = { name = 'string', symbol = 'string', vector = 'string',
    axis = { x = true, y = true, z = true }, long_name = 'string', units = 'string' }
local parameter_keys = { name = 'string', default = 'number', range = 'table', vector = 'string',
    axis = { x = true, y = true, z = true } }

-- Fluxes that any equation has which brings waves_of() and conserved_of().
local general_fluxes = {
    rusanov = 'local Lax-Friedrichs: one wave speed, the most diffusive',
    hll = 'Harten, Lax, van Leer: two waves, contacts smear',
}

-- ---- checks ----

local function check_symbol(what, symbol, seen)
    if type(symbol) ~= 'string' or not symbol:find '^%l[%w_]*$' or symbol:find '^mr_'
        or reserved[symbol] then
        errors.argument("%s: '%s' is no name that a kernel can use (a small letter, then letters, "
            .. 'digits and _)', what, tostring(symbol))
    end
    if seen[symbol] then errors.argument("%s: '%s' is there twice", what, symbol) end
    seen[symbol] = true
    return symbol
end

local function check_count(what, list, least)
    if #list < least or #list > most_fields then
        errors.argument('%s: %d are given, must be from %d to %d', what, #list, least, most_fields)
    end
end

-- Returns the vectors, an array of { name, x = plane, y = plane, z = plane in three dimensions },
-- in the order in which they begin; of parameters the places in their list, from 0.
local function vectors_of(what, fields, dimensions)
    local list = {}
    for plane, field in ipairs(fields) do
        if (field.vector == nil) ~= (field.axis == nil) then
            errors.argument("%s: '%s': vector and axis go together", what, field.name)
        end
        local name = field.vector
        if name and not list[name] then
            list[name] = { name = name }
            list[#list + 1] = list[name]
        end
        if name and list[name][field.axis] then
            errors.argument("%s: vector '%s' has two components along %s", what, name, field.axis)
        end
        if name then list[name][field.axis] = plane - 1 end
    end
    for _, v in ipairs(list) do
        for _, axis in ipairs { 'x', 'y', dimensions == 3 and 'z' or nil } do
            if not v[axis] then
                errors.argument("%s: vector '%s' has no component along %s", what, v.name, axis)
            end
        end
        if v.z and dimensions ~= 3 then
            errors.argument("%s: vector '%s' has a component along z: dimensions = 3 is wanted",
                what, v.name)
        end
    end
    return list
end

-- Returns what a field is called in kernels.
local component = { x = 'n', y = 't', z = 'b' }

local function symbol_of(field)
    local axis = component[field.axis]      -- nil is refused later
    if field.vector and axis then return field.vector .. axis end
    return field.symbol or field.name
end

local function check_fields(what, fields)
    check_count(what .. ': fields', fields, 1)
    local names, seen, symbols = {}, {}, {}
    for k, field in ipairs(fields) do
        local where = ('%s: field %d'):format(what, k)
        errors.fields(where, field, field_keys)
        if not field.name or names[field.name] then
            errors.argument('%s: %s', where, field.name and 'its name is there twice'
                or 'name is missing')
        end
        names[field.name] = true
        symbols[k] = check_symbol(where, symbol_of(field), seen)
    end
    return symbols
end

local function check_primitives(what, primitives)
    local seen = {}
    check_count(what, primitives, 1)
    for _, name in ipairs(primitives) do check_symbol(what, name, seen) end
    return primitives
end

local function check_parameters(what, parameters)
    local seen = {}
    check_count(what .. ': parameters', parameters, 0)
    for k, p in ipairs(parameters) do
        local where = ('%s: parameter %d'):format(what, k)
        errors.fields(where, p, parameter_keys)
        check_symbol(where, p.name and symbol_of(p), seen)
        local range = p.range or { -math.huge, math.huge }
        if #range ~= 2 or range[1] > range[2] then
            errors.argument('%s: range of %s must be { least, most }', where, p.name)
        end
    end
end

local function has_function(code, name)
    local at = 0
    while at do
        at = code:find(name, at + 1, true)
        local is_whole = at and (at == 1 or not code:find('^[%w_]', at - 1))
        if is_whole and code:find('^%s*%(', at + #name) then return true end
    end
    return false
end

local function check_code(what, desc)
    if (desc.header == nil) == (desc.code == nil) then
        errors.argument('%s: either header or code is wanted', what)
    end
    for _, name in ipairs { 'primitive_of', 'physical_flux', 'conserved_of', 'waves_of' } do
        if desc.code and not has_function(desc.code, name) then
            errors.argument('%s: its code has no %s()', what, name)
        end
    end
    local wanted = desc.rates and 'rate_of' or 'source'
    if desc.source and desc.code and not has_function(desc.code, wanted) then
        errors.argument('%s: its code has no %s()', what, wanted)
    end
end

local function check_source(what, given)
    local kind = type(given)
    if kind ~= 'nil' and kind ~= 'boolean' and kind ~= 'function' then
        errors.argument('%s: source must be a boolean or a function of the parameters, not %s',
            what, kind)
    end
end

local function check_dimensions(what, desc)
    local n = desc.dimensions or 2
    if n ~= 2 and n ~= 3 then
        errors.argument('%s: dimensions = %s, must be 2 or 3', what, tostring(n))
    elseif n == 3 and (desc.header or desc.source and not desc.rates) then
        errors.argument('%s: in three dimensions there are no headers', what)
    end
end

local function check_halo(what, halo)
    if halo % 1 ~= 0 or halo < traversal.reach or halo > 16 then
        errors.argument('%s: halo = %g, must be a whole number from %d to 16', what, halo,
            traversal.reach)
    end
    return halo
end

-- ---- variables ----

-- Returns the variables: first the fields that the table does not describe.
local function variables_of(self)
    local list, is_given = {}, tables.set(tables.column(self.variables or {}, 'name'))
    for _, field in ipairs(self.fields) do
        if not is_given[field.name] then
            list[#list + 1] = { name = field.name, long_name = field.long_name,
                units = field.units }
        end
    end
    local is_field = tables.set(tables.column(self.fields, 'name'))
    for _, v in ipairs(self.variables or {}) do
        if v.value and is_field[v.name] then
            errors.argument("%s: variable '%s' is a field, which has its own value", self.name,
                v.name)
        end
        list[#list + 1] = v
    end
    return list
end

-- Returns the names of the numbers that expressions may read.
local function derived_parameters(self)
    local names = { 'gx', 'gy', unpack(self.derive or {}) }
    for _, p in ipairs(self.parameters) do names[#names + 1] = p.name end
    return names
end

-- Returns the part of a scheme that array/derive.lua reads.
local function derived_of(self)
    return { name = self.name, halo = self.halo, fields = tables.column(self.fields, 'name'),
        variables = variables_of(self), derive = { parameters = derived_parameters(self) } }
end

-- Makes an equation of a table as README.md has it; what is missing, unknown or of the wrong type
-- is refused.
function equation.new(desc)
    local what = type(desc) == 'table' and type(desc.name) == 'string'
        and 'equation ' .. desc.name or 'equation'
    errors.fields(what, desc, allowed)
    errors.needs(what, desc, { 'name', 'fields' })
    check_source(what, desc.source)
    check_code(what, desc)
    check_dimensions(what, desc)
    local self = { symbols = check_fields(what, desc.fields), dimensions = desc.dimensions or 2,
        vectors = vectors_of(what, desc.fields, desc.dimensions) }
    self.primitives = check_primitives(what .. ': primitives', desc.primitives or self.symbols)
    check_parameters(what, desc.parameters or {})
    for key, value in pairs(desc) do self[key] = self[key] or value end
    self.parameters, self.halo = desc.parameters or {}, check_halo(what, desc.halo or 2)
    self.parameter_vectors = vectors_of(what .. ': parameters', self.parameters,
        self.dimensions)
    self.fluxes = desc.fluxes or general_fluxes
    derive.check(derived_of(self))
    return setmetatable(self, Equation)
end

-- ---- kernels ----

local function name_list(defines, word, names)
    for k, name in ipairs(names) do defines[word .. '_' .. k - 1] = name end
    return #names
end

-- Returns what the parameters are called in kernels.
local function parameter_symbols(self)
    local names = {}
    for k, p in ipairs(self.parameters) do names[k] = symbol_of(p) end
    return names[1] and names or { 'none' }
end

-- What kernels know of the grid where a source asks for its place: the part's first cell, the cells
-- of the whole grid, where it begins, their sizes, and what ghost cells stand for
-- (traverse/sources.h).
local place_members = 'int mr_i, mr_j, mr_columns, mr_rows, mr_around; '
    .. 'real mr_x, mr_y, mr_dx, mr_dy, mr_west, mr_east, mr_south, mr_north; '

-- In three dimensions the kernels of a volume know it.
local function has_place(self) return self.rates and self.dimensions == 2 end

-- Returns the struct by which kernels take the parameters, and the function that sees its vectors
-- from the next axis, each on a line.
local function struct_of(self)
    local turns = {}
    for k, v in ipairs(self.parameter_vectors) do
        local turn = v.z and 'to.%sn = k.%st; to.%st = k.%sb; to.%sb = k.%sn; '
            or 'to.%sn = k.%st; to.%st = k.%sn; '
        turns[k] = turn:gsub('%%s', v.name)
    end
    return ('typedef struct parameters { %sreal %s; } parameters;\n'):format(
        has_place(self) and place_members or '', table.concat(parameter_symbols(self), ', '))
        .. ('MR_FN parameters turned_parameters(parameters k) { parameters to = k; %sreturn to; }')
        :format(table.concat(turns))
end

local no_place = {}
for name in place_members:gmatch 'mr_%l+' do no_place[name] = 0 end

-- Returns the numbers of the parameters as values for kernels: those of their argument `k`. place:
-- of traversal.lua, which is wanted where `rates` are, in the plane
function Equation:values(numbers, place)
    local values = tables.merged(has_place(self) and no_place or {}, has_place(self) and place)
    for k, name in ipairs(parameter_symbols(self)) do
        local p = self.parameters[k]
        values[name] = p and numbers[p.name] or 0
    end
    return { k = values }
end

-- Returns the defines that lists.h makes lists of. has_source: whether the source does anything
function Equation:defines(has_source)
    local defines = { HALO = self.halo, CELL_RATE = '"traverse/cell_rate.h"',
        SOURCES = has_source and (self.dimensions == 3 and 3 or self.rates and 2 or 1) or 0 }
    defines.FIELDS = name_list(defines, 'FIELD', self.symbols)
    defines.PRIMITIVES = name_list(defines, 'PRIMITIVE', self.primitives)
    local in_space = self.dimensions == 3
    defines.VECTORS = in_space and 0 or #self.vectors
    defines.TRIPLES = in_space and #self.vectors or nil
    for k, v in ipairs(self.vectors) do
        defines['NORMAL_' .. k - 1] = self.symbols[v.x + 1]
        defines['TRANSVERSE_' .. k - 1] = self.symbols[v.y + 1]
        defines['BINORMAL_' .. k - 1] = in_space and self.symbols[v.z + 1] or nil
        defines['PLANE_X_' .. k - 1], defines['PLANE_Y_' .. k - 1] = v.x, v.y
    end
    return defines
end

-- Returns the text of a file with the parameters before it, and an equation's own code after them.
local function text_of(self, file, before)
    local text, given = source.with_parameters(file, { 'const parameters k' })
    local code = self.code and ('#include "traverse/types.h"\n#line 1 "equation %s"\n%s\n'):format(
        self.name, self.code) or ''
    return ('%s\n%s%s#line 1 "%s"\n%s'):format(struct_of(self), code, before or '', file, text),
        given
end

-- Returns what device:program takes to compile a file of kernels/traverse/ for this equation. desc:
-- as of source.program; its defines come before those of the equation. before: more text that
-- stands before the file
function Equation:program(file, desc)
    local text, given = text_of(self, file, desc.before)
    local defines = tables.merged(self:defines(desc.has_source), desc.defines, { GIVEN = given })
    return source.text(text, file, { defines = defines, math = desc.math, options = desc.options })
end

-- ---- schemes ----

-- Returns the numbers of the parameters, from a script's table or their defaults.
function Equation:numbers(given)
    local numbers, _, number = {}, choices.checks(self.name)
    for _, p in ipairs(self.parameters) do
        local value = given[p.name]
        if value == nil then value = p.default end
        if value == nil then errors.argument('%s: %s is missing', self.name, p.name) end
        local range = p.range or { -math.huge, math.huge }
        numbers[p.name] = number(p.name, value, range[1], range[2])
    end
    return numbers
end

-- Returns which planes turn around at a wall across an axis.
local function normal_of(self)
    local normal = { x = {}, y = {} }
    for k, v in ipairs(self.vectors) do normal.x[k], normal.y[k] = v.x, v.y end
    return normal
end

local function has_source(self, numbers)
    local given = self.source
    if type(given) == 'function' then given = given(numbers) end
    return given and true or false
end

-- Makes a scheme. desc: { scheme = its name, numbers = of the parameters, flux, limiter, theta,
-- headers = more defines of headers, passes, stages, persists = whether persistent.krn may run,
-- more = further fields of it }
function Equation:build(desc)
    local stages, numbers = desc.stages, desc.numbers
    local sources = has_source(self, numbers)
    if stages and sources and not self.rates then
        errors.argument('%s: a source goes with sweeps, not with stages', self.name)
    end
    local defines = choices.defines(desc.limiter, desc.theta, tables.merged({
        EQUATION = self.header or 'traverse/general',
        FLUX = choices.header(self.folder or 'traverse/fluxes', desc.flux) }, desc.headers))
    defines.BOTH_AXES = stages and 1 or nil
    defines.FACE_WAVES = self.code and general_fluxes[desc.flux] and 1 or nil
    local passes = stages and #stages or 1
    local derived = derived_of(self)
    local scheme = {
        equation = self, name = self.name, scheme = desc.scheme, halo = self.halo,
        updated = #self.fields * passes, read_only = 0, has_source = sources, numbers = numbers,
        dimensions = self.dimensions,
        fields = derived.fields, normal = normal_of(self), units = self.units,
        variables = derived.variables, integrals = self.integrals or {}, derive = derived.derive,
        flux = desc.flux, limiter = desc.limiter, theta = desc.theta, defines = defines,
        passes = desc.passes, stages = stages, buffers = stages and math.max(2, #stages) or nil,
        persists = desc.persists,
    }
    local shown = not self.unknowns and numbers -- names of a script may be those of other fields
    return setmetatable(tables.merged(scheme, shown, desc.more), Scheme)
end

-- Returns what a script gives to build(): numbers, flux, limiter, theta and passes. flux: the one
-- that is taken if it gives none; more: further fields that it may give
function Equation:read(desc, flux, more)
    local known = tables.merged({ flux = 'any', limiter = 'any', theta = 'any', passes = 'any',
        scheme = 'any' }, more)
    for _, p in ipairs(self.parameters) do known[p.name] = 'any' end
    errors.fields(self.name, desc, known)
    local choose, number = choices.checks(self.name)
    local given = self.unknowns and {} or desc  -- in Lua a parameter may be called theta or flux
    return { numbers = self:numbers(given), flux = choose('flux', desc.flux or flux, self.fluxes),
        limiter = choose('limiter', desc.limiter or 'mc', choices.limiters),
        theta = number('theta', desc.theta or 1.3, 1, 2),
        passes = desc.passes and number('passes', desc.passes, 1, 2) }
end

-- equation { gamma = 1.4, flux = 'hll', limiter = 'mc', theta = 1.3, passes = 1 or 2, scheme =
-- 'muscl_hancock' } makes a scheme. Its schemes are those of choices.methods, of which an equation
-- with a header of its own has but the first.
function Equation:__call(desc)
    desc = desc or {}
    local chosen = self:read(desc, 'hll')
    chosen.scheme = choices.checks(self.name)('scheme', desc.scheme or 'muscl_hancock',
        self.code and choices.methods or { muscl_hancock = true })
    chosen.stages = choices.stages[chosen.scheme]
    return self:build(chosen)
end

Scheme.maxima, Scheme.kernels, Scheme.bind = traversal.maxima, traversal.kernels, traversal.bind
Scheme.prepare_kernels = traversal.prepare_kernels
Scheme.levels_on, Scheme.reads_beside = traversal.levels, traversal.reads_beside
Scheme.edge_rows = traversal.edge_rows

-- Computes the cells of fields on their devices from a function of the script: see pointwise.lua.
Scheme.fill_fields, Scheme.change = pointwise.fill_fields, pointwise.change

-- scheme:check { count =, seed =, device = } compares functions in Lua with plain Lua: oracle.lua.
Scheme.check = oracle.check

-- Turns what a script's `initial` returns into the unknowns: they are the same unless the equation
-- says how they follow.
function Scheme:conserved(...)
    local f = self.equation.conserved
    if f then return f(self, ...) end
    return ...
end

-- Returns the names of the variables that a script's `initial` gives, in their order; nil if the
-- equation does not tell.
function Scheme:initial_names()
    local of = self.equation
    if of.initial or of.conserved then return of.initial end
    return self.fields
end

-- Sides that are tables, whose ghost cells it fills itself, all of them.
Scheme.open_sides, Scheme.check_side, Scheme.keeps_open = sides.kinds, sides.check, true

-- Makes what fills the ghost cells beyond sides that are tables; see schemes/README.md.
function Scheme:ghosts(state, which, fraction, _, exchange)
    return sides.ghosts(self, state, which, fraction, exchange)
end

-- Says what went wrong in a cell; returns nil if nothing did.
function Scheme:invalid(...)
    local f = self.equation.invalid
    if f then return f(self, ...) end
    return self:not_finite(...)
end

-- Says which of a cell's numbers is not finite; returns nil if none is.
function Scheme:not_finite(...)
    for k = 1, select('#', ...) do
        local value = select(k, ...)
        if value - value ~= 0 then return string.format('%s %g', self.fields[k], value) end
    end
end

-- Returns what the kernels of derived variables ask for: gx = 1 / (2 dx), gy and the parameters.
function Scheme:derive_values(grid)
    local values = tables.merged({ gx = 0.5 / grid.dx, gy = 0.5 / grid.dy }, self.numbers)
    for _, name in ipairs(self.equation.derive or {}) do values[name] = self[name] end
    return values
end

-- Returns what describes the equations in a file's metadata, as computed: a scheme may bring a flux
-- and a limiter of its own, whatever the options say.
function Scheme:parameters()
    local list = { equations = self.equation.title or self.name, scheme = self.scheme,
        flux = self.flux, limiter = self.limiter, functions = self.fingerprint,
        theta = self.limiter == 'minmod' and self.theta or nil }
    for name, number in pairs(self.numbers) do list[name] = number end
    for _, name in ipairs(self.equation.derive or {}) do list[name] = self[name] end
    return list
end

return equation
