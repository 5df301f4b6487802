-- Tests that Mare ends where C does not: in H5Fopen() of a damaged NetCDF-4 file, for which
-- tests/fake/endless.c stands. A copy of the process that reads the header first dies there; the
-- process itself is ended by signals.

local netcdf = require 'bindings.netcdf'
local sample = require 'tests.sample'
local terminal = require 'tests.pseudo_terminal'
local trial = require 'tests.scenarios.trial'
local turns = require 'tests.turns'

local library = require 'tests.fakes' .. '/fake_system/libendless.so'
local numbers = { TERM = 15, HUP = 1, INT = 2 }
local folder, child

before_each(function()
    folder = trial.new_folder()
    netcdf.create(folder .. '/a.nc'):close()
end)
after_each(function()
    if child then child:stop() end
    trial.remove(folder)
end)

-- preparation: what of bindings.attempt to set, to what.
local function open_file(how, preparation)
    trial.spit(folder .. '/open.lua', ("local attempt = require 'bindings.attempt' attempt.%s\n"
        .. "require('bindings.netcdf').open '%s/a.nc'"):format(preparation, folder))
    child = terminal.start({ folder .. '/open.lua' },
        { 'LD_PRELOAD=' .. library, 'MARE_ENDLESS=' .. how })
    assert(child:see 'inside', 'H5Fopen is not called: ' .. child.text)
end

-- Sends a signal, sees that Mare says what it waits for and that it goes on for so many seconds.
-- It waits for a minute where it computes nothing, so that a busy machine changes nothing.
local function goes_on_after(name, seconds)
    child:kill(name)
    assert(child:see 'waiting for what runs', 'nothing is said: ' .. child.text)
    assert.is_nil(child:see(nil, seconds), child.text)
end

local function ends_by(name)
    assert.is_truthy(child:see(), 'goes on: ' .. child.text)
    assert.equal(-numbers[name], child:stop())
end

local alone = 'fault = function() end'

describe('C that does not return', function()
    if library:find ' ' then return pending 'LD_PRELOAD takes no path with a space' end

    for _, case in ipairs(sample({ { 'TERM', 0.5, 'idle' }, { 'HUP', 0.5, 'idle' },
        { 'INT', 7, 'busy' } }, 1)) do
        local name, seconds, how = unpack(case)
        it('is ended by a second SIG' .. name, function()
            open_file(how, alone)
            goes_on_after(name, seconds)
            child:kill(name)
            ends_by(name)
        end)
    end

    local by_turns = turns(it, 2)       -- the second of them computes for five seconds

    by_turns('has more time where it waits', function()
        open_file('idle', alone)
        goes_on_after('TERM', 7)
        if os.getenv 'MARE_TESTS' == 'long' then ends_by 'TERM' else child:kill 'KILL' end
    end)

    for _, name in ipairs(sample({ 'TERM', 'HUP' }, 1)) do
        by_turns('is ended by one SIG' .. name .. ' after some seconds of computing', function()
            open_file('busy', alone)
            local before = child:processor_seconds()
            child:kill(name)
            assert(child:see 'waiting for what runs', 'nothing is said: ' .. child.text)
            assert.is_truthy(child:see(), 'goes on: ' .. child.text)
            local used = child:processor_seconds() - before
            ends_by(name)
            assert.matches('what runs in C does not end', child.text)
            assert.is_true(used > 4 and used < 10, used)
        end)
    end

    it('on the header of a file is what a copy of the process is for', function()
        open_file('busy', 'limit, attempt.patience = 1, 600')
        assert.is_truthy(child:see 'a.nc: is damaged: NetCDF%-C takes more than 1 s')
        assert.is_truthy(child:see())
        assert.equal(1, child:stop())
    end)

    for _, name in ipairs(sample({ 'TERM', 'INT' }, 1)) do
        it('in that copy ends it with a SIG' .. name, function()
            open_file('busy', 'limit, attempt.patience = 100, 600')
            child:kill(name)
            assert.is_truthy(child:see(), 'goes on: ' .. child.text)
            assert.matches('interrupted', child.text)
            child:stop()
            assert.equal('a.nc open.lua', trial.listing(folder))
        end)
    end
end)
