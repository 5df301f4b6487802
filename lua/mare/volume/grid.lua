-- A Cartesian grid of three dimensions:
--
--     local g = mare.volume.grid { nx = 64, ny = 64, nz = 32, x = { 0, 1 }, y = { 0, 1 },
--         z = { 0, 0.5 } }
--
-- Cells are counted from 0 along each axis. It is cut along z only.

local errors = require 'bindings.errors'

local grid = {}

local Grid = {}
Grid.__index = Grid

grid.axes = { 'x', 'y', 'z' }

local reach = 2         -- cells on each side that a step looks at

local allowed = { nx = 'number', ny = 'number', nz = 'number', x = 'table', y = 'table',
    z = 'table' }

local function check_axis(desc, axis)
    local n, range = desc['n' .. axis], desc[axis]
    if not n or not range then
        errors.argument('volume: grid: n%s and %s = { low, high } are wanted', axis, axis)
    elseif n % 1 ~= 0 or n < 2 * reach or n > 2 ^ 20 then
        errors.argument('volume: grid: n%s = %g, must be a whole number from %d to 2^20', axis, n,
            2 * reach)
    elseif type(range[1]) ~= 'number' or type(range[2]) ~= 'number'
        or not (range[1] < range[2] and range[2] - range[1] < math.huge) then
        errors.argument('volume: grid: %s must be { low, high }, finite', axis)
    end
end

-- Makes a grid. desc: { nx, ny, nz = cells, x, y, z = { low, high } of the domain }
function grid.new(desc)
    errors.fields('volume: grid', desc, allowed)
    local self = setmetatable({ cells = 1 }, Grid)
    for _, axis in ipairs(grid.axes) do
        check_axis(desc, axis)
        local n, range = desc['n' .. axis], desc[axis]
        self['n' .. axis], self[axis] = n, { range[1], range[2] }
        self['d' .. axis] = (range[2] - range[1]) / n
        self.cells = self.cells * n
    end
    return self
end

-- Returns the middle of cell k along an axis.
function Grid:centre(axis, k)
    return self[axis][1] + (k + 0.5) * self['d' .. axis]
end

-- Returns the number of the cell along an axis that holds a place, or is nearest to it.
function Grid:cell(axis, place)
    local k = math.floor((place - self[axis][1]) / self['d' .. axis])
    return math.max(0, math.min(self['n' .. axis] - 1, k))
end

-- Returns how many slabs there may be.
function Grid:most_slabs() return math.floor(self.nz / (2 * reach)) end

-- Returns `count` slabs, from low to high: { index, k0 = first slice, nz = slices }, which differ
-- by one slice at most.
function Grid:slabs(count)
    if count % 1 ~= 0 or count < 1 or count > self:most_slabs() then
        errors.usage('volume: slabs = %g: must be a whole number from 1 to %d, each needs at least '
            .. '%d of the %d slices', count, self:most_slabs(), 2 * reach, self.nz)
    end
    local list = {}
    for k = 1, count do
        local first = math.floor(self.nz * (k - 1) / count)
        list[k] = { index = k, k0 = first, nz = math.floor(self.nz * k / count) - first }
    end
    return list
end

function Grid:__tostring()
    return ('%d x %d x %d cells'):format(self.nx, self.ny, self.nz)
end

return grid
