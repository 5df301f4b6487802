-- Computes expressions on null devices, whose memory is the host's: the tree that
-- becomes a kernel elsewhere becomes a function of Lua here, which rounds to the
-- types of the tree. It needs no compiler, and is slow.

local bit = require 'bit'
local order = require 'mare.expression.reduce_text'
local tables = require 'bindings.tables'

local bound = require 'bindings.array'
local errors = require 'bindings.errors'
local libm = require 'bindings.libm'
local operations = require 'mare.dialect.operations'
local tree = require 'mare.expression.tree'
local types = require 'mare.expression.types'

local host = {}

-- Whether the host computes for a device, at once. Raises an error if that is to be recorded.
function host.takes(device)
    if device.is_null and bound.is_recording(device) then
        errors.argument('%s: the host computes arrays of a null device at once: no plan takes them',
            device.name)
    end
    return device.is_null
end

-- ---- the text of a function ----

local most_locals = 100

-- Adds a statement that names a text, and returns the name.
local function named(state, text)
    local k = #state.lines + 1
    local name = k <= most_locals and 't' .. k or ('v[%d]'):format(k)
    state.lines[k] = ('%s%s = %s'):format(k <= most_locals and 'local ' or '', name, text)
    return name
end

-- Whether a type's values are cdata of 64 bits.
local function is_boxed(type) return type == 'int64' or type == 'uint64' end

local text_of

local function number_text(node, type)
    local text = ('%.17g'):format(node.value)
    return is_boxed(type) and ('to_%s(%s)'):format(type, text) or text
end

-- Returns the text of an operand as a number of a type; truth values become 0 or 1.
local function operand(state, node, type)
    if node.kind == 'number' then return number_text(node, type) end
    local text = text_of(state, node)
    return node.type == 'bool' and ('(%s and 1 or 0)'):format(text) or text
end

local function truth(state, node)
    return node.kind == 'number' and tostring(node.value ~= 0) or text_of(state, node)
end

-- Returns the type that both operands of a comparison are of.
local function compared(node)
    local a, b = node[1].type, node[2].type
    return is_boxed(a) and a or b
end

local function comparison(state, node)
    local token, type = node.op.infix == '!=' and '~=' or node.op.infix, compared(node)
    return ('%s %s %s'):format(operand(state, node[1], type), token, operand(state, node[2], type))
end

local function choice(state, node)
    local function either(x)
        return node.type == 'bool' and truth(state, x) or operand(state, x, node.type)
    end
    return ('choose(%s, %s, %s)'):format(truth(state, node[1]), either(node[2]), either(node[3]))
end

local logical = { logical_and = '%s and %s', logical_or = '%s or %s', logical_not = 'not %s' }
local signs = { ['+'] = true, ['-'] = true, ['/'] = true }

local function arithmetic(state, node)
    local name, type = node.op.name, node.type
    local list = {}
    for k = 1, node.op.operands do list[k] = operand(state, node[k], type) end
    if name == 'negative' then return '-' .. list[1] end
    if signs[name] or name == '*' and not type:find '32' then
        return ('%s %s %s'):format(list[1], name, list[2])
    end
    if name == 'nextafter' and type == 'float' then name = 'nextafterf' end
    if name == 'shift_right' and type:find '^u' then name = 'shift_right_unsigned' end
    if name == 'remainder' and is_boxed(type) then return list[1] .. ' % ' .. list[2] end
    if name == '*' then return ('product(%s)'):format(table.concat(list, ', ')) end
    return ('plain.%s(%s)'):format(name, table.concat(list, ', '))
end

local function operation(state, node)
    local op, type = node.op, node.type
    if op.compares then return comparison(state, node) end
    if op.name == 'where' then return choice(state, node) end
    if logical[op.name] then
        return logical[op.name]:format(truth(state, node[1]), node[2] and truth(state, node[2]))
    end
    if op.saturates then
        return ('saturated_%s(%s)'):format(op.converts, operand(state, node[1], 'double'))
    end
    if op.converts then
        return ('to_%s(%s)'):format(op.narrows or op.converts, operand(state, node[1], 'double'))
    end
    local text = arithmetic(state, node)
    local is_exact = type == 'double' or type == 'real'     -- real: of numbers of Lua alone
    return is_exact and text or ('to_%s(%s)'):format(type, text)
end

function text_of(state, node)
    if node.kind == 'number' then return number_text(node, node.type) end
    if node.kind == 'input' then return node.text end
    local name = state.named[node]
    if not name then
        name = named(state, operation(state, node))
        state.named[node] = name
    end
    return name
end

-- ---- the loop around it ----

