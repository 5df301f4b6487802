-- collection.lua - brings boxes of host memory that ranks hold into one memory on
-- rank 0, or on all. Rank 0 puts its own boxes into their places at once; another
-- rank packs its boxes one after the other. region() says where each box goes. A
-- box has the fields of mare_region in mare.h, in bytes.

local box = require 'bindings.box'
local here = require 'mare.ranks.here'
local memory = require 'bindings.memory'
local tables = require 'bindings.tables'
local tree = require 'mare.ranks.tree'

local collection = {}

local Collection = {}
Collection.__index = Collection

local box_tag, spread_tag = 1, 2

local function size_of(region)
    return region.width * region.height * region.depth
end

-- Returns where this rank packs each of its boxes, and how many bytes they take.
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
-- dst_slice }; bytes: the size of the whole memory; everywhere: whether all ranks
-- want it
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

-- Returns where box k goes in the memory of this rank. shift: how many bytes of
-- other things stand before the whole there
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
            if not self.received or self.received_bytes < bytes then
                self.received, self.received_bytes = memory.array('uint8', bytes), bytes
            end
            world:wait(world:receive(self.received, bytes, one.rank, box_tag),
                'the cells of rank ' .. one.rank)
            box.place(data, self.received, one)
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

-- Gives all ranks what rank 0 has.
local function spread(data, bytes)
    local world, sent = here.world, {}
    local parent, children = tree.of(here.rank, here.size, 0)
    if parent then
        world:wait(world:receive(data, bytes, parent, spread_tag), 'the cells of all')
    end
    for k, child in ipairs(children) do sent[k] = world:send(data, bytes, child, spread_tag) end
    for _, one in ipairs(sent) do world:wait(one, 'the cells of all') end
end

-- Brings the boxes together. All ranks call it, once each has filled its own boxes.
-- data: a pointer to the memory of this rank; shift: as for region()
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
