-- Tests `mare bench`: its list, its refusals, and table 1, whose two sides must
-- give the same frames.

local bench = require 'mare.measure.bench'
local fails = require 'tests.fails'
local home = require 'bindings.home'
local read = require 'tests.bench.words'
local record = require 'tests.bench.record'

local device = require('bindings.device').open(os.getenv 'MARE_TEST_DEVICE' or 'auto')

-- Returns the output and the exit status of the launcher.
local function mare(words)
    local pipe = io.popen(("'%s' %s 2>&1; echo \"status $?\""):format(home.launcher, words))
    local text = pipe:read '*a'
    pipe:close()
    local output, status = text:match '^(.*)status (%d+)\n$'
    return output, tonumber(status)
end

describe('mare bench', function()
    it('lists what tells how it is run', function()
        local names = {}
        for _, one in ipairs(bench.list()) do
            names[one.name] = true
            assert.truthy(one.usage:find('mare bench ' .. one.name, 1, true), one.usage)
        end
        assert.truthy(names.table1 and names.solvers and names.mandelbrot)
        assert.falsy(names.peer or names.record)
        assert.truthy(bench.text():find '\ntable1: table 1 of Holm')
    end)

    it('refuses a name that is none', function()
        local output, status = mare 'bench nothing'
        assert.truthy(output:find "bench: 'nothing' %(allowed: .*table1", output)
        assert.equal(2, status)
    end)

    it('says what one measures and takes', function()
        assert.truthy(bench.help('holm'):find('mare bench holm [DEVICE] [SIZE]', 1, true))
        assert.truthy(not bench.help('holm'):find '%-%- ')
        assert.equal(nil, bench.help('solvers'))
    end)

    it('refuses for table 1 a device and a size that are none', function()
        local output, status = mare('bench table1 ' .. device.name .. ' none:0 4')
        assert.truthy(output:find '^mare: none:0: not here: .*no such back ?end', output)
        assert.equal(1, status)
        for _, size in ipairs { '0', '-1', '100000' } do
            output, status = mare('bench table1 ' .. device.name .. ' ' .. size)
            assert.truthy(output:find('table1: SIZE = ' .. size .. ' (allowed: 1 to 16384)', 1,
                true), output)
            assert.equal(2, status)
        end
    end)

    it('reads words', function()
        assert.equal(3, read.count('x: N', '3', 1, 4))
        fails(function() read.count('x: N', '5', 1, 4) end, nil, "x: N: '5'", 'from 1 to 4')
        fails(function() read.device 'nodev' end, nil, "'nodev'", 'no such back end')
        fails(function() read.picture('x: IMAGE', 'a.gif') end, nil, 'x: IMAGE: a.gif', '.png')
        assert.equal(nil, read.picture('x: IMAGE', 'none'))
        fails(function() read.seconds('x: SECONDS', '0') end, nil, "'0'", 'above 0')
        fails(function() record.read('no_file', {}) end, nil, 'records: no_file', 'No such file')
    end)

    it('records the clocks of the GPU that it measured', function()
        local info = { vendor = 'NVIDIA Corporation', uuid = 'ab-1' }
        assert.truthy(record.clock_query(info):find('nvidia-smi -i GPU-ab-1 ', 1, true))
        assert.is_nil(record.clock_query { vendor = 'AMD', uuid = 'ab-1' })
    end)

    it('refuses a device that computes nothing', function()
        for words, what in pairs { ['table1 null:0 16'] = 'table1',
            ['device null:0'] = 'the benchmark',
            ['mandelbrot null:0 rate 64'] = 'the benchmark' } do
            local output, status = mare('bench ' .. words)
            assert.truthy(output:find(('mare: [^\n]*null:0 runs no kernels: %s wants another '
                .. 'device'):format(what)), output)
            assert.equal(1, status)
        end
    end)

    it('refuses words that it cannot heed', function()
        if device.is_null then return pending 'it runs no kernel' end
        local on = 'mandelbrot ' .. device.name
        for words, said in pairs {
            [on] = 'mandelbrot: what to measure is missing (rate, exact, deep)',
            [on .. ' foo'] = "mandelbrot: what to measure: 'foo' (allowed: rate, exact, deep)",
            [on .. ' exact nope'] = "mandelbrot exact: MODE: 'nope' (allowed: float, double, ",
            [on .. ' exact float -5'] = "mandelbrot exact: POINTS: '-5' (allowed: a whole number",
            ['linear_openmp opencl:0 abc'] = "linear_openmp: N: 'abc' (allowed: a whole number",
            ['flops nope'] = "flops: NAME: 'nope' (allowed: ",
            ['holm null:0 --image'] = 'holm: --image: a value is missing',
            ['holm --enery'] = "holm: '--enery' (allowed: --scheme, --energy, --image)",
            ['holm null:0 --scheme nope'] = "holm: --scheme: 'nope' (allowed: cdklm, linear, ",
            ['stockham ' .. device.name .. ' 99'] = 'stockham: LOG2 = 99 (allowed: 2 to 29)',
            ['fft_use ' .. device.name .. ' 20x20'] = 'fft_use: LOG2 = 20x20 (allowed: 1 to 28, ',
        } do
            local output, status = mare('bench ' .. words)
            assert.equal('mare: ' .. said, output:sub(1, 6 + #said))
            assert.equal(2, status)
        end
    end)

    it('makes table 1', function()
        if device.is_null then return pending 'it runs no kernel' end
        local output, status = mare('bench table1 ' .. device.name .. ' 4')
        assert.equal(0, status, output)
        for _, row in ipairs { 'lines of host code', 'compilation, ms',
            'kernel launch overhead, us', 'download overhead, us', 'kernel time, ms',
            'download time, ms', 'wall time, ms' } do
            local theirs, mine = output:match(row .. ' +([%d.e+-]+) +([%d.e+-]+) ')
            assert.truthy(tonumber(theirs) and tonumber(mine), row .. ' in ' .. output)
            if row:find 'lines' then assert.is_true(tonumber(mine) < tonumber(theirs)) end
        end
    end)
end)
