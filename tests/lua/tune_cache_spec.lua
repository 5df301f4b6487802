-- Tests the cache file of a tuning: when it continues, what it refuses and what
-- it leaves behind.

local fails = require 'tests.fails'
local mare = require 'mare'
local results = require 'mare.tune.results'
local system = require 'bindings.system'
local trial = require 'tests.scenarios.trial'
local tuned = require 'tests.lua.tuned'

local arguments, n, refusal, scale = tuned.arguments, tuned.n, tuned.refusal, tuned.scale
local source = tuned.source
local launcher = require('bindings.home').launcher
local folder

-- Runs a script with a cache file in this environment; returns exit status and
-- output.
local function run(script, cache, environment)
    trial.spit(folder .. '/run.lua', script)
    return trial.status_of(("%s '%s' '%s/run.lua' '%s'"):format(environment or '', launcher,
        folder, cache))
end

setup(function() folder = trial.new_folder() end)

teardown(function() trial.remove(folder) end)

describe('the cache of a tuning', function()
    it('goes on from its cache, and loses the line that was not finished', function()
        local cache, count = folder .. '/b.json', 0
        local function tell() count = count + 1 end
        mare.tune.kernel(scale { cache = cache, strategy_options = { max_fevals = 3 } })
        local text = trial.slurp(cache)
        trial.spit(cache, text:sub(1, -10))
        local before = results.read(cache)
        mare.tune.kernel(scale { cache = cache, tell = tell })
        assert.equal(4, count)
        local after = results.read(cache)
        for key, record in pairs(before.records) do assert.same(record, after.records[key]) end
        local lines = select(2, trial.slurp(cache):gsub('\n', '\n'))
        assert.equal(1 + 4, lines)
    end)

    it('loses one result at most when it is killed', function()
        local cache, script = folder .. '/c.json', folder .. '/c.lua'
        trial.spit(script, ([[
            local mare = require 'mare'
            mare.tune.kernel {
                kernel_name = 'scale', kernel_source = %q, problem_size = 4, answer = false,
                arguments = { n = 4, a = { 1, 2, 3, 4 }, b = { 0, 0, 0, 0 } },
                tune_params = { W = { 1 }, WRONG = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
                grid_div_x = { 'W' }, workers = 0, cache = %q,
                tell = function(r, count)
                    if count == 4 then os.execute 'kill -9 $PPID' end
                end,
            }
        ]]):format(source, cache))
        local status = trial.status_of(("'%s' '%s'"):format(launcher, script))
        assert.equal(137, status)
        local kept, count = results.read(cache), 0
        for _ in pairs(kept.records) do count = count + 1 end
        assert.equal(4, count)
    end)

    it('passes over what took the process along', function()
        local cache, script = folder .. '/k.json', folder .. '/k.lua'
        trial.spit(script, ([[
            local mare = require 'mare'
            local records = mare.tune.kernel {
                kernel_name = 'scale', kernel_source = %q, problem_size = 4, answer = false,
                arguments = { n = 4, a = { 1, 2, 3, 4 }, b = { 0, 0, 0, 0 } },
                tune_params = { W = { 1 }, WRONG = { 0, 1, 2, 3 } },
                grid_div_x = { 'W' }, workers = 0, cache = %q,
                metrics = { rank = function(r)
                    return r.WRONG == 2 and os.execute 'kill -9 $PPID' or 1
                end },
            }
            for _, r in ipairs(records) do print(r.WRONG, r.invalidity, r.error) end
        ]]):format(source, cache))
        local command = ("'%s' '%s'"):format(require('bindings.home').launcher, script)
        assert.equal(137, (trial.status_of(command)))
        assert.truthy(trial.slurp(cache .. '.started'):find('"1,2"', 1, true))
        local status, text = trial.status_of(command)
        assert.equal(0, status)
        assert.truthy(text:find('2\truntime\tcrashed: the tuning ended while this was tried\n'
            .. '3\tcorrect\tnil\n', 1, true), text)
        assert.is_nil(io.open(cache .. '.started'))
        assert.equal('RuntimeFailedConfig', results.read(cache).records['1,2'].time)
        os.remove(cache)
        trial.status_of(command)
        trial.spit(script, (trial.slurp(script):gsub('os.execute[^\n]*', '1')
            :gsub('%(real%)WRONG', '(real)(WRONG)')))
        local lines = trial.slurp(cache):gsub('"1,[01]": [^\n]*\n', '')
        trial.spit(cache, lines)
        status, text = trial.status_of(command)     -- the mark is of what has been mended
        assert.equal(0, status)
        assert.is_nil(text:find 'crashed', text)
    end)

    it('goes on with the answer of what was correct', function()
        local cache = folder .. '/answer.json'
        local function tune(options)
            local desc = scale { cache = cache, strategy_options = options,
                tune_params = { W = { 1 }, WRONG = { 0, 1, 2 } }, grid_div_x = { 'W' } }
            desc.answer = nil
            return mare.tune.kernel(desc)
        end
        assert.equal(1, #tune { max_fevals = 1 })
        local records = tune()
        for k, invalidity in ipairs { 'correct', 'correctness', 'correctness' } do
            assert.equal(invalidity, records[k].invalidity)
        end
    end)

    it('is of one tuning at a time', function()
        local cache, mark = folder .. '/one.json', folder .. '/one.json.started'
        local script, tried = [[
            local tuned = require 'tests.lua.tuned'
            print(pcall(require('mare').tune.kernel, tuned.scale { cache = arg[1] }))
        ]], 0
        local words = 'tune: another tuning is writing ' .. cache .. ' (process '
        mare.tune.kernel(scale { cache = cache, tell = function()
            tried = tried + 1
            if tried > 1 then return end
            local _, text = run(script, cache)
            assert.truthy(text:find(words, 1, true), text)
            assert.equal(words .. system.process() .. ')', refusal(mare.tune.kernel,
                scale { cache = cache }))
        end })
        assert.equal(4, tried)
        assert.is_nil(trial.slurp(mark))
        assert.equal(5, select(2, trial.slurp(cache):gsub('\n', '')))
        assert.is_false((pcall(mare.tune.kernel, scale { cache = cache, atol = 1 })))
        assert.equal(4, #mare.tune.kernel(scale { cache = cache }))
    end)

    it('refuses a cache of another tuning, and one that cannot be written', function()
        local cache = folder .. '/d.json'
        mare.tune.kernel(scale { cache = cache })
        local more = scale { cache = cache, tune_params = { W = { 1 }, WRONG = { 0 } } }
        more.grid_div_x = { 'W' }
        fails.says(refusal(mare.tune.kernel, more), cache, 'another tuning', 'tune_params_keys',
            '["W","WRONG","block_size_x"], not ["W","WRONG"]')
        trial.spit(cache, 'no JSON')
        fails.says(refusal(mare.tune.kernel, scale { cache = cache }), cache, 'no cache file')
        local nowhere = folder .. '/none/e.json'
        fails.says(refusal(mare.tune.kernel, scale { cache = nowhere }), nowhere, 'cannot write')
    end)

    it('refuses a cache of another source, of other options and of other data', function()
        local cache, tried = folder .. '/f.json', 0
        local function tune(more)
            local desc = scale(more)
            desc.cache, desc.tune_params = cache, { W = { 1 }, WRONG = { 0 } }
            desc.grid_div_x = more and more.grid_div_x or { 'W' }
            function desc.tell() tried = tried + 1 end
            return mare.tune.kernel(desc)
        end
        local function refused(more, ...)
            fails.says(refusal(tune, more), cache, 'another tuning', ...)
        end
        local first = tune()
        assert.equal(first[1].timestamp, tune()[1].timestamp)
        assert.equal(first[1].timestamp, tune({ kernel_source = function()
            return source
        end })[1].timestamp)
        local others = arguments()
        others.a[n] = others.a[n] + 1
        for name, value in pairs { arguments = others, atol = 1e-3, answer = false,
            verify = function() return true end } do
            refused({ [name] = value }, 'source', 'options', 'arguments', 'answers')
        end
        for name, value in pairs { kernel_source = source .. ' ', defines = { MORE = 1 },
            math = 'fast', compiler_options = { '-DX' }, grid_div_x = { 2 } } do
            refused({ [name] = value }, 'source', 'defines', 'options', 'launch', '1,0')
        end
        assert.equal(3, tried)
        local head, rest = trial.slurp(cache):match '^([^\n]*)(.*)'
        trial.spit(cache, (head:gsub('"digest":"[^"]*",', '') .. rest))
        assert.truthy(refusal(tune):find('(no digest)', 1, true))
    end)

    it('refuses what is no record, and passes over what is no mark', function()
        local cache = folder .. '/damaged.json'
        mare.tune.kernel(scale { cache = cache })
        local good = trial.slurp(cache)
        local lines = {}
        for line in good:gmatch '[^\n]+\n' do lines[#lines + 1] = line end
        for _, bad in ipairs { '3', '{}', '{"W":1,"WRONG":0,"block_size_x":1}',
            (lines[3]:match '{.*}':gsub('"time":[^,}]*', '"time":"slow"')),
            (lines[3]:match '{.*}':gsub('"times":[^%]]*%]', '"times":7')),
            (lines[3]:match '{.*}':gsub('"W":', '"w":')) } do
            local key = lines[3]:match '^".-"'
            trial.spit(cache, lines[1] .. lines[2] .. key .. ': ' .. bad .. ',\n' .. lines[4])
            local words = 'tune: ' .. cache .. ': line 3 is no record'
            assert.equal(words, refusal(mare.tune.kernel, scale { cache = cache }), bad)
            assert.equal(words, refusal(mare.tune.replay, { cache = cache }), bad)
        end
        trial.spit(cache, good)
        trial.spit(cache .. '.kt', lines[1] .. lines[2]:gsub('"time":[^,}]*', '"speed":"Invalid'
            .. 'Config"'):gsub('"invalidity":"correct"', '"none":1') .. lines[3])
        assert.equal(2, #mare.tune.replay { cache = cache .. '.kt' })
        for _, bad in ipairs { '{}', '{"key":"zz"}', '[', '7', '{"key":"1,0,1","params":{}}',
            '{"key":{},"params":{"W":[],"WRONG":{},"block_size_x":0}}' } do
            trial.spit(cache .. '.started', bad)
            assert.equal(4, #mare.tune.kernel(scale { cache = cache }), bad)
            assert.is_nil(trial.slurp(cache .. '.started'))
        end
        assert.equal(good, trial.slurp(cache))
    end)

    it('is replayed where it is whole', function()
        local cache = folder .. '/replay.json'
        mare.tune.kernel(scale { cache = cache })
        local good = trial.slurp(cache)
        local function of(desc) return refusal(mare.tune.replay, desc) end
        assert.equal(4, #mare.tune.replay { cache = cache })
        fails.says(of(), 'tune.replay', 'table')
        assert.equal('tune.replay: cache is missing', of {})
        assert.truthy(of { cache = cache, keep = true }:find "^tune.replay: unknown field 'keep'")
        for _, change in ipairs { { '"tune_params_keys":[^%]]*%],', '' },
            { '"tune_params_keys":[^%]]*%],', '"tune_params_keys":["W"],' },
            { '"tune_params_keys":', '"tune_params_keys":7,"none":' },
            { '"tune_params":', '"others":' } } do
            trial.spit(cache, (good:gsub(change[1], change[2], 1)))
            assert.equal('tune: ' .. cache .. ': tune_params_keys in its first line are not the '
                .. 'names of tune_params', of { cache = cache })
        end
    end)

    it('refuses results of what a source was made of before', function()
        local cache, parts = folder .. '/made.json', { a = '+ R(0.0)', b = '+ R(0.0)' }
        local function tune()
            return mare.tune.kernel(scale { cache = cache, grid_div_x = { 'block_size_x' },
                tune_params = { block_size_x = { 8 }, PART = { 'a', 'b' } },
                kernel_source = function(params)
                    return (source:gsub('%+ %(real%)WRONG', parts[params.PART]):gsub('W', '1'))
                end })
        end
        assert.same({ 'correct', 'correct' }, { tune()[1].invalidity, tune()[2].invalidity })
        parts.b = '+ R(1.0)'
        fails.says(refusal(tune), cache, 'another tuning', 'source', 'defines', 'launch', 'b,8')
    end)

    it('knows what a source includes, and what its functions close over', function()
        local digest = require 'mare.tune.digest'
        trial.spit(folder .. '/one.h', '#include "two.h"\n')
        trial.spit(folder .. '/two.h', '#include "one.h"\n')
        local found = digest.included('#include "one.h"', { folder })
        assert.same({ [folder .. '/one.h'] = '#include "two.h"\n',
            [folder .. '/two.h'] = '#include "one.h"\n' }, found)
        local function of(value) return digest.of { function() return value end } end
        assert.equal(of(1), of(1))
        assert.not_equal(of(1), of(2))
        local function twice(x) return { x, 2 * x } end
        local function closing(list) return of(function() return twice(list) end) end
        assert.equal(closing { a = { 1 } }, closing { a = { 1 } })
        assert.not_equal(closing { a = { 1 } }, closing { a = { 2 } })
        local ring = { mare }
        ring[2] = ring
        assert.equal(of(ring), of(ring))
        assert.equal(digest.of_mare(), digest.of_mare())
    end)

    -- Tells the first failure of each of four candidates, or the error.
    local four = [[
        local mare, n, room = require 'mare', 250, nil
        local d = mare.device.open(os.getenv 'MARE_TEST_DEVICE')
        local zeros = {}
        for k = 1, n do zeros[k] = 0 end
        if os.getenv 'FILL' then room = d:buffer { size = 10000 } end
        local ok, failure = pcall(mare.tune.kernel, {
            kernel_name = 'saxpy', lang = 'opencl', problem_size = n, answer = false, device = d,
            kernel_source = [=[__kernel void saxpy(int n, float a, __global const float *x,
                __global float *y) { y[get_global_id(0)] = a; }]=],
            arguments = { n = n, a = 2, x = zeros, y = zeros },
            tune_params = { W = { 1, 2, 3, 4 } }, workers = 0, iterations = 1, cache = arg[1],
            tell = function(r) print(r.W, r.invalidity, (r.error or ''):match 'lost.*' or '') end,
        })
        if not ok then print(failure.status, failure.message) end
    ]]

    for _, fault in ipairs { 'clEnqueueNDRangeKernel:1+:-36', 'clFinish:3:-9999' } do
        it('passes over what faulted the device: ' .. fault, function()
            local libraries = require 'tests.fakes' .. '/fake_opencl'
            if not trial.slurp(libraries .. '/libOpenCL.so.1') then
                return pending 'no fake library'
            end
            local cache = folder .. '/lost' .. fault:match '%a+' .. '.json'
            for k = 1, 4 do
                local _, text = run(four, cache, ("LD_LIBRARY_PATH='%s' MARE_FAKE_FAIL=%s "
                    .. 'MARE_CACHE=off MARE_TEST_DEVICE=opencl:0'):format(libraries, fault))
                assert.truthy(text:find(('MARE_ERROR_LOST\ttune: the candidate %d lost the device '
                    .. '(it is recorded in %s as failed, '):format(k, cache), 1, true), text)
                assert.equal(k - 1, select(2, text:gsub('%d\truntime\t', '')), text)
            end
            for k = 1, 4 do
                assert.equal('runtime', results.read(cache).records[tostring(k)].invalidity)
            end
        end)
    end

    it('tries again what had no memory', function()
        local cache = folder .. '/memory.json'
        local d = require('bindings.device').open(trial.device)
        if not d.name:find '^opencl' then return pending 'wants an OpenCL device' end
        local environment = 'MARE_MEMORY_LIMIT=11000 MARE_TEST_DEVICE=' .. d.name
        local _, text = run(four, cache, 'FILL=1 ' .. environment)
        assert.equal(4, select(2, text:gsub('%d\truntime\t', '')), text)
        assert.same({}, results.read(cache).records)
        _, text = run(four, cache, environment)
        assert.equal(4, select(2, text:gsub('%d\tcorrect\t', '')), text)
    end)
end)
