-- message.lua - what ranks send each other: a header that tells what follows, and text or numbers.
-- A parcel is a message on its way: { kind, type, count, bytes, data }.

local ffi = require 'ffi'
local buffer = require 'bindings.buffer'
local errors = require 'bindings.errors'
local mare = require 'bindings.ffi'
local memory = require 'bindings.memory'

local M = {}

local header_of = ffi.typeof [[struct {
    uint32_t mark, call, kind, type, from, unused; uint64_t count, bytes;
}]]
local mark = 0x4d724d31         -- of every header
local TEXT, NUMBERS, BOX = 1, 2, 3

M.header_bytes = ffi.sizeof(header_of)

-- ---- out ----

function M.of_text(text)
    return { kind = TEXT, type = 0, count = #text, bytes = #text,
        data = ffi.cast('const char *', text), keep = text }
end

-- Type and number of the elements of what holds numbers; nil if it does not tell.
local function extent(what, data)
    if memory.is_host(data) or buffer.is(data) then return data.type, data.count end
    if type(data) ~= 'cdata' then return nil end
    local type_name, count = memory.elements(data)
    if type_name then return type_name, count end
    errors.argument('%s: an array whose length is known is wanted, not %s', what, tostring(data))
end

-- Whether this holds numbers: a C array, a host array, host memory, a buffer.
function M.is_array(data)
    return type(data) == 'cdata' and not tonumber(data) or memory.is_host(data) or buffer.is(data)
end

-- Of an array; a buffer is downloaded first.
function M.of_array(what, data)
    local type_name, count = extent(what, data)
    local host = buffer.is(data) and data:download() or data
    local pointer = memory.pointer(what, host, type_name)
    return { kind = NUMBERS, type = mare.types[type_name], count = count, data = pointer,
        bytes = count * ffi.sizeof(mare.ctypes[type_name]), keep = host }
end

-- Of an array with axes: its sizes go before its elements, which `data` holds.
function M.of_box(what, data, sizes)
    local flat, head = M.of_array(what, data), 8 * (1 + #sizes)
    local all = ffi.new('char[?]', head + flat.bytes)
    local numbers = ffi.cast('uint64_t *', all)
    numbers[0] = #sizes
    for k, size in ipairs(sizes) do numbers[k] = size end
    ffi.copy(all + head, flat.data, flat.bytes)
    return { kind = BOX, type = flat.type, count = flat.count, bytes = head + flat.bytes,
        data = all, keep = all }
end

-- A parcel of its own memory: what was sent may change.
function M.copy(parcel)
    local data = ffi.new('char[?]', math.max(1, parcel.bytes))
    ffi.copy(data, parcel.data, parcel.bytes)
    return { kind = parcel.kind, type = parcel.type, count = parcel.count, bytes = parcel.bytes,
        data = data, keep = data }
end

-- call: the number of the call that sends; from: the rank.
function M.header(parcel, call, from)
    return header_of(mark, call, parcel.kind, parcel.type, from, 0, parcel.count, parcel.bytes)
end

-- ---- in ----

function M.empty_header()
    return header_of()
end

-- The parcel that a header announces, with memory for its data; nil if this is no header.
function M.expect(header)
    if header.mark ~= mark then return nil end
    local bytes = tonumber(header.bytes)
    return { kind = header.kind, type = header.type, count = tonumber(header.count),
        bytes = bytes, data = ffi.new('char[?]', math.max(1, bytes)) }
end

function M.is_text(parcel)
    return parcel.kind == TEXT
end

function M.is_box(parcel)
    return parcel.kind == BOX
end

-- The sizes of a box, and the parcel of its elements.
function M.opened(parcel)
    local numbers, sizes = ffi.cast('uint64_t *', parcel.data), {}
    for k = 1, tonumber(numbers[0]) do sizes[k] = tonumber(numbers[k]) end
    local head = 8 * (1 + #sizes)
    return sizes, { kind = NUMBERS, type = parcel.type, count = parcel.count,
        bytes = parcel.bytes - head, data = ffi.cast('char *', parcel.data) + head,
        keep = parcel.data }
end

function M.text(parcel)
    return ffi.string(parcel.data, parcel.bytes)
end

function M.type_name(parcel)
    return mare.type_names[parcel.type]
end

-- What the parcel holds, in words.
function M.describe(parcel)
    if M.is_text(parcel) then return 'a value' end
    return ('%d of %s'):format(parcel.count, M.type_name(parcel))
end

-- The numbers as a new host array.
function M.array(parcel)
    local found, data = memory.frozen(M.type_name(parcel), parcel.count, 'received')
    ffi.copy(data, parcel.data, parcel.bytes)
    return found
end

-- The numbers as a C array of their type, without a copy.
function M.numbers(parcel)
    return ffi.cast(mare.ctypes[M.type_name(parcel)] .. ' *', parcel.data)
end

-- Refuses a place where numbers cannot be put.
function M.check_place(what, place)
    if not M.is_array(place) then
        errors.argument('%s: into: an array, host memory or a buffer is wanted, not %s', what,
            type(place))
    end
    memory.check_writable(what .. ': into', place)
    extent(what .. ': into', place)
end

-- Puts the numbers into a place of the same type and number of elements.
function M.put(what, parcel, place, from)
    local type_name, count = extent(what, place)
    if parcel.kind ~= NUMBERS or parcel.type ~= mare.types[type_name] or parcel.count ~= count then
        errors.argument('%s: rank %d sends %s, but there is room for exactly %d of %s', what, from,
            M.describe(parcel), count, type_name)
    end
    if buffer.is(place) then
        place:upload(M.numbers(parcel), { count = count })
    else
        ffi.copy(memory.pointer(what, place, type_name), parcel.data, parcel.bytes)
    end
end

return M
