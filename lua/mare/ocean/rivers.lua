-- Rivers of an ocean: water that comes in behind a wall of the grid or anywhere within, and water
-- that leaves by a rating curve. An array of
--
--   { side = 'west', from = y, to = y, flow = ... }    along a reflecting side, or a part of it
--   { at = { x, y }, flow = ... }                      in one cell of water
--
-- flow: m3/s, negative for what leaves, a number or { times =, series = }, linear in between; or
-- instead rating = { { elevation (m), flow (m3/s) }, ... }, by which water leaves at the elevation
-- of each cell. A side's cells share the flow like uniform flow does, by depth^(5/3) of still water
-- and width; where all are dry, by width. What a river brings has no momentum, and the volume that
-- it gives or takes is the flow's to rounding, but that no cell gives more than half its water in a
-- step.

local bind = require 'mare.array.bind'
local errors = require 'bindings.errors'
local scheme_sides = require 'mare.schemes.sides'
local source = require 'mare.base.source'
local timeline = require 'mare.forcing.timeline'

local rivers = {}

local fields = { side = 'string', from = 'number', to = 'number', at = 'table', flow = 'any',
    rating = 'table' }
local sides = { west = true, east = true, south = true, north = true }

local function fail(what, message, ...)
    errors.argument('ocean: %s: ' .. message, what, ...)
end

-- ---- what flows ----

local function rating_of(what, given)
    local at, flow = {}, {}
    for k, row in ipairs(given) do
        local level, out = row[1], row[2]
        if type(level) ~= 'number' or type(out) ~= 'number' or level - level ~= 0
            or out - out ~= 0 then
            fail(what, 'rating %d: { elevation, flow } as two numbers is wanted', k)
        end
        if k > 1 and not (level > at[k - 1] and out >= -flow[k - 1]) then
            fail(what, 'rating %d: elevation %g and flow %g do not rise', k, level, out)
        end
        at[k], flow[k] = level, -out
    end
    if #at == 0 then fail(what, 'rating: at least one { elevation, flow } is wanted') end
    return { at = at, flow = flow, by_level = true }
end

local function flow_of(what, given)
    if (given.flow == nil) == (given.rating == nil) then fail(what, 'flow or rating is wanted') end
    if given.rating then return rating_of(what, given.rating) end
    local known, flow = timeline.new(what .. ': flow', given.flow, 1), {}
    if not known.uniform and #known.times == 0 or known.records then
        fail(what, 'flow: a number or { times =, series = } is wanted')
    end
    if #known.times == 0 then return { at = { 0 }, flow = { (known.at(0, 0, 0)) } } end
    for k, t in ipairs(known.times) do flow[k] = (known.at(t, 0, 0)) end
    return { at = known.times, flow = flow }
end

-- ---- where ----

