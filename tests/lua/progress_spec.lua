local events = require 'mare.base.events'
local fails = require 'tests.fails'
local progress = require 'mare.measure.progress'
local schedule = require 'mare.base.schedule'
local terminal = require 'mare.base.terminal'

describe('schedule', function()
    local function all(s, t_end)
        local times, t = {}, 0
        while t < t_end do
            t = s:next_time(t)
            times[#times + 1] = t
        end
        return times
    end

    it('gives multiples of T, as people write them, and then the end', function()
        local s = schedule.new { every = 0.1, t_end = 0.55 }
        assert.same({ 0.1, 0.2, 0.3, 0.4, 0.5, 0.55 }, all(s, 0.55))
    end)

    it('does not come back to a multiple that division puts a bit too low', function()
        local s = schedule.new { every = 0.1 }
        assert.is_true(0.3 / 0.1 < 3)
        assert.equal(0.4, s:next_time(0.3))
        local t = 0
        for k = 1, 2000 do
            t = s:next_time(t)
            assert.equal(tonumber(string.format('%.1f', k / 10)), t)
        end
    end)

    it('does not add a sliver before the end', function()
        local third = 1 / 3         -- its multiples, rounded, are not those of the end
        local s = schedule.new { every = third, t_end = 3 * third }
        assert.same(3, #all(s, 3 * third))
        assert.equal(2 * third, schedule.new({ every = third, t_end = 2 * third }):next_time(0.4))
        assert.is_true(3 * 0.1 > 0.3)
        assert.equal(3 * 0.1, schedule.new({ every = 0.1, t_end = 3 * 0.1 }):next_time(0.2))
    end)

    it('knows which times and steps are its own', function()
        local s = schedule.new { every = 0.1, steps = 7, t_end = 2 }
        assert.same({ true, true, false, true, true }, { s:due(0, 0), s:due(0.3, 5),
            s:due(0.35, 5), s:due(0.35, 14), s:due(3 * 0.1, 5) })
        assert.same({ 7, 14, 14 }, { s:next_step(0), s:next_step(7), s:next_step(13) })
        assert.same({ true, false, false }, { s:hits(0.3), s:hits(3 * 0.1), s:hits(0.35) })
        local listed = schedule.new { times = { 0.7, 0.2 }, t_end = 2 }
        assert.same({ true, false }, { listed:hits(0.7), listed:hits(2) })
        assert.same({ 0.2, 0.7, 2 }, all(listed, 2))
        assert.same({ false, true, false }, { listed:due(0, 0), listed:due(0.7, 9),
            listed:wants_end() })
    end)

    it('without any of them is the start and the end, and refuses T = 0', function()
        local s = schedule.new { t_end = 2 }
        assert.equal(2, s:next_time(0))
        assert.same({ true, false, true }, { s:due(0, 0), s:due(1, 5), s:wants_end() })
        local ok, err = pcall(schedule.new, { every = 0 })
        assert.is_false(ok)
        fails.says(err.message, 'schedule', 'every = 0', 'than 0', 'greater')
    end)
end)

describe('progress', function()
    local seconds, text, stop
    local function new(desc, is_terminal)
        if stop then stop() end
        seconds, text = 100, {}
        stop = events.listen(terminal.new { is_terminal = is_terminal or false,
            write = function(s) text[#text + 1] = s end })
        local d = { cells = 1e6, bytes = 32, copy_rate = 1e10, t_end = 2,
            now = function() return seconds end }
        for key, value in pairs(desc or {}) do d[key] = value end
        d.events = events.source { quiet = d.quiet, run = 'a test' }
        return progress.new(d)
    end
    local hear

    setup(function()            -- what is on the screen already
        hear = events.mute()
    end)
    teardown(function()
        hear()
        stop()
    end)

    it('says how far, how fast and how long still', function()
        local p = new()
        seconds = 110.5
        p:computed({ t = 0.5, dt = 1e-3, steps = 500 }, 500, 5)
        assert.same({ ' 25 %  t = 0.5  step 500  dt = 1.00e-03  100 Mcells/s  T_eff 32 % of copy'
            .. '  ETA 0:32\n' }, text)
    end)

    it('says what the devices took, or why that is not known', function()
        local found = { joules = 50, low = 49, high = 51 }
        local p = new()
        p:computed({ t = 2, dt = 1e-3, steps = 500 }, 500, 5)
        local r = p:finish({ t = 2, steps = 500 }, { finish = function() return found end })
        assert.equal(1e7, r.cells_per_joule)
        assert.truthy(text[#text]:find 'energy: 50 J above rest %(49 to 51%), 10.0 Mcells/J\n')
        r = p:finish({ t = 2, steps = 500 }, { finish = function() return nil, 'shared' end })
        assert.is_nil(r.energy)
        assert.truthy(text[#text]:find '\nenergy: not measured: shared\n$')
    end)

    it('rewrites one line on a terminal, seldom writes elsewhere, and never when quiet', function()
        local clock = { t = 1, dt = 1e-3, steps = 10 }
        for _, case in ipairs { { true, false, 10 }, { false, false, 0 }, { true, true, 0 } } do
            local p = new({ quiet = case[2] }, case[1])
            for _ = 1, 20 do
                seconds = seconds + 0.125
                p:computed(clock, 1, 0.1)
            end
            assert.equal(case[3], #text)
        end
    end)

    it('tells the journal too, and counts the time left from where it began', function()
        local lines = {}
        local p = new { quiet = true, from = { t = 1, steps = 1000 } }
        local no_more = events.listen { pause = 10, hear = function(event)
            lines[#lines + 1] = event
        end }
        seconds = 104
        p:computed({ t = 1.1, dt = 1e-3, steps = 1100 }, 100, 1)
        seconds = 110
        p:computed({ t = 1.25, dt = 1e-3, steps = 1250 }, 150, 1.5)
        assert.same({}, text)
        no_more()
        lines[1].message = nil
        assert.same({ { kind = 'progress', quiet = true, run = 'a test', percent = 62.5, t = 1.25,
            step = 1250, dt = 1e-3, cells_per_second = 1e8, t_eff_share = 0.32, eta = 30 } }, lines)
    end)

    it('sums up', function()
        local p = new()
        p:computed({ t = 1, dt = 1e-3, steps = 100 }, 100, 2)
        p:computed({ t = 2, dt = 1e-3, steps = 200 }, 100, 2)
        local r = p:finish { t = 2, dt = 0, steps = 200 }
        assert.equal(5e7, r.cells_per_second)
        assert.equal(0.16, r.share)
        assert.same({ 't = 2 after 200 steps in 4.0 s: 50.0 Mcells/s, T_eff 1.6 GB/s = 16 % of the '
            .. "device's copy bandwidth (10.0 GB/s)\n" }, text)
    end)

    it('tells the steps of a run that goes on from those before', function()
        local p = new { from = { t = 1, steps = 100 } }
        p:computed({ t = 2, dt = 1e-3, steps = 250 }, 150, 2)
        p:finish { t = 2, dt = 0, steps = 250 }
        assert.matches('^t = 2 after 250 steps, of which 150 now in 2%.0 s: 75%.0 Mcells/s,',
            text[1])
        new({ from = { t = 2, steps = 250 } }):finish { t = 2, dt = 0, steps = 250 }
        assert.same({ 't = 2 after 250 steps, of which 0 now\n' }, text)
    end)
end)
