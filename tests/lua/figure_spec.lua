-- Tests what is drawn over and beside the pixels of a picture: contour lines,
-- arrows, labels.

local arrows = require 'mare.draw.arrows'
local bit = require 'bit'
local cairo = require 'bindings.cairo'
local contours = require 'mare.draw.contours'
local figure = require 'mare.draw.figure'
local image = require 'mare.draw.image'
local labels = require 'mare.draw.labels'
local picture = require 'mare.draw.picture'
local raster = require 'mare.draw.raster'
local water = require 'mare.schemes.shallow_water'

-- Returns f(x, y) at the samples (0, 0) to (nx - 1, ny - 1).
local function sampled(nx, ny, f)
    local data = {}
    for k = 0, nx * ny - 1 do data[k] = f(k % nx, math.floor(k / nx)) end
    return data
end

describe('the note of missing values', function()
    it('looks the same however often it is drawn', function()
        local fig = figure.new(image.figure_spec { path = 'x.png', nx = 30, ny = 20, x = { 0, 3 },
            y = { 0, 2 }, range = { 0, 1 }, title = 'note', label = 'depth (m)', xlabel = 'x',
            ylabel = 'y', missing = { colour = 0xb4aca0, label = 'land' } })
        local function drawn(times)
            local canvas, list = fig:canvas(), {}
            for _ = 1, times do fig:missing_note(canvas) end
            local pixels, stride = canvas:memory()
            for y = 0, fig.height - 1 do
                for x = 0, fig.width - 1 do list[#list + 1] = pixels[y * stride + x] end
            end
            canvas:release()
            return list
        end
        local once, often, different = drawn(1), drawn(20), 0
        for k = 1, #once do different = different + (once[k] == often[k] and 0 or 1) end
        assert.equal(0, different)
    end)
end)

describe('contour lines', function()
    it('lie where the level is, in one piece, and close', function()
        local cone = sampled(41, 41, function(x, y)
            return math.sqrt((x - 20) ^ 2 + (y - 20) ^ 2)
        end)
        local lines = contours.lines(cone, 41, 41, 12.3)
        assert.equal(1, #lines)
        local line = lines[1]
        assert.same({ line[1], line[2] }, { line[#line - 1], line[#line] })
        for k = 1, #line, 2 do
            local r = math.sqrt((line[k] - 20) ^ 2 + (line[k + 1] - 20) ^ 2)
            assert.is_true(math.abs(r - 12.3) < 0.02)
        end
        assert.is_true(#line / 2 > 90 and #line / 2 < 110)      -- the edges that a circle crosses
    end)

    it('end at the border and at missing values', function()
        local ramp = sampled(9, 5, function(x) return x end)
        local lines = contours.lines(ramp, 9, 5, 3.25)
        assert.equal(1, #lines)
        assert.same({ 3.25, 0, 3.25, 1, 3.25, 2, 3.25, 3, 3.25, 4 }, lines[1])
        ramp[2 * 9 + 4] = 0 / 0
        lines = contours.lines(ramp, 9, 5, 3.25)
        assert.same({ { 3.25, 0, 3.25, 1 }, { 3.25, 3, 3.25, 4 } }, lines)
    end)

    it('do not see the jump of angles, nor the point around which they turn', function()
        local function angle(x, y) return math.deg(math.atan2(y - 20.3, x - 20.4)) % 360 end
        local phase = sampled(41, 41, angle)
        for level = 0, 330, 30 do
            local lines = contours.lines(phase, 41, 41, level, 360)
            assert.equal(1, #lines)
            local line = lines[1]
            for k = 1, #line, 2 do
                local away = (angle(line[k], line[k + 1]) - level + 180) % 360 - 180
                local r = math.sqrt((line[k] - 20.4) ^ 2 + (line[k + 1] - 20.3) ^ 2)
                assert.is_true(math.abs(away) < 8 / r, level)
            end
            assert.is_true(#line / 2 >= 20)
        end
        assert.is_true(#contours.lines(phase, 41, 41, 180)[1] > 60)     -- as if they were none
    end)

    it('part a saddle by its middle', function()
        for _, middle in ipairs { -0.5, 0.5 } do
            local saddle = { [0] = 1, -1 + middle, -1 + middle, 1 }
            local lines = contours.lines(saddle, 2, 2, 0)
            assert.equal(2, #lines)
            local corner = middle > 0 and { 1, 0 } or { 0, 0 }      -- one is cut off by a line
            local found = false
            for _, line in ipairs(lines) do
                local x, y = (line[1] + line[3]) / 2, (line[2] + line[4]) / 2
                found = found or math.abs(x - corner[1]) + math.abs(y - corner[2]) < 0.7
            end
            assert.is_true(found)
        end
    end)

    it('have round levels within the range', function()
        local levels = contours.levels(5, { 0.9, 2.1 })
        assert.same({ '1', '1.2', '1.4', '1.6', '1.8', '2' }, (function()
            local texts = {}
            for k, level in ipairs(levels) do texts[k] = string.format('%.12g', level) end
            return texts
        end)())
        assert.same({ 0.3, 7 }, contours.levels({ 0.3, 7 }, { 0, 1 }))
        assert.same({ 0, 90, 180, 270 }, contours.levels(4, { 0.1, 359 }, 360))
    end)
end)

describe('arrows', function()
    it('are scaled to the largest, and explained by a round value', function()
        local u, v = { [0] = 3, 0, 0 / 0, 1 / 0 }, { [0] = 4, 1, 0, 0 }
        local scale, value = arrows.scale(u, v, 4, nil, 10)
        assert.same({ 23 / 5, 5 }, { scale, value })
        u[0] = 2.9
        assert.equal(2, select(2, arrows.scale(u, v, 4, nil, 10)))
        assert.equal(0.7, select(2, arrows.scale(u, v, 4, 0.7, 10)))
        assert.is_nil(arrows.scale({ [0] = 0 }, { [0] = 0 }, 1, nil, 10))
    end)

    it('are more than their outline, however short', function()
        local em = 14
        for _, length in ipairs { 0.3, 0.6, 1.2, 2.3 } do
            local canvas = cairo.canvas(60, 60, 0x808080)
            arrows.draw(canvas, { u = { [0] = length * em }, v = { [0] = 0 }, nx = 1, ny = 1,
                place = function() return 30, 30 end }, 1, em)
            local pixels, stride = canvas:memory()
            local dark, light = 0, 0
            for k = 0, 60 * 60 - 1 do
                local grey = bit.band(pixels[math.floor(k / 60) * stride + k % 60], 255)
                dark, light = dark + math.max(0, 0x80 - grey), light + math.max(0, grey - 0x80)
            end
            canvas:release()
            assert.is_true(light < 2 * dark, length .. ': ' .. dark .. ' ' .. light)
        end
    end)

    it('stand on cells of the field', function()
        local field = sampled(10, 6, function(x, y) return 100 * y + x end)
        assert.same({ [0] = 102, 105, 402, 405 },
            raster.thinned(field, 10, { i0 = 2, j0 = 1, nx = 2, ny = 2, step = 3 }))
    end)
end)

describe('labels', function()
    it('carry units as people write them', function()
        assert.equal('depth (m)', labels.with_unit('depth', 'm'))
        assert.equal('density (kg m⁻³)', labels.with_unit('density', 'kg m-3'))
        assert.equal('m² s⁻¹', labels.unit 'm2 s-1')
        assert.equal('density', labels.with_unit('density', '1'))
    end)

    it('are in kilometres where metres are many', function()
        local near, far = labels.axes({ 0, 100 }, { 0, 50 }, 'm'),
            labels.axes({ 0, 4e5 }, { -1e4, 1e4 }, 'm')
        assert.same({ 'x (m)', 'y (km)', 400 }, { near.xlabel, far.ylabel, far.x[2] })
        assert.equal('x', labels.axes({ 0, 1e6 }, { 0, 1 }).xlabel)
    end)

    it('tell the time', function()
        assert.equal('t = 1.5', labels.clock(nil, 2)(1.5))
        assert.equal('t = 0.50', labels.clock('1', 2, 0.02)(0.5))
        assert.equal('t = 7000 s', labels.clock('s', 7000)(7000))
        assert.equal('t = 2.0 h', labels.clock('s', 10000, 1800)(7200))
        assert.equal('t = 3 d', labels.clock('s', 864000, 86400)(3 * 86400))
    end)
end)

describe('a description of a picture', function()
    local scheme = water.new {}

    it('is completed from the scheme', function()
        assert.same({ variable = 'h', label = 'depth of the water (m)' },
            picture.describe(nil, scheme))
        local what = picture.describe({ variable = 'eta', label = 'elevation', contours = 5,
            vectors = { 'u', 'v' } }, scheme)
        assert.same({ variable = 'eta', levels = 5 }, what.contours)
        assert.same({ u = 'u', v = 'v', unit = 'm s-1' }, what.vectors)
        assert.same({ variable = 'h', levels = { 0.1 } }, picture.describe({
            contours = { variable = 'h', levels = { 0.1 } } }, scheme).contours)
    end)

    it('is refused where it names what is not there', function()
        for _, wrong in ipairs { { variable = 'rho' }, { contours = { variable = 'rho' } },
            { vectors = { 'u', 'rho' } } } do
            assert.error_matches(function() picture.describe(wrong, scheme) end,
                "picture: no variable 'rho' %(there are: h, hu, hv, eta")
        end
        assert.error_matches(function() picture.describe({ colour = 'x' }, scheme) end,
            "unknown field 'colour'")
    end)
end)
