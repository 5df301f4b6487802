-- The tide on the open boundary of a sea, from gauges within (inversion.lua), in two steps. The
-- main constituent is strong: friction makes what it does depend on itself, and each linearisation
-- takes two runs a knot of the boundary (chain.lua). Beside it the others are weak: it has made
-- friction linear for them, and one run a knot tells all of them, to a complex factor.

local inversion = require 'mare.tide.inversion'
local tides = require 'mare.forcing.tides'

local inverse = {}

local Inverse = {}
Inverse.__index = Inverse

local folds = 5
local chords = 8            -- steps of each fold
local small = 0.05          -- m, of a weak constituent on the boundary
local resistance = 4e-5     -- 1/s, of the linear friction of a first guess

-- { chain = of chain.new, whose sea() takes the r of a linear friction (1/s) or nil for its own,
-- gauges = list of mare.gauges at its places, smooth = weight, rounds = at most, periods = of a run
-- of the main constituent, the last one analysed, days = of a run with all, say = function(format,
-- ...) for progress }. Returns it; after main() and others() `boundary` has the controls of each
-- constituent, and `scores` { fitted =, left_out = median vector errors (m) }.
function inverse.new(desc)
    local self = setmetatable({ boundary = {}, scores = {} }, Inverse)
    for key, value in pairs(desc) do self[key] = value end
    return self
end

-- A constituent at the gauges: { values, scale = what miss is no surprise, smooth = weight }. One
-- that a gauge does not have is taken for 0, of no weight.
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

-- A constituent that has nothing, but `much` at knot number `at`.
local function single(self, at, much)
    local list = {}
    for k = 1, self.chain.knots do list[k] = { k == at and much or 0, 0 } end
    return list
end

-- Controls from responses[k][g], what one of knot k does at gauge g; and what the gauges get.
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

-- What gauges see of several sets of controls.
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

-- Finds the constituent without any other.
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

-- The one of `list` that runs of those days do not tell from `name`, whose response is as good; nil
-- where there is none. The first is the main one, and never meant.
local function twin(self, name, list)
    for n = 2, #list do
        local apart = math.abs(tides.speeds[name] - tides.speeds[list[n]])
        if apart * 24 * self.days < 360 then return list[n] end
    end
end

-- responses[NAME][k][g] of all but the first of `list`, beside that.
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

-- Finds all but the first of these, which main() has found.
function Inverse:others(names)
    local apart = { names[1] }
    for n = 2, #names do
        if not twin(self, names[n], apart) then apart[#apart + 1] = names[n] end
    end
    local responses = apart[2] and respond(self, apart)
    for n = 2, #names do fit_other(self, names[n], responses[twin(self, names[n], apart)]) end
end

return inverse
