-- Names in the text of the dialect: those of Lua where they are free, otherwise with
-- a number behind them. Each function has its own, so that nothing is shadowed.

local operations = require 'mare.dialect.operations'

local names = {}

local reserved = {}
for name in ([[auto bool break case char const constant continue default do double else enum
    extern float for global goto half if image1d_t image2d_t inline int int2 int3 int4 kernel
    local long long2 private real register restrict return short signed sizeof static struct switch
    true false typedef uint uint2 uint4 ulong uchar union unsigned ushort void volatile while
    asm class delete explicit export friend mutable namespace new operator protected public template
    this throw try typename using virtual and or not xor abs max min clamp mix step sign dot cross
    length distance normalize select any all R main]]):gmatch '[%w_]+' do
    reserved[name] = true
end
for name in pairs(operations) do reserved[name] = true end

-- Makes a set of names; those of the outer one are taken too.
function names.new(outer)
    return setmetatable({}, { __index = outer or reserved })
end

-- Returns a free name, and takes it.
function names.take(taken, wanted)
    if wanted:find '^mr_' or wanted:find '^MR_' or wanted:find '^__' then wanted = 'v' .. wanted end
    local name, k = wanted, 1
    while taken[name] do
        k = k + 1
        name = wanted .. '_' .. k
    end
    taken[name] = true
    return name
end

return names
