-- Runs what dialect/ptx_kernel.lua writes, one work-item after another, on tables of Lua: the
-- instructions that it uses, without integers of 64 bits but addresses. Halves are the numbers that
-- they stand for, in memory too; complex numbers are two elements each.

local bit = require 'bit'
local bound = require 'bindings.array'

local to_float, to_half = bound.on_host.to_float, bound.on_host.to_half

local wraps = {
    s32 = function(x) return (x + 2 ^ 31) % 2 ^ 32 - 2 ^ 31 end,
    u32 = function(x) return x % 2 ^ 32 end,
    s16 = function(x) return (x + 2 ^ 15) % 2 ^ 16 - 2 ^ 15 end,
    u16 = function(x) return x % 2 ^ 16 end,
    s8 = function(x) return (x + 128) % 256 - 128 end,
    u8 = function(x) return x % 256 end,
    f32 = to_float, f16 = to_half, b16 = to_half,
    f64 = function(x) return x end,
    u64 = function(x) return x end,
    s64 = function(x) return x end,
    b32 = function(x) return x end,
}
local sizes = { s32 = 4, u32 = 4, s16 = 2, u16 = 2, s8 = 1, u8 = 1, b16 = 2, f32 = 4, f64 = 8 }

local function truncated(x) return x < 0 and math.ceil(x) or math.floor(x) end
local function nearest(x)
    local low = math.floor(x)
    local rest = x - low
    return rest > 0.5 and low + 1 or rest < 0.5 and low or low % 2 == 0 and low or low + 1
end
local rounded = { rmi = math.floor, rpi = math.ceil, rzi = truncated, rni = nearest }

local whole = { s32 = 'int32', u32 = 'uint32' }

local compare = {
    nan = function(a, b) return a ~= a or b ~= b end,
    lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
    gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
    eq = function(a, b) return a == b end,
    ne = function(a, b) return a ~= b and a == a and b == b end,    -- false of NaN, but neu is true
    neu = function(a, b) return a ~= b end,
}

-- Functions of the operands by the first word; the result is cut to the type by its suffix.
local plain = {
    mov = function(a) return a end,
    add = function(a, b) return a + b end, sub = function(a, b) return a - b end,
    mul = function(a, b) return a * b end, mad = function(a, b, c) return a * b + c end,
    div = function(a, b) return a / b end, rem = math.fmod,
    neg = function(a) return -a end, abs = math.abs, sqrt = math.sqrt,
    selp = function(a, b, c) if c then return a end return b end,
}
local of_bits = { ['and'] = bit.band, ['or'] = bit.bor, xor = bit.bxor }
local of_truth = {
    ['and'] = function(a, b) return a and b end, ['or'] = function(a, b) return a or b end,
    ['not'] = function(a) return not a end,
}

local function words_of(text)
    local list = {}
    for word in text:gmatch '[^%s,;]+' do list[#list + 1] = word end
    return list
end

-- Returns the lines, each as a list of words, and their numbers by label.
local function parse(text)
    local lines, labels = {}, {}
    for line in text:match '{\n(.*)}':gmatch '[^\n]+' do
        local label = line:match '^(%u+):'
        if label then labels[label] = #lines + 1
        elseif not line:find '^%.' then lines[#lines + 1] = words_of((line:gsub('[{}]', ' '))) end
    end
    return lines, labels
end

local function computed(parts, get, words)
    local name, suffix = parts[1], parts[#parts]
    local a, b, c = get(words[3]), get(words[4]), get(words[5])
    if name == 'setp' then
        return compare[parts[2]](wraps[suffix](a), wraps[suffix](b))
    elseif suffix == 'pred' then
        return of_truth[name](a, b)
    elseif name == 'cvt' then
        local x = wraps[suffix](a)
        local to = parts[#parts - 1]
        local saturated = suffix:find '^f' and bound.on_host['saturated_' .. (whole[to] or '')]
        if saturated then return x ~= x and suffix == 'f64' and -2 ^ 31 or saturated(x) end
        return wraps[to](rounded[parts[2]] and rounded[parts[2]](x) or x)
    elseif of_bits[name] then
        return of_bits[name](a, b)
    end
    local result = plain[name](a, b, c)
    if name == 'div' and suffix == 's32' then result = truncated(result) end
    return wraps[parts[2] == 'wide' and 's64' or suffix](result)
end

-- Runs a work-item. registers: those that tell its place; parameters: values by name; an address is
-- k * 2^40 of memory[k], a table of elements from 0
local function run(lines, labels, parameters, memory, registers)
    local at = 1
    local function get(word)
        if not word then return nil end
        if registers[word] ~= nil then return registers[word] end
        return tonumber(word)
    end
    local function place(word, suffix, k)
        local name, offset = word:match '%[([^+%]]+)%+?(%d*)%]'
        local address = registers[name] + (tonumber(offset) or 0)
        return memory[math.floor(address / 2 ^ 40)],
            address % 2 ^ 40 / sizes[suffix] + k
    end
    while lines[at] do
        local words = lines[at]
        at = at + 1
        local guard = words[1]:match '^@(.+)'
        if guard then
            if registers[guard] then at = labels[words[3]] end
        elseif words[1] == 'bra' then
            at = labels[words[2]]
        elseif words[1] == 'ret' then
            return
        else
            local parts = {}
            for part in words[1]:gmatch '[^.]+' do parts[#parts + 1] = part end
            local suffix = parts[#parts]
            if parts[1] == 'ld' and parts[2] == 'param' then
                registers[words[2]] = parameters[words[3]:match '%[(.+)%]']
            elseif parts[1] == 'ld' then
                for k = 2, #words - 1 do
                    local from, element = place(words[#words], suffix, k - 2)
                    registers[words[k]] = from[element]
                end
            elseif parts[1] == 'st' then
                for k = 3, #words do
                    local to, element = place(words[2], suffix, k - 3)
                    to[element] = wraps[suffix](registers[words[k]])
                end
            else
                registers[words[2]] = computed(parts, get, words)
            end
        end
    end
end

-- Runs a kernel of x times y work-items, in groups of one row: see run.
return function(text, parameters, memory, x, y)
    local lines, labels = parse(text)
    for row = 0, (y or 1) - 1 do
        for item = 0, x - 1 do
            run(lines, labels, parameters, memory, { ['%ctaid.x'] = 0, ['%ntid.x'] = x,
                ['%tid.x'] = item, ['%ctaid.y'] = row, ['%ntid.y'] = 1, ['%tid.y'] = 0,
                ['%nctaid.y'] = y or 1 })
        end
    end
end
