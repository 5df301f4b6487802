-- Writes expression trees as instructions of PTX, NVIDIA's assembly language, which round as the
-- trees' text in the dialect does with math = 'strict'. The driver makes code of them in a third of
-- the time that NVRTC takes for a text.
--
--     local p = ptx.new()
--     local x = p:register 'float'
--     p:line('ld.param.f32 %s, [x];', x)
--     local y = p:value(tree, 'float', { x = x })     -- the register with the value of the tree
--     p:text()                                        -- the registers' declarations and the lines
--
-- What has no such instruction is found beforehand: ptx.can_write(tree).

local types = require 'mare.dialect.types'

local ptx = {}

local Writer = {}
Writer.__index = Writer

-- letter: of the registers that hold values of a type; suffix: of instructions on them
local kinds = {
    bool = { letter = 'p', declared = 'pred', suffix = 'pred' },
    int32 = { letter = 'r', declared = 'b32', suffix = 's32', bits = 32 },
    uint32 = { letter = 'r', declared = 'b32', suffix = 'u32', bits = 32 },
    int64 = { letter = 'l', declared = 'b64', suffix = 's64', bits = 64 },
    uint64 = { letter = 'l', declared = 'b64', suffix = 'u64', bits = 64 },
    float = { letter = 'f', declared = 'f32', suffix = 'f32', is_real = true, bits = 32 },
    double = { letter = 'd', declared = 'f64', suffix = 'f64', is_real = true, bits = 64 },
}

-- Returns the suffix of instructions on values of a type.
function ptx.suffix(type) return kinds[type].suffix end

-- ---- what can be written ----

-- Instructions without what rounds them, of whole numbers and of reals; false: there is none.
-- Those of bits go by the size alone; shifts are left to NVRTC.
local instructions = {
    ['+'] = { 'add', 'add.rn' }, ['-'] = { 'sub', 'sub.rn' }, ['*'] = { 'mul.lo', 'mul.rn' },
    ['/'] = { false, 'div.rn' }, negative = { 'neg', 'neg' }, remainder = { 'rem', false },
    bit_and = { 'and', false }, bit_or = { 'or', false }, bit_xor = { 'xor', false },
    sqrt = { false, 'sqrt.rn' }, abs = { false, 'abs' }, fma = { false, 'fma.rn' },
    floor = { false, 'cvt.rmi' }, ceil = { false, 'cvt.rpi' }, trunc = { false, 'cvt.rzi' },
    rint = { false, 'cvt.rni' },
}
local of_bits = { bit_and = true, bit_or = true, bit_xor = true }
local of_booleans = { logical_and = 'and.pred', logical_or = 'or.pred', logical_not = 'not.pred' }
local narrowed = { int8 = 's8', uint8 = 'u8', int16 = 's16', uint16 = 'u16' }
-- Registers of 16 bits, as which halves are in memory; they are computed as floats.
kinds.half = { letter = 'h', declared = 'b16', suffix = 'f16' }

-- Whether a number of Lua is the same as a value of this type.
local function is_exact(value, type)
    local kind = kinds[type]
    if not kind or type == 'bool' or value - value ~= 0 then return false end
    if type == 'double' then return true end
    if not kind.is_real then return value % 1 == 0 and math.abs(value) < 2 ^ 31 end
    local digits, exponent = math.frexp(value)
    return digits * 2 ^ 24 % 1 == 0 and exponent > -125 and exponent <= 128
end

-- Returns the type in which an operation takes operand k.
local function type_of_operand(node, k)
    local op, own = node.op, node[k].type
    if op.compares then
        local common = types.common(node[1].type, node[2].type)
        return common == 'bool' and 'int32' or common
    end
    if op.converts then return own end
    if of_booleans[op.name] or op.name == 'where' and k == 1 then return 'bool' end
    return node.type
end

local function has_instruction(node)
    local op, kind = node.op, kinds[node.type]
    local name = op.name
    if not kind then return false end
    if op.narrows == 'half' then return true end
    if op.narrows then return narrowed[name] and kinds[node[1].type].is_real == nil end
    if op.compares or op.converts or of_booleans[name] or name == 'where' then return true end
    local list = instructions[name]
    return list ~= nil and list[kind.is_real and 2 or 1] ~= false
end

-- Returns whether all of a tree can be written.
function ptx.can_write(tree)
    local seen = {}
    local function visit(node, type)
        if node.kind == 'number' then return is_exact(node.value, type) end
        if seen[node] then return true end
        seen[node] = true
        if not kinds[node.type] or not kinds[type] or type == 'bool' and node.type ~= 'bool' then
            return false
        end
        if node.kind ~= 'operation' then return true end
        for k = 1, #node do
            if not visit(node[k], type_of_operand(node, k)) then return false end
        end
        return has_instruction(node)
    end
    return visit(tree, tree.type)
end

-- ---- lines and registers ----

function ptx.new()
    return setmetatable({ lines = {}, counts = {} }, Writer)
end

