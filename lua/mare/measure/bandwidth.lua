-- Measures how fast a device copies its own memory. The effective throughput
-- T_eff of a run is reported as a share of this rate.

local profile = require 'bindings.profile'
local source = require 'mare.base.source'

local bandwidth = {}

local bytes = { gpu = 1024 * 2 ^ 20, cpu = 64 * 2 ^ 20, other = 64 * 2 ^ 20 }
local shapes = {
    gpu = { W = 4, GROUP = 256 },
    cpu = { W = 256, GROUP = 1 },
    other = { W = 4, GROUP = 64 },
}
local repeats = 5

local function kernel_copy(device, dst, src)
    local shape = shapes[device.info.kind]
    return device:program(source.program('measure/copy.krn', {
        defines = { W = shape.W, GROUP = shape.GROUP, MARE_REAL = 'float' },
    })):kernel 'copy':bind {
        dst = dst, src = src, count = src.count,
        global = math.ceil(src.count / shape.W), group = shape.GROUP,
    }
end

-- Returns the milliseconds of the fastest of a few calls.
local function fastest(device, work)
    local start, stop, best = device:event(), device:event(), math.huge
    work()
    for _ = 1, repeats do
        start:record()
        work()
        stop:record()
        best = math.min(best, start:elapsed_ms(stop))
    end
    return best
end

local function measure(device)
    local size = bytes[device.info.kind]
    local free, total = device:memory()
    if (total > 0 and free or device.info.memory) < 4 * size then return nil end
    local src = device:buffer { type = 'float', count = size / 4, label = 'copy source' }
    local dst = device:buffer { type = 'float', count = size / 4, label = 'copy target' }
    src:fill(0)
    local launch = kernel_copy(device, dst, src)
    local best = math.min(fastest(device, function() launch:run() end),
        fastest(device, function() dst:copy(src) end))
    launch:release()
    src:release()
    dst:release()
    return 2 * size / (best * 1e-3)
end

-- Returns bytes read plus bytes written per second, of the fastest of a few
-- copies by a kernel or by the driver; the buffer is larger than any cache.
-- Returns nil if the device has too little memory. The copies do not appear in
-- a profile.
function bandwidth.measure(device)
    return profile.without(measure, device)
end

return bandwidth
