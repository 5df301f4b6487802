-- Resamples a field to the pixels of a picture. Every pixel shows the mean of
-- the field over its own area: cells larger than pixels have crisp edges,
-- smaller ones are averaged. Row 0 of the field is the lowest row of the
-- picture.

local colours = require 'mare.draw.colours'
local errors = require 'bindings.errors'
local memory = require 'bindings.memory'

local raster = {}

-- Refuses what does not hold n numbers from [0] on, as far as can be told: a bare pointer has no
-- length.
function raster.check(data, n)
    local kind, have = type(data), n
    if kind == 'cdata' then
        have = select(2, memory.elements(data)) or n
    elseif kind ~= 'table' then
        errors.argument('picture: the data are %s, not an array of numbers', kind)
    elseif not (tonumber(data[0]) and tonumber(data[n - 1])) then
        errors.argument('picture: %d numbers are wanted, the data have none at [%d]', n,
            tonumber(data[0]) and n - 1 or 0)
    end
    if have < n then
        errors.argument('picture: %d numbers are wanted, the data have %d', n, have)
    end
end

-- For each of m pixels over n cells, returns the first and the last cell that
-- it touches and how much of them it covers (in cells). The cells between are
-- covered completely.
local function spans(n, m)
    local first, last, head, tail = {}, {}, {}, {}
    for p = 0, m - 1 do
        local from, to = p * n / m, (p + 1) * n / m
        local i, j = math.floor(from + 1e-9), math.ceil(to - 1e-9) - 1
        first[p], last[p] = i, j
        head[p], tail[p] = math.min(to, i + 1) - from, j > i and to - j or 0
    end
    return { first = first, last = last, head = head, tail = tail }
end

-- Adds `weight` times the means of one row of cells to the sums of the pixels.
local function add_row(sums, data, offset, columns, width, weight)
    local first, last, head, tail = columns.first, columns.last, columns.head, columns.tail
    for p = 0, width - 1 do
        local i, j = first[p], last[p]
        local sum = head[p] * data[offset + i]
        if j > i then
            for k = i + 1, j - 1 do sum = sum + data[offset + k] end
            sum = sum + tail[p] * data[offset + j]
        end
        sums[p] = sums[p] + weight * sum
    end
end

-- Calls put(row, means) for each pixel row from the top; means[0 .. width - 1].
function raster.resample(data, nx, ny, width, height, put)
    raster.check(data, nx * ny)
    local columns, rows, sums = spans(nx, width), spans(ny, height), {}
    local area = nx / width * (ny / height)
    for row = 0, height - 1 do
        local p = height - 1 - row
        for q = 0, width - 1 do sums[q] = 0 end
        for j = rows.first[p], rows.last[p] do
            local weight = 1
            if j == rows.first[p] then
                weight = rows.head[p]
            elseif j == rows.last[p] then
                weight = rows.tail[p]
            end
            add_row(sums, data, j * nx, columns, width, weight / area)
        end
        put(row, sums)
    end
end

-- Returns the smallest and the largest finite value, or nil if there is none.
function raster.range(data, n)
    raster.check(data, n)
    local low, high = math.huge, -math.huge
    for i = 0, n - 1 do
        local v = tonumber(data[i])
        if v - v == 0 then
            if v < low then low = v end
            if v > high then high = v end
        end
    end
    if low <= high then return low, high end
end

-- Colours one row of values; returns whether any of them was not a number.
function raster.colour_row(pixels, offset, values, width, range, map, missing_colour)
    local low, high = range[1], range[2]
    local scale, top, missing = colours.size / (high - low), colours.size - 1, false
    for p = 0, width - 1 do
        local v = (values[p] - low) * scale
        if v ~= v then
            pixels[offset + p] = missing_colour
            missing = true
        else
            if v < 0 then v = 0 elseif v > top then v = top end
            pixels[offset + p] = map[math.floor(v)]
        end
    end
    return missing
end

-- Returns the values of the cells { i0, j0, nx, ny, step } of a field with rows
-- of nx.
function raster.thinned(data, nx, cells)
    local out = {}
    raster.check(data, (cells.j0 + (cells.ny - 1) * cells.step) * nx + cells.i0
        + (cells.nx - 1) * cells.step + 1)
    for j = 0, cells.ny - 1 do
        local row = (cells.j0 + j * cells.step) * nx + cells.i0
        for i = 0, cells.nx - 1 do
            out[j * cells.nx + i] = tonumber(data[row + i * cells.step])
        end
    end
    return out
end

return raster