function Writer:line(format, ...)
    self.lines[#self.lines + 1] = format:format(...)
end

-- Returns a new register for values of a type.
function Writer:register(type)
    local letter = kinds[type].letter
    self.counts[letter] = (self.counts[letter] or 0) + 1
    return ('%%%s%d'):format(letter, self.counts[letter])
end

-- Returns the declarations of all registers, and the lines behind them.
function Writer:text()
    local list = {}
    for _, type in ipairs { 'bool', 'half', 'int32', 'int64', 'float', 'double' } do
        local kind = kinds[type]
        local count = self.counts[kind.letter]
        if count then
            list[#list + 1] = ('.reg .%s %%%s<%d>;'):format(kind.declared, kind.letter, count + 1)
        end
    end
    for _, line in ipairs(self.lines) do list[#list + 1] = line end
    return table.concat(list, '\n')
end

-- ---- values ----

-- Returns the rounding of a conversion between types of different registers.
local function rounding(from, to)
    if from.is_real and not to.is_real then return '.rzi' end
    local is_exact_always = from.is_real and to.bits > from.bits or not to.is_real
    return is_exact_always and '' or '.rn'
end

-- Returns a register with the value of another, which has type `from`, as one of type `to`.
function Writer:converted(value, from, to)
    local a, b = kinds[from], kinds[to]
    if a.letter == b.letter then return value end
    if from == 'bool' then
        local number = self:register 'int32'
        self:line('selp.s32 %s, 1, 0, %s;', number, value)
        return self:converted(number, 'int32', to)
    end
    local result, target = self:register(to), b.suffix
    -- Of whole numbers the sign is extended that the narrower one has; to narrow cuts off bits.
    if not a.is_real and not b.is_real then
        target = (a.suffix:sub(1, 1)) .. b.bits
        if b.bits < a.bits then return self:cut(result, value) end
    end
    self:line('cvt%s.%s.%s %s, %s;', rounding(a, b), target, a.suffix, result, value)
    return result
end

-- Returns the same of a real as a whole number, which is 0 for NaN: the instruction has the least
-- number for it where either has 64 bits.
function Writer:saturated(value, from, to)
    local whole = self:converted(value, from, to)
    if kinds[from].bits == 32 and kinds[to].bits == 32 then return whole end
    local is_none, result = self:register 'bool', self:register(to)
    self:line('setp.nan.%s %s, %s, %s;', kinds[from].suffix, is_none, value, value)
    self:line('selp.%s %s, 0, %s, %s;', kinds[to].suffix, result, whole, is_none)
    return result
end

-- Sets a register of 32 bits to the low ones of another.
function Writer:cut(result, value)
    self:line('cvt.u32.u64 %s, %s;', result, value)
    return result
end

local function literal(value, type)
    if not kinds[type].is_real then return ('%.0f'):format(value) end
    return ('%.17e'):format(value)
end

-- Writes an operation on registers of the types that it takes.
function Writer:operation(node, a, b, c)
    local op, kind = node.op, kinds[node.type]
    local result, name = self:register(node.type), op.name
    if op.compares then
        local of = kinds[type_of_operand(node, 1)]
        local how = name == 'ne' and of.is_real and 'neu' or name
        self:line('setp.%s.%s %s, %s, %s;', how, of.suffix, result, a, b)
    elseif of_booleans[name] then
        self:line('%s %s, %s%s;', of_booleans[name], result, a, b and ', ' .. b or '')
    elseif name == 'where' then
        self:line('selp.%s %s, %s, %s, %s;', kind.suffix, result, b, c, a)
    elseif name == 'floor' or name == 'ceil' or name == 'trunc' or name == 'rint' then
        self:line('%s.%s.%s %s, %s;', instructions[name][2], kind.suffix, kind.suffix, result, a)
    else
        local suffix = of_bits[name] and 'b' .. kind.bits
            or name == 'negative' and not kind.is_real and 's' .. kind.bits or kind.suffix
        self:line('%s.%s %s, %s;', instructions[name][kind.is_real and 2 or 1], suffix, result,
            table.concat({ a, b, c }, ', '))
    end
    return result
end

-- Returns a register with the nearest half of a float, or of a type's value, and one with that half
-- as a float.
function Writer:halved(value, type)
    local half, nearest = self:register 'half', self:register 'float'
    self:line('cvt.rn.f16.%s %s, %s;', kinds[type or 'float'].suffix, half, value)
    self:line('cvt.f32.f16 %s, %s;', nearest, half)
    return half, nearest
end

-- Returns a register whose 32 bits are those of a narrower whole number, or the nearest half.
function Writer:narrowed(node, value)
    if node.op.narrows == 'half' then
        local from = node.op.converts
        return (select(2, self:halved(self:converted(value, node[1].type, from), from)))
    end
    local whole = self:converted(value, node[1].type, 'int32')
    local result = self:register 'int32'
    self:line('cvt.s32.%s %s, %s;', narrowed[node.op.name], result, whole)
    return result
end

-- Chooses between truth values, which no instruction does.
function Writer:chosen(condition, yes, no)
    local result, other = self:register 'bool', self:register 'bool'
    self:line('not.pred %s, %s;', other, condition)
    self:line('and.pred %s, %s, %s;', other, other, no)
    self:line('and.pred %s, %s, %s;', result, condition, yes)
    self:line('or.pred %s, %s, %s;', result, result, other)
    return result
end

-- Returns the register that holds the value of a tree as one of a type. known: registers by names
-- of inputs and by nodes, to which those of all nodes are added
function Writer:value(node, type, known)
    if node.kind == 'number' then
        local result = self:register(type)
        self:line('mov.%s %s, %s;', kinds[type].suffix, result, literal(node.value, type))
        return result
    end
    local found = known[node] or known[node.name]
    if not found or node.kind == 'operation' and not known[node] then
        local list = {}
        for k = 1, #node do list[k] = self:value(node[k], type_of_operand(node, k), known) end
        local op = node.op
        if op.narrows then
            found = self:narrowed(node, list[1])
        elseif op.saturates then
            found = self:saturated(list[1], node[1].type, node.type)
        elseif op.converts then
            found = self:converted(list[1], node[1].type, node.type)
        elseif op.name == 'where' and node.type == 'bool' then
            found = self:chosen(list[1], list[2], list[3])
        else
            found = self:operation(node, list[1], list[2], list[3])
        end
        known[node] = found
    end
    return self:converted(found, node.type, type)
end

return ptx
