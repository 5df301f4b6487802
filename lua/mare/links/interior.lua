-- Steps that take the edges of parts first. A word of each part says when they are there, while its
-- launch goes on with what lies between: then strips of them go through the host, on a stream of
-- each device beside that of the steps.

local word = require 'bindings.word'

local interior = {}

local Interior = {}
Interior.__index = Interior

-- parts: { device }, which get `edges` = { done = a word, arrived = a buffer } for those who bind
-- `sweeps`.
function interior.new(devices, parts)
    local self = setmetatable({ list = parts, streams = {} }, Interior)
    for _, device in ipairs(devices) do
        self.streams[device] = device:stream { label = 'edges' }
    end
    for _, part in ipairs(parts) do
        part.edges = { done = word.new(part.device, 'int32', 'edges are done'),
            arrived = part.device:buffer { type = 'uint32', count = 1, label = 'strips of edges' } }
        part.edges.arrived:fill(0)
    end
    return self
end

-- Queues a step of the parts that sweeps along `axis` first.
function Interior:run(axis)
    for _, part in ipairs(self.list) do
        part.edges.done:clear()
        part.sweeps[axis][1]:run()
        part.edges.done:follow()
    end
end

-- Waits for the edges. Returns the streams by device for what may be queued now.
function Interior:await()
    for _, part in ipairs(self.list) do part.edges.done:await() end
    return self.streams
end

function Interior:release()
    for _, part in ipairs(self.list) do
        part.edges.done:release()
        part.edges.arrived:release()
    end
    for _, stream in pairs(self.streams) do stream:release() end
end

return interior