local function cells_of_side(what, given, bed)
    local g, side, list = bed.grid, given.side, {}
    if not sides[side] then fail(what, "side = '%s', must be west, east, south or north", side) end
    local is_x = side == 'west' or side == 'east'
    for line = 0, (is_x and g.ny or g.nx) - 1 do
        local i = side == 'west' and 0 or side == 'east' and g.nx - 1 or line
        local j = side == 'south' and 0 or side == 'north' and g.ny - 1 or line
        local along = is_x and g:y_centre(j) or g:x_centre(i)
        local inside = along >= (given.from or -math.huge) and along <= (given.to or math.huge)
        if inside and scheme_sides.piece_at(bed.boundaries[side], along) ~= 'reflective' then
            fail(what, 'the side in the %s must be reflective there', side)
        end
        if inside and not bed:is_land(i, j) then list[#list + 1] = { i, j } end
    end
    return list
end

local function cell_at(what, given, bed)
    local g, x, y = bed.grid, given.at[1], given.at[2]
    if type(x) ~= 'number' or type(y) ~= 'number' then fail(what, 'at = { x, y } is wanted') end
    if x < g.x[1] or x > g.x[2] or y < g.y[1] or y > g.y[2] then
        fail(what, 'at = (%g, %g) is outside the grid', x, y)
    end
    local i, j = g:cell(x, y)
    return bed:is_land(i, j) and {} or { { i, j } }
end

-- Gives each cell its share of the flow, by area of the cell (1/m2).
local function share_out(cells, bed)
    local sum, weights = 0, {}
    for pass = 1, 2 do
        for k, cell in ipairs(cells) do
            local depth = math.max(0, bed:depth_at(cell[1], cell[2]))
            weights[k] = pass == 2 and 1 or depth ^ (5 / 3)
            sum = sum + weights[k]
        end
        if sum > 0 then break end
    end
    for k, cell in ipairs(cells) do
        cell.share = weights[k] / sum / bed.grid:cell_area(cell[2])
    end
end

-- The host half: an array of { cells = { { i, j, share = }, ... }, at =, flow =, by_level = }; nil
-- where there are none.
function rivers.new(given, bed)
    if not given then return nil end
    local list = {}
    for k, river in ipairs(given) do
        local what = 'river ' .. k
        errors.fields('ocean: ' .. what, river, fields)
        if (river.side == nil) == (river.at == nil) then
            fail(what, 'side = or at = { x, y } is wanted')
        end
        list[k] = flow_of(what, river)
        list[k].cells = (river.at and cell_at or cells_of_side)(what, river, bed)
        if #list[k].cells == 0 then fail(what, 'there is no water where it comes in') end
        share_out(list[k].cells, bed)
    end
    return #list > 0 and list or nil
end

-- ---- devices ----

local function buffer(state, type, list)
    local b = state.device:buffer { type = type, count = #list, label = 'rivers' }
    b:upload(list)
    return b
end

-- Returns the cells of a part that have rivers, each { element = in a plane, and for each of its
-- rivers { share =, river = its number from 0 } }. One work-item adds up all of a cell.
local function cells_of_part(list, state)
    local part, l, cells, known = state.part, state.layout, {}, {}
    for r, river in ipairs(list or {}) do
        for _, cell in ipairs(river.cells) do
            local i, j = cell[1] - part.i0, cell[2] - part.j0
            if i >= 0 and i < part.nx and j >= 0 and j < part.ny then
                local element = l:offset(0, i, j)
                local own = known[element] or { element = element }
                if not known[element] then known[element], cells[#cells + 1] = own, own end
                own[#own + 1] = { share = cell.share, river = r - 1 }
            end
        end
    end
    return cells
end

-- What a part knows of those in its own cells; nil if there are none.
function rivers.prepare(list, state)
    local cells = cells_of_part(list, state)
    if #cells == 0 then return nil end
    local elements, begin, share, of = {}, { 0 }, {}, {}
    for k, cell in ipairs(cells) do
        for _, own in ipairs(cell) do share[#share + 1], of[#of + 1] = own.share, own.river end
        elements[k], begin[k + 1] = cell.element, #share
    end
    local first, by_level, at, flow = { 0 }, {}, {}, {}
    for r, river in ipairs(list) do
        for k = 1, #river.at do at[#at + 1], flow[#flow + 1] = river.at[k], river.flow[k] end
        first[r + 1], by_level[r] = #at, river.by_level and 1 or 0
    end
    return { count = #elements, elements = buffer(state, 'int64', elements),
        begin = buffer(state, 'int32', begin), share = buffer(state, 'double', share),
        of = buffer(state, 'int32', of), first = buffer(state, 'int32', first),
        by_level = buffer(state, 'int32', by_level), at = buffer(state, 'double', at),
        flow = buffer(state, 'double', flow) }
end

function rivers.release(share)
    for name, one in pairs(share) do
        if name ~= 'count' then one:release() end
    end
end

-- Launches after a step into buffer `which` of a part.
function rivers.launches(state, which)
    local share = state.domain and state.domain.rivers
    if not share then return {} end
    local defines = state.domain.host:beside_defines()
    defines.MARE_REAL = state.precision
    local kernel = state.device:program(source.program('physics/ocean/rivers.krn', {
        defines = defines })):kernel 'rivers'
    local before = state[which == 'other' and 'now' or 'other']
    return { bind(kernel, setmetatable({ state = state[which], before = before,
        third = state.third or before, bed = state.domain.bed, clock = state.clock },
        { __index = share }), { global = share.count }) }
end

return rivers
