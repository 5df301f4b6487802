-- Tests films frame by frame: other programs must decode what was drawn. giflib
-- reads GIF, the chunks of an APNG are read by its specification, and its
-- frames by cairo.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local bit = require 'bit'
local colours = require 'mare.draw.colours'
local figure = require 'mare.draw.figure'
local film = require 'mare.draw.film'
local files = require 'bindings.files'
local gif = require 'bindings.gif'
local image = require 'mare.draw.image'
local lfs = require 'lfs'
local worker = require 'bindings.worker'
local zlib = require 'bindings.zlib'

ffi.cdef [[
    typedef struct { int count, bits; bool sorted; uint8_t *colours; } gif_map;
    typedef struct { int left, top, width, height; bool interlaced; gif_map *map; } gif_place;
    typedef struct { gif_place at; uint8_t *pixels; int blocks; void *block; } gif_image;
    typedef struct {
        int width, height, bits, background; uint8_t aspect; gif_map *map; int images;
        gif_place at; gif_image *saved;
    } gif_file;
    gif_file *DGifOpenFileName(const char *name, int *error);
    int DGifSlurp(gif_file *file);
    int DGifCloseFile(gif_file *file, int *error);
    void *cairo_image_surface_create_from_png(const char *path);
    unsigned char *cairo_image_surface_get_data(void *surface);
    int cairo_surface_status(void *surface);
]]

local folder

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
end)

after_each(function() os.execute("rm -rf '" .. folder .. "'") end)

local function slurp(path)
    local file = assert(io.open(path, 'rb'))
    local text = file:read '*a'
    file:close()
    return text
end

local nx, ny = 60, 30
local missing = 0xb4aca0

local function spec(name)
    return { path = folder .. '/' .. name, rate = 20, title = 'Test',
        time = { unit = 's', last = 3, step = 1 },
        figure = image.figure_spec { nx = nx, ny = ny, x = { 0, 2 }, y = { 0, 1 }, width = 300,
            range = { 0, 1 }, title = 'Test', label = 'rho', missing = { colour = missing } } }
end

-- Returns the pixels of the box at time t: waves, with missing values from time
-- 2 on.
local function pixels_at(fig, t)
    local w, h, map = fig.box.width, fig.box.height, fig.map
    local pixels = ffi.new('uint32_t[?]', w * h)
    for k = 0, w * h - 1 do
        local wave = math.sin(0.05 * (k % w) + t) * math.cos(0.03 * k / w)
        pixels[k] = t >= 2 and k < 5 * w and missing or map[math.floor(127.5 + 127 * wave)]
    end
    return pixels
end

