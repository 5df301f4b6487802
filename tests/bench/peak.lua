-- peak.lua - the most operations per second of a device, where an FMA counts as
-- two: the flat roof of a roofline. Every work-item computes independent chains
-- of FMAs.

local record = require 'tests.bench.record'

local peak = {}

local text = [[
MR_KERNEL void chains(MR_GLOBAL real *x, real a, real b, int turns) {
    real c[LANES];
    MR_LANES(l, LANES) c[l] = (real)(mr_gid_x() + l) * R(1e-3);
    for (int k = 0; k < turns; ++k) {
        MR_LANES(l, LANES) c[l] = mr_fma(c[l], a, b);
    }
    real sum = R(0.0);
    MR_LANES(l, LANES) sum += c[l];
    x[mr_gid_x()] = sum;
}]]

local lanes, group, items, turns = 16, 256, 2 ^ 20, 1024     -- items: enough for all units

-- Returns the operations per second in a precision, the best of a few launches;
-- nil if the device is no GPU, where the chains stay in memory.
function peak.measure(device, precision)
    if device.info.kind ~= 'gpu' then return nil end
    local launch = device:program { source = text, name = 'chains.krn',
        defines = { MARE_REAL = precision, LANES = lanes } }:kernel 'chains':bind {
        x = device:buffer { type = precision, count = items, label = 'sums' },
        a = 0.999, b = 1e-3, turns = turns, global = items, group = group,
    }
    local _, fastest = record.time(device, function() launch:run() end, 0.5)
    launch:release()
    return 2 * lanes * items * turns / fastest
end

return peak
