-- Encodes pictures as text for terminals: the graphics protocol of Kitty, which
-- takes PNG, and Sixel, which takes up to 256 colours in bands of six rows.

local bit = require 'bit'
local files = require 'bindings.files'

local pixels = {}

-- ---- Kitty ----

local digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

-- The two base64 digits of each 12-bit value.
local pairs_of_digits = {}
for value = 0, 4095 do
    local a, b = math.floor(value / 64) + 1, value % 64 + 1
    pairs_of_digits[value] = digits:sub(a, a) .. digits:sub(b, b)
end

function pixels.base64(data)
    local out, whole = {}, #data - #data % 3
    for k = 1, whole, 3 do
        local a, b, c = data:byte(k, k + 2)
        local value = a * 65536 + b * 256 + c
        out[#out + 1] = pairs_of_digits[bit.rshift(value, 12)]
            .. pairs_of_digits[bit.band(value, 4095)]
    end
    local a, b = data:byte(whole + 1, -1)
    if a then
        local value = a * 65536 + (b or 0) * 256
        local text = pairs_of_digits[bit.rshift(value, 12)]
            .. pairs_of_digits[bit.band(value, 4095)]
        out[#out + 1] = b and text:sub(1, 3) .. '=' or text:sub(1, 2) .. '=='
    end
    return table.concat(out)
end

local chunk = 4096      -- characters per message, at most

-- Returns the bytes of a PNG file. canvas: of bindings/cairo.lua.
function pixels.png(canvas)
    local name = os.tmpname()
    local ok, failure = pcall(canvas.write_png, canvas, name, 'picture')
    local data = ok and files.read(name)
    os.remove(name)
    if not ok then error(failure, 0) end
    return data
end

-- canvas: of bindings/cairo.lua.
function pixels.kitty(canvas)
    local text, out = pixels.base64(pixels.png(canvas)), {}
    for at = 1, #text, chunk do
        local more = at + chunk <= #text and 1 or 0
        local keys = at == 1 and 'a=T,f=100,q=2,m=' or 'm='
        out[#out + 1] = ('\27_G%s%d;%s\27\\'):format(keys, more, text:sub(at, at + chunk - 1))
    end
    return table.concat(out)
end

-- ---- Sixel ----

local max_colours = 255

-- Reduces a colour to five bits each of red, green and blue.
local function coarse(colour)
    return bit.bor(bit.band(bit.rshift(colour, 9), 0x7C00), bit.band(bit.rshift(colour, 6), 0x3E0),
        bit.band(bit.rshift(colour, 3), 0x1F))
end

local function split(key)
    return bit.rshift(key, 10), bit.band(bit.rshift(key, 5), 31), bit.band(key, 31)
end

local function distance(a, b)
    local r1, g1, b1 = split(a)
    local r2, g2, b2 = split(b)
    return (r1 - r2) ^ 2 + (g1 - g2) ^ 2 + (b1 - b2) ^ 2
end

-- Returns the most frequent coarse colours, and for each coarse colour an index
-- among them, from 0.
local function make_palette(memory, stride, width, height)
    local counts, keys, palette, index = {}, {}, {}, {}
    for row = 0, height - 1 do
        for column = 0, width - 1 do
            local key = coarse(memory[row * stride + column])
            if not counts[key] then keys[#keys + 1] = key end
            counts[key] = (counts[key] or 0) + 1
        end
    end
    table.sort(keys, function(a, b)
        return counts[a] > counts[b] or (counts[a] == counts[b] and a < b)
    end)
    for k, key in ipairs(keys) do
        if k <= max_colours then
            palette[k], index[key] = key, k - 1
        else
            local best = 1
            for p = 2, max_colours do
                if distance(palette[p], key) < distance(palette[best], key) then best = p end
            end
            index[key] = best - 1
        end
    end
    return palette, index
end

local function run_text(code, length)
    local character = string.char(63 + code)
    return length > 3 and '!' .. length .. character or character:rep(length)
end

-- Encodes one colour of a band. codes[column] has six bits, the top row's
-- lowest.
local function colour_text(codes, width)
    local pieces, last, length = {}, codes[0] or 0, 0
    for column = 0, width - 1 do
        local code = codes[column] or 0
        if code ~= last then
            pieces[#pieces + 1] = run_text(last, length)
            last, length = code, 0
        end
        length = length + 1
    end
    if last ~= 0 then pieces[#pieces + 1] = run_text(last, length) end
    return table.concat(pieces)
end

local function band_text(memory, stride, width, first, rows, index)
    local codes, order, pieces = {}, {}, {}
    for k = 0, rows - 1 do
        local mask, start = bit.lshift(1, k), (first + k) * stride
        for column = 0, width - 1 do
            local colour = index[coarse(memory[start + column])]
            local of_colour = codes[colour]
            if not of_colour then
                of_colour = {}
                codes[colour], order[#order + 1] = of_colour, colour
            end
            of_colour[column] = bit.bor(of_colour[column] or 0, mask)
        end
    end
    for k, colour in ipairs(order) do
        pieces[k] = '#' .. colour .. colour_text(codes[colour], width)
    end
    return table.concat(pieces, '$')
end

-- canvas: of bindings/cairo.lua.
function pixels.sixel(canvas)
    local memory, stride = canvas:memory()
    local width, height = canvas.width, canvas.height
    local palette, index = make_palette(memory, stride, width, height)
    local pieces = { ('\27P0;1q"1;1;%d;%d'):format(width, height) }
    for k, key in ipairs(palette) do
        local r, g, b = split(key)
        pieces[#pieces + 1] = ('#%d;2;%d;%d;%d'):format(k - 1, r / 31 * 100, g / 31 * 100,
            b / 31 * 100)
    end
    local bands = {}
    for row = 0, height - 1, 6 do
        bands[#bands + 1] = band_text(memory, stride, width, row, math.min(6, height - row), index)
    end
    return table.concat(pieces) .. table.concat(bands, '-') .. '\27\\'
end

return pixels
