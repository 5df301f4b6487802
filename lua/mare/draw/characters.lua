-- Pictures made of characters. A field becomes half blocks with two colours per
-- character, or shades of ASCII; curves become Braille patterns with eight dots
-- per character, or stars. A picture is described as for image.field and
-- image.lines; `style` is
--     { columns, rows = at most, unicode = true, colour = true, true_colour = false }

local bit = require 'bit'
local colours = require 'mare.draw.colours'
local image = require 'mare.draw.image'
local palette = require 'mare.draw.palette'
local raster = require 'mare.draw.raster'

local characters = {}

-- An odd number of them: a constant field lies in the middle of its range, where rounding would
-- make a pattern of two shades that meet there.
local shades = { ' ', '.', ':', '-', '=', '+', '*', '#', '@' }
local upper_half = '\226\150\128'

-- ---- colours of a terminal ----

-- Returns SGR parameters. plane: 38 for the character's colour, 48 for its
-- background.
local function sgr(plane, colour, style)
    if not style.true_colour then return ('%d;5;%d'):format(plane, palette.nearest(colour)) end
    return ('%d;2;%d;%d;%d'):format(plane, bit.rshift(colour, 16),
        bit.band(bit.rshift(colour, 8), 255), bit.band(colour, 255))
end

-- ---- fields ----

-- Returns the columns and rows of characters for a domain that is drawn true to
-- scale. A character is twice as high as wide.
local function size_of(spec, style)
    local aspect = (spec.y[2] - spec.y[1]) / (spec.x[2] - spec.x[1])
    local columns = math.max(1, math.min(style.columns - 2, 2 * spec.nx))
    local rows = math.max(1, math.floor(columns * aspect / 2 + 0.5))
    if rows > style.rows then
        columns = math.max(1, math.floor(columns * style.rows / rows + 0.5))
        rows = style.rows
    end
    return columns, rows
end

-- Returns colours [row][column], top row first.
local function coloured(spec, columns, rows)
    local out, map = {}, colours.map(spec.colours)
    raster.resample(spec.data, spec.nx, spec.ny, columns, rows, function(row, values)
        out[row] = {}
        raster.colour_row(out[row], 0, values, columns, spec.range, map, spec.missing.colour)
    end)
    return out
end

