-- The largest rate of all devices of all ranks where the host finds it. Each device puts its own
-- into a `word`, on CUDA one of memory of the host, and ticks with what it is told.

local here = require 'mare.ranks.here'

local rates = {}

local Rates = {}
Rates.__index = Rates

function rates.new(fields)
    local self = setmetatable({ devices = fields.devices }, Rates)
    for k, device in ipairs(fields.devices) do
        local one = { type = fields.precision, count = 1, label = 'signal rate' }
        local host, is_shared = device:host(one), device.info.name:find '^cuda'
        self[k] = { host = host, known = device:event(),
            word = is_shared and host:buffer() or device:buffer(one),
            download = not is_shared and { into = host, count = 1, stream = device.stream } }
    end
    return self
end

-- Returns the buffer where the clock on the k-th device puts its rate.
function Rates:word(k) return self[k].word end

-- Waits for the rates. The exchange of the next step, if that is given, comes along, or has gone
-- ahead already.
local function wait(self, following)
    local is_early = following and following.is_early
    if is_early then following:complete()
    elseif following then following:begin() end
    for k = 1, #self do
        if is_early then self[k].known:wait() else self.devices[k].stream:wait() end
    end
    if following and not is_early then following:start() end
end

local function largest_of_devices(self)
    local largest = 0
    for k = 1, #self do
        local rate = self[k].host.data[0]
        if rate ~= rate or rate > largest then largest = rate end
    end
    return largest
end

-- Learns the rates and tells the ticks the largest. clocks: those of the devices; following: an
-- exchange, or nil
function Rates:learn(clocks, following)
    for k = 1, #self do
        local one = self[k]
        clocks[k].rate:run()
        if one.download then one.word:download(one.download) end
        one.known:record()
    end
    wait(self, following)
    local largest = here.largest(largest_of_devices(self))
    for k = 1, #self do clocks[k].tick:set('rate', largest) end
end

-- Takes the rates away, and tells the ticks none.
function Rates:forget(clocks)
    for k = 1, #self do
        clocks[k].rate:run()
        clocks[k].tick:set('rate', 0)
    end
end

function Rates:release()
    for k = 1, #self do
        self[k].word:release()
        self[k].known:release()
        self[k].host:release()
    end
end

return rates
