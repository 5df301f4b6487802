-- Says how the kernels of kernels/traverse/ are cut into work on a device: work-items, groups,
-- strips and tiles. Results depend on none of it.

local constants = require 'mare.base.constants'
local shapes = require 'mare.shapes'
local source = require 'mare.base.source'

local cuts = {}

cuts.reach = constants.REACH
local reach = cuts.reach
local warp = 32         -- lanes of NVIDIA's GPUs, and of a row of tiles on all

local striped = { 'x', 'y', 'stage', 'rate' }   -- kernels whose strips cuts.work makes

-- Returns the shapes of those, by kernel.
function cuts.striped(scheme, device, precision, part)
    local found = {}
    for _, kernel in ipairs(striped) do
        found[kernel] = shapes.find(kernel, scheme, device, precision, part)
    end
    return found
end

-- Returns the work-items and groups for so many columns and rows.
function cuts.work(shape, columns, rows)
    local global = { math.ceil(columns / shape.W), math.ceil(rows / shape.rows) }
    return global, math.ceil(global[1] / shape.GROUP) * global[2]
end

-- Returns how many lanes exchange values: those of a warp, or of a group.
local function team_of(device, shape)
    return source.shuffles(device.info) and warp or shape.GROUP
end

local bytes = { float = 4, double = 8 }

-- Returns the local memory of a group, in bytes: what its work-items show one another
-- (neighbours.h, where a face is as large as the primitive variables) and `rows` cells of each in a
-- ring (row_ring.h).
local function local_bytes(scheme, precision, group, exchanges, rows)
    local fields, primitives = #scheme.fields, #scheme.equation.primitives
    local shown = exchanges and 3 * primitives + fields or 0
    return (shown + 1 + rows * fields) * group * bytes[precision]
end

-- Cells up to which groups take the places of the tick before as they come free, and fields from
-- which on: on an H200 steps of gas with 2048^2 and 4096^2 cells take 0.8 and 0.6 us less then,
-- with 8192^2 7 us more; those of shallow water by HLL 14.3 -> 17.2 us with 1024^2 cells,
-- 40.9 -> 38.0 with 2048^2, 132.6 -> 169.8 with 4096^2.
local most_programmatic, least_programmatic_fields = 2 ^ 24, 4
local function is_programmatic(scheme, device, part)
    return device.info.has_programmatic and #scheme.fields >= least_programmatic_fields
        and part.nx * part.ny <= most_programmatic
end

local start = 8     -- as of partition.h

-- Returns the edges of a part as march_edges.krn takes them.
local function edges_of(part, teams, strips)
    local rows, bands = part.edge_rows, math.floor(teams / strips)
    local less = rows + start
    local are_high = bands > 2 and (part.ny - 2 * rows) / bands >= 2 * less
    return { rows = rows, less = are_high and less or 0 }
end

-- Rows of a strip, at most. Teams go north at speeds of their own, and where they have come far
-- apart they stand on more pages of memory than the GPU finds quickly: gas on an H200 takes 76.1
-- Gcells/s with 65024^2 cells in strips of 32512 rows, 85.2 in those of 2032, 97.0 of 1016, 97.5 of
-- 508 and 96.2 of 254; with 32768^2 cells 76.3 of 8224 and 100.6 of 516.
cuts.most_rows = 700

-- Returns how march.krn is cut for a part: the columns of a work-item divide those of the part, and
-- as many fields as there are fit into local memory. Where the part has `columns`, those of all
-- parts, it is march_parts.krn; where it stands for `px` x `py` parts, march_joined.krn, whose
-- groups along y are those of a row of parts; where it has `edge_rows`, march_edges.krn. rows: how
-- many it goes over, if not all
local function march_shape(scheme, device, precision, part, rows)
    local choice = shapes.find('march', scheme, device, precision, part)
    local W, room = choice.W, device.info.local_memory
    local exchanges = not source.shuffles(device.info)
    local function fits()
        return local_bytes(scheme, precision, choice.GROUP, exchanges, choice.DEPTH * W) <= room
    end
    while W > 1 and not fits() do W = W / 2 end
    for _, nx in ipairs(part.columns or { part.nx }) do
        while nx % W > 0 do W = W / 2 end
    end
    local team = team_of(device, choice)
    local strips = math.ceil((part.nx + math.max(W, reach) - reach) / (team * W - 2 * reach))
    local py = part.py or 1
    local own_rows, teams = rows or part.ny / py, choice.GROUP / team
    local wanted = math.ceil(strips * own_rows / (choice.rows or 1) / teams)
    local resident = (choice.resident or math.huge) * device.info.compute_units
    local groups = math.min(math.max(1, math.floor(resident / py)), wanted)
    local turns = math.ceil(strips * own_rows / (groups * teams) / cuts.most_rows)
    groups = math.min(groups * turns, wanted)
    local kernel = part.py and 'march_joined' or part.columns and 'march_parts'
        or part.edge_rows and 'march_edges' or 'march'
    return { kernel = kernel, choice = choice, W = W,
        edges = part.edge_rows and edges_of(part, groups * teams, strips),
        GROUP = choice.GROUP, DEPTH = choice.DEPTH, TEAM = team, groups = groups * py,
        HAS_MARGIN = part.margin and 1, programmatic = is_programmatic(scheme, device, part),
        global = { groups * choice.GROUP, py } }
