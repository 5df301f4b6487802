-- Perceptually uniform colour maps: equal steps in value look like equal steps
-- in colour. Colours are numbers 0xRRGGBB. The map 'diverging' goes from blue
-- over white to red and is computed here: each half follows a curve in OKLab
-- (B. Ottosson, 2020) in steps of equal length.

local bit = require 'bit'
local data = require 'mare.draw.colour_data'
local tables = require 'bindings.tables'

local colours = {}

colours.size = 256
colours.nan = 0xff00ff      -- is in no map, so that it stands out

-- Lightness and chroma of the control points, from the middle outwards. The
-- hues are those of blue and red.
local curve = { { 0.97, 0.0 }, { 0.72, 0.19 }, { 0.32, 0.11 } }
local hues = { math.rad(255), math.rad(25) }

local function gamma(linear)
    if linear <= 0.0031308 then return 12.92 * linear end
    return 1.055 * linear ^ (1 / 2.4) - 0.055
end

-- Converts OKLab to sRGB in 0 to 1, not clipped.
local function srgb(lightness, a, b)
    local l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ^ 3
    local m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ^ 3
    local s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ^ 3
    return gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)
end

local function linear(value)
    return value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4
end

-- Returns lightness, a and b of a colour in OKLab.
function colours.oklab(colour)
    local r, g, b = colours.split(colour)
    r, g, b = linear(r), linear(g), linear(b)
    local l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ^ (1 / 3)
    local m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ^ (1 / 3)
    local s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ^ (1 / 3)
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
end

-- Returns lightness and chroma of the quadratic Bezier curve at 0 <= s <= 1.
local function bezier(s)
    local p, q, r = (1 - s) ^ 2, 2 * s * (1 - s), s ^ 2
    return p * curve[1][1] + q * curve[2][1] + r * curve[3][1],
        p * curve[1][2] + q * curve[2][2] + r * curve[3][2]
end

-- Returns the parameters of n points at equal distances along the curve,
-- including both ends.
local function equal_steps(n)
    local fine, length = 2000, { [0] = 0 }
    local l0, c0 = bezier(0)
    for i = 1, fine do
        local l, c = bezier(i / fine)
        length[i] = length[i - 1] + math.sqrt((l - l0) ^ 2 + (c - c0) ^ 2)
        l0, c0 = l, c
    end
    local out, i = {}, 0
    for k = 0, n - 1 do
        while i < fine and length[i] < length[fine] * k / (n - 1) do i = i + 1 end
        out[k] = i / fine
    end
    return out
end

local function byte(value)
    return math.floor(255 * math.max(0, math.min(1, value)) + 0.5)
end

local function diverging()
    local half = colours.size / 2
    local map, steps = {}, equal_steps(half)
    for k = 0, half - 1 do
        local lightness, chroma = bezier(steps[k])
        for side, hue in ipairs(hues) do
            local r, g, b = srgb(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
            local index = side == 1 and half - 1 - k or half + k
            map[index] = byte(r) * 65536 + byte(g) * 256 + byte(b)
        end
    end
    return map
end

local function stored(hex)
    local map = {}
    for k = 0, colours.size - 1 do map[k] = tonumber(hex:sub(6 * k + 1, 6 * k + 6), 16) end
    return map
end

local function grey()
    local map = {}
    for k = 0, colours.size - 1 do map[k] = k * 0x010101 end
    return map
end

local made, cache = { diverging = diverging, grey = grey }, {}

-- Returns the names of all colour maps, sorted.
function colours.names()
    return tables.keys(tables.merged(data, made))
end

-- Returns the colours of a map, at 0 to size - 1.
function colours.map(name)
    if not cache[name] then
        if made[name] then
            cache[name] = made[name]()
        elseif data[name] then
            cache[name] = stored(data[name])
        else
            error(string.format('colours = %s: no such colour map (have: %s)', tostring(name),
                table.concat(colours.names(), ', ')), 0)
        end
    end
    return cache[name]
end

-- Returns red, green and blue, each 0 to 1.
function colours.split(colour)
    return bit.rshift(colour, 16) / 255, bit.band(bit.rshift(colour, 8), 255) / 255,
        bit.band(colour, 255) / 255
end

return colours
