-- Links between devices of this process that do not reach each other: through pinned memory of the
-- host, both ways at a time. The memory has two halves that are used in turn: all devices are
-- waited for between pack() and start(), so that the half of the exchange before the last is free.

local pinned = require 'mare.links.pinned'

local relayed = {}

local Relay = {}
Relay.__index = Relay

function relayed.new(strip, device, label)
    local from = strip.buffer.device
    local self = setmetatable({ strip = strip, half = 1, is_relayed = true,
        packed = pinned.packed(strip, label),
        buffer = device:buffer { type = strip.type, count = strip.count, label = label },
        halves = {}, upload = { count = strip.count, stream = device.stream },
    }, Relay)
    for k = 1, 2 do
        self.halves[k] = from:host { type = strip.type, count = strip.count, label = label }
    end
    return self
end

function Relay:pack()
    self.half = 3 - self.half
    pinned.download(self.strip, self.packed, self.halves[self.half])
end

function Relay.start() end

function Relay:finish() self.buffer:upload(self.halves[self.half], self.upload) end

function Relay:release()
    if self.packed then self.packed:release() end
    self.buffer:release()
    for _, host in ipairs(self.halves) do host:release() end
end

return relayed
