-- device.lua - devices and what is made on them; the entry to everything under bindings/.
--
--     local device = require 'bindings.device'
--     local d = device.open 'auto'
--     local x = d:buffer{ type = 'float', count = 1024, label = 'x' }
--     local p = d:program{ source = text, name = 'saxpy.krn' }
--     p:kernel 'saxpy':bind{ n = 1024, a = 2, x = x, y = y, global = 1024 }:run()

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local handle = require 'bindings.handle'
local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local buffer = require 'bindings.buffer'
local call = require 'bindings.call'
local signal = require 'bindings.signal'
local stream = require 'bindings.stream'
local event = require 'bindings.event'
local program = require 'bindings.program'
local peer = require 'bindings.peer'
local profile = require 'bindings.profile'
local system = require 'bindings.system'
require 'bindings.plan'      -- gives streams their :record

local C, check = mare.C, mare.check
local class = handle.class('device', 'mare_device', C.mare_device_release)
local device = class.methods
-- full_version: for people and in records; keys of caches and digests hold the version alone.
local M = { check = program.check, version = mare.version, commit = mare.commit,
            full_version = mare.version .. ', commit ' .. mare.commit }

local info_c = ffi.new 'mare_device_info'
local backend_c = ffi.new 'mare_backend_info'
local cache_c = ffi.new 'mare_cache_info'
local objects_c = ffi.typeof 'mare_object_info[?]'
local first_c, second_c = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'  -- for results
local opened = setmetatable({}, { __mode = 'k' })       -- by device: it was the how many-th
local openings = 0
local kinds = { [tonumber(C.MARE_DEVICE_GPU)] = 'gpu', [tonumber(C.MARE_DEVICE_CPU)] = 'cpu',
                [tonumber(C.MARE_DEVICE_OTHER)] = 'other' }

local text_fields = { 'name', 'model', 'vendor', 'driver', 'arch', 'uuid' }
local number_fields = { 'compute_units', 'warp_size', 'max_group_size', 'clock_mhz', 'memory',
                        'max_buffer', 'local_memory', 'max_local_memory', 'view_alignment' }
local flags = { 'has_double', 'has_int64_atomics', 'has_scopes', 'has_programmatic',
                'has_sharing', 'runs_kernels', 'keeps_programs', 'has_compiler' }

local function read_info(d)
    check(C.mare_device_query(d, info_c))
    local info = {
        kind = kinds[info_c.kind],
        max_group = { info_c.max_group[0], info_c.max_group[1], info_c.max_group[2] },
    }
    for _, field in ipairs(text_fields) do info[field] = ffi.string(info_c[field]) end
    for _, field in ipairs(number_fields) do info[field] = tonumber(info_c[field]) end
    for _, field in ipairs(flags) do info[field] = info_c[field] ~= 0 end
    return info
end

-- In the launcher nobody else uses CUDA on this thread.
if require('bindings.home').launcher then C.mare_thread_claim(1) end

local function complete(self)
    self.info = read_info(self.handle)
    self.name = self.info.name
    self.is_null = not self.info.runs_kernels
    self.stream = stream.default(self)
    openings = openings + 1
    opened[self] = openings
    profile.opened(self)
    return self
end

-- 'cuda:0', 'opencl', 'auto'; without a name MARE_DEVICE, else 'auto'.
function M.open(name)
    name = name or system.setting 'MARE_DEVICE' or 'auto'
    if type(name) ~= 'string' then
        errors.argument('device.open: a name is wanted, not %s', type(name))
    end
    local owner = class.own()
    mare.create(C.mare_device_open, name, owner)
    return complete(class.wrap(owner, {}))
end

-- The device that was opened last of those that are open under this name, else a new one: what
-- scripts and simulations make on it goes together.
function M.shared(name)
    local own, found, last = M.open(name), nil, 0
    for d, number in pairs(opened) do
        if d.name == own.name and d ~= own and number > last then found, last = d, number end
    end
    if found then own:release() end
    return found or own
end

-- The object of a device that somebody else has opened; the same one while it is in use.
function M.adopt(pointer)
    for d in pairs(opened) do
        if d.handle == pointer then return d end
    end
    return complete(class.share(pointer, C.mare_device_retain, {}))
end

local release = device.release

-- Gives the handle back. The device lives on until its buffers, programs and streams are
-- released too.
function device:release()
    profile.released(self)
    program.forget(self)
    opened[self] = nil
    self.stream:release()
    release(self)
end

