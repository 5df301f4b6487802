-- Tests that the commit which Mare was built from is found, stands in what Mare
-- writes, and decides nothing.

local device = require 'bindings.device'
local home = require 'bindings.home'
local lfs = require 'lfs'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local trial = require 'tests.scenarios.trial'

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

-- Runs a shell command in the folder, which must succeed; returns its output.
local function shell(line, ...)
    local status, text = trial.status_of(('cd %s && { %s; }'):format(folder, line:format(...)))
    assert.equal(0, status, text)
    return text
end

-- Returns the commit that a build of the folder `tree` would hold.
local function looked_up(tree, more)
    shell('cmake -DTREE=%s/%s -DOUTPUT=commit.c %s -P "%s/core/commit.cmake"', folder, tree,
        more or '', home.root)
    return trial.slurp(folder .. '/commit.c'):match 'return "(.-)"'
end

-- A test that is skipped without these programs.
local function found(title, test)
    it('is found: ' .. title, function()
        for _, program in ipairs { 'git', 'cmake' } do
            if trial.status_of('command -v ' .. program) ~= 0 then
                return pending(program .. ' is not installed')
            end
        end
        test()
    end)
end

describe('the commit', function()
    found('that of the tree, with a mark for edited files', function()
        shell [[git init -q tree && cd tree && echo 1 >file && git add file && git -c user.name=a \
            -c user.email=b commit -qm first]]
        local commit = shell('git -C tree rev-parse HEAD'):match '^%x+'
        assert.equal(commit:sub(1, 12), looked_up 'tree')
        shell 'echo new >tree/not_of_it'
        assert.equal(commit:sub(1, 12), looked_up 'tree')
        shell 'echo 2 >tree/file'
        assert.equal(commit:sub(1, 12) .. '-dirty', looked_up 'tree')
    end)

    found('unknown without git and in a folder of another tree', function()
        shell 'mkdir alone && git init -q tree && mkdir tree/unpacked'
        assert.equal('unknown', looked_up 'alone')
        assert.equal('unknown', looked_up 'tree/unpacked')
        assert.equal('v1.2-rc3', looked_up('alone', '-DCOMMIT=v1.2-rc3'))
        assert.equal('unknown', looked_up('alone', [['-DCOMMIT=a"b']]))
    end)

    found('and its file left alone while it is the same', function()
        shell 'mkdir alone'
        looked_up 'alone'
        shell 'touch -d 2001-01-01 commit.c'
        local before = lfs.attributes(folder .. '/commit.c', 'modification')
        looked_up 'alone'
        assert.equal(before, lfs.attributes(folder .. '/commit.c', 'modification'))
        looked_up('alone', '-DCOMMIT=other')
        assert.not_equal(before, lfs.attributes(folder .. '/commit.c', 'modification'))
    end)
end)

describe('a version', function()
    local commit, full_version = device.commit, device.full_version

    after_each(function() device.commit, device.full_version = commit, full_version end)

    local function run(options)
        options.quiet, options.device, options.precision = true, trial.device, 'float'
        return mare.run {
            title = 'rest', grid = mare.grid { nx = 16, ny = 16, x = { 0, 1 }, y = { 0, 1 } },
            scheme = mare.euler {}, boundaries = 'periodic', options = options,
            initial = function() return 1, 0, 0, 1 end,
        }
    end

    it('holds it, in files and checkpoints too', function()
        assert.equal(home.commit, mare.commit)
        assert.matches('^[0-9.]+, commit ' .. commit:gsub('%p', '%%%0') .. '$', full_version)
        run { steps = 2, out = folder .. '/a.nc', checkpoint = folder .. '/a.ck' }
        local file = netcdf.open(folder .. '/a.nc')
        assert.equal('Mare ' .. full_version, file:attributes().source)
        file:close()
        local status, text = trial.status_of(('"%s" info %s/a.ck'):format(home.launcher, folder))
        assert.equal(0, status)
        assert.truthy(text:find('source: Mare ' .. full_version .. '\n', 1, true), text)
    end)

    it('of another commit continues a run and finds the same programs', function()
        device.commit, device.full_version = 'another', '0.1.0, commit another'
        run { steps = 2, checkpoint = folder .. '/a.ck' }
        local programs = require('mare.tune.digest').of_mare()
        device.commit, device.full_version = commit, full_version
        assert.equal(4, run({ steps = 4, checkpoint = folder .. '/a.ck',
            restart = 'latest' }).now.steps)
        assert.equal(programs, require('mare.tune.digest').of_mare())
    end)
end)
