-- Writes the kernel of an expression: a function of one element's operands, and a kernel that
-- calls it for all elements. Sizes, strides, offsets and numbers of Lua are arguments, so that
-- the text depends on the structure alone.
--
-- Where all arrays lie one element after the other in one shape, the kernel is
-- 'flat': on a GPU a work-item takes neighbours that are 16 bytes of the widest
-- type, on a CPU a chunk. Else it is 'strided': work-items along x go along the
-- last axis, those along y over the rows, whose number gives the place along the
-- other axes.

local tree = require 'mare.expression.tree'
local types = require 'mare.expression.types'
local writer = require 'mare.dialect.writer'

local text = {}

-- ---- the function of an element ----

local function parts_of(value)
    if value.re then return { value.re, value.im } end
    return { value }
end

-- Returns the names of outputs: y1, or y1_re and y1_im.
local function outputs_of(plan)
    local list = {}
    for k, type in ipairs(plan.types) do
        for _, part in ipairs(type.complex and { '_re', '_im' } or { '' }) do
            list[#list + 1] = { name = 'y' .. k .. part, written = tree.written(type) }
        end
    end
    return list
end

-- Writes the includes of headers that define the functions of trees.
local function write_includes(w, values)
    local seen = {}
    local function visit(node)
        if seen[node] then return end
        seen[node] = true
        local header = node.op and node.op.include
        if header and not seen[header] then
            seen[header] = true
            w:line('#include "%s"', header)
        end
        for _, child in ipairs(node) do visit(child) end
    end
    for _, value in ipairs(values) do visit(value) end
end

-- Whether an element needs random words, of which four neighbours share a block.
function text.has_random(plan)
    if plan.random == nil then
        plan.random = false
        local function visit(node)
            if node.op and node.op.include == 'ndarray/philox.h' then plan.random = true end
            for _, child in ipairs(node) do visit(child) end
        end
        for _, value in ipairs(plan.values) do
            for _, part in ipairs(parts_of(value)) do visit(part) end
        end
    end
    return plan.random
end

-- Writes the function `element`, which sets *y1, ... from the operands.
function text.write_function(w, plan)
    local arguments, taken, values = {}, {}, {}
    for k, given in ipairs(plan.inputs) do
        arguments[k], taken[k] = given.written .. ' ' .. given.name, given.name
    end
    for _, leaf in ipairs(text.has_random(plan) and plan.leaves or {}) do
        if leaf.is_number then
            local name = leaf.name
            arguments[#arguments + 1] = ('int64_t %s_block, int %s_word'):format(name, name)
        end
    end
    local outputs = outputs_of(plan)
    for _, out in ipairs(outputs) do
        arguments[#arguments + 1] = ('%s *%s'):format(out.written, out.name)
        taken[#taken + 1] = out.name
    end
    for _, value in ipairs(plan.values) do
        for _, part in ipairs(parts_of(value)) do values[#values + 1] = part end
    end
    write_includes(w, values)
    w:open(('MR_FN void element(%s)'):format(table.concat(arguments, ', ')), taken)
    local texts = { w:values(values) }
    for k, out in ipairs(outputs) do w:line('*%s = %s;', out.name, texts[k]) end
    w:close()
end

-- ---- memory ----

local function load_text(type, from, at)
    if type == types.half then return ('mr_half_load(%s, %s)'):format(from, at) end
    return ('%s[%s]'):format(from, at)
end

local function store(w, type, to, at, name)
    if type == types.half then
        w:line('mr_half_store(%s, %s, %s);', to, at, name)
    elseif type.complex then
        w:line('%s[%s].re = %s_re;', to, at, name)
        w:line('%s[%s].im = %s_im;', to, at, name)
    else
        local cast = type.computed == type.name and '' or ('(%s)'):format(type.stored)
        w:line('%s[%s] = %s%s;', to, at, cast, name)
    end
end

-- Writes the call of `element` for the elements at `places[k]` of leaf k, which
-- gives y1, ... A leaf whose elements are their numbers is its place. block: the text of the
-- block of random words and the place there, where that is not found from the place
local function write_values(w, plan, sources, places, block)
    local given = {}
    for k, leaf in ipairs(plan.leaves) do
        local type = leaf.type
        if leaf.is_number then
            given[leaf.name] = ('(%s)(%s)'):format(tree.written(type), places[k])
        elseif type.complex then
            given[leaf.name .. '_re'] = ('%s[%s].re'):format(sources[k], places[k])
            given[leaf.name .. '_im'] = ('%s[%s].im'):format(sources[k], places[k])
        else
            given[leaf.name] = load_text(type, sources[k], places[k])
        end
    end
    local arguments = {}
    for k, input in ipairs(plan.inputs) do arguments[k] = given[input.name] or input.name end
    for k, leaf in ipairs(text.has_random(plan) and plan.leaves or {}) do
        if leaf.is_number then
            arguments[#arguments + 1] = block
                or ('(int64_t)(%s) >> 2, (int)((%s) & 3)'):format(places[k], places[k])
        end
    end
    for _, output in ipairs(outputs_of(plan)) do
        w:line('%s %s;', output.written, output.name)
        arguments[#arguments + 1] = '&' .. output.name
    end
    w:line('element(%s);', table.concat(arguments, ', '))
end

-- Writes the call of `element` too, and stores the values at `to[k]` of output k.
function text.write_call(w, plan, sources, places, out, to, block)
    write_values(w, plan, sources, places, block)
    for k, type in ipairs(plan.types) do store(w, type, out[k], to[k], 'y' .. k) end
end

-- ---- the kernel's head ----

-- Returns the arguments for memory, whose outputs are of these types, and for
-- numbers of Lua.
function text.arguments(plan, outputs)
    local list = {}
    for k, type in ipairs(outputs) do
        list[k] = ('MR_GLOBAL %s *MR_RESTRICT out%d'):format(type.stored, k)
    end
    for k, leaf in ipairs(plan.leaves) do
        if not leaf.is_number then
            list[#list + 1] = ('const MR_GLOBAL %s *MR_RESTRICT a%d'):format(leaf.type.stored, k)
        end
    end
    for _, number in ipairs(plan.numbers) do
        list[#list + 1] = ('%s %s'):format(tree.written(number.type), number.name)
    end
    return list
end

local function named(prefix, count)
    local list = {}
    for k = 1, count do list[k] = prefix .. k end
    return list
end

local function same(value, count)
    local list = {}
    for k = 1, count do list[k] = value end
    return list
end

function text.write_operands(w, plan, places)
    write_values(w, plan, named('a', #plan.leaves), places)
end

text.write_store = store

-- Begins the kernel. group: the work-items of its groups, if it has no others
function text.open_kernel(w, arguments, group)
    w:line ''
    w:line(group and 'MR_KERNEL MR_GROUP_SIZE(%d, 1, 1)' or 'MR_KERNEL', group)
    w:open(('void elementwise(%s)'):format(table.concat(arguments, ', ')))
end

-- ---- flat kernels ----

-- Returns how many neighbours a work-item of a GPU takes.
function text.width(plan)
    local widest = 1
    for _, type in ipairs(plan.types) do widest = math.max(widest, type.size) end
    for _, leaf in ipairs(plan.leaves) do
        if not leaf.is_number then widest = math.max(widest, leaf.type.size) end
    end
    return math.max(16 / widest, text.has_random(plan) and 4 or 2)
end

-- Whether elements of a type are loaded and stored several at a time.
local function is_packed(type)
    return type ~= types.half and not type.complex
end

local function packed(type, width)
    return ('%s_x%d'):format(type.stored:gsub('_t$', ''), width)
end

-- Declares the structs in which several neighbours are loaded and stored.
local function write_packed(w, plan, width)
    local declared = {}
    local function declare(type)
        if declared[type] or not is_packed(type) then return end
        declared[type] = true
        w:line('typedef struct MR_ALIGNED(%d) { %s of[%d]; } %s;', math.min(16, width * type.size),
            type.stored, width, packed(type, width))
    end
    for _, type in ipairs(plan.types) do declare(type) end
    for _, leaf in ipairs(plan.leaves) do
        if not leaf.is_number then declare(leaf.type) end
    end
end

-- Returns where the operands of neighbour `at` are: one of a single element is
-- always element 0.
local function flat_places(plan, ones, at)
    local places = {}
    for k = 1, #plan.leaves do places[k] = ones[k] and '0' or at end
    return places
end

-- Writes what a work-item does with `width` whole neighbours.
local function write_neighbours(w, plan, ones, width)
    local sources, places, out, to = named('a', #plan.leaves), flat_places(plan, ones, 'first + l'),
        named('out', #plan.types), same('first + l', #plan.types)
    for k, leaf in ipairs(plan.leaves) do
        if is_packed(leaf.type) and not ones[k] and not leaf.is_number then
            local pack = packed(leaf.type, width)
            w:line('%s b%d = *(const MR_GLOBAL %s *)(a%d + first);', pack, k, pack, k)
            sources[k], places[k] = ('b%d.of'):format(k), 'l'
        end
    end
    for k, type in ipairs(plan.types) do
        if is_packed(type) then
            w:line('%s c%d;', packed(type, width), k)
            out[k], to[k] = ('c%d.of'):format(k), 'l'
        end
    end
    w:open(('MR_LANES(l, %d)'):format(width))
    text.write_call(w, plan, sources, places, out, to,
        ('(int64_t)mr_gid_x() * %d + l / 4, l %% 4'):format(width / 4))
    w:close()
    for k, type in ipairs(plan.types) do
        if is_packed(type) then
            w:line('*(MR_GLOBAL %s *)(out%d + first) = c%d;', packed(type, width), k, k)
        end
    end
end

-- Writes that an element of the first result, if it is among these, is shown in memory of the host,
-- too: see launches.show.
local function write_shown(w, type, width)
    w:open(('if (wanted >= first && wanted < first + %d)'):format(width))
    w:line('union { %s value; ulong bits; } one;', type.stored)
    w:line 'one.value = out1[wanted];'
    w:line 'mr_show(shown, one.bits, launch);'
    w:close()
end

local function flat_on_gpu(w, plan, ones, index, shows)
    local width = text.width(plan)
    write_packed(w, plan, width)
    local arguments = text.arguments(plan, plan.types)
    arguments[#arguments + 1] = index .. ' n'
    if shows then
        arguments[#arguments + 1] = 'MR_GLOBAL uint *shown'
        arguments[#arguments + 1] = index .. ' wanted'
        arguments[#arguments + 1] = 'uint launch'
    end
    text.open_kernel(w, arguments)
    w:line('%s first = (%s)mr_gid_x() * %d;', index, index, width)
    w:open(('if (first + %d <= n)'):format(width))
    write_neighbours(w, plan, ones, width)
    w:close()
    w:open 'else'
    -- The last few: a compiler that does not know how few takes a fifth of its time to unroll this.
    w:line 'MR_UNROLL(1)'
    w:open(('for (%s l = first; l < n; ++l)'):format(index))
    text.write_call(w, plan, named('a', #plan.leaves), flat_places(plan, ones, 'l'),
        named('out', #plan.types), same('l', #plan.types))
    w:close()
    w:close()
    if shows then write_shown(w, plan.types[1], width) end
    w:close()
end

local function flat_on_cpu(w, plan, ones, index)
    local arguments = text.arguments(plan, plan.types)
    arguments[#arguments + 1] = index .. ' n'
    arguments[#arguments + 1] = 'int chunk'
    text.open_kernel(w, arguments)
    w:line('%s first = (%s)mr_gid_x() * chunk;', index, index)
    w:line 'int count = n - first < chunk ? (int)(n - first) : chunk;'
    w:open 'MR_LANES(l, count)'
    text.write_call(w, plan, named('a', #plan.leaves), flat_places(plan, ones, 'first + l'),
        named('out', #plan.types), same('first + l', #plan.types))
    w:close()
    w:close()
end

-- ---- strided kernels ----

-- Returns the text of an element's place: offset + i * stride + ...
function text.place(name, rank)
    local list = { name .. '_0' }
    for d = 1, rank do list[#list + 1] = ('i%d * %s_%d'):format(d, name, d) end
    return table.concat(list, ' + ')
end

-- Returns the arguments of a layout: the offset and the stride of each axis, the
-- last first.
local function layout_arguments(list, name, rank, index)
    for d = 0, rank do list[#list + 1] = ('%s %s_%d'):format(index, name, d) end
end

-- Returns the arguments of a strided kernel. counts: those behind the sizes of the axes
function text.strided_arguments(plan, rank, index, counts)
    local arguments = text.arguments(plan, plan.types)
    for d = 1, rank do arguments[#arguments + 1] = ('%s n%d'):format(index, d) end
    for _, count in ipairs(counts) do arguments[#arguments + 1] = count end
    layout_arguments(arguments, 'q', rank, index)
    for k in ipairs(plan.leaves) do layout_arguments(arguments, 'p' .. k, rank, index) end
    return arguments
end

-- Returns the places of the operands and of the results of an element.
function text.strided_places(plan, rank)
    local places = {}
    for k in ipairs(plan.leaves) do places[k] = text.place('p' .. k, rank) end
    return places, same(text.place('q', rank), #plan.types)
end

local function strided(w, plan, rank, index, is_cpu)
    local places, to = text.strided_places(plan, rank)
    text.open_kernel(w, text.strided_arguments(plan, rank, index,
        { index .. ' rows', is_cpu and 'int chunk' or nil }))
    if is_cpu then
        w:line('%s first = (%s)mr_gid_x() * chunk;', index, index)
        w:line 'int count = n1 - first < chunk ? (int)(n1 - first) : chunk;'
    else
        w:line('%s i1 = mr_gid_x();', index)
        w:line 'if (i1 >= n1) return;'
    end
    w:open(('for (%s r = mr_gid_y(); r < rows; r += mr_groups_y() * mr_group_size_y())')
        :format(index))
    if rank > 2 then w:line('%s rest = r;', index) end
    for d = 2, rank - 1 do
        w:line('%s i%d = rest %% n%d;', index, d, d)
        w:line('rest /= n%d;', d)
    end
    if rank > 1 then w:line('%s i%d = %s;', index, rank, rank > 2 and 'rest' or 'r') end
    if is_cpu then
        w:open 'MR_LANES(l, count)'
        w:line('%s i1 = first + l;', index)
    end
    text.write_call(w, plan, named('a', #plan.leaves), places, named('out', #plan.types), to)
    if is_cpu then w:close() end
    w:close()
    w:close()
end

-- ---- programs ----

-- Returns the text of the kernel of an expression. plan: of tree.of; desc: {
-- is_cpu; is_wide: whether indices need 64 bits; rank: of a strided one, without
-- it a flat one; ones: set of the leaves that are a single element; shows: whether it may show an
-- element, on a GPU }
function text.of(plan, desc)
    local w, index = writer.new(), desc.is_wide and 'mr_index' or 'int'
    text.write_function(w, plan)
    if desc.rank then
        strided(w, plan, desc.rank, index, desc.is_cpu)
    elseif desc.is_cpu then
        flat_on_cpu(w, plan, desc.ones, index)
    else
        flat_on_gpu(w, plan, desc.ones, index, desc.shows)
    end
    return w:text()
end

return text
