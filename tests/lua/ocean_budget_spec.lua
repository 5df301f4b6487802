-- Tests the budgets of volume and energy: what tide and wind bring in is what
-- is gained inside plus what friction takes.

local fails = require 'tests.fails'
local lfs = require 'lfs'
local mare = require 'mare'
local sample = require 'tests.sample'
local turns = require 'tests.turns'

require 'tests.share'()

require 'tests.lua.drift'       -- schemes whose kernels compile quickly

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local folder

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
end)

after_each(function()
    for file in lfs.dir(folder) do os.remove(folder .. '/' .. file) end
    lfs.rmdir(folder)
end)

-- A bay of uneven depth with an island, open in the west, with tide, wind and friction, for half a
-- day. changes: of options; forces: of the scheme
local function bay(changes, forces)
    local cells, o = {}, { device = name, precision = 'double', cfl = 0.7, t_end = 43200,
        quiet = true }
    for j = 0, 9 do cells[j + 1] = { 0, j } end
    for key, value in pairs(changes or {}) do o[key] = value end
    local scheme = { scheme = 'linear', depth = function(x, y)
        if x > 1 and x < 1.2 and y > 50.2 and y < 50.3 then return 0 / 0 end
        return 20 + 10 * x + 5 * math.sin(20 * y)
    end, coriolis = 'latitude', friction = { kind = 'quadratic', coefficient = 0.01 },
        tide = { cells = cells, ramp = 7200, constituents = {
            { name = 'M2', amplitude = 1.5, phase = function(_, y) return 40 * (y - 50) end } } } }
    for key, value in pairs(forces or { wind = { 1, -0.5 } }) do scheme[key] = value end
    return mare.run {
        title = 'bay', options = setmetatable(o, { __index = { metadata = function() return {} end,
            words = function() return {} end } }),
        grid = mare.grid { nx = 32, ny = 10, x = { 0, 2 }, y = { 50, 50.5 },
            coordinates = 'longitude-latitude' },
        scheme = mare.ocean(scheme), boundaries = 'reflective', series = { steps = 10 },
        initial = function() return 0, 0, 0 end,
    }
end

-- Returns the series of a run, and the errors of its budgets.
local function budgets(...)
    local sim = bay(...)
    local series = sim.series
    sim:release()
    return series, mare.budget.of(series)
end

local in_turn = turns(it, 3)

describe('a budget', function()
    it('of volume is closed to rounding', function()
        local _, found = budgets()
        assert.is_true(math.abs(found.volume.change) > 1e8)
        assert.is_true(found.volume.missing < 1e-12, found.volume.missing)
    end)

    in_turn('of volume is closed to rounding in float', function()
        local _, found = budgets { precision = 'float' }
        assert.is_true(found.volume.missing < 1e-5, found.volume.missing)
    end)

    for _, case in ipairs(sample({ { 'quadratic', 0.01 }, { 'manning', 0.05 } }, 1)) do
        local kind, coefficient = unpack(case)
        in_turn('of energy is closed with ' .. kind .. ' friction', function()
            local _, found = budgets(nil, { wind = { 1, -0.5 },
                friction = { kind = kind, coefficient = coefficient } })
            local e = found.energy
            assert.is_true(e.by_tide > 0 and e.by_wind > 0 and e.lost > 0)
            assert.is_true(e.lost > 0.2 * e.inflow)
            assert.is_true(e.missing < 0.01, e.missing)
        end)
    end

    it('is the same however the grid is split', function()
        local whole, split = budgets(), budgets { decompose = { 3, 2 } }
        for _, column in ipairs { 'volume', 'inflow', 'tidal_work', 'dissipation', 'wind_power',
            'total_energy' } do
            assert.same(whole[column], split[column], column)
        end
    end)

    it('goes on where a run does', function()
        local whole = budgets()
        budgets { t_end = 20000, checkpoint = folder .. '/c', steps = 400 }
        local rest = budgets { restart = folder .. '/c' }
        assert.same(whole.time, rest.time)
        assert.same(whole.inflow, rest.inflow)
        assert.same(whole.tidal_work, rest.tidal_work)
    end)

    in_turn('is for schemes that keep account', function()
        local sim = bay({ t_end = 600 }, { scheme = 'nonlinear' })
        assert.is_nil(sim.series.inflow)
        local ok, err = pcall(mare.budget.of, sim.series)
        assert.is_false(ok)
        fails.says(err.message, 'inflow', 'series', 'linear')
        sim:release()
    end)

    it('is told in words', function()
        local text = mare.budget.text { volume = { inflow = 2e9, change = 1e9, missing = 0.5 },
            energy = { by_tide = 1e15 / 1025, by_wind = 0, change = 0, lost = 0, missing = 1 } }
        assert.matches('2 km3 came in, 1 km3 more inside, 50 %% missing\n', text)
        assert.matches('1 PJ came with the tide', text)
    end)
end)

describe('power', function()
    local function uniform(scheme, friction)
        local sim = mare.simulation {
            grid = mare.grid { nx = 8, ny = 8, x = { 0, 8000 }, y = { 0, 8000 } },
            scheme = mare.ocean { scheme = scheme, depth = 8, wind = { 0.2, 0.1 }, rho = 1000,
                friction = friction },
            boundaries = 'periodic', options = { device = name, precision = 'double', cfl = 0.01 },
            initial = function() return 0, 3, -4 end,
        }
        local dissipation, wind = sim:field('dissipation')[27], sim:field('wind_power')[27]
        sim:release()
        return dissipation, wind
    end

    for _, scheme in ipairs(sample({ 'drift', 'drift_on_faces' }, 1)) do
        it('of friction and wind is that of a uniform flow, ' .. scheme, function()
            local lost, given = uniform(scheme, { kind = 'quadratic', coefficient = 0.002 })
            assert.near(0.002 * 125, lost, 1e-12)
            assert.near(0.2e-3 * 3 - 0.1e-3 * 4, given, 1e-15)
            assert.near(1e-3 * 8 * 25, (uniform(scheme, { kind = 'linear', coefficient = 1e-3 })),
                1e-12)
            assert.near(9.81 * 0.03 ^ 2 * 125 / 2,
                (uniform(scheme, { kind = 'manning', coefficient = 0.03 })), 1e-12)
        end)
    end
end)
