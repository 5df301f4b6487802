-- arrays.lua - rates of operations on arrays, beside the device's copy, and what the host adds.
--     mare tests/bench/arrays.lua [DEVICE [LOG2]]
--     mare tests/bench/arrays.lua table FILE
-- The second shows records of devices and of arrays_peers.py beside what is wanted of a GPU, or
-- those of a processor beside NumPy's.
-- LOG2: arrays have 2^LOG2 floats (27 on a GPU, 22 elsewhere); running sums and random numbers half
-- as many, sorts a quarter. Each value that must be read or written counts once.

local bandwidth = require 'mare.measure.bandwidth'
local mare = require 'mare'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local tables = require 'bindings.tables'
local words = require 'tests.bench.words'

if arg[1] == 'table' then
    print(require('tests.bench.arrays_table').text(record.read(arg[2], { benchmark = 'arrays' })))
    return
end

local device = words.device(arg[1])
local is_gpu = device.info.kind == 'gpu'
local log2 = words.count('arrays: LOG2', arg[2], record.few(is_gpu and 27 or 22, 10), 32)
local count = 2 ^ log2
local copy = bandwidth.measure(device)

local function random(sizes, seed)
    return mare.rand(sizes, { seed = seed, device = device }):eval()
end

-- Times work() and writes a record of it. amount: bytes, or keys or operations with their unit.
local function report(name, amount, work, unit)
    local seconds, fastest, slowest = record.time(device, work, 0.4)
    local rate = amount / seconds
    local values = { benchmark = 'arrays', operation = name, count = count, seconds = seconds,
        fastest = fastest, slowest = slowest, rate = rate, unit = unit or 'B/s',
        copy_bandwidth = copy, share_of_copy = not unit and copy and rate / copy or nil }
    record.write(device, values, ('%-9s %-28s %10.4g ms %9.4g G%s%s'):format(device.name, name,
        1e3 * seconds, rate / 1e9, unit or 'B/s',
        values.share_of_copy and (', %.2f of copy'):format(values.share_of_copy) or ''))
    collectgarbage()
end

local function elementwise(a, b, c, r)
    report('2a + b', 12 * count, function() r:assign(2 * a + b) end)
    report('sqrt(aa + bb + cc)/(1 + a)', 16 * count, function()
        r:assign(mare.sqrt(a * a + b * b + c * c) / (1 + a))
    end)
    report('uniform random numbers', 4 * count, function()
        r:assign(mare.rand({ count }, { seed = 1, device = device }))
    end)
    local side = 2 ^ math.floor(log2 / 2)
    local square, turned = a:reshape(side, -1), r:reshape(-1, side)
    report('transposing copy', 8 * count, function() turned:assign(square:transpose()) end)
end

local function reductions(a, b)
    local side = 2 ^ math.floor(log2 / 2)
    local square = a:reshape(side, -1)
    report('sum', 4 * count, function() a:sum():eval() end)
    report('dot', 8 * count, function() a:dot(b):eval() end)
    report('sum along axis 0', 4 * count, function() square:sum { axis = 0 }:eval() end)
    report('sum along axis 1', 4 * count, function() square:sum { axis = 1 }:eval() end)
end

local function ordering(a)
    local half, quarter = a { { 0, count / 2 } }:copy():eval(), a { { 0, count / 4 } }:copy():eval()
    report('running sum', 4 * count, function() half:cumsum():eval() end)
    report('sort', count / 4, function() quarter:sort():eval() end, 'keys/s')
    report('argsort', count / 4, function() quarter:argsort():eval() end, 'keys/s')
end

local function vectors(type, n)
    local bytes = type == 'float' and 4 or 8
    local a, v = random({ n, n }, 3):to(type):eval(), random({ n }, 4):to(type):eval()
    report(('%s %d^2 times vector'):format(type, n), bytes * n * n, function()
        a:matmul(v):eval()
    end)
    report(('%s vector times %d^2'):format(type, n), bytes * n * n, function()
        v:matmul(a):eval()
    end)
end

local function products()
    local n = record.few(is_gpu and 8192 or 1024, 32)
    for _, type in ipairs { 'float', device.info.has_double and 'double' or nil } do
        local a, b = random({ n, n }, 1):to(type):eval(), random({ n, n }, 2):to(type):eval()
        for _, library in ipairs(tables.keys { own = 1, [mare.blas.library(device, type)] = 1 }) do
            report(('%s %d^2 product, %s'):format(type, n, library), 2 * n ^ 3, function()
                a:matmul(b, { library = library }):eval()
            end, 'FLOP/s')
        end
        vectors(type, record.few(is_gpu and 4096 or 1024, 32))
        vectors(type, record.few(is_gpu and 16384 or 4096, 48))
    end
end

-- Medians of the microseconds that the host takes.
local function report_host(name, work, rounds)
    local list = {}
    for k = 1, record.few(rounds, 3) do
        device:wait()
        local start = system.now()
        work()
        list[k] = 1e6 * (system.now() - start)
    end
    local values = { benchmark = 'arrays', operation = name, microseconds = record.median(list) }
    record.write(device, values, ('%-9s %-38s %10.4g us'):format(device.name, name,
        values.microseconds))
end

local function bound_launch(x, y, r)
    return device:program { name = 'sum.krn', source = [[
MR_KERNEL void sum(int n, MR_GLOBAL const real *x, MR_GLOBAL const real *y, MR_GLOBAL real *r) {
    int i = mr_gid_x();
    if (i < n) r[i] = x[i] + y[i];
}
]] }:kernel 'sum':bind { n = 16, x = x:buffer(), y = y:buffer(), r = r:buffer(), global = 16 }
end

local function host_costs()
    local a, b = random({ 16 }, 1), random({ 16 }, 2)
    local r = random({ 16 }, 3)
    local launch, batch = bound_launch(a, b, r), 100
    report_host('100 launches of x + y, bound', function()
        for _ = 1, batch do launch:run() end
    end, 301)
    report_host('100 times a + b of 16 elements', function()
        for _ = 1, batch do (a + b):eval() end
    end, 301)
    local x, y = random({ 1e4 }, 1), random({ 1e4 }, 2)
    report_host('5x + y of 10 000, first one read', function() return (5 * x + y):at(0) end, 1001)
    local k = 0
    report_host('an expression never met before', function()
        k = k + 1
        local e = a
        for bit = 0, 4 do e = math.floor(k / 2 ^ bit) % 2 == 1 and e * b + a or e - b end
        e:eval()
        device:wait()
    end, 15)
end

do
    local a, b = random({ count }, 1), random({ count }, 2)
    elementwise(a, b, random({ count }, 3), random({ count }, 4))
    reductions(a, b)
    ordering(a)
end
collectgarbage()
products()
host_costs()
