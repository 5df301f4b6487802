-- Threads with Lua states of their own: what they say, how they fail, what they leave.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'
local worker = require 'bindings.worker'

local spit, status_of = trial.spit, trial.status_of
local folder

before_each(function()
    folder = trial.new_folder()
end)

after_each(function()
    trial.remove(folder)
end)

describe('a worker', function()
    it('answers, and passes on how it failed', function()
        package.path = folder .. '/?.lua;' .. package.path
        spit(folder .. '/echo.lua', [[return function(channel)
            for text in channel.receive, channel do
                if text == 'fail' then error 'broken' end
                channel:send(text .. '!')
            end
        end]])
        local w = worker.start 'echo'
        assert.is_nil(w:poll())
        w:send(('x'):rep(1000000))
        assert.equal(1000001, #w:receive())
        w:send 'fail'
        assert.error_matches(function() w:receive() end, 'broken')
        assert.is_nil(w:receive())
        w:stop()
        w:stop()
        assert.error_matches(function() worker.start 'no_such_module' end, 'no_such_module')
        package.path = package.path:gsub('^[^;]*;', '')
    end)

    it('says that memory is short where C can get no function to call', function()
        local callback, made = require 'bindings.callback', {}
        local ok, failure
        repeat
            ok, failure = pcall(callback, 'void (*)(void)', function() end)
            if ok then made[#made + 1] = failure end
        until not ok or #made > 1e5
        for _, one in ipairs(made) do one:free() end
        fails.says(failure, 'out of memory', 'function', 'C calls')
        callback('void (*)(void)', function() end):free()
        assert.error_matches(function() callback('no_such_type', print) end, 'no_such_type')
    end)

    it('leaves a library loaded, which would lose what it keeps for its process', function()
        spit(folder .. '/loader.lua', [[return function(channel)
            require('bindings.netcdf').load()
            channel:send 'loaded'
        end]])
        spit(folder .. '/main.lua', ([[
            package.path = %q .. '/?.lua;' .. package.path
            local w = require('bindings.worker').start 'loader'
            print(w:receive())
            w:stop()
            for line in io.lines '/proc/self/maps' do
                if line:find 'libhdf5' then print 'still there' break end
            end
        ]]):format(folder))
        local status, text = status_of(("'%s' '%s/main.lua'"):format(home.launcher, folder))
        assert.equal(0, status, text)
        assert.truthy(text:find '^loaded\nstill there', text)
    end)
end)
