-- Links between ranks on devices of one machine that reach each other's memory. The
-- sender packs a strip into memory of its own that the receiver has opened, and
-- copies from. What goes through MPI is a message that this has been done; it holds
-- the name by which the memory is opened.
--
-- The memory has two halves that are packed in turn. That of two exchanges ago is
-- free: the receiver waited for its device before it sent the strips of the last
-- one, and these have come.

local here = require 'mare.ranks.here'
local lending = require 'mare.links.lending'
local mpi_link = require 'bindings.mpi_link'
local tables = require 'bindings.tables'

local shared = {}

local function new_message(way, name, rank, tag)
    return mpi_link.new(here.world, way, name, lending.name_bytes, rank, tag)
end

-- ---- sending ----

local Send = {}
Send.__index = Send

local function new_halves(strip)
    local box = strip.region
    local bytes = box.width * box.height * box.depth
    return { [0] = tables.merged(box, { dst_offset = 0 }),
        tables.merged(box, { dst_offset = bytes }) }
end

function shared.send(strip, rank, tag, label)
    lending.settle()
    local packed = strip.buffer.device:buffer { type = strip.type, count = 2 * strip.count,
        label = label }
    local name = lending.name(packed:share())
    return setmetatable({ strip = strip, packed = packed, name = name, rank = rank, label = label,
        halves = new_halves(strip), half = 0, message = new_message('send', name, rank, tag) },
        Send)
end

function Send:pack()
    self.message:finish(self.label)         -- of the last time
    self.packed:copy_region(self.strip.buffer, self.halves[self.half])
    self.half = 1 - self.half
end

function Send:start()
    self.was_opened = true
    self.message:begin()
end

function Send.finish() end

function Send:release()
    self.message:release()
    if self.was_opened then
        lending.lend(self.packed, lending.text(self.name), { self.rank })
    else
        self.packed:release()
    end
end

-- ---- receiving ----

local Receive = { pack = Send.finish }
Receive.__index = Receive

function shared.receive(desc, rank, tag, label)
    lending.settle()
    local name = lending.name()
    local function half(k)
        return { src_offset = k * desc.count, count = desc.count, stream = desc.device.stream }
    end
    return setmetatable({ device = desc.device, name = name, rank = rank, label = label,
        halves = { [0] = half(0), half(1) }, half = 0,
        message = new_message('receive', name, rank, tag),
        buffer = desc.device:buffer { type = desc.type, count = desc.count, label = label } },
        Receive)
end

function Receive:start() self.message:begin() end

function Receive:finish()
    self.message:finish(self.label)
    self.opened = self.opened or self.device:open_buffer(lending.text(self.name), self.label)
    self.buffer:copy(self.opened, self.halves[self.half])
    self.half = 1 - self.half
end

function Receive:release()
    self.message:release()
    self.buffer:release()
    if not self.opened then return end
    lending.close(self.opened, lending.text(self.name), self.rank)
end

return shared
