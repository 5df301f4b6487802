-- fft_use.lua - what a transform of real numbers takes besides its time: tables 4.1 to 4.3, 4.6
-- and 4.11 of Fritzenwallner (2023), his first calls, and table 4.18.
--     mare bench fft_use [DEVICE] [LOG2 | LOG2xLOG2]
-- Of 2^LOG2 points (25), or as many rows and columns, in float and double: the kernels with their
-- groups and occupancy; memory relative to the input, of the spectrum and beside it; the first
-- call, with what is compiled for it, against the median of 50; the same with both transfers,
-- from memory that is pinned and that is not; all by Mare and, where it is, by cuFFT.

local check_kind = require('mare.array.devices').check_kind
local cufft = require 'bindings.cufft'
local errors = require 'bindings.errors'
local ffi = require 'ffi'
local mare = require 'mare'
local now = require('bindings.system').now
local profile = require 'mare.measure.profile'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

local c_types = { float = 'float[?]', double = 'double[?]' }

-- Seconds of each of `count` calls, sorted; work waits for the device.
local function times(count, work)
    local seconds = {}
    for k = 1, count do
        local begin = now()
        work()
        seconds[k] = now() - begin
    end
    table.sort(seconds)
    return seconds
end

local function in_use(device)
    collectgarbage()
    collectgarbage()
    device:wait()
    local used = device:pool()
    return type(used) == 'table' and used.in_use or used
end

local function kernels_of(run)
    local list = {}
    for _, row in ipairs(profile.new(run).rows) do
        if row.is_kernel then
            local group = row.group and table.concat(row.group, 'x') or '-'
            local groups = row.groups and table.concat(row.groups, 'x') or '-'
            list[#list + 1] = { name = row.name, groups = groups, group = group, calls = row.calls,
                registers = row.registers, occupancy = row.occupancy, ms = row.mean_ms }
        end
    end
    return list
end

-- Uploads, transforms and downloads; `from` and `into` are pinned memory or C arrays.
local function with_transfers(device, plan, x, y, from, into)
    return times(record.few(9, 2), function()
        x:buffer():upload(from)
        plan(x, { out = y })
        y:buffer():download { into = into }
        device:wait()
    end)
end

local function measure(device, type, shape, backend)
    local points = shape[1] * (shape[2] or 1)
    local x = (mare.rand(shape, { seed = 1, device = device }) * 2 - 1):to(type):eval()
    local before, size = in_use(device), ffi.sizeof(type) * points
    local begin = now()
    local plan = mare.fft.plan { shape = shape, type = type, device = device,
        axes = shape[2] and { 0, 1 } or nil, transform = 'rfft', backend = backend }
    local y = plan(x)
    device:wait()
    local found = { first = now() - begin, memory = (in_use(device) - before) / size }
    local function run()
        plan(x, { out = y })
        device:wait()
    end
    found.seconds = record.median(times(record.few(50, 2), run))
    found.kernels = kernels_of(run)
    local last = shape[#shape]
    local spectrum = points / last * (math.floor(last / 2) + 1)
    found.pinned = record.median(with_transfers(device, plan, x, y,
        device:host { type = type, count = points },
        device:host { type = 'complex_' .. type, count = spectrum }))
    found.pageable = record.median(with_transfers(device, plan, x, y,
        ffi.new(c_types[type], points), ffi.new('complex_' .. type == 'complex_float'
        and 'complex float[?]' or 'complex[?]', spectrum)))
    return found
end

local function report(device, type, shape, backend)
    local found = measure(device, type, shape, backend)
    local name = backend == 'cufft' and 'cuFFT' or 'Mare'
    record.write(device, { benchmark = 'fft_use', backend = name, type = type, shape = shape,
        seconds = found.seconds, first = found.first, memory = found.memory,
        pinned = found.pinned, pageable = found.pageable, kernels = found.kernels },
        ('%-6s %-7s %8.3f ms, first %8.1f ms, memory %.2f of the input, with transfers %.2f ms '
        .. 'pinned, %.2f ms pageable'):format(name, type, 1e3 * found.seconds, 1e3 * found.first,
        found.memory, 1e3 * found.pinned, 1e3 * found.pageable))
    for _, k in ipairs(found.kernels) do
        print(('       %-28s %d x %s of %s, %s registers, occupied %s, %.3f ms'):format(k.name,
            k.calls, k.groups, k.group, k.registers and k.registers > 0 and k.registers or '-',
            k.occupancy and ('%.0f %%'):format(100 * k.occupancy) or '-', k.ms))
    end
end

local device = words.device(arg[1])
check_kind(device, 'fft_use')
local first, second = (arg[2] or ''):match '^(%d+)x?(%d*)$'
first = tonumber(first) or record.few(device.info.kind == 'gpu' and 25 or 18, 6)
second = tonumber(second)
if arg[2] and not arg[2]:find '^%d+x?%d*$' or first < 1 or first + (second or 0) > 28 then
    errors.usage('fft_use: LOG2 = %s (allowed: 1 to 28, or two whose sum is not more, 12x12)',
        tostring(arg[2]))
end
local shape = { 2 ^ first, second and 2 ^ second or nil }
for _, type in ipairs(device.info.has_double and record.few({ 'float', 'double' }, { 'float' })
    or { 'float' }) do
    report(device, type, shape, 'own')
    if cufft.is_there(device) then report(device, type, shape, 'cufft') end
end
