-- Makes the bed of an ocean: depth of still water (m, positive down) in every cell of the grid and
-- in the ghost cells around it, on the host. Finite-volume schemes have the bed at corners of
-- cells, which the depth at a centre is the mean of, so that a face has one depth for both its
-- sides; C-grid schemes have it at centres. A depth is a number, a function(x, y), what
-- mare.gridded makes of a file, or { nx =, ny =, data = } with one number for each cell, or each
-- corner, x fastest, south first. NaN is land.

local boundary = require 'mare.array.boundary'
local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local scheme_sides = require 'mare.schemes.sides'

local bed = {}

local Bed = {}
Bed.__index = Bed

bed.land = -1e30        -- the depth of land for ever: is_land() of kernels/physics/ocean/domain.h
bed.below_is_land = -1e29

local function is_land(depth)
    return depth < bed.below_is_land
end

-- ---- where depths come from: functions of a cell and of a corner ----

local function from_function(f, grid)
    return function(i, j) return f(grid:x_centre(i), grid:y_centre(j)) end,
        function(i, j) return f(grid.x[1] + i * grid.dx, grid.y[1] + j * grid.dy) end
end

local data_fields = { nx = 'number', ny = 'number', data = 'any' }

local function count_of(data)
    if type(data) == 'table' then return data.count or #data end
    return select(2, memory.elements(data)) or math.huge
end

-- Returns the numbers of a Lua array, of host memory or of cdata.
local function reader(given)
    local data = given.data
    if type(data) == 'table' and data.data then data = data.data end
    local base = type(data) == 'table' and 1 or 0
    return function(i, j) return data[j * given.nx + i + base] end
end

local function from_data(given, grid)
    errors.fields('ocean: depth', given, data_fields)
    local nx, ny = grid.nx, grid.ny
    local centred = given.nx == nx and given.ny == ny
    if not centred and not (given.nx == nx + 1 and given.ny == ny + 1) then
        errors.argument('ocean: depth of %s x %s numbers: the grid has %d x %d cells and '
            .. '%d x %d corners', tostring(given.nx), tostring(given.ny), nx, ny, nx + 1, ny + 1)
    end
    local count = given.data and count_of(given.data) or 0
    if count < given.nx * given.ny then
        errors.argument('ocean: depth: %d numbers of %d x %d are missing',
            given.nx * given.ny - count, given.nx, given.ny)
    end
    local at = reader(given)
    if centred then return at, nil end
    return function(i, j)
        return 0.25 * ((at(i, j) + at(i + 1, j + 1)) + (at(i + 1, j) + at(i, j + 1)))
    end, at
end

local function source_of(given, grid)
    if type(given) == 'number' then
        local function constant() return given end
        return constant, constant
    elseif type(given) == 'function' then
        return from_function(given, grid)
    elseif type(given) == 'table' and given.at then
        return from_function(function(x, y) return given:at(0, x, y) end, grid)
    elseif type(given) == 'table' then
        return from_data(given, grid)
    end
    errors.argument('ocean: depth is missing: a number of metres, a function(x, y) or '
        .. '{ nx =, ny =, data = } is wanted, not %s', type(given))
end

-- ---- checks ----

local function refuse(self, i, j, value, wanted)
    local g = self.grid
    errors.argument('ocean: depth is %s in cell (%d, %d) at x = %g, y = %g: %s', tostring(value), i,
        j, g:x_centre(i), g:y_centre(j), wanted)
end

-- Returns the depth of a cell as the options have it, bed.land where there is land.
local function depth_of(self, value, i, j)
    local o = self.options
    if type(value) ~= 'number' then refuse(self, i, j, value, 'must be a number, NaN for land') end
    if value ~= value or o.land and value <= o.land then return bed.land end
    if value - value ~= 0 then refuse(self, i, j, value, 'must be finite, NaN for land') end
    if self.staggered and value == 0 then return bed.land end
    if self.staggered and value < 0 then
        refuse(self, i, j, value, 'this scheme has no drying, it must be positive, or NaN or 0 for '
            .. 'land (land = 0 takes all above still water for land)')
    end
    return o.minimum_depth and math.max(value, o.minimum_depth) or value
