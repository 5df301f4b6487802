-- streams.lua - products of matrices one after the other, on one, two and three streams: figures
-- 2.3 to 2.6 of Fritzenwallner (2023).
--     mare bench streams [DEVICE] [N [COUNT]]
-- COUNT (6) times two matrices of N x N doubles (2048) go up from pinned memory, are multiplied
-- and the product comes down; each product takes the next stream and has memory of its own there.
-- What overlaps is the sum of the times of all that ran, less the time from the first to the last
-- of it.

local check_kind = require('mare.array.devices').check_kind
local profile = require 'mare.measure.profile'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

-- A product by tiles of 16 x 16 in local memory, as one writes it first.
local text = [[
MR_KERNEL MR_GROUP_SIZE(16, 16, 1)
void multiply(MR_GLOBAL const real *a, MR_GLOBAL const real *b, MR_GLOBAL real *c, int n) {
    MR_LOCAL real x[256], y[256];
    int i = mr_gid_x(), j = mr_gid_y(), at = mr_lid_y() * 16 + mr_lid_x();
    real sum = R(0.0);
    for (int k = 0; k < n; k += 16) {
        x[at] = a[(mr_index)j * n + k + mr_lid_x()];
        y[at] = b[(mr_index)(k + mr_lid_y()) * n + i];
        MR_BARRIER();
        for (int l = 0; l < 16; ++l) sum += x[mr_lid_y() * 16 + l] * y[l * 16 + mr_lid_x()];
        MR_BARRIER();
    }
    c[(mr_index)j * n + i] = sum;
}
]]

local device = words.device(arg[1])
check_kind(device, 'streams')
local type = device.info.has_double and 'double' or 'float'
local n = 16 * math.ceil(words.count('streams: N', arg[2],
    record.few(device.info.kind == 'gpu' and 2048 or 256, 16), 2 ^ 15) / 16)
local count = words.count('streams: COUNT', arg[3], record.few(6, 2), 1000)
local kernel = device:program { source = text, name = 'multiply.krn',
    defines = { MARE_REAL = type } }:kernel 'multiply'

local function lane()
    local self = { stream = device:stream {}, up = {}, on = {} }
    for k = 1, 3 do
        self.up[k] = device:host { type = type, count = n * n }
        self.on[k] = device:buffer { type = type, count = n * n }
    end
    for at = 0, n * n - 1 do
        self.up[1].data[at], self.up[2].data[at] = at % 7 - 3, at % 5 - 2
    end
    self.launch = kernel:bind { a = self.on[1], b = self.on[2], c = self.on[3], n = n,
        global = { n, n }, group = { 16, 16 } }
    return self
end

local function product(self)
    for k = 1, 2 do self.on[k]:upload(self.up[k], { stream = self.stream }) end
    self.launch:run(self.stream)
    self.on[3]:download { into = self.up[3], stream = self.stream }
end

-- Element (1, 2) on the host, in whole numbers.
local function check(self)
    local sum = 0
    for k = 0, n - 1 do sum = sum + self.up[1].data[n + k] * self.up[2].data[k * n + 2] end
    if self.up[3].data[n + 2] ~= sum then error('streams: the product is wrong', 0) end
end

local function span(records)
    local first, last, sum = math.huge, 0, 0
    for _, r in ipairs(records) do
        first, last = math.min(first, r.start_ms), math.max(last, r.stop_ms)
        sum = sum + r.stop_ms - r.start_ms
    end
    return last - first, sum
end

local lanes = { lane(), lane(), lane() }
local alone
for streams = 1, record.few(3, 2) do
    local function work()
        for k = 1, count do product(lanes[(k - 1) % streams + 1]) end
        for k = 1, streams do lanes[k].stream:wait() end
    end
    work()
    local best, busy = math.huge, nil
    for _ = 1, record.few(5, 1) do
        local length, sum = span(profile.new(work).records)
        if length < best then best, busy = length, sum end
    end
    for k = 1, streams do check(lanes[k]) end
    alone = alone or best
    record.write(device, { benchmark = 'streams', streams = streams, n = n, products = count,
        ms = best, busy_ms = busy, gain = alone / best },
        ('%-9s %d products of %d^2 on %d: %8.2f ms, %.2f of one stream, %4.1f %% overlaps'):format(
        device.name, count, n, streams, best, alone / best, 100 * math.max(0, 1 - best / busy)))
end
