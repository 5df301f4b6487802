-- Lets launches of parts that lie on one device run side by side: all but the first part there
-- have a stream of their own.
--
--     forks = forks.new(list)     of { device = }; nil where no device is there twice
--     forks:open()                what is queued on their `stream` from now on waits for the device
--     forks:close()               and the device waits for that

local forks = {}

-- Kinds of devices on which they pay: a processor runs one launch at a time.
forks.kinds = { gpu = true }

local most = 8              -- streams of a device: further parts share them

local Forks = {}
Forks.__index = Forks

-- Sets their `stream`, where it is not that of the device.
function forks.new(users)
    local self = setmetatable({ streams = {}, list = {} }, Forks)
    local parts = {}
    for _, user in ipairs(users) do
        local device = user.device
        local n = parts[device] or 0
        parts[device] = n + 1
        if n > 0 and forks.kinds[device.info.kind] then
            local own = self.streams[device] or { start = device:event() }
            local place = (n - 1) % (most - 1) + 1
            self.streams[device] = own
            own[place] = own[place] or device:stream { label = 'part' }
            user.stream = own[place]
        end
    end
    for device, own in pairs(self.streams) do
        for k, stream in ipairs(own) do
            table.insert(self.list, { main = device.stream, stream = stream, start = own.start,
                is_first = k == 1, done = device:event() })
        end
    end
    return self.list[1] and self or nil
end

-- Returns the streams beside that of a device, or nil.
function Forks:on(device) return self.streams[device] end

function Forks:open()
    for k = 1, #self.list do
        local one = self.list[k]
        if one.is_first then one.start:record(one.main) end
        one.stream:wait_event(one.start)
    end
end

function Forks:close()
    for k = 1, #self.list do
        local one = self.list[k]
        one.done:record(one.stream)
        one.main:wait_event(one.done)
    end
end

function Forks:release()
    for _, one in ipairs(self.list) do
        one.done:release()
        one.stream:release()
        if one.is_first then one.start:release() end
    end
end

return forks
