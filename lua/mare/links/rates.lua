-- The largest rate of all devices of all ranks where the host finds it. Each device puts its own
-- into a word (bindings/word.lua), and ticks with what it is told.

local here = require 'mare.ranks.here'
local word = require 'bindings.word'

local rates = {}

local Rates = {}
Rates.__index = Rates

local group = { gpu = 256, cpu = 16, other = 64 }

-- Returns how many work-items of a device look for its largest rate.
function rates.group_of(device)
    return math.min(group[device.info.kind], device.info.max_group_size)
end

function rates.new(fields)
    local self = setmetatable({ devices = fields.devices }, Rates)
    for k, device in ipairs(fields.devices) do
        self[k] = word.new(device, fields.precision, 'signal rate')
    end
    return self
end

-- Returns the buffer where the clock on the k-th device puts its rate.
function Rates:word(k) return self[k].buffer end

-- Goes on until there is nothing left but to wait for the rates. The exchange of the next step, if
-- that is given, comes along, or has gone ahead already.
local function bring_along(self, following)
    if following and following.is_early then return following:complete() end
    if following then following:begin() end
    for k = 1, #self do self.devices[k].stream:wait() end
    if following then following:start() end
end

-- Queues what finds the rate of the k-th device and brings it to the host, unless parcels do.
local function find(self, k, clock, parcels)
    if parcels then return parcels:take_rate(self.devices[k], clock.maxima, clock.count) end
    self[k]:clear()
    clock.rate:run()
    self[k]:follow()
end

local function largest_of_devices(self, parcels)
    local largest = 0
    for k = 1, #self do
        local rate = parcels and parcels:rate(self.devices[k]) or self[k]:await()
        if rate ~= rate or rate > largest then largest = rate end
    end
    return largest
end

-- Learns the rates and tells the ticks the largest: those of the clocks or, where the exchange that
-- follows ticks them, that. Returns whether it does. clocks: those of the devices; following: an
-- exchange, or nil
function Rates:learn(clocks, following)
    local parcels = following and following:carrier() or nil
    for k = 1, #self do find(self, k, clocks[k], parcels) end
    bring_along(self, following)
    local largest = here.largest(largest_of_devices(self, parcels))
    if parcels then following:tick(largest)
    else
        for k = 1, #self do clocks[k].tick:set('rate', largest) end
    end
    return parcels ~= nil
end

-- Takes the rates away, and tells the ticks none.
function Rates:forget(clocks)
    for k = 1, #self do
        clocks[k].rate:run()
        clocks[k].tick:set('rate', 0)
    end
end

function Rates:release()
    for k = 1, #self do self[k]:release() end
end

return rates
