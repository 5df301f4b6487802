-- Part files: who may remove which, and when.

local checkpoint = require 'mare.files.checkpoint'
local files = require 'bindings.files'
local home = require 'bindings.home'
local posix = require 'bindings.posix'
local rivals = require 'tests.rivals'
local shares = require 'mare.files.shares'
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
        os.execute(("'%s' '%s' 2>/dev/null"):format(home.launcher, code))
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

describe('a run with checkpoints that is killed', function()
    local code, go_on

    before_each(function()
        code = folder .. '/killed.lua'
        trial.spit(code, [[
            local mare = require 'mare'
            mare.run {
                title = 'killed', scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic',
                grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                initial = function() return 1, 0, 0, 1 end,
                at = { { tonumber(os.getenv 'AT'), function() os.execute(os.getenv 'END') end } },
                options = mare.options { mare.options.simulation },
            }
        ]])
        go_on = trial.command(code, { out = path, every = 0.05, ['t-end'] = 0.2,
            checkpoint = folder .. '/ck', ['checkpoint-every'] = 0.02,
            film = folder .. '/film.gif' })
    end)

    -- The part files that are left when a run is killed at a time.
    local function parts_of_one_killed_at(t)
        os.execute(("AT=%g END='kill -9 $PPID' %s >/dev/null 2>&1"):format(t, go_on))
        return select(2, trial.listing(folder):gsub('%.part', ''))
    end

    local function complete_one(more)
        local status, text = trial.status_of('AT=0.1 END=true ' .. go_on .. (more or ''))
        assert.equal(0, status, text)
    end

    it('before its first leaves nothing that the next one does not remove', function()
        assert.equal(3, parts_of_one_killed_at(0))
        assert.truthy(trial.listing(folder):find 'run%.nc%.%d+%-%d+%.part')
        complete_one()
        assert.equal('ck ck.1 film.gif killed.lua run.nc', trial.listing(folder))
    end)

    it('leaves what its checkpoints refer to, until others have taken their place', function()
        local claim = 1
        assert.equal(claim + 2, parts_of_one_killed_at(0.1))
        assert.equal(claim + 2, parts_of_one_killed_at(0.1))
        complete_one ' --restart=latest'
        assert.equal('ck ck.1 film.gif killed.lua run.nc', trial.listing(folder))
    end)
end)

describe('a checkpoint', function()
    it('takes away part files of its name that none refers to, if nobody writes them', function()
        local name, kept = folder .. '/ck', {}
        local function make(run, checkpoint_name)
            local temporary = files.temporary(path)
            temporary:own(run .. '-' .. checkpoint.mark(checkpoint_name))
            kept[#kept + 1] = temporary.name:match '[^/]*$'
            return temporary
        end
        local function save(temporary)
            local position = { path = path, temporary = temporary.name, size = 0, shape = '' }
            checkpoint.write(name, 2, { version = '0', device = 'null:0', run_id = 'a', dt = 0.1,
                identity = {}, t = 0, steps = 0, rate = 1, cfl = 0.4,
                outputs = { { position = position } } }, '', 0)
            checkpoint.sweep(name, { path })
        end
        local first, second, third = make('a1', name), make('b2', name), make('c3', name)
        make('d4', folder .. '/another'):keep()
        first:keep()
        save(first)
        save(second)
        assert.equal('ck ck.1 ' .. table.concat(kept, ' '), trial.listing(folder))
        save(second)        -- `first` is in no checkpoint any more; `third` never was, and is held
        table.remove(kept, 1)
        assert.equal('ck ck.1 ' .. table.concat(kept, ' '), trial.listing(folder))
        third:keep()
        trial.spit(name .. '.1', 'damaged')
        checkpoint.sweep(name, { path })
        assert.equal('ck ck.1 ' .. table.concat(kept, ' '), trial.listing(folder))
        os.remove(name .. '.1')
        checkpoint.sweep(name, { path })
        table.remove(kept, 2)
        assert.equal('ck ' .. table.concat(kept, ' '), trial.listing(folder))
        second:keep()
    end)

    it('takes away shares of ranks that were killed, whole or not', function()
        local name, living = folder .. '/ck', files.temporary(folder .. '/ck.sb2.1')
        for _, one in ipairs { 'ck.sa1.0', 'ck.sa1.1.4194305-1.part', 'ck.sb2.0', 'ckx.sa1.0',
            'ck.sa1', 'ck.sa1.0.nc' } do trial.spit(folder .. '/' .. one, '') end
        shares.sweep(name, { ['ck.sb2.0'] = true })
        assert.equal('ck.sa1 ck.sa1.0.nc ck.sb2.0 ' .. living.name:match '[^/]*$' .. ' ckx.sa1.0',
            trial.listing(folder))
        living:discard()
    end)
end)
