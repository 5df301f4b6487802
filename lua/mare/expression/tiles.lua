-- Finds which operands of a strided expression are read through tiles in local memory: those that
-- have their neighbours along another axis than the results (tile_text.lua).

local tile_text = require 'mare.expression.tile_text'

local tiles = {}

-- Whether tiles are used. nil: unless the device is a processor; tests set it
tiles.in_groups = nil

tiles.side = nil        -- elements of a side; nil: what fits best; benchmarks set it

local least_size = 16       -- elements along both axes that tiles are worth
local least_leap = 4        -- steps along the axis of neighbours that the other one's is longer

-- A group has no more than so much local memory, and with less of it more groups run at a time.
local most_bytes, wanted_bytes = 32768, 17408

-- Returns the axis along which a leaf's neighbours are, if that is worth tiles, else nil.
local function axis_of(sizes, layout)
    local axis, step = 1, math.abs(layout[2])
    for d = 2, #sizes do
        local other = math.abs(layout[d + 1])
        if other > 0 and least_leap * other <= step then axis, step = d, other end
    end
    if axis > 1 and sizes[axis] >= least_size then return axis end
end

-- Returns the leaves of a list whose tiles have room, and the bytes that these take.
local function fitting(found, side)
    local chosen, bytes = {}, 0
    for _, entry in ipairs(found) do
        local more = tile_text.bytes(entry.type, side)
        if bytes + more <= most_bytes then
            chosen[#chosen + 1], bytes = entry, bytes + more
        end
    end
    return chosen, bytes
end

local function side_of(found)
    if tiles.side then return tiles.side end
    local chosen, bytes = fitting(found, 64)
    return #chosen == #found and bytes <= wanted_bytes and 64 or 32
end

-- Returns nil, or { axis; side; leaves: set of the numbers of those that are read through tiles;
-- key: of both }. sizes, layouts: see launches.set_layout; leaves: a list of which those of
-- layouts[2] on are the first
function tiles.of(device, sizes, layouts, leaves)
    local in_groups = tiles.in_groups
    if in_groups == nil then in_groups = device.info.kind ~= 'cpu' end
    if not in_groups or #sizes < 2 or sizes[1] < least_size then return nil end
    local axis, found = nil, {}
    for k = 1, #layouts - 1 do
        local own = leaves[k].version and axis_of(sizes, layouts[k + 1])
        if own and own == (axis or own) then
            axis = own
            found[#found + 1] = { k = k, type = leaves[k].type }
        end
    end
    if not axis then return nil end
    local tile = { axis = axis, side = side_of(found), leaves = {}, key = axis * 2 ^ 24 }
    for _, entry in ipairs((fitting(found, tile.side))) do
        tile.leaves[entry.k] = true
        tile.key = tile.key + 2 ^ (entry.k - 1)
    end
    return tile
end

return tiles
