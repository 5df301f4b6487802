-- stream.lua - queues of work. The host memory of queued transfers is kept alive until somebody
-- waits for them; a stream that is dropped before waits for them itself.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local signal = require 'bindings.signal'

local C, check = mare.C, mare.check

local function release(s)
    local key = anchors.key(s)
    if anchors.any(key) then
        C.mare_stream_wait(s)       -- may fail on a lost device, whose transfers are over too
        anchors.settle(key)
    end
    C.mare_stream_release(s)
end

local class = handle.class('stream', 'mare_stream', release)
local stream = class.methods
local M = { methods = stream }

local desc = ffi.new 'mare_stream_desc'

local function fields(pointer, device, label)
    return { label = label, device = device, key = anchors.key(pointer),
             device_key = anchors.key(device.handle) }
end

function M.create(device, options)
    if handle.kind(device) ~= 'device' then
        errors.argument('d:stream{...}, with a colon, makes a stream: a device is wanted, not %s',
                        tostring(device))
    end
    options = errors.fields('stream', options or {}, { priority = 'number', label = 'string' })
    desc.priority, desc.label = options.priority or 0, options.label
    local owner = class.own()
    mare.create(C.mare_stream_create, device.handle, desc, owner)
    return class.wrap(owner, fields(owner[0], device, options.label or 'stream'))
end

-- The stream that NULL stands for; keeping it keeps the device.
function M.default(device)
    local pointer = C.mare_device_stream(device.handle)
    return class.share(pointer, C.mare_stream_retain, fields(pointer, device, 'default'))
end

-- d.stream is the default stream, d:stream{...} makes another.
class.on_call(function(_, device, options) return M.create(device, options) end)

-- The handle of `s` for the C call of `what`; nil, the default stream, for nil.
function M.handle(s, what)
    return s ~= nil and class.handle(s, what) or nil
end

-- Waits until all that is queued here is done.
function stream:wait()
    signal.finish(self.device.handle, self.handle)
    check(C.mare_stream_wait(self.handle))
    anchors.settle(self.key)
    if signal.came[0] ~= 0 then signal.heed() end
end

-- Makes sure that what is queued starts.
function stream:flush()
    check(C.mare_stream_flush(self.handle))
end

return M
