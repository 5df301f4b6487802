-- event.lua - marks in a stream: order between streams, and time.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local handle = require 'bindings.handle'
local signal = require 'bindings.signal'
local stream = require 'bindings.stream'

local C, check = mare.C, mare.check
local class = handle.class('event', 'mare_event', C.mare_event_release)
local event = class.methods

local done = ffi.new 'int32_t[1]'
local elapsed = ffi.new 'double[1]'

-- In a recording a replay sets the mark, on whatever stream: nothing is known of this one then.
function event:record(s)
    check(C.mare_event_record(self.handle, stream.handle(s, 'event:record')))
    s = s or self.device.stream
    self.key, self.mark = s.key, anchors.mark(s)
    self.in_plan = self.in_plan or not self.mark
end

-- The event has come to pass, and with it all that its stream had to do before.
local function settle(self)
    if self.mark and not self.in_plan then anchors.settle(self.key, self.mark) end
end

-- Waits until the event has come to pass.
function event:wait()
    signal.wait_for(self.handle)
    check(C.mare_event_wait(self.handle))
    settle(self)
    if signal.came[0] ~= 0 then signal.heed() end
end

-- Whether the event has come to pass, without waiting.
function event:done()
    check(C.mare_event_query(self.handle, done))
    if done[0] == 0 then return false end
    settle(self)
    return true
end

-- Milliseconds from this event to `stop`; waits for both.
function event:elapsed_ms(stop)
    check(C.mare_event_elapsed_ms(self.handle, class.handle(stop, 'event:elapsed_ms'), elapsed))
    return elapsed[0]
end

-- The number by which another thread's state can wait for the event, as long as it lives.
function event:address()
    return tonumber(ffi.cast('intptr_t', self.handle))
end

local M = { methods = event }

function M.wait_at(address)
    check(C.mare_event_wait(ffi.cast('mare_event *', ffi.cast('intptr_t', address))))
end

-- What is queued on this stream from now on waits for the event.
function stream.methods:wait_event(e)
    check(C.mare_stream_wait_event(self.handle, class.handle(e, 'stream:wait_event')))
end

-- device:event(): a mark that streams can set and wait for.
function M.create(device)
    local owner = class.own()
    mare.create(C.mare_event_create, device.handle, owner)
    return class.wrap(owner, { device = device })
end

return M
