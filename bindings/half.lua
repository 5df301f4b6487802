-- half.lua - the half nearest to a number of Lua.

local bit = require 'bit'
local ffi = require 'ffi'
local mare = require 'bindings.ffi'

local half = {}

local word = ffi.new 'union { float value; uint32_t bits; }'

-- Returns it. The number is rounded once: of the two floats beside it, the one with the last bit
-- set goes to the same half as the number itself (rounding to odd: Boldo and Melquiond 2008).
function half.of(value)
    value = tonumber(value)
    word.value = value
    if word.value ~= value and value == value and bit.band(word.bits, 1) == 0 then
        word.bits = word.bits + (math.abs(word.value) < math.abs(value) and 1 or -1)
    end
    return mare.C.mare_half_of(word.value)
end

return half
