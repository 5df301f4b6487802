-- Copies between buffers of two devices of this process that are made again and again.
-- Where the device of the target reaches the other's memory they are queued there, after
-- what has been queued on the source's device and before what will be. Elsewhere core
-- brings them through the host, and waits.

local crossing = {}

local reached = setmetatable({}, { __mode = 'k' })     -- by device, and the other

local function reaches(to, from)
    reached[to] = reached[to] or setmetatable({}, { __mode = 'k' })
    local known = reached[to]
    if known[from] == nil then
        known[from] = to:can_reach(from) and pcall(to.reach, to, from) or false
    end
    return known[from]
end

local Crossing = {}
Crossing.__index = Crossing

-- call: 'copy' or 'copy_region', a method of the buffer `to`; how: its options, or the box
function crossing.new(to, from, call, how)
    local self = setmetatable({ to = to, from = from, call = call, how = how }, Crossing)
    if reaches(to.device, from.device) then
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
