-- open_boxes.lua - boxes of an ocean with sides, flow, bed, rotation and friction drawn by seed,
-- small enough for 10^5 steps, into which no energy comes: each a grid of its own, or many in a
-- row of one grid with land between, which take the launches of one.

local mare = require 'mare'
local random = require 'mare.base.random'

local boxes = {}

local g, dx = 9.81, 6000

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
    local scheme, sides = schemes[1 + seed % #schemes], {}
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

-- ---- many boxes in one grid ----

local sorts = { 'reflective', { kind = 'elevation' }, { kind = 'flather' },
    { kind = 'sponge', width = 2 } }
local rows_across = 6

-- Returns boxes one after the other: { first, last = their cells along the row, low, high = what
-- their sides at the ends across it are, hill, f, p, q }, and the cells of all.
local function draw_boxes(draw, pick, count)
    local list, at = {}, 0
    for k = 1, count do
        local cells = 5 + math.floor(draw(4))
        list[k] = { first = at, last = at + cells - 1, low = pick(sorts), high = pick(sorts),
            hill = draw(1) < 0.6, f = pick { 0, 1e-4, -1e-4, 1e-3 }, p = draw(6), q = draw(6) }
        at = at + cells + 1
    end
    return list, at - 1
end

-- Returns what the sides of all boxes at one end are: pieces from the middle of one land to that of
-- the next. Equal pieces are one table.
local function pieces_of(list, which)
    local given, open = { kind = 'pieces' }, false
    for k, box in ipairs(list) do
        given[k] = { to = list[k + 1] and (box.last + 1.5) * dx or nil, side = box[which] }
        open = open or box[which] ~= 'reflective'
    end
    return open and given or 'reflective'
end

-- Returns the description of a row of `count` boxes along x or y, the boxes (see draw_boxes, with a
-- title each), and the depth at a place. along_x: rows of finite volumes lie along x only, as those
-- along y take five times as long on PoCL.
function boxes.draw_row(scheme, seed, count, device, along_x)
    local draw, pick = lot(seed)
    local list, cells = draw_boxes(draw, pick, count)
    local is_along_x = draw(1) < 0.5 or along_x and limits[scheme] == 1
    local friction = pick(frictions)
    local names = is_along_x and { 'south', 'north', 'west', 'east' }
        or { 'west', 'east', 'south', 'north' }
    local sides = { [names[1]] = pieces_of(list, 'low'), [names[2]] = pieces_of(list, 'high'),
        [names[3]] = pick(sorts), [names[4]] = pick(sorts) }
    local nx, ny = cells, rows_across
    if not is_along_x then nx, ny = ny, nx end
    local function box_at(x, y)     -- nil in the middle of land
        local at = (is_along_x and x or y) / dx
        for _, box in ipairs(list) do
            if at < box.last + 1.01 then return at > box.first - 0.01 and box or nil end
        end
    end
    local function depth(x, y)
        local box = box_at(x, y)
        if not box then return 0 / 0 end
        return box.hill and 40 + 25 * math.sin(x / 9e3) * math.cos(y / 11e3) or 60
    end
    for k, box in ipairs(list) do box.title = ('%s in box %d of row %d'):format(scheme, k, seed) end
    return {
        grid = mare.grid { nx = nx, ny = ny, x = { 0, dx * nx }, y = { 0, dx * ny } },
        scheme = mare.ocean { scheme = scheme, g = g, depth = depth, friction = friction or nil,
            coriolis = function(x, y)
                local box = box_at(x, y)
                return box and box.f or 0
            end, viscosity = scheme ~= 'linear' and pick { 0, 500 } or 0 },
        boundaries = sides,
        options = { device = device,
            cfl = limits[scheme] * pick { 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1 } },
        initial = function(x, y)
            local box = box_at(x, y)
            if not box then return 0, 0, 0 end
            return 1e-2 * math.cos(x / 13e3 + box.p) * math.cos(y / 8e3 + box.q),
                1e-3 * math.sin(y / 9e3), 1e-3 * math.cos(x / 7e3 + box.q)
        end,
    }, list, depth
end

-- ---- energy ----

-- Returns the energy of each box of a row.
function boxes.energies(sim, list, depth)
    local eta, hu, hv, sums = sim:field 'eta', sim:field 'hu', sim:field 'hv', {}
    local nx, is_along_x = sim.grid.nx, sim.grid.nx > sim.grid.ny
    for n, box in ipairs(list) do
        sums[n] = 0
        for along = box.first, box.last do
            for across = 0, rows_across - 1 do
                local i, j = along, across
                if not is_along_x then i, j = j, i end
                local k = j * nx + i
                local h = depth(sim.grid:x_centre(i), sim.grid:y_centre(j))
                sums[n] = sums[n] + g * eta[k] ^ 2 + (hu[k] ^ 2 + hv[k] ^ 2) / h
            end
        end
    end
    return sums
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
