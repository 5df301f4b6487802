-- The 240 colours that every terminal with 256 has: a cube of 6 x 6 x 6 and 24
-- greys. palette.nearest(colour) returns the number of the one that looks most
-- like a colour: the nearest in OKLab. Nearest in red, green and blue, the dark
-- blue of viridis would become grey.

local bit = require 'bit'
local colours = require 'mare.draw.colours'

local palette = {}

local levels = { 0, 95, 135, 175, 215, 255 }

local function entries()
    local list = {}
    for k = 0, 215 do
        local r, g, b = math.floor(k / 36), math.floor(k / 6) % 6, k % 6
        list[16 + k] = levels[r + 1] * 65536 + levels[g + 1] * 256 + levels[b + 1]
    end
    for k = 0, 23 do list[232 + k] = (8 + 10 * k) * 0x010101 end
    return list
end

local known, cache      -- by number: { lightness, a, b }; by colour: the number

local function distance(x, y)
    return (x[1] - y[1]) ^ 2 + (x[2] - y[2]) ^ 2 + (x[3] - y[3]) ^ 2
end

local function search(colour)
    local wanted, best, least = { colours.oklab(colour) }, nil, math.huge
    for k = 16, 255 do
        local d = distance(wanted, known[k])
        if d < least then best, least = k, d end
    end
    return best
end

function palette.nearest(colour)
    if not known then
        known, cache = entries(), {}
        for k, entry in pairs(known) do known[k] = { colours.oklab(entry) } end
    end
    colour = bit.band(colour, 0xffffff)
    cache[colour] = cache[colour] or search(colour)
    return cache[colour]
end

return palette
