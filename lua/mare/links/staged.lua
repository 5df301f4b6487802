-- Links between ranks that pass through pinned memory of the host, as messages of MPI.

local here = require 'mare.ranks.here'
local mpi_link = require 'bindings.mpi_link'
local pinned = require 'mare.links.pinned'

local staged = {}

local function new_message(way, host, rank, tag)
    return mpi_link.new(here.world, way, host:pointer(), host.size, rank, tag)
end

local Send = {}
Send.__index = Send

function staged.send(strip, rank, tag, label)
    local device = strip.buffer.device
    local host = device:host { type = strip.type, count = strip.count, label = label }
    return setmetatable({ strip = strip, packed = pinned.packed(strip, label), host = host,
        device = device, label = label, message = new_message('send', host, rank, tag) }, Send)
end

-- Waits until the other rank has what was started last.
function Send:settle() self.message:finish(self.label) end

function Send:pack(streams)
    self:settle()
    pinned.download(self.strip, self.packed, self.host, streams)
end

function Send:start() self.message:begin() end

function Send.finish() end

function Send:release()
    self.message:release()
    if self.packed then self.packed:release() end
    self.host:release()
end

local Receive = { pack = Send.finish }
Receive.__index = Receive

-- desc: also `buffer`, where there is one already
function staged.receive(desc, rank, tag, label)
    local host = desc.device:host { type = desc.type, count = desc.count, label = label }
    return setmetatable({ host = host, device = desc.device, label = label,
        is_own = not desc.buffer, upload = { count = desc.count },
        message = new_message('receive', host, rank, tag),
        buffer = desc.buffer or desc.device:buffer { type = desc.type, count = desc.count,
            label = label } }, Receive)
end

-- The device must be done with what was received last.
function Receive:start() self.message:begin() end

function Receive:finish(streams)
    self.message:finish(self.label)
    self.upload.stream = streams and streams[self.device] or self.device.stream
    self.buffer:upload(self.host, self.upload)
end

function Receive:release()
    self.message:release()
    if self.is_own then self.buffer:release() end
    self.host:release()
end

return staged
