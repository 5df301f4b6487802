-- memory.lua - pinned host memory, and the host side of transfers: what may be handed over as
-- data of an element type.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local half = require 'bindings.half'
local handle = require 'bindings.handle'
local home = require 'bindings.home'
local host_array = require 'bindings.host_array'

local C = mare.C
local class = handle.class('host memory', 'mare_host', C.mare_host_release)
local M = { is_host = class.is, methods = class.methods }

-- Garbage-collection debt of a device: the bytes that were made there and not released by hand
-- since the last collection. Lua's collector sees a few hundred bytes where an object holds
-- gigabytes of a device, so it is run when the debt would exceed the credit that follows.
--
-- With what is in use, garbage may take 7/8 of the memory, and by itself 7/16: both a bit less
-- than core keeps for the next buffers, of a limit that the user set all.
local most = 2^33
local share = (os.getenv 'MARE_MEMORY_LIMIT' or '') ~= '' and 7 / 8 or 7 / 16

-- A CPU wants the next buffer in its caches: temporaries of 64 KiB to 16 MiB took 1.2 to 1.5
-- times as long where garbage had 1 GiB as where it has 16 MiB. A collection looks at all of
-- Lua's heap, so the credit is at least 32 times that.
local nearby, heaps = 2^24, 32

local function credit(device, in_use)
    local memory = device.info.memory > 0 and device.info.memory or 2^31
    local bytes = math.max(memory / 16, math.min(share * memory, 7 / 8 * memory - in_use, most))
    if device.info.kind ~= 'cpu' then return bytes end
    return math.min(bytes, math.max(nearby, heaps * 1024 * collectgarbage 'count'))
end

-- To make a buffer takes OpenCL's drivers of GPUs longer than two launches, and none of CUDA's,
-- where small ones are parts of others. So where new ones are made there, and there were this many
-- since the last collection, garbage is looked for: at every 64th, and less often in a large heap.
local crowd, rarely = 4096, 64

local function is_crowded(device)
    device.made = device.made + 1
    if device.made % rarely ~= 0 then return false end
    local in_use, idle = device:pool()
    local held = device.held
    device.held = in_use + idle
    if in_use + idle <= held then return false end
    return device.made >= math.max(crowd, collectgarbage 'count' / 4)
end

local function begin(device)
    device.debt, device.credit = 0, credit(device, 0)
    device.made, device.held = 0, 0
    device.is_slow = device.info.kind == 'gpu' and device.name:find '^opencl' ~= nil
end

-- Collects before the debt of the device would grow beyond its credit.
function M.borrow(device, size)
    if not device.credit then begin(device) end
    if device.debt + size > device.credit or device.is_slow and is_crowded(device) then
        collectgarbage()
        device.debt, device.credit = 0, credit(device, (device:pool()))
        device.made = 0
    end
    device.debt = device.debt + size
end

-- Objects of `counted` pay their debt back when they are released, unless the memory is
-- another's.
function M.count_releases(counted)
    local release = counted.methods.release
    -- Gives the memory back. Work that is queued on it still completes.
    function counted.methods:release()
        if not self.is_borrowed then
            self.device.debt = math.max(0, self.device.debt - self.size)
        end
        release(self)
    end
end
M.count_releases(class)

local release = class.methods.release

-- Waits until other devices than its own are done with pinned memory. anchors.lua puts its own
-- in place of this, which it could not if this file required it.
function M.settle() end

-- Gives the memory back: with it `data` goes, and has no elements any more.
function class.methods:release()
    M.settle(self)
    host_array.close(self.data)
    self.data, self.address = nil, nil
    release(self)
end

-- A pointer to the first element, for C functions: without checks, and valid until the release.
function class.methods:pointer()
    return self.address
end

-- Element type, its bytes and the size wanted, from { type = 'float', count = n } or { size =
-- bytes }.
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
    M.borrow(device, size)
    mare.create(create, device.handle, ...)
end

local host_fields = { type = mare.types, count = 'number', size = 'number', label = 'string',
    managed = 'boolean' }

-- d:host { type = 'float', count = n }: memory that the device reads and writes directly.
-- h.data[0] to h.data[n - 1] are its elements, h:pointer() is a pointer without checks, h:buffer()
-- a buffer for kernels. managed = true: its pages move to where they are used, to the host or to
-- the device; MARE_ERROR_UNAVAILABLE where the vendor has none.
function M.host(device, options)
    local what = handle.title('host memory', options)
    errors.fields(what, options, host_fields)
    local type_name, element, size = M.shape(what, options)
    local label = options.label or 'host memory'
    local owner = class.own()
    M.create(device, size, options.managed and C.mare_host_create_managed or C.mare_host_create,
        size, label, owner)
    local self = class.wrap(owner, {
        label = label, type = type_name, size = size, count = size / element, device = device,
    })
    self.address = ffi.cast(mare.ctypes[type_name] .. ' *', C.mare_host_data(self.handle))
    self.data = host_array.over(self.address, self.count, type_name, mare.ctypes[type_name],
        label, owner)
    return self
