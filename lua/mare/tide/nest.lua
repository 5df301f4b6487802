-- Makes basins from a basin (basin.lua): a window of it, whose edge has the
-- tide that a run of the whole basin found; and a basin with finer cells, whose
-- bed, shore and tide on the open boundary are interpolated. Both are
-- descriptions, which basin.lua completes.

local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local tides = require 'mare.forcing.tides'

local nest = {}

-- ---- finer cells ----

-- Returns, for each of n * factor finer cells along an axis, the coarse cells
-- on both sides of its centre and the weight of the second.
local function places(n, factor)
    local low, high, weight = {}, {}, {}
    for k = 0, n * factor - 1 do
        local at = (k + 0.5) / factor - 0.5
        low[k] = math.max(0, math.floor(at))
        high[k] = math.min(n - 1, math.floor(at) + 1)
        weight[k] = at - math.floor(at)
    end
    return { low = low, high = high, weight = weight, n = n * factor, factor = factor }
end

-- Returns the depths of the finer cells. A cell is water if at least half of
-- its bilinear weights belong to water; its depth is the mean of those.
local function depths_of(basin, x, y)
    local depths, from, nx = memory.array('double', x.n * y.n), basin.depths, basin.nx
    for j = 0, y.n - 1 do
        local south, north, b = y.low[j] * nx, y.high[j] * nx, y.weight[j]
        for i = 0, x.n - 1 do
            local west, east, a = x.low[i], x.high[i], x.weight[i]
            local sum, wet = 0, 0
            for corner = 0, 3 do
                local d = from[(corner < 2 and south or north) + (corner % 2 == 0 and west or east)]
                if d == d then
                    local share = (corner < 2 and 1 - b or b) * (corner % 2 == 0 and 1 - a or a)
                    sum, wet = sum + share * d, wet + share
                end
            end
            depths[j * x.n + i] = wet >= 0.5 and sum / wet or 0 / 0
        end
    end
    return depths
end

-- Returns the open cells of a basin by their place.
local function by_place(basin)
    local found = {}
    for _, cell in ipairs(basin.open or {}) do found[cell[2] * basin.nx + cell[1]] = cell end
    return found
end

-- Returns the tidal constants of a finer cell (i, j): the weighted mean of the
-- open cells around it.
local function constants_at(basin, open, x, y, i, j)
    local a, b, found = x.weight[i], y.weight[j], { i, j }
    local around = {
        { x.low[i], y.low[j], (1 - a) * (1 - b) }, { x.high[i], y.low[j], a * (1 - b) },
        { x.low[i], y.high[j], (1 - a) * b }, { x.high[i], y.high[j], a * b },
    }
    for _, name in ipairs(basin.names) do
        local re, im, total = 0, 0, 0
        for _, near in ipairs(around) do
            local cell = open[near[2] * basin.nx + near[1]]
            if cell then
                local lag = math.rad(cell[name][2])
                re = re + near[3] * cell[name][1] * math.cos(lag)
                im = im + near[3] * cell[name][1] * math.sin(lag)
                total = total + near[3]
            end
        end
        found[name] = { tides.polar(re / total, im / total) }
    end
    return found
end

-- Returns the open cells: those finer cells of open ones that touch water which
-- is not open. The others become land.
local function open_of(basin, x, y, depths)
    local open, list = by_place(basin), {}
    local function is_inner(i, j)
        if i < 0 or i >= x.n or j < 0 or j >= y.n then return false end
        local parent = math.floor(j / y.factor) * basin.nx + math.floor(i / x.factor)
        local depth = depths[j * x.n + i]
        return depth == depth and not open[parent]
    end
    for _, cell in ipairs(basin.open or {}) do
        for j = cell[2] * y.factor, (cell[2] + 1) * y.factor - 1 do
            for i = cell[1] * x.factor, (cell[1] + 1) * x.factor - 1 do
                local k = j * x.n + i
                if not (is_inner(i - 1, j) or is_inner(i + 1, j) or is_inner(i, j - 1)
                    or is_inner(i, j + 1)) then
                    depths[k] = 0 / 0
                elseif depths[k] == depths[k] then
                    list[#list + 1] = constants_at(basin, open, x, y, i, j)
                end
            end
        end
    end
    return list
end

-- Divides each cell into so many cells along x and y.
function nest.refine(basin, along_x, along_y)
    for _, factor in ipairs { along_x, along_y } do
        if factor % 1 ~= 0 or factor < 1 then
            errors.argument('basin: refined by %s, must be a whole number from 1', tostring(factor))
        end
    end
    local x, y = places(basin.nx, along_x), places(basin.ny, along_y)
    local depths = depths_of(basin, x, y)
    return { nx = x.n, ny = y.n, x = basin.x, y = basin.y, depths = depths,
        open = open_of(basin, x, y, depths) }
end

-- ---- a window ----

-- Returns the indices of the cells whose centres lie within a range of an axis.
local function range_of(basin, box, first, axis, n)
    local edges = basin[axis]
    local d = (edges[2] - edges[1]) / n
    local low = math.ceil((box[first] - edges[1]) / d - 0.5 - 1e-9)
    local high = math.floor((box[first + 1] - edges[1]) / d - 0.5 + 1e-9)
    if box[first] < edges[1] - 1e-9 or box[first + 1] > edges[2] + 1e-9 or high - low < 7 then
        errors.usage('%s: window %g,%g,%g,%g: %s is from %g to %g in this grid, of which at least '
            .. '8 cells are wanted', basin.path, box[1], box[2], box[3], box[4],
            axis == 'x' and 'longitude' or 'latitude', edges[1], edges[2])
    end
    return low, high - low + 1, { edges[1] + low * d, edges[1] + (low + high - low + 1) * d }
end

-- Returns the water on the edge of the window, with the tide of mare.harmonics
-- there.
local function edge_of(basin, window, found)
    local known, list = by_place(basin), {}
    for j = 0, window.ny - 1 do
        for i = 0, window.nx - 1 do
            local k = (j + window.j0) * basin.nx + i + window.i0
            local at_edge = i == 0 or j == 0 or i == window.nx - 1 or j == window.ny - 1
            local depth = basin.depths[k]
            if (at_edge or known[k]) and depth == depth then
                local cell = { i, j }
                for _, name in ipairs(window.names) do
                    cell[name] = known[k] and known[k][name]
                        or { found[name].amplitude[k], found[name].phase[k] }
                end
                list[#list + 1] = cell
            end
        end
    end
    return list
end

-- Cuts out a window. box: { west, east, south, north } (degrees). found:
-- amplitudes and phases of every cell of the basin by constituent. names: the
-- constituents to use.
function nest.window(basin, box, found, names)
    local window = { names = names }
    window.i0, window.nx, window.x = range_of(basin, box, 1, 'x', basin.nx)
    window.j0, window.ny, window.y = range_of(basin, box, 3, 'y', basin.ny)
    window.depths = memory.array('double', window.nx * window.ny)
    for j = 0, window.ny - 1 do
        for i = 0, window.nx - 1 do
            window.depths[j * window.nx + i] =
                basin.depths[(j + window.j0) * basin.nx + i + window.i0]
        end
    end
    window.open = edge_of(basin, window, found)
    return window
end

-- Refuses a box that window() would refuse, before the costly run that finds
-- the tide.
function nest.check(basin, box)
    range_of(basin, box, 1, 'x', basin.nx)
    range_of(basin, box, 3, 'y', basin.ny)
end

return nest
