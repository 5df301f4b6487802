-- peak.lua - the most operations per second of a device, where an FMA counts as
-- two: the flat roof of a roofline. Every work-item computes independent chains
-- of FMAs; on a processor, where chains stay in memory, OpenBLAS multiplies
-- matrices.

local mare = require 'mare'
local openblas = require 'bindings.openblas'
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

local n = 1024          -- rows and columns of the matrices

-- Returns the operations per second of a product of matrices by OpenBLAS, the best of a few.
local function of_products(device, precision)
    if not openblas.is_there() then return nil end
    local a = mare.ones({ n, n }, { type = precision, device = device }):eval()
    local _, fastest = record.time(device, function()
        a:matmul(a, { library = 'openblas' }):eval()
    end, 0.5)
    return 2 * n ^ 3 / fastest
end

-- Returns the operations per second in a precision, the best of a few launches;
-- nil where there is nothing to measure them with.
function peak.measure(device, precision)
    if device.info.kind ~= 'gpu' then return of_products(device, precision) end
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
