-- Bayesian optimisation of a space. A Gaussian process with a Matern 5/2
-- kernel, which has one length scale per parameter, is fitted to the logarithms
-- of the costs so far; the candidate with the largest expected improvement is
-- measured next (Jones, Schonlau and Welch 1998; Rasmussen and Williams 2006,
-- chapters 2, 4 and 5). Failed candidates count as much as the worst one that
-- did not fail.

local bayes = {}

local noise = 1e-3          -- variance of a measurement, relative to that of all
local lengths = { 0.15, 0.3, 0.6, 1.2, 2.5, 5 }     -- length scales tried; parameters: 0 to 1

local function matern(a, b, inverse)
    local sum = 0
    for k = 1, #a do
        local d = (a[k] - b[k]) * inverse[k]
        sum = sum + d * d
    end
    local r = math.sqrt(5 * sum)
    return (1 + r + r * r / 3) * math.exp(-r)
end

-- ---- the fit: points, standardised values -> { lower, alpha, likelihood } ----

-- Computes row n of the Cholesky factor; `row` has the covariances with points
-- 1 .. n.
local function extend(lower, row, n)
    for k = 1, n do
        local sum, mine, other = row[k], row, lower[k] or row
        for m = 1, k - 1 do sum = sum - mine[m] * other[m] end
        row[k] = k < n and sum / other[k] or math.sqrt(math.max(sum, 1e-12))
    end
    lower[n] = row
end

local function factor(places, inverse)
    local lower = {}
    for n = 1, #places do
        local row = {}
        for k = 1, n - 1 do row[k] = matern(places[n], places[k], inverse) end
        row[n] = 1 + noise
        extend(lower, row, n)
    end
    return lower
end

-- Solves L z = values.
local function forward(lower, values)
    local z = {}
    for n = 1, #values do
        local sum, row = values[n], lower[n]
        for k = 1, n - 1 do sum = sum - row[k] * z[k] end
        z[n] = sum / row[n]
    end
    return z
end

-- Returns the logarithm of the marginal likelihood, up to a constant.
local function likelihood(places, values, inverse)
    local lower = factor(places, inverse)
    local z, sum = forward(lower, values), 0
    for n = 1, #values do sum = sum - 0.5 * z[n] ^ 2 - math.log(lower[n][n]) end
    return sum
end

-- Chooses one length scale after the other, each the likeliest given the
-- others, starting from those of the last fit.
local function fit(places, values, inverse)
    local best = likelihood(places, values, inverse)
    for k = 1, #inverse do
        local kept = inverse[k]
        for _, length in ipairs(lengths) do
            inverse[k] = 1 / length
            local found = likelihood(places, values, inverse)
            if found > best then best, kept = found, inverse[k] end
        end
        inverse[k] = kept
    end
end

-- ---- the expected improvement ----

-- Returns the standard normal distribution and its density; Abramowitz and
-- Stegun 7.1.26.
local function normal(x)
    local t = 1 / (1 + 0.3275911 * math.abs(x) / math.sqrt(2))
    local tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741
        + t * (-1.453152027 + t * 1.061405429)))) * math.exp(-x * x / 2)
    return x >= 0 and 1 - 0.5 * tail or 0.5 * tail, math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
end

local function improvement(mean, variance, best)
    local deviation = math.sqrt(math.max(variance, 1e-12))
    local z = (best - mean) / deviation
    local share, density = normal(z)
    return (best - mean) * share + deviation * density
end

-- Mean and variance at every candidate, updated point by point: `solved[n]` is
-- row n of L^-1 K(points, candidates).
local Model = {}
Model.__index = Model

local function new_model(space, inverse)
    local places, means, variances = {}, {}, {}
    for k = 1, space.size do places[k], means[k], variances[k] = space:place(k), 0, 1 end
    return setmetatable({ places = places, means = means, variances = variances, lower = {},
        z = {}, points = {}, solved = {}, inverse = inverse }, Model)
end

-- Adds the value of one more candidate.
function Model:add(index, value)
    local n, row, here = #self.points + 1, {}, self.places[index]
    for k = 1, n - 1 do row[k] = matern(here, self.places[self.points[k]], self.inverse) end
    row[n] = 1 + noise
    extend(self.lower, row, n)
    for k = 1, n - 1 do value = value - row[k] * self.z[k] end
    self.z[n], self.points[n] = value / row[n], index
    local solved, all, z, inverse = {}, self.solved, self.z[n], self.inverse
    for c = 1, #self.places do
        local sum = matern(here, self.places[c], inverse)
        for k = 1, n - 1 do sum = sum - row[k] * all[k][c] end
        sum = sum / row[n]
        solved[c] = sum
        self.means[c] = self.means[c] + sum * z
        self.variances[c] = self.variances[c] - sum * sum
    end
    all[n] = solved
end

function Model:most_promising(best, seen)
    local chosen, most = nil, -math.huge
    for c = 1, #self.places do
        if not seen[c] then
            local found = improvement(self.means[c], self.variances[c], best)
            if found > most then chosen, most = c, found end
        end
    end
    return chosen
end

-- ---- the search ----

-- Returns the logarithms of the costs, scaled to mean 0 and deviation 1, and
-- the smallest.
local function standardised(costs)
    local worst, sum, squares, n = -math.huge, 0, 0, #costs
    for _, cost in ipairs(costs) do
        if cost < math.huge then worst = math.max(worst, math.log(cost)) end
    end
    if worst == -math.huge then worst = 0 end
    local logs, best = {}, math.huge
    for k, cost in ipairs(costs) do
        logs[k] = cost < math.huge and math.log(cost) or worst
        sum, squares = sum + logs[k], squares + logs[k] ^ 2
    end
    local deviation = math.sqrt(math.max(squares / n - (sum / n) ^ 2, 1e-12))
    for k = 1, n do
        logs[k] = (logs[k] - sum / n) / deviation
        best = math.min(best, logs[k])
    end
    return logs, best
end

local function refit(search, known, values, inverse)
    local places = {}
    for k, index in ipairs(known.list) do places[k] = search.space:place(index) end
    fit(places, values, inverse)
    local model = new_model(search.space, inverse)
    for k, index in ipairs(known.list) do model:add(index, values[k]) end
    return model
end

local function learn(known, list, costs)
    for k, index in ipairs(list) do
        known.list[#known.list + 1], known.costs[#known.costs + 1] = index, costs[k]
        known.seen[index] = true
    end
end

-- A strategy of strategies.lua. options: start = the number of random
-- candidates at the beginning, explore.
function bayes.search(search)
    local space, known, inverse = search.space, { list = {}, costs = {}, seen = {} }, {}
    for k = 1, #space.names do inverse[k] = 1 / 0.6 end
    local first, wanted = {}, math.min(search.options.start or 10, space.size)
    while #first < wanted do
        local index = math.floor(search.random() * space.size) + 1
        if not known.seen[index] then first[#first + 1], known.seen[index] = index, true end
    end
    learn(known, first, search.ask(first))
    while #known.list < space.size do
        local values, best = standardised(known.costs)
        local model = refit(search, known, values, inverse)
        for _ = 1, search.options.explore or 3 do       -- candidates between two fits
            local next = model:most_promising(best, known.seen)
            if not next then return end
            local cost = search.ask({ next })[1]
            learn(known, { next }, { cost })
            local all, least = standardised(known.costs)
            model:add(next, all[#all])
            best = math.min(best, least)
        end
    end
end

return bayes
