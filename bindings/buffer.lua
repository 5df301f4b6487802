-- buffer.lua - memory on a device, counted in elements of its type. Transfers without a stream are
-- finished when the call returns. With one they are queued, and the memory on the host is kept
-- alive (not unchanged) until the stream was waited for, where it can be: otherwise the call waits.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local memory = require 'bindings.memory'
local signal = require 'bindings.signal'
local stream = require 'bindings.stream'
local home = require 'bindings.home'

local C, check, whole = mare.C, mare.check, handle.whole
local class = handle.class('buffer', 'mare_buffer', C.mare_buffer_release)
local buffer = class.methods
local M = { handle = class.handle, is = class.is, methods = buffer }

memory.count_releases(class)

local desc = ffi.new 'mare_buffer_desc'
local region_c = ffi.new 'mare_region'
local create_fields = { type = mare.types, count = 'number', size = 'number', label = 'string' }

-- device:buffer { type = 'float', count = n, label = 'x' }, or { size = bytes }: memory
-- whose contents are undefined.
function M.create(device, options)
    local what = handle.title('buffer', options)
    errors.fields(what, options, create_fields)
    local type_name, element, size = memory.shape(what, options)
    local label = options.label or 'buffer'
    desc.size, desc.type, desc.label = size, mare.types[type_name], label
    local owner = class.own()
    memory.create(device, size, C.mare_buffer_create, desc, owner)
    return class.wrap(owner, {
        label = label, type = type_name, element = element, size = size, count = size / element,
        device = device,
    })
end

-- What the object of a buffer holds whose memory is another's.
local function borrowed(pointer, device)
    local type_name = mare.type_names[C.mare_buffer_type(pointer)]
    local element = tonumber(C.mare_type_size(C.mare_buffer_type(pointer)))
    local size = tonumber(C.mare_buffer_size(pointer))
    return { label = ffi.string(C.mare_buffer_label(pointer)), type = type_name, element = element,
        size = size, count = size / element, device = device, is_borrowed = true }
end

-- The object of a buffer that somebody else made. adopt_device: of device.lua
function M.adopt(pointer, adopt_device)
    return class.share(pointer, C.mare_buffer_retain,
        borrowed(pointer, adopt_device(C.mare_buffer_device(pointer))))
end

-- A buffer of another process, by its mare_share.
function M.open(device, share, label)
    local owner = class.own()
    mare.create(C.mare_buffer_open, device.handle, share, label, owner)
    return class.wrap(owner, borrowed(owner[0], device))
end

-- h:buffer(): all of host memory as a buffer of its device, which kernels use where it is. What
-- they have written h.data shows after device:wait() or stream:wait(). It keeps the memory.
--     local h = device:host { type = 'float', count = n }
--     kernel { y = h:buffer(), global = n }
function memory.methods:buffer()
    local owner = class.own()
    mare.create(C.mare_host_buffer, self.handle, mare.types[self.type], owner)
    return class.wrap(owner, borrowed(owner[0], self.device))
end

-- The variable of that name of a program.
function M.of_program(program, name, type_name)
    local owner = class.own()
    mare.create(C.mare_program_variable, program.handle, name, mare.types[type_name], owner)
    return class.wrap(owner, borrowed(owner[0], program.device))
end

-- A view of `count` elements from `offset` (0-based), sharing this buffer's memory.
function buffer:view(offset, count)
    offset = whole(offset, 'buffer:view: offset') * self.element
    if offset > self.size then
        errors.argument("buffer:view: offset: %d, buffer '%s' has %d elements",
                        offset / self.element, self.label, self.count)
    end
    local size = count and whole(count, 'buffer:view: count') * self.element or self.size - offset
    local owner = class.own()
    mare.create(C.mare_buffer_view, self.handle, offset, size, owner)
    return class.wrap(owner, {
        label = self.label, type = self.type, element = self.element, size = size,
        count = size / self.element, device = self.device, is_borrowed = true,
    })
end

local range_fields = { offset = 'number', count = 'number', stream = 'any' }
local download_fields = { offset = 'number', count = 'number', stream = 'any', into = 'any' }
local copy_fields = { offset = 'number', src_offset = 'number', count = 'number', stream = 'any' }
local none = {}

-- Offset and size in bytes, from options in elements.
local function span(self, what, options, count)
    local offset = whole(options.offset or 0, what, 'offset') * self.element
    local rest = math.max(self.count - offset / self.element, 0)
    count = whole(options.count or count or rest, what, 'count')
    return offset, count * self.element
