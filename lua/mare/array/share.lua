-- Brings what this rank holds of the whole grid, with the ghost cells around the domain, into host
-- memory, box after box: of each level of the state the boxes of its parts.

local here = require 'mare.ranks.here'

local share = {}

local Share = {}
Share.__index = Share

-- Returns the share of this rank: { bytes, of_rank = { { bytes, boxes } of each rank } }; a box is
-- where its bytes lie in the whole state: a region of state:saved_box.
function share.new(fields, levels)
    local self = setmetatable({ own = {}, of_rank = {} }, Share)
    for rank = 1, here.size do self.of_rank[rank] = { bytes = 0, boxes = {} } end
    local width, height = fields.grid.nx + 2 * fields.halo, fields.grid.ny + 2 * fields.halo
    for level = 1, levels do
        for _, s in ipairs(fields.of_part) do
            local box = s:saved_box(width, height)
            local held = self.of_rank[(box.rank or here.rank) + 1]
            box.dst_offset = box.dst_offset + (level - 1) * fields:saved_count() * fields.element
            if not s:is_elsewhere() then
                self.own[#self.own + 1] = { state = s, level = level, region = {
                    width = box.width, height = box.height, depth = box.depth,
                    dst_offset = held.bytes, dst_pitch = box.width,
                    dst_slice = box.width * box.height } }
            end
            held.boxes[#held.boxes + 1] = box
            held.bytes = held.bytes + box.width * box.height * box.depth
        end
    end
    self.bytes = self.of_rank[here.rank + 1].bytes
    return self
end

-- Waits for the devices. levels: the buffers that hold the state
function Share:save(host, levels)
    for _, one in ipairs(self.own) do one.state:save(host, levels[one.level], one.region) end
end

return share
