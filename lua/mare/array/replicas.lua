-- A replica is memory of which every device has its own copy: tables, particles,
-- the maxima of parts, sums of pixels. As an argument of map() it stands for the
-- copy on the device of the part. Devices learn from each other by one of these:
--
--     r:share(range)     says which elements each part owns, and r:exchange()
--                        copies them to the other devices
--     r:collect()        copies everything to the first device
--     r:adopt { ... }    makes launches that merge the copy of another device

local map = require 'mare.array.map'
local tables = require 'bindings.tables'

local replicas = {}

local Replicas = {}
Replicas.__index = Replicas

-- Allocates the copies. desc: { type, count, label, values = a list of all elements
-- (nil: they are undefined), collected = whether the first device has room for the
-- copies of all, with its own in front }
function replicas.new(fields, desc)
    local self = setmetatable({ fields = fields, buffers = {}, count = desc.count,
        segments = {} }, Replicas)
    for k, device in ipairs(fields.devices) do
        local copies = desc.collected and k == 1 and #fields.devices or 1
        local b = device:buffer { type = desc.type, count = copies * desc.count,
            label = desc.label }
        if desc.values then b:upload(desc.values) end
        self.buffers[k], self.buffers[device] = b, b
    end
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
                self.segments[#self.segments + 1] = { from = self:on(s), to = self.buffers[device],
                    region = { offset = first, src_offset = first, count = count } }
            end
        end
    end
end

-- Copies what each part owns to the other devices.
function Replicas:exchange()
    for k = 1, #self.segments do
        local segment = self.segments[k]
        segment.to:copy(segment.from, segment.region)
    end
end

-- Copies everything to the first device, one copy after the other.
function Replicas:collect()
    self.collections = self.collections or {}
    for k = 2, #self.buffers do
        self.collections[k] = self.collections[k]
            or { offset = (k - 1) * self.count, src_offset = 0, count = self.count }
        self.buffers[1]:copy(self.buffers[k], self.collections[k])
    end
end

local Adoption = {}
Adoption.__index = Adoption

-- Binds what tells each device about the parts of others: this copy goes from the
-- device of the part into replica `foreign` of the other, where a kernel takes over
-- what belongs to the part. desc: as for map(), and foreign.
function Replicas:adopt(desc)
    local self_fields, list = self.fields, {}
    for _, s in ipairs(self_fields.states) do
        for _, device in ipairs(self_fields.devices) do
            if not s:is_on(device) then
                local there = setmetatable({ device = device }, { __index = s })
                local full = tables.merged(desc, { pieces = { { state = there, i = 0, j = 0,
                    columns = s.part.nx, rows = s.part.ny, step = 1 } } })
                list[#list + 1] = { from = self:on(s), to = desc.foreign:on(there),
                    launch = map.new(self_fields, full) }
            end
        end
    end
    return setmetatable({ list = list }, Adoption)
end

function Adoption:run()
    for k = 1, #self.list do
        local one = self.list[k]
        one.to:copy(one.from)
        one.launch:run()
    end
end

function Adoption:release()
    for _, one in ipairs(self.list) do one.launch:release() end
end

function Replicas:release()
    for _, b in ipairs(self.buffers) do b:release() end
end

return replicas
