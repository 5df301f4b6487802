-- How fast a device copies its own memory: the limit that T_eff is a share of.

local source = require 'mare.source'

local bandwidth = {}

local bytes = { gpu = 256 * 2 ^ 20, cpu = 64 * 2 ^ 20, other = 64 * 2 ^ 20 }
local shapes = {
    gpu = { W = 4, GROUP = 256 },
    cpu = { W = 256, GROUP = 1 },
    other = { W = 4, GROUP = 64 },
}
local repeats = 5

local function copy_launch(device, count)
    local shape = shapes[device.info.kind]
    local function buffer(label)
        local b = device:buffer { type = 'float', count = count, label = label }
        b:fill(0)
        return b
    end
    local src, dst = buffer 'copy source', buffer 'copy target'
    local launch = device:program(source.program('copy.krn', {
        defines = { W = shape.W, GROUP = shape.GROUP, MARE_REAL = 'float' },
    })):kernel 'copy':bind {
        dst = dst, src = src, count = count,
        global = math.ceil(count / shape.W), group = shape.GROUP,
    }
    return launch, function()
        src:release()
        dst:release()
    end
end

-- Bytes read plus bytes written per second, the best of a few copies of a buffer larger than any
-- cache; nil where there is no memory for it.
function bandwidth.measure(device)
    local size = bytes[device.info.kind]
    local free, total = device:memory()
    if (total > 0 and free or device.info.memory) < 4 * size then return nil end
    local launch, release = copy_launch(device, size / 4)
    local start, stop, best = device:event(), device:event(), math.huge
    launch:run()
    for _ = 1, repeats do
        start:record()
        launch:run()
        stop:record()
        best = math.min(best, start:elapsed_ms(stop))
    end
    release()
    return 2 * size / (best * 1e-3)
end

return bandwidth
