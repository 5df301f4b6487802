-- Frames of GIF films by giflib: each picture alone becomes the bytes that it has in a film, so
-- that a film can be written, and gone on with, by appending. Colours are the nearest of a palette.

local ffi = require 'ffi'
local bit = require 'bit'
local callback = require 'bindings.callback'
local foreign = require 'bindings.foreign'

ffi.cdef [[
    typedef struct GifFileType GifFileType;
    typedef int (*gif_write)(GifFileType *file, const uint8_t *data, int size);
    GifFileType *EGifOpen(void *user, gif_write write, int *error);
    void EGifSetGifVersion(GifFileType *file, bool has_extensions);
    int EGifPutScreenDesc(GifFileType *file, int width, int height, int bits, int background,
                          const void *map);
    int EGifPutImageDesc(GifFileType *file, int left, int top, int width, int height,
                         bool interlace, const void *map);
    int EGifPutLine(GifFileType *file, uint8_t *pixels, int count);
    int EGifCloseFile(GifFileType *file, int *error);
    void *GifMakeMapObject(int count, const uint8_t *colours);
    void GifFreeMapObject(void *map);
    const char *GifErrorString(int number);
]]

local gif = {}
local colours = 256
local head_bytes = 13 + 3 * colours      -- of a file, in front of the first block
local library

function gif.load(names)
    library = foreign.load('giflib', names or { 'libgif.so.7' }, 'libgif7')
    return library
end

local function rgb(colour)
    return bit.rshift(colour, 16), bit.band(bit.rshift(colour, 8), 255), bit.band(colour, 255)
end

-- index[colour] of the nearest colour of a palette, found when it is first asked for.
local function matcher(palette)
    return setmetatable({}, { __index = function(known, colour)
        local r, g, b = rgb(colour)
        local best, least
        for k = 0, colours - 1 do
            local pr, pg, pb = rgb(palette[k])
            local distance = (r - pr) ^ 2 + (g - pg) ^ 2 + (b - pb) ^ 2
            if not least or distance < least then best, least = k, distance end
        end
        known[colour] = best
        return best
    end })
end

-- Calls back into Lua, which compiled code may not.
local function encode(self, indices)
    local blocks, number = {}, ffi.new 'int[1]'
    local write = callback('gif_write', function(_, data, size)
        blocks[#blocks + 1] = ffi.string(data, size)
        return size
    end)
    local width, height, map = self.width, self.height, self.map
    local file = library.EGifOpen(nil, write, number)
    local ok = file ~= nil
    if ok then
        library.EGifSetGifVersion(file, true)
        ok = library.EGifPutScreenDesc(file, width, height, 8, 0, map) ~= 0
            and library.EGifPutImageDesc(file, 0, 0, width, height, false, nil) ~= 0
            and library.EGifPutLine(file, indices, width * height) ~= 0
        ok = library.EGifCloseFile(file, number) ~= 0 and ok
    end
    write:free()
    if not ok then
        local reason = library.GifErrorString(number[0])
        error('giflib: ' .. (reason ~= nil and ffi.string(reason) or 'a frame failed'), 0)
    end
    return table.concat(blocks)
end
jit.off(encode)

local Encoder = {}
Encoder.__index = Encoder

-- palette: [0 .. 255], 0xRRGGBB; delay: between frames, in hundredths of a second
function gif.encoder(width, height, palette, delay)
    if not library then gif.load() end
    local bytes = ffi.new('uint8_t[?]', 3 * colours)
    for k = 0, colours - 1 do bytes[3 * k], bytes[3 * k + 1], bytes[3 * k + 2] = rgb(palette[k]) end
    return setmetatable({
        width = width, height = height, index = matcher(palette),
        indices = ffi.new('uint8_t[?]', width * height),
        map = ffi.gc(library.GifMakeMapObject(colours, bytes), library.GifFreeMapObject),
        control = string.char(0x21, 0xf9, 4, 0, delay % 256, math.floor(delay / 256), 0, 0),
    }, Encoder)
end

local endless = '\33\255\11NETSCAPE2.0\3\1\0\0\0'

-- The bytes that a frame adds to a film. pixels: 0xRRGGBB at [row * stride + column]
function Encoder:frame(pixels, stride, is_first)
    local index, indices, width = self.index, self.indices, self.width
    for row = 0, self.height - 1 do
        for p = 0, width - 1 do
            indices[row * width + p] = index[bit.band(pixels[row * stride + p], 0xffffff)]
        end
    end
    local file = encode(self, indices)
    local head = is_first and file:sub(1, head_bytes) .. endless or ''
    return head .. self.control .. file:sub(head_bytes + 1, -2)
end

gif.trailer = ';'

return gif
