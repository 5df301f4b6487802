-- Links between devices of this process that do not reach each other: through pinned memory of the
-- host, both ways at a time. The memory has two halves that are used in turn: all devices are
-- waited for between pack() and start(), so that the half of the exchange before the last is free.
-- Two strips from one device to another lie one behind the other there, and are uploaded at once.

local pinned = require 'mare.links.pinned'

local relayed = {}

local Relay = {}
Relay.__index = Relay

-- Returns the memory of a link of the list that has room for such a strip, or new one. Its links
-- are counted in `links`.
local function memory_for(strip, device, label, list)
    local from = strip.buffer.device
    for _, one in ipairs(list or {}) do
        local memory = one.memory
        if memory and memory.links == 1 and memory.from == from and memory.to == device
            and memory.count == strip.count then
            memory.links, memory.upload.count = 2, 2 * strip.count
            return memory
        end
    end
    local memory = { links = 1, from = from, to = device, count = strip.count, done = 0,
        halves = {}, upload = { count = strip.count },
        buffer = device:buffer { type = strip.type, count = 2 * strip.count, label = label } }
    for k = 1, 2 do
        memory.halves[k] = from:host { type = strip.type, count = 2 * strip.count, label = label }
    end
    return memory
end

-- list: links that are there already, with which it may share memory: it is element `first` of
-- `buffer` then where the strip begins
function relayed.new(strip, device, label, list)
    local memory = memory_for(strip, device, label, list)
    local self = setmetatable({ strip = strip, half = 1, is_relayed = true, memory = memory,
        packed = pinned.packed(strip, label), buffer = memory.buffer,
        first = (memory.links - 1) * strip.count, into = {} }, Relay)
    for k = 1, 2 do self.into[k] = memory.halves[k]:pointer() + self.first end
    return self
end

function Relay:pack(streams)
    self.half = 3 - self.half
    pinned.download(self.strip, self.packed, self.into[self.half], streams)
end

function Relay.start() end

function Relay:finish(streams)
    local memory = self.memory
    memory.done = (memory.done + 1) % memory.links
    memory.upload.stream = streams and streams[memory.to] or memory.to.stream
    if memory.done == 0 then memory.buffer:upload(memory.halves[self.half], memory.upload) end
end

function Relay:release()
    local memory = self.memory
    if self.packed then self.packed:release() end
    memory.links = memory.links - 1
    if memory.links > 0 then return end
    memory.buffer:release()
    for _, host in ipairs(memory.halves) do host:release() end
end

return relayed
