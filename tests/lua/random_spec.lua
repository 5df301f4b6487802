local random = require 'mare.random'

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
end)
