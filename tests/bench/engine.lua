-- engine.lua - what Mare costs over the vendor's API: launches, plans, copies, and garbage.
--     mare tests/bench/engine.lua [DEVICE]
-- The peer is C in the same process; see peer.lua for `added`.

local library = require('bindings.ffi').C
local overlap = require 'tests.bench.overlap'
local peers = require 'tests.bench.peer'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
local backend = device.name:match '^%a+'
local gpu = device.info.kind == 'gpu'

local source = [[
MR_KERNEL void few(MR_GLOBAL real *x, int n) { if (n < 0) x[0] = n; }
MR_KERNEL void many(MR_GLOBAL real *x, MR_GLOBAL real *x1, MR_GLOBAL real *x2, MR_GLOBAL real *x3,
                    MR_GLOBAL real *x4, MR_GLOBAL real *x5, MR_GLOBAL real *x6, MR_GLOBAL real *x7,
                    int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n) {
    if (n < 0) x[0] = n;
}
]]

local program = device:program { source = source, name = 'engine.krn' }
local x = device:buffer { type = 'float', count = 1024, label = 'x' }
x:fill(1)

local function bind(name)
    local kernel = program:kernel(name)
    local values = { global = 1, group = 1 }
    for _, argument in ipairs(kernel.args) do
        values[argument.name] = argument.is_buffer and x or 0
    end
    return kernel:bind(values)
end

local peer = peers.open(device)
local checked, compare = peers.checked, peers.compare
local function report(...) peers.report(device, ...) end

-- Batches are so small that no queue fills up. There are so many pairs because
-- a vendor's launch varies by more than Mare adds. The C code uses the same
-- objects as Mare's launch, and as the download below: with NVIDIA's OpenCL,
-- one of three equal kernels, queues and contexts may take 80 ns more than
-- another.
local batch, rounds = 100, 1001

local function bench_launch(name, arguments)
    local launch = bind(name)
    local handle = launch.handle
    local function timed(queue)
        return function(count)
            device:wait()
            local start = system.now()
            queue(count)
            local seconds = system.now() - start
            device:wait()
            return seconds
        end
    end
    local mine = timed(function(count) for _ = 1, count do launch:run() end end)
    local core = timed(function(count)
        for _ = 1, count do library.mare_launch_run(handle, nil) end
    end)
    local function plain(count) return peer.peer_launch(arguments, count) end
    local function same(count) return peer.peer_same(handle, count) end
    local own, other, added, wrong = compare(batch, mine, same, rounds)
    local _, _, by_core = compare(batch, core, same, rounds)
    local _, apart, over_apart = compare(batch, mine, plain, rounds)
    report(('launch, %d arguments'):format(arguments), 'C + 50 ns', own, other, added, wrong, {
        core_us = 1e6 * by_core, apart_us = 1e6 * apart, over_apart_us = 1e6 * over_apart,
        rounds = rounds, batch = batch,
    })
    print(('%-10s %-22s %10.1f ns by core; over C on objects of its own, %.4g us: %.1f ns'):format(
        device.name, '', 1e9 * by_core, 1e6 * apart, 1e9 * over_apart))
end

local function bench_plan()
    local kernels, launch = 100, bind 'few'
    local plan = device.stream:record(function() for _ = 1, kernels do launch:run() end end)
    local function mine(count)
        plan:run()
        device:wait()
        local start = system.now()
        for _ = 1, count do plan:run() end
        device:wait()
        return system.now() - start
    end
    local own, other, added, wrong = compare(20, mine, function(count)
        return peer.peer_plan(kernels, count)
    end)
    local ratio = own / other
    report('plan, a kernel', '1.1 x C', own / kernels, other / kernels, added / kernels,
        wrong / kernels, { kernels = kernels, ratio = ratio })
    print(('%-10s %-22s %10.4g x C'):format(device.name, 'plan, ratio', ratio))
end

local function bench_download()
    local launch, into = bind 'few', device:host { type = 'float', count = 1 }
    local options = { into = into, count = 1 }
    local function mine(count)
        device:wait()
        local start = system.now()
        for _ = 1, count do
            launch:run()
            x:download(options)
        end
        return system.now() - start
    end
    local own, other, added, wrong = compare(200, mine, function(count)
        return peer.peer_download(launch.handle, count)
    end, 201)
    report('launch, one float down', 'C + 1 us', own, other, added, wrong, { rounds = 201 })
end

local function bench_copy()
    local from, options = device:host { type = 'float', count = 1024 }, { stream = device.stream }
    local function mine(count)
        device:wait()
        local start = system.now()
        for _ = 1, count do x:upload(from, options) end
        device:wait()
        return system.now() - start
    end
    report('copy of 4 KiB, queued', 'none', compare(200, mine, peer.peer_copy))
    from:release()
end

local function bench_garbage()
    local launch, count = bind 'few', record.few(1e6, 1000)
    local function loop(n)
        for k = 1, n do
            launch:set('n', k)
            launch:run()
            if k % 1000 == 0 then device:wait() end
        end
    end
    loop(record.few(100000, 1000))      -- LuaJIT has compiled every trace by then
    collectgarbage()
    collectgarbage 'stop'
    local before = collectgarbage 'count'
    loop(count)
    local bytes = (collectgarbage 'count' - before) * 1024
    collectgarbage 'restart'
    record.write(device, { benchmark = 'garbage', launches = count, bytes = bytes, limit = 0 },
        ('%-10s %-22s %10.4g bytes over %.0f launches (limit: 0)'):format(device.name, 'garbage',
            bytes, count))
end

local function bench_overlap()
    local ratio, serial, overlapped = overlap.measure(device)
    record.write(device, { benchmark = 'overlap', ratio = ratio, serial_ms = serial,
        overlapped_ms = overlapped, limit = 1.8 },
        ('%-10s %-22s %10.4g x one stream (limit: 1.8)'):format(device.name,
            'overlap, three streams', ratio))
end

bench_launch('few', 2)
bench_launch('many', 16)
bench_plan()
bench_download()
bench_copy()
if backend == 'cuda' then
    local seconds = checked(peer.peer_context(100000)) / 100000
    record.write(device, { benchmark = 'context', c_us = 1e6 * seconds },
        ('%-10s %-22s %10.4g us: the context made current and undone'):format(device.name,
            'context', 1e6 * seconds))
end
bench_garbage()
if gpu then bench_overlap() end
peer.peer_close()
