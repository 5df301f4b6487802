-- Random numbers that are the same on every machine, device and decomposition: SplitMix64
-- (Steele, Lea and Flood, OOPSLA 2014) used as a hash of (seed, index), so that value k never
-- depends on how many were drawn before it.

local bit = require 'bit'

local random = {}

local gamma = 0x9e3779b97f4a7c15ULL

local function mix(z)
    z = bit.bxor(z, bit.rshift(z, 30)) * 0xbf58476d1ce4e5b9ULL
    z = bit.bxor(z, bit.rshift(z, 27)) * 0x94d049bb133111ebULL
    return bit.bxor(z, bit.rshift(z, 31))
end

-- Value k = 0, 1, ... of the sequence of a seed, uniform in [0, 1) with 53 random bits.
-- With seed s it is output k of the SplitMix64 generator started at state s.
function random.uniform(seed, k)
    return tonumber(bit.rshift(mix(seed + gamma * (k + 1)), 11)) * 2 ^ -53
end

return random
