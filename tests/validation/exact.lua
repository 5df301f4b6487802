-- exact.lua - closed-form solutions, written for the tests alone.

local gauss = require 'tests.validation.gauss'

local exact = {}

local pi = math.pi

local function conserved(gamma, rho, u, v, p)
    return rho, rho * u, rho * v, p / (gamma - 1) + 0.5 * rho * (u * u + v * v)
end

-- Returns a simple wave as point(x, y) -> unknowns at time t, before any shock.
-- It runs along the vector k of whole numbers in a periodic unit square. The
-- entropy and u - 2 c / (gamma - 1) are constant, so each value of u moves at u
-- + c. Density and sound speed are 1 where u = 0.
function exact.simple_wave(gamma, amplitude, k, t)
    local length = math.sqrt(k[1] ^ 2 + k[2] ^ 2)
    local nx, ny = k[1] / length, k[2] / length
    local steepness = 0.5 * (gamma + 1) * length * t
    -- w(s) = amplitude sin(2 pi (s - length t - steepness w)), by Newton's method.
    local function velocity(s)
        local w = 0
        for _ = 1, 20 do
            local phase = 2 * pi * (s - length * t - steepness * w)
            local slope = 1 + amplitude * 2 * pi * steepness * math.cos(phase)
            local change = (w - amplitude * math.sin(phase)) / slope
            w = w - change
            if math.abs(change) < 1e-14 then break end
        end
        return w
    end
    return function(x, y)
        local w = velocity(k[1] * x + k[2] * y)
        local c = 1 + 0.5 * (gamma - 1) * w
        local rho = c ^ (2 / (gamma - 1))
        return conserved(gamma, rho, w * nx, w * ny, rho * c * c / gamma)
    end
end

-- Returns the isentropic vortex of strength 5 (Shu 1998) around the origin in a
-- wind (u0, v0), at t = 0.
function exact.vortex(gamma, u0, v0)
    local beta = 5
    return function(x, y)
        local bump = math.exp(0.5 * (1 - x * x - y * y))
        local temperature = 1 - (gamma - 1) * beta ^ 2 / (8 * gamma * pi ^ 2) * bump * bump
        local rho, swirl = temperature ^ (1 / (gamma - 1)), beta / (2 * pi) * bump
        return conserved(gamma, rho, u0 - swirl * y, v0 + swirl * x, rho * temperature)
    end
end

-- ---- Riemann problems of an ideal gas, states { rho, u, p } ----

-- Returns what a wave to pressure p does to the gas in front of it: the change
-- of velocity, the density behind, and the speeds of its head and tail relative
-- to that gas (Rankine-Hugoniot; Riemann invariants).
local function wave(q, p, gamma)
    local rho, c = q[1], math.sqrt(gamma * q[3] / q[1])
    if p > q[3] then
        local mass = math.sqrt(0.5 * rho * ((gamma + 1) * p + (gamma - 1) * q[3]))
        local dv = (p - q[3]) / mass
        return dv, rho * mass / (mass - rho * dv), mass / rho, mass / rho
    end
    local behind = c * (p / q[3]) ^ (0.5 * (gamma - 1) / gamma)
    local dv = 2 / (gamma - 1) * (behind - c)
    return dv, rho * (p / q[3]) ^ (1 / gamma), c, behind + dv
end

-- Returns the state on one side of the contact at the speed xi away from it,
-- oriented so that its wave moves in +xi.
local function side(q, u, p, gamma, xi)
    local _, rho, head, tail = wave(q, p, gamma)
    if xi >= q[2] + head then return q[1], q[2], q[3] end
    if xi <= q[2] + tail then return rho, u, p end
    local c0 = math.sqrt(gamma * q[3] / q[1])
    local c = ((gamma - 1) * (xi - q[2]) + 2 * c0) / (gamma + 1)
    return q[1] * (c / c0) ^ (2 / (gamma - 1)), xi - c, q[3] * (c / c0) ^ (2 * gamma / (gamma - 1))
end

local function middle(left, right, gamma)
    local low, high = -30, 30       -- of log p; the velocities cross exactly once between these
    for _ = 1, 200 do
        local p = math.exp(0.5 * (low + high))
        if left[2] - wave(left, p, gamma) > right[2] + wave(right, p, gamma) then
            low = 0.5 * (low + high)
        else
            high = 0.5 * (low + high)
        end
    end
    local p = math.exp(0.5 * (low + high))
    return p, 0.5 * (left[2] - wave(left, p, gamma) + right[2] + wave(right, p, gamma))
end

-- Returns at(xi) -> rho, u, p on the ray x = xi t; the ordered speeds at which
-- it is not smooth; p and u in the middle.
function exact.riemann(left, right, gamma)
    local p, u = middle(left, right, gamma)
    local turned = { left[1], -left[2], left[3] }
    local function at(xi)
        if xi > u then return side(right, u, p, gamma, xi) end
        local rho, v, q = side(turned, -u, p, gamma, -xi)
        return rho, -v, q
    end
    local _, _, head_l, tail_l = wave(left, p, gamma)
    local _, _, head_r, tail_r = wave(right, p, gamma)
    return at, { left[2] - head_l, left[2] - tail_l, u, right[2] + tail_r, right[2] + head_r }, p, u
end

-- Returns the means of the density over n cells of [0, 1] for one of
-- problems.lua, from index 0, integrated piece by piece between the waves.
function exact.riemann_density(problem, n, gamma)
    local at, speeds = exact.riemann(problem[1], problem[2], gamma)
    local function rho(x) return (at((x - problem.x0) / problem.t)) end
    local means = {}
    for i = 0, n - 1 do
        local sum, from, b = 0, i / n, (i + 1) / n
        for _, speed in ipairs(speeds) do
            local to = problem.x0 + speed * problem.t
            if to > from and to < b then
                sum, from = sum + gauss.integral(rho, from, to), to
            end
        end
        means[i] = (sum + gauss.integral(rho, from, b)) * n
    end
    return means
end

return exact
