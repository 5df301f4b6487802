-- Describes a uniform grid, Cartesian or of longitude and latitude, and splits it
-- into px x py parts. Cells are counted from 0, x is the fast direction, north is
-- +y. Everything about a part follows from the whole grid, never from the split
-- itself. This is one half of why every decomposition gives the same bits;
-- exchange.lua is the other.

local errors = require 'bindings.errors'

local grid = {}

local Grid = {}
Grid.__index = Grid

grid.sides = { 'west', 'east', 'south', 'north' }

local max_cells = 2 ^ 30    -- along one axis; kernels index rows and columns with 32-bit integers

local function fail(message, ...)
    errors.argument('grid: ' .. message, ...)
end

local function check_cells(name, n, halo)
    if type(n) ~= 'number' or n % 1 ~= 0 then
        fail('%s = %s, must be a whole number', name, tostring(n))
    end
    if n < 2 * halo or n > max_cells then
        fail('%s = %.0f cells, must be from %d to %d', name, n, 2 * halo, max_cells)
    end
end

local function check_range(name, range)
    if type(range) ~= 'table' or not (range[1] and range[2] and range[1] < range[2]) then
        fail('%s must be { low, high } with low < high', name)
    end
    if range[2] - range[1] == math.huge then fail('%s must be finite', name) end
end

-- Refuses degrees that leave the sphere or go around it more than once.
local function check_degrees(x, y)
    if x[2] - x[1] > 360 then fail('x covers %g degrees of longitude, at most 360', x[2] - x[1]) end
    if y[1] < -90 or y[2] > 90 then
        fail('y is from %g to %g degrees of latitude, must be within -90 to 90', y[1], y[2])
    end
end

grid.coordinates = {
    cartesian = 'x and y are lengths',
    ['longitude-latitude'] = 'x and y are degrees east and north on a sphere',
}

local fields = {
    nx = 'any', ny = 'any', x = 'any', y = 'any', halo = 'any', coordinates = grid.coordinates,
    radius = 'number', angle = 'any',
}

local function check_angle(angle, spherical)
    if spherical and angle then fail('angle is for coordinates = cartesian') end
    local kind = type(angle)
    if kind ~= 'nil' and kind ~= 'function' and not (kind == 'number' and angle - angle == 0) then
        fail('angle = %s, must be degrees or a function(x, y)', tostring(angle))
    end
end

-- Makes a grid. desc: { nx =, ny =, x = { low, high }, y = { low, high }, halo =
-- ghost cells on each side (2), coordinates = 'cartesian' or 'longitude-latitude'
-- (x and y in degrees), radius = that of the sphere (6371000 m), angle = degrees
-- from east to the x axis, anticlockwise, or a function(x, y) of them, if a
-- Cartesian grid is a map of the earth }
function grid.new(desc)
    errors.fields('grid', desc, fields)
    local halo = desc.halo or 2
    if type(halo) ~= 'number' or halo % 1 ~= 0 or halo < 1 then
        fail('halo = %s, must be a whole number from 1', tostring(halo))
    end
    check_cells('nx', desc.nx, halo)
    check_cells('ny', desc.ny, halo)
    check_range('x', desc.x)
    check_range('y', desc.y)
    local spherical = desc.coordinates == 'longitude-latitude'
    if spherical then check_degrees(desc.x, desc.y) end
    check_angle(desc.angle, spherical)
    return setmetatable({
        coordinates = desc.coordinates or 'cartesian', spherical = spherical,
        radius = spherical and (desc.radius or 6371000) or nil, angle = desc.angle,
        nx = desc.nx, ny = desc.ny, halo = halo, cells = desc.nx * desc.ny,
        x = { desc.x[1], desc.x[2] }, y = { desc.y[1], desc.y[2] },
        dx = (desc.x[2] - desc.x[1]) / desc.nx, dy = (desc.y[2] - desc.y[1]) / desc.ny,
    }, Grid)
end

-- Returns x in the middle of column i.
function Grid:x_centre(i)
    return self.x[1] + (i + 0.5) * self.dx
end

-- Returns y in the middle of row j.
function Grid:y_centre(j)
    return self.y[1] + (j + 0.5) * self.dy
end

-- Returns y at the south faces of row j.
function Grid:y_face(j)
    return self.y[1] + j * self.dy
end

-- Returns how long a cell is along x and y, in metres on a sphere. y: its place.
function Grid:cell_size(y)
    if not self.spherical then return self.dx, self.dy end
    local arc = self.radius * math.pi / 180
    return arc * math.abs(math.cos(math.rad(y))) * self.dx, arc * self.dy
end

-- Returns the area of a cell of row j.
function Grid:cell_area(j)
    if not self.spherical then return self.dx * self.dy end
    local south, north = math.rad(self:y_face(j)), math.rad(self:y_face(j + 1))
    -- This is sin(north) - sin(south) without the loss of digits.
    local height = 2 * math.cos(0.5 * (south + north)) * math.sin(0.5 * (north - south))
    return self.radius ^ 2 * math.rad(self.dx) * math.abs(height)
