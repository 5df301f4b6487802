-- Tests the views and the arithmetic of a zoom, numbers of many bits, films of
-- bare pixels, and a zoom from its options to its files.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local exact = require 'mare.mandelbrot.exact'
local film = require 'mare.draw.film'
local files = require 'bindings.files'
local home = require 'bindings.home'
local lfs = require 'lfs'
local mpfr = require 'bindings.mpfr'
local options = require 'mare.base.options'
local view = require 'mare.mandelbrot.view'

local function frames(given)
    local o = { centre = '0', width = 3, zoom = 1, frames = 1, columns = 300, rows = 200,
        precision = 'auto' }
    for key, value in pairs(given) do o[key] = value end
    return view.frames(o)
end

local function refused(given, ...)
    fails(function() frames(given) end, 'usage', ...)
end

describe('numbers of many bits', function()
    it('round at their last one', function()
        local one, tiny = mpfr.new(100, 1), mpfr.new(100, 2 ^ -99)
        local sum = mpfr.new(100):add(one, tiny)
        assert.equal(2 ^ -99, mpfr.new(100):sub(sum, one):double())
        assert.equal(0, sum:set(tiny):scale(sum, -1):add(sum, one):compare(1))
        assert.equal(2 ^ -80, mpfr.new(24):fma(mpfr.new(24, 2 ^ -40), mpfr.new(24, 2 ^ -40),
            mpfr.new(24)):double())
        fails(function() mpfr.new(100, 'x') end, nil, "'x'", 'decimal', 'number')
    end)

    it('follow an orbit', function()
        local orbit, length = exact.orbit(128, mpfr.new(128), mpfr.new(128, 1), 5)   -- of i
        local values = {}
        for k = 0, 2 * length - 1 do values[k + 1] = orbit[k] end
        assert.same({ 0, 0, 0, 1, -1, 1, 0, -1, -1, 1, 0, -1 }, values)
        local _, short = exact.orbit(128, mpfr.new(128, '0.5'), mpfr.new(128), 100)
        assert.same({ 5, 6 }, { exact.count(128, mpfr.new(128, '0.5'), mpfr.new(128), 9), short })
    end)
end)

