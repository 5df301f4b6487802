-- open_boxes.lua - boxes of an ocean with sides, flow, bed, rotation and friction drawn by seed,
-- small enough for 10^5 steps, into which no energy comes.

local mare = require 'mare'
local random = require 'mare.base.random'

local boxes = {}

local g = 9.81

local limits = { linear = 0.99, nonlinear = 0.95, cdklm = 1, kurganov_petrova = 1 }
local kinds = { 'reflective', 'elevation', 'flather', 'flather', 'elevation', 'sponge' }
local frictions = { false, { kind = 'linear', coefficient = 2e-5 },
    { kind = 'quadratic', coefficient = 2.5e-3 }, { kind = 'manning', coefficient = 0.03 } }

-- Returns draw(n), a number from 0 to n, and pick(list), both drawn by seed.
local function lot(seed)
    local drawn = 0
    local function draw(n)
        drawn = drawn + 1
        return random.uniform(seed, drawn) * n
    end
    return draw, function(list) return list[1 + math.floor(draw(#list))] end
end

-- Returns the description of a box of one of these schemes, with sides, flow and bed
-- drawn by seed, and the depth in its cells.
function boxes.draw(schemes, seed, device)
    local draw, pick = lot(seed)
    local scheme, dx, sides = schemes[1 + seed % #schemes], 6000, {}
    local around = { x = draw(1) < 0.1, y = draw(1) < 0.1 }
    for k, side in ipairs { 'west', 'east', 'south', 'north' } do
        local kind, axis = pick(kinds), k <= 2 and 'x' or 'y'
        if around[axis] then sides[side] = 'periodic'
        elseif kind == 'reflective' then sides[side] = kind
        else sides[side] = { kind = kind, width = kind == 'sponge' and 2 or nil } end
    end
    local nx, ny = 6 + math.floor(draw(6)), 6 + math.floor(draw(6))
    local hill, f = draw(1) < 0.6, pick { 0, 1e-4, -1e-4, 1e-3 }
    local p, q = draw(6), draw(6)
    local function depth(x, y)
        return hill and 40 + 25 * math.sin(x / 9e3) * math.cos(y / 11e3) or 50
    end
    return {
        grid = mare.grid { nx = nx, ny = ny, x = { 0, dx * nx }, y = { 0, dx * ny } },
        scheme = mare.ocean { scheme = scheme, g = g, depth = depth,
            coriolis = f ~= 0 and { f = f } or nil, friction = pick(frictions) or nil,
            viscosity = scheme ~= 'linear' and pick { 0, 0, 500 } or 0 },
        boundaries = sides,
        options = { device = device,
            cfl = limits[scheme] * pick { 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1 } },
        initial = function(x, y)
            return 1e-2 * math.cos(x / 13e3 + p) * math.cos(y / 8e3 + q),
                1e-3 * math.sin(y / 9e3), 1e-3 * math.cos(x / 7e3 + q)
        end,
    }, depth, ('%s in box %d'):format(scheme, seed)
end

function boxes.energy(sim, depth)
    local eta, hu, hv, sum = sim:field 'eta', sim:field 'hu', sim:field 'hv', 0
    for k = 0, sim.grid.cells - 1 do
        local i, j = k % sim.grid.nx, math.floor(k / sim.grid.nx)
        local h = depth(sim.grid:x_centre(i), sim.grid:y_centre(j))
        sum = sum + g * eta[k] ^ 2 + (hu[k] ^ 2 + hv[k] ^ 2) / h
    end
    return sum
end

-- With transports half a step before the elevation, g eta^2 + q^2 / h is within a factor 1 - cfl
-- and 1 + cfl of what the discrete equations keep.
function boxes.bound(cfl) return (1 + cfl) / (1 - math.min(cfl, 0.99)) end

return boxes
