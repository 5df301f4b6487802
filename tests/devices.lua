-- devices.lua - returns the infos of the devices to test: all, or
-- MARE_TEST_DEVICE alone.

local device = require 'bindings.device'

return function()
    local only = os.getenv 'MARE_TEST_DEVICE'
    if not only then return device.list() end
    local d = device.open(only)
    d:release()
    return { d.info }
end
