-- peer.lua - memory of other devices and of other processes.
--
--     if a:can_reach(b) then a:reach(b) end       -- kernels and copies of a take buffers of b
--     local x = b:buffer { type = 'float', count = 1000 }
--     kernel_on_a:bind { x = x, ... }:run()
--
--     local text = x:share()                      -- to be sent to another process, as it is
--     local x = d:open_buffer(text, 'x')          -- there
--
-- What orders the work of two devices is an event of the one that a stream of the other waits for.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local buffer = require 'bindings.buffer'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'

local C, check = mare.C, mare.check
local M = {}

local can, share = ffi.new 'int32_t[1]', ffi.new 'mare_share'

local function peer_of(what, peer)
    if handle.kind(peer) ~= 'device' then
        errors.argument('%s: a device is wanted, not %s', what, tostring(peer))
    end
    return peer.handle
end

-- device:can_reach(peer): whether kernels and copies of the device could reach memory of the peer.
function M.can_reach(self, peer)
    check(C.mare_device_can_reach(self.handle, peer_of('device:can_reach', peer), can))
    return can[0] ~= 0
end

-- device:reach(peer): from now on launches, calls and copies on the device take buffers of the
-- peer; not the other way round. At most 32 peers; MARE_ERROR_UNAVAILABLE where they are none.
function M.reach(self, peer)
    check(C.mare_device_reach(self.handle, peer_of('device:reach', peer)))
end

-- buffer:share(): a string of 128 bytes by which another process opens the buffer. On CUDA under
-- Linux (device.info.has_sharing), else MARE_ERROR_UNAVAILABLE. The buffer must outlive all that
-- was opened by it.
function buffer.methods:share()
    check(C.mare_buffer_share(self.handle, share))
    return ffi.string(share.bytes, ffi.sizeof(share))
end

-- device:open_buffer(text, label): the buffer of another process, on the same device or on a peer,
-- of the type and size that it has there. text: what buffer:share() gave.
function M.open(self, text, label)
    local what = 'device:open_buffer'
    errors.wanted(what, 'string', text)
    if label ~= nil then errors.wanted(what .. ': label', 'string', label) end
    if #text ~= ffi.sizeof(share) then
        errors.argument('%s: the %d bytes that buffer:share() gives are wanted, not %d', what,
            ffi.sizeof(share), #text)
    end
    ffi.copy(share, text, #text)
    return buffer.open(self, share, label)
end

return M
