-- share.lua - share(device) -> the device, which compiles each program once for the whole spec:
-- specs make hundreds of simulations of a few programs. share() does so for all devices that
-- simulations and runs open by name. A shared program is not to be released.

local device_module = require 'bindings.device'

local function key_of(desc)
    local list = { desc.name or '', desc.language or '', desc.math or '', desc.options or '',
        desc.source, table.concat(desc.include_paths or {}, '\n') }
    local defines = {}
    for name, value in pairs(desc.defines or {}) do
        defines[#defines + 1] = name .. '=' .. tostring(value)
    end
    table.sort(defines)
    return table.concat(list, '\0') .. '\0' .. table.concat(defines, '\0')
end

local function share(device)
    local create, made = device.program, {}
    function device.program(self, desc)
        local key = key_of(desc)
        made[key] = made[key] or create(self, desc)
        return made[key]
    end
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
