-- Second order of the ocean's schemes in waves and currents whose course is known
-- (ocean_waves.lua), a few drawn by seed; tests/long/ocean_orders.lua has the table of all.

local sample = require 'tests.sample'
local waves = require 'tests.validation.ocean_waves'

require 'tests.share'()

local function check(title, scheme, least, most)
    it(('%s, %s'):format(title, scheme), function()
        local found, error = waves.order(waves.problems[title], scheme, 48)
        assert.is_true(found >= least and found < most, tostring(found))
        assert.is_true(error < 0.02, tostring(error))
    end)
end

-- Measured, C-grids: 1.95 (flather, nonlinear) to 2.23. The filter of the nonlinear scheme is first
-- order. Finite volumes: 1.88 (a Kelvin wave, 1.98 with twice the cells) to 2.81.
describe('second order is', function()
    local c_grids = sample({ 'nonlinear', 'linear' }, 1)
    for n, title in ipairs(sample(waves.names, 1)) do
        local scheme = c_grids[n % #c_grids + 1]
        check(title, waves.advects[title] and 'nonlinear' or scheme, 1.9, 2.4)
    end
    local volumes = sample({ 'kurganov_petrova', 'cdklm' }, 1)
    for n, title in ipairs(sample(waves.names, 1)) do
        check(title, volumes[n % #volumes + 1], 1.85, 3)
    end

    -- Over a slope -0.4 with a bed that is level beyond.
    it('that of finite volumes where the elevation is known', function()
        local problem = waves.problems['a seiche between a wall and still water over a slope']
        local found, error = waves.order(problem, 'cdklm', 48)
        assert.is_true(found >= 1.9, tostring(found))
        assert.is_true(error < 0.004, tostring(error))
    end)

    it('equal to both sides of a rotating wave, linear', function()
        local errors = {}
        for k, ky in ipairs { 1, -1 } do
            local desc = waves.poincare(1, ky, 1e-4)(32)
            desc.scheme = 'linear'
            errors[k] = waves.error_of(desc)
        end
        assert.is_true(math.abs(errors[1] / errors[2] - 1) < 5e-3)
    end)
end)
