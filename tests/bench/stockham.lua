-- stockham.lua - a Stockham transform by a launch for each halving, and what orders of its
-- work-items cost: table 2.1 and figures 2.8, 2.9 of Fritzenwallner (2023), who has 2^27 points.
--     mare bench stockham [DEVICE] [LOG2]
-- A halving takes m pairs of s neighbours each from x to y. `naive` numbers work-items
-- by the pair, so that neighbours are s elements apart in memory; `ordered` by the
-- neighbour. mare.fft goes over the points once or twice, in local memory; all three
-- must give the same.

local check_kind = require('mare.array.devices').check_kind
local errors = require 'bindings.errors'
local mare = require 'mare'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

local text = [[
MR_KERNEL void halve(MR_GLOBAL const mr_complex *x, MR_GLOBAL mr_complex *y, int m, int s,
    float angle) {
    int i = mr_gid_x();
    if (i >= m * s) return;
#if ORDERED
    int p = i / s, q = i % s;
#else
    int p = i % m, q = i / m;
#endif
    mr_index from = q + (mr_index)s * p, to = q + (mr_index)s * 2 * p;
    mr_complex a = x[from], b = x[from + (mr_index)s * m];
    y[to] = mr_complex_add(a, b);
    mr_complex root = mr_complex_of(cos(angle * p), sin(angle * p));
    y[to + s] = mr_complex_mul(mr_complex_sub(a, b), root);
}
]]

local function halvings(device, log2, buffers, ordered)
    local source = text
    if device.name:find '^cuda' then source = source:gsub('(%l%l%l)%(angle', '%1f(angle') end
    local kernel = device:program { source = source, name = 'stockham.krn',
        defines = { ORDERED = ordered and 1 or 0 } }:kernel 'halve'
    local list = {}
    for k = 1, log2 do
        local m, s = 2 ^ (log2 - k), 2 ^ (k - 1)
        list[k] = kernel:bind { x = buffers[k % 2 + 1], y = buffers[(k + 1) % 2 + 1], m = m, s = s,
            angle = -math.pi / m, global = m * s, group = record.few(256, 8) }
    end
    return list
end

-- Returns the relative difference of the last buffer and what mare.fft gives.
local function difference(found, wanted, points)
    local mine, apart, all = found:download(), 0, 0
    for k = 0, points - 1, math.max(1, points / 2 ^ 16) do
        local z = wanted:at(k)
        apart = apart + (mine[k].re - z.re) ^ 2 + (mine[k].im - z.im) ^ 2
        all = all + z.re ^ 2 + z.im ^ 2
    end
    return math.sqrt(apart / all)
end

local function measure(device, log2, x, wanted, name)
    local points = 2 ^ log2
    local buffers = {}
    for k = 1, 2 do
        buffers[k] = device:buffer { type = 'complex_float', count = points, label = name }
    end
    local launches, sum, list = halvings(device, log2, buffers, name == 'ordered'), 0, {}
    buffers[2]:copy(x:buffer())
    for k = 1, log2 do launches[k]:run() end
    local wrong = difference(buffers[log2 % 2 == 0 and 2 or 1], wanted, points)
    if wrong ~= wrong or wrong > 1e-3 then
        error(('stockham: %s is wrong by %g'):format(name, wrong), 0)
    end
    for k = 1, log2 do
        list[k] = record.time(device, function() launches[k]:run() end, 0.02, 5)
        sum = sum + list[k]
    end
    for k = 1, log2 do
        record.write(device, { benchmark = 'stockham', order = name, stage = k - 1,
            points = points, seconds = list[k], rate = 16 * points / list[k] },
            ('%-9s %-8s %3d %10.4f ms %9.1f GB/s'):format(device.name, name, k - 1, 1e3 * list[k],
            16 * points / list[k] / 1e9))
    end
    return sum, wrong
end

local device = words.device(arg[1])
check_kind(device, 'stockham')
local log2 = words.count('stockham: LOG2', arg[2],
    record.few(device.info.kind == 'gpu' and 27 or 20, 6))
if log2 < 2 or log2 > 29 then
    errors.usage('stockham: LOG2 = %s (allowed: 2 to 29)', tostring(arg[2]))
end
local points = 2 ^ log2
local x = mare.complex(mare.rand({ points }, { seed = 1, device = device }) - 0.5,
    mare.rand({ points }, { seed = 2, device = device }) - 0.5):eval()
local plan = mare.fft.plan { shape = { points }, type = 'complex_float', device = device }
local wanted = plan(x)
local out = plan(x)
local own = record.time(device, function() plan(x, { out = out }) end, 0.05, 5)
for _, name in ipairs { 'naive', 'ordered' } do
    local sum, wrong = measure(device, log2, x, wanted, name)
    record.write(device, { benchmark = 'stockham', order = name, points = points, seconds = sum,
        error = wrong, mare_seconds = own }, ('%-9s %-8s all %10.4f ms, mare.fft %.4f ms: %.1f '
        .. 'times as long; they differ by %.1e'):format(device.name, name, 1e3 * sum, 1e3 * own,
        sum / own, wrong))
end
