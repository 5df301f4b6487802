-- Tests least squares with complex unknowns, and descents with a nonlinear
-- model of the gauges.

local inversion = require 'mare.tide.inversion'

local function value(re, im) return { re, im } end

local rows = {
    { value(1, 2), value(0.5, -1) }, { value(-1, 0.3), value(2, 1) }, { value(0, 1), value(1, 1) },
}
local x = { value(0.7, -0.2), value(-1.1, 0.4) }

local function fit(more)
    local desc = { unknowns = 2, rows = rows, right = {}, weights = { 1, 2, 3 }, smooth = 0,
        smoothness = {} }
    for g, row in ipairs(rows) do desc.right[g] = inversion.apply(row, x) end
    for key, given in pairs(more or {}) do desc[key] = given end
    return inversion.fit(desc)
end

describe('a fit', function()
    it('finds what gave the values', function()
        local found = fit()
        for k = 1, 2 do
            assert.near(x[k][1], found[k][1], 1e-13)
            assert.near(x[k][2], found[k][2], 1e-13)
        end
    end)

    it('leaves out what it is told to', function()
        local right = {}
        for g, row in ipairs(rows) do right[g] = inversion.apply(row, x) end
        right[2] = { 99, 99 }
        local found = fit { right = right, skip = function(g) return g == 2 end }
        assert.near(x[1][1], found[1][1], 1e-13)
        assert.near(x[2][2], found[2][2], 1e-13)
    end)

    it('is smooth where it may', function()
        local found = fit { smooth = 1e9, smoothness = { { 1, -1 } } }
        assert.near(found[1][1], found[2][1], 1e-7)
        assert.near(found[1][2], found[2][2], 1e-7)
    end)

    it('refuses what is not determined', function()
        local ok, err = pcall(fit, { skip = function() return true end })
        assert.is_false(ok)
        assert.matches('unknown 1 of 4 is not determined', err.message)
    end)
end)

-- Returns the values of two controls at the gauges: rotated and mixed by
-- `rows`, and damped by their own size, as by friction, so that no constant or
-- complex factor describes it.
local function see(controls)
    local list = {}
    for g, row in ipairs(rows) do
        local z = inversion.apply(row, controls)
        local size = math.sqrt(z[1] ^ 2 + z[2] ^ 2)
        list[g] = { z[1] / (1 + 0.3 * size), z[2] / (1 + 0.3 * size) }
    end
    return list
end

local function problem(more)
    local desc = { unknowns = 2, observed = see(x), scale = { 0.1, 0.1, 0.1 }, smooth = 0,
        smoothness = {}, rounds = 12, delta = 1e-4, guess = function()
            return { { 0.1, 0 }, { 0, 0 } }
        end, compute = function(list)
            local seen = {}
            for k, controls in ipairs(list) do seen[k] = see(controls) end
            return seen
        end }
    for key, given in pairs(more or {}) do desc[key] = given end
    return desc
end

describe('a descent', function()
    it('finds what gauges see, though it is not linear', function()
        local costs = {}
        local found = inversion.descend(problem { tell = function(_, cost)
            costs[#costs + 1] = cost
        end })
        for k = 1, 2 do
            assert.near(x[k][1], found.x[k][1], 1e-3)
            assert.near(x[k][2], found.x[k][2], 1e-3)
        end
        for k = 2, #costs do assert.is_true(costs[k] <= costs[k - 1]) end
        assert.is_true(#costs > 2 and costs[#costs] < 1e-3, costs[#costs])
    end)

    it('gives way to a gauge that is wrong by little', function()
        local observed = see(x)
        observed[4], observed[5] = see(x)[1], { 9, -9 }
        rows[4], rows[5] = rows[1], rows[2]
        local found = inversion.descend(problem { observed = observed,
            scale = { 0.1, 0.1, 0.1, 0.1, 0.1 } })
        rows[4], rows[5] = nil, nil
        assert.near(x[1][1], found.x[1][1], 0.02)
        assert.near(x[2][1], found.x[2][1], 0.02)
    end)

    it('tells a gauge from the others, which know', function()
        for g = 4, 6 do rows[g] = { value(0.2 * g, -1), value(1, 0.1 * g) } end
        local scale = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 }
        local desc = problem { observed = see(x), scale = scale }
        local found = inversion.descend(desc)
        local unseen, wanted = inversion.validate(desc, found, 3, 8), desc.observed
        for g = 4, 6 do rows[g] = nil end
        for g, z in ipairs(wanted) do
            assert.near(z[1], unseen[g][1], 1e-3)
            assert.near(z[2], unseen[g][2], 1e-3)
        end
    end)
end)
