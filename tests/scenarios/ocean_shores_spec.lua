-- Tests the scenarios of the finite-volume ocean schemes, shortened, with what
-- each must show.

local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

require 'tests.share'()

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

local function run(name, values)
    values.image, values.quiet = folder .. '/picture.png', true
    return trial.run(name, values)
end

local function at_most(limit, value)
    assert.is_true(value <= limit, ('%.6g, at most %.6g'):format(value, limit))
end

describe('scenarios of shores and jets:', function()
    for _, map in ipairs(sample({ 'flat', 'turned', 'longitude-latitude' }, 1)) do
        it('lake_at_rest stays at rest, ' .. map, function()
            local result = run('lake_at_rest', { map = map, nx = 40, ny = 30, t_end = 1000,
                level = 0.5 })
            assert.is_true(result.sim.now.steps > 10)
            assert.equal(0, result.transport)
            assert.equal(0, result.rise)
        end)
    end

    for _, case in ipairs(sample({ { 'curved', 0.03 }, { 'plane', 0.02 } }, 1)) do
        local surface, limit = unpack(case)
        it('thacker_bowl follows the exact solution, ' .. surface, function()
            local result = run('thacker_bowl', { surface = surface, nx = 100, periods = 1 })
            at_most(limit, result.error)
            at_most(0, -result.least)
            at_most(2e-3, math.abs(result.volume - 1))
        end)
    end

    it('double_jet is steady until it is disturbed', function()
        local desc = { nx = 24, ny = 60, bump = 0, t_end = 43200, precision = 'double' }
        local steady = run('double_jet', desc)
        at_most(1e-13, steady.change)
        at_most(1e-13, steady.across)
        desc.bump = 0.12
        assert.is_true(run('double_jet', desc).across > 1e-3)
    end)

    it('kelvin_wave runs at sqrt(g H) in finite volumes too', function()
        local result = run('kelvin_wave', { scheme = 'cdklm', nx = 250, ny = 100, t_end = 40000,
            cfl = 0.45 })
        at_most(5e-3, math.abs(result.speed - 1))
        at_most(0.02, math.abs(result.width - 1))
        at_most(0.01, result.across)
    end)
end)
