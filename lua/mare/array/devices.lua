-- Says which part of a grid lies on which device, and checks that it fits, before
-- anything is allocated.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local state = require 'mare.array.state'
local system = require 'bindings.system'

local devices = {}

-- Opens devices. list: 'cuda:0,cuda:1', or an array of names and open devices.
-- Returns an array of open devices. A name that occurs twice is opened once, and
-- of devices that are open under it the last is used. Two handles of one device
-- count as two devices.
function devices.open(list)
    if type(list) ~= 'table' then
        local given, names = list or system.setting 'MARE_DEVICE' or 'auto', {}
        for name in given:gmatch '[^,%s]+' do names[#names + 1] = name end
        list = names
    end
    if #list == 0 then
        errors.usage "option --device: a name such as 'cuda:0' or 'auto' is wanted"
    end
    local opened, by_name = {}, {}
    for k, entry in ipairs(list) do
        if type(entry) == 'string' then
            by_name[entry] = by_name[entry] or errors.option('device', device.shared, entry)
            entry = by_name[entry]
        end
        opened[k] = entry
    end
    return opened
end

-- Sets part.device of all parts, round robin.
function devices.assign(parts, list)
    for k, part in ipairs(parts) do part.device = list[(k - 1) % #list + 1] end
end

local function gib(bytes)
    return string.format(bytes < 2 ^ 30 and '%.3f GiB' or '%.1f GiB', bytes / 2 ^ 30)
end

-- Refuses a device that runs no kernels. what: names who asks.
function devices.check_kind(d, what)
    if d.name:find '^null:' then
        errors.argument('%s runs no kernels: %s wants another device', d.name, what)
    end
end

local function check_double(d, precision)
    if precision == 'double' and not d.info.has_double then
        errors.argument("%s ('%s') has no double precision", d.name, d.info.model)
    end
end

local function check_room(d, needed, largest)
    local free, total = d:memory()
    if total == 0 then free, total = d.info.memory, d.info.memory end
    if total == 0 then return end       -- it does not tell
    if needed > free then
        local limit = os.getenv 'MARE_MEMORY_LIMIT' or ''
        errors.raise(needed > total and 'MARE_ERROR_ARGUMENT' or 'MARE_ERROR_MEMORY',
            'the grid needs %s on %s, which has %s%s, %s of it free', gib(needed), d.name,
            gib(total), limit ~= '' and ' (MARE_MEMORY_LIMIT=' .. limit .. ')' or '', gib(free))
    end
    if largest > d.info.max_buffer then
        errors.argument('the grid needs a buffer of %s on %s, which allows %s: --decompose it',
            gib(largest), d.name, gib(d.info.max_buffer))
    end
end

function devices.check(parts, scheme, precision)
    local needed, largest = {}, {}
    for _, part in ipairs(parts) do
        local one, both = state.size(part, scheme, precision)
        needed[part.device] = (needed[part.device] or 0) + both
        largest[part.device] = math.max(largest[part.device] or 0, one)
    end
    for d, bytes in pairs(needed) do
        devices.check_kind(d, 'a simulation')
        check_double(d, precision)
        check_room(d, bytes, largest[d])
    end
end

return devices
