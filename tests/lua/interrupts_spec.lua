-- Tests Ctrl-C at random moments; tests/long/interrupts.lua has many more.

local interrupts = require 'tests.interrupts'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

describe('Ctrl-C at a random moment', function()
    it('stops what is computed in time and leaves nothing half-written', function()
        local first = 10 * tonumber(os.getenv 'MARE_TEST_SEED' or 1)
        for seed = first, first + sample(200, 8) - 1 do
            local folder = trial.new_folder()
            local kind, seconds, what, problem = interrupts.case(seed, folder)
            trial.remove(folder)
            assert.is_nil(problem, ('%d %s: %s'):format(seed, kind, what))
            -- The machine may be busy: hangs of seconds are found here.
            assert.is_true(seconds < 4 * interrupts.limits[kind] + 2, what)
        end
    end)
end)
