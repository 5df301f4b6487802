-- share.lua - share(device) -> the device, which compiles each program once for the whole spec:
-- specs make hundreds of simulations of a few programs. share() does so for all devices that
-- simulations and runs open by name. A shared program is not to be released.

local compiler = require 'bindings.compiler'
local device_module = require 'bindings.device'

local function share(device)
    local create, made = device.program, {}
    function device.program(self, desc)
        local key = compiler.key(desc)
        made[key] = made[key] or create(self, desc)
        return made[key]
    end
    function device.prepare() end
    return device
end

local function share_all()
    local open, opened = device_module.shared, {}
    function device_module.shared(name)
        opened[name] = opened[name] or share(open(name))
        return opened[name]
    end
end

return function(device)
    if device then return share(device) end
    share_all()
end
