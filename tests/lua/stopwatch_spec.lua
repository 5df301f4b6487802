-- mare.time: what it measures, and what it refuses.

local fails = require 'tests.fails'
local mare = require 'mare'
local system = require 'bindings.system'

describe('mare.time', function()
    it('takes the time of a function, but for its first call', function()
        local calls = 0
        local result = mare.time(function()
            calls = calls + 1
            local stop = system.now() + (calls == 1 and 0.3 or 0.01)
            while system.now() < stop do calls = calls + 0 end
        end)
        assert.equal(calls - 1, result.calls)
        assert.is_true(result.calls >= 3)
        assert.is_true(result.fastest >= 0.01 and result.fastest <= result.median)
        assert.is_true(result.median <= result.slowest and result.median < 0.3)
        assert.matches('^%S+ m?s %(median of %d+ calls, %S+ m?s to %S+ m?s%)$', tostring(result))
    end)

    it('waits for what is queued on devices', function()
        local device = mare.device.open 'null:0'
        local buffer = device:buffer { type = 'float', count = 1000 }
        assert.is_true(mare.time(function() buffer:fill(1) end).median > 0)
        device:release()
    end)

    it('refuses what is no function', function()
        local ok, problem = pcall(mare.time, 3)
        assert.is_false(ok)
        fails.says(tostring(problem), 'time', 'function', 'number')
    end)
end)