end

-- Whether `data` is pinned memory of this device: to free it waits for all that the device does.
function M.is_pinned(data, device)
    return class.is(data) and data.device == device
end

-- What keeps `data` for work that is done again and again: of pinned memory a reference of its
-- own, which outlives its object's release.
function M.hold(data)
    if not class.is(data) then return data end
    C.mare_host_retain(data.handle)
    return ffi.gc(ffi.new('mare_host *', data.handle), C.mare_host_release)
end

-- "float" of a float[10] or a const float *, "float *" of a float *[10], in LuaJIT's own
-- spelling; and whether it is an array.
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

-- { element name, whether its size is known } of each C type seen, by the number that LuaJIT
-- gives it: spelling a type out takes a microsecond.
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
    local address, size, element = home.array(data)
    if type_name ~= 'bytes' and element ~= 'bytes' and element ~= type_name then
        errors.argument('%s: the elements are %s, the data are %s', what, type_name, element)
    end
    return ffi.cast('char *', address), size
end

-- Whether what M.pointer takes is such memory, which nobody but its owner can keep.
function M.is_lent(data)
    return type(data) == 'userdata'
end

-- The pointer behind host memory or cdata, and its bytes where they are known (a bare pointer
-- does not tell).
function M.pointer(what, data, type_name)
    if class.is(data) then
        class.handle(data, what)        -- not after its release
        local pointer = data:pointer()
        if data.type ~= type_name then check_type(what, pointer, type_name) end
        return pointer, data.size
    end
    if host_array.is(data) then
        local numbers = data:pointer()
        check_type(what, numbers, type_name)
        return numbers, data.count * tonumber(C.mare_type_size(mare.types[data.type]))
    end
    if type(data) == 'userdata' and home.array and home.array(data) then
        return lent(what, data, type_name)
    end
    if type(data) ~= 'cdata' then
        errors.argument('%s: an array, cdata or host memory is wanted, not %s', what, type(data))
    end
    check_type(what, data, type_name)
    return data, describe(data).is_array and ffi.sizeof(data) or nil
end

-- Type and number of the elements of a C array of numbers, of a host array or of memory of the
-- program that embeds Mare; nil for a pointer, which does not tell.
function M.elements(data)
    if host_array.is(data) then return data.type, data.count end
    if type(data) == 'userdata' then
        local _, size, element = home.array(data)
        if element then return element, size / tonumber(C.mare_type_size(mare.types[element])) end
        return nil
    end
    local known = describe(data)
    if not (known.is_array and is_number[known.name]) then return nil end
    return known.name, ffi.sizeof(data) / ffi.sizeof(known.name)
end

local arrays = {}
for name, ctype in pairs(mare.ctypes) do arrays[name] = ffi.typeof(ctype .. '[?]') end

function M.array(type_name, count)
    return arrays[type_name](count)
end

-- Copies the bytes of a text into a C array, which is no smaller.
function M.put(data, text) ffi.copy(data, text, #text) end

-- A host array and the C array in it, which is to be filled; label: what messages call it.
function M.frozen(type_name, count, label)
    local data = M.array(type_name, count)
    return host_array.wrap(data, count, type_name, mare.ctypes[type_name], label), data
end

-- A frozen host array of the first `count` elements of pinned memory, which shows what is written
-- there, until host_array.close().
function M.view(host, count, label)
    return host_array.view(host:pointer(), count, host.type, mare.ctypes[host.type], label, host)
end

-- Refuses to write into a host array.
function M.check_writable(what, data)
    if host_array.is_frozen(data) then
        errors.argument('%s: %s is frozen', what, tostring(data))
    end
    local name = type(data) == 'cdata' and tostring(ffi.typeof(data))
    if name and name:find '^ctype<const ' then
        errors.argument('%s: nothing can be written into a C array of type %s', what,
            name:match '<(.*)>')
    end
end

local is_rounded = { float = true, double = true, half = true, complex_float = true,
                     complex_double = true }

-- A C array of the numbers of a Lua array. An integer type takes whole numbers of its range only,
-- bool only true and false, a half the nearest to a number.
function M.from_table(what, values, type_name)
    local count = #values
    if table.maxn(values) > count then
        errors.argument('%s: element %d is nil, not a number', what, count + 1)
    end
    local array = arrays[type_name](count)
    for i = 1, count do
        local value = values[i]
        local given = type(value)
        if type_name == 'bool' then
            if given ~= 'boolean' then
                errors.argument('%s: element %d is %s, not true or false', what, i, given)
            end
        elseif given ~= 'number' and given ~= 'cdata' then
            errors.argument('%s: element %d is %s, not a number', what, i, given)
        end
        array[i - 1] = type_name == 'half' and half.of(value) or value
        local stored = array[i - 1]
        if given == 'number' then stored = tonumber(stored) end     -- 64 bits compare as such else
        if not is_rounded[type_name] and stored ~= value then
            errors.argument('%s: element %d: %s does not fit %s', what, i, tostring(value),
                            type_name)
        end
    end
    return array
end

return M
