local device = require 'bindings.device'
local overlap = require 'tests.bench.overlap'

local name = os.getenv 'MARE_DEVICE' or 'auto'

describe('copies and kernels', function()
    it('overlap on three streams', function()
        local d = device.open(name)
        if d.info.kind ~= 'gpu' then
            pending(d.name .. ' is no GPU: its kernels and copies share the processor')
            return
        end
        local ratio, serial, overlapped = overlap.measure(d)
        print(('%s: %.2f times faster (%.1f ms on one stream, %.1f ms on three)'):format(d.name,
            ratio, serial, overlapped))
        assert.is_true(ratio >= 1.8, ('%.2f, not 1.8'):format(ratio))
    end)
end)
