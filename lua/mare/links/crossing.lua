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

-- The target waits for what is copied.
local function begin(self)
    if not self.written then return end
    self.written:record(self.from.device.stream)
    self.to.device.stream:wait_event(self.written)
end

local function copy(self) self.to[self.call](self.to, self.from, self.how) end

-- The source waits until that is copied.
local function finish(self)
    if not self.copied then return end
    self.copied:record(self.to.device.stream)
    self.from.device.stream:wait_event(self.copied)
end

function Crossing:run()
    begin(self)
    copy(self)
    finish(self)
end

-- Runs several, none of which reads what another one writes: both ways at once.
function crossing.run_all(list)
    for k = 1, #list do begin(list[k]) end
    for k = 1, #list do copy(list[k]) end
    for k = 1, #list do finish(list[k]) end
end

function Crossing:release()
    if not self.written then return end
    self.written:release()
    self.copied:release()
end

return crossing
