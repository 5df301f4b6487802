-- Tests that what crashes in a copy of the process is told in words, and nothing else is.

local attempt = require 'bindings.attempt'
local ffi = require 'ffi'
local system = require 'bindings.system'

local function end_by(number)
    return function() ffi.C.kill(system.process(), number) end
end

describe('an attempt in a copy of the process', function()
    it('tells of a crash', function()
        local before = system.process()
        assert.equal('crashes (signal 11)', attempt.fault(end_by(11)))
        assert.equal('crashes (signal 6)', attempt.fault(end_by(6)))
        assert.equal(before, system.process())
    end)

    it('tells of nothing where the file is not at fault', function()
        for _, f in ipairs { function() end, error, end_by(2), end_by(15), end_by(14) } do
            assert.is_nil(attempt.fault(f))
        end
    end)

    it('changes nothing here', function()
        local list = {}
        attempt.fault(function() list[1] = 'there' end)
        assert.same({}, list)
    end)

    it('collects nothing in the copy, whose drivers have no threads', function()
        local me, released = system.process(), 0
        local function litter()
            for _ = 1, 2 do
                ffi.gc(ffi.new 'char[1]', function()
                    released = released + 1
                    if system.process() ~= me then ffi.C.kill(system.process(), 11) end
                end)
            end
        end
        -- Garbage before each instruction around the fork, and all of it collected at each step.
        local pause, multiplier = collectgarbage('setpause', 0), collectgarbage('setstepmul', 1e6)
        debug.sethook(litter, '', 1)
        local fault = attempt.fault(function() end)
        debug.sethook()
        collectgarbage('setpause', pause)
        collectgarbage('setstepmul', multiplier)
        collectgarbage()
        assert.is_nil(fault)
        assert.is_true(released > 20)
        assert.is_true(collectgarbage 'isrunning')
        collectgarbage 'stop'
        attempt.fault(function() end)
        local is_running = collectgarbage 'isrunning'
        collectgarbage 'restart'
        assert.is_false(is_running)
    end)

    -- LuaJIT does that where compiled code ends, also with the collector at rest.
    it('does not go on in the copy with a collection that was at its finalizers', function()
        local me, ended, x = system.process(), 0, 0
        local function finalizer()
            if system.process() ~= me then ffi.C.kill(system.process(), 11) end
            ended = ended + 1
        end
        local function count()
            for k = 1, 1000 do
                if k % 3 == 0 then x = x + 1 elseif k % 7 == 0 then x = x - 1 else x = -x end
            end
        end
        count()
        collectgarbage()
        for _ = 1, 3000 do ffi.gc(ffi.new 'int[1]', finalizer) end
        collectgarbage 'stop'
        repeat collectgarbage('step', 1) until ended > 0
        local fault = attempt.fault(count)
        collectgarbage 'restart'
        collectgarbage()
        assert.is_nil(fault)
        assert.equal(3000, ended)
    end)
end)
