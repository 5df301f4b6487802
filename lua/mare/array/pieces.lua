-- Divides a box of cells, or a list of points, among the parts. A piece is what
-- lies in one part: { state, i, j = its first cell, counted in the part, step,
-- columns, rows = how many cells, column, row = where the first is in the box }.
-- A part that has none of the cells has no piece.

local pieces = {}

-- Returns the first index and the number of those sampled cells first, first +
-- step, ... (count of them) that fall into cells low .. low + length - 1.
local function overlap(first, step, count, low, length)
    local from = math.max(0, math.ceil((low - first) / step))
    local to = math.min(count - 1, math.floor((low + length - 1 - first) / step))
    return from, to - from + 1
end

-- Returns the pieces of a box: every step-th cell of each row and column.
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

-- Returns the pieces of points { { i, j }, ... }, which are a box of one row.
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

-- Returns a piece of all cells for each part.
function pieces.whole(states)
    local list = {}
    for k, s in ipairs(states) do
        list[k] = { state = s, i = 0, j = 0, step = 1, column = s.part.i0, columns = s.part.nx,
            row = s.part.j0, rows = s.part.ny }
    end
    return list
end

return pieces
