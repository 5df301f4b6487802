-- Contour lines by marching squares. The corners of the squares are the
-- samples, (0, 0) to (nx - 1, ny - 1). A square with a corner that is not a
-- number has no line. A level crosses an edge between two samples at most once,
-- so lines are chains of edges.

local axes = require 'mare.draw.axes'
local colours = require 'mare.draw.colours'
local ticks = require 'mare.draw.ticks'

local contours = {}

-- Which edges (s, e, n, w) of a square a line joins, indexed by the sum of the
-- corners above the level: 1 south-west, 2 south-east, 4 north-east, 8
-- north-west. The saddles 5 and 10 depend on the value in the middle.
local joined = {
    { 'w', 's' }, { 's', 'e' }, { 'w', 'e' }, { 'e', 'n' }, nil, { 's', 'n' }, { 'w', 'n' },
    { 'n', 'w' }, { 'n', 's' }, nil, { 'n', 'e' }, { 'e', 'w' }, { 'e', 's' }, { 's', 'w' },
}
local saddle = {
    [5] = { high = { 'w', 'n', 's', 'e' }, low = { 'w', 's', 'e', 'n' } },
    [10] = { high = { 's', 'w', 'n', 'e' }, low = { 's', 'e', 'n', 'w' } },
}

-- Returns the numbers of a square's edges: twice the sample at the west or
-- south end, plus one for edges that go north.
local function edge_names(at, nx)
    return { s = 2 * at, w = 2 * at + 1, n = 2 * (at + nx), e = 2 * (at + 1) + 1 }
end

-- Returns the distances of angles from a level, within half a period; the level
-- becomes 0.
local function wrapped(data, n, level, period)
    local out = {}
    for k = 0, n - 1 do
        local turns = (data[k] - level) / period
        out[k] = (turns - math.floor(turns + 0.5)) * period
    end
    return out
end

-- Returns the neighbours, links[edge] = { a, b }, of each edge that the level
-- crosses. Squares whose corners differ by more than `most` have no line.
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

-- Returns where the level crosses an edge.
local function crossing(data, nx, level, edge)
    local at = math.floor(edge / 2)
    local i, j, along_y = at % nx, math.floor(at / nx), edge % 2 == 1
    local low, high = data[at], data[at + (along_y and nx or 1)]
    local share = (level - low) / (high - low)
    return along_y and i or i + share, along_y and j + share or j
end

-- Returns lines as arrays { x1, y1, x2, y2, ... } of positions in samples;
-- closed lines repeat their first point. period: set if the data are angles;
-- then lines stop where the angle jumps, and where all angles meet.
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
        if not links[edge][2] and not used[edge] then follow(edge) end      -- start at open ends
    end
    for _, edge in ipairs(order) do
        if not used[edge] then follow(edge) end
    end
    return lines
end

-- Returns the levels. wanted: their number or an array. period: of angles,
-- which the levels divide evenly.
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

-- Returns the colours of a line and its outline. On a colour map of the same
-- field, lines are dark on light colours and light on dark ones; otherwise they
-- are dark with a light outline.
local function line_colour(level, range, map)
    if not map then return axes.ink, axes.paper end
    local share = (level - range[1]) / (range[2] - range[1])
    local top = colours.size - 1
    local r, g, b = colours.split(map[math.max(0, math.min(top, math.floor(share * top + 0.5)))])
    return 0.299 * r + 0.587 * g + 0.114 * b < 0.45 and 0xe8e8e8 or axes.ink
end

-- Draws the lines; the canvas is clipped to the box. field: { data, nx, ny,
-- place = function(i, j) from samples to pixels, levels, range, map = the
-- colour map below or nil, period = of angles or nil }. Negative levels are
-- dashed if there are positive ones too.
function contours.draw(canvas, field, em)
    local width = math.max(1, 0.085 * em)
    local both = field.range[1] < 0 and field.range[2] > 0 and not field.period
    for _, level in ipairs(field.levels) do
        local colour, outline = line_colour(level, field.range, field.map)
        local dash = both and level < 0 and 0.45 * em or nil
        local lines = contours.lines(field.data, field.nx, field.ny, level, field.period)
        for _, line in ipairs(lines) do
            local function place(k) return field.place(line[2 * k - 1], line[2 * k]) end
            if outline then canvas:curve(#line / 2, place, 2 * width, outline, dash) end
            canvas:curve(#line / 2, place, width, colour, dash)
        end
    end
end

return contours
