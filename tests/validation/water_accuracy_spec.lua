-- Tests the flat-bottom shallow-water schemes: their order on the smooth bump
-- of the published benchmark, beside that of a scheme of the ocean against the
-- same finer run, and dam breaks compared with the exact solutions, with the
-- numbers of SWASHES 4.1.1 and 4.1.2.

local dam_break = require 'mare.ocean.dam_break'
local ffi = require 'ffi'
local ocean = require 'mare.ocean'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local water = require 'mare.schemes.shallow_water'

local g = 9.81
local first_order = { 'lax_friedrichs', 'force', 'hll' }
local second_order = {
    'muscl_hancock', 'waf', 'kurganov_petrova', 'kurganov_petrova_rk3', 'kurganov_petrova_split',
}

-- ---- the bump: 100 x 100, depth 0.5, radius 20, height and speeds 0.1 ----

local finest, coarse = sample(1024, 512), sample(128, 64)
local fine, second = 2 * coarse, sample(1.95, 1.85)

local function bump_values()
    local h, transport = ffi.new('double[?]', finest ^ 2), ffi.new('double[?]', finest ^ 2)
    for k = 0, finest ^ 2 - 1 do
        local x, y = k % finest + 0.5 - finest / 2, math.floor(k / finest) + 0.5 - finest / 2
        local r = math.sqrt(x * x + y * y) * 100 / finest
        local s = r < 20 and 0.05 * (1 + math.cos(math.pi * r / 20)) or 0
        h[k], transport[k] = 0.5 + s, (0.5 + s) * s
    end
    return h, transport
end

-- Returns means over the cells of an n x n grid of values on the finest one.
local function means(values, n)
    local k = finest / n
    if k == 1 then return values end
    local result = ffi.new('double[?]', n * n)
    for j = 0, finest - 1 do
        for i = 0, finest - 1 do
            local c = math.floor(j / k) * n + math.floor(i / k)
            result[c] = result[c] + values[j * finest + i] / k ^ 2
        end
    end
    return result
end

-- rest: the depth that the scheme's first field does not count; cfl: Courant number, else 0.45
local function bump(n, scheme, initial, rest, cfl)
    local d = 100 / n
    return support.run_to(support.simulation {
        nx = n, ny = n, x = { 0, 100 }, y = { 0, 100 }, boundaries = 'outflow', scheme = scheme,
        precision = 'double', cfl = cfl,
        initial = function(x, y)
            local i = math.max(0, math.min(n - 1, math.floor(x / d)))
            local k = math.max(0, math.min(n - 1, math.floor(y / d))) * n + i
            local h, speed = initial[1][k], initial[2][k] / initial[1][k]
            return h - rest, speed, speed
        end,
    }, 1)
end

describe('shallow water, order on the bump:', function()
    local initial, reference = {}, nil

    setup(function()
        local h, transport = bump_values()
        for _, n in ipairs { coarse, fine, finest } do
            initial[n] = { means(h, n), means(transport, n) }
        end
        -- Twice the usual step changes the errors below by less than 0.5 %.
        local sim = bump(finest, water.new { g = g }, initial[finest], 0, 0.9)
        local field, copy = sim:field('h'):pointer(), ffi.new('double[?]', finest ^ 2)
        ffi.copy(copy, field, ffi.sizeof(copy))
        reference = { [coarse] = means(copy, coarse), [fine] = means(copy, fine) }
        sim:release()
    end)

    local function error_of(key, n, scheme, rest)
        local sim = bump(n, scheme, initial[n], rest)
        local h, sum = sim:field(scheme.fields[1]), 0
        for k = 0, n * n - 1 do sum = sum + math.abs(h[k] + rest - reference[n][k]) end
        local name = finest == 1024 and '%s/%d' or '%s/%d of %d'
        support.gate(name:format(key, n, finest), sum / n ^ 2)
        sim:release()
        return sum / n ^ 2
    end

    local function order_of(key, ...)
        local found = math.log(error_of(key, coarse, ...) / error_of(key, fine, ...)) / math.log(2)
        support.show(key, found)
        return found
    end

    local function has_order(least, found)
        support.at_least(least, found, ('order between %d and %d cells'):format(coarse, fine))
    end

    local function order(scheme)
        return order_of('water/bump/' .. scheme, water.new { scheme = scheme, g = g }, 0)
    end

    for _, scheme in ipairs(sample(second_order, 1)) do
        it(scheme .. ' has 2', function()
            has_order(second, order(scheme))
        end)
    end

    for _, scheme in ipairs(sample(first_order, 1)) do
        it(scheme .. ' has 1', function()
            has_order(0.95, order(scheme))
        end)
    end

    for _, rk in ipairs(sample({ 2, 3 }, 1)) do
        it(('cdklm of the ocean with rk = %d has 2'):format(rk), function()
            local found = order_of('ocean/bump/rk' .. rk,
                ocean.new { depth = 0.5, rk = rk, g = g }, 0.5)
            has_order(second, found)
        end)
    end
end)

-- ---- dam breaks ----

local beds = {
    wet = { behind = 0.005, ahead = 0.001 },
    dry = { behind = 0.005, ahead = 0 },
}

-- The relative errors of depth and transport in 100, 200 and 400 cells of a
-- textbook code: HLL of first order, and MUSCL with minmod.
local textbook = {
    wet = {
        first = { h = { 0.0160, 0.0102, 0.0056 }, hu = { 0.112, 0.069, 0.039 } },
        second = { h = { 0.0066, 0.0039, 0.0017 }, hu = { 0.048, 0.027, 0.011 } },
    },
    dry = {
        first = { h = { 0.0187, 0.0121, 0.0076 } },
        second = { h = { 0.0100, 0.0051, 0.0025 }, hu = { 0.070, 0.036, 0.018 } },
    },
}

