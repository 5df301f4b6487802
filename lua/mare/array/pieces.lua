-- What of a box of cells, or of a list of points, lies in which part: an array of { state, i, j =
-- its first cell, counted in the part, step, columns, rows = how many cells, column, row = where
-- the first is in the box }. Parts without any of them have no piece.

local pieces = {}

-- First index and number of the sampled cells first, first + step, ... (count of them) that fall
-- into cells low .. low + length - 1.
local function overlap(first, step, count, low, length)
    local from = math.max(0, math.ceil((low - first) / step))
    local to = math.min(count - 1, math.floor((low + length - 1 - first) / step))
    return from, to - from + 1
end

-- c: { i0, j0 = the first cell, nx, ny = how many, step }
function pieces.of_box(states, c)
    local list = {}
    for _, s in ipairs(states) do
        local part = s.part
        local column, columns = overlap(c.i0, c.step, c.nx, part.i0, part.nx)
        local row, rows = overlap(c.j0, c.step, c.ny, part.j0, part.ny)
        if columns > 0 and rows > 0 then
            list[#list + 1] = { state = s, step = c.step, column = column, columns = columns,
                row = row, rows = rows, i = c.i0 + column * c.step - part.i0,
                j = c.j0 + row * c.step - part.j0 }
        end
    end
    return list
end

-- points: { { i, j }, ... }, a row of a box
function pieces.of_points(states, points)
    local list = {}
    for _, s in ipairs(states) do
        for k, point in ipairs(points) do
            local i, j = point[1] - s.part.i0, point[2] - s.part.j0
            if i >= 0 and i < s.part.nx and j >= 0 and j < s.part.ny then
                list[#list + 1] = { state = s, i = i, j = j, step = 1, column = k - 1,
                    columns = 1, row = 0, rows = 1 }
            end
        end
    end
    return list
end

-- All cells of all parts.
function pieces.whole(states)
    local list = {}
    for k, s in ipairs(states) do
        list[k] = { state = s, i = 0, j = 0, step = 1, column = s.part.i0, columns = s.part.nx,
            row = s.part.j0, rows = s.part.ny }
    end
    return list
end

return pieces
