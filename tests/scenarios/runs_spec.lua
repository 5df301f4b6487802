-- Runs that go on: what is written does not depend on how often a run was stopped, killed or split
-- anew, and nothing that goes wrong on the way costs a file.

local checkpoint = require 'mare.files.checkpoint'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local files = require 'bindings.files'
local home = require 'bindings.home'
local json = require 'dkjson'
local lfs = require 'lfs'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local sample = require 'tests.sample'
local system = require 'bindings.system'
local trial = require 'tests.scenarios.trial'

ffi.cdef 'int usleep(unsigned microseconds);'

local device = trial.device
local open = require('bindings.device').open
local command, data_of, same_data = trial.command, trial.data_of, trial.same_data
local slurp, spit, status_of, times_of = trial.slurp, trial.spit, trial.status_of, trial.times_of
local folder

require 'tests.share'()

local function listing()
    return trial.listing(folder)
end

local function run(name, values)
    values.image = values.image or folder .. '/picture.png'
    return trial.run(name, values)
end

before_each(function()
    folder = trial.new_folder()
end)

after_each(function()
    trial.remove(folder)
end)

describe('a checkpoint file', function()
    local path, data

    local function header(steps)
        return { version = '0', device = 'null:0', run_id = 'a', identity = {}, outputs = {},
            t = 0.1 * steps, steps = steps, dt = 0.1, rate = 1, cfl = 0.45 }
    end

    before_each(function()
        path, data = folder .. '/run.ck', ffi.new('double[5]', 1, 2, 3, 4, 5)
    end)

    it('keeps the last few, and finds the newest that is whole', function()
        for n = 1, 4 do checkpoint.write(path, 3, header(n), data, 40) end
        assert.equal('run.ck run.ck.1 run.ck.2', listing())
        local found = checkpoint.newest(path)
        assert.equal(4, found.header.steps)
        assert.equal(ffi.string(data, 40), ffi.string(found.state, found.bytes))
        local bytes = slurp(path)
        spit(path, bytes:sub(1, 60) .. string.char((bytes:byte(61) + 1) % 256) .. bytes:sub(62))
        spit(path .. '.1', slurp(path .. '.1'):sub(1, -2))
        found = checkpoint.newest(path)
        assert.equal(2, found.header.steps)
        fails.says(found.passed_over[1], 'run.ck', 'damaged', 'checksum', 'wrong')
        assert.truthy(found.passed_over[2]:find('run.ck.1 is not complete', 1, true))
        spit(path .. '.2', 'text')
        assert.error_matches(function() checkpoint.newest(path) end, 'run%.ck%.2 is no checkpoint')
        assert.is_nil(checkpoint.newest(folder .. '/none'))
    end)

    it('that cannot be written costs none of the old ones', function()
        checkpoint.write(path, 2, { n = 1 }, data, 40)
        local bytes = slurp(path)
        assert.error(function() checkpoint.write(path, 2, { print }, data, 40) end)
        assert.equal(bytes, slurp(path))
        assert.equal('run.ck', listing())
    end)
end)

