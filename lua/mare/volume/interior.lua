-- Steps that take the edges of slabs first, and what lies between on a stream of its own of each
-- device: the edges are copied to other devices meanwhile.

local interior = {}

local Interior = {}
Interior.__index = Interior

function interior.new(devices)
    local self = setmetatable({ list = {}, of = {} }, Interior)
    for k, device in ipairs(devices) do
        self.list[k] = { stream = device:stream { label = 'interior' }, main = device.stream,
            begun = device:event(), edges = device:event(), done = device:event() }
        self.of[device] = self.list[k]
    end
    return self
end

-- Queues a step of parts, { device, sweeps } with sweeps.edges[axis] = { south, north } and
-- sweeps[axis] = { what lies between }. What is queued on the devices' own streams then follows the
-- edges alone.
function Interior:run(parts, axis)
    for _, one in ipairs(self.list) do
        one.begun:record()
        one.stream:wait_event(one.begun)
    end
    for _, part in ipairs(parts) do
        local south, north = unpack(part.sweeps.edges[axis])
        south:run()
        north:run(self.of[part.device].stream)
    end
    for _, one in ipairs(self.list) do one.edges:record(one.stream) end
    for _, part in ipairs(parts) do part.sweeps[axis][1]:run(self.of[part.device].stream) end
    for _, one in ipairs(self.list) do
        one.done:record(one.stream)
        one.stream:flush()
        one.main:wait_event(one.edges)
    end
end

-- What is queued on the devices' own streams from now on follows the whole step.
function Interior:join()
    for _, one in ipairs(self.list) do one.main:wait_event(one.done) end
end

function Interior:release()
    for _, one in ipairs(self.list) do
        for _, name in ipairs { 'begun', 'edges', 'done', 'stream' } do one[name]:release() end
    end
end

return interior
