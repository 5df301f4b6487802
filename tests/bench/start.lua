-- start.lua - the time from source to kernel: compiling, loading from the
-- cache (Mare's, or that of a vendor who keeps programs), and starting a
-- simulation whose kernels are in it.
--     mare tests/bench/start.lua [DEVICE]
-- Compiling and loading are compared with the vendor's own calls in C; the
-- simulation is compared with the same script up to the open device. Each start
-- is a process of its own.

local devices = require 'bindings.device'
local home = require 'bindings.home'
local peers = require 'tests.bench.peer'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

-- ---- in a process of its own ----

local function start_simulation(name)
    local opened = devices.open(name)
    local before = system.now()
    local sim = require('mare.run.simulation').new {
        grid = require('mare.array.grid').new { nx = 64, ny = 64, x = { 0, 1 }, y = { 0, 1 } },
        initial = function() return 1, 0, 0, 1 end,
        scheme = require('mare.schemes.euler').new { gamma = 1.4 }, boundaries = 'periodic',
        devices = { opened }, options = { precision = 'float' },
    }
    sim:aim(1)
    sim:step(2)
    local milliseconds, kernels = 1000 * (system.now() - before), 0
    for _, object in ipairs(devices.objects()) do
        if object.kind == 'kernel' then kernels = kernels + 1 end
    end
    print(milliseconds, kernels)
end

if arg[1] == 'simulation' then return start_simulation(arg[2]) end

-- ---- measuring ----

local device = words.device(arg[1])
local peer = peers.open(device)
local backend = device.name:match '^%a+'
local rounds = record.few(7, 1)

-- Returns a kernel of the usual size in the vendor's language, the same text
-- for both sides. `number` makes it different from all texts in caches.
local function text_of(number)
    local pieces = {
        cuda = { 'extern "C" __global__ void', '', 'blockIdx.x * blockDim.x + threadIdx.x' },
        opencl = { '__kernel void', '__global ', 'get_global_id(0)' },
    }
    local w = pieces[backend]
    return ([[
%s heat(int n, float r, %sconst float *u, %sfloat *v) {
    int i = %s;
    if (i > 0 && i < n - 1) v[i] = u[i] + r * (u[i - 1] - 2.0f * u[i] + u[i + 1]) + %d.0f;
}
]]):format(w[1], w[2], w[2], w[3], number)
end

local serial = os.time() % 100000 * 1000

local function create(text)
    local start = system.now()
    local program = device:program { source = text, name = 'heat.krn', language = backend }
    return system.now() - start, program
end

local function bench_compile()
    local function mine()
        serial = serial + 1
        local seconds, program = create(text_of(serial))
        assert(not program.cached)
        program:release()
        return seconds
    end
    local own, other, added, wrong = peers.compare(1, mine, function()
        serial = serial + 1
        return peer.peer_compile(text_of(serial))
    end, rounds)
    peers.report(device, 'compile and keep', 'none', own, other, added, wrong, { rounds = rounds })
end

local function bench_load()
    local text = text_of(0)
    local _, first = create(text)
    peers.checked(peer.peer_compile(text))
    local function mine(count)
        local seconds = 0
        for _ = 1, count do
            local taken, program = create(text)
            assert(program.cached or device.info.keeps_programs, 'the cache is off')
            seconds = seconds + taken
            program:release()
        end
        return seconds
    end
    local own, other, added, wrong = peers.compare(20, mine, function(count)
        return peer.peer_load(count)
    end)
    peers.report(device, 'load from the cache', 'none', own, other, added, wrong)
    first:release()
end

-- Returns the milliseconds and the kernels of a process.
local function start(environment)
    local pipe = io.popen(("%s '%s' '%s/tests/bench/start.lua' simulation %s"):format(environment,
        home.launcher, home.root, device.name))
    local milliseconds, kernels = pipe:read('*n', '*n')
    pipe:close()
    return milliseconds, kernels
end

local function bench_start()
    local cold, warm, kernels = {}, {}, nil
    start ''
    for k = 1, rounds do
        warm[k], kernels = start ''
        if k <= 3 then
            cold[k] = start 'MARE_CACHE=off POCL_KERNEL_CACHE=0 CUDA_CACHE_DISABLE=1'
        end
    end
    local values = { benchmark = 'start', kernels = kernels, rounds = rounds,
        warm_ms = record.median(warm), cold_ms = record.median(cold), limit_ms_per_kernel = 5 }
    values.warm_ms_per_kernel = values.warm_ms / kernels
    record.write(device, values, ('%-10s %-22s %10.4g ms for %d kernels, %.3g ms a kernel '
        .. '(limit: 5), without a cache %.4g ms'):format(device.name, 'warm start', values.warm_ms,
        kernels, values.warm_ms_per_kernel, values.cold_ms))
end

bench_compile()
bench_load()
bench_start()
peer.peer_close()