end

local function check_room(what, self, available, size)
    if available and available < size then
        errors.argument("%s: buffer '%s': %d bytes of data are wanted, there are %d", what,
                        self.label, size, available)
    end
end

-- Queues a transfer whose memory may be gone when the call returns, that of a Lua array or of the
-- program that embeds Mare, and waits for it. No interrupt comes between; no recording takes it.
local function transfer_now(what, s, transfer, ...)
    if C.mare_stream_flush(s.handle) == C.MARE_ERROR_ARGUMENT then
        errors.argument('%s: %s is recording a plan, for which cdata or host memory is wanted',
                        what, tostring(s))
    end
    local held = home.hold(true)
    local status = transfer(...)
    if status == 0 then status = C.mare_stream_wait(s.handle) end
    home.hold(held)
    check(status)
    anchors.settle(s.key)
end

-- Queues a transfer on the stream object `s` of a device, without one does it now. The object of
-- the device may have been released: then it is C's alone, and the wait goes on to its end.
local function transfer(what, device, s, data, is_passing, call, ...)
    if s and (is_passing or memory.is_lent(data)) then return transfer_now(what, s, call, ...) end
    if not s and rawget(device, 'handle') then
        signal.finish(device.handle, device.stream.handle)
    end
    check(call(...))
    if s then anchors.keep(s, data) end
    if signal.came[0] ~= 0 then signal.heed() end
end

-- `src` is a Lua array, cdata or host memory; of a bare pointer as much is taken as fits, if no
-- count is given.
function buffer:upload(src, options)
    local what = 'buffer:upload'
    options = errors.fields(what, options or none, range_fields)
    local s = stream.handle(options.stream, what)
    local temporary = type(src) == 'table' and not memory.is_host(src)
    if temporary then src = memory.from_table(what, src, self.type) end
    local pointer, available = memory.pointer(what, src, self.type)
    local offset, size = span(self, what, options, available and available / self.element)
    check_room(what, self, available, size)
    transfer(what, self.device, options.stream, src, temporary, C.mare_buffer_upload, self.handle,
             offset, pointer, size, s)
end

-- Returns the data: `into` (cdata or host memory) or, without, a new host array, x[0] to
-- x[count - 1]. Queued only with `into` and a stream.
function buffer:download(options)
    local what = 'buffer:download'
    options = errors.fields(what, options or none, download_fields)
    local s = stream.handle(options.stream, what)
    local offset, size = span(self, what, options)
    local into, found = options.into, options.into
    memory.check_writable(what, into)
    if not into then found, into = memory.frozen(self.type, size / self.element, self.label) end
    local pointer, available = memory.pointer(what, into, self.type)
    check_room(what, self, available, size)
    transfer(what, self.device, options.stream, into, not options.into, C.mare_buffer_download,
             self.handle, offset, pointer, size, s)
    if not s and size > 0 then
        anchors.settle(self.device.stream.key)      -- the default stream has come this far
    end
    return found
end

-- A call touches one line of the caches, where a closure has one for each variable: after a wait
-- they come one after another. It holds both handles itself; the memory of the host is among these.
local kept = setmetatable({}, { __mode = 'k' })     -- by downloader: { stream = s, into = memory }
local is_recording = anchors.is_recording

local function keep(self)
    anchors.keep(kept[self].stream, kept[self].into)
end

local downloader = ffi.metatype([[struct {
    mare_buffer *buffer; uint64_t offset; void *host; uint64_t size; mare_stream *stream;
    bool is_pinned;
}]], {
    __call = function(self)
        local status = C.mare_buffer_download(self.buffer, self.offset, self.host, self.size,
                                              self.stream)
        if status ~= 0 then check(status) end
        if not self.is_pinned or is_recording() then keep(self) end
    end,
    __gc = function(self)
        C.mare_buffer_release(self.buffer)
        C.mare_stream_release(self.stream)
    end,
})

