-- reach(to, from): whether kernels and copies of device `to` take buffers of `from`, a device of
-- this process; lets them where they can. With MARE_TRANSPORT=staged none does.

local system = require 'bindings.system'

local reached = setmetatable({}, { __mode = 'k' })     -- by device, and the other

return function(to, from)
    reached[to] = reached[to] or setmetatable({}, { __mode = 'k' })
    local known = reached[to]
    if known[from] == nil then
        known[from] = system.setting 'MARE_TRANSPORT' ~= 'staged' and to:can_reach(from)
            and pcall(to.reach, to, from) or false
    end
    return known[from]
end
