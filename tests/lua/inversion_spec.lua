-- Least squares with complex unknowns.

local inversion = require 'mare.inversion'

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
