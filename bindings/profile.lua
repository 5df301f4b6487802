-- profile.lua - the times of all work on the devices that are open, or are opened, between begin
-- and finish. While it runs it keeps those devices.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local system = require 'bindings.system'

local C, check = mare.C, mare.check
local M = {}

local record_c = ffi.new 'mare_profile_record'
local shape_c = ffi.new 'mare_profile_shape'
local found = ffi.new 'int32_t[1]'
local open = setmetatable({}, { __mode = 'k' })
local profiled      -- devices, in the order of opening; nil: nobody profiles
local records
local begun         -- device -> when it was first profiled, seconds of the steady clock
local since         -- device -> milliseconds from then to when its records began

local function read_shape(device, record)
    check(C.mare_profile_last_shape(device.handle, shape_c))
    if shape_c.groups[0] == 0 then return record end
    local group, groups = {}, {}
    for d = 1, 3 do group[d], groups[d] = shape_c.group[d - 1], shape_c.groups[d - 1] end
    record.group, record.groups = group, groups
    record.local_memory = tonumber(shape_c.local_memory)
    record.private_memory = tonumber(shape_c.private_memory)
    if shape_c.most_items > 0 then
        record.occupancy = shape_c.resident_groups * group[1] * group[2] * group[3]
            / shape_c.most_items
    end
    return record
end

local function read_record(device)
    local base = since[device]
    return read_shape(device, {
        name = ffi.string(record_c.name), device = device.name, model = device.info.model,
        stream = ffi.string(record_c.stream), stream_index = tonumber(record_c.stream_index),
        is_kernel = record_c.is_kernel ~= 0, begun = begun[device],
        start_ms = base + record_c.start_ms, stop_ms = base + record_c.stop_ms,
        bytes = tonumber(record_c.bytes), registers = tonumber(record_c.registers),
        resident = tonumber(record_c.resident),
    })
end

local function collect(device)
    check(C.mare_profile_end(device.handle))
    check(C.mare_profile_next(device.handle, record_c, found))
    while found[0] ~= 0 do
        records[#records + 1] = read_record(device)
        check(C.mare_profile_next(device.handle, record_c, found))
    end
end

local function start(device)
    check(C.mare_profile_begin(device.handle))
    local now = system.now()
    begun[device] = begun[device] or now
    since[device] = 1000 * (now - begun[device])
end

local function add(device)
    start(device)
    profiled[#profiled + 1] = device
end

-- Called with every device that was opened.
function M.opened(device)
    open[device] = true
    if profiled then add(device) end
end

-- Called with every device that is about to be released, be it lost, and its times with it.
function M.released(device)
    open[device] = nil
    for index, other in ipairs(profiled or {}) do
        if other == device then
            table.remove(profiled, index)
            pcall(collect, device)
            since[device] = nil
            return
        end
    end
end

-- From now on every piece of work on the devices is timed.
function M.begin()
    if profiled then errors.argument 'profile: it runs already' end
    profiled, records, begun, since = {}, {}, {}, {}
    for device in pairs(open) do
        local ok, failure = pcall(add, device)
        if not ok and failure.status ~= 'MARE_ERROR_LOST' then
            pcall(M.finish)
            error(failure, 0)
        end
    end
end

-- f(device), which no profile sees: for what Mare itself wants to know of a device.
function M.without(f, device)
    if not (profiled and since[device]) then return f(device) end
    collect(device)
    local ok, result = pcall(f, device)
    local started, failure = pcall(start, device)
    if not (ok and started) then error(ok and failure or result, 0) end
    return result
end

-- Array of { name, device, model, stream, stream_index, is_kernel, start_ms, stop_ms, bytes,
-- registers, resident }, device by device, each in the order of queueing; see mare.h. Those of
-- kernels have also groups and group, { x, y, z }, local_memory, private_memory (bytes) and, where
-- the vendor tells, occupancy, the share of a compute unit's work-items that fit. Times count
-- from `begun`, when the device was first profiled, in seconds of the steady clock. The first
-- failure passes on when all devices are done.
function M.finish()
    local devices = profiled
    if not devices then errors.argument 'profile: it does not run' end
    profiled = nil
    local failure
    for _, device in ipairs(devices) do
        local ok, raised = pcall(collect, device)
        failure = failure or not ok and raised
    end
    if failure then error(failure, 0) end
    return records
end

return M
