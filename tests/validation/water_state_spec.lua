-- Tests what every flat-bottom shallow-water scheme keeps: positive depth,
-- mass, symmetry, the same bits in every decomposition, and a dt that follows
-- from the present state at every step, also for WAF, whose published kernel
-- never renews it.

local fails = require 'tests.fails'
local random = require 'mare.base.random'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local water = require 'mare.schemes.shallow_water'

local nx, ny, g, cfl = 37, 22, 9.81, 0.45

local function draw(i, j, k) return random.uniform(11, 8 * (j * 100 + i) + k) end

-- Returns values in blocks of 4 x 4 cells with large jumps, half of them dry or
-- nearly dry if `dry` is set.
local function cell(i, j, dry)
    i, j = math.floor(i / 4), math.floor(j / 4)
    local h, kind = 0.5 + 10 * draw(i, j, 0), draw(i, j, 1)
    if dry and kind < 0.5 then h = kind < 0.4 and 0 or 1e-8 end
    return h, 20 * draw(i, j, 2) - 10, 20 * draw(i, j, 3) - 10
end

-- Cells are 1 wide and 1/2 high; ghost cells have values of their own, which fixed sides keep.
local function simulate(desc)
    local transposed = desc.transposed
    local width, height = nx, ny
    local dx, dy = 1, 0.5
    if transposed then width, height, dx, dy = ny, nx, 0.5, 1 end
    local function initial(x, y)
        local i, j = math.floor(x / dx), math.floor(y / dy)
        if not transposed then return cell(i + 4, j + 4, desc.dry) end
        local h, u, v = cell(j + 4, i + 4, desc.dry)
        return h, v, u
    end
    return support.simulation {
        nx = width, ny = height, x = { 0, width * dx }, y = { 0, height * dy }, cfl = cfl,
        scheme = water.new { scheme = desc.scheme, limiter = desc.limiter, g = g },
        boundaries = desc.boundaries or 'reflective', precision = desc.precision,
        first = transposed and 'y' or 'x', decompose = desc.split,
        initial = desc.initial or initial,
    }
end

-- Returns the largest (|u| + c) / dx or (|v| + c) / dy, and twice that if a
-- stage moves along both axes.
local function signal_rate(sim)
    local s, rate = support.state(sim), 0
    for k = 0, sim.grid.cells - 1 do
        local u, v, c = s.hu[k] / s.h[k], s.hv[k] / s.h[k], math.sqrt(g * s.h[k])
        rate = math.max(rate, (math.abs(u) + c) / sim.grid.dx, (math.abs(v) + c) / sim.grid.dy)
    end
    return sim.scheme.stages and 2 * rate or rate
end

