-- host.lua - loops on the host, by threads: counting and the product of matrices, chapter 1 of
-- Fritzenwallner (2023), listings 1.7 to 1.9, table 1.2 and figures 1.2 and 1.4; saxpy of 2^24
-- floats by a loop, an unrolled one, and the device.
--     mare bench host [DEVICE [N [THREADS]]]
-- LuaJIT compiles the loops; a thread is a mare.worker, whose state has memory of its
-- own: rows of the product come back as text. OpenBLAS and the device do the same product,
-- the device also with both transfers.

local blas = require 'bindings.openblas'
local ffi = require 'ffi'
local mare = require 'mare'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
local n = words.count('host: N', arg[2], record.few(600, 16), 2 ^ 14)
local most = words.count('host: THREADS', arg[3],
    record.few(system.cores and system.cores() or 4, 2), 1024)
local counts = record.few(2e8, 1e4)

-- ---- in a thread ----

-- Takes { counts } or { n, first, last }; gives a number, or the seconds and rows.
local function work(channel)
    local memory, now = require 'ffi', require('bindings.system').now
    local function count(to)
        local list = { 0, 0 }
        for _ = 1, to do list[1] = list[1] + 1 end
        return list[1]
    end
    local function multiply(size, first, last)
        local a, b = memory.new('double[?]', size * size), memory.new('double[?]', size * size)
        local c = memory.new('double[?]', size)
        for i = 0, size * size - 1 do a[i], b[i] = i % 7 - 3, i % 5 - 2 end
        local begin, sum = now(), 0
        for i = first, last do
            for j = 0, size - 1 do c[j] = 0 end
            for k = 0, size - 1 do
                local x = a[i * size + k]
                for j = 0, size - 1 do c[j] = c[j] + x * b[k * size + j] end
            end
            for j = 0, size - 1 do sum = sum + c[j] end
        end
        return { seconds = now() - begin, sum = sum }
    end
    for job in channel.receive, channel do
        if job.counts then channel:send(count(job.counts))
        else channel:send(multiply(job.n, job.first, job.last)) end
    end
end

-- Returns the seconds until each of `threads` workers has answered its job, and the answers.
local function in_threads(threads, job_of)
    local workers, answers = {}, {}
    for k = 1, threads do workers[k] = mare.worker(work) end
    for k = 1, threads do
        workers[k]:send { counts = 10 }         -- it has begun
        workers[k]:receive()
    end
    local begin = system.now()
    for k = 1, threads do workers[k]:send(job_of(k)) end
    for k = 1, threads do answers[k] = workers[k]:receive() end
    local seconds = system.now() - begin
    for k = 1, threads do workers[k]:stop() end
    return seconds, answers
end

-- ---- the tables ----

local function report(name, threads, seconds, rate, unit)
    record.write(device, { benchmark = 'host', what = name, threads = threads, n = n,
        seconds = seconds, rate = rate, unit = unit },
        ('%-28s %3s %10.4g s %10.4g %s'):format(name, threads or '-', seconds, rate, unit))
end

local function count_on_threads()
    local threads = 1
    while threads <= most do
        local seconds = in_threads(threads, function() return { counts = counts } end)
        report('counting', threads, seconds, threads * counts / seconds / 1e6, 'MHz')
        threads = 2 * threads
    end
end

local function multiply_on_threads()
    local threads, sum = 1, nil
    while threads <= most do
        local _, answers = in_threads(threads, function(k)
            return { n = n, first = math.floor((k - 1) * n / threads),
                last = math.floor(k * n / threads) - 1 }
        end)
        local longest, own = 0, 0
        for _, answer in ipairs(answers) do
            longest, own = math.max(longest, answer.seconds), own + answer.sum
        end
        sum = sum or own
        if own ~= sum then error('host: threads come to another product', 0) end
        report('product, LuaJIT', threads, longest, 2 * n ^ 3 / longest / 1e9, 'Gflop/s')
        threads = 2 * threads
    end
    return sum
end

local function best(work_once)
    local seconds = {}
    for k = 1, record.few(7, 2) do
        local begin = system.now()
        work_once()
        seconds[k] = system.now() - begin
    end
    return record.median(seconds)