local function half_blocks(spec, columns, rows, style)
    local pixels, lines = coloured(spec, columns, 2 * rows), {}
    for row = 0, rows - 1 do
        local pieces, last = {}, nil
        for column = 0, columns - 1 do
            local codes = sgr(38, pixels[2 * row][column], style) .. ';'
                .. sgr(48, pixels[2 * row + 1][column], style)
            if codes ~= last then pieces[#pieces + 1] = '\27[' .. codes .. 'm' end
            pieces[#pieces + 1], last = upper_half, codes
        end
        lines[row + 1] = table.concat(pieces) .. '\27[0m'
    end
    return lines
end

local function shaded(spec, columns, rows)
    local lines, low, high = {}, spec.range[1], spec.range[2]
    raster.resample(spec.data, spec.nx, spec.ny, columns, rows, function(row, values)
        local pieces = {}
        for column = 0, columns - 1 do
            local share = (values[column] - low) / (high - low)
            local index = math.floor(share * #shades)
            pieces[column + 1] = share ~= share and '?'
                or shades[math.max(0, math.min(#shades - 1, index)) + 1]
        end
        lines[row + 1] = table.concat(pieces)
    end)
    return lines
end

-- Returns a bar from the least to the greatest value.
local function scale(spec, style)
    local pieces, map = {}, colours.map(spec.colours)
    local has_blocks = style.colour and style.unicode
    local width = has_blocks and 20 or 2 * #shades
    for k = 0, width - 1 do
        if has_blocks then
            local colour = map[math.floor(k / width * colours.size)]
            pieces[k + 1] = '\27[' .. sgr(48, colour, style) .. 'm '
        else
            pieces[k + 1] = shades[math.floor(k / 2) + 1]
        end
    end
    local stop = has_blocks and '\27[0m' or ''
    return ('%.4g %s%s %.4g'):format(spec.range[1], table.concat(pieces), stop, spec.range[2])
end

-- Returns a text of several lines: title, picture, scale.
function characters.field(given, style)
    local spec = image.figure_spec(setmetatable({ path = 'plot' }, { __index = given }))
    spec.data = given.data
    local columns, rows = size_of(spec, style)
    local has_blocks = style.colour and style.unicode
    local lines = (has_blocks and half_blocks or shaded)(spec, columns, rows, style)
    table.insert(lines, 1, spec.title)
    lines[#lines + 1] = scale(spec, style) .. (spec.label ~= '' and '  ' .. spec.label or '')
    return table.concat(lines, '\n')
end

-- ---- curves ----

-- The bits of the dots in a Braille character, [row][column].
local dots = { [0] = { [0] = 1, 8 }, { [0] = 2, 16 }, { [0] = 4, 32 }, { [0] = 64, 128 } }

local function braille(bits)
    return string.char(0xE2, 0xA0 + math.floor(bits / 64), 0x80 + bits % 64)
end

local Sheet = {}
Sheet.__index = Sheet

-- Returns a canvas of dots: 2 x 4 per character with Braille, else one.
local function new_sheet(columns, rows, unicode)
    local self = setmetatable({ columns = columns, rows = rows, unicode = unicode,
        across = unicode and 2 or 1, down = unicode and 4 or 1 }, Sheet)
    self.width, self.height = columns * self.across, rows * self.down
    for row = 0, rows - 1 do
        self[row] = {}
        for column = 0, columns - 1 do self[row][column] = 0 end
    end
    return self
end

-- Sets the dot at x, y (from 0, top left) for curve k.
function Sheet:set(x, y, k)
    if x < 0 or y < 0 or x >= self.width or y >= self.height then return end
    local column, row = math.floor(x / self.across), math.floor(y / self.down)
    if not self.unicode then
        self[row][column] = k
        return
    end
    self[row][column] = bit.bor(self[row][column], dots[y % 4][x % 2])
end

local marks = { '*', 'o', '+', 'x', '#', '@' }

function Sheet:line(row)
    local pieces = {}
    for column = 0, self.columns - 1 do
        local value = self[row][column]
        if value == 0 then
            pieces[column + 1] = ' '
        else
            pieces[column + 1] = self.unicode and braille(value) or marks[(value - 1) % #marks + 1]
        end
    end
    return (table.concat(pieces):gsub('%s+$', ''))
end

local function draw(sheet, spec, one, k)
    local function place(i)
        local x = (one.x[i] - spec.xrange[1]) / (spec.xrange[2] - spec.xrange[1])
        local y = (one.y[i] - spec.yrange[1]) / (spec.yrange[2] - spec.yrange[1])
        if x - x ~= 0 or y - y ~= 0 then return end
        return math.floor(x * (sheet.width - 1) + 0.5),
            math.floor((1 - y) * (sheet.height - 1) + 0.5)
    end
    local x0, y0
    for i = 1, #one.x do
        local x, y = place(i)
        local steps = x and x0 and one.style == 'line'
            and math.min(2000, math.max(math.abs(x - x0), math.abs(y - y0))) or 0
        for s = 1, steps - 1 do
            sheet:set(math.floor(x0 + (x - x0) * s / steps + 0.5),
                math.floor(y0 + (y - y0) * s / steps + 0.5), k)
        end
        if x then sheet:set(x, y, k) end
        x0, y0 = x, y
    end
end

local function names_of(series, unicode)
    local names = {}
    for k, one in ipairs(series) do
        local mark = unicode and '' or marks[(k - 1) % #marks + 1] .. ' '
        if one.label ~= '' then names[#names + 1] = mark .. one.label end
    end
    return table.concat(names, ', ')
end

-- Counts characters, not bytes.
local function width_of(text)
    return select(2, text:gsub('[^\128-\191]', ''))
end

-- Returns the ends of an axis as texts.
local function ends_of(spec, axis)
    local low, high = unpack(spec[axis .. 'range'])
    if spec[axis .. 'log'] then low, high = 10 ^ low, 10 ^ high end
    return ('%.4g'):format(low), ('%.4g'):format(high)
end

-- Returns a text of several lines: title, names, and curves with the ends of
-- both axes.
function characters.lines(given, style)
    local spec = image.lines_spec(setmetatable({ path = 'plot' }, { __index = given }))
    local low, high = ends_of(spec, 'y')
    local margin = math.max(#high, #low) + 1
    local columns = math.max(10, math.min(style.columns - margin - 2, 76))
    local rows = math.max(4, math.min(style.rows - 4, math.floor(columns / 4)))
    local sheet, lines = new_sheet(columns, rows, style.unicode), {}
    for k, one in ipairs(spec.series) do draw(sheet, spec, one, k) end
    local names = names_of(spec.series, style.unicode)
    if spec.title ~= '' then lines[1] = spec.title end
    if names ~= '' then lines[#lines + 1] = names end
    if spec.ylabel ~= '' then lines[#lines + 1] = spec.ylabel end
    local bar = style.unicode and '\226\148\130' or '|'
    for row = 0, rows - 1 do
        local mark = row == 0 and high or row == rows - 1 and low or ''
        lines[#lines + 1] = (' '):rep(margin - 1 - #mark) .. mark .. bar .. sheet:line(row)
    end
    local left, right = ends_of(spec, 'x')
    local room = columns - #left - #right
    local middle = width_of(spec.xlabel) <= room - 2 and spec.xlabel or ''
    local before = math.floor((room - width_of(middle)) / 2)
    lines[#lines + 1] = (' '):rep(margin) .. left .. (' '):rep(before) .. middle
        .. (' '):rep(room - before - width_of(middle)) .. right
    return table.concat(lines, '\n')
end

return characters
