-- Part files: who may remove which, and when.

local files = require 'bindings.files'
local host = require 'bindings.host'
local posix = require 'bindings.posix'
local rivals = require 'tests.rivals'
local trial = require 'tests.scenarios.trial'

local folder, path

before_each(function()
    folder = trial.new_folder()
    path = folder .. '/run.nc'
end)

after_each(function()
    trial.remove(folder)
end)

local function complete()
    local temporary = files.temporary(path)
    temporary:append 'whole'
    temporary:commit()
end

describe('a part file', function()
    it('that has no lock yet, and so is taken for abandoned, is made again', function()
        local wait_for_lock, names = posix.wait_for_lock, {}
        finally(function() posix.wait_for_lock = wait_for_lock end)
        posix.wait_for_lock = function(fd)
            posix.wait_for_lock = wait_for_lock
            names[1] = trial.listing(folder)
            complete()      -- of another, between creation and lock
            wait_for_lock(fd)
        end
        local temporary = files.temporary(path)
        assert.truthy(names[1]:find '^run%.nc%.%d+%-%d+%.part$')
        assert.equal('run.nc ' .. temporary.name:match '[^/]*$', trial.listing(folder))
        temporary:append 'mine'
        temporary:commit()
        assert.equal('mine', files.read(path))
        assert.equal('run.nc', trial.listing(folder))
    end)

    it('of a killed process goes when the next one starts', function()
        local code = folder .. '/killed.lua'
        trial.spit(code, ([[
            local kept = require('bindings.files').temporary(%q)
            kept:append 'half'
            os.execute 'kill -9 $PPID'
        ]]):format(path))
        os.execute(("'%s' '%s' 2>/dev/null"):format(host.launcher, code))
        os.remove(code)
        assert.truthy(trial.listing(folder):find '^run%.nc%.%d+%-%d+%.part$')
        files.check(path)
        assert.equal('', trial.listing(folder))
    end)

    it('that is gone is told by its name', function()
        local temporary = files.temporary(path)
        os.remove(temporary.name)
        local ok, problem = pcall(temporary.commit, temporary)
        assert.is_false(ok)
        assert.truthy(problem:find('has gone: ' .. temporary.name, 1, true), problem)
    end)

    it('gets an owner only when a run may go on from it', function()
        local temporary = files.temporary(path)
        assert.equal(temporary.name, temporary:own(nil))
        local name = temporary:own 'a1'
        assert.truthy(name:find '/run%.nc%.a1%.%d+%-%d+%.part$')
        assert.equal(name, temporary:own 'a1')
        files.check(path)
        assert.equal(name:match '[^/]*$', trial.listing(folder))
        temporary:discard()
        assert.equal('', trial.listing(folder))
    end)

    it('of the collector goes under its last name', function()
        files.temporary(path):own 'a1'
        collectgarbage()
        collectgarbage()
        assert.equal('', trial.listing(folder))
    end)

    it('is nobody else\'s to remove, among many processes', function()
        assert.equal('', rivals(path, 8, 25))
        assert.equal('run.nc', trial.listing(folder))
    end)
end)

describe('a run with checkpoints that is killed before its first', function()
    it('leaves nothing that the next one does not remove', function()
        local code = folder .. '/killed.lua'
        trial.spit(code, [[
            local mare = require 'mare'
            mare.run {
                title = 'killed', scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic',
                grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                initial = function() return 1, 0, 0, 1 end,
                at = { { 0.1, function() os.execute(os.getenv 'END') end } },
                options = mare.options { mare.options.simulation },
            }
        ]])
        local values = { out = path, every = 0.05, ['t-end'] = 0.2, checkpoint = folder .. '/ck',
            film = folder .. '/film.gif' }
        local go_on = trial.command(code, values)
        os.execute(("END='kill -9 $PPID' %s >/dev/null 2>&1"):format(go_on))
        assert.truthy(trial.listing(folder):find 'run%.nc%.%d+%-%d+%.part')
        local status, text = trial.status_of('END=true ' .. go_on)
        assert.equal(0, status, text)
        assert.equal('ck film.gif killed.lua run.nc', trial.listing(folder))
    end)
end)
