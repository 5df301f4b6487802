-- textbook.lua - a plain one-dimensional Euler solver, independent of Mare's:
-- MUSCL in primitive variables, HLLC with Davis' speeds, two-stage Runge-Kutta
-- (Shu and Osher), Courant number 0.45; without a limiter it uses constant
-- states and Euler's method. It makes the baselines of problems.lua: build/mare
-- tests/validation/textbook.lua

local exact = require 'tests.validation.exact'
local problems = require 'tests.validation.problems'

local gamma = 1.4

local limiters = {
    none = function() return 0 end,
    minmod = function(a, b)
        if a * b <= 0 then return 0 end
        return math.abs(a) < math.abs(b) and a or b
    end,
    mc = function(a, b)
        if a * b <= 0 then return 0 end
        local size = math.min(2 * math.abs(a), 2 * math.abs(b), 0.5 * math.abs(a + b))
        return a > 0 and size or -size
    end,
}

-- States are { rho, u, p }, unknowns { rho, rho u, E }.
local function unknowns(w)
    return { w[1], w[1] * w[2], w[3] / (gamma - 1) + 0.5 * w[1] * w[2] ^ 2 }
end

local function primitive(q)
    local u = q[2] / q[1]
    return { q[1], u, (gamma - 1) * (q[3] - 0.5 * q[2] * u) }
end

local function hllc(l, r)
    local cl, cr = math.sqrt(gamma * l[3] / l[1]), math.sqrt(gamma * r[3] / r[1])
    local sl, sr = math.min(l[2] - cl, r[2] - cr), math.max(l[2] + cl, r[2] + cr)
    local ml, mr = l[1] * (sl - l[2]), r[1] * (sr - r[2])
    local contact = (r[3] - l[3] + l[2] * ml - r[2] * mr) / (ml - mr)
    local w = contact >= 0 and l or r
    local s, m = contact >= 0 and sl or sr, contact >= 0 and ml or mr
    local q = unknowns(w)
    local flux = { q[2], q[2] * w[2] + w[3], w[2] * (q[3] + w[3]) }
    if s * (contact >= 0 and 1 or -1) >= 0 then return flux end
    local rho = m / (s - contact)
    local energy = rho * (q[3] / w[1] + (contact - w[2]) * (contact + w[3] / m))
    local star = { rho, rho * contact, energy }
    for k = 1, 3 do flux[k] = flux[k] + s * (star[k] - q[k]) end
    return flux
end

-- Returns the states of cell w at its faces, between neighbours a and b.
local function faces(a, w, b, limiter)
    local low, high = {}, {}
    for k = 1, 3 do
        local half = 0.5 * limiter(w[k] - a[k], b[k] - w[k])
        low[k], high[k] = w[k] - half, w[k] + half
    end
    return low, high
end

-- Does one Euler step of the unknowns q[1 .. n], with outflow at both ends.
local function stage(q, lambda, limiter)
    local n, w, low, high = #q, {}, {}, {}
    for i = 1, n do w[i] = primitive(q[i]) end
    for i = 1, n do low[i], high[i] = faces(w[i - 1] or w[1], w[i], w[i + 1] or w[n], limiter) end
    local new, left = {}, hllc(w[1], low[1])
    for i = 1, n do
        local right = hllc(high[i], low[i + 1] or w[n])
        new[i] = {}
        for k = 1, 3 do new[i][k] = q[i][k] + lambda * (left[k] - right[k]) end
        left = right
    end
    return new
end

local function step(q, lambda, limiter)
    local once = stage(q, lambda, limiter)
    if limiter == limiters.none then return once end
    local twice, new = stage(once, lambda, limiter), {}
    for i = 1, #q do
        new[i] = {}
        for k = 1, 3 do new[i][k] = 0.5 * (q[i][k] + twice[i][k]) end
    end
    return new
end

local function fastest(q)
    local speed = 0
    for i = 1, #q do
        local w = primitive(q[i])
        speed = math.max(speed, math.abs(w[2]) + math.sqrt(gamma * w[3] / w[1]))
    end
    return speed
end

local function density_error(problem, n, limiter)
    local q, t = {}, 0
    for i = 1, n do q[i] = unknowns((i - 0.5) / n < problem.x0 and problem[1] or problem[2]) end
    while t < problem.t do
        local dt = math.min(0.45 / (n * fastest(q)), problem.t - t)
        q, t = step(q, dt * n, limiter), t + dt
    end
    local means, sum = exact.riemann_density(problem, n, gamma), 0
    for i = 1, n do sum = sum + math.abs(q[i][1] - means[i - 1]) end
    return sum / n
end

for _, problem in ipairs(problems) do
    for _, name in ipairs { 'none', 'minmod', 'mc' } do
        local errors = {}
        for _, n in ipairs { 100, 200, 400 } do
            errors[#errors + 1] = ('%.3g'):format(density_error(problem, n, limiters[name]))
        end
        print(problem.name, ('%s = { %s },'):format(name, table.concat(errors, ', ')))
    end
end
