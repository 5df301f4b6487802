-- Tests Ctrl-C at random moments; tests/long/interrupts.lua has many more.

local home = require 'bindings.home'
local interrupts = require 'tests.interrupts'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

describe('Ctrl-C at a random moment', function()
    it('stops what is computed in time and leaves nothing half-written', function()
        local first = 10 * tonumber(os.getenv 'MARE_TEST_SEED' or 1)
        for seed = first, first + sample(200, 4) - 1 do
            local folder = trial.new_folder()
            local kind, _, what, problem, used = interrupts.case(seed, folder)
            trial.remove(folder)
            assert.is_nil(problem, ('%d %s: %s'):format(seed, kind, what))
            -- Of several threads, in which PoCL ends what it has begun.
            assert.is_true(used < 3 * interrupts.limits[kind] + 1, ('%s: %g s'):format(what, used))
        end
    end)

    it('stops a loop of calls that it waits for', function()
        local code = "local home, system = require 'bindings.home', require 'bindings.system' "
            .. 'while true do home.hold(true) system.sleep(0.02) home.hold(false) end'
        local status, said = trial.status_of(("timeout -s INT -k 10 0.3 '%s' -e '%s'"):format(
            home.launcher, code:gsub("'", '"')))
        assert.equal(124, status, said)
    end)

    it('stops a loop that is in functions of LuaJIT all the time', function()
        local folder = trial.new_folder()
        trial.spit(folder .. '/loop.lua',
            "print 'ready' io.flush() while true do ('x'):rep(1000):gsub('x', 'y') end")
        -- Status 137: it had to be killed, 30 s after the signal.
        local status = trial.status_of(("timeout -s INT -k 30 1 '%s' '%s/loop.lua'"):format(
            home.launcher, folder))
        trial.remove(folder)
        assert.not_equal(137, status)
    end)
end)
