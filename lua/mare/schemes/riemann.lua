-- Solves the Riemann problem of an ideal gas exactly, after Toro, Riemann Solvers and
-- Numerical Methods for Fluid Dynamics, 3rd ed. (2009), chapter 4; equation numbers are his. A
-- state is { rho, u, p }.
--
--   local solution = riemann.solve(left, right, gamma)
--   solution.p, solution.u                  -- between the two waves
--   local rho, u, p = solution:sample(x / t)

local errors = require 'bindings.errors'

local riemann = {}

local Solution = {}
Solution.__index = Solution

-- Returns the change of velocity across the wave of side `s` if the pressure behind it is p, and
-- how it changes with p (4.6, 4.7, 4.37).
local function velocity_change(s, p, gamma)
    if p > s.p then                                                         -- shock
        local a = 2 / ((gamma + 1) * s.rho)
        local b = (gamma - 1) / (gamma + 1) * s.p
        local root = math.sqrt(a / (p + b))
        return (p - s.p) * root, root * (1 - (p - s.p) / (2 * (p + b)))
    end
    local ratio = p / s.p                                                   -- rarefaction
    return 2 * s.c / (gamma - 1) * (ratio ^ ((gamma - 1) / (2 * gamma)) - 1),
        ratio ^ (-(gamma + 1) / (2 * gamma)) / (s.rho * s.c)
end

-- Returns the two-rarefaction estimate (4.46): positive, exact where both waves are rarefactions.
local function first_guess(l, r, gamma)
    local z = (gamma - 1) / (2 * gamma)
    local top = l.c + r.c - (gamma - 1) / 2 * (r.u - l.u)
    return (top / (l.c / l.p ^ z + r.c / r.p ^ z)) ^ (1 / z)
end

-- Applies Newton's method to (4.5), whose left side rises monotonically and is concave.
local function star_pressure(l, r, gamma)
    local p = first_guess(l, r, gamma)
    for _ = 1, 100 do
        local fl, dl = velocity_change(l, p, gamma)
        local fr, dr = velocity_change(r, p, gamma)
        local new = math.max(p - (fl + fr + r.u - l.u) / (dl + dr), 1e-6 * p)
        if math.abs(new - p) <= 1e-14 * new then return new end
        p = new
    end
    return p
end

local function side(state, gamma)
    local rho, u, p = state[1], state[2], state[3]
    if not (rho > 0 and p > 0) then
        errors.argument 'riemann: density and pressure must be positive'
    end
    return { rho = rho, u = u, p = p, c = math.sqrt(gamma * p / rho) }
end

-- Returns the solution of a Riemann problem. left, right: { density, velocity, pressure }
function riemann.solve(left, right, gamma)
    local l, r = side(left, gamma), side(right, gamma)
    if r.u - l.u >= 2 * (l.c + r.c) / (gamma - 1) then
        errors.argument 'riemann: the states part so fast that a vacuum opens'          -- (4.82)
    end
    local p = star_pressure(l, r, gamma)
    local fl, fr = velocity_change(l, p, gamma), velocity_change(r, p, gamma)
    local u = 0.5 * (l.u + r.u + fr - fl)                                   -- (4.9)
    return setmetatable({ left = l, right = r, gamma = gamma, p = p, u = u }, Solution)
end

-- Returns the state at or behind a shock, by its density (4.50, 4.57) and whether the ray xi is
-- already behind its front (4.52, 4.59).
local function sample_shock(s, solution, xi)
    local g, ratio = solution.gamma, solution.p / s.p
    local speed = s.u - s.c * math.sqrt((g + 1) / (2 * g) * ratio + (g - 1) / (2 * g))
    if xi <= speed then return s.rho, s.u, s.p end
    local m = (g - 1) / (g + 1)
    return s.rho * (ratio + m) / (m * ratio + 1), solution.u, solution.p
end

-- Returns the state in front of, inside or behind a rarefaction (4.53 to 4.56).
local function sample_rarefaction(s, solution, xi)
    local g, ratio = solution.gamma, solution.p / s.p
    if xi <= s.u - s.c then return s.rho, s.u, s.p end
    if xi >= solution.u - s.c * ratio ^ ((g - 1) / (2 * g)) then
        return s.rho * ratio ^ (1 / g), solution.u, solution.p
    end
    local c = 2 / (g + 1) * (s.c + (g - 1) / 2 * (s.u - xi))
    return s.rho * (c / s.c) ^ (2 / (g - 1)), xi + c, s.p * (c / s.c) ^ (2 * g / (g - 1))
end

local function sample_left(s, solution, xi)
    local wave = solution.p > s.p and sample_shock or sample_rarefaction
    return wave(s, solution, xi)
end

-- Returns rho, u, p on the ray x = xi t. The right wave is the left one seen in a mirror.
function Solution:sample(xi)
    if xi <= self.u then return sample_left(self.left, self, xi) end
    local r = self.right
    local mirrored = { rho = r.rho, u = -r.u, p = r.p, c = r.c }
    local rho, u, p = sample_left(mirrored, { gamma = self.gamma, p = self.p, u = -self.u }, -xi)
    return rho, -u, p
end

return riemann
