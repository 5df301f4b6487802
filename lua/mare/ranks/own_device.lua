-- own_device.lua - which device of a machine belongs to this rank.

local device = require 'bindings.device'
local here = require 'mare.ranks.here'
local system = require 'bindings.system'

-- Returns the names in MARE_DEVICE, of which 'all' is left to those who divide a grid.
local function usual()
    local names = {}
    for name in (system.setting 'MARE_DEVICE' or 'auto'):gmatch '[^,%s]+' do
        names[#names + 1] = name == 'all' and 'auto' or name
    end
    return names
end

-- Returns what this rank takes of a list of names or devices, nil: of the usual one: all
-- of them if it is alone, else that of its number among the ranks of its machine, and of
-- CUDA's also where none is named.
return function(list)
    list = list or usual()
    if here.size == 1 then return list end
    local entry, count = list[here.local_rank % #list + 1], 0
    for _, b in ipairs(entry == 'auto' and device.backends() or {}) do
        if b.name == 'cuda' and b.available then count = b.device_count end
    end
    return { count > 0 and ('cuda:%d'):format(here.local_rank % count) or entry }
end
