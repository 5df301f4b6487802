-- device.lua - what the device and its driver achieve: copy bandwidth,
-- transfers, launches.
--     mare tests/bench/device.lua [DEVICE]

local check_kind = require('mare.array.devices').check_kind
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
check_kind(device, 'the benchmark')
local gpu = device.info.kind == 'gpu'
local bytes = record.few(gpu and 1024 or 128, 1) * 2 ^ 20
local budget = 1        -- seconds for each figure

local function report(name, unit, value, low, high)
    record.write(device, {
        benchmark = name, unit = unit, median = value, lowest = low, highest = high,
    }, ('%-10s %-22s %10.4g %s'):format(device.name, name, value, unit))
end

-- Measures a rate; each call of work() moves `moved` bytes.
local function rate(name, moved, work)
    local middle, fast, slow = record.time(device, work, budget)
    report(name, 'GB/s', moved / middle / 1e9, moved / slow / 1e9, moved / fast / 1e9)
end

local a = device:buffer { size = bytes, label = 'a' }
local b = device:buffer { size = bytes, label = 'b' }
a:fill(1)
b:fill(2)
rate('copy', 2 * bytes, function() b:copy(a) end)
a:release()

local staging = device:host { size = bytes / 4 }
rate('upload pinned', bytes / 4, function() b:upload(staging, { stream = device.stream }) end)
rate('download pinned', bytes / 4, function()
    b:download { into = staging, count = bytes / 4, stream = device.stream }
end)

local empty = device:program { name = 'empty.krn', source = [[
MR_KERNEL void empty(MR_GLOBAL float *x, int n) { if (n < 0) x[0] = R(0.0); }
]] }:kernel 'empty':bind {
    x = device:buffer { type = 'float', count = 1 }, n = 0, global = 1, group = 1,
}
local middle, fast, slow = record.time(device, function() empty:run() end, budget)
report('launch', 'us', 1e6 * middle, 1e6 * fast, 1e6 * slow)
