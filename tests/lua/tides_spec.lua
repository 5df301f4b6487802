-- Tests constituents, their arguments at a date, and least squares on records
-- that are sums of them.

local fails = require 'tests.fails'
local mare = require 'mare'

require 'tests.share'()
local tides = mare.tides

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local function message(f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    return err.message
end

-- Returns hourly values of waves { NAME = { amplitude, phase } } around a mean.
local function record(waves, hours, mean, argument)
    local times, values = {}, {}
    for n = 0, hours - 1 do
        local t, eta = 3600 * n, mean
        for constituent, wave in pairs(waves) do
            local at = argument and argument[constituent] or { factor = 1, argument = 0 }
            eta = eta + at.factor * wave[1] * math.cos(math.rad(tides.speeds[constituent] * n
                + at.argument - wave[2]))
        end
        times[n + 1], values[n + 1] = t, eta
    end
    return times, values
end

describe('constituents', function()
    it('have the speeds that tables give', function()
        -- Schureman (1940), table 2, degrees an hour
        local known = { M2 = 28.9841042, S2 = 30, N2 = 28.4397295, K2 = 30.0821373, K1 = 15.0410686,
            O1 = 13.9430356, P1 = 14.9589314, Q1 = 13.3986609, M4 = 57.9682084, MS4 = 58.9841042,
            MF = 1.0980331, MM = 0.5443747, ['2N2'] = 27.8953548, NU2 = 28.5125831,
            MU2 = 27.9682084, J1 = 15.5854433, OO1 = 16.1391017 }
        for constituent, speed in pairs(known) do
            assert.near(speed, tides.speeds[constituent], 2e-7)
        end
    end)

    it('are where moon and sun are', function()
        -- at noon of the summer solstice the sun is highest: its P1 is at the crest
        for constituent in pairs { K1 = true, P1 = true } do
            local a = tides.argument(constituent, '2000-06-21 02:00:00')
            local later = tides.argument(constituent, '2000-06-21 12:00:00')
            assert.near(10 * tides.speeds[constituent], (later.argument - a.argument) % 360, 0.01)
        end
        assert.near(0, (tides.argument('P1', '2000-06-21 12:00:00').argument + 180) % 360 - 180, 1)
        assert.near(90, tides.argument('S2', '2011-03-11 03:00:00').argument, 1e-6)
        -- new moon of 2000-01-06 18:14: moon and sun cross a meridian together, M2 is where S2 is
        local moon = tides.argument('M2', '2000-01-06 18:14:00')
        local sun = tides.argument('S2', '2000-01-06 18:14:00')
        assert.near(0, (moon.argument - sun.argument + 180) % 360 - 180, 15)
    end)

    it('follow the node of the moon through 18.6 years', function()
        -- it was at the March equinox in June 2006: diurnal tides were largest, M2 smallest
        local function factor(constituent, date) return tides.argument(constituent, date).factor end
        assert.near(1.1127, factor('K1', '2006-06-19 00:00:00'), 1e-3)
        assert.near(0.9633, factor('M2', '2006-06-19 00:00:00'), 1e-3)
        assert.near(1.0379, factor('M2', '1997-03-01 00:00:00'), 1e-3)
        assert.near(factor('M2', '2006-06-19') ^ 2, factor('M4', '2006-06-19'), 1e-12)
        assert.equal(1, factor('S2', '2006-06-19'))
        local half = tides.argument('M2', '2006-06-19', 9.3 * 365.25 * 86400)
        assert.near(1.0379, half.factor, 1e-3)
    end)

    it('want a record that tells them apart', function()
        local list = tides.inseparable({ 'M2', 'S2', 'K2' }, 16 * 86400)
        assert.same({ 'S2', 'K2' }, { list[1][1], list[1][2] })
        assert.near(182.6, list[1].days, 0.1)
        assert.equal(1, #list)
        assert.equal(3, #tides.inseparable({ 'M2', 'S2', 'K2' }, 10 * 86400))
        assert.equal(0, #tides.inseparable({ 'M2', 'S2', 'K2' }, 183 * 86400))
    end)

    it('that are unknown are told', function()
        assert.matches("constituent 'M7' %(there are: SSA, MM,", message(tides.argument, 'M7',
            '2000-01-01'))
        assert.matches("date 'soon', must be as", message(tides.argument, 'M2', 'soon'))
    end)
end)

describe('least squares', function()
    local waves = { M2 = { 1.2, 40 }, S2 = { 0.4, 100 }, N2 = { 0.25, 350 }, K1 = { 0.1, 200 },
        O1 = { 0.12, 15 }, M4 = { 0.05, 270 } }
    local names = { 'M2', 'S2', 'N2', 'K1', 'O1', 'M4' }

    it('finds waves that are not orthogonal over the record', function()
        local times, values = record(waves, 700, 0.3)
        local found = tides.analyse(times, values, names)
        assert.near(0.3, found.mean, 1e-12)
        for constituent, wave in pairs(waves) do
            assert.near(wave[1], found[constituent].amplitude, 1e-11)
            assert.near(wave[2], found[constituent].phase, 1e-9)
        end
    end)

    it('takes where the moon was out of amplitude and phase', function()
        local argument = {}
        for _, constituent in ipairs(names) do
            argument[constituent] = tides.argument(constituent, '1997-03-01 06:00:00')
        end
        local times, values = record(waves, 700, 0, argument)
        local found = tides.analyse(times, values, names, argument)
        for constituent, wave in pairs(waves) do
            assert.near(wave[1], found[constituent].amplitude, 1e-11)
            assert.near(wave[2], found[constituent].phase, 1e-9)
        end
    end)

    it('says which constituents a record cannot tell apart', function()
        local times, values = record(waves, 6, 0)
        fails.says(message(tides.analyse, times, values, { 'M2', 'S2', 'N2', 'K2' }), '6 samples',
            'N2', 'tell')
    end)
end)

describe('a comparison', function()
    it('is the root mean square difference of two waves', function()
        local a, b = { amplitude = 1, phase = 350 }, { amplitude = 1.1, phase = 10 }
        local sum, n = 0, 1000
        for k = 1, n do
            local t = 2 * math.pi * k / n
            sum = sum + (math.cos(t - math.rad(350)) - 1.1 * math.cos(t - math.rad(10))) ^ 2
        end
        assert.near(math.sqrt(sum / n), tides.vector_error(a, b), 1e-12)
        local s = tides.score { { a, b }, { a, a }, { b, b } }
        assert.equal(0, s.median)
        assert.near(tides.vector_error(a, b) / math.sqrt(3), s.rms, 1e-12)
    end)
end)

-- A channel 12 cells long whose west end rises and falls, sampled every 7
-- steps.
local period = 44714.16

local function channel_of(options, scheme)
    local o = { device = name, precision = 'double', cfl = 0.5, quiet = true }
    for key, value in pairs(options or {}) do o[key] = value end
    local analysis = mare.harmonics { constituents = { 'M2' }, from = 6 * period }
    return {
        grid = mare.grid { nx = 12, ny = 5, x = { 0, 120e3 }, y = { 0, 50e3 } },
        boundaries = 'reflective', options = o,
        initial = function() return 0, 0, 0 end,
        scheme = mare.ocean { scheme = scheme or 'linear', depth = 50,
            friction = { kind = 'linear', coefficient = 1e-4 },
            tide = { ramp = 2 * period, cells = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 0, 3 },
                { 0, 4 } }, constituents = { { name = 'M2', amplitude = 0.2, phase = 30 } } } },
        every_steps = { { 7, function(sim) analysis:take(sim) end } },
    }, analysis
end

local function channel(options, scheme)
    local desc, analysis = channel_of(options, scheme)
    local samples = desc.every_steps
    desc.every_steps = nil
    local sim = mare.simulation(desc)
    mare.run.loop(sim, { t_end = 8 * period, quiet = true, every_steps = samples })
    local found = analysis:result()
    analysis:release()
    sim:release()
    return found
end

-- Returns amplitude and phase of eta in the closed channel with linear
-- friction: A cos k(L - x) / cos kL e^(iwt), with k^2 = (w^2 - i r w) / (g H).
local function exact(x)
    local w, r, gH, L, A = math.rad(mare.tides.speeds.M2) / 3600, 1e-4, 9.81 * 50, 115e3, 0.2
    local a, b = w * w / gH, -r * w / gH
    local size = math.sqrt(math.sqrt(a * a + b * b))
    local angle = 0.5 * math.atan2(b, a)
    local p, q = size * math.cos(angle), size * math.sin(angle)
    local function cosine(l)
        return math.cos(p * l) * math.cosh(q * l), -math.sin(p * l) * math.sinh(q * l)
    end
    local c, s = cosine(L - x)
    local d, e = cosine(L)
    local n = d * d + e * e
    local re, im = (c * d + s * e) / n, (s * d - c * e) / n
    return A * math.sqrt(re * re + im * im), (30 - math.deg(math.atan2(im, re))) % 360
end

describe('the tide of every cell', function()
    it('is found in the standing wave of a channel', function()
        local found = channel()
        for i = 0, 11 do
            local amplitude, phase = exact(i * 10e3)
            assert.near(amplitude, found.M2.amplitude[24 + i], 1e-3)     -- 12 cells: 5e-4
            assert.near(phase, found.M2.phase[24 + i], 0.15)
        end
        assert.near(0.2, found.M2.amplitude[24], 1e-9)
        assert.near(30, found.M2.phase[24], 1e-7)
        assert.near(0, found.mean[30], 1e-4)
    end)

    it('is the same however the grid is split', function()
        local whole, split = channel(), channel { decompose = { 3, 1 } }
        for k = 0, 59 do
            assert.equal(whole.M2.amplitude[k], split.M2.amplitude[k])
            assert.equal(whole.M2.phase[k], split.M2.phase[k])
        end
    end)

    it('is found where levels alternate', function()
        local found = channel({ cfl = 0.7 }, 'nonlinear')
        local amplitude, phase = exact(110e3)
        assert.near(amplitude, found.M2.amplitude[35], 2e-3)
        assert.near(phase, found.M2.phase[35], 0.5)
    end)

    it('goes on from a checkpoint with the same bits', function()
        local path = os.tmpname()
        local function run(options, constituents)
            options.precision = 'float'
            local desc, analysis = channel_of(options)
            desc.analyses = { constituents and mare.harmonics { constituents = constituents }
                or analysis }
            local sim = mare.run(desc)
            return analysis, sim
        end
        local whole = run({ t_end = 8 * period }):result()
        run { t_end = 7.3 * period, checkpoint = path, decompose = { 2, 1 } }
        local rest = { t_end = 8 * period, restart = path, decompose = { 3, 1 } }
        local ok, err = pcall(run, rest, { 'S2' })
        local function refusal(more)
            local desc = channel_of(rest)
            desc.analyses = { more and mare.harmonics(more) }
            return select(2, pcall(mare.run, desc)).message
        end
        local variable, from = refusal { variable = 'p' }, refusal { from = 3.25 * period }
        local none = refusal()
        local analysis, sim = run(rest)
        local found = analysis:result()
        os.remove(path)
        assert.is_false(ok)
        fails.says(err.message, 'M2', 'S2', 'checkpoint', 'wants')
        fails.says(variable, "'eta'", "'p'", 'checkpoint', 'wants')
        fails.says(from, 't = 268284.96', 'from 145321.02', 'sums', 'wants')
        fails.says(none, 'analyses', 'not 0', 'continued')
        for k = 0, 59 do
            assert.equal(whole.M2.amplitude[k], found.M2.amplitude[k])
            assert.equal(whole.M2.phase[k], found.M2.phase[k])
            assert.equal(whole.mean[k], found.mean[k])
        end
        assert.near(8 * period, sim.now.t, 1e-6)
    end)

    it('is asked for in single cells', function()
        local desc, analysis = channel_of()
        local samples = desc.every_steps
        desc.every_steps = nil
        local sim = mare.simulation(desc)
        mare.run.loop(sim, { t_end = 7 * period, quiet = true, every_steps = samples })
        local found, some = analysis:result(), analysis:at { { 3, 2 }, { 0, 0 } }
        local amplitude, phase = tides.polar(unpack(some[1].M2))
        assert.equal(found.M2.amplitude[27], amplitude)
        assert.equal(found.M2.phase[27], phase)
        assert.near(0.2, (tides.polar(unpack(some[2].M2))), 1e-9)
    end)
end)
