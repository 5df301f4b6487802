-- Compares the finite-volume ocean schemes with exact solutions with wetting
-- and drying: dam breaks onto wet and dry beds, and Thacker's bowls (1981;
-- numbers of SWASHES, 4.2), with and without the earth's rotation, in which a
-- shore moves over a parabolic bed. Without rotation kurganov_petrova equals
-- cdklm.

local dam_break = require 'mare.ocean.dam_break'
local ocean = require 'mare.ocean'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local turns = require 'tests.turns'

local g = 9.81

-- Returns the depth of the water in cell (i, j).
local function depth_of(sim, eta, i, j)
    return tonumber(eta[j * sim.grid.nx + i]) + sim.domain.bed:depth_at(i, j)
end

-- Returns the relative L1 error of the depth, the least depth, and the volume,
-- with cells 1 wide.
local function compare(sim, exact)
    local eta, error, sum, least, volume = sim:stored 'eta', 0, 0, math.huge, 0
    for j = 0, sim.grid.ny - 1 do
        for i = 0, sim.grid.nx - 1 do
            local h = depth_of(sim, eta, i, j)
            local wanted = exact(sim.grid:x_centre(i), sim.grid:y_centre(j))
            error, sum = error + math.abs(h - wanted), sum + wanted
            least, volume = math.min(least, h), volume + h
        end
    end
    return error / sum, least, volume
end

-- ---- dam breaks: 10 m, 6 s, 5 mm of water onto 1 mm or none, a bed that slopes for neither ----

local function break_dam(n, ahead)
    local still = 0.002
    local sim = support.simulation {
        nx = n, ny = 4, x = { 0, 10 }, y = { 0, 40 / n }, boundaries = 'outflow',
        precision = 'double', scheme = ocean.new { depth = still, dry = 1e-7 },
        initial = function(x) return (x < 5 and 0.005 or ahead) - still, 0, 0 end,
    }
    support.run_to(sim, 6)
    local solution = dam_break.solve(0.005, ahead, g)
    local error, least = compare(sim, function(x) return (solution:sample((x - 5) / 6)) end)
    support.at_least(0, least, 'depth')
    sim:release()
    return error
end

describe('ocean, dam break', function()
    for kind, ahead in pairs { wet = 0.001, dry = 0 } do
        it(('onto a %s bed'):format(kind), function()
            local coarse, fine = break_dam(100, ahead), break_dam(200, ahead)
            support.gate(('ocean/dam/%s/100'):format(kind), coarse)
            support.gate(('ocean/dam/%s/200'):format(kind), fine)
            support.at_least(0.8, math.log(coarse / fine) / math.log(2), 'order')
        end)
    end
end)

-- ---- bowls: depth h0 (1 - r^2 / a^2) ----

-- A plane surface that oscillates in a canal (SWASHES 4.2.1).
local function canal()
    local h0, a, b = 0.5, 1, 0.5
    local omega = math.sqrt(2 * g * h0) / a
    return {
        period = 2 * math.pi / omega, width = 4, h0 = h0, a = a, canal = true, dry = 1e-6,
        state = function(t)
            return function(x)
                local rise = -b * h0 / a * (2 * x / a * math.cos(omega * t)
                    + b / a * math.cos(omega * t) ^ 2)
                return rise, b * omega * math.sin(omega * t), 0
            end
        end,
    }
end

-- A plane surface that circles in a bowl; f = 0 is SWASHES 4.2.2. start: the angle at t = 0, or nil
local function plane(f, start)
    local h0, a, b = 0.1, 1, 0.5
    local omega = 0.5 * (-f + math.sqrt(f * f + 8 * g * h0 / a ^ 2))
    return {
        period = 2 * math.pi / omega, width = 4, h0 = h0, a = a, f = f, dry = 1e-6,
        state = function(t)
            local angle = omega * t + (start or 0)
            local c, s = math.cos(angle), math.sin(angle)
            return function(x, y)
                return b * h0 / a ^ 2 * (2 * x * c + 2 * y * s - b), -b * omega * s, b * omega * c
            end
        end,
    }
end

