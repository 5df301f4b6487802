-- Measures how fast a device copies its own memory. The effective throughput
-- T_eff of a run is reported as a share of this rate.

local here = require 'mare.ranks.here'
local profile = require 'bindings.profile'
local source = require 'mare.base.source'

local bandwidth = {}

local bytes = { gpu = 1024 * 2 ^ 20, cpu = 64 * 2 ^ 20, other = 64 * 2 ^ 20 }
local shapes = {
    gpu = { W = 4, GROUP = 256 },
    cpu = { W = 256, GROUP = 1 },
    other = { W = 4, GROUP = 64 },
}
local repeats = { gpu = 5, cpu = 2, other = 5 }   -- 64 MB take a CPU tens of ms

local function program(device)
    local shape = shapes[device.info.kind]
    return source.program('measure/copy.krn', {
        defines = { W = shape.W, GROUP = shape.GROUP, MARE_REAL = 'float' },
    })
end

local function kernel_copy(device, dst, src)
    local shape = shapes[device.info.kind]
    return device:program(program(device)):kernel 'copy':bind {
        dst = dst, src = src, count = src.count,
        global = math.ceil(src.count / shape.W), group = shape.GROUP,
    }
end

-- Returns the milliseconds of the fastest of a few calls.
local function fastest(device, work)
    local start, stop, best = device:event(), device:event(), math.huge
    for _ = 1, repeats[device.info.kind] do
        start:record()
        work()
        stop:record()
        best = math.min(best, start:elapsed_ms(stop))
    end
    return best
end

local function has_room(device)
    local free, total = device:memory()
    return (total > 0 and free or device.info.memory) >= 4 * bytes[device.info.kind]
end

local function measure(device)
    local size = bytes[device.info.kind]
    if not has_room(device) then return nil end
    local src = device:buffer { type = 'float', count = size / 4, label = 'copy source' }
    local dst = device:buffer { type = 'float', count = size / 4, label = 'copy target' }
    src:fill(0)
    local launch = kernel_copy(device, dst, src)
    launch:run()                    -- the first takes longer
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

local copy_rates = {}           -- by the device's name: a session runs often

-- Begins to compile what is still to be measured of these devices.
function bandwidth.prepare(devices)
    for _, device in ipairs(devices) do
        if not copy_rates[device.name] and has_room(device) then
            device:prepare(program(device))
        end
    end
end

-- Returns the bytes per second that a device copies, measured once; nil if it has too
-- little memory.
function bandwidth.of(device)
    copy_rates[device.name] = copy_rates[device.name] or bandwidth.measure(device)
    return copy_rates[device.name]
end

-- Returns the bytes per second that the devices of this rank copy, without those
-- of ranks before it.
local function own_rate(devices)
    local total, seen, names = 0, {}, {}
    for k, device in ipairs(devices) do names[k] = here.machine .. device.name end
    for rank, others in ipairs(here.all(names)) do
        for _, name in ipairs(rank <= here.rank and others or {}) do seen[name] = true end
    end
    for k, device in ipairs(devices) do
        if not seen[names[k]] then
            local rate = bandwidth.of(device)
            if not rate then return nil end
            total, seen[names[k]] = total + rate, true
        end
    end
    return total
end

-- Returns the bytes per second that the devices of all ranks copy together, nil if
-- one cannot tell. devices: those of this rank
function bandwidth.of_all(devices)
    local total = 0
    for _, rate in ipairs(here.all(own_rate(devices) or false)) do
        if not rate then return nil end
        total = total + rate
    end
    return total
end

return bandwidth