local function break_dam(bed, n, scheme, desc)
    local along_y, across = desc.axis == 'y', 5
    local long, short = { 0, 10 }, { 0, 10 * across / n }
    return support.run_to(support.simulation {
        nx = along_y and across or n, ny = along_y and n or across,
        x = along_y and short or long, y = along_y and long or short,
        boundaries = 'outflow', first = desc.axis or 'x', precision = desc.precision or 'double',
        scheme = water.new { scheme = scheme, limiter = desc.limiter, theta = 1, g = g },
        initial = function(x, y)
            return (along_y and y or x) < 5 and bed.behind or bed.ahead, 0, 0
        end,
    }, 6)
end

local function relative_errors(bed, sim)
    local exact, n, t = dam_break.solve(bed.behind, bed.ahead, g), sim.grid.nx, sim.now.t
    local errors = {}
    for _, name in ipairs { 'h', 'hu' } do
        local field, sum, scale = sim:field(name), 0, 0
        for i = 0, n - 1 do
            local mean = 0
            for k = 0, 49 do
                local h, u = exact:sample(((i + (k + 0.5) / 50) / n * 10 - 5) / t)
                mean = mean + (name == 'h' and h or h * u) / 50
            end
            sum, scale = sum + math.abs(field[2 * n + i] - mean), scale + mean
        end
        errors[name] = sum / scale
    end
    return errors
end

-- ---- shear ----

-- The error of a sine of transverse velocity that water carries along, slowly beside its waves.
local function error_of_shear(n, scheme)
    local function shear(x) return math.sin(2 * math.pi * x) end
    local sim, sum = support.run_to(support.simulation {
        nx = n, ny = 5, x = { 0, 1 }, y = { 0, 5 / n }, precision = 'double',
        scheme = water.new { scheme = scheme, theta = 1, g = g },
        initial = function(x) return 0.01, 0.1, shear(x) end,
    }, 1), 0
    local hv = sim:field 'hv'
    for i = 0, n - 1 do
        sum = sum + math.abs(hv[i] / 0.01 - shear((i + 0.5) / n - 0.1 * sim.now.t)) / n
    end
    return sum
end

describe('shallow water, dam break:', function()
    it('the exact solutions are those published', function()
        local wet = dam_break.solve(0.005, 0.001, g)
        assert.near(0.0025393572, wet.h, 1e-10)
        assert.near(0.1272797184, wet.u, 1e-10)
        assert.near(0.2099634001, wet.bore, 1e-10)
        assert.near(0.2214723459, wet.c, 1e-10)
        assert.near(0.0305527683, math.sqrt(g * wet.h) - wet.u, 1e-10)
        for _, case in ipairs { { 10, 5, 7.2692044619, 2.9199330394, 9.3537583921 },
            { 2, 1, 1.4538408924, 1.3058337532, 4.1831279220 } } do
            local s = dam_break.solve(case[1], case[2], g)
            assert.near(case[3], s.h, 1e-9)
            assert.near(case[4], s.u, 1e-9)
            assert.near(case[5], s.bore, 1e-9)
        end
        local dry = dam_break.solve(0.005, 0, g)
        assert.near(4 / 9 * 0.005, (dry:sample(0)), 1e-15)
        assert.near(2 * 0.2214723459, dry.bore, 1e-9)
    end)

    local some = {}
    for scheme in pairs(water.schemes) do some[#some + 1] = scheme end
    table.sort(some)
    some = sample(some, 1)

    it('every scheme carries shear, with its order', function()
        for _, scheme in ipairs(some) do
            local coarser, finer = error_of_shear(50, scheme), error_of_shear(100, scheme)
            support.gate('water/shear/' .. scheme, finer)
            local found, is_first = math.log(coarser / finer) / math.log(2), false
            for _, name in ipairs(first_order) do is_first = is_first or name == scheme end
            support.at_least(is_first and 0.5 or 1.9, found, scheme)
        end
    end)

    for name, bed in pairs(beds) do
        for order, scheme in pairs { first = 'hll', second = 'muscl_hancock' } do
            it(scheme .. ' onto a ' .. name .. ' bed: as accurate as a textbook code', function()
                for k, n in ipairs { 100, 200, 400 } do
                    local sim = break_dam(bed, n, scheme, { limiter = 'minmod' })
                    local errors = relative_errors(bed, sim)
                    for variable, baseline in pairs(textbook[name][order]) do
                        local key = ('water/%s/%s/%s/%d'):format(name, scheme, variable, n)
                        support.gate(key, errors[variable])
                        support.at_most(1.2 * baseline[k], errors[variable], key)
                    end
                end
            end)
        end

        it('every scheme onto a ' .. name .. ' bed, along both axes alike', function()
            for _, scheme in ipairs(some) do
                local sim = break_dam(bed, 100, scheme, {})
                support.assert_valid(sim)
                local errors = relative_errors(bed, sim)
                support.gate(('water/%s/%s/mc/h'):format(name, scheme), errors.h)
                support.gate(('water/%s/%s/mc/hu'):format(name, scheme), errors.hu)
                local along_y = support.state(break_dam(bed, 100, scheme, { axis = 'y' }))
                local state = support.state(sim)
                assert.is_nil(support.difference(state, support.transposed(along_y)), scheme)
                for k = 0, 499 do assert.equal(state.h[k % 100], state.h[k]) end
            end
        end)
    end
end)
