-- Which tide on an open boundary do gauges want? The boundary is given by controls, complex numbers
-- { re, im } along it, and a model tells what each gauge sees. Friction makes that not linear, nor
-- a function of a complex variable: a little more of a control does one thing along its real axis
-- and another along the imaginary one. So the method is Gauss and Newton's in real numbers: both
-- derivatives of each control from a run each, weighted least squares for the change, of which the
-- best of several dampings is taken, and again. Weights are Cauchy's: a gauge that no boundary
-- serves, at the head of an estuary, pulls the less the more it is off.

local errors = require 'bindings.errors'

local inversion = {}

-- ---- least squares ----

-- Solves the symmetric positive a x = b of n unknowns, rows of `a` one after the other, in place.
local function solve(a, b, n)
    for k = 1, n do
        local pivot = a[(k - 1) * n + k]
        if pivot <= 0 then
            errors.raise('MARE_ERROR_STATE', 'inversion: unknown %d of %d is not determined', k, n)
        end
        for i = k + 1, n do
            local share = a[(i - 1) * n + k] / pivot
            if share ~= 0 then
                for j = k, n do
                    a[(i - 1) * n + j] = a[(i - 1) * n + j] - share * a[(k - 1) * n + j]
                end
                b[i] = b[i] - share * b[k]
            end
        end
    end
    for k = n, 1, -1 do
        for j = k + 1, n do b[k] = b[k] - a[(k - 1) * n + j] * b[j] end
        b[k] = b[k] / a[(k - 1) * n + k]
    end
    return b
end

local Squares = {}
Squares.__index = Squares

local function squares(n)
    local self = setmetatable({ n = n, a = {}, b = {} }, Squares)
    for k = 1, n * n do self.a[k] = 0 end
    for k = 1, n do self.b[k] = 0 end
    return self
end

-- Adds the equation sum of row[k] x[k] = right, of real numbers, with a weight.
function Squares:add(row, right, weight)
    local a, b, n = self.a, self.b, self.n
    for i, p in pairs(row) do
        b[i] = b[i] + weight * p * right
        for j, q in pairs(row) do
            a[(i - 1) * n + j] = a[(i - 1) * n + j] + weight * p * q
        end
    end
end

-- As complex numbers, of which all real parts come first.
function Squares:solve()
    local x, list, half = solve(self.a, self.b, self.n), {}, self.n / 2
    for k = 1, half do list[k] = { x[k], x[half + k] } end
    return list
end

-- sum of row[k] x[k], of complex numbers
function inversion.apply(row, x)
    local re, im = 0, 0
    for k, value in ipairs(x) do
        re = re + row[k][1] * value[1] - row[k][2] * value[2]
        im = im + row[k][1] * value[2] + row[k][2] * value[1]
    end
    return { re, im }
end

-- sum of row[k] x[k] of real row[k], for those that there are
local function mean_of(row, x)
    local re, im = 0, 0
    for k, share in pairs(row) do re, im = re + share * x[k][1], im + share * x[k][2] end
    return re, im
end

-- Wants the controls x + what is looked for to be smooth.
local function add_smoothness(sums, desc, x)
    local n = sums.n / 2
    for _, row in ipairs(desc.smoothness) do
        local re, im = mean_of(row, x)
        local shifted = {}
        for k, share in pairs(row) do shifted[n + k] = share end
        sums:add(row, -re, desc.smooth)
        sums:add(shifted, -im, desc.smooth)
    end
end

local function zeros(n)
    local list = {}
    for k = 1, n do list[k] = { 0, 0 } end
    return list
end

-- The x that minimises the sum of weights[g] |right[g] - sum over k of rows[g][k] x[k]|^2, all
-- complex, and of smooth |sum of row[k] x[k]|^2 over `smoothness`, rows { [k] = number } of what
-- should vanish. skip = function(g) -> whether to leave that out, or nil
function inversion.fit(desc)
    local n, sums = desc.unknowns, squares(2 * desc.unknowns)
    for g, row in ipairs(desc.rows) do
        if not (desc.skip and desc.skip(g)) then
            local re, im = {}, {}
            for k = 1, n do
                re[k], re[n + k] = row[k][1], -row[k][2]
                im[k], im[n + k] = row[k][2], row[k][1]
            end
            sums:add(re, desc.right[g][1], desc.weights[g])
            sums:add(im, desc.right[g][2], desc.weights[g])
        end
    end
    add_smoothness(sums, desc, zeros(n))
    return sums:solve()
end

-- The same with weights that follow from the misses: 1 / (scale[g]^2 + miss^2). Returns x, and what
-- the rows make of it.
function inversion.fit_robustly(desc)
    local weights, seen, x = {}, {}, nil
    local problem = setmetatable({ weights = weights }, { __index = desc })
    for g in ipairs(desc.rows) do weights[g] = 1 / desc.scale[g] ^ 2 end
    for _ = 1, 5 do
        x = inversion.fit(problem)
        for g, z in ipairs(desc.right) do
            seen[g] = inversion.apply(desc.rows[g], x)
            local re, im = z[1] - seen[g][1], z[2] - seen[g][2]
            weights[g] = 1 / (desc.scale[g] ^ 2 + re * re + im * im)
        end
    end
    return x, seen
