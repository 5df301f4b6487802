-- Moves strips of cells from one part to a buffer beside another, in one of the
-- ways that there are. A link is one strip that is moved again and again. It has
--
--     pack()       queues what brings the strip out of its part
--     start()      once the devices of all packed links are done
--     finish()     queues, or has done, what makes the strip ready in `buffer`
--
-- and exchange.lua calls these in turn for all links of an axis. Between ranks
-- each of the two has one half of a link: send or receive.

local here = require 'mare.ranks.here'
local mpi_link = require 'bindings.mpi_link'

local transports = {}

-- By name, what links of that kind do.
transports.texts = {
    place = 'read where it lies, on one device',
    copy = 'copied between devices of one process',
    staged = 'through pinned memory and MPI',
}

-- Returns the name of the way from one part to another.
function transports.between(from, to)
    if from:is_elsewhere() or to:is_elsewhere() then return 'staged' end
    return from:is_on(to.device) and 'place' or 'copy'
end

local function nothing() end

-- ---- between devices of this process ----

local Copy = { start = nothing, finish = nothing }
Copy.__index = Copy

-- strip: { buffer, region = a box in it, type, count = of elements }; device: of
-- the other part
function transports.copy(strip, device, label)
    return setmetatable({ strip = strip, buffer = device:buffer { type = strip.type,
        count = strip.count, label = label } }, Copy)
end

function Copy:pack()
    self.buffer:copy_region(self.strip.buffer, self.strip.region)
end

function Copy:release() self.buffer:release() end

-- ---- between ranks ----

local function pinned(device, type, count, label)
    return device:host { type = type, count = count, label = label }
end

local function new_message(way, host, rank, tag)
    return mpi_link.new(here.world, way, host:pointer(), host.size, rank, tag)
end

local Send = {}
Send.__index = Send

-- Sends a strip, or without a region a buffer as it is, to a rank.
function transports.send(strip, rank, tag, label)
    local device = strip.buffer.device
    local host = pinned(device, strip.type, strip.count, label)
    local packed = strip.region and device:buffer { type = strip.type, count = strip.count,
        label = label }
    return setmetatable({ strip = strip, packed = packed, host = host, device = device,
        label = label, message = new_message('send', host, rank, tag),
        download = { into = host, stream = device.stream } }, Send)
end

function Send:pack()
    self.message:finish(self.label)         -- of the last time
    if self.packed then self.packed:copy_region(self.strip.buffer, self.strip.region) end
    local from = self.packed or self.strip.buffer
    from:download(self.download)
end

function Send:start() self.message:begin() end

Send.finish = nothing

function Send:release()
    self.message:release()
    if self.packed then self.packed:release() end
    self.host:release()
end

local Receive = { pack = nothing }
Receive.__index = Receive

-- Receives what a rank sends into `buffer`, or into a new one. desc: { device,
-- type, count, buffer }
function transports.receive(desc, rank, tag, label)
    local host = pinned(desc.device, desc.type, desc.count, label)
    return setmetatable({ host = host, label = label, is_own = not desc.buffer,
        message = new_message('receive', host, rank, tag),
        upload = { count = desc.count, stream = desc.device.stream },
        buffer = desc.buffer or desc.device:buffer { type = desc.type, count = desc.count,
            label = label } }, Receive)
end

-- The device must be done with what was received last.
function Receive:start() self.message:begin() end

function Receive:finish()
    self.message:finish(self.label)
    self.buffer:upload(self.host, self.upload)
end

function Receive:release()
    self.message:release()
    if self.is_own then self.buffer:release() end
    self.host:release()
end

return transports
