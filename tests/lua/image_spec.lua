-- Tests colour maps, ticks, resampling and whole pictures, whose pixels are
-- read back from the PNG.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local bit = require 'bit'
local cairo = require 'bindings.cairo'
local colours = require 'mare.draw.colours'
local files = require 'bindings.files'
local image = require 'mare.draw.image'
local raster = require 'mare.draw.raster'
local ticks = require 'mare.draw.ticks'

ffi.cdef 'void *cairo_image_surface_create_from_png(const char *path);'
ffi.cdef 'int cairo_image_surface_get_width(void *surface);'
ffi.cdef 'int cairo_image_surface_get_height(void *surface);'
ffi.cdef 'unsigned char *cairo_image_surface_get_data(void *surface);'
ffi.cdef 'int cairo_image_surface_get_stride(void *surface);'

local path

before_each(function()
    path = os.tmpname()
end)

after_each(function()
    os.remove(path)
end)

local function read_png(name)
    local C = ffi.load 'libcairo.so.2'
    local surface = C.cairo_image_surface_create_from_png(name)
    local pixels = ffi.cast('uint32_t *', C.cairo_image_surface_get_data(surface))
    local stride = C.cairo_image_surface_get_stride(surface) / 4
    return {
        width = C.cairo_image_surface_get_width(surface),
        height = C.cairo_image_surface_get_height(surface),
        at = function(x, y) return bit.band(pixels[y * stride + x], 0xffffff) end,
    }
end

-- Returns how many pixels of the picture have exactly this colour.
local function count(png, colour)
    local n = 0
    for y = 0, png.height - 1 do
        for x = 0, png.width - 1 do
            if png.at(x, y) == colour then n = n + 1 end
        end
    end
    return n
end

local function contains(text, what)
    return text:find(what, 1, true) ~= nil
end

