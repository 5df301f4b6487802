-- sample.lua - how much of a long test the suite does. sample(list, count) gives `count` entries,
-- drawn by MARE_TEST_SEED (1); sample(often, few) gives few, of
-- numbers or whatever is no list. With MARE_TESTS=long, which tests/long/run sets, they give the
-- whole list, and often.

local random = require 'mare.base.random'

local seed, drawn = tonumber(os.getenv 'MARE_TEST_SEED' or 1), 0

return function(whole, count)
    if os.getenv 'MARE_TESTS' == 'long' then return whole end
    if type(whole) ~= 'table' then return count end
    local left, taken = { unpack(whole) }, {}
    while #taken < count and #left > 0 do
        taken[#taken + 1] = table.remove(left, 1 + math.floor(random.uniform(seed, drawn) * #left))
        drawn = drawn + 1
    end
    return taken
end
