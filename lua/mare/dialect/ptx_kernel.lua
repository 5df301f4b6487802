-- Writes the kernel of an expression of flat arrays as PTX, where each of its operations has an
-- instruction: that of expression/text.lua with the same arguments and the same bits.

local ptx = require 'mare.dialect.ptx'

local ptx_kernel = {}

local in_memory = { bool = 'u8', int8 = 's8', uint8 = 'u8', int16 = 's16', uint16 = 'u16',
    int32 = 's32', uint32 = 'u32', int64 = 's64', uint64 = 'u64', float = 'f32', double = 'f64' }

-- Any device that Mare knows takes PTX of this version, for itself.
local head = [[
// PTX of Mare
.version 6.0
.target sm_60
.address_size 64
]]

-- ---- what can be written ----

local function is_plain(type) return in_memory[type.name] ~= nil end

local function can_write(plan, desc)
    if desc.rank or desc.is_wide or desc.is_cpu then return false end
    for _, type in ipairs(plan.types) do
        if not is_plain(type) then return false end
    end
    for _, leaf in ipairs(plan.leaves) do
        if not is_plain(leaf.type) then return false end
    end
    for _, number in ipairs(plan.numbers) do
        if number.type.name == 'bool' or not is_plain(number.type) then return false end
    end
    for k, value in ipairs(plan.values) do
        local is_truth = value.type == 'bool'
        if is_truth ~= (plan.types[k].name == 'bool') or not ptx.can_write(value) then
            return false
        end
    end
    return true
end

-- ---- arguments ----

-- Returns what the kernel takes, in the order of text.arguments: { name, suffix } each.
local function parameters_of(plan, shows)
    local list = {}
    local function add(name, suffix) list[#list + 1] = { name = name, suffix = suffix } end
    for k in ipairs(plan.types) do add('out' .. k, 'u64') end
    for k, leaf in ipairs(plan.leaves) do
        if not leaf.is_number then add('a' .. k, 'u64') end
    end
    for _, number in ipairs(plan.numbers) do
        add(number.name, ptx.suffix(number.type.computed))
    end
    add('n', 's32')
    if shows then
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

-- ---- memory ----

-- Returns a register with the address of element `first` of memory.
local function address(p, memory, first, size)
    local at = p:register 'int64'
    p:line('mad.wide.s32 %s, %s, %d, %s;', at, first, size, memory)
    return at
end

-- Calls use(begin, count) for parts of `width` elements that one instruction takes: up to four,
-- and 16 bytes.
local function in_packs(width, size, use)
    local most = math.min(4, width, 16 / size)
    for begin = 0, width - 1, most do use(begin, most) end
end

local function packed(list, begin, count)
    if count == 1 then return '', list[begin + 1] end
    return '.v' .. count, '{' .. table.concat(list, ', ', begin + 1, begin + count) .. '}'
end

-- Returns registers with `width` neighbours of a leaf from an address on.
local function load(p, type, at, width)
    local list, values = {}, {}
    local written = type.name == 'bool' and 'int32' or type.computed
    for k = 1, width do list[k] = p:register(written) end
    in_packs(width, type.size, function(begin, count)
        local vector, registers = packed(list, begin, count)
        p:line('ld.global.nc%s.%s %s, [%s+%d];', vector, in_memory[type.name], registers, at,
            begin * type.size)
    end)
    for k = 1, width do
        values[k] = list[k]
        if type.name == 'bool' then
            values[k] = p:register 'bool'
            p:line('setp.ne.s32 %s, %s, 0;', values[k], list[k])
        end
    end
    return values
end

local function store(p, type, at, values)
    local list = {}
    for k, value in ipairs(values) do
        list[k] = type.name == 'bool' and p:converted(value, 'bool', 'int32') or value
    end
    in_packs(#list, type.size, function(begin, count)
        local vector, registers = packed(list, begin, count)
        p:line('st.global%s.%s [%s+%d], %s;', vector, in_memory[type.name], at, begin * type.size,
            registers)
    end)
end

-- Returns the number of neighbour k, from 0, behind `first` as a value of a type.
local function place(p, type, first, k)
    local own = p:register 'int32'
    p:line('add.s32 %s, %s, %d;', own, first, k)
    return p:converted(own, 'int32', type.computed)
end

-- ---- the kernel ----

-- Writes what computes `width` neighbours from element `first` on.
local function write_neighbours(p, plan, ones, registers, first, width)
    local given, results = {}, {}
    for k, leaf in ipairs(plan.leaves) do
        if leaf.is_number then
            given[k] = {}
            for l = 1, width do given[k][l] = place(p, leaf.type, first, l - 1) end
        elseif ones[k] then
            local value = load(p, leaf.type, registers['a' .. k], 1)[1]
            given[k] = setmetatable({}, { __index = function() return value end })
        else
            given[k] = load(p, leaf.type, address(p, registers['a' .. k], first, leaf.type.size),
                width)
        end
    end
    for k in ipairs(plan.values) do results[k] = {} end
    for l = 1, width do
        local known = setmetatable({}, { __index = registers })
        for k, leaf in ipairs(plan.leaves) do known[leaf.name] = given[k][l] end
        for k, value in ipairs(plan.values) do
            results[k][l] = p:value(value, plan.types[k].computed, known)
        end
    end
    for k, type in ipairs(plan.types) do
        store(p, type, address(p, registers['out' .. k], first, type.size), results[k])
    end
end

-- Shows the wanted element of the first result, which this work-item has stored: see mr_show.
local function write_shown(p, type, registers, first, width)
    local within, is_here = p:register 'int32', p:register 'bool'
    p:line('sub.s32 %s, %s, %s;', within, registers.wanted, first)
    p:line('setp.ge.u32 %s, %s, %d;', is_here, within, width)
    p:line('@%s bra END;', is_here)
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

-- Writes the kernel. As in flat_on_gpu of text.lua the last few elements are taken one by one.
local function write(p, plan, desc, parameters)
    local registers, width = load_parameters(p, parameters), desc.width
    local item, first, last = p:register 'int32', p:register 'int32', p:register 'int32'
    local is_end = p:register 'bool'
    p:line('mov.u32 %s, %%ctaid.x;', item)
    p:line('mov.u32 %s, %%ntid.x;', first)
    p:line('mov.u32 %s, %%tid.x;', last)
    p:line('mad.lo.s32 %s, %s, %s, %s;', item, item, first, last)
    p:line('mul.lo.s32 %s, %s, %d;', first, item, width)
    p:line('add.s32 %s, %s, %d;', last, first, width)
    p:line('setp.gt.s32 %s, %s, %s;', is_end, last, registers.n)
    p:line('@%s bra LAST;', is_end)
    write_neighbours(p, plan, desc.ones, registers, first, width)
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
    if desc.shows then write_shown(p, plan.types[1], registers, first, width) end
    p:line 'END:'
    p:line 'ret;'
end

-- Returns the kernel `elementwise` of an expression in PTX, or nil where it cannot be written so.
-- plan: of expression/tree.lua; desc: { ones, shows, is_wide, rank } as of expression/text.lua, and
-- width: how many neighbours a work-item takes
function ptx_kernel.of(plan, desc)
    if not can_write(plan, desc) then return nil end
    local p, parameters, list = ptx.new(), parameters_of(plan, desc.shows), {}
    write(p, plan, desc, parameters)
    for k, given in ipairs(parameters) do
        list[k] = (' .param .%s %s'):format(given.suffix, given.name)
    end
    return ('%s.visible .entry elementwise(%s)\n{\n%s\n}\n'):format(head, table.concat(list, ','),
        p:text())
end

return ptx_kernel
