-- memory.lua - pinned host memory, and the host side of transfers: what may be handed over as data
-- of an element type.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local host = require 'bindings.host'
local now = require('bindings.system').now

local C = mare.C
local class = handle.class('host memory', C.mare_host_release)
local M = { is_host = class.is }

local out = ffi.new 'mare_host *[1]'

-- What the collector cannot see: handles of a few hundred bytes that hold gigabytes. It runs
-- whenever `enough` bytes were asked for, and not released by hand, since it last ran, so that
-- temporaries do not add up. The sooner it runs the likelier caches still hold what it frees, but
-- it looks at all of Lua's heap each time, however little it frees: `enough` follows from giving
-- that, `fixed`, a `share` of the time. What it takes for each buffer beside is the same whenever
-- it runs.
local share = 0.01
local least, most = 2^20, 2^33
local asked, enough, ended = 0, most, 0
local fixed, heap = 0, 0        -- seconds at least, and KiB of the heap when they were measured

-- Garbage may take up to this part of a device's memory, and with what is in use 7/8: both a bit
-- less than core keeps for the next buffers, of a limit nearly all. The more buffers one collection
-- frees, the less of it each costs.
local part = (os.getenv 'MARE_MEMORY_LIMIT' or '') ~= '' and 7 / 8 or 7 / 16
local rooms = setmetatable({}, { __mode = 'k' })    -- by device: bytes, when it was last collected

-- A block that has left its caches costs a CPU more than a collection: temporaries of 64 KiB to 16
-- MiB took 1.2 to 1.5 times as long as with release by hand where garbage had all of a limit of 1
-- GiB, and 1.02 to 1.10 times with 16 MiB of it (two cores of a Xeon). That is a matter of some
-- milliseconds for 16 MiB, so it is for small heaps only.
local nearby, cheap = 2^24, 2e-4

local function room(device, in_use)
    local memory = device.info.memory > 0 and device.info.memory or 2^31
    local bytes = math.max(memory / 16, math.min(part * memory, 7 / 8 * memory - in_use))
    return device.info.kind == 'cpu' and fixed < cheap and math.min(nearby, bytes) or bytes
end

-- Seconds of a collection.
local function cycle()
    local begin = now()
    handle.collect()
    return now() - begin
end

local function collect(device)
    local elapsed = now() - ended
    fixed = math.min(fixed, cycle())
    local size = collectgarbage 'count'
    if size > 2 * heap or size < heap / 2 then
        fixed, heap = math.min(cycle(), cycle()), size
    end
    rooms[device] = room(device, (device:pool()))
    local wanted = asked * fixed / (share * elapsed)
    enough = math.max(least, enough / 4, math.min(wanted, 4 * enough, most))
    ended = now()
end

-- What is refused for lack of memory is tried again after a full collection.
local function press(device, size)
    asked, enough = asked + size, math.min(enough, rooms[device] or room(device, 0))
    if asked > enough then
        collect(device)
        asked = size
    end
end

-- Objects of `counted` count their bytes back, unless the memory is another's.
function M.count_releases(counted)
    local release = counted.methods.release
    -- Gives the memory back. Work that is queued on it still completes.
    function counted.methods:release()
        if not self.is_borrowed then asked = asked - self.size end
        release(self)
    end
end
M.count_releases(class)

local release = class.methods.release

-- Waits until other devices than its own are done with pinned memory. Of anchors.lua
function M.settle() end

-- Gives the memory back: with it `data` goes, which would lead to what is another's by then.
function class.methods:release()
    M.settle(self)
    self.data = nil
    release(self)
end

-- Element type, its bytes and the size wanted, from { type = 'float', count = n } or { size = bytes
-- }.
function M.shape(what, options)
    local type_name = options.type or 'bytes'
    local element = tonumber(C.mare_type_size(mare.types[type_name]))
    local size = options.size
    if options.count then
        if size then errors.argument('%s: give count or size, not both', what) end
        size = handle.whole(options.count, what, 'count') * element
    end
    if not size then errors.argument('%s: count (elements) or size (bytes) is missing', what) end
    return type_name, element, handle.whole(size, what, 'size')
end

-- Creates through `create`, after making room.
function M.create(device, size, create, ...)
    press(device, size)
    mare.create(create, device.handle, ...)
end

-- d:host{ type = 'float', count = n }: h.data is a pointer to the type.
function M.host(device, options)
    local what = handle.title('host memory', options)
    errors.fields(what, options,
                  { type = mare.types, count = 'number', size = 'number', label = 'string' })
    local type_name, element, size = M.shape(what, options)
    local label = options.label or 'host memory'
    M.create(device, size, C.mare_host_create, size, label, out)
    local self = class.wrap(out, {
        label = label, type = type_name, size = size, count = size / element, device = device,
    })
    self.data = ffi.cast(mare.ctypes[type_name] .. ' *', C.mare_host_data(self.handle))
    return self
