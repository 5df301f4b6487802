-- array.lua - what the arrays of scripts need of C: handles, the memory behind them, and launches
-- whose arguments are set by number.
--
-- A handle is cdata, because Lua 5.1 does not ask a table's metatable for `#`. It holds the number
-- of a slot, which holds what it stands for. After each cycle of the collector the slots of dead
-- handles become free again and `collected` is told, which counts references: so memory of the
-- device goes back with the last handle that leads to it, and not one cycle after the other. A
-- finalizer of each handle would do the same in ten times the time.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local device_of = require 'bindings.device'
local anchors = require 'bindings.anchors'
local errors = require 'bindings.errors'
local half = require 'bindings.half'
local home = require 'bindings.home'
local kernel = require 'bindings.kernel'
local memory = require 'bindings.memory'
local signal = require 'bindings.signal'

local C, check = mare.C, mare.check
local M = {}

-- ---- handles ----

local slots, free = {}, {}
local alive = setmetatable({}, { __mode = 'v' })    -- the handle of each slot
local slot_count, free_count = 0, 0
local Handle, collected

local is_due = false        -- whether a cycle has ended since the last search for dead handles

-- Frees the slots of dead handles.
local function reap()
    is_due = false
    for slot = 1, slot_count do
        local value = slots[slot]
        if value and alive[slot] == nil then
            slots[slot] = false
            free_count = free_count + 1
            free[free_count] = slot
            collected(value)
        end
    end
end

-- Notes the end of each cycle. No more: a finalizer runs between any two steps of other code, such
-- as between those that take a free slot or count a reference. The dead are looked for where the
-- next handle is made, and behind collectgarbage().
local function arm()
    getmetatable(newproxy(true)).__gc = function()
        arm()
        is_due = true
    end
end

local collect_garbage = collectgarbage

-- As Lua's own; what dead arrays held has been given back when it returns.
function _G.collectgarbage(option, value)
    local result = collect_garbage(option, value)
    if is_due then reap() end
    return result
end

-- Makes the type of all handles. meta: its metamethods; on_collected(value): called when the handle
-- of this value is dead
function M.define(meta, on_collected)
    Handle, collected = ffi.metatype('struct { const int32_t slot; }', meta), on_collected
    M.meta = meta
    arm()
    kernel.take_arrays(M.is)
end

-- Handles that are made before the next collection. The collector alone would let garbage grow for
-- ever: what a dead handle leads to counts as alive in the cycle that finds the handle dead, and
-- a cycle begins when the heap has doubled. The limit grows with the heap, all of which a
-- collection goes through, and is low while that is small: what 2048 expressions leave is still in
-- the caches of a core when it is used again, which halves the time of one.
local least_limit = 2048
local limit = least_limit

local function collect()
    collectgarbage()
    limit = math.max(least_limit, 2 * (slot_count - free_count), collectgarbage 'count' / 3)
end

local at_once = 256         -- slots and cells that are made together, so that there always are some

-- Makes free slots where there are none.
local function add_slots()
    if slot_count >= limit then collect() end
    if free_count > 0 then return end
    for k = at_once, 1, -1 do
        free[k], slots[slot_count + k] = slot_count + k, false
    end
    free_count, slot_count = at_once, slot_count + at_once
end

-- Returns a new handle of a value, which is not nil.
function M.new(value)
    if is_due then reap() end
    if free_count == 0 then add_slots() end
    local slot = free[free_count]
    free_count = free_count - 1
    local handle = Handle(slot)
    alive[slot], slots[slot] = handle, value
    return handle
end

-- There are none before the room of arrays has defined what they are.
function M.is(value)
    return Handle ~= nil and ffi.istype(Handle, value)
end

-- Returns the metatable of any value, of handles too, which LuaJIT does not tell.
function M.metatable(value)
    return M.is(value) and M.meta or debug.getmetatable(value)
end

function M.value(handle)
    return slots[handle.slot]
end

function M.replace(handle, value)
    slots[handle.slot] = value
end

