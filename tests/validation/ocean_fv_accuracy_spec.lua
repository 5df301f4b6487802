-- Compares the finite-volume ocean schemes with exact solutions in deep water:
-- orders on a vortex that a current carries over a sloping bed of a rotating earth
-- (on a bump: water_accuracy_spec), steady flow over a bump and down a rough channel, a Kelvin
-- wave along a wall, and the effects of wind, pressure and friction.

local ocean = require 'mare.ocean'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local turns = require 'tests.turns'

local g = 9.81
local log2 = function(x) return math.log(x) / math.log(2) end

-- Returns the errors of runs on n, 2n, ... cells, and the order between the
-- last two; each run is recorded.
local function orders(key, sizes, run)
    local errors = {}
    for k, n in ipairs(sizes) do
        errors[k] = run(n)
        support.gate(('%s/%d'):format(key, n), errors[k])
    end
    return log2(errors[#errors - 1] / errors[#errors])
end

-- ---- a steady vortex, and one that a current carries: rotation, advection and bed together ----

local function vortex(n, name, drift)
    local V, R, H, f, L = 0.5, 30e3, 100, 1.2e-4, 240e3
    local function bed(_, y) return H + f * drift * y / g end       -- depth: the surface slopes too
    local function exact(t)
        return function(x, y)
            local dx = (x - drift * t + 0.5 * L) % L - 0.5 * L
            local q = (dx * dx + y * y) / R ^ 2
            local v = V / R * math.exp(0.5 * (1 - q))
            local eta = -(0.5 * V ^ 2 * math.exp(1 - q) + f * V * R * math.exp(0.5 * (1 - q))) / g
            return eta - f * drift * y / g, drift - v * y, v * dx
        end
    end
    local sim = support.simulation {
        nx = n, ny = n, x = { -0.5 * L, 0.5 * L }, y = { -0.5 * L, 0.5 * L }, precision = 'double',
        boundaries = { west = 'periodic', east = 'periodic', south = 'fixed', north = 'fixed' },
        scheme = ocean.new { scheme = name, depth = bed, coriolis = { f = f } },
        initial = exact(0),
    }
    local t = 4e4
    support.run_to(sim, t)
    local at, error, hv = exact(t), 0, sim:field 'hv'
    for k = 0, n * n - 1 do
        local x, y = sim.grid:x_centre(k % n), sim.grid:y_centre(math.floor(k / n))
        local _, _, v = at(x, y)
        error = error + math.abs(tonumber(hv[k]) - H * v)
    end
    sim:release()
    return error / n ^ 2 / H
end

describe('ocean, a vortex:', function()
    for _, name in ipairs(sample({ 'cdklm', 'kurganov_petrova' }, 1)) do
        for _, kind in ipairs(sample({ 'steady', 'drifting' }, 1)) do
            it(('order of %s, %s'):format(name, kind), function()
                local order = orders(('ocean/vortex/%s/%s'):format(name, kind), { 48, 96 },
                    function(n) return vortex(n, name, kind == 'drifting' and 0.5 or 0) end)
                support.show('order', order)
                support.at_least(1.95, order, 'order')
            end)
        end
    end
end)

-- ---- steady flow over a bump in a channel, and down a rough one ----

-- Discharge q (m2/s) along x through n cells of a channel L long, in time t; depth(x) is of still
-- water, eta and u are kept at both ends.
local function channel(n, L, depth, state, t, friction)
    local sim = support.simulation {
        nx = n, ny = 4, x = { 0, L }, y = { 0, 4 * L / n }, precision = 'double',
        boundaries = { west = 'fixed', east = 'fixed', south = 'periodic', north = 'periodic' },
        scheme = ocean.new { depth = depth, friction = friction }, initial = state,
    }
    support.run_to(sim, t)
    return sim
end

-- Returns the depth in subcritical or supercritical flow of discharge q and
-- energy head e over a bed at z.
local function depth_in(q, e, z, supercritical)
    local critical = (q * q / g) ^ (1 / 3)
    local low, high = critical, e - z
    if supercritical then low, high = 1e-6, critical end
    for _ = 1, 100 do
        local h = 0.5 * (low + high)
        local head = h + q * q / (2 * g * h * h) + z
        if (head > e) == (not supercritical) then high = h else low = h end
    end
    return 0.5 * (low + high)
end

local function hump(x) return math.max(0, 0.2 - 0.05 * (x - 10) ^ 2) end

-- Mean errors of the discharge and of the depth, relative. What passes between cells is the same
-- everywhere; transports at centres differ from it next to the kinks of a bed.
local function steady_errors(sim, q, exact)
    local hu, discharge, error, sum = sim:field 'hu', 0, 0, 0
    for i = 0, sim.grid.nx - 1 do
        discharge = discharge + math.abs(tonumber(hu[i]) / q - 1) / sim.grid.nx
    end
    local eta = sim:stored 'eta'
    for i = 0, sim.grid.nx - 1 do
        local h = exact(sim.grid:x_centre(i))
        error = error + math.abs(tonumber(eta[i]) + sim.domain.bed:depth_at(i, 0) - h)
        sum = sum + h
    end
    return discharge, error / sum
end

describe('ocean, steady flow', function()
    local it = turns(it, 3)

    it('over a bump, subcritical', function()
        local q, head = 4.42, 2 + 4.42 ^ 2 / (2 * g * 4)
        local function exact(x) return depth_in(q, head, hump(x)) end
        local sim = channel(100, 25, function(x) return 2 - hump(x) end, function(x)
            local h = exact(x)
            return h + hump(x) - 2, q / h, 0
        end, 200)
        local discharge, error = steady_errors(sim, q, exact)
        support.gate('ocean/hump/subcritical/q', discharge)
        support.gate('ocean/hump/subcritical/h', error)
        support.at_most(1e-3, discharge, 'discharge')
        sim:release()
    end)

    it('over a bump, through the critical depth', function()
        local q = 1.53
        local critical = (q * q / g) ^ (1 / 3)
        local head = 1.5 * critical + 0.2
        local function exact(x) return depth_in(q, head, hump(x), x > 10) end
        local sim = channel(200, 25, function(x) return 1 - hump(x) end, function(x)
            local h = exact(x)
            return h + hump(x) - 1, q / h, 0
        end, 100)
        local discharge, error = steady_errors(sim, q, exact)
        support.gate('ocean/hump/transcritical/q', discharge)
        support.gate('ocean/hump/transcritical/h', error)
        support.at_most(1e-3, discharge, 'discharge')
        sim:release()
    end)

    it('down a rough channel (MacDonald)', function()
        local q, n, L = 2, 0.033, 1000
        local function h(x)
            return (4 / g) ^ (1 / 3) * (1 + 0.5 * math.exp(-16 * (x / L - 0.5) ^ 2))
        end
        local function slope(x)     -- of the bed, dz / dx
            local d = 1e-3
            local rise = (h(x + d) - h(x - d)) / (2 * d)
            return (q * q / (g * h(x) ^ 3) - 1) * rise - n * n * q * q / h(x) ^ (10 / 3)
        end
        -- Simpson's rule from 0, in steps of 1/16 m
        local z, d = { [0] = 0 }, 1 / 16
        for k = -16 * 50, -1 do z[k] = false end
        for k = 1, 16 * (L + 50) do
            local a = (k - 1) * d
            z[k] = z[k - 1] + d / 6 * (slope(a) + 4 * slope(a + d / 2) + slope(a + d))
        end
        for k = -1, -16 * 50, -1 do
            local a = k * d
            z[k] = z[k + 1] - d / 6 * (slope(a) + 4 * slope(a + d / 2) + slope(a + d))
        end
        local function bed(x) return z[math.floor(x / d + 0.5)] end
        local function exact(x) return h(x) end
        local sim = channel(125, L, function(x) return -bed(x) end, function(x)
            return h(x) + bed(x), q / h(x), 0
        end, 1500, { kind = 'manning', coefficient = n })
        local discharge, error = steady_errors(sim, q, exact)
        support.gate('ocean/macdonald/q', discharge)
        support.gate('ocean/macdonald/h', error)
        support.at_most(1e-3, discharge, 'discharge')
        sim:release()
    end)
end)
