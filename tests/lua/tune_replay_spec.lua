-- Tests how good the strategies are, with the times of all candidates of three
-- kernels on an H200: the step of Euler (march.krn of 8e855c9), of the
-- nonlinear C-grid and of finite volumes, each with 4096^2 cells. The files are
-- cache files as mare.tune.scenario wrote them, with fewer digits.

local home = require 'bindings.home'
local json = require 'dkjson'
local mare = require 'mare'
local results = require 'mare.tune.results'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

local folder = home.root .. '/tests/lua/tuning/'
local seeds, share, near = sample(10, 4), 0.15, 1.02

local function median(values)
    table.sort(values)
    return 0.5 * (values[#values / 2] + values[#values / 2 + 1])
end

-- The strategies that learn from what they have seen.
local function guided()
    local list = {}
    for _, name in ipairs(mare.tune.strategies()) do
        local is_blind = name == 'brute_force' or name == 'random_sample'
        if not is_blind then list[#list + 1] = name end
    end
    return list
end

local function best_time(name, strategy, options)
    local _, env = mare.tune.replay { cache = folder .. name .. '.json', strategy = strategy,
        strategy_options = options }
    return env.best_config.time, env
end

for _, name in ipairs { 'march', 'nonlinear', 'volumes' } do
    describe('the shapes of ' .. name, function()
        local optimum, env = best_time(name, 'brute_force')

        it('are 200 or more, all of them looked at by brute force', function()
            assert.is_true(env.space >= 200)
            assert.equal(env.space, env.evaluations)
        end)

        for _, strategy in ipairs(guided()) do
            it('are searched by ' .. strategy, function()
                local budget, times = math.floor(share * env.space), {}
                for seed = 1, seeds do
                    local found
                    times[seed], found = best_time(name, strategy,
                        { max_fevals = budget, seed = seed })
                    assert.is_true(found.evaluations <= budget)
                end
                local ratio = median(times) / optimum
                assert.is_true(ratio <= near, ('%s: %.4f of the optimum'):format(strategy, ratio))
            end)
        end
    end)
end

describe('a search', function()
    it('is the same for the same seed, and ends with its budget', function()
        local function keys(seed)
            local list = {}
            mare.tune.replay { cache = folder .. 'nonlinear.json', strategy = 'genetic_algorithm',
                strategy_options = { max_fevals = 20, seed = seed },
                tell = function(r) list[#list + 1] = { r.GROUP, r.W, r.resident } end }
            return list
        end
        assert.equal(20, #keys(3))
        assert.same(keys(3), keys(3))
        assert.not_same(keys(3), keys(4))
    end)

    for _, strategy in ipairs(sample(mare.tune.strategies(), 3)) do
        it('by ' .. strategy .. ' comes to an end without a budget', function()
            local records = mare.tune.replay { cache = folder .. 'nonlinear.json',
                strategy = strategy, objective = 'time' }
            assert.is_true(#records > 30)
        end)
    end

    -- Replays the nonlinear kernel's records with one more objective; returns what was visited.
    local function visited(value_of, desc)
        local path, seen = os.tmpname(), {}
        local known = results.read(folder .. 'nonlinear.json')
        for _, record in pairs(known.records) do
            record.own = type(record.time) == 'number' and value_of(record.time) or nil
        end
        known.header.cache = known.records
        trial.spit(path, json.encode(known.header))
        desc.cache, desc.strategy_options = path, { max_fevals = 40 }
        function desc.tell(r) seen[#seen + 1] = { r.GROUP, r.W, r.resident, r.old_ahead } end
        local ok, failure = pcall(mare.tune.replay, desc)
        os.remove(path)
        return seen, not ok and failure
    end

    local function inverse(time) return 1 / time end

    for _, strategy in ipairs(sample(mare.tune.strategies(), 3)) do
        it('by ' .. strategy .. ' is the same for times and for rates', function()
            local by_time = visited(inverse, { strategy = strategy })
            local by_rate = visited(inverse, { strategy = strategy, objective = 'own',
                objective_higher_is_better = true })
            assert.equal(40, #by_time)
            assert.same(by_time, by_rate)
        end)
    end

    it('refuses an objective that is not above 0', function()
        local _, failure = visited(function() return -1 end, { objective = 'own' })
        assert.equal("tune: objective 'own' is -1, a number above 0 is wanted", failure.message)
    end)
end)
