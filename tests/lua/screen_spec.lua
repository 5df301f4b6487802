-- Tests pictures as text for each kind of terminal, by reading them back.

local characters = require 'mare.draw.characters'
local cairo = require 'bindings.cairo'
local colours = require 'mare.draw.colours'
local mare = require 'mare'
local palette = require 'mare.draw.palette'
local pixels = require 'mare.draw.pixels'
local screen = require 'mare.draw.screen'
local tables = require 'bindings.tables'

local function field(nx, ny, f)
    local data = {}
    for j = 0, ny - 1 do
        for i = 0, nx - 1 do data[j * nx + i] = f(i, j) end
    end
    return { data = data, nx = nx, ny = ny, x = { 0, nx }, y = { 0, ny }, title = 'a field',
        label = 'height (m)' }
end

local function lines_of(text)
    local lines = {}
    for line in (text .. '\n'):gmatch '(.-)\n' do lines[#lines + 1] = line end
    return lines
end

describe('a field in characters', function()
    local ramp = field(8, 4, function(i, j) return i + 8 * j end)

    it('is shaded from low to high, north up', function()
        local lines = lines_of(characters.field(ramp, { columns = 80, rows = 20 }))
        assert.equal('a field', lines[1])
        assert.equal(6, #lines)                     -- title, 4 rows of 16 characters, scale
        assert.equal(' ', lines[5]:sub(1, 1))
        assert.equal('@', lines[2]:sub(16, 16))
        assert.is_nil(table.concat(lines):find '\27')
        assert.truthy(lines[6]:find 'height')
    end)

    it('is one shade or colour where it is constant but for rounding', function()
        for k, style in ipairs { { columns = 40, rows = 8 },
            { columns = 40, rows = 8, unicode = true, colour = true } } do
            local seen = {}
            local flat = field(8, 4, function(i, j) return 2.5 + ((i + j) % 3 - 1) * 2.4e-7 end)
            for _, map in ipairs { 'viridis', 'diverging', 'magma' } do
                flat.colours = map
                local lines = lines_of(characters.field(flat, style))
                for row = 2, #lines - 1 do seen[lines[row]] = true end
                assert.equal(1, #tables.keys(seen), map .. ' ' .. k)
                seen = {}
            end
        end
    end)

    it('has two colours a character in half blocks', function()
        local text = characters.field(ramp, { columns = 80, rows = 20, unicode = true,
            colour = true, true_colour = true })
        local lines = lines_of(text)
        assert.equal(16, select(2, lines[2]:gsub('▀', '')))
        local map = require('mare.draw.colours').map 'viridis'
        local first, last = map[0], map[255]
        local function code(plane, colour)
            return ('%d;2;%d;%d;%d'):format(plane, math.floor(colour / 65536),
                math.floor(colour / 256) % 256, colour % 256)
        end
        assert.truthy(lines[5]:find(code(48, first), 1, true))
        assert.truthy(lines[2]:find(code(38, last), 1, true))
        text = characters.field(ramp, { columns = 80, rows = 20, unicode = true, colour = true })
        assert.truthy(text:find '38;5;%d+;48;5;%d+')
        assert.is_nil(text:find ';2;%d+;%d+;%d+m')
    end)

    it('shows what is no number, and fits the terminal', function()
        local holes = field(300, 200, function(i) return i < 150 and 0 / 0 or i end)
        local lines = lines_of(characters.field(holes, { columns = 60, rows = 12 }))
        assert.equal(14, #lines)
        for k = 2, 13 do
            assert.is_true(#lines[k] <= 60)
            assert.equal('?', lines[k]:sub(1, 1))
        end
    end)
end)

describe('a terminal with 256 colours', function()
    -- Squared distance in OKLab from a colour to the one with a number.
    local function error_of(colour, number)
        local levels, n = { 0, 95, 135, 175, 215, 255 }, number - 16
        local grey = (8 + 10 * (number - 232)) * 0x010101
        local shown = number >= 232 and grey or levels[math.floor(n / 36) + 1] * 65536
            + levels[math.floor(n / 6) % 6 + 1] * 256 + levels[n % 6 + 1]
        local l, a, b = colours.oklab(colour)
        local l2, a2, b2 = colours.oklab(shown)
        return (l - l2) ^ 2 + (a - a2) ^ 2 + (b - b2) ^ 2
    end

    it('shows each colour of each map by one that looks like it', function()
        for _, name in ipairs(colours.names()) do
            for k = 0, 255 do
                local colour = colours.map(name)[k]
                assert.is_true(error_of(colour, palette.nearest(colour)) < 0.013,
                    ('%s %d: %g'):format(name, k, error_of(colour, palette.nearest(colour))))
            end
        end
    end)

    it('shows colours that it has as they are', function()
        for colour, number in pairs { [0] = 16, [0xffffff] = 231, [0x5f5f5f] = 59,
            [0x080808] = 232, [0xd70087] = 162 } do
            assert.equal(0, error_of(colour, palette.nearest(colour)))
            assert.equal(0, error_of(colour, number))
        end
    end)
end)

describe('curves in characters', function()
    local spec = { series = { { x = { 0, 1, 2 }, y = { 0, 1, 0 / 0 }, label = 'up' },
        { x = { 0, 2 }, y = { 1, 1 }, style = 'points', label = 'level' } }, title = 'two',
        xlabel = 'x (m)' }

    it('are stars and rings, or dots', function()
        local text = characters.lines(spec, { columns = 40, rows = 12 })
        assert.truthy(text:find '%*' and text:find 'o' and text:find 'x %(m%)')
        assert.truthy(text:find('* up, o level', 1, true))
        local dots = characters.lines(spec, { columns = 40, rows = 12, unicode = true })
        assert.truthy(dots:find '\226\161' or dots:find '\226\160')
        for _, line in ipairs(lines_of(text)) do assert.is_true(#line <= 40, line) end
    end)
end)

describe('pixels', function()
    local function canvas()
        local c = cairo.canvas(7, 8, 0xffffff)
        c:fill_rectangle(0, 0, 3, 6, 0xff0000)
        return c
    end

    it('are encoded in base 64', function()
        for text, code in pairs { [''] = '', M = 'TQ==', Ma = 'TWE=', Man = 'TWFu', ['\0\255\254'] =
            'AP/+' } do
            assert.equal(code, pixels.base64(text))
        end
    end)

    it('go to Kitty as PNG in pieces', function()
        local text = pixels.kitty(canvas())
        assert.truthy(text:find '^\27_Ga=T,f=100,q=2,m=0;iVBORw0KGgo')        -- PNG's signature
        assert.truthy(text:find '\27\\$')
        local big = cairo.canvas(300, 300, 0xffffff)
        for k = 0, 299 do big:fill_rectangle(k, (k * 37) % 300, 9, 9, k * 54321) end
        local count = 0
        for keys, data in pixels.kitty(big):gmatch '\27_G([^;]*);([^\27]*)\27\\' do
            count = count + 1
            assert.is_true(#data <= 4096)
            assert.equal(count == 1, keys:find 'a=T' ~= nil)
        end
        assert.is_true(count > 1)
    end)

    -- Red of row y, column x as a Sixel terminal would have it.
    local function read_sixel(text)
        local registers, grid, x, y, colour = {}, {}, 0, 0, nil
        local body = text:match '^\27P0;1q"1;1;%d+;%d+(.*)\27\\$'
        for n, r in body:gmatch '#(%d+);2;(%d+);%d+;%d+' do registers[n] = tonumber(r) end
        body = body:gsub('#%d+;2;%d+;%d+;%d+', '')
        local at = 1
        while at <= #body do
            local c = body:sub(at, at)
            local count, code = body:match('^!(%d+)(.)', at)
            if c == '#' then
                colour = body:match('^#(%d+)', at)
                at = at + 1 + #colour
            elseif c == '$' or c == '-' then
                x, y, at = 0, c == '-' and y + 6 or y, at + 1
            else
                at = at + (count and #count + 2 or 1)
                for _ = 1, tonumber(count or 1) do
                    for k = 0, 5 do
                        local bits = (code or c):byte() - 63
                        if math.floor(bits / 2 ^ k) % 2 == 1 then
                            grid[(y + k) * 1000 + x] = registers[colour]
                        end
                    end
                    x = x + 1
                end
            end
        end
        return grid
    end

    it('go to Sixel in bands of six rows', function()
        local c = canvas()
        local grid = read_sixel(pixels.sixel(c))
        local memory, stride = c:memory()
        for y = 0, 7 do
            for x = 0, 6 do
                local red = math.floor(memory[y * stride + x] / 65536) % 256
                local green = math.floor(memory[y * stride + x] / 256) % 256
                assert.equal(red == 255 and 100 or 0, grid[y * 1000 + x])
                assert.is_true(green == 0 or green == 255)
            end
        end
        local many = cairo.canvas(64, 64, 0)
        many:pixels(0, 0, 64, 64, function(data, step)
            for k = 0, 4095 do data[math.floor(k / 64) * step + k % 64] = k * 4099 % 2 ^ 24 end
        end)
        local text = pixels.sixel(many)
        assert.is_nil(text:find '#25[5-9];2;')
        grid = read_sixel(text)
        for k = 0, 63 do assert.equal('number', type(grid[k])) end
    end)
end)

describe('the terminal', function()
    it('tells what it can show', function()
        assert.equal('kitty', screen.protocol_of '\27_Gi=31;OK\27\\\27[?62;c')
        assert.equal('sixel', screen.protocol_of '\27[?62;4;22c')
        assert.equal('sixel', screen.protocol_of '\27[?4c')
        assert.is_nil(screen.protocol_of '\27[?1;2c')
        assert.is_nil(screen.protocol_of '\27[?64;14;44c')
        assert.is_nil(screen.protocol_of '\27_Gi=31;EINVAL:no\27\\\27[?6c')
        assert.is_nil(screen.protocol_of '')
    end)

    it('gets a picture, which can be saved as one', function()
        local out, sink, path = io.output(), os.tmpname(), os.tmpname() .. '.png'
        io.output(sink)
        local picture = mare.plot({ 1, 4, 9, 16 }, { title = 'squares' })
        mare.plot(require('bindings.memory').array('double', 5), { title = 'zeros' })
        picture:save(path)
        io.output():close()
        io.output(out)
        local file = assert(io.open(sink))
        assert.truthy(file:read '*a':find 'squares.*zeros')
        file:close()
        file = assert(io.open(path, 'rb'))
        assert.equal('\137PNG', file:read(4))
        file:close()
        os.remove(sink)
        os.remove(path)
        os.remove(path:gsub('%.png$', ''))
        for bad, expected in pairs { [7] = 'not number', [{}] = 'no numbers' } do
            local ok, failure = pcall(mare.plot, bad)
            assert.is_false(ok)
            assert.truthy(tostring(failure):find(expected, 1, true), tostring(failure))
        end
        assert.is_false((pcall(picture.save, picture, 'squares.jpg')))
    end)
end)
