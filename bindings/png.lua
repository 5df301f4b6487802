-- The data of PNG pictures: rows of red, green and blue, filtered and compressed.

local ffi = require 'ffi'
local bit = require 'bit'
local zlib = require 'bindings.zlib'

local png = {}

local filter_up = 2

-- The contents of IDAT. pixels: 0xRRGGBB at [row * stride + column]; level: of zlib. Each byte is
-- stored as its difference from the one above.
function png.data(pixels, stride, width, height, level)
    local bytes, at = ffi.new('uint8_t[?]', height * (3 * width + 1)), 0
    for row = 0, height - 1 do
        bytes[at] = row > 0 and filter_up or 0
        at = at + 1
        for p = row * stride, row * stride + width - 1 do
            local this, above = pixels[p], row > 0 and pixels[p - stride] or 0
            for shift = 16, 0, -8 do
                bytes[at] = bit.band(bit.rshift(this, shift) - bit.rshift(above, shift), 255)
                at = at + 1
            end
        end
    end
    return zlib.compress(bytes, at, level)
end

return png