describe('a run that goes on from a checkpoint', function()
    local runs = {
        { 'kelvin_helmholtz', nx = 48, ny = 32 },
        { 'kelvin_helmholtz', nx = 48, ny = 32, scheme = 'lax_friedrichs', precision = 'double' },
        { 'rayleigh_taylor', nx = 24, ny = 48, limiter = 'superbee', flux = 'hll' },
        { 'shock_bubble', nx = 64, ny = 32 },
        -- Its sides are tables to the end of the run.
        { 'double_mach', nx = 64, ny = 16, t_end = 0.2 },
        { 'sod', nx = 64, ny = 8 },
        { 'bump', nx = 32, scheme = 'waf' },
        { 'bump', nx = 32, scheme = 'kurganov_petrova_rk3' },
    }
    local function simulation(result) return result.sim or result end

    local function state(sim)
        local all = {}
        for n, name in ipairs(sim.scheme.fields) do
            all[n] = ffi.string(sim:field(name):pointer(), sim.grid.cells
                * (sim.precision == 'double' and 8 or 4))
        end
        return all
    end

    for k, desc in ipairs(sample(runs, { runs[1] })) do     -- others here compile its programs
        it('equals one that was not stopped: ' .. desc[1] .. ' ' .. k, function()
            local function go(values)
                for key, value in pairs(desc) do
                    if key ~= 1 then values[key] = values[key] or value end
                end
                values.every_steps, values.t_end = 5, values.t_end or 100
                values.variables = desc[1] == 'bump' and 'eta,speed' or 'p,vorticity,schlieren'
                return simulation(run(desc[1], values))
            end
            local whole = go { steps = 30, out = folder .. '/whole.nc' }
            local expected, fields = data_of(folder .. '/whole.nc'), state(whole)
            -- Neither is a time of outputs; the second cuts the last steps to hit it.
            for n, t_end in ipairs { desc.t_end or 100, 0.43 * whole.now.t } do
                local out, ck = folder .. '/' .. n .. '.nc', folder .. '/' .. n .. '.ck'
                local first = go { steps = n == 1 and 13 or nil, t_end = t_end, out = out,
                    checkpoint = ck }
                assert.equal(t_end, n == 1 and t_end or first.now.t)
                local times = times_of(out)
                assert.equal(first.now.t, times[#times])
                assert.is_true(first.now.steps % 5 > 0)
                local last = go { steps = 30, out = out, checkpoint = ck, restart = 'latest',
                    decompose = k % 2 == 1 and { 2, 2 } or { 1, 3 } }
                assert.equal(30, last.now.steps)
                assert.equal(whole.now.t, last.now.t)
                same_data(expected, out)
                for m, bytes in ipairs(fields) do assert.is_true(state(last)[m] == bytes) end
            end
            assert.is_nil(listing():find '%.part')
        end)
    end

    -- Schemes with their own ways to keep a state between steps, under a wind and beside a sea that
    -- change at times of their own.
    local schemes = sample({ 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' }, { 'linear' })
    for k, scheme in ipairs(schemes) do
        it('equals one that was not stopped: the ocean by ' .. scheme, function()
            local function go(options)
                options.quiet, options.device, options.precision = true, device, 'float'
                options.every_steps, options.variables = 5, 'eta,hu,hv'
                return mare.run {
                    title = 'sea', options = options, boundaries = { north = 'reflective',
                        south = 'reflective', west = { kind = 'sponge', width = 6,
                            eta = { times = { 0, 170, 400 }, series = { 0, 0.3, -0.2 } } },
                        east = { kind = 'elevation', constituents = { { name = 'M2', phase = 20,
                            amplitude = function(_, y) return y / 1e5 end } } } },
                    grid = mare.grid { nx = 33, ny = 22, x = { 0, 33e3 }, y = { 0, 22e3 } },
                    scheme = mare.ocean { scheme = scheme, coriolis = { f = 1e-4 }, depth = 50,
                        wind = { times = { 0, 90, 300 }, value = function(x, _, t)
                            return x / 1e4, t / 1e3
                        end } },
                    initial = function(x, y)
                        return math.exp(-((x - 9e3) ^ 2 + (y - 8e3) ^ 2) / 2e7), 0, 0
                    end,
                }
            end
            local whole = go { steps = 30, out = folder .. '/whole.nc' }
            local expected, out, ck = data_of(folder .. '/whole.nc'), folder .. '/a.nc',
                folder .. '/a.ck'
            for _, stop in ipairs { { steps = 12 }, { steps = 13 },
                { t_end = 0.83 * whole.now.t } } do
                stop.out, stop.checkpoint = out, ck
                go(stop)
                local last = go { steps = 30, out = out, checkpoint = ck, restart = ck,
                    decompose = k % 2 == 1 and { 2, 2 } or { 1, 3 } }
                assert.equal(whole.now.t, last.now.t)
                same_data(expected, out)
            end
        end)
    end

    it('may have been at its end, and is then at it again', function()
        local function go(t_end, restart, every)
            return run('kelvin_helmholtz', { nx = 48, ny = 32, t_end = t_end, every = every,
                out = folder .. '/run.nc', checkpoint = folder .. '/run.ck',
                restart = restart }).sim
        end
        local first = state(go(0.2))
        assert.is_true(checkpoint.newest(folder .. '/run.ck').header.t < 0.2)
        local told = table.concat(require 'mare.launcher.info'.lines(folder .. '/run.ck'), '\n')
        fails.says(told, 't = 0.2', 'before', 'steps')
        local bytes = data_of(folder .. '/run.nc')
        assert.same(first, state(go(0.2, 'latest')))
        same_data(bytes, folder .. '/run.nc')
        assert.same({ 0, 0.2 }, times_of(folder .. '/run.nc'))
        go(0.3, 'latest')
        assert.same({ 0, 0.3 }, times_of(folder .. '/run.nc'))
        go(0.2, nil, 0.1)                       -- that is hit by a longer run, too
        assert.equal(0.2, checkpoint.newest(folder .. '/run.ck').header.t)
    end)

    it('is not replaced by a new one without a word', function()
        local values = { nx = 16, ny = 16, ['t-end'] = 0.2, checkpoint = folder .. '/run.ck',
            image = folder .. '/p.png' }
        local function told(changes)
            for key, value in pairs(changes) do values[key] = value end
            local status, text = status_of(command('kelvin_helmholtz', values))
            assert.equal(0, status, text)
            return text:match 'warning: ([^\n]*)'
        end
        assert.is_nil(told {})
        assert.equal(folder .. '/run.ck holds a run up to t = 0.2, which this new run replaces; '
            .. '--restart latest goes on from it', told { ['t-end'] = 0.1 })
        assert.equal(folder .. '/run.ck holds another run up to t = 0.1, which this new run '
            .. 'replaces', told { ny = 8 })
        assert.is_nil(told { restart = 'latest' })
        values.checkpoint = nil
        local status, text = status_of(command('kelvin_helmholtz', values))
        assert.equal(2, status)
        assert.matches('mare: %-%-restart latest needs %-%-checkpoint FILE\n', text)
    end)

    it('has one checkpoint of the end, where one was due then too', function()
        run('kelvin_helmholtz', { nx = 48, ny = 32, t_end = 0.1, checkpoint_every = 0.05,
            every = 0.05, out = folder .. '/run.nc', checkpoint = folder .. '/run.ck' })
        assert.equal(0.1, checkpoint.read(folder .. '/run.ck').header.t)
        assert.equal(0.05, checkpoint.read(folder .. '/run.ck.1').header.t)
    end)

    it('refuses another grid, other equations and other variables', function()
        local base = { nx = 48, ny = 32, steps = 4, checkpoint = folder .. '/run.ck',
            out = folder .. '/run.nc' }
        local function refused(changes, pattern)
            local values = { restart = 'latest' }
            for key, value in pairs(base) do values[key] = value end
            for key, value in pairs(changes) do values[key] = value end
            assert.error_matches(function() run('kelvin_helmholtz', values) end, pattern)
        end
        run('kelvin_helmholtz', base)
        local bytes = slurp(base.out)
        local told = table.concat(require 'mare.launcher.info'.lines(base.checkpoint), '\n')
        assert.matches('\nthe grid: nx = 48, ny = 32, x = 0,2, y = 0,1, ghost cells = 2, ', told)
        assert.matches('\nthe boundaries: east = periodic, north = periodic, ', told)
        refused({ nx = 64 }, 'run%.ck is of another run: the grid: nx = 48 then, 64 now$')
        refused({ flux = 'hll' }, ': the equations: flux = hllc then, hll now$')
        refused({ precision = 'double' }, ': the precision: float then, double now')
        refused({ variables = 'p' }, 'run%.nc: .*other variables, cells or storage')
        refused({ steps = 3 }, 'run%.ck is at step 4, the run ends at step 3')
        refused({ t_end = 1e-3 }, 'run%.ck is at t = 0%.%d+, the run ends at t = 0%.001')
        refused({ restart = folder .. '/none' }, '%-%-restart: .*none: there is no such file')
        assert.equal(bytes, slurp(base.out))
        os.remove(base.out)
        refused({}, 'run%.nc: neither it nor .* is there as the checkpoint knew it')
    end)

    it('keeps the plain values of a scenario', function()
        local function go(steps, restart)
            local kept = { sum = 0 }
            mare.run {
                title = 'sums', grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic', state = kept,
                initial = function() return 1, 0, 0, 1 end,
                at = { { 0.1, function(sim) kept.sum = kept.sum + sim.now.t end },
                    { 0.2, function() kept.sum = kept.sum + 10 end } },
                options = { t_end = steps, quiet = true, device = device, precision = 'float',
                    checkpoint = folder .. '/s.ck', restart = restart },
            }
            return kept.sum
        end
        assert.equal(0.1, go(0.15))
        assert.equal(10.1, go(0.25, 'latest'))
    end)

    it('needs a checkpoint for a limit of time, and stops in time', function()
        local status, text = status_of(command('kelvin_helmholtz', { ['wall-limit'] = '1h' }))
        assert.equal(2, status)
        assert.truthy(text:find('--wall-limit wants --checkpoint FILE', 1, true), text)
        local values = { nx = 64, ny = 32, ['t-end'] = 1e6, ['wall-limit'] = '0.5s',
            checkpoint = folder .. '/run.ck', image = folder .. '/p.png',
            out = folder .. '/run.nc' }
        status, text = status_of(command('kelvin_helmholtz', values))
        assert.equal(3, status, text)
        fails.says(text, '--restart', 'run.ck', 'time')
        assert.truthy(checkpoint.newest(folder .. '/run.ck'))
        assert.truthy(listing():find 'run%.nc%.%x+%-%x+%.%d+%-%d+%.part')
    end)
end)

describe('outputs', function()
    it('come at the times asked for, several at once', function()
        local sim = mare.run {
            title = 'two files', grid = mare.grid { nx = 16, ny = 8, x = { 0, 2 }, y = { 0, 1 } },
            scheme = mare.euler { gamma = 1.4 }, boundaries = 'outflow',
            initial = function(x, y) return 1 + 0.1 * x, 0.1 * y, 0, 1 end,
            options = { t_end = 0.5, quiet = true, device = device, precision = 'float',
                out = folder .. '/all.nc', every = 0.1, decompose = { 2, 1 } },
            outputs = {
                { path = folder .. '/part.nc', times = { 0.25, 0.05 }, variables = { 'rho', 'u' },
                    region = { 0.5, 1.5, 0, 0.5 }, stride = 2, deflate = 1 },
                { path = folder .. '/steps.nc', steps = 4, variables = { 'speed' }, quantize = 3 },
            },
        }
        assert.same({ 0, 0.1, 0.2, 0.3, 0.4, 0.5 }, times_of(folder .. '/all.nc'))
        assert.same({ 0.05, 0.25 }, times_of(folder .. '/part.nc'))
        assert.equal(math.ceil(sim.now.steps / 4) + 1, #times_of(folder .. '/steps.nc'))
        local all, part = netcdf.open(folder .. '/all.nc'), netcdf.open(folder .. '/part.nc')
        assert.same({ time = 2, y = 2, x = 4 }, part:dimensions())
        local steps = netcdf.open(folder .. '/steps.nc')
        local digits = '_QuantizeGranularBitRoundNumberOfSignificantDigits'
        assert.equal(3, steps:attributes('speed')[digits])
        steps:close()
        local x, some = all:get 'x', part:get 'x'
        for i = 0, 3 do assert.equal(x[4 + 2 * i], some[i]) end
        all:close()
        part:close()
    end)

    it('derive what the formulas say', function()
        local w, h = 12, 10
        local sim = mare.simulation {
            grid = mare.grid { nx = w, ny = h, x = { 0, 3 }, y = { 0, 1 } },
            scheme = mare.euler { gamma = 1.4 }, boundaries = 'fixed',
            initial = function(x, y) return 1 + x + 2 * y, 3 * y, 5 * x, 2 end,
            devices = { open(device), open(device) },
            options = { device = device, precision = 'double', decompose = { 3, 2 } },
        }
        local values = {
            vorticity = function() return 5 - 3 end,
            schlieren = function() return math.sqrt(5) end,
            speed = function(x, y) return math.sqrt(9 * y * y + 25 * x * x) end,
            mach = function(x, y)
                return math.sqrt((9 * y * y + 25 * x * x) * (1 + x + 2 * y) / 2.8)
            end,
            p = function() return 2 end,
        }
        for name, value in pairs(values) do
            local data = sim:field(name)
            for j = 0, h - 1 do
                for i = 0, w - 1 do
                    local expected = value(sim.grid:x_centre(i), sim.grid:y_centre(j))
                    assert.near(expected, data[j * w + i], 1e-12 * (1 + expected), name)
                end
            end
        end
    end)

    it('are refused before anything is computed', function()
        local function refused(values, pattern)
            values.nx, values.ny, values.out = 32, 16, values.out or folder .. '/run.nc'
            assert.error_matches(function() run('kelvin_helmholtz', values) end, pattern)
            assert.equal('', listing())
        end
        refused({ region = '0,1' }, "%-%-region: '0,1' %(allowed: 4 numbers%)")
        refused({ region = '1,0,0,1' }, '%-%-region: 1,0,0,1 %(allowed: west,east,south,north%)')
        refused({ region = '5,6,0,1' }, '5,6,0,1 %(allowed: within 0,2,0,1%)')
        refused({ region = '1,3,0,1' }, '1,3,0,1 %(allowed: within 0,2,0,1%)')
        refused({ region = '0,inf,0,1' }, "'0,inf,0,1' %(allowed: 4 numbers%)")
        refused({ times = '1,x' }, "%-%-times: '1,x'")
        refused({ times = 'nan' }, "%-%-times: 'nan' %(allowed: numbers%)")
        refused({ times = '0,0.5,3', t_end = 1 }, "'3' %(allowed: times from 0 to 1, the end%)")
        refused({ times = '-1' }, "%-%-times: '%-1' %(allowed: times from 0")
        refused({ variables = 'q' }, "%-%-variables: 'q' %(allowed: rho, ")
        refused({ out = '/proc/run.nc' }, '/proc/run%.nc: cannot write into its folder')
        refused({ image = folder .. '/../' .. folder:match '[^/]+$' .. '/run.nc' },
            'option %-%-out and option %-%-image are one file: .*run%.nc')
        refused({ image = folder .. '/p.jpg' }, '%-%-image: .*p%.jpg: a picture ends in %.png')
        refused({ checkpoint = folder .. '/c', image = folder .. '/c.2', keep = 3 },
            'option %-%-image and an older checkpoint are one file')
        refused({ checkpoint = folder .. '/run.nc' }, '%-%-out and option %-%-checkpoint are one')
    end)

    it('and pictures of a script are refused as early', function()
        local function refused(desc, pattern)
            desc.grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } }
            desc.scheme, desc.boundaries = mare.euler {}, 'periodic'
            desc.options = { t_end = 1, quiet = true, device = device, precision = 'float' }
            function desc.initial() error 'too late' end
            assert.error_matches(function() mare.run(desc) end, pattern)
            assert.equal('', listing())
        end
        refused({ picture = { variable = 'q' } }, "picture: no variable 'q' %(there are: rho, ")
        refused({ picture = { colour = 'magma' } }, "picture: unknown field 'colour'")
        local path = folder .. '/a.nc'
        refused({ outputs = { { path = path }, { path = path } } },
            'output 1 of the script and output 2 of the script are one file')
    end)

    it('tell what was computed, not what was asked for', function()
        local function recorded(values)
            local path = folder .. '/run.nc'
            values.nx, values.ny, values.device = 16, 16, device
            mare.simulation 'kelvin_helmholtz' (values):save(path)      -- compiles no steps
            local file = netcdf.open(path)
            local a = file:attributes()
            file:close()
            return a
        end
        local a = recorded { scheme = 'lax_friedrichs', flux = 'hllc', limiter = 'mc' }
        assert.same({ 'lax_friedrichs', 'lax_friedrichs', 'none' }, { a.scheme, a.flux, a.limiter })
        assert.is_nil(a.theta)
        a = recorded { limiter = 'minmod', theta = 1.23456789012345 }
        assert.same({ 'hllc', 'minmod', 1.23456789012345 }, { a.flux, a.limiter, a.theta })
        local defined = mare.euler { limiter = 'minmod', theta = a.theta }.defines.THETA
        assert.equal(a.theta, tonumber(defined:match '^R%((.*)%)$'))
    end)

    it('say what made them, which runs again bit for bit', function()
        local out = folder .. '/run.nc'
        run('kelvin_helmholtz', { nx = 48, ny = 32, t_end = 0.1, every = 0.03, out = out,
            variables = 'p', decompose = { 2, 1 } })
        local status, text = status_of(("'%s' info '%s'"):format(home.launcher, out))
        assert.equal(0, status, text)
        for _, line in ipairs { 'title: Kelvin', 'scenario: kelvin_helmholtz.lua',
            'time 5, x 48, y 32', '  time         double 0 to 0.1', '  p            float  ' } do
            assert.truthy(text:find(line, 1, true), text)
        end
        run('kelvin_helmholtz', { nx = 48, ny = 32, steps = 3, checkpoint = folder .. '/k.ck',
            film = folder .. '/k.gif', film_every = 1, film_width = 200,
            out = folder .. '/k.nc' })
        status, text = status_of(("'%s' info '%s'"):format(home.launcher, folder .. '/k.ck'))
        assert.equal(0, status, text)
        assert.truthy(text:find(', step 3, next dt = 0.0', 1, true), text)
        assert.truthy(text:find 'k%.gif, [1-9] frames? to t = 0' and text:find 'k%.nc, 1 record to',
            text)
        status, text = status_of(("'%s' info '%s'"):format(home.launcher, folder .. '/none'))
        assert.equal(1, status)
        fails.says(text, 'no such file', 'none')
        status, text = status_of(("'%s' rerun '%s' --quiet"):format(home.launcher, out))
        assert.equal(0, status, text)
        same_data(data_of(out), folder .. '/run.rerun.nc')
        local other = folder .. '/other.nc'
        status, text = status_of(("'%s' rerun '%s' --t-end 0.05 --out %s --quiet"):format(
            home.launcher, out, other))
        assert.equal(0, status, text)
        assert.same({ 0, 0.03, 0.05 }, times_of(other))
    end)

    it('have a history that can be pasted into a shell, and runs again', function()
        local status, text = status_of(("cd '%s' && '%s' kelvin_helmholtz --nx 16 --ny 16 --quiet "
            .. "--steps 2 --out run.nc --image \"k's 1.png\" '--series=s 1.nc'"):format(folder,
            home.launcher))
        assert.equal(0, status, text)
        local file = netcdf.open(folder .. '/run.nc')
        local history = file:attributes().history
        file:close()
        assert.equal("mare kelvin_helmholtz --nx 16 --ny 16 --quiet --steps 2 --out run.nc --image "
            .. "'k'\\''s 1.png' --series='s 1.nc'", history:match 'Z (.*)')
        status, text = status_of(("cd '%s' && '%s' rerun run.nc --quiet"):format(folder,
            home.launcher))
        assert.equal(0, status, text)
        same_data(data_of(folder .. '/run.nc'), folder .. '/run.rerun.nc')
    end)

    it('stay as they are when they run again', function()
        local out = folder .. '/run.nc'
        run('kelvin_helmholtz', { nx = 16, ny = 16, steps = 2, out = out })
        local before = slurp(out)
        os.execute(("cd '%s' && ln run.nc hard.png && ln -s run.nc soft.nc"):format(folder))
        for _, words in ipairs { '--out run.nc', '--out=./run.nc', '--out soft.nc',
            '--series run.nc', '--image hard.png', '--json-log hard.png', '--checkpoint run.nc' } do
            local status, text = status_of(("cd '%s' && '%s' rerun run.nc --quiet %s"):format(
                folder, home.launcher, words))
            assert.equal(2, status, text)
            fails.says(text, 'option', 'again')
        end
        assert.equal(before, slurp(out))
        assert.equal('hard.png picture.png run.nc soft.nc', listing())
    end)

    it('of several commands warn that they do not run again bit for bit', function()
        local values = { nx = 48, ny = 32, steps = 3, every = 0.01, out = folder .. '/run.nc',
            checkpoint = folder .. '/run.ck', image = folder .. '/p.png' }
        local function warning_after(changes)
            for key, value in pairs(changes) do values[key] = value end
            assert.equal(0, status_of(command('kelvin_helmholtz', values)))
            local status, text = status_of(("'%s' rerun '%s' --quiet --out '%s'"):format(
                home.launcher, values.out, folder .. '/again.nc'))
            assert.equal(0, status, text)
            return text:match 'warning: ([^\n]*)'
        end
        assert.is_nil(warning_after {})
        assert.is_nil(warning_after { steps = 5, restart = folder .. '/run.ck' })
        fails.says(warning_after { steps = 7, cfl = 0.3 }, 'run.nc', '--cfl=0.3', 'continued',
            'options')
        fails.says(warning_after { steps = 9, out = folder .. '/rest.nc' }, 't = 0', 'checkpoint',
            'begins')
    end)
end)

describe('a run that is killed', function()
    -- The process id of a run in the background.
    local function start(name, values)
        local pipe = io.popen(command(name, values) .. ' >/dev/null 2>' .. folder
            .. '/log & echo $!')
        local pid = tonumber(pipe:read '*l')
        pipe:close()
        return pid
    end

    -- Kills a run at some moment: `anywhere`, also while it starts or copies its file, or once it
    -- computes, which a new checkpoint shows. False where it had come to its end.
    local function killed(name, values, anywhere)
        local old = slurp(values.checkpoint)
        local pid = start(name, values)
        trial.await('a checkpoint', function()
            return anywhere or slurp(values.checkpoint) ~= old or not trial.is_alive(pid)
        end)
        ffi.C.usleep(math.random(0, anywhere and 300000 or 60000))
        local is_alive = trial.is_alive(pid)
        trial.kill(pid)
        local is_done = lfs.attributes(values.out) ~= nil
        assert.is_true(is_alive or is_done, slurp(folder .. '/log'))
        return not is_done
    end

    it('is not by a signal that comes twice, as from timeout: it takes its checkpoint', function()
        local values = { nx = 64, ny = 32, ['t-end'] = 1e6, checkpoint = folder .. '/run.ck',
            ['checkpoint-every'] = 0.01, image = folder .. '/p.png' }
        local pairs_of_signals = 0
        while pairs_of_signals < 3 do       -- two signals that meet become one
            os.remove(values.checkpoint)
            local pid = start('kelvin_helmholtz', values)
            trial.await('a checkpoint', function() return slurp(values.checkpoint) end)
            local started = system.now()
            for _ = 1, 2 do
                ffi.C.kill(pid, 15)
                ffi.C.usleep(200)
            end
            local is_pair = system.now() - started < 0.5     -- later it is a second signal
            trial.await('its end', function() return not trial.is_alive(pid) end)
            if is_pair then
                pairs_of_signals = pairs_of_signals + 1
                assert.matches('interrupted at t = .*goes on', slurp(folder .. '/log'))
            end
        end
    end)

    local victims = {
        { 'kelvin_helmholtz', nx = 96, ny = 64, ['t-end'] = 2, every = 0.01,
            variables = 'vorticity', deflate = 1, ['series-every'] = 0.004, gap = 0.017 },
        { 'dam_break', nx = sample(1600, 800), ny = 16, every = 0.031, scheme = 'kurganov_petrova',
            ['series-steps'] = 3, gap = 0.03 },
    }
    local most = sample(20, 3)
    for _, victim in ipairs(sample(victims, 1)) do
        it('leaves a good checkpoint each time, and ends with the same files: ' .. victim[1],
            function()
                local name, values = victim[1], { image = folder .. '/p.png' }
                for key, value in pairs(victim) do values[key] = value end
                values[1], values.gap = nil, nil
                values.out, values.series = folder .. '/whole.nc', folder .. '/whole.s.nc'
                assert.equal(0, status_of(command(name, values)))
                local expected, series = data_of(values.out), data_of(values.series)
                os.remove(values.out)
                os.remove(values.series)
                values.out, values.checkpoint = folder .. '/run.nc', folder .. '/run.ck'
                values.series, values['json-log'] = folder .. '/run.s.nc', folder .. '/run.json'
                values.restart, values['checkpoint-every'] = 'latest', victim.gap
                math.randomseed(1)
                local kills, progress = 0, 0
                while kills < most do
                    local goes_on = slurp(values.checkpoint) ~= nil
                    if killed(name, values, goes_on and kills % 3 == 2) then
                        kills = kills + 1
                        local found = checkpoint.newest(values.checkpoint)
                        assert.same({}, found.passed_over)
                        assert.is_true(found.header.t >= progress)
                        progress = found.header.t
                    else                -- the machine left this process no time to kill it
                        os.execute('rm ' .. folder .. '/run.*')
                        progress = 0
                    end
                end
                assert.is_nil(lfs.attributes(values.out))
                local status, text = status_of(command(name, values))
                assert.equal(0, status, text)
                same_data(expected, values.out)
                same_data(series, values.series)
                assert.equal('log p.png run.ck run.ck.1 run.json run.nc run.s.nc', listing())
                for line in io.lines(values['json-log']) do
                    assert.truthy(json.decode(line), line)
                end
            end)
    end

    for _, case in ipairs(sample({ { 1, 'SIGHUP' }, { 2, 'Ctrl-C' }, { 15, 'SIGTERM' } }, 1)) do
        local signal, name = unpack(case)
        it('by ' .. name .. ' takes a checkpoint first', function()
            spit(folder .. '/self.lua', ([[
                local ffi, mare = require 'ffi', require 'mare'
                ffi.cdef 'int kill(int pid, int signal);'
                mare.run {
                    title = 'self', scheme = mare.euler {}, boundaries = 'periodic',
                    grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                    initial = function() return 1, 0, 0, 1 end,
                    at = { { 0.1, function()
                        ffi.C.kill(require('bindings.system').process(), %d)
                    end } },
                    options = mare.options { mare.options.simulation },
                }]]):format(signal))
            -- Whatever the suite itself was told to ignore, as nohup does with SIGHUP.
            local function interrupted(values)
                values['t-end'] = 1e6
                return status_of('env --default-signal=HUP,INT '
                    .. command(folder .. '/self.lua', values))
            end
            local values = { checkpoint = folder .. '/run.ck', out = folder .. '/run.nc' }
            local text = select(2, interrupted(values))
            assert.truthy(text:find('interrupted at t = .*goes on'), text)
            assert.is_true(checkpoint.newest(values.checkpoint).header.t >= 0.1)
            lfs.mkdir(folder .. '/gone')
            assert.not_equal(0, (interrupted { out = folder .. '/gone/run.nc' }))
            assert.is_true(lfs.rmdir(folder .. '/gone'))
        end)
    end
end)

describe('a file that a run is writing', function()
    it('is refused to a second run, which changes nothing', function()
        spit(folder .. '/two.lua', [[
            local mare = require 'mare'
            mare.run {
                title = 'two', grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler {}, boundaries = 'periodic',
                initial = function() return 1, 0, 0, 1 end,
                at = { { 0.1, function() os.execute(os.getenv 'SECOND') end } },
                options = mare.options { mare.options.simulation },
            }]])
        for _, name in ipairs { 'out', 'checkpoint' } do
            local run_one = command(folder .. '/two.lua', { [name] = folder .. '/a' })
            local second = ('SECOND=true %s >%s/log 2>&1; ls %s/a* >>%s/log'):format(run_one,
                folder, folder, folder)
            local status, text = status_of(('SECOND="%s" %s'):format(second, run_one))
            assert.equal(0, status, text)
            local log = slurp(folder .. '/log')
            fails.says(log, '/a', '.part', 'writing')
            assert.equal(1, select(2, log:gsub('\n%S+%.part', '')), log)
            assert.equal('a log two.lua', listing())
            os.remove(folder .. '/a')
        end
    end)
end)

describe('a run that fails', function()
    it('says what it discards, and how to keep it', function()
        spit(folder .. '/fails.lua', [[
            local mare = require 'mare'
            mare.run {
                title = 'fails', grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler {}, boundaries = 'periodic',
                initial = function() return 1, 0, 0, 1 end,
                at = { { 0.1, function() error 'on purpose' end } },
                options = mare.options { mare.options.simulation },
            }]])
        local values = { out = folder .. '/run.nc', series = folder .. '/run.s.nc' }
        local status, text = status_of(command(folder .. '/fails.lua', values))
        assert.equal(1, status)
        fails.says(text, 'run.nc', 'run.s.nc', 'discarded', 'written')
        assert.equal('fails.lua', listing())
        values.checkpoint, values['checkpoint-every'] = folder .. '/run.ck', 0.01
        text = select(2, status_of(command(folder .. '/fails.lua', values)))
        assert.is_nil(text:find('discarded', 1, true))
    end)
end)

describe('a symbolic link', function()
    it('stays; what it leads to is replaced, and found again', function()
        lfs.mkdir(folder .. '/there')
        for _, name in ipairs { 'run.nc', 'run.ck', 'p.png' } do
            assert(lfs.link('there/' .. name, folder .. '/' .. name, true))
        end
        spit(folder .. '/there/p.png', 'old')
        local values = { nx = 32, ny = 16, steps = 2, out = folder .. '/run.nc',
            image = folder .. '/p.png', checkpoint = folder .. '/run.ck' }
        run('kelvin_helmholtz', values)
        values.steps, values.restart = 4, 'latest'
        run('kelvin_helmholtz', values)
        assert.equal('p.png run.ck run.nc there', listing())
        for name in pairs { ['run.nc'] = 1, ['run.ck'] = 1, ['p.png'] = 1 } do
            assert.equal('link', lfs.symlinkattributes(folder .. '/' .. name, 'mode'))
            assert.is_true(lfs.attributes(folder .. '/there/' .. name, 'size') > 100)
        end
        assert.equal(4, checkpoint.newest(values.checkpoint).header.steps)
        assert.equal(2, checkpoint.read(folder .. '/there/run.ck.1').header.steps)
    end)
end)

describe('a part that was left behind', function()
    it('goes with the next file of its name, once nobody writes it', function()
        local path = folder .. '/run.nc'
        local function complete()
            local temporary = files.temporary(path)
            temporary:append 'whole'
            temporary:commit()
            return listing()
        end
        spit(folder .. '/other.nc.1-1.part', '')
        local live = files.temporary(path)
        local name = live.name:match '[^/]*$'
        assert.equal('other.nc.1-1.part run.nc ' .. name, complete())
        live:keep()
        assert.equal('other.nc.1-1.part run.nc', complete())
    end)

    it('stays where another run may go on from it', function()
        local path, names = folder .. '/run.nc', {}
        for k, owner in ipairs { 'a1', 'b2' } do
            local temporary = files.temporary(path)
            names[k] = temporary:own(owner):match '[^/]*$'
            temporary:keep()
        end
        files.temporary(path):commit()
        assert.equal(table.concat({ 'run.nc', names[1], names[2] }, ' '), listing())
        local last = files.temporary(path)
        last:own 'a1'
        last:commit()
        assert.equal('run.nc ' .. names[2], listing())
    end)
end)

describe('a disk that fails', function()
    local tiny

    local function mount(size)
        tiny = folder .. '/tiny'
        lfs.mkdir(tiny)
        if status_of(("mount -t tmpfs -o size=%s tmpfs '%s'"):format(size, tiny)) ~= 0 then
            pending 'a tmpfs cannot be mounted here (needs root)'
        end
        finally(function() status_of("umount -l '" .. tiny .. "'") end)
    end

    it('by being full stops the run, which goes on once there is room', function()
        mount '1500k'
        local values = { nx = 64, ny = 64, t_end = 0.5, every = 0.02, out = tiny .. '/run.nc',
            checkpoint = folder .. '/run.ck', checkpoint_every = 0.03 }
        spit(values.out, 'old')
        fails(function() run('kelvin_helmholtz', values) end, nil, 'no room', 'No space', 'run.nc',
            'for 0.', 'MiB', 'device')
        assert.equal('old', slurp(values.out))
        assert.equal(0, status_of(("mount -o remount,size=20m '%s'"):format(tiny)))
        values.restart = 'latest'
        run('kelvin_helmholtz', values)
        local found = data_of(values.out)
        values.out, values.checkpoint, values.restart = folder .. '/whole.nc', nil, nil
        values.checkpoint_every = nil
        run('kelvin_helmholtz', values)
        same_data(found, values.out)
    end)

    it('for checkpoints only lets the run go on', function()
        mount '200k'
        local values = { nx = 64, ny = 64, ['t-end'] = 0.2, every = 0.05, out = folder .. '/run.nc',
            checkpoint = tiny .. '/run.ck', ['checkpoint-every'] = 0.05, keep = 3,
            image = folder .. '/p.png' }
        local status, text = status_of(command('kelvin_helmholtz', values))
        fails.says(text, 'No space', 'warning', 'checkpoint', 'device')
        assert.equal(1, status)                 -- the last one is wanted
        assert.truthy(checkpoint.newest(values.checkpoint))
    end)

    it('by losing the file being written stops the run with its name', function()
        local function remove()
            for name in lfs.dir(folder) do
                if name:find '%.part$' then os.remove(folder .. '/' .. name) end
            end
        end
        fails(function()
            mare.run {
                title = 'lost', grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic',
                initial = function() return 1, 0, 0, 1 end, at = { { 0.1, remove } },
                options = { t_end = 0.5, every = 0.02, quiet = true, device = device,
                    precision = 'float', out = folder .. '/run.nc' },
            }
        end, nil, 'run.nc', 'gone', 'being', 'written')
        assert.equal('', listing())
    end)
end)