local names = {}
for name in pairs(water.schemes) do names[#names + 1] = name end
table.sort(names)

-- Those that matter to a scheme: two are as good as all, one where it takes none.
local function limiters_of(name, precision)
    local fixed = water.new({ scheme = name, limiter = 'mc' }).limiter ~= 'mc'
    return (fixed or precision == 'double') and { 'mc' } or { 'mc', 'van_leer' }
end

for _, name in ipairs(sample(names, 1)) do
    describe('shallow water, ' .. name .. ':', function()
        for _, precision in ipairs(sample(support.precisions, 1)) do
            it('dry beds stay wet or dry and mass is kept, in ' .. precision, function()
                for _, limiter in ipairs(sample(limiters_of(name, precision), 1)) do
                    local sim = simulate { scheme = name, limiter = limiter, precision = precision,
                        dry = true }
                    local before = support.total(sim, 'h')
                    support.run_steps(sim, 150)
                    support.assert_valid(sim)
                    local drift = math.abs(support.total(sim, 'h') / before - 1)
                    support.at_most(precision == 'float' and 1e-6 or 1e-14, drift, limiter)
                end
            end)

            it('dt follows from the present state, in ' .. precision, function()
                local sim = simulate { scheme = name, precision = precision }
                local tolerance = precision == 'float' and 1e-6 or 2e-15
                sim:aim(math.huge)
                for step = 1, 15 do
                    local wanted = cfl / signal_rate(sim)
                    support.at_most(tolerance, math.abs(sim.now.dt / wanted - 1), 'step ' .. step)
                    sim:step(1)
                    sim:read()
                end
            end)

            it('uniform flow keeps its bits, in ' .. precision, function()
                for _, boundaries in ipairs { 'periodic', 'outflow' } do
                    local sim = simulate { scheme = name, precision = precision,
                        boundaries = boundaries, initial = function() return 1.1, 0.3, -0.7 end }
                    local before = support.state(sim)
                    support.run_steps(sim, 50)
                    assert.is_nil(support.bits_differ(before, support.state(sim)))
                end
            end)
        end

        it('the transposed problem has the transposed bits', function()
            for _, limiter in ipairs(sample(limiters_of(name, 'float'), 1)) do
                local desc = { scheme = name, limiter = limiter, dry = true }
                local state = support.state(support.run_steps(simulate(desc), 25))
                desc.transposed = true
                local other = support.state(support.run_steps(simulate(desc), 25))
                assert.is_nil(support.difference(state, support.transposed(other)), limiter)
            end
        end)

        it('every decomposition has the bits of one part', function()
            for _, boundaries in ipairs { 'periodic', 'reflective', 'outflow', 'fixed',
                { west = 'fixed', east = 'outflow', south = 'reflective', north = 'fixed' } } do
                local desc = { scheme = name, boundaries = boundaries }
                local sim = support.run_steps(simulate(desc), 20)
                local state, t = support.state(sim), sim.now.t
                for _, split in ipairs { { 2, 1 }, { 1, 3 }, { 4, 3 } } do
                    desc.split = split
                    sim = support.run_steps(simulate(desc), 20)
                    assert.is_nil(support.bits_differ(state, support.state(sim)), split[1])
                    assert.equal(t, sim.now.t)
                    sim:release()
                end
            end
        end)
    end)
end

describe('shallow water', function()
    it('takes no state with a transport that is no number', function()
        for _, uv in ipairs { { 0 / 0, 1 }, { 1, 0 / 0 }, { math.huge, 1 } } do
            local ok, failure = pcall(simulate, { scheme = 'hll', initial = function(x, y)
                local bad = math.floor(x) == 3 and math.floor(y) == 2
                return 1, bad and uv[1] or 0, bad and uv[2] or 0
            end })
            assert.is_false(ok)
            fails.says(failure.message, 'initial', 'invalid')
        end
    end)

    it('shear at rest: sharp with hllc, smeared by hll', function()
        local function width(flux)
            local sim = support.simulation {
                nx = 40, ny = 6, x = { 0, 40 }, y = { 0, 6 }, boundaries = 'outflow',
                scheme = water.new { flux = flux },
                initial = function(x) return 1, 0, x < 20 and 1 or -1 end,
            }
            local hv, count = support.state(support.run_steps(sim, 100)).hv, 0
            for i = 0, 39 do count = count + (math.abs(hv[i]) ~= 1 and 1 or 0) end
            return count
        end
        assert.equal(0, width 'hllc')
        assert.is_true(width 'hll' > 4)
    end)

    it('says what is wrong', function()
        local function message(desc)
            local ok, failure = pcall(water.new, desc)
            assert.is_false(ok)
            return failure.message
        end
        assert.matches("scheme 'roe' %(there are: force, hll,", message { scheme = 'roe' })
        assert.matches("flux 'waf' %(there are: hll, hllc", message { flux = 'waf' })
        assert.matches("limiter 'x'", message { limiter = 'x' })
        assert.matches('g = 0, must be from', message { g = 0 })
        assert.matches('theta = 3, must be from 1 to 2', message { theta = 3 })
        local ok, failure = pcall(simulate, { scheme = 'hll', initial = function(x)
            return x < 3 and -1 or 1, 0, 0
        end })
        assert.is_false(ok)
        assert.matches('depth %-1 in cell %(0, 0%)', failure.message)
    end)
end)
