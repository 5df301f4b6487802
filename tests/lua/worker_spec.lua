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

    it('of a script says values', function()
        local mare = require 'mare'
        local w = mare.worker(function(channel)
            for n in channel.receive, channel do
                if n == 'fail' then error 'broken' end
                channel:send { n = n, ready = channel:ready(), version = require('mare').version }
            end
        end)
        assert.is_nil(w:poll())
        w:send { 1.5, a = { true } }
        assert.same({ n = { 1.5, a = { true } }, ready = false, version = mare.version },
            w:receive())
        w:send 'fail'
        assert.error_matches(function() w:receive() end, 'broken')
        assert.is_nil(w:receive())
        w:stop()
        w:stop()
        local outer = 7
        fails(function() mare.worker(function() return outer end) end, nil, "'outer'")
        fails(function() mare.worker(print) end, nil, 'of C')
        fails(function() mare.worker(7) end, nil, 'number')
        local idle = mare.worker(function(channel) channel:receive() end)
        fails(function() idle:send(print) end, nil, 'worker:send', 'function')
        idle:stop()
        assert.is_false(idle:send(1))       -- nothing goes into what has its number now
        assert.equal(1, select('#', idle:receive()))
        local before = package.path
        package.path = folder .. '/?.lua;' .. package.path
        spit(folder .. '/twice.lua', 'return function(c) c:send(2 * c:receive()) end')
        local of_module = mare.worker(function(channel) require 'twice'(channel) end)
        of_module:send(21)
        assert.equal(42, of_module:receive())
        of_module:stop()
        package.path = before
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

    -- Each side filled the other's socket, and both waited for ever.
    it('takes what a thread says while more is sent to it', function()
        local w = require('mare').worker(function(channel)
            for text in channel.receive, channel do channel:send(text .. text) end
        end)
        local long = ('x'):rep(3e5)
        for k = 1, 1000 do w:send(k % 250 == 0 and long or 'y') end
        local sum = 0
        for _ = 1, 1000 do sum = sum + #w:receive() end
        w:stop()
        assert.equal(2 * (996 + 4 * 3e5), sum)
    end)
end)
