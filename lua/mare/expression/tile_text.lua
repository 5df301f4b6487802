-- Writes the kernel of a strided expression some of whose operands have their neighbours along
-- another axis than the results, as the transposed have. A group computes tiles of side x side
-- elements along the first axis and that one. It first reads these operands into local memory,
-- its work-items standing along the operands' neighbours, then computes with its work-items along
-- the results' neighbours. So both reads and writes are of neighbours.

local text = require 'mare.expression.text'
local types = require 'mare.expression.types'
local writer = require 'mare.dialect.writer'

local tile_text = { group = 256 }

-- What a work-item reads before it waits for the first of it.
local at_once = 16

-- Returns the type of elements in local memory: halves are floats there.
local function kept_as(type)
    return type == types.half and types.float or type
end

-- Returns the elements from one row of a tile to the next: an odd number of words, so that
-- work-items along either axis use different banks.
local function pitch(type, side)
    return side + math.max(1, 4 / kept_as(type).size)
end

-- Returns the bytes of local memory that an operand's tile takes.
function tile_text.bytes(type, side)
    return side * pitch(type, side) * kept_as(type).size
end

-- Writes the beginning of the loop over tiles: b1 and b_c are where a tile begins.
local function open_tiles(w, rank, desc, index)
    local c, side = desc.tile.axis, desc.tile.side
    w:open(('for (%s tile = mr_group_x(); tile < tiles; tile += mr_groups_x())'):format(index))
    w:line('const %s across = (n1 + %d) / %d;', index, side - 1, side)
    w:line('%s b1 = tile %% across * %d, rest = tile / across;', index, side)
    w:line('const %s down = (n%d + %d) / %d;', index, c, side - 1, side)
    w:line('%s b%d = rest %% down * %d;', index, c, side)
    if rank > 2 then w:line 'rest /= down;' end
    for d = 2, rank do
        if d ~= c then
            w:line('%s i%d = rest %% n%d;', index, d, d)
            w:line('rest /= n%d;', d)
        end
    end
end

-- Begins a work-item's loop over its rows of a tile: row k.
local function open_rows(w, side)
    local step = tile_text.group / side
    w:open(('for (int r = 0; r < %d; ++r)'):format(side / step))
    w:line('int k = y + r * %d;', step)
end

-- Writes how the group reads its tiles. Behind the ends of axes it reads the last element again.
local function write_reads(w, plan, desc, index)
    local c, side = desc.tile.axis, desc.tile.side
    w:line('MR_UNROLL(%d)', at_once)
    open_rows(w, side)
    w:line('%s i%d = b%d + x < n%d ? b%d + x : n%d - 1;', index, c, c, c, c, c)
    w:line('%s i1 = b1 + k < n1 ? b1 + k : n1 - 1;', index)
    for k, leaf in ipairs(plan.leaves) do
        if desc.tile.leaves[k] then
            local at, from = text.place('p' .. k, desc.rank), 'a' .. k
            w:line('t%d[k * %d + x] = %s;', k, pitch(leaf.type, side),
                leaf.type == types.half and ('mr_half_load(%s, %s)'):format(from, at)
                or ('%s[%s]'):format(from, at))
        end
    end
    w:close()
end

-- Returns the plan as it is once tiles are read, and where its operands are then.
local function of_tiles(plan, desc)
    local leaves, sources, places, to = {}, {}, text.strided_places(plan, desc.rank)
    for k, leaf in ipairs(plan.leaves) do
        leaves[k], sources[k] = leaf, 'a' .. k
        if desc.tile.leaves[k] then
            leaves[k] = { name = leaf.name, type = kept_as(leaf.type) }
            sources[k] = 't' .. k
            places[k] = ('x * %d + k'):format(pitch(leaf.type, desc.tile.side))
        end
    end
    return setmetatable({ leaves = leaves }, { __index = plan }), sources, places, to
end

local function write_results(w, plan, desc, index)
    local c, side, out = desc.tile.axis, desc.tile.side, {}
    local read, sources, places, to = of_tiles(plan, desc)
    for k in ipairs(plan.types) do out[k] = 'out' .. k end
    w:line 'MR_UNROLL(4)'
    open_rows(w, side)
    w:line('%s i1 = b1 + x, i%d = b%d + k;', index, c, c)
    w:open(('if (i1 < n1 && i%d < n%d)'):format(c, c))
    text.write_call(w, read, sources, places, out, to)
    w:close()
    w:close()
end

-- Returns the text of the kernel. desc: see text.of, and tile: { axis, side, leaves: set }
function tile_text.of(plan, desc)
    local w, rank, side = writer.new(), desc.rank, desc.tile.side
    local index = desc.is_wide and 'mr_index' or 'int'
    text.write_function(w, plan)
    local arguments = text.strided_arguments(plan, rank, index, { index .. ' tiles' })
    text.open_kernel(w, arguments, tile_text.group)
    for k, leaf in ipairs(plan.leaves) do
        if desc.tile.leaves[k] then
            w:line('MR_LOCAL %s t%d[%d];', kept_as(leaf.type).stored, k,
                side * pitch(leaf.type, side))
        end
    end
    w:line('int x = mr_lid_x() %% %d, y = mr_lid_x() / %d;', side, side)
    open_tiles(w, rank, desc, index)
    write_reads(w, plan, desc, index)
    w:line 'MR_BARRIER();'
    write_results(w, plan, desc, index)
    w:line 'MR_BARRIER();'
    w:close()
    w:close()
    return w:text()
end

return tile_text
