local random = require 'mare.base.random'

describe('random', function()
    it('is SplitMix64: the published first outputs of seed 1234567', function()
        -- from the generator's own reference values, the upper 53 bits as a fraction
        assert.equal(tonumber(6457827717110365317ULL / 2048) * 2 ^ -53, random.uniform(1234567, 0))
        assert.equal(tonumber(3203168211198807973ULL / 2048) * 2 ^ -53, random.uniform(1234567, 1))
    end)

    it('is uniform in [0, 1) and differs between seeds', function()
        local n, sum, low, high = 20000, 0, 1, 0
        for k = 0, n - 1 do
            local v = random.uniform(42, k)
            sum, low, high = sum + v, math.min(low, v), math.max(high, v)
        end
        assert.is_true(low >= 0 and high < 1)
        assert.is_true(math.abs(sum / n - 0.5) < 5 / math.sqrt(12 * n))
        assert.are_not.equal(random.uniform(42, 0), random.uniform(43, 0))
    end)

    it('draws a smooth periodic curve through its numbers', function()
        local curve = random.curve { seed = 7, first = 10, points = 5, x = { 1, 3 } }
        for k = 0, 4 do
            assert.is_true(math.abs(curve(1 + 0.4 * k) - (random.uniform(7, 10 + k) - 0.5)) < 1e-12)
        end
        for _, x in ipairs { 1.05, 1.4, 2.9 } do
            assert.is_true(math.abs(curve(x) - curve(x + 2)) < 1e-12)
            local slope_before = (curve(x) - curve(x - 1e-6)) / 1e-6
            local slope_after = (curve(x + 1e-6) - curve(x)) / 1e-6
            assert.is_true(math.abs(slope_before - slope_after) < 1e-3)
        end
    end)
end)