-- The values of all live handles, as a Lua array.
function M.values()
    local list = {}
    for slot = 1, slot_count do
        if slots[slot] then list[#list + 1] = slots[slot] end
    end
    return list
end

-- ---- memory ----

-- A cell owns one reference to a buffer. Cells are used again, and lie many in one block, since to
-- give a block its finalizer takes longer than all else. Blocks live as long as the state. When it
-- closes, they are finalized before or after the handles that would free cells.
ffi.cdef(('typedef struct mare_cells { struct { mare_buffer *buffer; } of[%d]; } mare_cells;')
    :format(at_once))
local Cells = ffi.metatype('mare_cells', {
    __gc = function(self)
        for k = 0, at_once - 1 do
            C.mare_buffer_release(self.of[k].buffer)
            self.of[k].buffer = nil
        end
    end,
})
local blocks = {}

-- A cell for itself, which gives its memory back when it is collected.
local Lone = ffi.metatype('struct { mare_buffer *buffer; }', {
    __gc = function(self)
        C.mare_buffer_release(self.buffer)
        self.buffer = nil
    end,
})
local pointer = ffi.typeof 'mare_buffer **'
local spare, spare_count = {}, 0
local desc = ffi.new('mare_buffer_desc', { label = 'array' })

local function add_cells()
    local block = Cells()
    blocks[#blocks + 1] = block
    for k = 1, at_once do spare[k] = block.of[k - 1] end
    spare_count = at_once
end

local function cell()
    if spare_count == 0 then add_cells() end
    local found = spare[spare_count]
    spare[spare_count] = nil
    spare_count = spare_count - 1
    return found
end

-- Returns a cell with new memory of `bytes` bytes, for elements of a type, until it is freed.
function M.allocate(device, type_name, bytes)
    memory.borrow(device, bytes)
    local made = cell()
    desc.type, desc.size = mare.types[type_name], bytes
    local status = C.mare_buffer_create(device.handle, desc, ffi.cast(pointer, made))
    if status ~= 0 then
        mare.create(C.mare_buffer_create, device.handle, desc, ffi.cast(pointer, made))
    end
    return made
end

-- Returns a cell with memory that goes back when the cell is collected.
function M.lone(device, type_name, bytes)
    local made = Lone()
    desc.type, desc.size = mare.types[type_name], bytes
    mare.create(C.mare_buffer_create, device.handle, desc, ffi.cast(pointer, made))
    return made
end

-- Returns a cell with the memory of a buffer object.
function M.share(buffer)
    local made = cell()
    C.mare_buffer_retain(buffer.handle)
    made.buffer = buffer.handle
    return made
end

-- Gives the memory back, and the cell for the next. bytes: that it counts for, 0 of others' memory
function M.free(device, given, bytes)
    C.mare_buffer_release(given.buffer)
    given.buffer = nil
    spare_count = spare_count + 1
    spare[spare_count] = given
    if bytes > 0 then device.debt = math.max(0, (device.debt or 0) - bytes) end
end

-- Says that memory is another's from now on, which does not count.
function M.lend(device, bytes)
    device.debt = math.max(0, (device.debt or 0) - bytes)
end

-- The buffer object of a cell's memory.
function M.buffer(given)
    return require('bindings.buffer').adopt(given.buffer, device_of.adopt)
end

-- Element number `at`, in elements, and on, as a C array: a new one if `data` is nil.
function M.download(given, type_name, at, count, data)
    data = data or memory.array(type_name, math.max(count, 1))
    local size = tonumber(C.mare_type_size(mare.types[type_name]))
    if count > 0 then
        check(C.mare_buffer_download(given.buffer, at * size, data, count * size, nil))
    end
    return data
end

-- Places for one element of each type, by its name: { data, size, read }, made when first used.
local places = setmetatable({}, { __index = function(list, name)
    local place = { data = memory.array(name, 1), read = M.reader(name),
        size = tonumber(C.mare_type_size(mare.types[name])) }
    list[name] = place
    return place
end })

-- Element number `at` as a value of Lua: see M.reader.
function M.element(given, type_name, at)
    local place = places[type_name]
    local status = C.mare_buffer_download(given.buffer, at * place.size, place.data, place.size,
        nil)
    if status ~= 0 then check(status) end
    return place.read(place.data[0])
end

-- ---- memory of the host that kernels write ----

local Host = ffi.metatype('struct { mare_host *host; }', {
    __gc = function(self) C.mare_host_release(self.host) end,
})

-- Makes pinned memory of a device for four words, and the cell that shows it to kernels: the first
-- and the second half of an element, each before the number of the launch that wrote it, so that
-- neither is taken for that of another launch.
local function make_landing(device)
    local made = { host = Host(), cell = Lone(), number = 0 }
    mare.create(C.mare_host_create, device.handle, 16, 'landing',
        ffi.cast('mare_host **', made.host))
    made.words = ffi.cast('uint32_t *', C.mare_host_data(made.host.host))
    ffi.fill(made.words, 16)
    desc.type, desc.size = mare.types.uint32, 16
    mare.create(C.mare_buffer_adopt, device.handle,
        ffi.cast('uint64_t', ffi.cast('uintptr_t', made.words)), desc, ffi.cast(pointer, made.cell))
    return made
end

-- Returns { cell: memory of the host that kernels of a CUDA device write, number: of the launch
-- that wrote there last }.
function M.landing(device)
    local own = device.landing or make_landing(device)
    device.landing = own
    return own
end

local patience = 20000      -- looks for an element before the host waits for the stream, some 50 us
local seen, halves = ffi.new 'uint32_t[4]', ffi.new 'uint32_t[2]'
local size_of = ffi.sizeof(seen)

-- Whether the element of the last launch is there soon. To see it takes less time than to be told
-- that the stream has ended. LuaJIT reads what it copies anew each time.
local function lands_soon(own)
    local words, number = own.words, own.number
    for _ = 1, patience do
        ffi.copy(seen, words, size_of)
        if seen[1] == number and seen[3] == number then return true end
    end
    return false
end

-- The element that a kernel has put there, as a value of Lua: see M.reader. Waits for it.
function M.landed(device, type_name)
    local own, place = device.landing, places[type_name]
    if not lands_soon(own) then
        local status = C.mare_stream_wait(device.stream.handle)
        if status ~= 0 then check(status) end
        ffi.copy(seen, own.words, size_of)
    end
    halves[0], halves[1] = seen[0], seen[2]
    ffi.copy(place.data, halves, place.size)
    return place.read(place.data[0])
end

function M.upload(given, type_name, data, count)
    local size = tonumber(C.mare_type_size(mare.types[type_name]))
    if count > 0 then check(C.mare_buffer_upload(given.buffer, 0, data, count * size, nil)) end
end

local zero = ffi.new 'uint32_t[1]'

-- Sets `bytes` bytes, a multiple of 4, of a cell's memory to 0.
function M.clear(given, bytes)
    check(C.mare_buffer_fill(given.buffer, 0, bytes, zero, 4, nil))
end

local memory_c, offset_c = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'

-- Whether a cell's memory begins at a multiple of `bytes` bytes; views of buffers may not.
function M.is_aligned(given, bytes)
    check(C.mare_buffer_native(given.buffer, memory_c, offset_c))
    return (memory_c[0] + offset_c[0]) % bytes == 0
end

-- Copies `bytes` bytes from one cell's memory to another's, from their beginnings.
function M.copy(to, from, bytes)
    check(C.mare_buffer_copy(to.buffer, 0, from.buffer, 0, bytes, nil))
end

-- What an element of a C array is to Lua: a number, a truth value, LuaJIT's complex number.
local readers = {
    half = function(value) return C.mare_half_value(value) end,
    bool = function(value) return value end,
    complex_float = function(value) return value end,
    complex_double = function(value) return value end,
}
function M.reader(type_name)
    return readers[type_name] or tonumber
end

-- ---- launches ----

local global, group = ffi.new 'uint32_t[3]', ffi.new 'uint32_t[3]'

-- Sets argument `index`, from 0, of a launch's handle to a cell's memory.
function M.set_memory(launch, index, given)
    local status = C.mare_launch_set_buffer(launch, index, given.buffer)
    if status ~= 0 then check(status) end
end

function M.set_number(launch, index, value)
    local status = C.mare_launch_set_real(launch, index, value)
    if status ~= 0 then check(status) end
end

-- Sets the work-items along x and y, and those of a group along x and y.
function M.set_shape(launch, x, y, group_x, group_y)
    global[0], global[1], global[2] = x, y, 1
    group[0], group[1], group[2] = group_x, group_y, 1
    local status = C.mare_launch_set_shape(launch, global, group)
    if status ~= 0 then check(status) end
end

-- Whether what is queued on the default stream of a device is recorded. A plan holds the launches
-- themselves, so that it wants launches of its own.
function M.is_recording(device)
    return anchors.is_recording() and not anchors.mark(device.stream)
end

-- Queues it on the default stream of its device.
function M.run(launch)
    local status = C.mare_launch_run(launch, nil)
    if status ~= 0 then check(status) end
    if signal.came[0] ~= 0 then signal.heed() end
end

-- ---- memory of null devices ----

local place, offset = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'
local of_type = {}
for name, ctype in pairs(mare.ctypes) do of_type[name] = ffi.typeof(ctype .. ' *') end

-- Returns the C array that is the memory of a cell on a null device.
function M.address(given, type_name)
    check(C.mare_buffer_native(given.buffer, place, offset))
    return ffi.cast(of_type[type_name], place[0] + offset[0])
end

local int64, uint64, int32, uint32 = ffi.typeof 'int64_t', ffi.typeof 'uint64_t',
    ffi.typeof 'int32_t', ffi.typeof 'uint32_t'
local function rounds_to(ctype)
    local one = ffi.new(ctype .. '[1]')
    return function(value)
        one[0] = value
        return tonumber(one[0])
    end
end

-- The same of whole numbers, the low bits of which it keeps: LuaJIT says what those of 64 bits
-- become, but not what numbers of Lua do that a type does not hold.
local function cuts_to(ctype)
    local one = ffi.new(ctype .. '[1]')
    return function(value)
        one[0] = ffi.cast(int64, value)
        return tonumber(one[0])
    end
end

-- Returns function(real): it as a whole number, the nearest one if it is beyond `least` or `most`,
-- which stands for `stop` and more; NaN as 0.
local function saturates(least, most, stop, convert)
    return function(value)
        if value >= stop then return most end
        if value <= tonumber(least) then return least end
        return convert(value == value and value or 0)
    end
end
local function truncated(value) return value < 0 and math.ceil(value) or math.floor(value) end

-- The words of functions that stand for kernels: how numbers become those of a type.
M.on_host = {
    -- Whole numbers of 32 bits have products of 64.
    product = function(a, b) return ffi.cast(int64, a) * ffi.cast(int64, b) end,
    choose = function(condition, yes, no)
        if condition then return yes end
        return no
    end,
    half = function(value) return C.mare_half_value(value) end,
    half_of = half.of,
    to_half = function(value) return C.mare_half_value(half.of(value)) end,
    to_complex = ffi.typeof 'complex',
    to_bool = function(value) return value ~= 0 end,
    to_int8 = cuts_to 'int8_t', to_uint8 = cuts_to 'uint8_t',
    to_int16 = cuts_to 'int16_t', to_uint16 = cuts_to 'uint16_t',
    to_int32 = function(value) return tonumber(ffi.cast(int32, ffi.cast(int64, value))) end,
    to_uint32 = function(value) return tonumber(ffi.cast(uint32, ffi.cast(int64, value))) end,
    to_int64 = function(value) return ffi.cast(int64, value) end,
    to_uint64 = function(value)
        local is_below = type(value) == 'number' and value < 0
        return ffi.cast(uint64, is_below and ffi.cast(int64, value) or value)
    end,
    to_float = rounds_to 'float',
    to_double = tonumber,
    saturated_int32 = saturates(-2 ^ 31, 2 ^ 31 - 1, 2 ^ 31, truncated),
    saturated_uint32 = saturates(0, 2 ^ 32 - 1, 2 ^ 32, truncated),
    saturated_int64 = saturates(-0x7fffffffffffffffLL - 1, 0x7fffffffffffffffLL, 2 ^ 63,
        function(value) return ffi.cast(int64, value) end),
    saturated_uint64 = saturates(0ULL, 0xffffffffffffffffULL, 2 ^ 64,
        function(value) return ffi.cast(uint64, value) end),
}

-- ---- data of the host ----

local spelled = {}          -- Mare's name of a type by LuaJIT's spelling of it
for name, ctype in pairs(mare.ctypes) do
    local spelling = tostring(ffi.typeof(ctype .. '[1]')):match '^ctype<(.-)%s*%['
    if name ~= 'bytes' then spelled[spelling] = name end
end

-- The type and the number of elements of cdata, host memory or a host array.
function M.elements(data, what)
    if memory.is_host(data) then return data.type, data.count, data:pointer() end
    if type(data) ~= 'cdata' and not (type(data) == 'userdata' and home.array) then
        errors.argument('%s: cdata or host memory is wanted, not %s', what, type(data))
    end
    local type_name, count = memory.elements(data)
    type_name = spelled[type_name] or type_name
    if not type_name then
        errors.argument('%s: %s does not tell how many numbers it has', what, tostring(data))
    end
    return type_name, count, (memory.pointer(what, data, type_name))
end

M.from_table = memory.from_table
M.new_array = memory.array
M.frozen = memory.frozen
M.is_host = memory.is_host
M.is_buffer = require('bindings.buffer').is

return M
