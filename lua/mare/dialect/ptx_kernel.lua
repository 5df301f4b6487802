-- Writes kernels of expressions as PTX, where each of their operations has an instruction: those of
-- expression/text.lua for flat and for strided arrays, with the same arguments and the same bits.

local ptx = require 'mare.dialect.ptx'

local ptx_kernel = {}

-- How elements, or their parts, are in memory.
local in_memory = { bool = 'u8', int8 = 's8', uint8 = 'u8', int16 = 's16', uint16 = 'u16',
    int32 = 's32', uint32 = 'u32', int64 = 's64', uint64 = 'u64', half = 'b16', float = 'f32',
    double = 'f64', complex_float = 'f32', complex_double = 'f64' }

-- Any device that Mare knows takes PTX of this version, for itself.
local head = [[
// PTX of Mare
.version 6.0
.target sm_60
.address_size 64
]]

local function parts_of(value)
    if value.re then return { value.re, value.im } end
    return { value }
end

-- ---- what can be written ----

local function can_write(plan, desc)
    if desc.tile or desc.is_wide or desc.is_cpu or desc.rank == 0 then return false end
    for _, number in ipairs(plan.numbers) do
        if number.type.name == 'bool' then return false end
    end
    for k, value in ipairs(plan.values) do
        for _, part in ipairs(parts_of(value)) do
            local is_truth = part.type == 'bool'
            if is_truth ~= (plan.types[k].name == 'bool') or not ptx.can_write(part) then
                return false
            end
        end
    end
    return true
end

-- ---- arguments ----