describe('ticks', function()
    local function texts(low, high, want)
        local marks, power = ticks.choose(low, high, want)
        local out = {}
        for i, mark in ipairs(marks) do out[i] = mark.label end
        return table.concat(out, ' '), ticks.power_text(power)
    end

    it('are round and carry the decimals they need', function()
        assert.equal('0.0 0.2 0.4 0.6 0.8 1.0', (texts(0, 1, 5)))
        assert.equal('1.0 1.2 1.4 1.6 1.8 2.0', (texts(0.93, 2.07, 6)))
        assert.equal('0 1000 2000 3000 4000', (texts(0, 4096, 4)))
        assert.equal('−0.4 −0.2 0.0 0.2 0.4', (texts(-0.5, 0.5, 5)))
        assert.equal('0.1 0.2 0.3 0.4 0.5 0.6 0.7', (texts(0.1, 0.7, 6)))
        assert.equal('1.00001 1.00002 1.00003', (texts(1.00001, 1.00003, 2)))
    end)

    it('share a power of ten when numbers are long', function()
        assert.same({ '−1 0 1 2 3', '×10⁻⁵' }, { texts(-1e-5, 3e-5, 5) })
        assert.same({ '1.0 1.5 2.0 2.5 3.0', '×10⁵' }, { texts(1e5, 3e5, 4) })
        assert.same({ '0 20000 40000', '' }, { texts(0, 5e4, 3) })
    end)

    it('are at least two and lie within the range, whatever it is', function()
        for exponent = -12, 12 do
            for mantissa = 1, 9.5, 0.37 do
                local low = -0.3 * mantissa * 10 ^ exponent
                local high = mantissa * 10 ^ exponent
                local marks = ticks.choose(low, high, 2)
                assert.is_true(#marks >= 2 and #marks <= 8)
                assert.is_true(marks[1].value >= low * (1 + 1e-8))
                assert.is_true(marks[#marks].value <= high * (1 + 1e-8))
            end
        end
    end)

    it('widen a range without extent', function()
        assert.same({ -1, 1 }, { ticks.widen(0, 0) })
        assert.same({ 1, 3 }, { ticks.widen(2, 2) })
        assert.same({ -3, -1 }, { ticks.widen(-2, -2) })
        assert.same({ 2, 2.5 }, { ticks.widen(2, 2.5) })
    end)

    it('show a constant field as one, whatever rounding did to it', function()
        local field = ffi.new('float[100]')
        for k = 0, 99 do field[k] = 1.5 + (k % 3) * 1.2e-7 end
        local low, high = unpack(image.range(field, 100))
        assert.is_true(low < 1 and high > 2)
        for k = 0, 99 do field[k] = 0 end
        assert.same({ 0, 1 }, image.range(field, 100))
        assert.same({ -1, 1 }, image.range(field, 100, 'diverging'))
    end)

    it('has a range for films that is widened for good, and keeps its sign', function()
        local function widened(range, low, high, map)
            return image.widened(range, ffi.new('float[3]', { low, high, 0 / 0 }), 3, map)
        end
        assert.is_nil(widened(nil, 0, 0))
        assert.same({ 2, 4 }, widened(nil, 2, 4))
        local kept = { 2, 4 }
        assert.same(kept, widened(kept, 2.5, 3))
        assert.same(kept, widened(kept, 3, 3))
        assert.same({ 2, 13 }, widened(kept, 3, 12))
        assert.same({ 0, 4 }, widened(kept, 0.25, 3))
        assert.same({ -4.8, 4 }, widened(kept, -4, 3))
        assert.same({ -7, 7 }, widened({ -4, 4 }, 0, 6, 'diverging'))
        assert.same(kept, widened(kept, 0 / 0, 0 / 0))
    end)
end)

-- Returns the CIELAB (D65) of a colour by the CIE's definition, independent of
-- draw/colours.lua.
local function lab(colour)
    local function linear(v) return v <= 0.04045 and v / 12.92 or ((v + 0.055) / 1.055) ^ 2.4 end
    local function f(t) return t > 216 / 24389 and t ^ (1 / 3) or (24389 / 27 * t + 16) / 116 end
    local r, g, b = colours.split(colour)
    r, g, b = linear(r), linear(g), linear(b)
    local x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505)
    local y = f(0.2126 * r + 0.7152 * g + 0.0722 * b)
    local z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
end

describe('colour maps', function()
    it('begin and end as published', function()
        local ends = { viridis = { 0x440154, 0xfde725 }, magma = { 0x000004, 0xfcfdbf },
            cividis = { 0x00224e, 0xfee838 } }
        for name, expected in pairs(ends) do
            local map = colours.map(name)
            assert.same(expected, { map[0], map[255] }, name)
        end
    end)

    it('get brighter all the way, the diverging one towards its middle', function()
        for _, name in ipairs(colours.names()) do
            local map = colours.map(name)
            for k = 0, 239 do
                local rise = lab(map[k + 16]) - lab(map[k])
                if name == 'diverging' and k >= 128 then rise = -rise end
                local across = name == 'diverging' and k > 111 and k < 128
                assert.is_true(across or rise > 2, name .. ' at ' .. k)
            end
        end
    end)

    -- The maps were made uniform in CAM02-UCS and OKLab; in CIELAB, used here because it is simple,
    -- their steps differ by a factor of up to 3.3.
    it('change by nearly equal steps', function()
        for _, name in ipairs(colours.names()) do
            local map, smallest, largest = colours.map(name), math.huge, 0
            for k = 0, 239, 8 do
                local l1, a1, b1 = lab(map[k])
                local l2, a2, b2 = lab(map[k + 8])
                local step = math.sqrt((l2 - l1) ^ 2 + (a2 - a1) ^ 2 + (b2 - b1) ^ 2)
                smallest, largest = math.min(smallest, step), math.max(largest, step)
            end
            assert.is_true(smallest > 2 and largest < 4 * smallest, name)
        end
    end)

    it('say which names exist', function()
        fails(function() colours.map 'jet' end, nil, 'colours = jet', 'cividis', 'diverging')
    end)

    it('do not contain the colour of missing values', function()
        for _, name in ipairs(colours.names()) do
            for k = 0, 255 do assert.not_equal(colours.nan, colours.map(name)[k]) end
        end
    end)
end)

describe('resampling', function()
    local function resample(data, nx, ny, width, height)
        local rows = {}
        raster.resample(data, nx, ny, width, height, function(row, values)
            rows[row + 1] = {}
            for p = 0, width - 1 do rows[row + 1][p + 1] = values[p] end
        end)
        return rows
    end

    it('repeats cells when they are larger than pixels, lowest row last', function()
        assert.same({ { 3, 3, 4, 4 }, { 3, 3, 4, 4 }, { 1, 1, 2, 2 }, { 1, 1, 2, 2 } },
            resample({ [0] = 1, 2, 3, 4 }, 2, 2, 4, 4))
    end)

    it('averages cells when they are smaller', function()
        assert.same({ { 3.5, 5.5 } }, resample({ [0] = 1, 2, 3, 4, 5, 6, 7, 8 }, 4, 2, 2, 1))
    end)

    it('keeps the mean when sizes do not divide', function()
        local nx, ny, width, height = 7, 5, 4, 3
        local data, mean, sum = {}, 0, 0
        for i = 0, nx * ny - 1 do
            data[i] = (i * 37) % 11
            mean = mean + data[i] / (nx * ny)
        end
        for _, row in ipairs(resample(data, nx, ny, width, height)) do
            for _, value in ipairs(row) do sum = sum + value end
        end
        assert.near(mean, sum / (width * height), 1e-12)
    end)

    it('shows a missing value wherever it is part of the mean', function()
        local row = resample({ [0] = 1, 0 / 0, 3, 4 }, 4, 1, 2, 1)[1]
        assert.is_true(row[1] ~= row[1])
        assert.equal(3.5, row[2])
    end)

    it('ignores what is not finite in the range', function()
        assert.same({ 1, 4 }, { raster.range({ [0] = 1, 0 / 0, 1 / 0, 4, -1 / 0 }, 5) })
        assert.is_nil(raster.range({ [0] = 0 / 0 }, 1))
    end)
end)

describe('a picture of a field', function()
    local data = ffi.new('float[?]', 32, 1)
    for i = 0, 15 do data[i] = 0 end       -- the lower half of 8 x 4

    local function draw(changes)
        local spec = { path = path, data = data, nx = 8, ny = 4, x = { 0, 2 }, y = { 0, 1 },
            title = 'test', label = 'rho', width = 400 }
        for name, value in pairs(changes or {}) do spec[name] = value end
        image.field(spec)
        return read_png(path)
    end

    it('has the lower half below', function()
        local png, map = draw(), colours.map 'viridis'
        local x, top, bottom = math.floor(png.width / 2), nil, nil
        for y = 0, png.height - 1 do
            if png.at(x, y) == map[255] then top = top or y end
            if png.at(x, y) == map[0] then bottom = y end
        end
        assert.is_true(top < bottom)
        assert.is_true(math.abs(png.width - 400) <= 50)
    end)

    it('is true to scale and divided evenly', function()
        local png, map = draw(), colours.map 'viridis'
        local row, column, lower = 0, 0, nil
        local x = math.floor(png.width / 2)
        for y = 0, png.height - 1 do
            local colour = png.at(x, y)
            if colour == map[0] or colour == map[255] then column = column + 1 end
            if colour == map[0] then lower = y end
        end
        for i = 0, png.width - 1 do
            if png.at(i, lower - 5) == map[0] then row = row + 1 end
        end
        assert.equal(0, column % 4)
        assert.is_true(row >= 2 * column and row <= 2 * column + 30)     -- the bar adds a little
    end)

    it('shows missing values in their own colour', function()
        data[9] = 0 / 0
        finally(function() data[9] = 0 end)
        assert.is_true(count(draw(), colours.nan) > 100)
        data[9] = 0
        assert.equal(0, count(draw(), colours.nan))
    end)

    it('uses the given range', function()
        local png, map = draw { range = { -1, 3 } }, colours.map 'viridis'
        assert.is_true(count(png, map[64]) > 1000)
        assert.is_true(count(png, map[128]) > 1000)
    end)

    it('centres a diverging map on zero', function()
        local middle = colours.map 'diverging'[128]
        assert.is_true(count(draw { colours = 'diverging' }, middle) > 1000)
    end)

    it('can be drawn of anything finite or not, of any shape', function()
        for _, shape in ipairs { { 1, 32 }, { 32, 1 }, { 1, 1 } } do
            local png = draw { nx = shape[1], ny = shape[2], x = { 0, shape[1] },
                y = { 0, shape[2] }, label = 'a label longer than such a flat picture is high' }
            assert.is_true(png.width <= 480 and png.height <= 560, png.width .. 'x' .. png.height)
        end
        local nothing = ffi.new('double[4]', 0 / 0, 1 / 0, -1 / 0, 0 / 0)
        assert.is_true(count(draw { data = nothing, nx = 2, ny = 2 }, colours.nan) > 1000)
    end)

    it('keeps no font that is not used any more', function()
        local name
        for _, path_of_font in ipairs(cairo.font_files()) do
            name = name or io.open(path_of_font) and path_of_font
        end
        for _ = 1, 20 do cairo.load_font { name } end
        collectgarbage()
        collectgarbage()
        local maps = assert(io.open '/proc/self/maps')
        local _, times = maps:read('*a'):gsub('DejaVuSans%.ttf', '')
        maps:close()
        assert.is_true(times < 10, times)
    end)

    it('is drawn without text when there is no font', function()
        local function title_ink()
            local png, n = draw(), 0
            for y = 0, 12 do
                for x = 0, png.width - 1 do
                    if png.at(x, y) ~= 0xffffff then n = n + 1 end
                end
            end
            return n
        end
        finally(function() cairo.load_font() end)
        assert.is_true(title_ink() > 20)
        assert.is_false(cairo.load_font { '/none.ttf' })
        assert.equal(0, title_ink())
    end)

    it('refuses what makes no sense', function()
        local function refused(changes, pattern)
            assert.error_matches(function() draw(changes) end, pattern)
        end
        refused({ nx = 0 }, 'nx = 0, must be a whole number')
        refused({ x = { 1, 1 } }, 'x must be { low, high }')
        refused({ range = { 2, 1 } }, 'range must be { low, high }')
        refused({ shape = 0 }, 'shape = 0, must be a number from 0.05')
        refused({ width = 1e6 }, 'width = 1000000, must be 200 to 16384 pixels')
        refused({ colours = 'jet' }, 'no such colour map')
    end)
end)

describe('a line plot', function()
    local function draw(changes)
        local spec = { path = path, title = 'Sod', xlabel = 'x', ylabel = 'density', width = 500,
            series = {
                { x = { 0, 1, 2 }, y = { 1, 0.5, 0.25 }, label = 'exact', colour = 0x0000ff },
                { x = { 0, 1, 2 }, y = { 1, 0 / 0, 0.3 }, style = 'points', colour = 0xff0000 } } }
        for name, value in pairs(changes or {}) do spec[name] = value end
        image.lines(spec)
        return read_png(path)
    end

    it('has the asked size and every series', function()
        local png = draw()
        assert.same({ 500, 310 }, { png.width, png.height })
        local blue, red = 0, 0
        for y = 0, png.height - 1 do
            for x = 0, png.width - 1 do
                local r, _, b = colours.split(png.at(x, y))
                if b - r > 0.5 then blue = blue + 1 elseif r - b > 0.5 then red = red + 1 end
            end
        end
        assert.is_true(blue > 400, blue)      -- a line right across
        assert.is_true(red > 10 and red < 60, red)       -- two discs
    end)

    it('has logarithmic axes', function()
        local x, y = {}, {}
        for k = 0, 20 do x[k + 1], y[k + 1] = 10 ^ (k / 10), 10 ^ (k / 5 - 2) end
        y[22], x[22] = 0, 10        -- has no place on them
        local function marks(changes)
            local spec = { path = path, series = { { x = x, y = y, colour = 0x0000ff } } }
            for name, value in pairs(changes) do spec[name] = value end
            return image.lines_spec(spec)
        end
        local spec = marks { xlog = true, ylog = true, xrange = { 1, 100 } }
        assert.same({ 0, 2 }, spec.xrange)
        assert.is_true(spec.yrange[1] < -2 and spec.yrange[1] > -2.5)
        assert.is_true(spec.series[1].y[22] ~= spec.series[1].y[22])
        assert.equal(0, y[22])      -- what was given is as it was
        for k = 1, 21 do
            assert.near(2 * spec.series[1].x[k] - 2, spec.series[1].y[k], 1e-12)
        end
        fails(function() marks { xlog = true, xrange = { 0, 1 } } end, nil, 'above 0', 'xrange',
            'logarithmic')
        image.lines { path = path, xlog = true, ylog = true, width = 300,
            series = { { x = x, y = y } }, notes = { { x = 3, y = 1, text = 'here', align = 1 } } }
        assert.error_matches(function() marks { notes = { { x = 1 } } } end, 'note 1: x and y')
        fails(function() marks { xlog = true, xticks = { 1, 0 } } end, nil, 'xticks',
            'entry 2 must be a number above 0')
        spec = image.lines_spec { path = path, xlog = true, xticks = { 1, 10 },
            yticks = { { 2, 'two' } }, series = { { x = x, y = y } } }
        assert.same({ { value = 0, label = '1' }, { value = 1, label = '10' } }, spec.xticks)
        assert.same({ { value = 2, label = 'two' } }, spec.yticks)
    end)

    it('marks powers of ten', function()
        local function texts(low, high, want)
            local list = {}
            for k, mark in ipairs((ticks.decades(low, high, want))) do list[k] = mark.label end
            return table.concat(list, ' ')
        end
        assert.equal('0.5 1 2 5 10', texts(math.log10(0.4), 1.2, 6))
        assert.equal('0.01 0.1 1 10 100', texts(-2, 2, 6))
        assert.equal('1500 2000 3000 4000', texts(math.log10(1024), math.log10(4096), 6))
        assert.equal('3800 3900 4000 4100', texts(math.log10(3790), math.log10(4110), 4))
        assert.equal('5000 10000 20000 50000', texts(math.log10(4000), math.log10(60000), 6))
        assert.equal('10⁻⁶ 0.001 1 1000 10⁶', texts(-6, 6, 5))
    end)

    it('draws nothing outside its axes', function()
        local png = draw { xrange = { 0, 1 }, yrange = { 5, 6 }, series = {
            { x = { 0, 1 }, y = { 0, 20 }, colour = 0x0000ff },
            { x = { 3 }, y = { 5 }, colour = 0xff0000 } } }
        local highest = png.height
        for y = png.height - 1, 0, -1 do
            if png.at(math.floor(png.width / 2), y) == 0x7f7f7f then highest = y end
        end
        for y = 0, highest - 1 do
            for x = 0, png.width - 1 do assert.not_equal(0x0000ff, png.at(x, y)) end
        end
        assert.equal(0, count(png, 0xff0000))
    end)

    it('refuses what makes no sense', function()
        local function refused(changes, pattern)
            assert.error_matches(function() draw(changes) end, pattern)
        end
        refused({ series = {} }, 'no series')
        refused({ series = { { x = { 1 }, y = { 1, 2 } } } }, 'series 1: x and y must be arrays of')
        refused({ series = { { x = { 1 }, y = { 1 }, style = 'bars' } } }, "style = bars, must be")
    end)
end)

describe('writing a picture', function()
    local field = { data = ffi.new 'float[4]', nx = 2, ny = 2, x = { 0, 1 }, y = { 0, 1 },
        width = 300 }

    local function draw(target)
        field.path = target
        image.field(field)
    end

    it('reads no further than its data go, nor what are none', function()
        local n, short = 64 * 32, ffi.new 'float[3]'
        local whole = ffi.new('float[?]', n)
        local function drawn(changes)
            local spec = { path = path, data = whole, nx = 64, ny = 32, x = { 0, 1 },
                y = { 0, 1 }, range = { 0, 1 } }
            for key, value in pairs(changes) do spec[key] = value end
            return function() image.field(spec) end
        end
        fails(drawn { data = short, nx = 6400, ny = 3200 }, 'MARE_ERROR_ARGUMENT', '20480000', '3')
        fails(drawn { contours = 3, contour_data = short }, 'MARE_ERROR_ARGUMENT', '2048', '3')
        fails(drawn { vectors = { u = short, v = whole, unit = 'm' } }, 'MARE_ERROR_ARGUMENT', '3')
        fails(drawn { data = 'x' }, 'MARE_ERROR_ARGUMENT', 'string')
        fails(drawn { data = { 1, 2 } }, 'MARE_ERROR_ARGUMENT', '2048', '[0]')
        fails(function() image.range(short, 1e8) end, 'MARE_ERROR_ARGUMENT', '100000000', '3')
        drawn { data = whole + 0 } ()       -- a pointer
    end)

    it('puts pictures beside each other', function()
        image.panels { path = path, panels = { field, field } }
        local whole = files.read(path)
        image.field { path = path, data = field.data, nx = 2, ny = 2, x = { 0, 1 }, y = { 0, 1 },
            width = 300 }
        local one = files.read(path)
        local function width(png) return png:byte(19) * 256 + png:byte(20) end
        assert.equal(2 * width(one), width(whole))
        local function refuse(given, ...)
            fails(function() image.panels(given) end, 'MARE_ERROR_ARGUMENT', ...)
        end
        refuse(nil, 'image.panels', 'nil')
        refuse({ path = path }, 'panels', 'nil')
        refuse({ path = path, panels = {} }, 'panels', 'empty')
        refuse({ path = path, panels = { field, 1 } }, 'panel 2', 'number')
        assert.equal(one, files.read(path))
    end)

    it('leaves the old file when it fails', function()
        local file = assert(io.open(path, 'w'))
        file:write 'old'
        file:close()
        field.data = setmetatable({}, { __index = function() error 'device lost' end })
        finally(function() field.data = ffi.new 'float[4]' end)
        assert.error_matches(function() draw(path) end, 'device lost')
        file = assert(io.open(path))
        assert.equal('old', file:read '*a')
        file:close()
        assert.equal('', io.popen('ls ' .. path .. '.*.part 2>/dev/null'):read '*a')
    end)

    it('is refused early where it cannot succeed', function()
        assert.error_matches(function() image.check '/tmp' end, '/tmp: is a folder')
        fails(function() image.check '/proc/x.png' end, nil, 'cannot write', 'into')
        assert.error_matches(function() draw '/none/x.png' end, '/none/x%.png: cannot write into')
    end)

    it('names the file and the reason when the disk is full', function()
        local canvas = cairo.canvas(64, 64, 0xffffff)
        fails(function() canvas:write_png('/dev/full', 'x.png') end, nil, 'cannot write',
            'No space', 'x.png', 'picture', 'device')
    end)

    it('tells what to install when cairo is missing', function()
        local ok, message = pcall(cairo.load, { 'libcairo-missing.so' })
        cairo.load()
        assert.is_false(ok)
        assert.is_true(contains(message, 'cairo was not found (tried libcairo-missing.so'))
        assert.is_true(contains(message, 'libcairo2'))
    end)

    it('keeps memory flat over many pictures', function()
        local function resident()
            collectgarbage()
            collectgarbage()
            local file = io.open '/proc/self/statm'
            local pages = file:read '*a':match '^%d+ (%d+)'
            file:close()
            return tonumber(pages) * 4
        end
        for _ = 1, 10 do draw(path) end
        local before = resident()
        for _ = 1, 60 do draw(path) end
        assert.is_true(resident() - before < 4096, 'grew by ' .. resident() - before .. ' KiB')
    end)
end)
