-- Contour lines by marching squares. The corners of the squares are the samples, (0, 0) to
-- (nx - 1, ny - 1); squares with a corner that is not a number have no line. An edge between two
-- samples is crossed by a level at most once, so lines are chains of edges.

local axes = require 'mare.draw.axes'
local colours = require 'mare.draw.colours'
local ticks = require 'mare.draw.ticks'

local contours = {}

-- Which edges of a square a line joins, by the corners above the level (1 south-west, 2 south-east,
-- 4 north-east, 8 north-west); edges are s, e, n, w. Saddles, 5 and 10, depend on the middle.
local joined = {
    { 'w', 's' }, { 's', 'e' }, { 'w', 'e' }, { 'e', 'n' }, nil, { 's', 'n' }, { 'w', 'n' },
    { 'n', 'w' }, { 'n', 's' }, nil, { 'n', 'e' }, { 'e', 'w' }, { 'e', 's' }, { 's', 'w' },
}
local saddle = {
    [5] = { high = { 'w', 'n', 's', 'e' }, low = { 'w', 's', 'e', 'n' } },
    [10] = { high = { 's', 'w', 'n', 'e' }, low = { 's', 'e', 'n', 'w' } },
}

-- Names of the edges of square (i, j): twice the sample at its west or south end, plus one for
-- those that go north.
local function edge_names(at, nx)
    return { s = 2 * at, w = 2 * at + 1, n = 2 * (at + nx), e = 2 * (at + 1) + 1 }
end

-- How far angles are from a level, within half a period: 0 is the level then.
local function wrapped(data, n, level, period)
    local out = {}
    for k = 0, n - 1 do
        local turns = (data[k] - level) / period
        out[k] = (turns - math.floor(turns + 0.5)) * period
    end
    return out
end

-- The neighbours on the lines of every edge that the level crosses: links[edge] = { a, b }. Squares
-- whose corners differ by more than `most` have none.
local function link(data, nx, ny, level, most)
    local links, order = {}, {}
    local function connect(a, b)
        if not links[a] then links[a], order[#order + 1] = {}, a end
        table.insert(links[a], b)
    end
    for j = 0, ny - 2 do
        for i = 0, nx - 2 do
            local at = j * nx + i
            local a, b, c, d = data[at], data[at + 1], data[at + nx + 1], data[at + nx]
            local sum = a + b + c + d
            local case = (a > level and 1 or 0) + (b > level and 2 or 0) + (c > level and 4 or 0)
                + (d > level and 8 or 0)
            local spread = math.max(a, b, c, d) - math.min(a, b, c, d)
            if case > 0 and case < 15 and sum - sum == 0 and spread <= most then
                local edges = edge_names(at, nx)
                local pairs_of = joined[case]
                    or saddle[case][sum > 4 * level and 'high' or 'low']
                for k = 1, #pairs_of, 2 do
                    local from, to = edges[pairs_of[k]], edges[pairs_of[k + 1]]
                    connect(from, to)
                    connect(to, from)
                end
            end
        end
    end
    return links, order
end

-- Where the level crosses an edge.
local function crossing(data, nx, level, edge)
    local at = math.floor(edge / 2)
    local i, j, along_y = at % nx, math.floor(at / nx), edge % 2 == 1
    local low, high = data[at], data[at + (along_y and nx or 1)]
    local share = (level - low) / (high - low)
    return along_y and i or i + share, along_y and j + share or j
end

-- Lines as arrays { x1, y1, x2, y2, ... } of positions in samples; closed ones repeat their start.
-- period: of data that are angles; there is no line where they jump, nor where all of them meet.
function contours.lines(data, nx, ny, level, period)
    if period then data, level = wrapped(data, nx * ny, level, period), 0 end
    local links, order = link(data, nx, ny, level, period and period / 2 or math.huge)
    local lines, used = {}, {}
    local function follow(edge)
        local line, before = {}, nil
        repeat
            local x, y = crossing(data, nx, level, edge)
            line[#line + 1], line[#line + 2] = x, y
            used[edge] = true
            local one, other = links[edge][1], links[edge][2]
            local following = one ~= before and one or other
            edge, before = following, edge
        until not edge or used[edge]
        if edge and edge ~= before and #line > 4 then
            line[#line + 1], line[#line + 2] = line[1], line[2]
        end
        lines[#lines + 1] = line
    end
    for _, edge in ipairs(order) do
        if not links[edge][2] and not used[edge] then follow(edge) end      -- from open ends
    end
    for _, edge in ipairs(order) do
        if not used[edge] then follow(edge) end
    end
    return lines
end

-- wanted: how many, or an array of levels; period: of angles, which it divides evenly
function contours.levels(wanted, range, period)
    if type(wanted) == 'table' then return wanted end
    if period then
        local levels = {}
        for k = 1, wanted do levels[k] = (k - 1) * period / wanted end
        return levels
    end
    local step = ticks.step(range[1], range[2], wanted + 1)
    local levels = {}
    for _, level in ipairs(ticks.values(range[1], range[2], step)) do
        local inside = (level - range[1]) / (range[2] - range[1])
        if inside > 1e-6 and inside < 1 - 1e-6 then levels[#levels + 1] = level end
    end
    return levels
end

-- Dark lines on light ground and light ones on dark, if the ground is the same field in a colour
-- map; else dark ones with a light rim.
local function line_colour(level, range, map)
    if not map then return axes.ink, axes.paper end
    local share = (level - range[1]) / (range[2] - range[1])
    local top = colours.size - 1
    local r, g, b = colours.split(map[math.max(0, math.min(top, math.floor(share * top + 0.5)))])
    return 0.299 * r + 0.587 * g + 0.114 * b < 0.45 and 0xe8e8e8 or axes.ink
end

-- Draws into a clipped box. field: { data, nx, ny, place = function(x, y) from samples to pixels,
-- levels, range, map = of the ground or nil, period = of angles or nil }; negative levels are
-- dashed where there are positive ones too.
function contours.draw(canvas, field, em)
    local width = math.max(1, 0.085 * em)
    local both = field.range[1] < 0 and field.range[2] > 0 and not field.period
    for _, level in ipairs(field.levels) do
        local colour, rim = line_colour(level, field.range, field.map)
        local dash = both and level < 0 and 0.45 * em or nil
        local lines = contours.lines(field.data, field.nx, field.ny, level, field.period)
        for _, line in ipairs(lines) do
            local function place(k) return field.place(line[2 * k - 1], line[2 * k]) end
            if rim then canvas:curve(#line / 2, place, 2 * width, rim, dash) end
            canvas:curve(#line / 2, place, width, colour, dash)
        end
    end
end

return contours