end

-- Returns the cell that cell (i, j) is in a periodic domain. It may lie beyond
-- sides that are not periodic.
function Grid:wrapped(boundaries, i, j)
    return boundaries.west == 'periodic' and i % self.nx or i,
        boundaries.south == 'periodic' and j % self.ny or j
end

-- Returns the direction of the x axis at a point: degrees from east, anticlockwise.
function Grid:angle_at(x, y)
    local angle = self.angle or 0
    return type(angle) == 'function' and angle(x, y) or angle
end

-- Returns the cell that holds a point, or the nearest cell to a point outside.
function Grid:cell(x, y)
    local i = math.floor((x - self.x[1]) / self.dx)
    local j = math.floor((y - self.y[1]) / self.dy)
    return math.max(0, math.min(self.nx - 1, i)), math.max(0, math.min(self.ny - 1, j))
end

-- Returns where the shares of n parts begin, the first at 1, and at n + 1 the number of
-- cells. Without weights sizes differ by at most one; with weights each has its share, as
-- far as `least` cells for each allow.
local function bounds(cells, n, weights, least)
    local starts, sum, total = {}, 0, 0
    for k = 1, n do total = total + (weights and weights[k] or 1) end
    for k = 0, n do
        local at = math.floor(cells * sum / total)
        if weights and k > 0 then
            at = math.max(starts[k] + least, math.min(at, cells - (n - k) * least))
        end
        starts[k + 1] = k < n and at or cells
        sum = sum + (weights and weights[k + 1] or 1)
    end
    return starts
end

-- Returns the sums of the weights of parts over those of each column, and of each row.
local function along_axes(weights, px, py)
    if not weights then return nil, nil end
    local columns, rows = {}, {}
    for k = 0, px * py - 1 do
        local ix, iy, weight = k % px + 1, math.floor(k / px) + 1, weights[k + 1]
        columns[ix], rows[iy] = (columns[ix] or 0) + weight, (rows[iy] or 0) + weight
    end
    return columns, rows
end

local function check_split(self, px, py)
    for _, axis in ipairs { { 'x', px, self.nx }, { 'y', py, self.ny } } do
        local name, parts, cells = axis[1], axis[2], axis[3]
        if type(parts) ~= 'number' or parts % 1 ~= 0 or parts < 1 then
            fail('parts along %s = %s, must be a whole number from 1', name, tostring(parts))
        end
        if math.floor(cells / parts) < 2 * self.halo then
            fail('%.0f parts of %d cells along %s: each needs at least %d cells, so at most %d',
                parts, cells, name, 2 * self.halo, math.floor(cells / (2 * self.halo)))
        end
    end
end

-- Returns the numbers of parts along x and y that divide the grid among so many
-- with the shortest edges between them. what: such as 'ranks', for the message of a failure
function Grid:division(count, what)
    local best, px, py = math.huge, nil, nil
    for p = 1, count do
        local q = count / p
        local fits = q % 1 == 0 and math.floor(self.nx / p) >= 2 * self.halo
            and math.floor(self.ny / q) >= 2 * self.halo
        local edges = (p - 1) * self.ny + (q - 1) * self.nx
        if fits and edges < best then best, px, py = edges, p, q end
    end
    if not px then
        fail('%d x %d cells cannot be divided among %d %s: a part needs at least %d x %d',
            self.nx, self.ny, count, what, 2 * self.halo, 2 * self.halo)
    end
    return px, py
end

-- Returns an array of parts, from west to east and then from south to north:
-- { index, ix, iy, nx, ny, i0, j0 (its first cell), cells (the mean of all parts),
-- neighbours = { west = index, ... } in a domain that is periodic everywhere, edge
-- = { west = whether the part touches that side of the domain, ... } }. weights: how
-- much of the grid each is to have, nil: as much as others; all parts of a column are as
-- wide, and those of a row as high
function Grid:split(px, py, weights)
    check_split(self, px, py)
    local parts, least = {}, 2 * self.halo
    local columns, rows = along_axes(weights, px, py)
    local west, south = bounds(self.nx, px, columns, least), bounds(self.ny, py, rows, least)
    local function index(ix, iy) return 1 + ix % px + iy % py * px end
    for iy = 0, py - 1 do
        for ix = 0, px - 1 do
            local i0, j0 = west[ix + 1], south[iy + 1]
            parts[#parts + 1] = {
                index = index(ix, iy), ix = ix, iy = iy, i0 = i0, j0 = j0,
                nx = west[ix + 2] - i0, ny = south[iy + 2] - j0,
                cells = self.cells / (px * py),
                neighbours = { west = index(ix - 1, iy), east = index(ix + 1, iy),
                    south = index(ix, iy - 1), north = index(ix, iy + 1) },
                edge = { west = ix == 0, east = ix == px - 1,
                    south = iy == 0, north = iy == py - 1 },
            }
        end
    end
    return parts
end

return grid
