-- Finds the tide on an open boundary that fits gauges best. The boundary is
-- given by controls, complex numbers { re, im } along it; a model computes what
-- each gauge observes. Because of friction this is not linear, nor an analytic
-- function of the controls: changes along the real and the imaginary axis have
-- different effects. So the method is Gauss-Newton in real numbers. It takes
-- both derivatives of each control from one run each, solves weighted least
-- squares for the change, takes the best of several dampings, and repeats. The
-- weights are Cauchy's: a gauge that no boundary fits, at the head of an
-- estuary, counts less the larger its miss is.

local errors = require 'bindings.errors'

local inversion = {}

-- ---- least squares ----

-- Solves a x = b for n unknowns in place; `a` is symmetric positive definite,
-- stored by rows.
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

-- Adds the real equation sum of row[k] x[k] = right, with a weight.
function Squares:add(row, right, weight)
    local a, b, n = self.a, self.b, self.n
    for i, p in pairs(row) do
        b[i] = b[i] + weight * p * right
        for j, q in pairs(row) do
            a[(i - 1) * n + j] = a[(i - 1) * n + j] + weight * p * q
        end
    end
end

-- Returns the solution as complex numbers. All real parts come first in the
-- equations.
function Squares:solve()
    local x, list, half = solve(self.a, self.b, self.n), {}, self.n / 2
    for k = 1, half do list[k] = { x[k], x[half + k] } end
    return list
end

-- Returns the complex sum of row[k] x[k].
function inversion.apply(row, x)
    local re, im = 0, 0
    for k, value in ipairs(x) do
        re = re + row[k][1] * value[1] - row[k][2] * value[2]
        im = im + row[k][1] * value[2] + row[k][2] * value[1]
    end
    return { re, im }
end

-- Returns the sum of row[k] x[k] over the real entries that row has.
local function mean_of(row, x)
    local re, im = 0, 0
    for k, share in pairs(row) do re, im = re + share * x[k][1], im + share * x[k][2] end
    return re, im
end

-- Adds equations that make the controls x plus the unknown change smooth.
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

-- Returns the complex x that minimises the sum of weights[g] |right[g] - sum
-- over k of rows[g][k] x[k]|^2 and of smooth |sum of row[k] x[k]|^2 over the
-- rows { [k] = number } of `smoothness`. skip = function(g) -> whether to leave
-- gauge g out, or nil.
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

-- Does the same with weights 1 / (scale[g]^2 + miss^2), which follow from the
-- misses. Returns x, and its values at the gauges.
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

-- ---- Gauss-Newton ----

local function miss(desc, g, predicted)
    local z, p = desc.observed[g], predicted[g]
    local re, im = z[1] - p[1], z[2] - p[2]
    return re, im, re * re + im * im
end

-- Returns the cost to be minimised: logarithms of 1 + (miss / scale)^2, and
-- roughness.
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

-- Returns x after one step, shortened by damping.
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

-- Returns for each gauge the derivatives of its real part and of its imaginary
-- part, with respect to all real parts of x and then to all imaginary parts.
-- Each comes from a run with `delta` added to one of them.
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

-- Finds the controls that fit the gauges. desc: { unknowns = their number,
--   observed = { { re, im }, ... } at the gauges, scale = { the expected miss of each, ... },
--   compute = function({ x, ... }) -> { { { re, im } of each gauge }, ... } for several x at once,
--   smoothness, smooth, skip = as for fit(), guess = function(skip) -> the first x, rounds =,
--   delta = the change of a control for derivatives,
--   tell = function(round, cost, predicted) or nil }.
-- Returns { x =, predicted =, rows = derivatives }.
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

-- Cross-validates: predicts each gauge from the others. Each fold leaves out
-- every `folds`-th gauge, starts from desc.guess(skip) without them, and takes
-- `rounds` steps with the derivatives of `found`, the result of descend(),
-- which saves all but one run per step. Returns { { re, im }, ... } of each
-- gauge, from the fold that does not use it.
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
