-- Parcels: what goes from one device of this process to another that it does not reach, through
-- pinned memory of the host. A kernel puts strips of cells into a parcel, one behind the other, and
-- the largest rate of its device in front of them (array/parcel.krn), since a transfer costs the
-- host as much as a launch, however short it is: a device has one download and one upload for each
-- other one. The memory of the host has two halves that are used in turn: all devices are waited
-- for between pack() and bring(), so that the half of the exchange before the last is free.

local rates = require 'mare.links.rates'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local parcels = {}

local Parcels = {}
Parcels.__index = Parcels

local lead = 32         -- elements in front of the strips; the first is the rate

-- Those of one exchange of fields along one axis, none so far. gradual: see clock.krn
function parcels.new(fields, gradual)
    return setmetatable({ fields = fields, gradual = gradual and 1 or 0, programs = {}, list = {},
        half = 1, packs = {}, on = {}, unpacks = {}, has_unpack = {} }, Parcels)
end

local function kernel_of(self, device, name)
    local group, fields = rates.group_of(device), self.fields
    self.programs[group] = self.programs[group] or source.program('array/parcel.krn', {
        defines = { HALO = fields.halo, MARE_REAL = fields.precision, GROUP = group,
            GRADUAL = self.gradual } })
    return fields:kernel(device, self.programs[group], name), group
end

local function parcel_of(self, from, to)
    for _, one in ipairs(self.list) do
        if one.from == from and one.to == to then return one end
    end
    local one = { from = from, to = to, count = lead, strips = {} }
    self.list[#self.list + 1] = one
    return one
end

-- Adds a strip to what goes from one device to another. strip, packed: of strips.to_move. Returns
-- how and in which `parcel` it comes there.
function Parcels:add(from, to, strip, packed)
    local one, place = parcel_of(self, from, to), strip.place
    packed.parcel, packed.origin = one, one.count
    one.count = one.count + strip.count
    one.strips[#one.strips + 1] = { buffer = place.buffer, fields = strip.fields, strip = {
        lines = strip.lines, origin = place.origin, along = place.along, across = place.across,
        plane = place.plane, packed_origin = packed.origin, packed_along = packed.along,
        packed_across = packed.across, packed_plane = packed.plane } }
    return packed
end

local function allocate(one, type)
    local label = ('cells from %s for %s'):format(one.from.name, one.to.name)
    local desc = { type = type, count = one.count, label = label }
    one.packed, one.buffer = one.from:buffer(desc), one.to:buffer(desc)
    one.halves = { one.from:host(desc), one.from:host(desc) }
    one.download, one.upload = { count = one.count }, { count = one.count }
end

-- One launch packs two strips, those of a part with two neighbours on another device.
local function bind_packs(self, one)
    local kernel, group = kernel_of(self, one.from, 'pack')
    for k = 1, #one.strips, 2 do
        local a, b = one.strips[k], one.strips[k + 1]
        local second = b or { buffer = a.buffer, strip = tables.merged(a.strip, { lines = 0 }) }
        self.packs[#self.packs + 1] = kernel:bind { first_cells = a.buffer, first = a.strip,
            second_cells = second.buffer, second = second.strip, parcel = one.packed,
            fields = a.fields, maxima = one.packed, count = 0, group = { group, 1 }, global = {
                group * math.ceil(math.max(a.strip.lines, second.strip.lines) / group),
                2 * a.fields + 1 } }
        self.on[#self.on + 1] = one.from
        one.pack = one.pack or self.packs[#self.packs]
    end
end

-- Allocates what has been added, or returns nil where that is nothing.
function Parcels:make()
    if #self.list == 0 then return nil end
    for _, one in ipairs(self.list) do
        allocate(one, self.fields.precision)
        bind_packs(self, one)
    end
    return self
end

-- Returns the launch that fills ghost cells of a part as one of halo.krn with these arguments does,
-- and ticks the clock of its device; nil where another part has that, or there is no clock.
function Parcels:unpack(state, values)
    local device, clock = state.device, state.clock
    if not clock or self.has_unpack[device] then return nil end
    local launch = kernel_of(self, device, 'unpack'):bind(tables.merged(values,
        { clock = clock, rate = 0 }))
    self.has_unpack[device], self.unpacks[#self.unpacks + 1] = true, launch
    return launch
end

-- Whether they bring the rates of all devices, whose clocks unpack() ticks.
function Parcels:ticks()
    for _, device in ipairs(self.fields.devices) do
        if not (self.has_unpack[device] and self:from(device)) then return false end
    end
    return true
end

-- Tells those ticks the rate.
function Parcels:tell(rate)
    for k = 1, #self.unpacks do self.unpacks[k]:set('rate', rate) end
end

-- Lets the next pack() take the rate of a device from its maxima.
function Parcels:take_rate(device, maxima, count)
    local launch = self:from(device).pack
    launch:set('maxima', maxima)
    launch:set('count', count)
end

-- Queues what brings all to the host. streams: by device, those that it is queued on, or nil
function Parcels:pack(streams)
    self.half = 3 - self.half
    for k = 1, #self.packs do self.packs[k]:run(streams and streams[self.on[k]]) end
    for k = 1, #self.list do
        local one = self.list[k]
        one.pack:set('count', 0)
        one.download.into = one.halves[self.half]
        one.download.stream = streams and streams[one.from] or one.from.stream
        one.packed:download(one.download)
    end
end

-- Queues what brings it on, once the devices that it comes from have been waited for.
function Parcels:bring(streams)
    for k = 1, #self.list do
        local one = self.list[k]
        one.upload.stream = streams and streams[one.to] or one.to.stream
        one.buffer:upload(one.halves[self.half], one.upload)
    end
end

-- Returns the first parcel that comes from a device, which has its rate, or nil.
function Parcels:from(device)
    for k = 1, #self.list do
        if self.list[k].from == device then return self.list[k] end
    end
end

-- Returns the rate that came from a device.
function Parcels:rate(device) return self:from(device).halves[self.half].data[0] end

function Parcels:release()
    for _, launches in ipairs { self.packs, self.unpacks } do
        for _, launch in ipairs(launches) do launch:release() end
    end
    for _, one in ipairs(self.list) do
        one.packed:release()
        one.buffer:release()
        for _, host in ipairs(one.halves) do host:release() end
    end
end

return parcels
