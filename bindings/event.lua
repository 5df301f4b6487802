-- event.lua - marks in a stream: order between streams, and time.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local handle = require 'bindings.handle'

local C, check = mare.C, mare.check
local class = handle.class('event', C.mare_event_release)
local event = class.methods

local out = ffi.new 'mare_event *[1]'
local done = ffi.new 'int32_t[1]'
local elapsed = ffi.new 'double[1]'

function event:record(stream)
    check(C.mare_event_record(self.handle, stream and stream.handle))
end

function event:wait()
    check(C.mare_event_wait(self.handle))
end

function event:done()
    check(C.mare_event_query(self.handle, done))
    return done[0] ~= 0
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

local M = { handle = class.handle }

function M.wait_at(address)
    check(C.mare_event_wait(ffi.cast('mare_event *', ffi.cast('intptr_t', address))))
end

function M.create(device)
    mare.create(C.mare_event_create, device.handle, out)
    return class.wrap(out, { device = device })
end

return M