-- Writes frames first to last, and returns what each looked like.
local function write(out, first, last)
    local seen = {}
    for t = first, last do
        local pixels = pixels_at(out.figure, t)
        out:write(t, function(name, type)
            assert.same({ 'pixels', 'uint32_t' }, { name, type })
            return pixels
        end)
        local drawn, stride = out.canvas:memory()
        local copy = {}
        for row = 0, out.figure.height - 1 do
            for p = 0, out.figure.width - 1 do
                copy[#copy + 1] = bit.band(drawn[row * stride + p], 0xffffff)
            end
        end
        seen[#seen + 1] = copy
    end
    return seen
end

local function difference(a, b)
    local r1, g1, b1 = colours.split(a)
    local r2, g2, b2 = colours.split(b)
    return math.max(math.abs(r1 - r2), math.abs(g1 - g2), math.abs(b1 - b2)) * 255
end

local function number(text) -- big endian
    local value = 0
    for k = 1, #text do value = 256 * value + text:byte(k) end
    return value
end

-- Returns the chunks of a PNG as { kind, data }; their checksums must be right.
local function chunks(text)
    assert.equal('\137PNG\r\n\26\n', text:sub(1, 8))
    local at, list = 9, {}
    while at <= #text do
        local size = number(text:sub(at, at + 3))
        local body = text:sub(at + 4, at + 7 + size)
        assert.equal(zlib.crc32(0, body, #body), number(text:sub(at + 8 + size, at + 11 + size)))
        list[#list + 1] = { kind = body:sub(1, 4), data = body:sub(5) }
        at = at + 12 + size
    end
    return list
end

local function chunk(kind, data)
    local function word(n)
        return string.char(bit.rshift(n, 24), bit.band(bit.rshift(n, 16), 255),
            bit.band(bit.rshift(n, 8), 255), bit.band(n, 255))
    end
    local body = kind .. data
    return word(#data) .. body .. word(bit.tobit(zlib.crc32(0, body, #body)))
end

-- Returns the pixels of one frame's data, which cairo reads as a PNG of its
-- own.
local function decode(head, data, count)
    local path = folder .. '/one.png'
    local file = assert(io.open(path, 'wb'))
    file:write('\137PNG\r\n\26\n', chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', ''))
    file:close()
    local C = ffi.load 'libcairo.so.2'
    local surface = C.cairo_image_surface_create_from_png(path)
    assert.equal(0, C.cairo_surface_status(surface))
    local pixels = ffi.cast('uint32_t *', C.cairo_image_surface_get_data(surface))
    local list = {}
    for k = 1, count do list[k] = bit.band(pixels[k - 1], 0xffffff) end
    return list
end

describe('an APNG', function()
    it('holds every frame as it was drawn', function()
        local out = film.writer(spec 'a.png')
        local seen = write(out, 0, 3)
        out:close()
        local list = chunks(slurp(folder .. '/a.png'))
        local head, control = list[1].data, list[2]
        assert.same({ out.figure.width, out.figure.height },
            { number(head:sub(1, 4)), number(head:sub(5, 8)) })
        assert.equal('acTL', control.kind)
        assert.same({ 4, 0 }, { number(control.data:sub(1, 4)), number(control.data:sub(5, 8)) })
        local sequence = 0
        for k = 0, 3 do
            local frame, data = list[3 + 2 * k], list[4 + 2 * k]
            assert.equal('fcTL', frame.kind)
            assert.equal(sequence, number(frame.data:sub(1, 4)))
            assert.same({ 1, 20 },
                { number(frame.data:sub(21, 22)), number(frame.data:sub(23, 24)) })
            sequence = sequence + 1
            assert.equal(k == 0 and 'IDAT' or 'fdAT', data.kind)
            if k > 0 then
                assert.equal(sequence, number(data.data:sub(1, 4)))
                sequence = sequence + 1
            end
            assert.same(seen[k + 1], decode(head, k == 0 and data.data or data.data:sub(5),
                #seen[1]))
        end
        assert.equal('IEND', list[11].kind)
        assert.equal(11, #list)
    end)
end)

-- Returns the frames of a GIF as lists of colours.
local function decode_gif(path)
    local C, code = ffi.load 'libgif.so.7', ffi.new 'int[1]'
    local file = C.DGifOpenFileName(path, code)
    assert.is_true(file ~= nil and C.DGifSlurp(file) ~= 0)
    local frames = {}
    for k = 0, file.images - 1 do
        local one, map, list = file.saved[k], file.map.colours, {}
        assert.same({ 0, 0, file.width, file.height },
            { one.at.left, one.at.top, one.at.width, one.at.height })
        for p = 0, file.width * file.height - 1 do
            local c = 3 * one.pixels[p]
            list[p + 1] = map[c] * 65536 + map[c + 1] * 256 + map[c + 2]
        end
        frames[k + 1] = list
    end
    C.DGifCloseFile(file, code)
    return frames
end

describe('a GIF', function()
    it('holds every frame in the nearest of its 256 colours, and repeats', function()
        local out = film.writer(spec 'a.gif')
        local seen = write(out, 0, 3)
        out:close()
        local frames = decode_gif(folder .. '/a.gif')
        assert.equal(4, #frames)
        for k, frame in ipairs(frames) do
            local worst = 0
            for p, colour in ipairs(seen[k]) do
                worst = math.max(worst, difference(colour, frame[p]))
                if colour == missing then assert.equal(missing, frame[p]) end
            end
            assert.is_true(worst <= 8, worst)
        end
        local text = slurp(folder .. '/a.gif')
        assert.truthy(text:find('!\255\11NETSCAPE2.0\3\1\0\0\0', 1, true))
        assert.equal(4, select(2, text:gsub('!\249\4%z\5%z%z%z', '')))     -- 0.05 s each
    end)

    it('tells what to install when giflib is missing', function()
        local ok, message = pcall(gif.load, { 'libgif-missing.so' })
        gif.load()
        assert.is_false(ok)
        fails.says(message, 'giflib', 'found')
    end)
end)

describe('a film', function()
    it('tells time and what is missing in each frame', function()
        local out = film.writer(spec 'a.png')
        local seen = write(out, 1, 2)
        local w, em, box = out.figure.width, out.figure.em, out.figure.box
        local function differ(x0, y0, x1, y1)
            for y = math.floor(y0), math.floor(y1) do
                for x = math.floor(x0), math.floor(x1) do
                    if seen[1][y * w + x + 1] ~= seen[2][y * w + x + 1] then return true end
                end
            end
            return false
        end
        assert.is_true(differ(box.x, 0, w - 1, 2 * em))                     -- the title
        assert.is_true(differ(box.x + box.width, box.y + box.height + em, w - 1,
            out.figure.height - 1))                                         -- the note
        assert.is_false(differ(0, box.y + box.height + 1, box.x + box.width / 2,
            out.figure.height - 1))                                         -- the axis stays
        out:abort()
    end)

    it('appears when it is complete, and goes on from any seal', function()
        for _, name in ipairs { 'a.gif', 'a.png' } do
            local path = folder .. '/' .. name
            local out = film.writer(spec(name))
            write(out, 0, 3)
            assert.is_nil(files.size(path))
            out:close()
            local whole = slurp(path)
            out = film.writer(spec(name))
            local empty = out:seal()
            out:keep()
            write(out, 0, 1)
            local position = out:seal()
            out:keep()
            write(out, 2, 2)
            out:abort()
            assert.equal(whole, slurp(path))
            for _, at in ipairs { position, empty, position } do     -- the last from the whole film
                local again = film.resume(spec(name), at)
                write(again, at.frames, 3)
                again:close()
                assert.is_true(whole == slurp(path), name)
            end
            assert.equal('', io.popen('ls ' .. path .. '.*.part 2>/dev/null'):read '*a')
        end
    end)

    it('is not gone on with from other frames', function()
        local out = film.writer(spec 'a.png')
        write(out, 0, 1)
        local position = out:seal()
        out:keep()
        out:abort()
        local wider = spec 'a.png'
        wider.figure.width = 400
        fails(function() film.resume(wider, position) end, nil, 'a.png', '--film', 'frames',
            'size')
        os.remove(position.temporary)
        fails(function() film.resume(spec 'a.png', position) end, nil, 'a.png', '.part', '--film',
            'frames')
    end)

    it('is refused early where it cannot be', function()
        fails(function() film.check(folder .. '/a.avi') end, nil, 'a.avi', '.mp4', '.gif', '.png',
            '.apng', 'film')
        fails(function() film.check '/none/a.gif' end, nil, 'cannot write', 'into', 'folder')
        fails(function() film.check(folder) end, nil, 'film', 'ends')
    end)

    it('leaves nothing when a frame fails', function()
        local out = film.writer(spec 'a.gif')
        assert.error_matches(function() out:write(0, function() error('lost', 0) end) end, 'lost')
        assert.equal('', io.popen('ls ' .. folder):read '*a')
    end)
end)

describe('contours and arrows of a film', function()
    it('are drawn over the pixels of each frame', function()
        local with = spec 'a.png'
        with.contours = { levels = { 10 }, range = { 0, nx }, is_ground = false }
        with.vectors = { unit = 'm s-1' }
        local out = film.writer(with)
        local fig = figure.new(with.figure)
        local function sampled(cells, f)
            local data = ffi.new('float[?]', cells.nx * cells.ny)
            for k = 0, cells.nx * cells.ny - 1 do
                data[k] = f(cells.i0 + k % cells.nx * cells.step)
            end
            return data
        end
        local arrow_cells = fig:arrow_cells()
        local data = { pixels = pixels_at(fig, 0),
            contours = sampled(fig:contour_cells(), function(i) return i end),
            u = sampled(arrow_cells, function(i) return i > 30 and 1 or 0 end),
            v = sampled(arrow_cells, function() return 0 end) }
        out:write(0, function(name) return data[name] end)
        local drawn, stride = out.canvas:memory()
        local box = out.figure.box
        local function changed(p)       -- pixels of a column of the box
            local n = 0
            for row = 0, box.height - 1 do
                local is = bit.band(drawn[(box.y + row) * stride + box.x + p], 0xffffff)
                if is ~= data.pixels[row * box.width + p] then n = n + 1 end
            end
            return n
        end
        local per_cell = box.width / nx
        assert.is_true(changed(math.floor(10.5 * per_cell)) > 0.9 * box.height)
        assert.equal(0, changed(math.floor(20 * per_cell)))
        local right = 0
        for p = math.floor(35 * per_cell), box.width - 1 do right = right + changed(p) end
        assert.is_true(right > 100)
        out:abort()
    end)
end)

describe('the thread that writes', function()
    it('makes films as it is told', function()
        local literal = require 'mare.base.literal'
        local w = worker.start 'mare.run.service'
        local out = film.writer(spec 'here.gif')
        local pixels = pixels_at(out.figure, 0)
        out:write(0, function() return pixels end)
        out:close()
        for _, message in ipairs {
            { kind = 'open', id = 1, spec = spec 'there.gif' },
            { kind = 'write', id = 1, slot = 1, t = 0, type = 'float', events = {},
                data = { pixels = worker.address(pixels) } },
            { kind = 'close', id = 1 },
        } do
            w:send(literal.encode(message))
            assert.is_nil(literal.decode(w:receive()).failure)
        end
        w:stop()
        assert.is_true(slurp(folder .. '/here.gif') == slurp(folder .. '/there.gif'))
    end)
end)