end

-- ---- ghost cells ----

-- Whether the elevation is known along a side, or a piece of it.
local function is_elevation(kind)
    if type(kind) ~= 'table' then return false end
    for _, piece in ipairs(kind) do
        if is_elevation(piece.side) then return true end
    end
    return kind.kind == 'elevation'
end

-- Returns what lies beyond a side at a coordinate along it: 'periodic', 'land', 'level' or
-- 'mirror', the mirror image of the bed within. Where the elevation is known it must be that:
-- beside a bed that goes on level, water with a mirrored transport has another velocity than
-- within, from which flow across the side gains energy wherever the bed slopes. Staggered schemes
-- have an unknown on such a side, and no image.
local function beyond(kind, coordinate, staggered)
    local here = type(kind) == 'table' and scheme_sides.piece_at(kind, coordinate) or kind
    if here == 'periodic' then return here end
    if boundary.is_wall(here) then return (staggered or here ~= kind) and 'land' or 'mirror' end
    return not staggered and is_elevation(kind) and 'mirror' or 'level'
end

-- Returns the cell that ghost cell k of n stands for, or nil for land.
local function cell_for(kinds, k, n, coordinate, staggered)
    if k >= 0 and k < n then return k end
    local what = beyond(k < 0 and kinds[1] or kinds[2], coordinate, staggered)
    if what == 'land' then return nil end
    if what == 'periodic' then return k % n end
    if what == 'level' then return math.max(0, math.min(n - 1, k)) end
    return k < 0 and -1 - k or 2 * n - 1 - k
end

-- Does the same for corners 0 .. n.
local function corner_for(kinds, k, n, coordinate)
    if kinds[1] == 'periodic' then return k % n end
    if k >= 0 and k <= n then return k end
    if beyond(k < 0 and kinds[1] or kinds[2], coordinate) == 'mirror' then
        return k < 0 and -k or 2 * n - k
    end
    return math.max(0, math.min(n, k))
end

-- Calls f(i, j) for all cells with their halo.
local function each(self, f)
    local halo = self.grid.halo
    for j = -halo, self.grid.ny + halo - 1 do
        for i = -halo, self.grid.nx + halo - 1 do f(i, j, self:index(i, j)) end
    end
end

local function set_ghosts(self)
    local g, depth = self.grid, self.depth
    each(self, function(i, j, at)
        local from_i = cell_for(self.kinds.x, i, g.nx, g:y_centre(j), self.staggered)
        local from_j = cell_for(self.kinds.y, j, g.ny, g:x_centre(i), self.staggered)
        depth[at] = from_i and from_j and depth[self:index(from_i, from_j)] or bed.land
    end)
end

-- ---- corners ----

-- Returns the mean depth of the cells around a corner that are not land, 0 where all are.
local function mean_around(self, i, j)
    local g, sum, count = self.grid, 0, 0
    for dj = -1, 0 do
        for di = -1, 0 do
            local a, b = i + di, j + dj
            if self.kinds.x[1] == 'periodic' then a = a % g.nx end
            if self.kinds.y[1] == 'periodic' then b = b % g.ny end
            if a >= 0 and a < g.nx and b >= 0 and b < g.ny then
                local depth = self.depth[self:index(a, b)]
                if not is_land(depth) then sum, count = sum + depth, count + 1 end
            end
        end
    end
    return count > 0 and sum / count or 0
end

local function corner_depth(self, value, i, j)
    if not value then return mean_around(self, i, j) end
    local depth = value(i, j)
    if depth ~= depth or depth - depth ~= 0 then return mean_around(self, i, j) end
    local least = self.options.minimum_depth
    return least and math.max(depth, least) or depth
end

