-- Tests sides that are prescribed as functions of time and place, and that have several kinds along
-- them: a wave that comes in, the bits of sides that can be said in two ways, those of parts, of
-- restarts and of schemes in stages, and what is refused.

local boundary = require 'mare.array.boundary'
local fails = require 'tests.fails'
local mare = require 'mare'
local support = require 'tests.validation.support'

require 'tests.share'()

local function wave(t, x, y)
    return 1 + 0.2 * math.sin(2 * math.pi * (x - t) + y), 1, 0, 1
end

local function at_start(x, y) return wave(0, x, y) end

local function rough(x, y)
    return 1 + 0.3 * math.sin(7 * x) * math.cos(5 * y), 0.3 * math.cos(9 * y),
        0.2 * math.sin(8 * x), 1 + 0.2 * math.sin(4 * x + 6 * y)
end

local function simulate(boundaries, more)
    local desc = { nx = 24, ny = 20, x = { 0, 1 }, y = { 0, 1 }, boundaries = boundaries,
        initial = rough, limiter = 'mc' }
    for name, value in pairs(more or {}) do desc[name] = value end
    return support.simulation(desc)
end

local function after(boundaries, more, steps)
    local sim = support.run_steps(simulate(boundaries, more), steps or 15)
    local state = support.state(sim)
    sim:release()
    return state
end

local function same(a, b) assert.is_nil(support.bits_differ(a, b)) end

-- Prescribed in the west, of two kinds in the south.
local function mixed(t_end)
    return {
        west = { kind = 'prescribed', times = { to = t_end or 1, every = 0.01 },
            state = function(t, _, y) return 1 + 0.1 * math.sin(20 * t + y), 0.8, 0.1, 1 end },
        south = { kind = 'pieces', { to = 0.3, side = 'outflow' },
            { to = 0.62, side = { kind = 'prescribed', times = { 0, 0.5 },
                state = function(t, x) return 1 + t, 0, 0.5, 1 + x end } },
            { side = 'reflective' } },
        east = 'outflow', north = 'reflective',
    }
end

describe('sides', function()
    it('that are prescribed let a wave in, at second order', function()
        local errors = {}
        for k, n in ipairs { 16, 32, 64 } do
            local sim = simulate({ west = { kind = 'prescribed', state = wave,
                times = { to = 1, every = 0.2 / n } }, east = 'outflow', south = 'outflow',
                north = 'outflow' }, { nx = n, ny = 8, y = { 0, 8 / n }, initial = at_start,
                precision = 'double', cfl = 0.4, flux = 'hllc' })
            support.run_to(sim, 0.7)
            errors[k] = support.error(sim, 'rho', function(x, y) return (wave(0.7, x, y)) end)
            sim:release()
        end
        assert.is_true(errors[1] < 0.01)
        assert.is_true(math.log(errors[2] / errors[3]) / math.log(2) > 1.8)
    end)

    it('are as the plain ones where they say the same', function()
        local function given(_, x, y) return rough(x, y) end
        same(after 'fixed', after {
            west = { kind = 'prescribed', state = given }, south = { kind = 'pieces',
                { to = 0.5, side = 'fixed' }, { side = { kind = 'prescribed', state = given } } },
            east = { kind = 'prescribed', state = given, times = { 0, 1 } }, north = 'fixed' })
        for kind in pairs(boundary.kinds) do
            local pieces = { kind = 'pieces', { to = 0.4, side = kind }, { side = kind } }
            if kind ~= 'periodic' then
                same(after(kind), after { west = pieces, east = pieces, south = pieces,
                    north = pieces })
            end
        end
    end)

    it('have the same bits however the grid is split', function()
        local whole = after(mixed())
        for _, split in ipairs { { 2, 2 }, { 3, 1 }, { 1, 4 } } do
            same(whole, after(mixed(), { decompose = split }))
        end
    end)

    it('go with steps in stages, and with more numbers of unknowns', function()
        local function water(_, x, y) return 1 + 0.1 * x, 0.2 + 0.1 * y, 0 end
        local function start(x, y) return water(0, x, y) end
        local function run(scheme, boundaries, split)
            return after(boundaries, { scheme = mare.shallow_water { scheme = scheme },
                initial = start, decompose = split })
        end
        for _, scheme in ipairs { 'muscl_hancock', 'kurganov_petrova_rk3' } do
            local given = { west = { kind = 'prescribed', times = { 0, 0.1, 0.3 },
                state = function(t, _, y) return 1.1 + t, 0.3, 0.1 * y end }, east = 'outflow',
                north = 'outflow', south = 'reflective' }
            same(run(scheme, given), run(scheme, given, { 2, 2 }))
            same(run(scheme, 'fixed'), run(scheme, { west = { kind = 'prescribed',
                state = water }, east = 'fixed', south = 'fixed', north = 'fixed' }))
        end
    end)

    it('are linear between the times, and constant before and after', function()
        local sim = simulate { west = { kind = 'prescribed', times = { 0.25, 0.5 },
            state = function(t) return 1 + t, 0, 0, 1 end }, east = 'outflow', south = 'outflow',
            north = 'outflow' }
        for _, at in ipairs { { 0, 1.25 }, { 0.375, 1.375 }, { 2, 1.5 } } do
            sim:start { t = at[1], steps = 0 }
            sim:fill_ghosts()
            local host = require('bindings.memory').array(sim.precision, sim:saved_count())
            sim:save(host)
            assert.near(at[2], host[2 * 28 + 1], 1e-6)
        end
        sim:release()
    end)

    it('are refused where they make no sense', function()
        local function refused(west, ...)
            local boundaries = { west = west, east = 'outflow', south = 'outflow',
                north = 'outflow' }
            fails(function() simulate(boundaries) end, 'MARE_ERROR_ARGUMENT', 'west', ...)
        end
        local state = wave
        refused({ kind = 'prescribed' }, 'state is missing')
        refused({ kind = 'prescribed', state = state, time = {} }, 'time')
        refused({ kind = 'prescribed', state = state, times = { 0, 0 } }, 'times 2')
        refused({ kind = 'prescribed', state = state, times = { to = 1, every = 0 } }, 'every')
        refused({ kind = 'prescribed', state = function() return 1, 2, 3 end }, 'value 4')
        refused({ kind = 'prescribed', state = function() return -1, 0, 0, 1 end }, 'density')
        refused({ kind = 'pieces' }, 'no pieces')
        refused({ kind = 'pieces', { side = 'outflow' }, { side = 'outflow' } }, 'to = ')
        refused({ kind = 'pieces', { side = 'periodic' } }, 'periodic', 'reflective')
        refused({ kind = 'flather' }, 'flather', 'pieces, prescribed')
        fails(function()
            simulate({ west = 'outflow', east = 'outflow', north = 'outflow',
                south = { kind = 'pieces', { side = 'outflow' } } }, { gravity = 1 })
        end, 'MARE_ERROR_ARGUMENT', 'south', 'source')
    end)
end)
