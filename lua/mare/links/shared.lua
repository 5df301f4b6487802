-- Links between ranks on devices of one machine that reach each other's memory. The
-- sender packs a strip into memory of its own that the receiver has opened, and
-- copies from. What goes through MPI is a message that this has been done; it holds
-- the name by which the memory is opened.
--
-- The memory has two halves that are packed in turn. That of two exchanges ago is
-- free: the receiver waited for its device before it sent the strips of the last
-- one, and these have come.

local here = require 'mare.ranks.here'
local memory = require 'bindings.memory'
local mpi_link = require 'bindings.mpi_link'
local tables = require 'bindings.tables'

local shared = {}

local name_bytes = 128      -- of buffer:share()
local closed_tag = 15       -- of messages that memory has been closed

local function new_name(text)
    local name = memory.array('uint8', name_bytes)
    for k = 1, text and #text or 0 do name[k - 1] = text:byte(k) end
    return name
end

local function text_of(name)
    local bytes = {}
    for k = 1, name_bytes do bytes[k] = string.char(name[k - 1]) end
    return table.concat(bytes)
end

local function new_message(way, name, rank, tag)
    return mpi_link.new(here.world, way, name, name_bytes, rank, tag)
end

-- ---- memory that others may still have open ----

local lent, closed = {}, {}     -- buffers by name; the names that were closed early
local awaited, sent = {}, {}    -- messages that memory was closed: { name =, request = }

-- Releases what others have closed. Messages of a rank come in the order in which it
-- closes, which may be another one than that of the releases here.
local function settle()
    local world = here.world
    if world:is_closed() then return end
    for _, list in ipairs { awaited, sent } do
        for k = #list, 1, -1 do
            if world:is_done(list[k].request, 'closed memory') then
                local done = table.remove(list, k)
                if list == awaited then closed[text_of(done.name)] = true end
            end
        end
    end
    for text in pairs(closed) do
        if lent[text] then
            lent[text]:release()
            lent[text], closed[text] = nil, nil
        end
    end
end

-- Takes a buffer that a rank has opened, and releases it when the rank has closed it.
local function lend(buffer, name, rank)
    lent[text_of(name)] = buffer
    local word = { name = new_name() }
    word.request = here.world:receive(word.name, name_bytes, rank, closed_tag)
    awaited[#awaited + 1] = word
    settle()
end

local function tell_closed(name, rank)
    local word = { name = new_name(text_of(name)) }
    word.request = here.world:send(word.name, name_bytes, rank, closed_tag)
    sent[#sent + 1] = word
    settle()
end

-- Returns how many buffers wait until others have closed them.
function shared.count_lent()
    settle()
    local count = 0
    for _ in pairs(lent) do count = count + 1 end
    return count
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
    settle()
    local packed = strip.buffer.device:buffer { type = strip.type, count = 2 * strip.count,
        label = label }
    local name = new_name(packed:share())
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
        lend(self.packed, self.name, self.rank)
    else
        self.packed:release()
    end
end

-- ---- receiving ----

local Receive = { pack = Send.finish }
Receive.__index = Receive

function shared.receive(desc, rank, tag, label)
    settle()
    local name = new_name()
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
    self.opened = self.opened or self.device:open_buffer(text_of(self.name), self.label)
    self.buffer:copy(self.opened, self.halves[self.half])
    self.half = 1 - self.half
end

function Receive:release()
    self.message:release()
    self.buffer:release()
    if not self.opened then return end
    self.opened:release()
    if not here.world:is_closed() then tell_closed(self.name, self.rank) end
end

return shared
