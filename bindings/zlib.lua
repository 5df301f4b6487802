-- CRC-32 and compression of memory, by zlib, which NetCDF-C brings along.

local ffi = require 'ffi'
local foreign = require 'bindings.foreign'

ffi.cdef [[
    unsigned long crc32(unsigned long start, const void *data, unsigned size);
    unsigned long compressBound(unsigned long size);
    int compress2(void *out, unsigned long *out_size, const void *data, unsigned long size,
                  int level);
]]

local M = {}
local piece = 2 ^ 30        -- crc32() counts in 32 bits
local zlib

local function library()
    zlib = zlib or foreign.load('zlib', { 'libz.so.1' }, 'zlib1g')
    return zlib
end

-- Goes on from `start`, 0 at first. data: a text or a pointer.
function M.crc32(start, data, size)
    local bytes = ffi.cast('const char *', data)
    for done = 0, size - 1, piece do
        start = library().crc32(start, bytes + done, math.min(piece, size - done))
    end
    return tonumber(start)
end

-- The same of `count` numbers from data[first] on, as doubles, whatever they are.
function M.crc32_numbers(start, data, first, count)
    local block = 4096
    local numbers = ffi.new('double[?]', block)
    for done = 0, count - 1, block do
        local n = math.min(block, count - done)
        for k = 0, n - 1 do numbers[k] = tonumber(data[first + done + k]) end
        start = M.crc32(start, numbers, 8 * n)
    end
    return start
end

-- A zlib stream as a text. level: 1 (fast) to 9 (small).
function M.compress(data, size, level)
    local room = ffi.new('unsigned long[1]', library().compressBound(size))
    local out = ffi.new('char[?]', room[0])
    if zlib.compress2(out, room, data, size, level) ~= 0 then
        error(string.format('no memory to compress %.0f bytes', size), 0)
    end
    return ffi.string(out, room[0])
end

return M
