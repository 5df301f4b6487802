-- Writes the kernels of derived variables from the expressions in a scheme's
-- table of variables:
--
--     { name = 'speed', long_name = 'magnitude of the velocity', value = function(q, p)
--         return maths.sqrt(q.hu ^ 2 + q.hv ^ 2) / q.h
--     end }
--
-- q is the cell: it has the scheme's fields, and q:at(i, j) is the cell i further
-- along x and j further along y. p has the parameters. The functions of
-- dialect/maths.lua take both. The scheme's table `derive` says what else an
-- expression may read:
--
--     parameters = { names of real numbers, which are arguments of the kernel }
--     choices = { name = a boolean or text that p has while the kernel is written }
--     inputs = { name = { buffer = an argument with the layout of a field },
--                name = { call = a function of the header, names of arguments } }
--     arguments = { name = 'int', 'real', 'real*' or 'double*', ... } of the inputs
--     header = a file that the kernels include
--
-- Calls may also name 'plane', 'at' (the cell's element) and 'cell_row'. A kernel
-- has only the arguments that its expression needs; its global size is
-- (columns, rows).

local cells = require 'mare.dialect.cells'
local errors = require 'bindings.errors'
local nodes = require 'mare.dialect.nodes'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'
local writer = require 'mare.dialect.writer'

local derive = {}

-- The arguments that every kernel may have, in this order, their declarations,
-- and the arguments that local variables of the kernel are computed from.
local order = { 'src', 'origin', 'south', 'step', 'stride', 'plane', 'out', 'first', 'columns',
    'rows' }
local declared = {
    src = 'const MR_GLOBAL real *', out = 'MR_GLOBAL real *', origin = 'mr_index ',
    first = 'mr_index ', plane = 'mr_index ', south = 'int ', step = 'int ', stride = 'int ',
    columns = 'int ', rows = 'int ', int = 'int ', real = 'real ',
    ['real*'] = 'const MR_GLOBAL real *', ['double*'] = 'const MR_GLOBAL double *',
}
local always = { 'out', 'first', 'columns', 'rows' }
local needs = { at = { 'origin', 'step', 'stride' }, cell_row = { 'south', 'step' } }

-- ---- what an expression reads ----

local function shifted(base, count, stride)
    if count == 0 then return base end
    local size = math.abs(count)
    local text = (size == 1 or stride == '1') and stride or size .. ' * ' .. stride
    if stride == '1' then text = tostring(size) end
    return ('%s %s %s'):format(base, count < 0 and '-' or '+', text)
end

local function element(i, j)
    return shifted(shifted('at', j, 'stride'), i, '1')
end

-- Returns the name of a neighbour's value, such as h_e, h_w2 or h_ne.
local function neighbour_name(name, i, j)
    local function way(count, ahead, back)
        if count == 0 then return '' end
        local size = math.abs(count)
        return (count > 0 and ahead or back) .. (size > 1 and size or '')
    end
    local ways = way(j, 'n', 's') .. way(i, 'e', 'w')
    return ways == '' and name or name .. '_' .. ways
end

local function plane_text(k)
    return k == 0 and '' or k == 1 and 'plane + ' or k .. ' * plane + '
end

local function read_plane(name, buffer, k, i, j)
    local uses = { buffer, 'at', k > 0 and 'plane' or nil }
    if j ~= 0 then uses[#uses + 1] = 'stride' end
    return nodes.input(neighbour_name(name, i, j), 'real',
        ('%s[%s%s]'):format(buffer, plane_text(k), element(i, j)), uses)
end

local function read_call(name, input, i, j)
    local texts = {}
    for k, argument in ipairs(input) do
        texts[k] = argument == 'at' and element(i, j)
            or argument == 'cell_row' and shifted('cell_row', j, '1') or argument
    end
    local uses = { unpack(input) }
    if j ~= 0 then uses[#uses + 1] = 'stride' end
    return nodes.input(neighbour_name(name, i, j), 'real',
        ('%s(%s)'):format(input.call, table.concat(texts, ', ')), uses)
end

-- Returns a function (i, j) that makes each node once, and raises reach.cells to
-- the farthest distance asked for.
local function reader(read, reach)
    local made = {}
    return function(i, j)
        local key = i .. ' ' .. j
        made[key] = made[key] or read(i, j)
        reach.cells = math.max(reach.cells, math.abs(i), math.abs(j))
        return made[key]
    end
end

-- Returns the cell q.
local function cell_of(scheme, reach)
    local fields = {}
    for k, name in ipairs(scheme.fields) do
        fields[name] = reader(function(i, j) return read_plane(name, 'src', k - 1, i, j) end, reach)
    end
    for name, input in pairs(scheme.derive.inputs or {}) do
        fields[name] = reader(function(i, j)
            if input.call then return read_call(name, input, i, j) end
            return read_plane(name, input.buffer, 0, i, j)
        end, reach)
    end
    return cells.new(fields)
end

local function parameters_of(scheme)
    local list = {}
    for _, name in ipairs(scheme.derive.parameters or {}) do
        if declared[name] then
            errors.argument("%s: parameter '%s' has the name of an argument of kernels (taken: %s)",
                scheme.name, name, table.concat(order, ', '))
        end
        list[name] = nodes.input(name, 'real', name, { name })
    end
    for name, choice in pairs(scheme.derive.choices or {}) do list[name] = choice end
    return cells.names('parameter', list)
end

-- Returns the tree of a variable and the distance of the farthest cell it reads.
function derive.expression(scheme, variable)
    local who = ("variable '%s'"):format(variable.name)
    local reach = { cells = 0 }
    local tree = cells.value(who, variable.value, cell_of(scheme, reach), parameters_of(scheme))
    if reach.cells > scheme.halo then
        errors.argument('%s reads a cell %d away, %s has a halo of %d', who, reach.cells,
            scheme.name, scheme.halo)
    end
    return tree, reach.cells
end

-- Raises an error if a name or an expression cannot become a kernel.
function derive.check(scheme)
    for k, variable in ipairs(scheme.variables) do
        local name, kind = variable.name, type(variable.value)
        if type(name) ~= 'string' or not name:find '^[%a_][%w_]*$' then
            errors.argument("%s: variable %d: name = '%s', must be letters, digits and _",
                scheme.name, k, tostring(name))
        end
        if kind == 'function' then
            derive.expression(scheme, variable)
        elseif kind ~= 'nil' then
            errors.argument("%s: variable '%s': value must be a function(q, p), not %s",
                scheme.name, name, kind)
        end
    end
end

-- ---- kernels ----

-- Returns the set of arguments and local variables that a tree needs.
local function mentioned(tree)
    local used = {}
    local function use(name)
        used[name] = true
        for _, needed in ipairs(needs[name] or {}) do use(needed) end
    end
    for _, name in ipairs(always) do use(name) end
    for _, input in ipairs(writer.inputs(tree)) do
        for _, name in ipairs(input.uses) do use(name) end
    end
    return used
end

-- Returns the declarations of a kernel's arguments, and the names that are taken.
local function arguments_of(scheme, used)
    local list, names, own, seen = {}, { 'i', 'j', 'at', 'cell_row' }, scheme.derive, {}
    local function add(name, type)
        if used[name] and not seen[name] then list[#list + 1] = declared[type] .. name end
        names[#names + 1], seen[name] = name, true
    end
    for _, name in ipairs(order) do add(name, name) end
    for _, name in ipairs(tables.keys(own.arguments or {})) do add(name, own.arguments[name]) end
    for _, name in ipairs(own.parameters or {}) do add(name, 'real') end
    return list, names
end

local function write_kernel(w, scheme, variable, tree)
    local used = mentioned(tree)
    local arguments, names = arguments_of(scheme, used)
    w:line ''
    w:line('/* ' .. (variable.long_name or variable.name):gsub('%*/', '') .. ' */')
    w:line 'MR_KERNEL'
    w:open(('void %s(%s)'):format(derive.kernel(variable.name), table.concat(arguments, ', ')),
        names)
    w:line 'int i = mr_gid_x(), j = mr_gid_y();'
    w:line 'if (i >= columns || j >= rows) return;'
    if used.cell_row then w:line 'int cell_row = south + j * step;' end
    if used.at then w:line 'mr_index at = sampled(origin, i, j, step, stride);' end
    w:line('out[first + (mr_index)j * columns + i] = %s;', (w:values { tree }))
    w:close()
end

-- Returns the name of a variable's kernel.
function derive.kernel(name)
    return 'derive_' .. name
end

-- Returns the text of the kernels of all derived variables, and a table of the
-- distances that they read, by the names of the variables.
function derive.source(scheme)
    local w, reach = writer.new(), {}
    w:line('/* The derived variables of %s, written from its table of variables. */', scheme.name)
    w:line ''
    w:line '#include "array/sample.h"'
    if scheme.derive.header then w:line('#include "%s"', scheme.derive.header) end
    for _, variable in ipairs(scheme.variables) do
        if variable.value then
            local tree
            tree, reach[variable.name] = derive.expression(scheme, variable)
            write_kernel(w, scheme, variable, tree)
        end
    end
    return w:text(), reach
end

-- Returns what device:program takes, and the table of distances. defines: of
-- the scheme's header, and MARE_REAL.
function derive.program(scheme, defines)
    local text, reach = derive.source(scheme)
    return source.text(text, 'variables of ' .. scheme.name, { defines = defines }), reach
end

return derive
