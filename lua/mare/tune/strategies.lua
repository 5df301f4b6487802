-- Search strategies, by the names that Kernel Tuner gives them. A strategy is a
-- function of a search: { space =, options =, random = function() -> [0, 1),
-- ask = function(list of candidates) -> their costs }. Strategies minimise
-- costs; the cost of a failed candidate is infinite. A search ends when its
-- budget is used up: then ask() does not return. Asking for a known candidate
-- again costs nothing. Guided strategies therefore loop without end.

local bayes = require 'mare.tune.bayes'
local errors = require 'bindings.errors'
local range = require 'mare.tune.range'
local tables = require 'bindings.tables'
local uniform = require('mare.base.random').uniform

local strategies = {}

-- Returns a random whole number from 1 to n.
local function pick(search, n)
    return math.floor(search.random() * n) + 1
end

local function shuffle(search, list)
    for k = #list, 2, -1 do
        local other = pick(search, k)
        list[k], list[other] = list[other], list[k]
    end
    return list
end

local function everything(search)
    local list = {}
    for k = 1, search.space.size do list[k] = k end
    return list
end

-- Returns the best candidate of a list, and its cost.
local function best_of(search, list)
    local costs, best = search.ask(list), 1
    for k = 2, #list do
        if costs[k] < costs[best] then best = k end
    end
    return list[best], costs[best]
end

local function some(search, count)
    local list = shuffle(search, everything(search))
    for k = #list, count + 1, -1 do list[k] = nil end
    return list
end

-- Tries all candidates in order.
local function brute_force(search)
    search.ask(everything(search))
end

-- Tries all candidates in random order.
local function random_sample(search)
    search.ask(shuffle(search, everything(search)))
end