local function load_lines(plan, lines)
    for k, leaf in ipairs(plan.leaves) do
        local at = ('b%d + i * d%d'):format(k, k)
        lines[#lines + 1] = ('local a%d, b%d, d%d = memory[%d], first[%d], by[%d]'):format(k, k, k,
            k, k, k)
        if leaf.is_number then
            leaf.line = ('local %s = to_%s(%s)'):format(leaf.name, types.part(leaf.type).name, at)
        elseif leaf.type.complex then
            leaf.line = ('local %s_re, %s_im = a%d[%s].re, a%d[%s].im'):format(leaf.name, leaf.name,
                k, at, k, at)
        elseif leaf.type == types.half then
            leaf.line = ('local %s = half(a%d[%s])'):format(leaf.name, k, at)
        else
            leaf.line = ('local %s = a%d[%s]'):format(leaf.name, k, at)
        end
    end
    for k, number in ipairs(plan.numbers) do
        lines[#lines + 1] = ('local %s = to_%s(numbers[%d])'):format(number.name,
            number.type.computed, k)
    end
end

local function store_lines(plan, state, lines)
    for k, type in ipairs(plan.types) do
        local value, at = plan.values[k], ('b%d + i * d%d'):format(-k % 1000, -k % 1000)
        local function text(part)
            if type == types.bool then return truth(state, part) end
            return operand(state, part, type.computed)
        end
        if type.complex then
            lines[k] = ('o%d[%s] = to_complex(%s, %s)'):format(k, at, text(value.re),
                text(value.im))
        else
            local given = text(value)
            lines[k] = ('o%d[%s] = %s'):format(k, at,
                type == types.half and ('half_of(%s)'):format(given) or given)
        end
    end
end

local plain = {}
for name, op in pairs(operations) do
    if type(op) == 'table' then plain[name] = op.plain end
end

plain.shift_right_unsigned, plain.nextafterf = bit.rshift, libm.nextafterf

local names = { 'product', 'choose', 'half', 'half_of', 'to_half', 'to_complex', 'to_bool',
    'to_int8', 'to_uint8', 'to_int16', 'to_uint16', 'to_int32', 'to_uint32', 'to_int64',
    'to_uint64', 'to_float', 'to_double', 'saturated_int32', 'saturated_uint32',
    'saturated_int64', 'saturated_uint64' }

