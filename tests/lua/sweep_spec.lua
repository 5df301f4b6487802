local fails = require 'tests.fails'
local mare = require 'mare'
local trial = require 'tests.scenarios.trial'

local sweep = mare.tune.sweep

local function row(scheme, width, height, speed, watts, frugal)
    return { scheme = scheme, width = width, height = height, mcells_per_second = speed,
        watts = watts, mcells_per_joule = frugal, low = frugal and 0.75 * frugal,
        high = frugal and 1.25 * frugal }
end

describe('a sweep of blocks', function()
    local folder
    local rows = {
        row('euler', 32, 8, 50e3, 400, 200), row('euler', 64, 8, 60e3, 600, 160),
        row('water', 32, 8, 70e3), row('water', 64, 8),
    }

    setup(function() folder = trial.new_folder() end)
    teardown(function() trial.remove(folder) end)

    it('says how far the fastest and the most frugal are apart', function()
        assert.same({
            'euler: fastest 64 x 8: 60.0 Gcells/s, 600 W, 160 Mcells/J (120 to 200)',
            '    most frugal 32 x 8: 50.0 Gcells/s, 400 W, 200 Mcells/J (150 to 250): the fastest '
                .. 'takes 25.0 % more energy, the most frugal 20.0 % more time',
            'water: fastest 32 x 8: 70.0 Gcells/s',
        }, sweep.findings(rows))
    end)

    it('is kept in a file, and drawn from it', function()
        local path, picture = folder .. '/a.csv', folder .. '/a.png'
        sweep.write(path, rows)
        local found = sweep.read(path)
        assert.same(rows, found)
        trial.run('tuning_sweep', { from = path, image = picture })
        assert.truthy(trial.slurp(picture):find '^\137PNG')
        trial.spit(path, 'a,b\n1,2\n')
        assert.has_error(function() sweep.read(path) end)
    end)

    it('puts devices beside each other, and tells how far their best blocks carry', function()
        local a, b, picture = folder .. '/one.csv', folder .. '/two.csv', folder .. '/two.png'
        sweep.write(a, { row('euler', 32, 8, 50e3), row('euler', 64, 8, 60e3) })
        local other = { row('euler', 32, 8, 40e3), row('euler', 64, 8, 20e3) }
        for _, one in ipairs(other) do
            one.device, one.api, one.commit = 'A GPU', 'cuda', 'c0ffee'
        end
        sweep.write(b, other)
        local all = sweep.read_all(a .. ',' .. b)
        assert.same({ 'one', 'A GPU', 'c0ffee' }, { all[1].device, all[3].device, all[3].commit })
        assert.same({
            'euler: best of one, 64 x 8, on one 100 %, A GPU cuda 50 %',
            'euler: best of A GPU cuda, 32 x 8, on one 83 %, A GPU cuda 100 %',
        }, sweep.portability(all))
        assert.same({}, sweep.portability(rows))
        assert.truthy(sweep.findings(all)[2]:find('euler, A GPU cuda: fastest 32 x 8', 1, true))
        trial.run('tuning_sweep', { from = a .. ',' .. b, image = picture })
        assert.truthy(trial.slurp(picture):find '^\137PNG')
        local old = trial.slurp(b):gsub(',device,api,commit', ''):gsub(',A GPU,cuda,c0ffee', '')
        trial.spit(b, old)
        assert.is_nil(sweep.read(b)[1].device)
    end)

    it('tells what is slow in Mcells/s', function()
        assert.same({ 'euler: fastest 1 x 8: 150 Mcells/s, 4.56 W, 12.3 Mcells/J (9.25 to 15.4)' },
            { sweep.findings { row('euler', 1, 8, 150.2, 4.561, 12.34) }[1] })
    end)

    it('refuses what it cannot do with a word on how to', function()
        local function answer(words)
            local status, text = trial.status_of(("cd '%s' && '%s' tuning_sweep --n 64 --device "
                .. '%s %s 2>&1'):format(folder, require('bindings.home').launcher, trial.device,
                words))
            return text:gsub('\nstatus.*', ''), status
        end
        local whole, once = ' (allowed: whole numbers from 1 to ', ', each once)'
        trial.spit(folder .. '/binary', '\1\2\3\n')
        local names = 'scheme,width,height,mcells_per_second,watts,mcells_per_joule,low,high\n'
        trial.spit(folder .. '/endless', names .. 'euler,32,8,1e999,,,,\n')
        for words, said in pairs {
            ['--widths 0'] = "option --widths: '0'" .. whole .. '4096' .. once,
            ['--widths 1,abc'] = "option --widths: '1,abc'" .. whole .. '4096' .. once,
            ['--heights 8,1.5'] = "option --heights: '8,1.5'" .. whole .. '16384' .. once,
            ['--schemes "euler,ocean linear,typo"'] = "option --schemes: 'typo' (allowed: euler, ",
            ['--widths 1,1'] = "option --widths: '1,1'" .. whole .. '4096' .. once,
            ['--schemes euler,euler'] = "option --schemes: 'euler' twice",
            ['--cache binary/cc'] = 'option --cache: binary/cc/sweep: cannot write into its folder',
            ['--from endless'] = 'option --from: sweep: endless: line 2 is no row of a table',
            ['--from binary'] = 'option --from: sweep: binary is no table of a sweep, whose',
        } do
            local text, status = answer(words)
            assert.equal('mare: ' .. said, text:sub(1, 6 + #said))
            assert.equal('\nTry --help.', text:match '\n.*')
            assert.equal(2, status)
        end
        local text, status = answer '--widths 4096 --schemes euler'
        assert.equal(1, status, text)
        fails.says(text, 'mare', 'tuning_sweep', 'measured', 'block')
        assert.is_nil(io.open(folder .. '/tuning_sweep.csv'))
    end)

    it('looks where the fastest would be kept before it measures', function()
        local status, text = trial.status_of(("cd '%s' && MARE_TUNED=off '%s' tuning_sweep --keep "
            .. '--device %s'):format(folder, require('bindings.home').launcher, trial.device))
        assert.equal(2, status)
        fails.says(text:match '[^\n]*', 'mare', '--keep', 'place', 'MARE_TUNED', 'option')
    end)

    it('tells cells a second and a joule of a record', function()
        local found = sweep.row('euler', 32, 8, 1e6, { invalidity = 'correct', time = 0.5,
            energy = 0.02, energy_low = 0.016, energy_high = 0.025, power = 300 })
        assert.near(2000, found.mcells_per_second, 1e-9)
        assert.near(50, found.mcells_per_joule, 1e-9)
        assert.near(40, found.low, 1e-9)
        assert.near(62.5, found.high, 1e-9)
        assert.is_nil(sweep.row('euler', 32, 8, 1e6, { invalidity = 'compile' }).watts)
    end)

    it('leaves what it has measured when it is stopped', function()
        local tune, seen = mare.tune.scenario, 0
        mare.tune.scenario = function(desc)
            local tell = desc.tell
            desc.tell = function(record)
                tell(record)
                seen = seen + 1
                if seen == 1 then require('bindings.errors').interrupt() end
            end
            return tune(desc)
        end
        local ok, failure = pcall(trial.run, 'tuning_sweep', { n = 64, widths = '1,2',
            heights = '8,32', schemes = 'ocean linear', table = folder .. '/c.csv',
            image = folder .. '/c.png', cache = folder .. '/of/it' })
        mare.tune.scenario = tune
        assert.same({ false, 'interrupted' }, { ok, failure.status })
        assert.equal(1, #sweep.read(folder .. '/c.csv'))
        assert.truthy(trial.slurp(folder .. '/c.png'):find '^\137PNG')
        assert.truthy(trial.slurp(folder .. '/of/it/ocean_linear.json'))
    end)

    it('measures every scheme that it is asked for', function()
        local is_cpu = mare.device.open(trial.device).info.kind == 'cpu'
        local found = trial.run('tuning_sweep', { n = 64, widths = is_cpu and '1' or '64',
            heights = '8,32', schemes = 'ocean linear', table = folder .. '/b.csv',
            image = folder .. '/b.png' })
        assert.equal(2, #found)
        for _, r in ipairs(found) do assert.is_true(r.mcells_per_second > 0) end
    end)
end)
