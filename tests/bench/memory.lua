-- memory.lua - what memory costs: making and releasing a buffer, against the vendor's own calls,
-- and temporaries left to the garbage collector, against temporaries released by hand.
--     mare tests/bench/memory.lua [DEVICE]
-- With MARE_MEMORY_LIMIT=1G the collector has less memory and runs more often than without.

local peers = require 'tests.bench.peer'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
local peer = peers.open(device)
-- For temporaries: the number of pairs of batches, and the length of a batch.
local rounds, seconds = record.few(7, 1), record.few(0.08, 0)
local start_count, least_count = record.few(100, 2), record.few(20, 2)

-- OpenCL on a CPU only records the size. The first touch of the memory, which
-- Mare does once, is not timed.
local function bench_alloc(bytes)
    local options = { size = bytes, label = 'temporary' }
    local function mine(count)
        local start = system.now()
        for _ = 1, count do device:buffer(options):release() end
        return system.now() - start
    end
    local own, other, added, wrong = peers.compare(bytes > 1e7 and 20 or 200, mine, function(count)
        return peer.peer_alloc(bytes, count)
    end)
    peers.report(device, ('alloc, %d KiB'):format(bytes / 1024), 'none', own, other, added, wrong,
        { bytes = bytes })
end

local source = [[
MR_KERNEL void norms(int n, MR_GLOBAL const real *x, MR_GLOBAL const real *y, MR_GLOBAL real *r) {
    int i = mr_gid_x();
    if (i < n) r[i] = mr_sqrt(x[i] * x[i] + y[i] * y[i]);
}
]]

-- Computes r = |(x, y)| into a new buffer each time, without end. A batch
-- begins without garbage, so it pays for its own only, and is long enough for
-- several collections. Collections of the automatic collector count, too; it
-- sweeps the objects that were released by hand. It begins after 2000 buffers
-- have become garbage, half of those of a batch of 20 ms.
local function bench_temporaries(bytes)
    local options = { type = 'float', count = bytes / 4, label = 'temporary' }
    local x, y = device:buffer(options), device:buffer(options)
    x:fill(3)
    y:fill(4)
    local launch = device:program { source = source, name = 'norms.krn' }:kernel 'norms':bind {
        n = bytes / 4, x = x, y = y, r = x, global = bytes / 4,
    }
    local held, count = 0, start_count
    local function make(release)
        local r = device:buffer(options)
        launch:set('r', r)
        launch:run()
        if release then r:release() end
        held = math.max(held, (device:pool()))
    end
    local function batch(release)
        collectgarbage()
        collectgarbage()
        local start = system.now()
        for _ = 1, count do make(release) end
        device:wait()
        return (system.now() - start) / count
    end
    for _ = 1, 3 do
        batch(true)
        count = math.max(least_count, math.floor(seconds / batch(false)))
    end
    local by_hand, collected, ratio = {}, {}, {}
    for k = 1, rounds do
        if k % 2 == 0 then collected[k] = batch(false) end
        by_hand[k] = batch(true)
        if k % 2 == 1 then collected[k] = batch(false) end
        ratio[k] = collected[k] / by_hand[k]
    end
    local values = { benchmark = 'temporaries', rounds = rounds, bytes = bytes, limit = 1.25,
        count = count, memory_limit = os.getenv 'MARE_MEMORY_LIMIT', most_held_bytes = held,
        by_hand_us = 1e6 * record.median(by_hand), collected_us = 1e6 * record.median(collected),
        ratio = record.median(ratio) }
    record.write(device, values, ('%-10s %-22s %10.4g us, by hand %.4g us, %.3f x (limit: 1.25), '
        .. 'at most %.0f MiB'):format(device.name, ('temporaries, %d KiB'):format(bytes / 1024),
        values.collected_us, values.by_hand_us, values.ratio, held / 2 ^ 20))
    for _, object in ipairs { launch, x, y } do object:release() end
end

for _, bytes in ipairs { 2 ^ 12, 2 ^ 20, 2 ^ 26 } do bench_alloc(bytes) end
peer.peer_close()
for _, bytes in ipairs { 2 ^ 16, 2 ^ 20, 2 ^ 22, 2 ^ 24, 2 ^ 26 } do bench_temporaries(bytes) end