end

-- ---- Gauss and Newton ----

local function miss(desc, g, predicted)
    local z, p = desc.observed[g], predicted[g]
    local re, im = z[1] - p[1], z[2] - p[2]
    return re, im, re * re + im * im
end

-- What is made small: logarithms of 1 + (miss / scale)^2, and roughness.
local function cost(desc, x, predicted)
    local sum = 0
    for g in ipairs(desc.observed) do
        if not (desc.skip and desc.skip(g)) then
            local _, _, square = miss(desc, g, predicted)
            sum = sum + math.log(1 + square / desc.scale[g] ^ 2)
        end
    end
    for _, row in ipairs(desc.smoothness) do
        local re, im = mean_of(row, x)
        sum = sum + desc.smooth * (re * re + im * im)
    end
    return sum
end

-- x and a step from it, which a damping shortens.
local function stepped(desc, x, predicted, rows, damping)
    local n, sums = desc.unknowns, squares(2 * desc.unknowns)
    for g, row in ipairs(rows) do
        if not (desc.skip and desc.skip(g)) then
            local re, im, square = miss(desc, g, predicted)
            local weight = 1 / (desc.scale[g] ^ 2 + square)
            sums:add(row[1], re, weight)
            sums:add(row[2], im, weight)
        end
    end
    add_smoothness(sums, desc, x)
    for k = 1, 2 * n do sums:add({ [k] = 1 }, 0, damping) end
    local step = sums:solve()
    for k = 1, n do step[k] = { x[k][1] + step[k][1], x[k][2] + step[k][2] } end
    return step
end

-- For each gauge { derivatives of its real part, of its imaginary part }, by all real parts of x
-- and then by all imaginary ones; from runs that have `delta` more of one.
local function derivatives(desc, x, predicted)
    local list, n, rows = {}, desc.unknowns, {}
    for k = 1, 2 * n do
        local more = {}
        for m = 1, n do
            more[m] = { x[m][1] + (m == k and desc.delta or 0),
                x[m][2] + (m + n == k and desc.delta or 0) }
        end
        list[k] = more
    end
    local raised = desc.compute(list)
    for g, value in ipairs(predicted) do
        rows[g] = { {}, {} }
        for k = 1, 2 * n do
            for part = 1, 2 do
                rows[g][part][k] = (raised[k][g][part] - value[part]) / desc.delta
            end
        end
    end
    return rows
end

local dampings = { 0.01, 0.3, 3, 30, 300 }

-- Controls that gauges want. desc: { unknowns = how many, observed = { { re, im }, ... } of gauges,
-- scale = { a miss that is no surprise, ... }, compute = function({ x, ... }) -> { { { re, im } of
-- each gauge }, ... } for several sets of controls at once, smoothness, smooth, skip = as of fit(),
-- guess = function(skip) -> a first one, rounds =, delta = how much more of a control tells a
-- derivative, tell = function(round, cost, predicted) or nil }. Returns { x =, predicted =, rows =
-- derivatives }.
function inversion.descend(desc)
    local found = { x = desc.guess(desc.skip) }
    found.predicted = desc.compute({ found.x })[1]
    local least = cost(desc, found.x, found.predicted)
    for round = 1, desc.rounds do
        local before, list = least, {}
        found.rows = derivatives(desc, found.x, found.predicted)
        for k, damping in ipairs(dampings) do
            list[k] = stepped(desc, found.x, found.predicted, found.rows, damping)
        end
        for k, predicted in ipairs(desc.compute(list)) do
            local value = cost(desc, list[k], predicted)
            if value < least then least, found.x, found.predicted = value, list[k], predicted end
        end
        if desc.tell then desc.tell(round, least, found.predicted) end
        if least > 0.999 * before then break end
    end
    return found
end

-- What gauges see that were not asked: the folds, each without every `folds`-th gauge, start from
-- desc.guess(skip), a first guess without them, and go `rounds` steps with the derivatives of
-- `found`, of descend(), which saves all but one run a step. Returns { { re, im }, ... } of each
-- gauge, from the fold that does not know it.
function inversion.validate(desc, found, folds, rounds)
    local problems, xs, unseen = {}, {}, {}
    for fold = 1, folds do
        local function skip(g) return g % folds == fold % folds end
        problems[fold] = setmetatable({ skip = skip }, { __index = desc })
        xs[fold] = desc.guess(skip)
    end
    local all = desc.compute(xs)
    for _ = 1, rounds do
        for fold = 1, folds do
            xs[fold] = stepped(problems[fold], xs[fold], all[fold], found.rows, dampings[1])
        end
        all = desc.compute(xs)
    end
    for g in ipairs(desc.observed) do unseen[g] = all[(g - 1) % folds + 1][g] end
    return unseen
end

return inversion
