-- Compares the scenarios of ocean waves, shortened, with theory, using the
-- C-grid schemes.

local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

require 'tests.share'()

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

local function run(name, values)
    values.image = folder .. '/picture.png'
    return trial.run(name, values)
end

local function within(tolerance, expected, value)
    assert.is_true(math.abs(value / expected - 1) <= tolerance,
        ('%.9g, expected %.9g'):format(value, expected))
end

describe('seiche', function()
    for _, mode in ipairs(sample({ 1, 3 }, 1)) do
        it('has the period of its mode and the grid: ' .. mode, function()
            local result = run('seiche', { nx = 64, mode = mode, periods = 4,
                precision = 'double' })
            within(2e-6, result.discrete, result.period)
            within(2e-3, result.merian, result.period)
            within(2e-3, result.merian, run('seiche', { nx = 64, mode = mode, periods = 4,
                scheme = 'nonlinear' }).period)
        end)
    end
end)

for _, scheme in ipairs(sample({ 'linear', 'nonlinear' }, 1)) do
    describe(scheme .. ':', function()
        it('kelvin_wave has its speed and its width', function()
            local result = run('kelvin_wave', { nx = 125, ny = 50, scheme = scheme })
            within(5e-3, 1, result.speed)
            within(5e-3, 1, result.width)
            assert.is_true(result.across < 0.02, tostring(result.across))
        end)

        it('rossby_adjustment comes to balance', function()
            local result = run('rossby_adjustment', { nx = 80, scheme = scheme })
            within(0.01, 0.8527, result.balanced)
            assert.is_true(result.error < 0.01, tostring(result.error))
        end)
    end)
end
