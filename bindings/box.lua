-- box.lua - boxes of rows within host memory, as mare_region of mare.h has them, in bytes: width,
-- height, depth, dst_offset, dst_pitch, dst_slice.

local ffi = require 'ffi'

local M = {}

-- Puts a box that lies packed at `src` into its place in the memory at `dst`.
function M.place(dst, src, box)
    local to, from = ffi.cast('char *', dst) + box.dst_offset, ffi.cast('const char *', src)
    local width, height = box.width, box.height
    for z = 0, box.depth - 1 do
        for y = 0, height - 1 do
            ffi.copy(to + z * box.dst_slice + y * box.dst_pitch, from + (z * height + y) * width,
                width)
        end
    end
end

-- The pointer that lies so many bytes behind another.
function M.behind(data, bytes)
    return ffi.cast('char *', data) + bytes
end

return M