-- Bytes free and in all; 0, 0 where the driver does not tell.
function device:memory()
    check(C.mare_device_memory(self.handle, first_c, second_c))
    return tonumber(first_c[0]), tonumber(second_c[0])
end

-- Bytes that buffers hold, and bytes of released ones that wait for the next buffer.
function device:pool()
    check(C.mare_device_pool(self.handle, first_c, second_c))
    return tonumber(first_c[0]), tonumber(second_c[0])
end

-- Gives the waiting ones back to the driver.
function device:trim()
    check(C.mare_device_trim(self.handle))
end

-- Waits until all its streams are idle.
function device:wait()
    signal.finish(self.handle, self.stream.handle)
    check(C.mare_device_wait(self.handle))
    anchors.settle_device(self.stream.device_key)
    if signal.came[0] ~= 0 then signal.heed() end
end

device.buffer = buffer.create
device.host = memory.host
device.event = event.create
device.program, device.prepare = program.create, program.prepare
device.call = call.create
device.can_reach, device.reach, device.open_buffer = peer.can_reach, peer.reach, peer.open

-- Of every back end { name, available, device_count, library, version, reason }: what was
-- loaded, or why not.
function M.backends()
    local list = {}
    for i = 1, C.mare_backend_count() do
        check(C.mare_backend_query(i - 1, backend_c))
        list[i] = { name = ffi.string(backend_c.name), available = backend_c.available ~= 0,
                    device_count = backend_c.device_count, library = ffi.string(backend_c.library),
                    version = ffi.string(backend_c.version), reason = ffi.string(backend_c.reason) }
    end
    return list
end

local function info_of(name)
    local ok, d = pcall(M.open, name)
    if not ok then return { name = name, error = d.message or tostring(d) } end
    d:release()
    return d.info
end

-- The info of every device, null last, or of those of one back end. A device that does not open has
-- only its name and the error.
function M.list(of)
    local list = {}
    for _, backend in ipairs(M.backends()) do
        local count = (of or backend.name) == backend.name and C.mare_device_count(backend.name)
        for i = 0, (count or 0) - 1 do
            list[#list + 1] = info_of(('%s:%d'):format(backend.name, i))
        end
    end
    return list
end

-- Handles of all kinds not yet released in this process.
function M.live_objects()
    return tonumber(C.mare_live_objects())
end

-- All live handles as core lists them, and their number; other threads may make some meanwhile.
local function live_handles()
    local room = M.live_objects()
    while true do
        local handles = objects_c(room)
        check(C.mare_object_list(handles, room, first_c))
        local count = tonumber(first_c[0])
        if count <= room then return handles, count end
        room = count
    end
end

-- The live handles, the oldest first: { kind, label, bytes, refs } each.
function M.objects()
    local handles, count = live_handles()
    local list = {}
    for i = 1, count do
        local object = handles[i - 1]
        list[i] = { kind = ffi.string(object.kind), label = ffi.string(object.label),
                    bytes = tonumber(object.bytes), refs = tonumber(object.refs) }
    end
    return list
end

-- The open devices, by name.
function M.opened()
    local list = {}
    for d in pairs(opened) do list[#list + 1] = d end
    table.sort(list, function(a, b) return a.name < b.name end)
    return list
end

M.scope = handle.scope
M.cache = {}

-- The folder of compiled programs; '' when the cache is switched off.
function M.cache.path()
    return ffi.string(C.mare_cache_path())
end

-- The compiled programs, last used first: { file, program, device, size (bytes), used (seconds
-- since 1970) } each.
function M.cache.entries()
    check(C.mare_cache_count(first_c))
    local list = {}
    for i = 1, tonumber(first_c[0]) do
        check(C.mare_cache_query(i - 1, cache_c))
        list[i] = { file = ffi.string(cache_c.file), program = ffi.string(cache_c.program),
                    device = ffi.string(cache_c.device), size = tonumber(cache_c.size),
                    used = tonumber(cache_c.used) }
    end
    return list
end

-- Keeps a text in the same folder. key: all that it depends on; name: for entries()
function M.cache.keep(key, name, text)
    check(C.mare_cache_keep(key, name, text))
end

-- Returns the text that is kept under a key, or nil.
function M.cache.find(key)
    local text = C.mare_cache_find(key)
    return text ~= nil and ffi.string(text) or nil
end

-- Returns how many entries were removed.
function M.cache.clear()
    check(C.mare_cache_clear(first_c))
    return tonumber(first_c[0])
end

return M
