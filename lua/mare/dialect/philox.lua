-- Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
-- 1, 2, 3", SC 2011) on numbers of Lua, as kernels/ndarray/philox.h has it for kernels.

local bit = require 'bit'

local philox = {}

local wide = 0ULL
local m0, m1 = wide + 0xD2511F53, wide + 0xCD9E8D57
local w0, w1 = 0x9E3779B9, 0xBB67AE85

local function xor(a, b)
    return bit.bxor(a, b) % 2 ^ 32
end

local function product(a, b)
    local all = a * (wide + b)
    return tonumber(bit.rshift(all, 32)), tonumber(all % 2 ^ 32)
end

-- Returns the four words of a counter of four words and a key of two.
function philox.block(c0, c1, c2, c3, k0, k1)
    for _ = 1, 10 do
        local high0, low0 = product(m0, c0)
        local high1, low1 = product(m1, c2)
        c0, c1, c2, c3 = xor(xor(high1, c1), k0), low1, xor(xor(high0, c3), k1), low0
        k0, k1 = (k0 + w0) % 2 ^ 32, (k1 + w1) % 2 ^ 32
    end
    return c0, c1, c2, c3
end

-- Returns word number % 4 of the block of the counter number / 4.
function philox.word(number, k0, k1)
    number = tonumber(number)
    local counter = math.floor(number / 4)
    local words = { philox.block(counter % 2 ^ 32, math.floor(counter / 2 ^ 32), 0, 0,
        tonumber(k0), tonumber(k1)) }
    return words[number % 4 + 1]
end

-- Returns a key of two words as one.
function philox.key(k0, k1) return k0 + 4294967296ULL * k1 end

-- Returns the word of number + first, of such a key.
function philox.word_from(number, key, first)
    return philox.word(tonumber(number) + tonumber(first), tonumber(key % 4294967296ULL),
        tonumber(key / 4294967296ULL))
end

return philox
