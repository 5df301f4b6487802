-- CRC-32 of memory, by zlib, which NetCDF-C brings along.

local ffi = require 'ffi'
local foreign = require 'bindings.foreign'

ffi.cdef 'unsigned long crc32(unsigned long start, const void *data, unsigned size);'

local M = {}
local piece = 2 ^ 30        -- zlib counts in 32 bits
local zlib

-- Goes on from `start`, 0 at first. data: a text or a pointer.
function M.crc32(start, data, size)
    zlib = zlib or foreign.load('zlib', { 'libz.so.1' }, 'zlib1g')
    local bytes = ffi.cast('const char *', data)
    for done = 0, size - 1, piece do
        start = zlib.crc32(start, bytes + done, math.min(piece, size - done))
    end
    return tonumber(start)
end

return M