-- A curved surface that rises and falls in a bowl.
local function heave(f)
    local h0, a, r0 = 0.1, 1, 0.8
    local omega = math.sqrt(f * f + 8 * g * h0 / a ^ 2)
    local A = (a ^ 4 - r0 ^ 4) / (a ^ 4 + r0 ^ 4)
    return {
        period = 2 * math.pi / omega, width = 4, h0 = h0, a = a, f = f, dry = 1e-6,
        state = function(t)
            local k = 1 - A * math.cos(omega * t)
            local root = math.sqrt(1 - A * A)
            local radial = 0.5 * omega * A * math.sin(omega * t) / k
            local turn = 0.5 * f * (root / k - 1)      -- anticlockwise
            if f == 0 then turn = 0 end
            return function(x, y)
                local rr = (x * x + y * y) / a ^ 2
                local eta = h0 * (root / k - 1 - rr * ((1 - A * A) / k ^ 2 - 1))
                return eta, radial * x - turn * y, radial * y + turn * x
            end
        end,
    }
end

local function bowl(case, n, precision)
    local half = 0.5 * case.width
    local rows = case.canal and 4 or n
    local function depth(x, y)
        return case.h0 * (1 - (x * x + (case.canal and 0 or y * y)) / case.a ^ 2)
    end
    local state = case.state(0)
    return support.simulation {
        nx = n, ny = rows, x = { -half, half }, y = { -half * rows / n, half * rows / n },
        precision = precision or 'double', boundaries = 'reflective',
        scheme = ocean.new { depth = depth, dry = case.dry,
            coriolis = case.f and case.f ~= 0 and { f = case.f } or nil },
        -- dry cells are still: the solution goes on to move beyond the shore
        initial = function(x, y)
            local eta, u, v = state(x, y)
            if eta + depth(x, y) <= 0 then return -depth(x, y), 0, 0 end
            return eta, u, v
        end,
    }, depth
end

-- Returns the errors after so many periods; mass must not change, and no depth
-- may be negative.
local function swing(case, n, periods)
    local sim, depth = bowl(case, n)
    local _, _, before = compare(sim, function() return 1 end)
    support.run_to(sim, periods * case.period)
    local state = case.state(periods * case.period)
    local error, least, after = compare(sim, function(x, y)
        return math.max(0, (state(x, y)) + depth(x, y))
    end)
    support.at_least(0, least, 'depth')
    support.at_most(1e-13, math.abs(after / before - 1), 'mass')
    sim:release()
    return error
end

-- By what share of it the volume grows in a period, in float.
local function drift(case, n, periods)
    local sim = bowl(case, n, 'float')
    local _, _, before = compare(sim, function() return 1 end)
    support.run_to(sim, periods * case.period)
    local _, least, after = compare(sim, function() return 1 end)
    support.at_least(0, least, 'depth')
    sim:release()
    return (after / before - 1) / periods
end

describe("Thacker's bowl:", function()
    local it = turns(it, 2)

    it('a canal, three periods', function()
        local coarse, fine = swing(canal(), 100, 3), swing(canal(), 200, 3)
        support.gate('ocean/canal/100', coarse)
        support.gate('ocean/canal/200', fine)
        support.at_least(1.5, math.log(coarse / fine) / math.log(2), 'order')
    end)

    local n = sample(200, 100)
    for title, case in pairs { ['goes around'] = plane, heaves = heave } do
        it(('water that %s, three periods, %d cells across'):format(title, n / 2), function()
            local error = swing(case(0), n, 3)
            support.gate(('ocean/bowl/%s/%d'):format(title, n), error)
            support.at_most(0.02 * (200 / n) ^ 2, error, 'relative error of the depth')
        end)

        it(('water that %s while the earth turns'):format(title), function()
            support.gate(('ocean/bowl/%s, f = 1'):format(title), swing(case(1), 100, 1))
        end)
    end

    -- 4.7e-7 a period, always upwards, where what passes through a face is not rounded to what both
    -- cells can hold; now at most 3.1e-10 in 30 periods, the mean of 8 starts -8e-12 +- 8e-11.
    it('keeps its volume in float, while the shore moves', function()
        local starts, sum, squares = sample(8, 1), 0, 0
        for k = 1, starts do
            local share = drift(plane(0.5, 2 * math.pi * k / starts + 0.02), 60, sample(30, 1))
            support.at_most(1e-7, math.abs(share), 'drift a period')
            sum, squares = sum + share, squares + share * share
        end
        local mean = sum / starts
        if starts > 1 then
            local scatter = math.sqrt((squares / starts - mean * mean) / (starts - 1))
            support.at_most(2 * scatter, math.abs(mean), 'mean drift')
        end
    end)
end)