end
cuts.march = march_shape

local tile_rows = { 6, 5, 4, 3, 8 }

-- Returns the strips and bands of tiles.
local function tiles_of(part, group, rows)
    return math.ceil(part.nx / (warp - 2 * reach)),
        math.ceil(part.ny / (group / warp * rows - 2 * reach))
end

-- Returns the first of tile_rows with which the busiest compute unit has the fewest rows to
-- compute, and how many these are.
function cuts.even_rows(part, group, units)
    local best, least = nil, math.huge
    for _, rows in ipairs(tile_rows) do
        local strips, bands = tiles_of(part, group, rows)
        local load = math.ceil(strips * bands / units) * rows
        if load < least then best, least = rows, load end
    end
    return best, least
end

-- Returns how tile.krn is cut: into lower tiles where more fields would not fit into local memory.
local function tile_shape(scheme, device, precision, part)
    local choice = shapes.find('tile', scheme, device, precision, part)
    local group, W = choice.GROUP, choice.W
    while group > 2 * warp
        and local_bytes(scheme, precision, group, true, 0) > device.info.local_memory do
        group = group / 2
    end
    if choice.even then W = cuts.even_rows(part, group, device.info.compute_units) end
    local strips, bands = tiles_of(part, group, W)
    return { kernel = 'tile', choice = choice, W = W, GROUP = group, TEAM = warp,
        global = { strips * group, bands }, groups = strips * bands }
end

-- Returns which kernel takes a step in one pass: tile.krn where cells are few, unless another is
-- tuned.
function cuts.one_pass(scheme, device, precision, part)
    if part.columns or part.margin or shapes.is_tried 'march' then return 'march' end
    local is_small = part.cells <= shapes.find('tile', scheme, device, precision, part).cells
    return (is_small or shapes.is_tried 'tile') and 'tile' or 'march'
end

-- Whether persistent.krn can run: groups of CUDA alone may wait for one another, from sm_70 on, and
-- the domain has to go around in one part.
function cuts.may_persist(scheme, state, part)
    local sm = state.device.info.arch:match '^sm_(%d+)'
    return scheme.persists and sm and tonumber(sm) >= 70 and state.precision == 'float'
        and state.around.x and state.around.y and part.settle and part.first == 'x'
        and not scheme.has_source and not shapes.is_tried 'tile'
end

local persistent_group, interior_warps, most_rows = 384, 8, 4

-- Returns how it is cut: into no more tiles than there are compute units, as low as can be but of
-- 16 rows. nil where the cells do not fit, or where tile.krn is faster: a row of its costs half as
-- much.
function cuts.persistent(part, units, tile)
    local strips = math.ceil(part.nx / (2 * warp))
    local bands = math.min(math.floor(units / strips), math.floor(part.ny / (2 * interior_warps)))
    local rows = math.ceil(math.ceil(part.ny / bands) / interior_warps)
    if part.nx % 2 > 0 or part.nx < 8 or bands < 1 or rows > most_rows then return nil end
    local _, load = cuts.even_rows(part, tile.GROUP, units)
    if not tile.even or load <= 2 * rows then return nil end
    return { kernel = 'persistent', ROWS = rows, GROUP = persistent_group, WARP = warp, W = 2,
        RATE_PAIRS = math.ceil(strips * bands / (2 * warp)), groups = strips * bands,
        global = { strips * persistent_group, bands } }
end

-- Returns how the kernel is cut that takes a step in one pass.
function cuts.one_pass_shape(scheme, device, precision, part)
    part = part.joined or part
    local shape = cuts.one_pass(scheme, device, precision, part) == 'tile' and tile_shape
        or march_shape
    return shape(scheme, device, precision, part)
end

-- Returns how many maxima the kernels of a part write at most: one a group, and steps that tick in
-- two places.
function cuts.maxima(scheme, device, part)
    local most = 0
    for _, precision in ipairs { 'float', 'double' } do
        for _, shape in pairs(cuts.striped(scheme, device, precision, part)) do
            local _, groups = cuts.work(shape, part.nx, part.ny)
            most = math.max(most, groups)
        end
        local shape = cuts.one_pass_shape(scheme, device, precision, part)
        most = math.max(most, shape.kernel == 'tile' and 2 * shape.groups or shape.groups)
        if part.margin then
            local rows = part.ny + 2 * part.margin
            most = math.max(most, march_shape(scheme, device, precision, part, rows).groups)
        end
    end
    return most
end

return cuts
