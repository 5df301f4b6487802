-- Expressions as trees of the dialect. evaluate.lua and this file go through an
-- expression in the same order, so that leaf number k of the one is x<k> of the
-- other, and number k of Lua is s<k>.

local dialect = require 'mare.dialect.nodes'
local m = require 'mare.dialect.maths'
local types = require 'mare.expression.types'

local tree = {}

-- ---- conversions ----

-- Returns a real as a whole number: see dialect/operations.lua.
local function saturated(value, to)
    local whole = m['saturated_' .. to.computed](value)
    if not to.narrow then return whole end
    return m.where(m.lt(whole, to.least), to.least,
        m.where(m.gt(whole, to.most), to.most, whole))
end

local function converted(value, from, to)
    if to == types.bool then return from == to and value or m.ne(value, 0) end
    if from.kind == 2 and to.kind == 1 then return saturated(value, to) end
    if to.narrow then
        if from == to then return value end
        local is_double = to == types.half and from == types.double
        return m[is_double and 'half_of_double' or to.name](value)
    end
    if from.computed == to.computed then return value end
    return m[to.computed](value)
end

-- Converts a value, or a complex number, from one type to another.
local function convert(value, from, to)
    if from == to then return value end
    local from_part, to_part = types.part(from), types.part(to)
    if not to.complex then return converted(value, from_part, to_part) end
    if from.complex then
        return { re = converted(value.re, from_part, to_part),
            im = converted(value.im, from_part, to_part) }
    end
    return { re = converted(value, from_part, to_part), im = dialect.wrap(0, 'im') }
end

-- ---- inputs ----

-- Adds an input and returns its node, or its two nodes if it is complex.
local function input(list, name, type)
    local part = types.part(type)
    local function add(own)
        list[#list + 1] = { name = own, written = tree.written(part) }
        return dialect.input(own, part.computed, own)
    end
    if type.complex then return { re = add(name .. '_re'), im = add(name .. '_im') } end
    return add(name)
end

-- Returns the type that a kernel's variable has for a value of a type.
function tree.written(type)
    return require('mare.dialect.types').all[types.part(type).computed].written
end

-- ---- expressions ----

local function number(state, type)
    local list = state.numbers
    list[#list + 1] = { name = 's' .. #list + 1, type = types.part(type) }
    local value = input(state.inputs, list[#list].name, types.part(type))
    if type == types.half then value = m.half(value) end
    return type.complex and { re = value, im = dialect.wrap(0, 'im') } or value
end

local function leaf(state, node)
    local list = state.leaves
    list[#list + 1] = { name = 'x' .. #list + 1, type = node.type, is_number = not node.version }
    return input(state.inputs, list[#list].name, node.type)
end

local value_of

local function operand(state, node, k)
    local x, to = node[k], node.structure.computed_in
    if type(x) == 'number' then return number(state, to) end
    local value = value_of(state, x)
    if k == 1 and node.op.first_as_it_is then return value end
    return convert(value, x.type, to)
end

local function computed(state, node)
    local op, list = node.op, {}
    for k = 1, 3 do
        if node[k] then list[#list + 1] = operand(state, node, k) end
    end
    if op.wants_type then list[#list + 1] = node.structure.computed_in end
    local value = op.tree(unpack(list))
    local is_cut = node.type.narrow and node.structure.computed_in.narrow and op.name ~= 'where'
        and not op.name:find '^to '
    return is_cut and m[node.type.name](value) or value
end

function value_of(state, node)
    local made = state.made[node]
    if not made then
        made = node.op and computed(state, node) or leaf(state, node)
        state.made[node] = made
    end
    return made
end

-- Returns what a list of expressions reads and computes:
--
--     inputs   what the values are computed from: { name, written } each
--     leaves   { name, type, is_number } each; is_number: an element is its number
--     numbers  { name, type } each
--     values   trees, or { re, im }
--     types    those of the values
function tree.of(roots)
    local state = { inputs = {}, leaves = {}, numbers = {}, made = {}, values = {}, types = {} }
    for k, root in ipairs(roots) do
        state.values[k], state.types[k] = value_of(state, root), root.type
    end
    return state
end

return tree