-- Returns the neighbours in random order, those that trade one parameter for
-- another first.
local function around(search, here)
    local list = shuffle(search, search.space:trades(here))
    for _, next in ipairs(shuffle(search, search.space:neighbours(here))) do
        list[#list + 1] = next
    end
    return list
end

-- Moves to better neighbours until there is none.
local function descend(search, here, cost)
    repeat
        local moved = false
        for _, next in ipairs(around(search, here)) do
            local other = search.ask({ next })[1]
            if other < cost then
                here, cost, moved = next, other, true
                break
            end
        end
    until not moved
    return here, cost
end

-- Returns a candidate that differs from one in at most `strength` parameters.
local function perturbed(search, from, strength)
    local changed = {}
    for _ = 1, strength do changed[pick(search, #search.space.names)] = true end
    for _ = 1, 20 do
        local to = search.space:combine(from, from, function(k, here, _, count)
            return changed[k] and pick(search, count) or here
        end)
        if to and to ~= from then return to end
    end
    return pick(search, search.space.size)
end

-- Returns a random candidate near another: equally often by a trade, if there
-- is one, and by another value.
local function nearby(search, here)
    local list = search.random() < 0.5 and search.space:trades(here) or {}
    if #list > 0 then return list[pick(search, #list)] end
    return perturbed(search, here, 1)
end

-- Iterated local search: descends from the best of a few candidates, then again
-- from perturbed copies of the best so far if these are promising, and every
-- third time from a random one.
local function greedy_ils(search)
    local options = search.options
    local best, cost = descend(search, best_of(search, some(search, options.start or 6)))
    local turn = 0
    while true do
        turn = turn + 1
        local from = turn % 3 > 0 and perturbed(search, best, options.strength or 3)
            or pick(search, search.space.size)
        local here, here_cost = from, search.ask({ from })[1]
        if here_cost < (options.hope or 1.1) * cost then
            here, here_cost = descend(search, here, here_cost)
        end
        if here_cost < cost then best, cost = here, here_cost end
    end
end

-- Moves to a nearby candidate, also uphill with a probability that falls with
-- the relative increase in cost and with time: each step multiplies the
-- temperature T by alpha. Once cold, it descends and begins again nearby.
local function simulated_annealing(search)
    local options = search.options
    local best, best_cost = best_of(search, some(search, options.start or 8))
    while true do
        local here, cost, temperature = best, best_cost, options.T or 0.05
        while temperature > (options.T_min or 0.005) do
            local next = nearby(search, here)
            local other = search.ask({ next })[1]
            if other < cost or search.random() < math.exp((1 - other / cost) / temperature) then
                here, cost = next, other
            end
            if cost < best_cost then best, best_cost = here, cost end
            temperature = temperature * (options.alpha or 0.9)
        end
        local deepest = descend(search, best, best_cost)
        best = perturbed(search, deepest, 2)
        best_cost = search.ask({ best })[1]
    end
end

local function by_cost(a, b)
    if a.cost ~= b.cost then return a.cost < b.cost end
    return a.index < b.index
end

-- Adds candidates to a population and keeps its best `size`, each once.
local function select_best(search, population, list, size)
    local seen = {}
    for _, one in ipairs(population) do seen[one.index] = true end
    for k, cost in ipairs(search.ask(list)) do
        if not seen[list[k]] then
            population[#population + 1], seen[list[k]] = { index = list[k], cost = cost }, true
        end
    end
    table.sort(population, by_cost)
    for k = #population, size + 1, -1 do population[k] = nil end
end

-- Returns the better of two random members of the population.
local function parent(search, population)
    return population[math.min(pick(search, #population), pick(search, #population))].index
end

local function child(search, population, chance)
    local a, b = parent(search, population), parent(search, population)
    for _ = 1, 10 do
        local found = search.space:combine(a, b, function(_, one, other, count)
            if search.random() < chance then return pick(search, count) end
            return search.random() < 0.5 and one or other
        end)
        if found then return found end
    end
    return pick(search, search.space.size)
end

-- Crosses the better candidates with each other: each parameter comes from one
-- of the parents, sometimes from neither. A known child is replaced by a
-- candidate near the best.
local function genetic_algorithm(search)
    local options, population, seen = search.options, {}, {}
    local size = options.popsize or 8
    local list = some(search, size)
    while true do
        for _, index in ipairs(list) do seen[index] = true end
        select_best(search, population, list, size)
        list = {}
        for k = 1, math.max(2, math.floor(size / 2)) do
            local one = child(search, population, options.mutation_chance or 0.2)
            for _ = 1, 10 do
                if not seen[one] then break end
                one = nearby(search, population[pick(search, math.min(3, #population))].index)
            end
            list[k] = one
        end
    end
end

strategies.all = {
    brute_force = brute_force,
    random_sample = random_sample,
    greedy_ils = greedy_ils,
    simulated_annealing = simulated_annealing,
    genetic_algorithm = genetic_algorithm,
    bayes_opt = bayes.search,
}

-- The strategy_options of all strategies and of each: ranges of numbers.
local by_all = { max_fevals = { 1 }, time_limit = { 0 }, seed = { -2 ^ 53, 2 ^ 53, whole = true } }
local positive, count = { 0, above = true }, { 1, whole = true }
local understood = {
    greedy_ils = { start = count, strength = { 1, 100, whole = true }, hope = positive },
    simulated_annealing = { T = positive, T_min = positive, alpha = { 0, 1 }, start = count },
    genetic_algorithm = { popsize = { 1, 10000, whole = true }, mutation_chance = { 0, 1 } },
    bayes_opt = { start = count, explore = count },
}

-- Returns the names of all strategies, sorted.
function strategies.names()
    return tables.keys(strategies.all)
end

-- Refuses unknown strategies and options.
function strategies.check(name, options)
    if not strategies.all[name] then
        errors.argument("tune: strategy = '%s' (allowed: %s)", tostring(name),
            tables.names(strategies.all))
    end
    local allowed, ranges = {}, {}
    for _, list in ipairs { by_all, understood[name] or {} } do
        for field, one in pairs(list) do allowed[field], ranges[field] = 'number', one end
    end
    errors.fields('tune: strategy_options of ' .. name, options or {}, allowed)
    range('tune: strategy_options', options or {}, ranges)
end

-- Starts a search as a coroutine. It yields lists of candidates, and is resumed
-- with their costs.
function strategies.start(name, space, options)
    local drawn, seed = 0, options.seed or 1
    local search = { space = space, options = options, ask = coroutine.yield }
    function search.random()
        drawn = drawn + 1
        return uniform(seed, drawn)
    end
    return coroutine.wrap(function()
        strategies.all[name](search)
        return nil
    end)
end

return strategies