-- Computes corners of the grid, then those of ghost cells; centres are their means, in this
-- precision and to the same bits where x and y change places.
local function set_corners(self, value)
    local g, depth, corner = self.grid, self.depth, self.corner
    local known = memory.array(self.precision, (g.nx + 1) * (g.ny + 1))
    for j = 0, g.ny do
        for i = 0, g.nx do
            known[j * (g.nx + 1) + i] = corner_depth(self, value, i, j)
        end
    end
    local function at(i, j)
        local x, y = g:x_centre(i), g:y_centre(j)
        i, j = corner_for(self.kinds.x, i, g.nx, y), corner_for(self.kinds.y, j, g.ny, x)
        return known[j * (g.nx + 1) + i]
    end
    each(self, function(i, j, k)
        corner[k] = at(i, j)
        if not is_land(depth[k]) then
            depth[k] = 0.25 * ((at(i, j) + at(i + 1, j + 1)) + (at(i + 1, j) + at(i, j + 1)))
        end
    end)
end

-- ---- the whole ----

local function set_centres(self, value)
    local g, water, most = self.grid, 0, 0
    for j = 0, g.ny - 1 do
        for i = 0, g.nx - 1 do
            local depth = depth_of(self, value(i, j), i, j)
            if not is_land(depth) then
                water, most = water + 1, math.max(most, math.abs(depth))
            end
            self.depth[self:index(i, j)] = depth
        end
    end
    if water == 0 then
        errors.argument('ocean: depth: all %d x %d cells are land, some must be water', g.nx, g.ny)
    end
    self.water, self.deepest = water, most
end

-- Gives cells of a tide that are land the mean depth of the water beside them.
local function open_cells(self, cells)
    local g, found = self.grid, {}
    for k, cell in ipairs(cells) do
        local i, j, sum, count = cell[1], cell[2], 0, 0
        for _, near in ipairs { { i - 1, j }, { i + 1, j }, { i, j - 1 }, { i, j + 1 } } do
            local a, b = g:wrapped(self.boundaries, near[1], near[2])
            local inside = a >= 0 and a < g.nx and b >= 0 and b < g.ny
            if inside and not self:is_land(a, b) then
                sum, count = sum + self:depth_at(a, b), count + 1
            end
        end
        if self:is_land(i, j) then
            if count == 0 then
                errors.argument('ocean: tide: cell (%d, %d) has no water beside it', i, j)
            end
            found[k] = sum / count
        end
    end
    for k, depth in pairs(found) do
        self.depth[self:index(cells[k][1], cells[k][2])] = depth
        self.water = self.water + 1
    end
end

-- Makes a bed. options: { depth =, land = depth from which on it is land, minimum_depth = of the
-- rest }; boundaries: of exchange.boundaries. Raises what is wrong with a depth, and where.
function bed.new(grid, boundaries, options, precision, staggered)
    local count = (grid.nx + 2 * grid.halo) * (grid.ny + 2 * grid.halo)
    local self = setmetatable({
        grid = grid, boundaries = boundaries, options = options, precision = precision,
        staggered = staggered, count = count,
        kinds = { x = { boundaries.west, boundaries.east },
            y = { boundaries.south, boundaries.north } },
        depth = memory.array(precision, count),
    }, Bed)
    local centre, corner = source_of(options.depth, grid)
    set_centres(self, centre)
    if options.tide then open_cells(self, options.tide.cells) end
    set_ghosts(self)
    if not staggered then
        self.corner = memory.array(precision, count)
        set_corners(self, corner)
    end
    return self
end

-- Returns the element of cell (i, j), ghost cells too, in `depth` and `corner`; `count` of them.
function Bed:index(i, j)
    local halo = self.grid.halo
    return (j + halo) * (self.grid.nx + 2 * halo) + i + halo
end

function Bed:depth_at(i, j)
    return self.depth[self:index(i, j)]
end

-- Whether any cell is land, or any line of the grid ends at land: a piece of a side that is a wall.
function Bed:has_coast()
    if self.water < self.grid.cells then return true end
    for _, given in pairs(self.boundaries) do
        for _, piece in ipairs(type(given) == 'table' and given or {}) do
            if boundary.is_wall(piece.side) then return true end
        end
    end
    return false
end

function Bed:is_land(i, j)
    return is_land(self.depth[self:index(i, j)])
end

return bed
