-- Copies between buffers of two devices of this process that are made again and again.
-- Where the device of the target reaches the other's memory they are queued there, after
-- what has been queued on the source's device and before what will be. Elsewhere core
-- brings them through the host, and waits.

local reach = require 'mare.links.reach'

local crossing = {}

local Crossing = {}
Crossing.__index = Crossing

-- call: 'copy' or 'copy_region', a method of the buffer `to`; how: its options, or the box
function crossing.new(to, from, call, how)
    local self = setmetatable({ to = to, from = from, call = call, how = how }, Crossing)
    if reach(to.device, from.device) then
        self.written, self.copied = from.device:event(), to.device:event()
    end
    return self
end

function Crossing:run()
    local to, from = self.to, self.from
    if self.written then
        self.written:record(from.device.stream)
        to.device.stream:wait_event(self.written)
    end
    to[self.call](to, from, self.how)
    if self.copied then
        self.copied:record(to.device.stream)
        from.device.stream:wait_event(self.copied)
    end
end

function Crossing:release()
    if not self.written then return end
    self.written:release()
    self.copied:release()
end

return crossing