-- download(options) that is queued again and again, `into` and `stream` given: what does it when
-- called, so that all is checked once. It keeps the memory and the stream, as a launch its buffers.
function buffer:downloader(options)
    local what = 'buffer:downloader'
    errors.fields(what, options, download_fields)
    local into, s = options.into, options.stream
    if not (into and s) then errors.argument('%s: into and stream are wanted', what) end
    if memory.is_lent(into) then
        errors.argument('%s: into: cdata or host memory is wanted, not a lent array', what)
    end
    memory.check_writable(what, into)
    local offset, size = span(self, what, options)
    local pointer, available = memory.pointer(what, into, self.type)
    check_room(what, self, available, size)
    local on = stream.handle(s, what)
    C.mare_buffer_retain(self.handle)
    C.mare_stream_retain(on)
    local made = downloader(self.handle, offset, pointer, size, on,
                            memory.is_pinned(into, s.device))
    kept[made] = { stream = s, into = memory.hold(into) }
    return made
end

-- The elements as a Lua array, which begins at 1; options: { offset =, count = }.
function buffer:totable(options)
    return self:download(errors.fields('buffer:totable', options or none, range_fields)):totable()
end

-- Sets elements to a number: all, or { offset =, count =, stream = }.
function buffer:fill(value, options)
    local what = 'buffer:fill'
    options = errors.fields(what, options or none, range_fields)
    local offset, size = span(self, what, options)
    if value == nil then errors.argument('%s: a number is wanted', what) end
    local pattern = memory.from_table(what, { value }, self.type)
    check(C.mare_buffer_fill(self.handle, offset, size, pattern, self.element,
                             stream.handle(options.stream, what)))
end

-- Copies from `src`, a buffer of the same type; offsets and count in elements.
function buffer:copy(src, options)
    local what = 'buffer:copy'
    options = errors.fields(what, options or none, copy_fields)
    local from = class.handle(src, what)
    if src.type ~= self.type and src.type ~= 'bytes' and self.type ~= 'bytes' then
        errors.argument("%s: buffer '%s' is %s, '%s' is %s", what, src.label, src.type, self.label,
                        self.type)
    end
    local src_offset = whole(options.src_offset or 0, what, 'src_offset') * self.element
    local offset, size = span(self, what, options,
                              math.max((src.size - src_offset) / self.element, 0))
    check(C.mare_buffer_copy(self.handle, offset, from, src_offset, size,
                             stream.handle(options.stream, what)))
end

local region_fields = {
    width = 'number', height = 'number', depth = 'number',
    dst_offset = 'number', dst_pitch = 'number', dst_slice = 'number',
    src_offset = 'number', src_pitch = 'number', src_slice = 'number',
}

-- A box of rows, in bytes: see mare_region in mare.h.
local function region(what, fields)
    errors.fields(what, fields, region_fields)
    for name in pairs(region_fields) do
        region_c[name] = whole(fields[name] or 0, what, name)
    end
    return region_c
end

-- Copies a box of rows from the buffer `src`; box as in mare_region of mare.h, in bytes: width,
-- height, depth, and offset, pitch and slice of dst_ and src_.
function buffer:copy_region(src, box, s)
    local what = 'buffer:copy_region'
    check(C.mare_buffer_copy_region(self.handle, class.handle(src, what), region(what, box),
                                    stream.handle(s, what)))
end

local function box_end(box, side)
    local height, depth = math.max(box.height or 1, 1), math.max(box.depth or 1, 1)
    local pitch = box[side .. '_pitch'] or 0
    if pitch == 0 then pitch = box.width or 0 end
    local slice = box[side .. '_slice'] or 0
    if slice == 0 then slice = pitch * height end
    local offset = box[side .. '_offset'] or 0
    return offset + (depth - 1) * slice + (height - 1) * pitch + (box.width or 0)
end

-- Brings a box of host memory `src` into this buffer.
function buffer:upload_region(src, box, s)
    local what = 'buffer:upload_region'
    local r = region(what, box)
    local pointer, available = memory.pointer(what, src, self.type)
    check_room(what, self, available, box_end(box, 'src'))
    transfer(what, self.device, s, src, false, C.mare_buffer_upload_region, self.handle, pointer, r,
             stream.handle(s, what))
end

-- Brings a box of this buffer into host memory `dst`.
function buffer:download_region(dst, box, s)
    local what = 'buffer:download_region'
    memory.check_writable(what, dst)
    local r = region(what, box)
    local pointer, available = memory.pointer(what, dst, self.type)
    check_room(what, self, available, box_end(box, 'dst'))
    transfer(what, self.device, s, dst, false, C.mare_buffer_download_region, self.handle, pointer,
             r, stream.handle(s, what))
end

return M
