-- stream.lua - queues of work. A stream keeps the host memory of its queued transfers alive until
-- somebody waits for it.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local event = require 'bindings.event'

local C, check = mare.C, mare.check
local class = handle.class('stream', C.mare_stream_release)
local stream = class.methods
local M = { handle = class.handle, methods = stream }

local desc = ffi.new 'mare_stream_desc'
local out = ffi.new 'mare_stream *[1]'

function M.create(device, options)
    options = errors.fields('stream', options or {}, { priority = 'number', label = 'string' })
    desc.priority, desc.label = options.priority or 0, options.label
    mare.create(C.mare_stream_create, device.handle, desc, out)
    return class.wrap(out, { label = options.label or 'stream', device = device, anchors = {} })
end

-- The stream that NULL stands for; keeping it keeps the device.
function M.default(device)
    out[0] = C.mare_device_stream(device.handle)
    C.mare_stream_retain(out[0])
    return class.wrap(out, { label = 'default', device = device, anchors = {} })
end

-- d.stream is the default stream, d:stream{...} makes another.
class.on_call(function(_, device, options) return M.create(device, options) end)

-- Keeps `memory` until the stream was waited for.
function M.anchor(self, memory)
    self.anchors[memory] = true
end

function stream:wait()
    check(C.mare_stream_wait(self.handle))
    if next(self.anchors) ~= nil then self.anchors = {} end
end

function stream:flush()
    check(C.mare_stream_flush(self.handle))
end

function stream:wait_event(e)
    check(C.mare_stream_wait_event(self.handle, event.handle(e, 'stream:wait_event')))
end

return M
