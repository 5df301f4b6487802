local progress = require 'mare.progress'
local schedule = require 'mare.schedule'

describe('schedule', function()
    it('gives multiples of T and then the end', function()
        local s, times, t = schedule.new(0.1, 0.55), {}, 0
        while t < 0.55 do
            t = s:next(t)
            times[#times + 1] = t
        end
        assert.same({ 0.1, 0.2, 3 * 0.1, 0.4, 0.5, 0.55 }, times)
    end)

    it('does not add a sliver before the end', function()
        local s, count, t = schedule.new(0.1, 0.7), 0, 0     -- 7 * 0.1 > 0.7 by a rounding error
        repeat t, count = s:next(t), count + 1 until t >= 0.7
        assert.equal(7, count)
        assert.equal(0.7, t)
    end)

    it('without T is the end alone, and refuses T = 0', function()
        assert.equal(2, schedule.new(nil, 2):next(0))
        local ok, err = pcall(schedule.new, 0, 2)
        assert.is_false(ok)
        assert.equal('schedule: every = 0, must be greater than 0', err.message)
    end)
end)

describe('progress', function()
    local seconds, text
    local function new(desc)
        seconds, text = 100, {}
        local d = { cells = 1e6, bytes = 32, copy_rate = 1e10, t_end = 2, steps = math.huge,
            terminal = false, quiet = false, now = function() return seconds end,
            write = function(s) text[#text + 1] = s end }
        for key, value in pairs(desc or {}) do d[key] = value end
        return progress.new(d)
    end

    it('says how far, how fast and how long still', function()
        local p = new()
        seconds = 110.5
        p:computed({ t = 0.5, dt = 1e-3, steps = 500 }, 500, 5)
        assert.same({ ' 25 %  t = 0.5  step 500  dt = 1.00e-03  100 Mcells/s  T_eff 32 % of copy'
            .. '  ETA 0:32\n' }, text)
    end)

    it('rewrites one line on a terminal, seldom writes elsewhere, and never when quiet', function()
        local clock = { t = 1, dt = 1e-3, steps = 10 }
        for _, case in ipairs { { true, false, 10 }, { false, false, 0 }, { true, true, 0 } } do
            local p = new { terminal = case[1], quiet = case[2] }
            for _ = 1, 20 do
                seconds = seconds + 0.125
                p:computed(clock, 1, 0.1)
            end
            assert.equal(case[3], #text)
        end
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
end)
