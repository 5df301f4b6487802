-- turns.lua - how tests that cost much take turns. local it = turns(it, count): of every `count`
-- tests that it declares from there on the suite has one, and another with the next MARE_TEST_SEED
-- (1), so that `count` seeds in a row have all. With MARE_TESTS=long, which tests/long/run sets,
-- all are declared.

local seed = tonumber(os.getenv 'MARE_TEST_SEED' or 1)

return function(it, count)
    if os.getenv 'MARE_TESTS' == 'long' then return it end
    local declared = 0
    return function(...)
        declared = declared + 1
        if (declared + seed) % count == 0 then return it(...) end
    end
end
