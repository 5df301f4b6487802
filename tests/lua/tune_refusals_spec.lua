-- Tests the refusals of calls of mare.tune before the first candidate, and the
-- message if no candidate is correct.

local device = require 'bindings.device'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local mare = require 'mare'
local shapes = require 'mare.shapes'
local trial = require 'tests.scenarios.trial'
local tuned = require 'tests.lua.tuned'

local n = tuned.n
local replayed = require('bindings.home').root .. '/tests/lua/tuning/nonlinear.json'

-- Returns the error of mare.tune.kernel with these fields; it must not have
-- tried anything.
local function of(more)
    local tried = 0
    more.tell = more.tell or function() tried = tried + 1 end
    more.device = more.device or trial.device
    local said = tuned.refusal(mare.tune.kernel, tuned.scale(more))
    assert.equal(0, tried)
    return said
end

local function with_arguments(changes)
    local given = tuned.arguments()
    for name, value in pairs(changes) do given[name] = value end
    return of { arguments = given }
end

-- Returns what f(...) writes to stderr, and its results.
local function heard(f, ...)
    local said, ok, records, env = tuned.heard(f, ...)
    assert.is_true(ok, tostring(records))
    return table.concat(said), env
end

describe('a call of mare.tune is refused', function()
    local folder

    setup(function() folder = trial.new_folder() end)
    teardown(function()
        trial.remove(folder)
        ffi.C.setenv('MARE_TUNED', 'off', 1)
        shapes.forget()
    end)

    ffi.cdef 'int setenv(const char *name, const char *value, int overwrite);'

    it('for an objective that there is not', function()
        local words = "tune: objective = 'nope' (allowed: edp, energy, pareto, time)"
        assert.equal(words, of { objective = 'nope' })
        assert.equal("tune: objective = 'nope' (allowed: edp, energy, pareto, rate, time)",
            of { objective = 'nope', metrics = { rate = function() return 1 end } })
        for _, name in ipairs { 'nope', 'energy', 'edp', 'pareto' } do
            local said = tuned.refusal(mare.tune.replay, { cache = replayed, objective = name })
            assert.truthy(said:find(("^tune: objective = '%s' %%(allowed: [%%w_, ]*time"):format(
                name)), said)
        end
    end)

    it('for a metric that is none', function()
        assert.equal("tune: metric 'rate' is a number (allowed: functions, by name)",
            of { metrics = { rate = 3 } })
        fails.says(of { metrics = { time = print } }, 'tune', "'time'", 'taken', 'metric')
        fails.says(of { metrics = { W = print } }, 'tune', "'W'", 'metric', 'parameter')
        local tried = 0
        local said = tuned.refusal(mare.tune.kernel, tuned.scale { objective = 'name',
            tell = function() tried = tried + 1 end,
            metrics = { name = function() return 'x' end } })
        assert.equal("tune: objective 'name' is a string, a number above 0 is wanted", said)
        assert.equal(1, tried)
    end)

    it('for parameters with the name of what records have, and a NaN among values', function()
        for _, name in ipairs { 'time', 'times', 'error', 'invalidity', 'energy', 'digest',
            'pareto' } do
            assert.truthy(of { tune_params = { W = { 1 }, [name] = { 1 } } }:find(("^tune: "
                .. "parameter '%s' has the name of a field of each record"):format(name)))
        end
        assert.equal("tune: parameter 'W' has a NaN among its values",
            of { tune_params = { W = { 1, 0 / 0 } } })
    end)

    it('for restrictions that are none, and the device as a parameter', function()
        assert.equal('tune: restriction 1 is a number (allowed: expressions, functions)',
            of { restrictions = 3 })
        assert.equal('tune: restriction 2 is a boolean (allowed: expressions, functions)',
            of { restrictions = { 'W > 0', true } })
        local said = tuned.refusal(mare.tune.scenario, { scenario = 'seiche',
            device = trial.device, options = { nx = 64, ny = 32 },
            tune_params = { device = { trial.device } } })
        fails.says(said, 'tune.scenario', "'device'", 'parameter', 'seiche')
    end)

    it('for numbers out of their ranges', function()
        for name, cases in pairs {
            iterations = { 0 / 0, 'whole numbers, 1 or more', 1.5, 'whole numbers, 1 or more' },
            early_stop = { -1, '1 or more', 0 / 0, '1 or more' },
            workers = { -1, '0 or more' }, atol = { 0 / 0, '0 or more' },
            energy_seconds = { 0, '0.001 to 3600' }, energy_warm = { -1, '0 to 3600' },
        } do
            for k = 1, #cases, 2 do
                assert.equal(('tune.kernel: %s = %.14g (allowed: %s)'):format(name, cases[k],
                    cases[k + 1]), of { [name] = cases[k] })
            end
        end
        local said = tuned.refusal(mare.tune.scenario, { scenario = 'seiche', atol = 0 / 0,
            tune_params = { rows = { 8 } } })
        assert.truthy(said:find '^tune.scenario: atol = %-?nan %(allowed: 0 or more%)', said)
    end)

    it('for options of a strategy out of their ranges', function()
        for _, case in ipairs {
            { 'brute_force', 'time_limit', -1, '0 or more' },
            { 'brute_force', 'max_fevals', 0 / 0, '1 or more' },
            { 'brute_force', 'seed', 0.5, 'whole numbers, ' },
            { 'bayes_opt', 'explore', 0, '1 or more' }, { 'bayes_opt', 'start', 0, '1 or more' },
            { 'greedy_ils', 'strength', 1e12, '1 to 100' },
            { 'greedy_ils', 'start', 0, '1 or more' }, { 'greedy_ils', 'hope', 0, 'above 0' },
            { 'simulated_annealing', 'start', 0, '1 or more' },
            { 'simulated_annealing', 'T', 0 / 0, 'above 0' },
            { 'simulated_annealing', 'alpha', 1.5, '0 to 1' },
            { 'genetic_algorithm', 'popsize', 0, '1 to 10000' },
            { 'genetic_algorithm', 'popsize', -1, '1 to 10000' },
            { 'genetic_algorithm', 'mutation_chance', -0.1, '0 to 1' },
        } do
            local strategy, name, value, words = unpack(case)
            local said = ('tune: strategy_options: %s = %.14g (allowed: %s'):format(name, value,
                words)
            local options = { [name] = value }
            assert.equal(said, (of { strategy = strategy, strategy_options = options })
                :sub(1, #said))
            assert.equal(said, tuned.refusal(mare.tune.replay, { cache = replayed,
                strategy = strategy, strategy_options = options }):sub(1, #said))
        end
    end)

    it('for files that cannot be written', function()
        local nowhere = folder .. '/none/x.json'
        assert.equal(('tune.kernel: output: %s: cannot write into its folder: No such file or '
            .. 'directory'):format(nowhere), of { output = nowhere })
        fails.says(of { output = folder }, 'output', 'folder', 'needed')
        for place, words in pairs { off = 'tuned shapes have no place: MARE_TUNED is off',
            ['/proc/x/t.json'] = '/proc/x/t.json: cannot write into its folder: ',
            [folder] = folder .. ': is a folder, a file name is needed' } do
            ffi.C.setenv('MARE_TUNED', place, 1)
            local said = of { keep = true }
            assert.truthy(said:find('tune.kernel: keep: ' .. words, 1, true), said)
            said = tuned.refusal(mare.tune.scenario, { scenario = 'seiche', keep = true,
                tune_params = { rows = { 8 } } })
            assert.truthy(said:find('tune.scenario: keep: ' .. words, 1, true), said)
        end
        ffi.C.setenv('MARE_TUNED', folder .. '/tuned.json', 1)
        local words = 'tune.kernel: keep wants a problem_size of numbers, not a '
        assert.equal(words .. 'string', of { keep = true, problem_size = 'W * 1000' })
        assert.equal(words .. 'function', of { keep = true, problem_size = { function() end } })
        assert.is_nil(io.open(folder .. '/tuned.json'))
    end)

    it('for a device that is none or computes nothing, and for the energy of several', function()
        fails.says(of { device = {} }, 'tune.kernel', 'allowed', 'device', 'table')
        fails.says(of { device = 'null:0' }, 'null', '0 runs', 'kernels', 'tune.kernel', 'device')
        local function said(options, given, energy)
            return tuned.refusal(mare.tune.scenario, { scenario = 'seiche', options = options,
                device = given, tune_params = { rows = { 8 } }, energy = energy })
        end
        fails.says(said { device = 'null:0' }, 'null', '0 runs', 'kernels', 'tune.scenario',
            'device')
        fails.says(said({ device = trial.device }, trial.device), 'tune.scenario',
            'options.device')
        for _, several in ipairs { 'opencl:0,opencl:0', { 'opencl:0', 'opencl:0' } } do
            fails.says(said({ device = several }, nil, true), 'tune.scenario', 'energy', 'one')
        end
    end)

    it('for a device that is not open, where what is kept is asked for', function()
        fails.says(tuned.refusal(mare.tune.best, 'scale', trial.device, n), 'tune.best', 'device',
            'string')
    end)

    it('for what its program cannot be', function()
        local own = trial.device:match '^%a+'
        local other = own == 'cuda' and 'opencl' or 'cuda'
        for said, more in pairs {
            ["lang = 'fortran' (allowed: cuda, mare, opencl)"] = { lang = 'fortran' },
            [("lang = '%s' (allowed on "):format(other)] = { lang = other },
            ["math = 'bad' (allowed: fast, relaxed, strict)"] = { math = 'bad' },
            ["tune_params: math = 'bad' (allowed: "] = { tune_params = { math = { 'bad' } } },
            ['compiler_options[1] is a table, not a text'] = { compiler_options = { {} } },
            ['include_paths[1] is a number, not a text'] = { include_paths = { 1 } },
            ['defines: A is a table (allowed: '] = { defines = { A = {} } },
            ['kernel_source is a number (allowed: '] = { kernel_source = 3 },
        } do
            local found = of(more)
            assert.truthy(found:find(said, 1, true), found)
        end
        local found = of { kernel_name = 'scales' }
        fails.says(found, "'scales'", 'kernel', 'source')
    end)

    it('and leaves no cache behind that stands in the way of a right one', function()
        local cache = folder .. '/cache.json'
        of { kernel_name = 'scales', cache = cache }
        of { arguments = {}, cache = cache }
        local records = mare.tune.kernel(tuned.scale { device = trial.device, cache = cache })
        assert.equal('correct', records[1].invalidity)
        assert.is_nil(io.open(cache .. '.started'))
    end)

    it('for sizes that no candidate has', function()
        for said, size in pairs { ["'n*2' names 'n', which is no parameter"] = 'n*2',
            ['problem_size = true (allowed: 1 or more)'] = true,
            ['problem_size = inf (allowed: 1 or more)'] = 1 / 0,
            ['problem_size has 0 numbers (allowed: 1 to 3)'] = {},
            ['problem_size has 4 numbers (allowed: 1 to 3)'] = { 1, 1, 1, 1 } } do
            local found = of { problem_size = size }
            assert.truthy(found:find(said, 1, true), found)
        end
        assert.truthy(of { problem_size = 0 / 0 }:find 'problem_size = %-?nan %(allowed: 1 or more')
        assert.truthy(of { problem_size = function() end }:find 'has 0 numbers')
        fails.says(of { grid_div_x = { 'nope' } }, "'nope'", 'parameter')
        assert.truthy(of { grid_div_x = { 0 } }:find 'grid_div_x = 0 %(allowed: ')
        local records = mare.tune.kernel(tuned.scale { device = trial.device,
            problem_size = function(p) return p.W > 1 and n or nil end })
        assert.equal('constraints', records[1].invalidity)
        assert.equal('correct', records[#records].invalidity)
    end)

    it('for arguments that the kernel does not take', function()
        fails.says(with_arguments { n = 'x' }, "'n'", 'string', 'argument', 'number')
        assert.truthy(with_arguments { n = 1.5 }:find "'n': expects int32, got 1.5")
        fails.says(with_arguments { a = 3 }, "'a'", 'expects', 'buffer')
        assert.truthy(with_arguments { a = { 'x' } }:find 'element 1 is string, not a number')
    end)

    it('for answers that no argument can have', function()
        local texts = {}
        for k = 1, n do texts[k] = 'x' end
        for said, answer in pairs {
            ["answer 'b': it has 3 elements, the argument 1000"] = { b = { 1, 2, 3 } },
            ["answer 'b': it has 4 elements, the argument 1000"] = { b = ffi.new 'float[4]' },
            ["answer 'b': an array is wanted, not a number"] = { b = 3 },
            ["answer 'b': element 1 is no number"] = { b = texts },
            ["answer 'n': the argument is no array"] = { n = 3 },
            ["answer 'c': the kernel has no such argument"] = { c = { 1 } },
            ['answer is a string (allowed: a table of arrays, false)'] = 'x',
        } do
            local found = of { answer = answer }
            assert.truthy(found:find(said, 1, true), found)
        end
    end)
end)

describe('a tuning', function()
    it('tells the first reason where no candidate is correct', function()
        local said, env = heard(mare.tune.kernel, tuned.scale { device = trial.device,
            tune_params = { W = { 1 }, WRONG = { 1, 2 } }, grid_div_x = { 'W' } })
        assert.is_nil(env.best_config)
        assert.equal("mare: tune: scale: no candidate is correct; the first, W = 1, WRONG = 1: "
            .. "argument 'b' differs by 1, allowed is 1e-06\n", said)
    end)

    it('tells what the first has where no candidate has the objective', function()
        local said = heard(mare.tune.kernel, tuned.scale { device = trial.device,
            objective = 'rate', metrics = { rate = function() end },
            tune_params = { W = { 1 }, WRONG = { 0 } }, grid_div_x = { 'W' } })
        assert.equal('mare: tune: scale: no candidate counts; the first, W = 1, WRONG = 0: rate = '
            .. 'nil, a number above 0 is wanted\n', said)
    end)

    it('takes the answer in the order of the arguments, and as C data', function()
        local _, answer = tuned.arguments()
        local data = ffi.new('float[?]', n, answer.b)
        for _, given in ipairs { { nil, nil, answer.b }, { b = data },
            { b = ffi.cast('float *', data) } } do
            local records = mare.tune.kernel(tuned.scale { device = trial.device, answer = given })
            assert.equal('correct', records[1].invalidity)
        end
    end)

    it('of a scenario takes the device of its options', function()
        local model = device.open(trial.device).info.model
        for _, given in ipairs { trial.device, { trial.device } } do
            local records, env = mare.tune.scenario { scenario = 'seiche', workers = 0,
                iterations = 1, tune_params = { rows = { 8 } },
                options = { nx = 64, ny = 32, device = given } }
            assert.equal('correct', records[1].invalidity)
            assert.equal(model, env.device_name)
        end
    end)

    it('finds what nothing beats among those with an energy', function()
        local function record(time, energy)
            return { invalidity = 'correct', time = time, energy = energy }
        end
        local a, b, slow = record(1, 3), record(2, 2), record(9)
        assert.same({ a, b }, require('mare.tune.runner').pareto { slow, b, a, record(3, 3) })
    end)
end)
