local mare = require 'mare'
local series = require 'mare.ocean.series'

require 'tests.lua.drift'

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local rho = 1000

local function message(f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    return err.message
end

local function simulate(forces, options)
    local scheme = { scheme = 'drift', depth = 10, rho = rho }
    for key, value in pairs(forces) do scheme[key] = value end
    local o = { device = name, precision = 'double', cfl = 0.37 }
    for key, value in pairs(options or {}) do o[key] = value end
    return mare.simulation {
        grid = mare.grid { nx = 8, ny = 8, x = { 0, 8 }, y = { 0, 8 } },
        scheme = mare.ocean(scheme), boundaries = 'periodic', options = o,
        initial = function() return 0, 0, 0 end,
    }
end

local function advance(sim, t)
    sim:aim(t)
    while sim.now.t < t do
        sim:step(3)
        sim:read()
    end
    assert.equal(t, sim.now.t)
    return sim
end

-- hu, hv, eta of cell (i, j)
local function cell(sim, i, j)
    local k, found = j * 8 + i, {}
    for n, field in ipairs { 'hu', 'hv', 'eta' } do found[n] = sim:field(field)[k] end
    return unpack(found)
end

describe('forcing', function()
    it('of the same wind everywhere and always moves all water alike', function()
        local sim = advance(simulate { wind = { 2, -1 }, pressure = 500 }, 7)
        local hu, hv, eta = cell(sim, 3, 4)
        assert.near(7 * 2 / rho, hu, 1e-15)
        assert.near(-7 / rho, hv, 1e-15)
        assert.near(7 * 0.5, eta, 1e-13)
        sim:release()
    end)

    it('may depend on the place', function()
        local sim = advance(simulate { wind = function(x, y) return x, 10 * y end }, 2)
        local hu, hv = cell(sim, 3, 4)
        assert.near(2 * 3.5 / rho, hu, 1e-15)
        assert.near(2 * 45 / rho, hv, 1e-15)
        sim:release()
    end)

    -- A step at whose middle a straight line is taken has its integral exactly, unless it goes
    -- beyond the end of that line.
    it('is straight between its records, which no step straddles', function()
        local sim = simulate {
            wind = { times = { 1, 2, 5 }, series = { { 1, 0 }, { 4, 1 }, { 0, 0 } } },
            pressure = { times = { 0, 2.5 }, series = { 0, 5000 } },
        }
        local function integral(t)      -- of the stress along x, by hand
            local sum = math.min(t, 1)
            if t > 1 then
                local s = math.min(t, 2) - 1
                sum = sum + s + 1.5 * s * s
            end
            if t > 2 then
                local s = math.min(t, 5) - 2
                sum = sum + 4 * s - 4 / 6 * s * s
            end
            return sum
        end
        for _, t in ipairs { 0.5, 1, 1.7, 4.2, 9 } do
            advance(sim, t)
            local hu, hv, eta = cell(sim, 1, 1)
            assert.near(integral(t) / rho, hu, 1e-14)
            local s = math.min(t, 2.5)
            assert.near(s * s + 5 * (t - s), eta, 1e-12)
            if t == 9 then assert.near((0.5 + 1.5) / rho, hv, 1e-14) end
        end
        sim:release()
    end)

    it('of fields is the same bits on any split, and after a restart', function()
        local forces = { wind = { times = { 0, 1.1, 2.3 },
            value = function(x, y, t) return x + t, y * t end } }
        local whole = advance(simulate(forces), 3)
        local split = advance(simulate(forces, { decompose = { 2, 2 } }), 3)
        local restarted = simulate(forces)
        restarted:aim(3)
        restarted:step(4)
        restarted:read()
        local n, now = restarted:saved_count(), restarted.now
        local saved = restarted.members[1].device:host { type = 'double', count = n }
        restarted:save(saved)
        local again = mare.simulation {
            grid = restarted.grid, scheme = restarted.scheme, boundaries = 'periodic',
            options = { device = name, precision = 'double', cfl = 0.37 },
            restart = { state = saved.data, t = now.t, steps = now.steps, rate = now.rate },
        }
        advance(again, 3)
        for _, field in ipairs { 'eta', 'hu', 'hv' } do
            local a, b, c = whole:field(field), split:field(field), again:field(field)
            for k = 0, 63 do
                assert.equal(a[k], b[k])
                assert.equal(a[k], c[k])
            end
        end
        assert.equal(whole.now.steps, again.now.steps)
        for _, sim in ipairs { whole, split, restarted, again } do sim:release() end
        saved:release()
    end)

    it('refuses what it cannot follow', function()
        local cases = {
            [{ wind = 'strong' }] = "^ocean: wind: strong, a number is wanted",
            [{ wind = { 1 } }] = '^ocean: wind: nil, a number is wanted',
            [{ wind = { times = { 0, 1 } } }] = '^ocean: wind: series = or value = is missing',
            [{ wind = { times = { 0 }, series = { { 1, 2 } } } }] = 'at least two are wanted',
            [{ wind = { times = { 0, 0 }, series = {} } }] = 'times: 0 does not come after 0',
            [{ pressure = { times = { 0, 1 }, series = { 3 } } }] = 'pressure: series 2: nil',
            [{ pressure = { time = {} } }] = "^ocean: pressure: unknown field 'time'",
            [{ pressure = function() return 0 / 0 end }] = 'pressure: gives %-?nan at x = ',
        }
        for forces, expected in pairs(cases) do
            assert.matches(expected, message(simulate, forces))
        end
    end)
end)

describe('series', function()
    it('know the records around a time', function()
        local times = { 1, 2, 4 }
        assert.same({ 1, 2 }, { series.around(times, 1) })
        assert.same({ 2, 4 }, { series.around(times, 3.9) })
        assert.same({ 4, series.never }, { series.around(times, 4) })
        assert.same({ 1, series.never }, { series.around(times, 0) })
        assert.equal(1, series.next_time(times, 0))
        assert.equal(4, series.next_time(times, 2))
        assert.equal(math.huge, series.next_time(times, 4))
    end)
end)

describe('a fixed dt', function()
    local function basin(scheme, dt)
        return mare.simulation {
            grid = mare.grid { nx = 16, ny = 12, x = { 0, 16e3 }, y = { 0, 12e3 } },
            scheme = mare.ocean { scheme = scheme, depth = 100 }, boundaries = 'reflective',
            initial = function(x) return 0.01 * math.sin(x / 4e3), 0, 0 end,
            options = { device = name, precision = 'double', dt = dt },
        }
    end

    it('is taken, but for the last steps before a target', function()
        local sim = basin('cdklm', 7)
        sim:aim(100)
        sim:step(1)
        assert.equal(7, sim:read().t)
        advance(sim, 100)
        assert.equal(15, sim.now.steps)
        sim:release()
    end)

    it('is refused where it is unstable, with the largest there may be', function()
        local c = math.sqrt(9.81 * 100)
        local text = message(basin, 'linear', 30)
        local least = tonumber(text:match
            '^option %-%-dt: dt = 30 is unstable: it must be at most ([%d.]+) in step 0$')
        assert.near(1000 / c / math.sqrt(2), least, 1e-3)
        assert.matches('^simulation: dt = 0, must be a number above 0', message(basin, 'linear', 0))
        assert.matches('^simulation: dt = %-1, must be', message(basin, 'linear', -1))
    end)
end)
