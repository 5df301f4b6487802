-- word.lua - a number from 0 that a launch tells the host. On CUDA it lies in memory of the host,
-- which looks at it while the launch may go on: an event would come some microseconds later.
--
--     word:clear()
--     launch:run()        -- writes to word.buffer
--     word:follow()
--     word:await()        -- the number, or NaN

local ffi = require 'ffi'

local word = {}

local Word = {}
Word.__index = Word

local none, looks = -1, 1e6             -- which take some milliseconds

local arrays = { float = 'float[1]', double = 'double[1]', int32 = 'int32_t[1]' }

-- type: one of those
function word.new(device, type, label)
    local one = { type = type, count = 1, label = label }
    local host, is_shared = device:host(one), device.info.name:find '^cuda'
    return setmetatable({ host = host, place = host:pointer(), size = host.size,
        seen = ffi.new(arrays[type]), stream = device.stream,
        buffer = is_shared and host:buffer() or device:buffer(one),
        written = not is_shared and device:event(),
        download = not is_shared and { into = host, count = 1, stream = device.stream },
    }, Word)
end

function Word:clear() self.host.data[0] = none end

-- Queues what there is to be done behind the launch. On an H200 an event there would keep the next
-- launch waiting for some 5 us.
function Word:follow()
    if not self.download then return end
    self.buffer:download(self.download)
    self.written:record()
end

-- LuaJIT reads what it copies anew each time.
local function comes_soon(self)
    local seen, place, size = self.seen, self.place, self.size
    for _ = 1, looks do
        ffi.copy(seen, place, size)
        if seen[0] ~= none then return true end
    end
    return false
end

-- Waits for the number, and returns it.
function Word:await()
    if self.download then self.written:wait()
    elseif not comes_soon(self) then self.stream:wait() end
    ffi.copy(self.seen, self.place, self.size)
    return self.seen[0]
end

function Word:release()
    self.buffer:release()
    if self.written then self.written:release() end
    self.host:release()
end

return word
