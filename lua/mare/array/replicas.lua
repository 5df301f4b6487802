-- A replica is memory of which every device has its own copy: tables, particles,
-- the maxima of parts, sums of pixels. As an argument of map() it stands for the
-- copy on the device of the part. Devices learn from each other by one of these:
--
--     r:share(range)     says which elements each part owns, and r:exchange()
--                        copies them to the other devices
--     r:collect()        copies everything to the first device of rank 0
--     r:adopt { ... }    makes launches that merge the copy of another device

local collection = require 'mare.ranks.collection'
local crossing = require 'mare.links.crossing'
local here = require 'mare.ranks.here'
local map = require 'mare.array.map'
local tables = require 'bindings.tables'

local replicas = {}

local Replicas = {}
Replicas.__index = Replicas

-- Returns how many devices each rank has, and all have.
local function count_devices(fields)
    local counts, sum = here.all(#fields.devices), 0
    for _, count in ipairs(counts) do sum = sum + count end
    return counts, sum
end

-- Makes what brings the copies of other ranks' devices to rank 0.
local function new_collection(self, desc, counts)
    local boxes, first, bytes = {}, 0, desc.count * self.buffers[1].element
    for rank, count in ipairs(counts) do
        boxes[rank] = { rank = rank - 1, width = bytes, height = count, depth = 1,
            dst_offset = first * bytes, dst_pitch = bytes, dst_slice = 0 }
        first = first + count
    end
    self.collection = collection.new(boxes, first * bytes)
    self.host = self.fields:host { type = desc.type, label = desc.label,
        count = desc.count * self.collection.bytes / bytes }
end

-- Allocates the copies. desc: { type, count, label, values = a list of all elements
-- (nil: they are undefined), collected = whether the first device of rank 0 has room
-- for the copies of all, with its own in front }
function replicas.new(fields, desc)
    local self = setmetatable({ fields = fields, buffers = {}, count = desc.count,
        segments = {} }, Replicas)
    local counts
    if desc.collected then
        counts, self.layers = count_devices(fields)
    end
    for k, device in ipairs(fields.devices) do
        local copies = desc.collected and k == 1 and here.rank == 0 and self.layers or 1
        local b = device:buffer { type = desc.type, count = copies * desc.count,
            label = desc.label }
        if desc.values then b:upload(desc.values) end
        self.buffers[k], self.buffers[device] = b, b
    end
    if desc.collected and here.size > 1 then new_collection(self, desc, counts) end
    return self
end

-- Returns the copy on the device of a part.
function Replicas:on(own)
    return self.buffers[own.device]
end

-- Returns the copy on the k-th device.
function Replicas:at(k)
    return self.buffers[k]
end

function Replicas:fill(value)
    for k = 1, #self.buffers do self.buffers[k]:fill(value) end
end

-- Binds one launch per device. desc: as for map(), with the number of work-items in
-- `global`.
function Replicas:map(desc)
    local list, seen = {}, {}
    for _, s in ipairs(self.fields.states) do
        if not seen[s.device] then
            list[#list + 1] = { state = s, i = 0, j = 0, columns = 0, rows = 0, step = 1 }
            seen[s.device] = true
        end
    end
    return map.new(self.fields, tables.merged(desc,
        { pieces = list, global = function() return desc.global end }))
end

-- Says what exchange() copies. range(state) returns the first element that a part
-- owns, and how many.
function Replicas:share(range)
    for _, s in ipairs(self.fields.states) do
        local first, count = range(s)
        for _, device in ipairs(self.fields.devices) do
            if not s:is_on(device) then
                self.segments[#self.segments + 1] = crossing.new(self.buffers[device], self:on(s),
                    'copy', { offset = first, src_offset = first, count = count })
            end
        end
    end
end

-- Copies what each part owns to the other devices.
function Replicas:exchange()
    crossing.run_all(self.segments)
end

-- Brings the copies of other ranks to the first device of rank 0, behind those of
-- its own devices. Waits.
local function collect_ranks(self)
    local first = here.rank == 0 and #self.buffers or 0
    for k = 1, here.rank > 0 and #self.buffers or 0 do
        self.buffers[k]:download_region(self.host, { width = self.host.size / #self.buffers,
            height = 1, dst_offset = (k - 1) * self.host.size / #self.buffers })
    end
    self.collection:run(self.host:pointer())
    if here.rank > 0 then return end
    local bytes = self.host.size / self.layers
    self.buffers[1]:upload_region(self.host, { width = (self.layers - first) * bytes, height = 1,
        src_offset = first * bytes, dst_offset = first * bytes })
end

-- Copies everything to the first device of rank 0, one copy after the other.
function Replicas:collect()
    if self.collection then
        if here.rank == 0 then self:collect_devices() end
        return collect_ranks(self)
    end
    self:collect_devices()
end

-- The same for the devices of this rank.
function Replicas:collect_devices()
    self.collections = self.collections or {}
    for k = 2, #self.buffers do
        self.collections[k] = self.collections[k]
            or crossing.new(self.buffers[1], self.buffers[k], 'copy',
                { offset = (k - 1) * self.count, src_offset = 0, count = self.count })
        self.collections[k]:run()
    end
end

local Adoption = {}
Adoption.__index = Adoption

-- Binds what takes over on a device what a part elsewhere has done.
local function take_over(self, desc, s, device)
    local there = setmetatable({ device = device }, { __index = s })
    return map.new(self.fields, tables.merged(desc, { pieces = { { state = there, i = 0, j = 0,
        columns = s.part.nx, rows = s.part.ny, step = 1 } } })), desc.foreign:on(there)
end

-- Makes what brings the first copy of each rank to all of them: memory that has one after the
-- other, the first of it this rank's own until then.
local function new_circle(self)
    local first, boxes = self.buffers[1], {}
    local bytes = first.element * self.count
    for rank = 0, here.size - 1 do
        boxes[rank + 1] = { rank = rank, width = bytes, height = 1, depth = 1,
            dst_offset = rank * bytes, dst_pitch = bytes, dst_slice = bytes }
    end
    return { from = first, list = {}, collection = collection.new(boxes, here.size * bytes, true),
        host = self.fields:host { type = first.type, label = 'copies of all ranks',
            count = here.size * self.count } }
end

-- Adds what this rank learns of the parts of others.
local function add_ranks(self, desc, circle)
    local options = { count = self.count }
    for _, s in ipairs(self.fields.of_part) do
        for _, device in ipairs(s:is_elsewhere() and self.fields.devices or {}) do
            local launch, to = take_over(self, desc, s, device)
            circle.list[#circle.list + 1] = { launch = launch, to = to, options = options,
                data = circle.host:pointer() + s.rank * self.count }
        end
    end
    return circle
end

-- Binds what tells each device about the parts of others: this copy goes from the
-- device of the part into replica `foreign` of the other, where a kernel takes over
-- what belongs to the part. desc: as for map(), and foreign.
function Replicas:adopt(desc)
    local list = {}
    for _, s in ipairs(self.fields.states) do
        for _, device in ipairs(self.fields.devices) do
            if not s:is_on(device) then
                local launch, to = take_over(self, desc, s, device)
                list[#list + 1] = { copy = crossing.new(to, self:on(s), 'copy'), launch = launch }
            end
        end
    end
    return setmetatable({ list = list,
        circle = here.size > 1 and add_ranks(self, desc, new_circle(self)) or nil }, Adoption)
end

-- Waits for the device, and for the other ranks.
local function go_around(circle)
    circle.from:download { into = circle.host, count = circle.from.count }
    circle.collection:run(circle.host:pointer())
    for k = 1, #circle.list do
        local one = circle.list[k]
        one.to:upload(one.data, one.options)
        one.launch:run()
    end
end

-- With several ranks, all call it.
function Adoption:run()
    for k = 1, #self.list do
        local one = self.list[k]
        one.copy:run()
        one.launch:run()
    end
    if self.circle then go_around(self.circle) end
end

function Adoption:release()
    for _, one in ipairs(self.list) do
        one.launch:release()
        one.copy:release()
    end
    if not self.circle then return end
    for _, one in ipairs(self.circle.list) do one.launch:release() end
    self.circle.host:release()
end

function Replicas:release()
    for _, list in ipairs { self.segments, self.collections or {} } do
        for _, copy in pairs(list) do copy:release() end
    end
    for _, b in ipairs(self.buffers) do b:release() end
    if self.host then self.host:release() end
end

return replicas
