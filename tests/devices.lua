-- devices.lua - returns the infos of the devices to test: all that take any
-- program, or MARE_TEST_DEVICE alone.

local device = require 'bindings.device'

return function()
    local only = os.getenv 'MARE_TEST_DEVICE'
    if not only then
        local able = {}
        for _, info in ipairs(device.list()) do
            if info.has_compiler then able[#able + 1] = info end
        end
        return able
    end
    local d = device.open(only)
    d:release()
    return { d.info }
end
