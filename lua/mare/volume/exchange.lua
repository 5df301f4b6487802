-- What brings the outermost slices of slabs beside those of the others: copies between devices of
-- this process (links/crossing.lua), and links between ranks (links/init.lua), through memory of
-- the device that both share, or pinned memory and MPI. All ranks run it at the same steps.

local crossing = require 'mare.links.crossing'
local here = require 'mare.ranks.here'
local ways = require 'mare.links'

local exchange = {}

local Exchange = {}
Exchange.__index = Exchange

local first_tag = 2 ^ 13        -- of messages between ranks, two to each slab

-- Makes what copies slices to the slab above or below, both of this rank.
local function add_copies(self, to, from, is_above)
    for _, name in ipairs { 'state', 'scratch' } do
        local list = self.copies[name] or {}
        self.copies[name], list[#list + 1] = list, crossing.new(to[name], from[name], 'copy', {
            offset = to:start(0, is_above and -self.reach or to.nz),
            src_offset = from:start(0, is_above and from.nz - self.reach or 0),
            count = self.reach * to.fields * to.plane })
    end
end

-- Makes one half of the link that brings slices to the slab above or below, of which one belongs to
-- another rank. It serves both buffers.
local function add_link(self, to, from, is_above)
    local count, first = self.reach * to.fields * to.plane, is_above and from.nz - self.reach or 0
    local tag, device = first_tag + 2 * to.index + (is_above and 1 or 0), self.devices[1]
    local label = ('slices of slab %d for %d'):format(from.index, to.index)
    if from:is_elsewhere() then
        local way = self.ways[from.rank].way
        local link = ways.receive(way, { device = device, type = self.precision, count = count },
            from.rank, tag, label)
        table.insert(self.links, { link = link, slab = to, way = way, device = device, into = {
            offset = to:start(0, is_above and -self.reach or to.nz), count = count } })
        return
    end
    local strip = { buffer = from.state, type = self.precision, count = count, region = {
        width = count * from.element, height = 1, depth = 1,
        src_offset = from:start(0, first) * from.element, src_pitch = count * from.element,
        src_slice = count * from.element } }
    local way = self.ways[to.rank].way
    table.insert(self.links, { link = ways.send(way, strip, to.rank, tag, label), slab = from,
        strip = strip, way = way })
end

-- fields: of slabs.lua; reach: how many slices; is_around: whether the first slab lies above the
-- last. All ranks call it.
function exchange.new(fields, reach, is_around)
    local self = setmetatable({ reach = reach, precision = fields.precision,
        devices = fields.devices, copies = {}, links = {},
        ways = here.size > 1 and ways.of_ranks(fields.devices) }, Exchange)
    local n, all = fields.count, fields.of_part
    local function add(to, from, is_above)
        local is_apart = to:is_elsewhere() or from:is_elsewhere()
        if to:is_elsewhere() and from:is_elsewhere() then return end
        (is_apart and add_link or add_copies)(self, to, from, is_above)
    end
    for k = 1, n > 1 and (is_around and n or n - 1) or 0 do
        local low, high = all[k], all[k % n + 1]
        add(high, low, true)
        add(low, high, false)
    end
    if here.size > 1 then
        local own = {}
        for _, one in ipairs(self.links) do own[one.way] = true end
        self.transport = ways.taken(own)
    end
    return self
end

-- Moves slices between ranks. The host waits for what its devices have queued until then, and for
-- other ranks.
local function move(self, name)
    for _, one in ipairs(self.links) do
        if one.strip then one.strip.buffer = one.slab[name] end
        one.link:pack()
    end
    for _, device in ipairs(self.devices) do device.stream:wait() end
    for _, one in ipairs(self.links) do one.link:start() end
    for _, one in ipairs(self.links) do
        one.link:finish()
        if one.into then one.slab[name]:copy(one.link.buffer, one.into) end
    end
    for _, one in ipairs(self.links) do
        if one.link.settle then one.link:settle() end
    end
end

-- Queues the copies of slabs' buffers of that name.
function Exchange:run(name)
    if self.copies[name] then crossing.run_all(self.copies[name]) end
    if #self.links > 0 then move(self, name) end
end

function Exchange:release()
    for _, list in pairs(self.copies) do
        for _, copy in ipairs(list) do copy:release() end
    end
    for _, one in ipairs(self.links) do one.link:release() end
end

return exchange
