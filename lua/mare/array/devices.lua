-- Says which part of a grid lies on which device, and checks that it fits, before
-- anything is allocated.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local links = require 'mare.links'
local own_device = require 'mare.ranks.own_device'
local state = require 'mare.array.state'
local system = require 'bindings.system'

local devices = {}

-- Returns the names of all GPUs of CUDA, or without one those of OpenCL; without any, of
-- what 'auto' takes.
local function all_names()
    for _, kind in ipairs { 'cuda', 'opencl' } do
        local names = {}
        for _, info in ipairs(device.list(kind)) do
            names[#names + 1] = info.kind == 'gpu' and info.name or nil
        end
        if #names > 0 then return names end
    end
    return { 'auto' }
end

-- Opens a device by its name, for a call or for the option --device.
local function shared(name, what)
    if not what then return errors.option('device', device.shared, name) end
    local ok, found = pcall(device.shared, name)
    if ok then return found end
    errors.raise(errors.is(found) and found.status or 'MARE_ERROR_ARGUMENT', '%s: %s', what,
        errors.is(found) and found.message or tostring(found))
end

-- Opens devices. list: 'cuda:0,cuda:1', 'all', or an array of names and open devices.
-- Returns an array of open devices. A name that occurs twice is opened once, and
-- of devices that are open under it the last is used. Two handles of one device
-- count as two devices. Each of several ranks opens one of the list. what: the call that asks; none
-- stands for the option --device.
function devices.open(list, what)
    if type(list) ~= 'table' then
        local given, names = list or system.setting 'MARE_DEVICE' or 'auto', {}
        for name in given:gmatch '[^,%s]+' do names[#names + 1] = name end
        list = given == 'all' and all_names() or names
    end
    if #list == 0 then
        local refuse = what and errors.argument or errors.usage
        refuse("%s: a name such as 'cuda:0' or 'auto' is wanted", what or 'option --device')
    end
    local opened, by_name = {}, {}
    for k, entry in ipairs(own_device(list)) do
        if type(entry) == 'string' then
            by_name[entry] = by_name[entry] or shared(entry, what)
            entry = by_name[entry]
        end
        opened[k] = entry
    end
    return opened
end

-- Returns the devices of all ranks, for choices that are the same on all: of those
-- of others only { info = { kind } }.
function devices.everywhere(list)
    if here.size == 1 then return list end
    local kinds, found = {}, {}
    for k, d in ipairs(list) do kinds[k] = d.info.kind end
    for _, others in ipairs(here.all(kinds)) do
        for _, kind in ipairs(others) do found[#found + 1] = { info = { kind = kind } } end
    end
    return found
end

-- Returns the rank that has part k of so many.
function devices.rank_of(k, count)
    return math.floor((k - 1) * here.size / count)
end

-- Sets part.device of this rank's parts, round robin, and part.rank of others'.
-- Ranks have neighbouring parts, and as many of them as can be. Finds how cells get
-- from rank to rank and from device to device (mare.links). Returns the barrier of all
-- devices that have parts, or nil. All ranks call it.
function devices.assign(parts, list)
    local own, used, seen = 0, {}, {}
    if #parts < here.size then
        errors.usage('option --decompose: it makes %d parts, fewer than the %d ranks', #parts,
            here.size)
    end
    for k, part in ipairs(parts) do
        local rank = devices.rank_of(k, #parts)
        if rank == here.rank then
            part.device, own = list[own % #list + 1], own + 1
            if not seen[part.device] then
                used[#used + 1], seen[part.device] = part.device, true
            end
        else
            part.rank = rank
        end
    end
    return links.find(parts, used)
end

-- Whether all parts lie on one device of this rank.
function devices.are_on_one(parts)
    for _, part in ipairs(parts) do
        if part.device ~= parts[1].device then return false end
    end
    return true
end

local function gib(bytes)
    return string.format(bytes < 2 ^ 30 and '%.3f GiB' or '%.1f GiB', bytes / 2 ^ 30)
end

-- Refuses a device that runs no kernels. what: names who asks.
function devices.check_kind(d, what)
    if d.is_null then
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
        if part.device then
            local one, both = state.size(part, scheme, precision)
            needed[part.device] = (needed[part.device] or 0) + both
            largest[part.device] = math.max(largest[part.device] or 0, one)
        end
    end
    for d, bytes in pairs(needed) do
        devices.check_kind(d, 'a simulation')
        check_double(d, precision)
        check_room(d, bytes, largest[d])
    end
end

return devices
