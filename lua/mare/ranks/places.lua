-- places.lua - where each rank is: its machine, and its number among those of the same
-- machine, which chooses the device.

local system = require 'bindings.system'

local places = {}

local function line_of(path)
    local file = io.open(path)
    local text = file and file:read '*l'
    if file then file:close() end
    return text or ''
end

-- Returns the name of this machine and a text that no other machine has.
function places.here()
    local name = line_of '/proc/sys/kernel/hostname'
    if name == '' then name = system.setting 'HOSTNAME' or 'localhost' end
    return name, name .. ' ' .. line_of '/proc/sys/kernel/random/boot_id'
end

-- Returns how many cores this machine has: a launcher may have bound this process
-- to one of them.
function places.cores()
    local count = 0
    for first, last in line_of '/sys/devices/system/cpu/online':gmatch '(%d+)%-?(%d*)' do
        count = count + (tonumber(last) or tonumber(first)) - tonumber(first) + 1
    end
    return math.max(count, system.cores())
end

-- Returns the number of a rank among those of its machine, and how many these
-- are. all: the machine of each rank, the first at 1
function places.of(rank, all)
    local before, count = 0, 0
    for k, machine in ipairs(all) do
        if machine == all[rank + 1] then
            count = count + 1
            if k <= rank then before = before + 1 end
        end
    end
    return before, count
end

return places