end

-- Whether `data` is pinned memory of this device: to free it waits for all that the device does.
function M.is_pinned(data, device)
    return class.is(data) and data.device == device
end

-- What keeps `data` for work that is done again and again: of pinned memory a reference of its own,
-- which outlives its object's release.
function M.hold(data)
    if not class.is(data) then return data end
    C.mare_host_retain(data.handle)
    return ffi.gc(ffi.new('mare_host *', data.handle), C.mare_host_release)
end

-- "float" of a float[10] or a const float *, "float *" of a float *[10], in LuaJIT's own spelling;
-- and whether it is an array.
local function element_name(ctype)
    local text = tostring(ctype):gsub('%f[%w_]const%f[^%w_] ?', ''):match '^ctype<(.*)>$'
    local of_array = text:match '^([^%(]-)%s*%[[%[%]%d%?]*$'
    return of_array or text:match '^(.-)%s*%*$', of_array ~= nil
end

local spelling, is_number = {}, {}
for name, ctype in pairs(mare.ctypes) do
    spelling[name] = (element_name(ffi.typeof(ctype .. ' *')))
    is_number[spelling[name]] = true
end
local untyped = { ['void'] = true, ['char'] = true, ['unsigned char'] = true }

-- { element name, whether its size is known } of each C type seen, by the number that LuaJIT gives
-- it: spelling a type out takes a microsecond.
local seen = {}
local function describe(cdata)
    local id = tonumber(ffi.typeof(cdata))
    local known = seen[id]
    if not known then
        known = {}
        known.name, known.is_array = element_name(ffi.typeof(cdata))
        seen[id] = known
    end
    return known
end

local function check_type(what, cdata, type_name)
    local given = describe(cdata).name
    if not given then
        errors.argument('%s: an array or a pointer is wanted, not %s', what, tostring(cdata))
    end
    if type_name ~= 'bytes' and given ~= spelling[type_name] and not untyped[given] then
        errors.argument('%s: the elements are %s, the data are %s', what, type_name, given)
    end
end

-- Memory of the program that embeds Mare: where it is, and how many bytes.
local function lent(what, data, type_name)
    local address, size, element = host.array(data)
    if type_name ~= 'bytes' and element ~= 'bytes' and element ~= type_name then
        errors.argument('%s: the elements are %s, the data are %s', what, type_name, element)
    end
    return ffi.cast('char *', address), size
end

-- Whether what M.pointer takes is such memory, which nobody but its owner can keep.
function M.is_lent(data)
    return type(data) == 'userdata'
end

-- The pointer behind host memory or cdata, and its bytes where they are known (a bare pointer does
-- not tell).
function M.pointer(what, data, type_name)
    if class.is(data) then
        class.handle(data, what)        -- not after its release
        if data.type ~= type_name then check_type(what, data.data, type_name) end
        return data.data, data.size
    end
    if type(data) == 'userdata' and host.array and host.array(data) then
        return lent(what, data, type_name)
    end
    if type(data) ~= 'cdata' then
        errors.argument('%s: an array, cdata or host memory is wanted, not %s', what, type(data))
    end
    check_type(what, data, type_name)
    return data, describe(data).is_array and ffi.sizeof(data) or nil
end

-- Type and number of the elements of a C array of numbers; nil for a pointer, which does not tell.
function M.elements(data)
    local known = describe(data)
    if not (known.is_array and is_number[known.name]) then return nil end
    return known.name, ffi.sizeof(data) / ffi.sizeof(known.name)
end

local arrays = {}
for name, ctype in pairs(mare.ctypes) do arrays[name] = ffi.typeof(ctype .. '[?]') end

function M.array(type_name, count)
    return arrays[type_name](count)
end

-- A C array of the numbers of a Lua array. An integer type takes whole numbers of its range only.
function M.from_table(what, values, type_name)
    local count = #values
    local array = arrays[type_name](count)
    local exact = type_name ~= 'float' and type_name ~= 'double'
    for i = 1, count do
        local value = values[i]
        if type(value) ~= 'number' and type(value) ~= 'cdata' then
            errors.argument('%s: element %d is %s, not a number', what, i, type(value))
        end
        array[i - 1] = value
        if exact and array[i - 1] ~= value then
            errors.argument('%s: element %d: %s does not fit %s', what, i, tostring(value),
                            type_name)
        end
    end
    return array
end

return M
