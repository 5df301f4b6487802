-- Links between devices of this process.

local crossing = require 'mare.links.crossing'

local copied = {}

local Copy = {}
Copy.__index = Copy

function copied.new(strip, device, label)
    local buffer = device:buffer { type = strip.type, count = strip.count, label = label }
    return setmetatable({ buffer = buffer,
        crossing = crossing.new(buffer, strip.buffer, 'copy_region', strip.region) }, Copy)
end

function Copy:pack() self.crossing:run() end

function Copy.start() end
Copy.finish = Copy.start

function Copy:release()
    self.crossing:release()
    self.buffer:release()
end

return copied
