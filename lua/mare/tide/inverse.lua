-- Finds the tide on the open boundary of a sea from gauges inside
-- (inversion.lua), in two steps. The main constituent is strong: through
-- friction its effect depends on itself, and each linearisation takes two runs
-- per knot of the boundary (chain.lua). The others are weak: beside the main
-- one, friction is linear for them, and one run per knot gives the response to
-- all of them, up to a complex factor.

local inversion = require 'mare.tide.inversion'
local tables = require 'bindings.tables'
local tides = require 'mare.forcing.tides'

local inverse = {}

local Inverse = {}
Inverse.__index = Inverse

local folds = 5
local chords = 8            -- iterations of each fold of the cross-validation
local small = 0.05          -- m, of a weak constituent on the boundary
local resistance = 4e-5     -- 1/s, of linear friction for the first guess

-- desc: { chain = of chain.new, whose sea() takes the coefficient of linear friction (1/s), or nil
--     for its own friction,
--   gauges = of mare.gauges, at the places of the chain, smooth = weight, rounds = at most,
--   periods = of a run of the main constituent, the last of which is analysed,
--   days = of a run with all constituents, say = function(format, ...) for progress }.
-- After main() and others(), `boundary` has the controls of each constituent, and `scores` has
-- { fitted =, left_out = median vector errors (m) }.
function inverse.new(desc)
    return setmetatable(tables.merged({ boundary = {}, scores = {} }, desc), Inverse)
end

-- Returns a constituent at the gauges: { values, scale = expected misses,
-- smooth = weight }. For a gauge without this constituent it is 0 with no
-- weight.
local function observed(self, name)
    local list, sum, count = { values = {}, scale = {} }, 0, 0
    for g, gauge in ipairs(self.gauges) do
        local wave = gauge.constituents[name] or {}
        local amplitude, angle = wave.amplitude or 0, math.rad(wave.phase or 0)
        list.values[g] = { amplitude * math.cos(angle), amplitude * math.sin(angle) }
        list.scale[g] = amplitude > 0 and 0.1 * amplitude or math.huge
        if amplitude > 0 then sum, count = sum + amplitude, count + 1 end
    end
    for g = 1, #self.gauges do list.scale[g] = list.scale[g] + 0.05 * sum / count end
    list.smooth = self.smooth * (count / sum) ^ 2
    return list
end

local function median_error(wanted, predicted)
    local list = {}
    for g, z in ipairs(wanted.values) do
        local re, im = predicted[g][1] - z[1], predicted[g][2] - z[2]
        if wanted.scale[g] < math.huge then list[#list + 1] = math.sqrt((re * re + im * im) / 2) end
    end
    return tides.median(list)
end

local function score(self, name, wanted, fitted, left_out)
    local s = { fitted = median_error(wanted, fitted), left_out = median_error(wanted, left_out) }
    self.scores[name] = s
    self.say('%s: median error %.4f m at gauges that were fitted, %.4f m at those left out', name,
        s.fitted, s.left_out)
end

-- Returns a constituent that is `much` at knot number `at` and 0 elsewhere.
local function single(self, at, much)
    local list = {}
    for k = 1, self.chain.knots do list[k] = { k == at and much or 0, 0 } end
    return list
end

-- Returns the controls that fit best, and the resulting values at the gauges.
-- responses[k][g]: of gauge g to knot k.
local function fit(self, responses, wanted, skip)
    local rows = {}
    for g in ipairs(self.gauges) do
        rows[g] = {}
        for k = 1, self.chain.knots do rows[g][k] = responses[k][g] end
    end
    return inversion.fit_robustly { unknowns = self.chain.knots, rows = rows, skip = skip,
        right = wanted.values, scale = wanted.scale, smooth = wanted.smooth,
        smoothness = self.chain.smoothness }
end

-- ---- the main constituent ----

-- Computes the main constituent at the gauges for several sets of controls.
local function compute_main(self, name, list, r)
    local boundaries, seen, period = {}, {}, 1296000 / tides.speeds[name]
    for m, x in ipairs(list) do boundaries[m] = { [name] = x } end
    local times = { last = self.periods * period, from = (self.periods - 1) * period,
        ramp = 1.5 * period }
    for m, waves in ipairs(self.chain:compute(boundaries, { name }, times, r)) do
        seen[m] = {}
        for g, wave in ipairs(waves) do seen[m][g] = wave[name] end
    end
    return seen
end

-- Finds the main constituent, without any other.
function Inverse:main(name)
    local chain, wanted, list = self.chain, observed(self, name), {}
    for k = 1, chain.knots do list[k] = single(self, k, 1) end
    local responses = compute_main(self, name, list, resistance)
    local problem = { unknowns = chain.knots, smoothness = chain.smoothness, rounds = self.rounds,
        observed = wanted.values, scale = wanted.scale, smooth = wanted.smooth, delta = small }
    function problem.guess(skip) return (fit(self, responses, wanted, skip)) end
    function problem.compute(controls) return compute_main(self, name, controls) end
    function problem.tell(round, cost, predicted)
        self.say('round %d, %d knots, %d gauges: cost %.2f, median error %.3f m', round,
            chain.knots, #self.gauges, cost, median_error(wanted, predicted))
    end
    local found = inversion.descend(problem)
    self.boundary[name] = found.x
    score(self, name, wanted, found.predicted, inversion.validate(problem, found, folds, chords))
end

-- ---- the others ----

-- Returns the constituent of `list` that a run of so many days cannot separate
-- from `name`, and whose response can therefore be used for it; nil if there is
-- none. The first constituent, the main one, is never returned.
local function twin(self, name, list)
    for n = 2, #list do
        local apart = math.abs(tides.speeds[name] - tides.speeds[list[n]])
        if apart * 24 * self.days < 360 then return list[n] end
    end
end

-- Returns responses[NAME][k][g] of all constituents in `list` but the first,
-- which is present.
local function respond(self, list)
    local boundaries, responses, period = {}, {}, 1296000 / tides.speeds[list[1]]
    for k = 1, self.chain.knots do
        boundaries[k] = { [list[1]] = self.boundary[list[1]] }
        for c = 2, #list do boundaries[k][list[c]] = single(self, k, small) end
    end
    local seen = self.chain:compute(boundaries, list, { last = 86400 * self.days,
        from = 4 * period, ramp = 1.5 * period })
    for c = 2, #list do
        local of = {}
        for k, gauges in ipairs(seen) do
            of[k] = {}
            for g, waves in ipairs(gauges) do
                local z = waves[list[c]]
                of[k][g] = { z[1] / small, z[2] / small }
            end
        end
        responses[list[c]] = of
    end
    return responses
end

local function fit_other(self, name, responses)
    local wanted, unseen = observed(self, name), {}
    for fold = 0, folds - 1 do
        local _, seen = fit(self, responses, wanted, function(g) return g % folds == fold end)
        for g in ipairs(seen) do unseen[g] = g % folds == fold and seen[g] or unseen[g] end
    end
    local x, seen = fit(self, responses, wanted)
    self.boundary[name] = x
    score(self, name, wanted, seen, unseen)
end

-- Finds the constituents but the first, which main() has found.
function Inverse:others(names)
    local apart = { names[1] }
    for n = 2, #names do
        if not twin(self, names[n], apart) then apart[#apart + 1] = names[n] end
    end
    local responses = apart[2] and respond(self, apart)
    for n = 2, #names do fit_other(self, names[n], responses[twin(self, names[n], apart)]) end
end

return inverse