-- Returns what the kernel takes, in the order of the text's arguments: { name, suffix } each.
local function parameters_of(plan, desc)
    local list = {}
    local function add(name, suffix) list[#list + 1] = { name = name, suffix = suffix } end
    local function add_layout(name)
        for d = 0, desc.rank do add(name .. '_' .. d, 's32') end
    end
    for k in ipairs(plan.types) do add('out' .. k, 'u64') end
    for k, leaf in ipairs(plan.leaves) do
        if not leaf.is_number then add('a' .. k, 'u64') end
    end
    for _, number in ipairs(plan.numbers) do
        add(number.name, ptx.suffix(number.type.computed))
    end
    if desc.rank then
        for d = 1, desc.rank do add('n' .. d, 's32') end
        add('rows', 's32')
        add_layout 'q'
        for k in ipairs(plan.leaves) do add_layout('p' .. k) end
    else
        add('n', 's32')
    end
    if desc.shows then
        add('shown', 'u64')
        add('wanted', 's32')
        add('launch', 'u32')
    end
    return list
end

local type_of_suffix = { u64 = 'uint64', s64 = 'int64', u32 = 'uint32', s32 = 'int32',
    f32 = 'float', f64 = 'double' }

-- Loads all arguments. Returns their registers by name.
local function load_parameters(p, list)
    local registers = {}
    for _, given in ipairs(list) do
        local own = p:register(type_of_suffix[given.suffix])
        p:line('ld.param.%s %s, [%s];', given.suffix, own, given.name)
        registers[given.name] = own
    end
    return registers
end

-- Returns the number of this work-item along an axis, 'x' or 'y'.
local function item(p, axis)
    local own, group, size = p:register 'int32', p:register 'int32', p:register 'int32'
    p:line('mov.u32 %s, %%tid.%s;', own, axis)
    p:line('mov.u32 %s, %%ctaid.%s;', group, axis)
    p:line('mov.u32 %s, %%ntid.%s;', size, axis)
    p:line('mad.lo.s32 %s, %s, %s, %s;', own, group, size, own)
    return own, size
end

-- ---- memory ----

-- Returns a register with the address of element `place` of memory.
local function address(p, memory, place, size)
    local at = p:register 'int64'
    p:line('mad.wide.s32 %s, %s, %d, %s;', at, place, size, memory)
    return at
end

-- Calls use(begin, count, vector, registers) for what one instruction takes of a list: as many as 4
-- and 16 bytes, where neighbours are taken together.
local function in_packs(list, size, is_single, use)
    local most = is_single and 1 or math.min(4, #list, 16 / size)
    for begin = 0, #list - 1, most do
        local vector, registers = '', list[begin + 1]
        if most > 1 then
            vector = '.v' .. most
            registers = '{' .. table.concat(list, ', ', begin + 1, begin + most) .. '}'
        end
        use(begin, vector, registers)
    end
end

-- Returns what a register as which an element was loaded is to expressions.
local function loaded(p, type, register)
    if type.name ~= 'bool' and type.name ~= 'half' then return register end
    local value = p:register(type.computed)
    if type.name == 'half' then
        p:line('cvt.f32.f16 %s, %s;', value, register)
    else
        p:line('setp.ne.s32 %s, %s, 0;', value, register)
    end
    return value
end

local function stored(p, type, value)
    if type.name == 'half' then return (p:halved(value)) end
    return type.name == 'bool' and p:converted(value, 'bool', 'int32') or value
end

local registers_of = { bool = 'int32', half = 'half' }

-- Returns `width` neighbours of a leaf from an address on, each as a list of its parts.
local function load(p, type, at, width, is_single)
    local parts, list, values = type.complex and 2 or 1, {}, {}
    local size = type.size / parts
    for k = 1, width * parts do list[k] = p:register(registers_of[type.name] or type.computed) end
    in_packs(list, size, is_single, function(begin, vector, registers)
        p:line('ld.global.nc%s.%s %s, [%s+%d];', vector, in_memory[type.name], registers, at,
            begin * size)
    end)
    for l = 1, width do
        values[l] = {}
        for part = 1, parts do
            values[l][part] = loaded(p, type, list[(l - 1) * parts + part])
        end
    end
    return values
end

local function store(p, type, at, values, is_single)
    local list, parts = {}, type.complex and 2 or 1
    for _, value in ipairs(values) do
        for part = 1, parts do list[#list + 1] = stored(p, type, value[part]) end
    end
    local size = type.size / parts
    in_packs(list, size, is_single, function(begin, vector, registers)
        p:line('st.global%s.%s [%s+%d], %s;', vector, in_memory[type.name], at, begin * size,
            registers)
    end)
end

-- ---- the elements of a work-item ----

-- Computes results from operands: given[k][l] are the parts of neighbour l of leaf k. Returns the
-- same of the results.
local function computed(p, plan, registers, given, width)
    local results = {}
    for k in ipairs(plan.values) do results[k] = {} end
    for l = 1, width do
        local known = setmetatable({}, { __index = registers })
        for k, leaf in ipairs(plan.leaves) do
            local parts = given[k][l]
            if leaf.type.complex then
                known[leaf.name .. '_re'], known[leaf.name .. '_im'] = parts[1], parts[2]
            else
                known[leaf.name] = parts[1]
            end
        end
        for k, value in ipairs(plan.values) do
            results[k][l] = {}
            for part, tree in ipairs(parts_of(value)) do
                results[k][l][part] = p:value(tree, plan.types[k].computed, known)
            end
        end
    end
    return results
end

-- Writes what computes `width` neighbours from element `first` on.
local function write_neighbours(p, plan, ones, registers, first, width)
    local given = {}
    for k, leaf in ipairs(plan.leaves) do
        local memory, size = registers['a' .. k], leaf.type.size
        if leaf.is_number then
            given[k] = {}
            for l = 1, width do
                local own = p:register 'int32'
                p:line('add.s32 %s, %s, %d;', own, first, l - 1)
                given[k][l] = { p:converted(own, 'int32', leaf.type.computed) }
            end
        elseif ones[k] then
            local value = load(p, leaf.type, memory, 1)[1]
            given[k] = setmetatable({}, { __index = function() return value end })
        else
            given[k] = load(p, leaf.type, address(p, memory, first, size), width)
        end
    end
    for k, values in ipairs(computed(p, plan, registers, given, width)) do
        local type = plan.types[k]
        store(p, type, address(p, registers['out' .. k], first, type.size), values)
    end
end

-- ---- flat kernels ----

-- Shows the wanted element of the first result, which this work-item has stored: see mr_show.
local function write_shown(p, type, registers, first, width)
    local within, is_elsewhere = p:register 'int32', p:register 'bool'
    p:line('sub.s32 %s, %s, %s;', within, registers.wanted, first)
    p:line('setp.ge.u32 %s, %s, %d;', is_elsewhere, within, width)
    p:line('@%s bra END;', is_elsewhere)
    local low, high = p:register 'int32', p:register 'int32'
    local at = address(p, registers.out1, registers.wanted, type.size)
    p:line('mov.u32 %s, 0;', high)
    if type.size == 8 then
        p:line('ld.global.v2.u32 {%s, %s}, [%s];', low, high, at)
    else
        p:line('ld.global.u%d %s, [%s];', 8 * type.size, low, at)
    end
    p:line('st.volatile.global.v4.u32 [%s], {%s, %s, %s, %s};', registers.shown, low,
        registers.launch, high, registers.launch)
end

-- As in flat_on_gpu of text.lua the last few elements are taken one by one.
local function write_flat(p, plan, desc, registers)
    local first, last, is_end = p:register 'int32', p:register 'int32', p:register 'bool'
    p:line('mul.lo.s32 %s, %s, %d;', first, (item(p, 'x')), desc.width)
    p:line('add.s32 %s, %s, %d;', last, first, desc.width)
    p:line('setp.gt.s32 %s, %s, %s;', is_end, last, registers.n)
    p:line('@%s bra LAST;', is_end)
    write_neighbours(p, plan, desc.ones, registers, first, desc.width)
    p:line 'bra SHOW;'
    p:line 'LAST:'
    local at = p:register 'int32'
    p:line('mov.u32 %s, %s;', at, first)
    p:line 'NEXT:'
    p:line '.pragma "nounroll";'
    p:line('setp.ge.s32 %s, %s, %s;', is_end, at, registers.n)
    p:line('@%s bra SHOW;', is_end)
    write_neighbours(p, plan, desc.ones, registers, at, 1)
    p:line('add.s32 %s, %s, 1;', at, at)
    p:line 'bra NEXT;'
    p:line 'SHOW:'
    if desc.shows then write_shown(p, plan.types[1], registers, first, desc.width) end
end

-- ---- strided kernels ----

-- Returns the places along all axes, the last first, of the element in row r.
local function places_of(p, rank, registers, first, row)
    local places, rest = { first }, row
    for d = 2, rank - 1 do
        local quotient = p:register 'int32'
        places[d] = p:register 'int32'
        p:line('rem.s32 %s, %s, %s;', places[d], rest, registers['n' .. d])
        p:line('div.s32 %s, %s, %s;', quotient, rest, registers['n' .. d])
        rest = quotient
    end
    if rank > 1 then places[rank] = rest end
    return places
end

-- Returns the number of the element in memory whose layout has a name.
local function place(p, places, registers, name)
    local sum = registers[name .. '_0']
    for d, at in ipairs(places) do
        local next_one = p:register 'int32'
        p:line('mad.lo.s32 %s, %s, %s, %s;', next_one, at, registers[name .. '_' .. d], sum)
        sum = next_one
    end
    return sum
end

local function write_element(p, plan, registers, places)
    local given = {}
    for k, leaf in ipairs(plan.leaves) do
        local own, size = place(p, places, registers, 'p' .. k), leaf.type.size
        if leaf.is_number then
            given[k] = { { p:converted(own, 'int32', leaf.type.computed) } }
        else
            given[k] = load(p, leaf.type, address(p, registers['a' .. k], own, size), 1, true)
        end
    end
    local own = place(p, places, registers, 'q')
    for k, values in ipairs(computed(p, plan, registers, given, 1)) do
        local type = plan.types[k]
        store(p, type, address(p, registers['out' .. k], own, type.size), values, true)
    end
end

local function write_strided(p, plan, desc, registers)
    local first, is_end, row, size = item(p, 'x'), p:register 'bool', item(p, 'y')
    local step = p:register 'int32'
    p:line('setp.ge.s32 %s, %s, %s;', is_end, first, registers.n1)
    p:line('@%s bra END;', is_end)
    p:line('mov.u32 %s, %%nctaid.y;', step)
    p:line('mul.lo.s32 %s, %s, %s;', step, step, size)
    p:line 'NEXT:'
    p:line('setp.ge.s32 %s, %s, %s;', is_end, row, registers.rows)
    p:line('@%s bra END;', is_end)
    write_element(p, plan, registers, places_of(p, desc.rank, registers, first, row))
    p:line('add.s32 %s, %s, %s;', row, row, step)
    p:line 'bra NEXT;'
end

-- Returns the kernel `elementwise` of an expression in PTX, or nil where it cannot be written so.
-- plan: of expression/tree.lua; desc: { rank, tile, ones, shows, is_wide } as of
-- expression/text.lua, and width: how many neighbours a work-item of a flat kernel takes
function ptx_kernel.of(plan, desc)
    if not can_write(plan, desc) then return nil end
    local p, parameters, list = ptx.new(), parameters_of(plan, desc), {}
    local write = desc.rank and write_strided or write_flat
    write(p, plan, desc, (load_parameters(p, parameters)))
    p:line 'END:'
    p:line 'ret;'
    for k, given in ipairs(parameters) do
        list[k] = (' .param .%s %s'):format(given.suffix, given.name)
    end
    return ('%s.visible .entry elementwise(%s)\n{\n%s\n}\n'):format(head, table.concat(list, ','),
        p:text())
end

return ptx_kernel
