-- The memory of arrays on null devices, for what Lua computes there itself.

local bound = require 'bindings.array'

local host = {}

-- Returns the C array that is a version's memory.
function host.address(version)
    return bound.address(version.cell, version.type.name)
end

-- Returns function(k): element k as a number.
function host.reader(version)
    local data, half = host.address(version), bound.on_host.half
    if version.type.name == 'bool' then return function(k) return data[k] and 1 or 0 end end
    if version.type.name == 'half' then return function(k) return half(data[k]) end end
    return function(k) return data[k] end
end

-- Returns function(k, value), which writes element k.
function host.writer(version)
    local data, half_of = host.address(version), bound.on_host.half_of
    if version.type.name == 'bool' then
        return function(k, value) data[k] = value ~= 0 end
    end
    if version.type.name == 'half' then return function(k, value) data[k] = half_of(value) end end
    return function(k, value) data[k] = value end
end

return host
