-- Tests strong shocks in two dimensions, the cylindrical blast wave of Sedov
-- (gamma 1.4; energy and time of Kamm and Timmes 2007, for which the shock is
-- at r = 0.75) and the implosion of Liska and Wendroff (2003): their symmetry,
-- their walls and the place of the shock.

local support = require 'tests.validation.support'

local gamma, energy, radius, t_end = 1.4, 0.311357, 0.75, 1

-- In n cells of [0, 1.2]^2 behind walls, or in the four quarters of [-1.2, 1.2]^2. All of the
-- energy is in the cells that touch the origin.
local function sedov(n, whole, precision)
    local size = 1.2
    local dx = size / n
    local low = whole and -size or 0
    local function initial(x, y)
        local hot = math.abs(x) < dx and math.abs(y) < dx
        return 1, 0, 0, hot and (gamma - 1) * energy / (4 * dx * dx) or 1e-5
    end
    local cells = whole and 2 * n or n
    local sim = support.simulation {
        nx = cells, ny = cells, x = { low, size }, y = { low, size }, gamma = gamma,
        precision = precision, boundaries = whole and 'outflow' or
            { west = 'reflective', south = 'reflective', east = 'outflow', north = 'outflow' },
        initial = initial,
    }
    support.run_to(sim, t_end)
    support.assert_valid(sim)
    return sim
end

-- Returns the radius at which the density falls through `level` on the ray at
-- an angle, coming from outside.
local function shock_radius(sim, angle, level)
    local g, rho = sim.grid, sim:field 'rho'
    local function density(r)
        local x, y = r * math.cos(angle) / g.dx - 0.5, r * math.sin(angle) / g.dy - 0.5
        local i, j = math.max(0, math.floor(x)), math.max(0, math.floor(y))
        local a, b = math.max(0, x - i), math.max(0, y - j)
        local function at(k, l) return tonumber(rho[l * g.nx + k]) end
        return (1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j))
            + b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1))
    end
    for r = 1.1, 0.3, -0.0005 do
        if density(r) > level then return r end
    end
end

describe('Sedov blast', function()
    it('has its shock where theory has it, in all directions', function()
        local n = 128
        local sim = sedov(n, false, 'float')
        local rho, peak = sim:field 'rho', 0
        for k = 0, sim.grid.cells - 1 do peak = math.max(peak, rho[k]) end
        local low, high, sum = math.huge, 0, 0
        for k = 0, 90 do
            local r = shock_radius(sim, math.rad(k), 0.5 * peak)
            low, high, sum = math.min(low, r), math.max(high, r), sum + r / 91
        end
        support.show('sedov/radius', sum, radius)
        support.show('sedov/spread of the radius', (high - low) / sum, 0.01)
        support.show('sedov/peak density', peak, 6)
        support.at_most(sim.grid.dx, math.abs(sum - radius), 'distance of the shock from theory')
        support.at_most(0.01, (high - low) / sum, 'spread of the radius')
        support.gate('sedov/missing of the peak', 6 - peak)
    end)

    for _, precision in ipairs(support.precisions) do
        it('is mirror symmetric, and a wall is a mirror, to the bit in ' .. precision, function()
            local n = 48
            local whole = support.state(sedov(n, true, precision))
            assert.is_nil(support.difference(whole, support.mirrored_x(whole)))
            assert.is_nil(support.difference(whole, support.mirrored_y(whole)))
            local quarter = support.state(sedov(n, false, precision))
            assert.is_nil(support.difference(support.part(whole, n, n, n, n), quarter))
        end)
    end
end)

-- The order of the sweeps alternates. This leaves a difference between x and y
-- that shrinks with the cells; the transposed run has the transposed bits.
describe('implosion', function()
    local function implosion(n, first)
        local dx = 0.3 / n
        local function initial(x, y)
            local inside = math.floor(x / dx) + math.floor(y / dx) + 1 < n / 2
            if inside then return 0.125, 0, 0, 0.14 end
            return 1, 0, 0, 1
        end
        local sim = support.simulation { nx = n, ny = n, x = { 0, 0.3 }, y = { 0, 0.3 },
            gamma = gamma, first = first, boundaries = 'reflective', initial = initial }
        support.run_to(sim, 2.5)
        support.assert_valid(sim)
        return support.state(sim)
    end

    it('is as symmetric about the diagonal as alternating sweeps make it', function()
        local state = implosion(100, 'x')
        local turned = support.transposed(state)
        local sum, scale = 0, 0
        for k = 0, 100 * 100 - 1 do
            sum, scale = sum + math.abs(state.rho[k] - turned.rho[k]), scale + state.rho[k]
        end
        support.gate('implosion/asymmetry of the density', sum / scale)
        assert.is_nil(support.difference(turned, implosion(100, 'y')))
    end)
end)