describe('the frames of a zoom', function()
    it('shrink evenly', function()
        local list = frames { zoom = 16, frames = 5 }
        for k = 1, 5 do assert.near(3 / 2 ^ (k - 1), list[k].width, 1e-15) end
        assert.near(3 / 16, frames { zoom = 16 }[1].width, 1e-15)
        assert.near(-1.5 + 0.005, list[1].left, 1e-15)
        assert.near(1 - 0.005, list[1].top, 1e-15)
    end)

    it('have a centre of any number of digits', function()
        local digits = '-0.1' .. ('0'):rep(40) .. '1'
        local _, c = frames { centre = digits .. '-2.5e-1i', zoom = 1e40 }
        assert.same({ -0.1, -0.25, 0 }, { c.x_high, c.y_high, c.y_low })
        local rest = mpfr.new(c.bits):sub(c.x, mpfr.new(c.bits, '-0.1'))
        assert.near(-1e-42, rest:double(), 1e-54)
        for text, expected in pairs { ['1i'] = { 0, 1 }, ['-.5'] = { -0.5, 0 },
            ['+1e-1+.25i'] = { 0.1, 0.25 } } do
            local _, centre = frames { centre = text }
            assert.same(expected, { centre.x_high, centre.y_high })
        end
        for _, text in ipairs { '', 'i', '1+2', '1 + 2i', '1+2i3', '0x1', 'nan', '1+i' } do
            refused({ centre = text }, '--centre', "'" .. text .. "'", '-0.75+0.1i')
        end
        refused({ centre = '17' }, '--centre', "'17'", '-16 to 16')
    end)

    it('take the arithmetic that tells their points apart', function()
        local names = {}
        for _, frame in ipairs(frames { centre = '-1', zoom = 1e24, frames = 5 }) do
            names[#names + 1] = frame.mode
        end
        assert.same({ 'float', 'double', 'double', 'perturbation', 'perturbation' }, names)
        assert.equal('float', frames { zoom = 1e30 }[1].mode)       -- floats are dense around 0
        local wide = { centre = '-1', zoom = 1e20, precision = 'double-double' }
        assert.equal('double-double', frames(wide)[1].mode)
        refused({ centre = '-1', zoom = 1e9, frames = 2, precision = 'float' },
            '--precision', 'float', '1e-11', 'frame 2', 'double')
        refused({ zoom = 1e290, width = 0.1 },
            '--zoom', '1e-291', 'at least 1e-290')
    end)
end)

describe('a zoom', function()
    local folder
    before_each(function()
        folder = os.tmpname()
        os.remove(folder)
        assert(lfs.mkdir(folder))
    end)
    after_each(function() os.execute("rm -rf '" .. folder .. "'") end)

    local function run(values)
        local source = options.source
        values.device = values.device or os.getenv 'MARE_TEST_DEVICE' or 'auto'
        values.quiet = true
        options.source, options.program = values, 'mandelbrot'
        local ok, result = pcall(dofile, home.root .. '/scenarios/mandelbrot.lua')
        options.source = source
        if not ok then error(result, 0) end
        return result
    end

    it('is written as it was computed', function()
        local path = folder .. '/zoom.png'
        local result = run { frames = 3, size = { 48, 32 }, iterations = 200, film = path,
            image = folder .. '/last.png' }
        assert.same({ 3, 'float' }, { #result.frames, result.frames[3].mode })
        local text = assert(io.open(path, 'rb')):read '*a'
        local _, count = text:gsub('fcTL', '')
        assert.equal(3, count)
        assert.same({ 0, 0, 0, 48, 0, 0, 0, 32 }, { text:byte(17, 24) })        -- its size
        assert.is_true(files.size(folder .. '/last.png') > 100)
        assert.is_true(result.kernel_seconds > 0 and result.kernel_seconds < result.seconds * 1.01)
    end)

    it('is the mean of its samples, black in the set', function()
        local one = run { frames = 1, zoom = 1, size = { 40, 40 }, samples = 1, iterations = 100 }
        local inside = one.pixels[20 * 40 + 26]                -- -0.26 + 0.02i or so
        local many = run { frames = 1, zoom = 1, size = { 40, 40 }, samples = 3, iterations = 100 }
        assert.same({ 0, 0 }, { inside, many.pixels[20 * 40 + 26] })
        local dark = 0
        for k = 0, 1599 do
            if one.pixels[k] == 0 and many.pixels[k] ~= 0 then dark = dark + 1 end
        end
        assert.is_true(dark > 20)       -- along the edge a pixel is partly outside
    end)

    it('has what the device took meanwhile', function()
        local calls, device = {}, require('bindings.device')
        local watch = {
            begin = function() calls[#calls + 1] = 'begin' end,
            look = function() calls[#calls + 1] = 'look' end,
            finish = function() return { joules = 3, low = 2.5, high = 3.5 } end,
        }
        local result = require('mare.mandelbrot').zoom {
            device = device.open(os.getenv 'MARE_TEST_DEVICE' or 'auto'), energy = watch,
            centre = 'published', width = 3, zoom = 1, frames = 2, precision = 'float',
            size = { 40, 40 }, samples = 1, iterations = 100, colours = 'magma', period = 6,
            quiet = true }
        assert.same({ 'begin', 'look', 'look' }, calls)
        assert.equal('energy: 3 J above rest (2.5 to 3.5)',
            require('mare.measure.energy').text(result.energy, result.no_energy))
    end)

    it('takes by a call what its command line takes, and no more', function()
        local mandelbrot = require 'mare.mandelbrot'
        local function wrong(name, value, message)
            local o = { device = require('bindings.device').open 'null:0', centre = '0', width = 3,
                zoom = 1, frames = 1, precision = 'float', size = { 16, 16 }, samples = 1,
                iterations = 10, colours = 'magma', period = 6, film = folder .. '/a.gif',
                rate = 20 }
            o[name] = value
            local ok, failure = pcall(mandelbrot.zoom, o)
            assert.same({ false, 'mandelbrot.zoom: ' .. message }, { ok, failure.message })
        end
        wrong('width', 0 / 0, "width = 'nan' (allowed: a number from 1e-290 to 16)")
        wrong('zoom', 0 / 0, "zoom = 'nan' (allowed: a number from 1 to 1e+290)")
        wrong('frames', 0, "frames = '0' (allowed: a whole number from 1 to 100000)")
        wrong('size', { -1, 4 },
            "size = '-1x4' (allowed: two whole numbers as 2x2 from 1 to 32767)")
        wrong('size', { true },
            "size = 'truexnil' (allowed: two whole numbers as 2x2 from 1 to 32767)")
        wrong('precision', 'x',
            "precision = 'x' (allowed: auto, float, double, double-double, perturbation)")
        wrong('rate', 0, "rate = '0' (allowed: a whole number from 1 to 100)")
        wrong('colours', nil, 'colours is missing')
    end)

    it('wants a device that computes', function()
        fails(function() run { device = 'null:0' } end, nil, '--device', 'null', '0 runs',
            'kernels', 'option')
    end)

    it('refuses to write two things into one file', function()
        fails(function()
            run { film = folder .. '/a.png', image = folder .. '/../' .. folder:match '[^/]*$'
                .. '/a.png' }
        end, nil, 'are one file', '--image', '--film', 'file', 'option')
    end)

    it('needs an even size for an MP4', function()
        if not files.program 'ffmpeg' then return pending 'there is no ffmpeg here' end
        assert.error_matches(function()
            run { size = { 33, 32 }, film = folder .. '/a.mp4' }
        end, 'option %-%-size: 33x32 %(allowed: even numbers, for an MP4%)')
        run { size = { 34, 32 }, frames = 2, iterations = 50, film = folder .. '/a.mp4' }
        assert.is_true(files.size(folder .. '/a.mp4') > 500)
    end)

    it('becomes a GIF of bare pixels', function()
        local out = film.writer { path = folder .. '/a.gif', rate = 20,
            bare = { width = 4, height = 2, colours = 'magma', missing = 0 } }
        local pixels = ffi.new('uint32_t[8]', { 0, 0xfcfdbf })
        for t = 1, 2 do out:write(t, function() return pixels end) end
        out:close()
        assert.is_true(files.size(folder .. '/a.gif') > 768)
    end)
end)
