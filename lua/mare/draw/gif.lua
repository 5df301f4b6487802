-- Films as GIF. Its 256 colours are 240 of the field's colour map, 15 greys for
-- the axes, and the colour of missing values.

local gif = require 'bindings.gif'

local M = {}

local Encoder = {}
Encoder.__index = Encoder

local greys, of_map = 15, 240

M.check = gif.load

-- Returns the palette, at 0 to 255.
local function palette(map, missing, map_size)
    local list = {}
    for k = 0, of_map - 1 do list[k] = map[math.floor(k * (map_size - 1) / (of_map - 1) + 0.5)] end
    for k = 0, greys - 1 do
        list[of_map + k] = 0x010101 * math.floor(0x26 + k * (0xff - 0x26) / (greys - 1))
    end
    list[of_map + greys] = missing
    return list
end

-- spec: { width, height, rate = frames per second, map = of 256 colours,
-- missing }.
function M.encoder(spec, temporary)
    local delay = math.max(2, math.floor(100 / spec.rate + 0.5))
    return setmetatable({ temporary = temporary,
        frames = gif.encoder(spec.width, spec.height, palette(spec.map, spec.missing, 256), delay),
    }, Encoder)
end

-- Appends a frame. k: the number of frames before this one.
function Encoder:frame(pixels, stride, k)
    self.temporary:append(self.frames:frame(pixels, stride, k == 0))
end

function Encoder.pause() end

function Encoder:finish()
    self.temporary:append(gif.trailer)
    return self.temporary
end

function Encoder.abort() end

return M
