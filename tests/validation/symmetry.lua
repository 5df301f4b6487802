-- symmetry.lua - checks that the axes are treated alike, to the bit: a
-- transposed problem, swept in the other order, must give the transposed state,
-- and a mirrored one the mirrored state, for every flux, limiter and precision.
-- Each precision has its own spec, because a CPU takes minutes to compile all
-- variants; describe and it are those of the spec.

local assert = require 'luassert'
local random = require 'mare.base.random'
local support = require 'tests.validation.support'

local nx, ny = 37, 22
local seed = 7

-- Returns a random state; in a third of the cells it jumps by a factor of ten.
local function cell(i, j)
    local function draw(k) return random.uniform(seed, 5 * (j * nx + i) + k) end
    if draw(4) < 2 / 3 then
        return 1 + 0.1 * draw(0), 0.3 + 0.1 * draw(1), -0.2 - 0.1 * draw(2), 1 + 0.1 * draw(3)
    end
    return 0.1 + draw(0), 2 * draw(1) - 1, 2 * draw(2) - 1, 0.1 + draw(3)
end

-- How to turn the problem into its image: the cell and the flow that an image's
-- cell has, its sides and its shape. Cells are 1 wide and 1/2 high.
local images = {
    none = {},
    mirror_x = { sides = { west = 'east', east = 'west' }, cell = function(i, j)
        local rho, u, v, p = cell(nx - 1 - i, j)
        return rho, -u, v, p
    end },
    mirror_y = { sides = { south = 'north', north = 'south' }, cell = function(i, j)
        local rho, u, v, p = cell(i, ny - 1 - j)
        return rho, u, -v, p
    end },
    transpose = { nx = ny, ny = nx, first = 'y', dx = 0.5, dy = 1,
        sides = { west = 'south', east = 'north', south = 'west', north = 'east' },
        cell = function(i, j)
            local rho, u, v, p = cell(j, i)
            return rho, v, u, p
        end },
}

local sides = { west = 'reflective', east = 'outflow', south = 'outflow', north = 'reflective' }

-- Returns the state after some steps, its time, and the state before.
local function simulate(image, desc)
    local boundaries, width, height = {}, image.nx or nx, image.ny or ny
    local dx, dy, value = image.dx or 1, image.dy or 0.5, image.cell or cell
    for side, kind in pairs(sides) do
        boundaries[side] = sides[image.sides and image.sides[side]] or kind
    end
    -- It uses cell numbers, so that no rounding of coordinates breaks the symmetry.
    local function initial(x, y)
        return value(math.floor(x / dx) % width, math.floor(y / dy) % height)
    end
    local sim = support.simulation {
        nx = width, ny = height, x = { 0, width * dx }, y = { 0, height * dy }, flux = desc.flux,
        limiter = desc.limiter, precision = desc.precision, first = image.first,
        boundaries = boundaries, initial = initial,
    }
    local before = support.state(sim)
    support.run_steps(sim, 25)
    support.assert_valid(sim)
    return support.state(sim), sim.now.t, before
end

local turns = {
    transpose = support.transposed, mirror_x = support.mirrored_x, mirror_y = support.mirrored_y,
}

return function(precision, describe, it)
    describe('symmetry in ' .. precision, function()
        for _, flux in ipairs(support.fluxes) do
            it('is exact with ' .. flux .. ' and every limiter', function()
                for _, limiter in ipairs(support.limiters) do
                    local desc = { flux = flux, limiter = limiter, precision = precision }
                    local state, t, before = simulate(images.none, desc)
                    assert.is_not_nil(support.difference(before, state))
                    for name, turn in pairs(turns) do
                        local image, time = simulate(images[name], desc)
                        local different = support.difference(state, turn(image))
                        assert.is_nil(different, name .. ' ' .. limiter)
                        assert.equal(t, time)
                    end
                end
            end)
        end
    end)
end