-- Returns function(n, memory, first, by, numbers): the first n elements of a row.
-- memory: the C arrays of leaves 1, 2, ... and of outputs -1, -2, ...; first, by:
-- where their elements are
local function compile(roots)
    local plan = tree.of(roots)
    local head, stores, state = {}, {}, { lines = {}, named = {} }
    for k in ipairs(plan.types) do
        head[k] = ('local o%d, b%d, d%d = memory[%d], first[%d], by[%d]'):format(k, 1000 - k,
            1000 - k, -k, -k, -k)
    end
    load_lines(plan, head)
    store_lines(plan, state, stores)
    local loads = tables.column(plan.leaves, 'line')
    local function lines(list) return table.concat(list, '\n') end
    local text = ('local plain, %s = ...\nreturn function(n, memory, first, by, numbers)\n'
        .. 'local v = {}\n%s\nfor i = 0, n - 1 do\n%s\n%s\n%s\nend\nend'):format(
        table.concat(names, ', '), lines(head), lines(loads), lines(state.lines), lines(stores))
    local given = {}
    for k, name in ipairs(names) do given[k] = bound.on_host[name] end
    return assert(loadstring(text, '=expression'))(plain, unpack(given, 1, #names))
end

-- ---- rows ----

-- Calls f(first) for each row: first[k] is where the row of array k begins.
local function each_row(sizes, layouts, f)
    local first, at = {}, {}
    for d = 2, #sizes do at[d] = 0 end
    while true do
        for key, layout in pairs(layouts) do
            first[key] = layout[1]
            for d = 2, #sizes do first[key] = first[key] + at[d] * layout[d + 1] end
        end
        f(first)
        local d = 2
        while sizes[d] and at[d] == sizes[d] - 1 do
            at[d] = 0
            d = d + 1
        end
        if not sizes[d] then return end
        at[d] = at[d] + 1
    end
end

-- Computes the expression that evaluate.lua has visited: see `run` there.
function host.run(sig, roots, shape, layouts_of, target, outputs, leaves, numbers)
    sig.on_host = sig.on_host or compile(roots)
    local sizes, found = layouts_of(shape, target)
    local memory, layouts, by = {}, {}, {}
    for k, version in ipairs(outputs) do
        memory[-k], layouts[-k] = bound.address(version.cell, version.type.name), found[1]
    end
    for k = 1, #found - 1 do
        local version = leaves[k].version
        memory[k] = version and bound.address(version.cell, version.type.name) or false
        layouts[k] = found[k + 1]
    end
    for key, layout in pairs(layouts) do by[key] = layout[2] end
    each_row(sizes, layouts, function(first)
        sig.on_host(sizes[1], memory, first, by, numbers)
    end)
end

-- ---- reductions ----

local combine = {
    sum = function(a, b) return a + b end,
    product = function(a, b) return a * b end,
    any = function(a, b) return a or b end,
    all = function(a, b) return a and b end,
    least = function(a, b)
        if a ~= a then return a end
        return (b ~= b or b < a) and b or a
    end,
    greatest = function(a, b)
        if a ~= a then return a end
        return (b ~= b or b > a) and b or a
    end,
}

-- Returns the number of an element from its number along merged axes.
local function place_of(number, sizes, list, from)
    local at = 0
    for d, size in ipairs(sizes) do
        at = at + number % size * list[from + d]
        number = math.floor(number / size)
    end
    return at
end

-- Returns all values of a row, as a Lua array from 0; halves as numbers, since an element of a C
-- array of them is a reference to it.
local function values_of(sig, type, result, axes, layout, memory, numbers)
    local values, first, by, own = {}, {}, {}, bound.new_array(type.name, 1)
    local read = type == types.half and bound.on_host.half
    memory[-1], first[-1], by[-1] = own, 0, 0
    for k = 1, #layout.leaves do by[k] = 0 end
    for number = 0, axes.count - 1 do
        for k, list in ipairs(layout.leaves) do
            first[k] = list[1] + place_of(result, layout.kept, list, 1)
                + place_of(number, layout.reduced, list, 1 + #layout.kept)
        end
        sig.on_host(1, memory, first, by, numbers)
        values[number] = read and read(own[0]) or own[0]
    end
    return values
end

-- Reduces values from `low` to before `high` in the order of a run or a block.
local function reduced(values, low, high, scheme, join)
    local stride = scheme == 'rows' and order.lanes or 1
    local count = math.min(stride, high - low)
    local lanes = {}
    for l = 0, count - 1 do
        lanes[l] = values[low + l]
        for k = low + l + stride, high - 1, stride do lanes[l] = join(lanes[l], values[k]) end
    end
    local step = stride / 2
    while step >= 1 do
        for l = 0, step - 1 do
            if l + step < count then lanes[l] = join(lanes[l], lanes[l + step]) end
        end
        step = step / 2
    end
    return lanes[0]
end

-- Returns the function that adds two compensated sums, { high, low }, rounding by `round`.
local function adds_compensated(round)
    return function(a, b)
        local high = round(a[1] + b[1])
        local given = round(high - a[1])
        local low = round(round(round(a[1] - round(high - given)) + round(b[1] - given))
            + round(a[2] + b[2]))
        return { high, high - high == 0 and low or 0 }
    end
end

-- Reduces the values of a result by a compensated sum, into out and the rest into `rest`.
local function add_exactly(values, reduction, axes, scheme, out, rest, place)
    local round = bound.on_host['to_' .. reduction.type.computed]
    local length, own = scheme == 'rows' and order.block or order.run, {}
    for k = 0, axes.count - 1 do
        own[k] = { round(values[k]), 0 }
    end
    for block = 0, axes.blocks - 1 do
        local low = block * length
        local all = reduced(own, low, math.min(low + length, axes.count), scheme,
            adds_compensated(round))
        out[place(block)], rest[place(block)] = all[1], all[2]
    end
end

-- Reduces the values of a result by one reduction, into out[place of a block].
local function reduce_by(values, reduction, from, axes, scheme, out, place)
    local type, round = reduction.type, bound.on_host['to_' .. reduction.type.computed]
    local is_truth, op, own = type == types.bool, combine[reduction.name], {}
    local length = scheme == 'rows' and order.block or order.run
    local function join(a, b) return is_truth and op(a, b) or not is_truth and round(op(a, b)) end
    for k = 0, axes.count - 1 do
        local value = values[k]
        if from == types.bool and not is_truth then value = value and 1 or 0 end
        if not is_truth then value = round(value) end
        own[k] = value
    end
    for block = 0, axes.blocks - 1 do
        local low = block * length
        out[place(block)] = reduced(own, low, math.min(low + length, axes.count), scheme, join)
    end
end

-- Reduces the expression that evaluate.lua has visited (see `reduced` there) in the order of
-- reduce_text.lua.
function host.reduce(sig, roots, desc, axes, layout, outputs, leaves, numbers)
    sig.on_host = sig.on_host or compile(roots)
    local memory = {}
    for k = 1, #layout.leaves do
        local own = leaves[k].version
        memory[k] = own and bound.address(own.cell, own.type.name) or false
    end
    for result = 0, axes.results - 1 do
        local values = values_of(sig, roots[1].type, result, axes, layout, memory, numbers)
        local function place(block)
            return desc.scheme == 'rows' and result * axes.blocks + block
                or block * axes.results + result
        end
        for k, reduction in ipairs(desc.reductions) do
            local function to(n) return bound.address(outputs[n].cell, reduction.type.name) end
            if reduction.name == 'compensated' then
                add_exactly(values, reduction, axes, desc.scheme, to(k), to(k + 1), place)
            elseif reduction.name ~= 'rest' then
                reduce_by(values, reduction, roots[1].type, axes, desc.scheme, to(k), place)
            end
        end
    end
end

return host
