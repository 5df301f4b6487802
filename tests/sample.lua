-- sample.lua - how much of a long test the suite does. sample(list, count) gives `count` entries,
-- drawn by MARE_TEST_SEED (1; in tests/run by the commit), whatever other files have drawn;
-- sample(often, few) gives few, of numbers or whatever is no list, and of lists where few is one.
-- With MARE_TESTS=long, which tests/long/run sets, they give the whole list, and often.

local random = require 'mare.base.random'

local seed = tonumber(os.getenv 'MARE_TEST_SEED' or 1)
local drawn = {}        -- by file: how many numbers

return function(whole, count)
    if os.getenv 'MARE_TESTS' == 'long' then return whole end
    if type(whole) ~= 'table' or type(count) == 'table' then return count end
    local file = debug.getinfo(2, 'S').source
    local left, taken = { unpack(whole) }, {}
    while #taken < count and #left > 0 do
        local n = drawn[file] or 0
        drawn[file] = n + 1
        taken[#taken + 1] = table.remove(left, 1 + math.floor(random.uniform(seed, n) * #left))
    end
    return taken
end
