-- A blast in a gas at rest without pressure, an eighth of it, with walls in its planes of symmetry:
-- the shock runs out as r = (E t^2 / (alpha rho))^(1/5), with alpha = 0.851 for gamma = 1.4 (Sedov
-- 1959, Similarity and Dimensional Methods in Mechanics, chapter 4). Here E = alpha, rho = 1.

local mare = require 'mare'

local o = mare.options {
    title = 'Blast',
    help = 'A strong blast in three dimensions; compared with the exact radius of its shock.',
    mare.volume.options, mare.volume.equation_options,
    { name = 't-end', default = 0.5 },
    { name = 'nx', default = 64 },
    { name = 'ny', default = 64 },
    { name = 'nz', default = 64 },
    { name = 'slice-at', default = 0 },
    { name = 'image', default = 'sedov.png' },
}

local gamma, total = 1.4, 0.851072          -- the energy of the whole blast

local scheme = mare.volume.euler { gamma = gamma, options = o }

local side = 1.2
local grid = mare.volume.grid { nx = o.nx, ny = o.ny, nz = o.nz, x = { 0, side }, y = { 0, side },
    z = { 0, side } }

-- An eighth of the energy lies in the first sixteenth along each axis, in two whole cells or more.
-- In a smaller room the gas that it leaves behind becomes so thin and hot that steps hardly go on.
local function whole(size) return math.max(2, math.ceil(side / 16 / size)) * size end
local wx, wy, wz = whole(grid.dx), whole(grid.dy), whole(grid.dz)
local hot = (gamma - 1) * total / 8 / (wx * wy * wz)

local function initial(x, y, z)
    local is_hot = x < wx and y < wy and z < wz
    return 1, 0, 0, 0, is_hot and hot or 1e-5
end

local walls = { west = 'reflective', south = 'reflective', low = 'reflective', east = 'outflow',
    north = 'outflow', high = 'outflow' }

local result = {}
result.sim = mare.volume {
    title = 'Blast', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = walls, picture = { variable = 'rho', label = 'density' },
}

-- Returns where along x the density is largest, just behind the shock: by a parabola through that
-- cell and its neighbours.
local function radius_in(sim)
    local rho = sim:field('rho', { i = 0, j = 0, k = 0, nx = o.nx, ny = 1, nz = 1 })
    local at = 1
    for i = 1, o.nx - 2 do at = rho[i] > rho[at] and i or at end
    local low, high = rho[at - 1] - rho[at], rho[at + 1] - rho[at]
    return grid:centre('x', at) + 0.5 * grid.dx * (low - high) / (low + high)
end

local found, exact = radius_in(result.sim), result.sim.now.t ^ 0.4
if not o.quiet then print(('radius of the shock %.4f, exact %.4f'):format(found, exact)) end
result.error = math.abs(found / exact - 1)
return result
