-- Benchmarks run, with the least sizes (MARE_BENCH=small): that they do is checked, and no figure
-- of them. One is in the suite, of one thing, all in tests/long.

local bench = require 'mare.measure.bench'
local home = require 'bindings.home'
local sample = require 'tests.sample'

local info = require('bindings.device').open(os.getenv 'MARE_TEST_DEVICE' or 'auto').info
local device = info.name

-- The words of each; a list where it measures one of several things.
local words = {
    device = '', engine = '', memory = '', scaling = '32', scaling_table = '', start = '',
    table1 = '4', arrays = '', jacobi = '32',
    transforms = '', fft = '', functions = { 'kernels', 'solvers' },
    volume = '',
    euler_peers = '32 1', linear_openmp = '32 1', volumes_openmp = '32 1', output = '. 4 32 32',
    mandelbrot = { 'rate 8', 'exact float 10', 'exact perturbation 10', 'deep 4' },
    solvers = '--scheme=euler_hll --size=64 --precision=float --device=',
    flops = { 'euler_hll', 'ocean_linear' }, cluster = '4',
    holm = { '', '--scheme linear', '--scheme nonlinear' },
    costs = '', energy = '', strides = '', stockham = '', host = '',
    fft_use = { '', '3x3' }, streams = '',
}

local of_no_device = { flops = true, cluster = true, scaling_table = true }

-- Why one cannot run here, or nil.
local function hindered(name)
    if not info.runs_kernels and not of_no_device[name] then return 'it runs no kernel' end
end

-- What it prints and its exit status.
local function run(name, given)
    local command = ('%s %s %s'):format(name, device, given)
    if of_no_device[name] then command = name .. ' ' .. given end
    if name == 'solvers' then command = name .. ' ' .. given .. device end
    local folder = os.tmpname()
    os.remove(folder)
    local pipe = io.popen(("mkdir '%s' && cd '%s' && MARE_BENCH=small '%s' bench %s 2>&1; "
        .. "echo \"status $?\"; rm -r '%s'"):format(folder, folder, home.launcher, command, folder))
    local text = pipe:read '*a'
    pipe:close()
    return tonumber(text:match 'status (%d+)%s*$'), text
end

describe('mare bench', function()
    for _, one in ipairs(sample(bench.list(), 1)) do
        local list = words[one.name]
        if type(list) ~= 'table' then list = { list or '' } end
        for _, given in ipairs(sample(list, 1)) do
            it(('runs %s %s'):format(one.name, given), function()
                local reason = hindered(one.name)
                if reason then return pending(reason) end
                assert.is_not_nil(words[one.name], one.name .. ': its words are missing here')
                local status, text = run(one.name, given)
                assert.equal(0, status, text)
                assert.truthy(text:match '^%s*(%S.-)%s*status', text)
            end)
        end
    end
end)
