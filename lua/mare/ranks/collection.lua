-- collection.lua - brings boxes of host memory that ranks hold into one memory on
-- rank 0, or on all. On rank 0 a box lies in its place from the start, elsewhere
-- the boxes of a rank lie packed, one after the other: region() says where. A box
-- has the fields of mare_region in mare.h, in bytes.

local box = require 'bindings.box'
local here = require 'mare.ranks.here'
local memory = require 'bindings.memory'
local tables = require 'bindings.tables'

local collection = {}

local Collection = {}
Collection.__index = Collection

local box_tag, spread_tag = 1, 2

local function size_of(region)
    return region.width * region.height * region.depth
end

-- Returns where the own boxes are to lie packed, and how many bytes they are.
local function pack(boxes)
    local regions, bytes = {}, 0
    for k, one in ipairs(boxes) do
        if one.rank == here.rank then
            regions[k] = { width = one.width, height = one.height, depth = one.depth,
                dst_offset = bytes, dst_pitch = one.width, dst_slice = one.width * one.height }
            bytes = bytes + size_of(one)
        end
    end
    return regions, bytes
end

-- boxes: an array of { rank (nil: this one), width, height, depth, dst_offset, dst_pitch,
-- dst_slice }; bytes: of the whole memory; everywhere: whether all ranks want it
function collection.new(boxes, bytes, everywhere)
    for _, one in ipairs(boxes) do one.rank = one.rank or here.rank end
    local self = setmetatable({ boxes = boxes, whole_bytes = bytes, everywhere = everywhere,
        regions = boxes, bytes = bytes }, Collection)
    if here.rank > 0 then
        self.regions, self.bytes = pack(boxes)
        if everywhere then self.bytes = bytes end
    end
    self.is_whole = here.rank == 0 or everywhere or false
    return self
end

-- Returns where box k goes in the memory of this rank. shift: bytes by which the
-- whole lies further back.
function Collection:region(k, shift)
    local region = self.regions[k]
    if not shift or shift == 0 or here.rank > 0 then return region end
    local moved = tables.merged(region, { dst_offset = region.dst_offset + shift })
    moved.rank = nil
    return moved
end

-- Receives the boxes of others and puts them into their places.
local function receive(self, data)
    local world = here.world
    for _, one in ipairs(self.boxes) do
        if one.rank > 0 then
            local bytes = size_of(one)
            if not self.room or self.room_bytes < bytes then
                self.room, self.room_bytes = memory.array('uint8', bytes), bytes
            end
            world:wait(world:receive(self.room, bytes, one.rank, box_tag),
                'the cells of rank ' .. one.rank)
            box.place(data, self.room, one)
        end
    end
end

local function send(self, data)
    local world, sent = here.world, {}
    for k, one in ipairs(self.boxes) do
        if one.rank == here.rank then
            local from = box.behind(data, self.regions[k].dst_offset)
            sent[#sent + 1] = world:send(from, size_of(one), 0, box_tag)
        end
    end
    for _, one in ipairs(sent) do world:wait(one, 'the cells of this rank') end
end

-- Gives all ranks what rank 0 has, by way of a binomial tree.
local function spread(data, bytes)
    local world, mask, sent = here.world, 1, {}
    while mask < here.size and here.rank % (2 * mask) == 0 do mask = 2 * mask end
    if here.rank > 0 then
        world:wait(world:receive(data, bytes, here.rank - mask, spread_tag), 'the cells of all')
    end
    mask = mask / 2
    while mask >= 1 do
        if here.rank + mask < here.size then
            sent[#sent + 1] = world:send(data, bytes, here.rank + mask, spread_tag)
        end
        mask = mask / 2
    end
    for _, one in ipairs(sent) do world:wait(one, 'the cells of all') end
end

-- All ranks call it, when their own boxes are there. data: a pointer to the memory
-- of this rank; shift: as for region()
function Collection:run(data, shift)
    if here.size == 1 then return end
    if here.rank > 0 then
        send(self, data)
    else
        data = box.behind(data, shift or 0)
        receive(self, data)
    end
    if self.everywhere then spread(data, self.whole_bytes) end
end

return collection