end

-- sum: of all elements, whole numbers, which are exact
local function check(c, sum, name)
    local own = 0
    for i = 0, n * n - 1 do own = own + c[i] end
    if own ~= sum then error('host: ' .. name .. ' is wrong', 0) end
end

local function by_libraries(sum)
    local a, b = ffi.new('double[?]', n * n), ffi.new('double[?]', n * n)
    local c = ffi.new('double[?]', n * n)
    for i = 0, n * n - 1 do a[i], b[i] = i % 7 - 3, i % 5 - 2 end
    if blas.is_there() then
        local seconds = best(function() blas.multiply('double', n, n, n, a, n, false, b, n, false,
            c) end)
        check(c, sum, 'OpenBLAS')
        report('product, OpenBLAS', nil, seconds, 2 * n ^ 3 / seconds / 1e9, 'Gflop/s')
    end
    if not (device.info.runs_kernels and device.info.has_double) then return end
    local buffers = {}
    for k = 1, 2 do buffers[k] = device:buffer { type = 'double', count = n * n } end
    local function on_device(with_copies)
        if with_copies then
            buffers[1]:upload(a)
            buffers[2]:upload(b)
        end
        local x, y = mare.array(buffers[1]):reshape(n, n), mare.array(buffers[2]):reshape(n, n)
        local z = x:matmul(y):eval()
        if with_copies then z:buffer():download { into = c } else device:wait() end
    end
    on_device(true)
    check(c, sum, device.name)
    for _, with_copies in ipairs { false, true } do
        local seconds = best(function() on_device(with_copies) end)
        report('product, device' .. (with_copies and ', with copies' or ''), nil, seconds,
            2 * n ^ 3 / seconds / 1e9, 'Gflop/s')
    end
end

-- ---- y = a x + y ----

local points = record.few(2 ^ 24, 1024)     -- a multiple of four

local function add(x, y, a)
    for i = 0, points - 1 do y[i] = a * x[i] + y[i] end
end

local function add_unrolled(x, y, a)
    for i = 0, points - 4, 4 do
        y[i] = a * x[i] + y[i]
        y[i + 1] = a * x[i + 1] + y[i + 1]
        y[i + 2] = a * x[i + 2] + y[i + 2]
        y[i + 3] = a * x[i + 3] + y[i + 3]
    end
end

local source = [[
MR_KERNEL void saxpy(int n, real a, const MR_GLOBAL real *x, MR_GLOBAL real *y) {
    int i = mr_gid_x();
    if (i < n) y[i] = mr_fma(a, x[i], y[i]);
}]]

-- Each adds x + y with y = 0 at first, so that y is a multiple of x.
local function saxpy()
    local on_device = device.info.runs_kernels
    local function memory() return device:host { type = 'float', count = points } end
    local x, y = memory(), memory()
    for i = 0, points - 1 do x.data[i], y.data[i] = i % 7, 0 end
    local function row(name, work_once)
        local seconds = best(work_once)
        report('saxpy, ' .. name, nil, seconds, 12 * points / seconds / 1e9, 'GB/s')
    end
    row('LuaJIT', function() add(x:pointer(), y:pointer(), 1) end)
    row('LuaJIT, unrolled by 4', function() add_unrolled(x:pointer(), y:pointer(), 1) end)
    if not on_device then return end
    local dx = device:buffer { type = 'float', count = points, label = 'x' }
    local dy = device:buffer { type = 'float', count = points, label = 'y' }
    local launch = device:program { source = source, name = 'saxpy.krn' }:kernel 'saxpy':bind {
        n = points, a = 1, x = dx, y = dy, global = points }
    dx:upload(x)
    dy:upload(y)
    row('device', function()
        launch:run()
        device:wait()
    end)
    row('device, with copies', function()
        dx:upload(x)
        dy:upload(y)
        launch:run()
        dy:download { into = y }
    end)
    local times = y.data[1]
    for i = 0, points - 1 do
        if y.data[i] ~= times * (i % 7) then error('host: saxpy is wrong', 0) end
    end
end

count_on_threads()
by_libraries(multiply_on_threads())
saxpy()
