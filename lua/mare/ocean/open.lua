-- Open sides of an ocean, on the host: what is known beyond them, from a script's description.
--
--   { kind = 'flather', ... }      waves leave; elevation and current beyond are known, or at rest
--   { kind = 'elevation', ... }    the elevation at the side is known, whatever leaves is reflected
--   { kind = 'sponge', width = cells, ... }    flather, and the state is drawn to what is known
--   { kind = 'nesting', file = 'FILE.nc', through = 'sponge' or 'flather', ... }
--       what is known lies in a file: variables eta, hu and hv, or as these fields call them
--   { kind = 'pieces', { to = 2e5, side = 'reflective' }, { side = { kind = 'flather', ... } } }
--       such sides and walls follow one another, from the lower end on, each to a coordinate (m or
--       degrees): schemes/sides.lua
--
-- Known are eta (m), hu and hv (m2/s) or u and v (m/s), each as timeline.new takes it, and
-- but for a sponge constituents of tides, see tide.lua, which grow to their full height in `ramp`
-- seconds. The device half is edges.lua.

local bed_module = require 'mare.ocean.bed'
local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'
local grid_module = require 'mare.array.grid'
local gridded = require 'mare.forcing.gridded'
local scheme_sides = require 'mare.schemes.sides'
local tables = require 'bindings.tables'
local timeline = require 'mare.forcing.timeline'
local tide = require 'mare.forcing.tide'

local open = {}

local Side = {}
Side.__index = Side

open.kinds = {
    flather = 'waves leave, what is known beyond comes in',
    elevation = 'the elevation is known',
    sponge = 'flather, and relaxation within `width` cells',
    nesting = 'one of these two, with what a file knows',
    pieces = 'other kinds and walls follow one another along the side',
}

local elevation = { kind = 'string', eta = 'any', constituents = 'table', ramp = 'number' }
local sponge = { kind = 'string', eta = 'any', hu = 'any', hv = 'any', u = 'any', v = 'any',
    width = 'number' }
local flather = { kind = 'string', eta = 'any', hu = 'any', hv = 'any', u = 'any', v = 'any',
    constituents = 'table', ramp = 'number' }
local nesting = {
    kind = 'string', file = 'string', through = { sponge = true, flather = true }, width = 'number',
    eta = 'string', hu = 'string', hv = 'string', start = 'string', position = 'function',
    hold = 'boolean',
}
local fields = { elevation = elevation, flather = flather, sponge = sponge, nesting = nesting }

local function fail(self, message, ...)
    errors.argument('ocean: boundary in the %s: ' .. message, self.place_text, ...)
end

local function check_width(self, given)
    local cells = self.axis == 'x' and self.grid.nx or self.grid.ny
    local width = given.width
    if not width or width < 1 or width % 1 ~= 0 then
        fail(self, 'width = %s, must be a whole number of cells from 1', tostring(width))
    end
    if width > cells / 2 then
        fail(self, 'a sponge of %d cells in a grid of %d along %s, at most %d', width, cells,
            self.axis, math.floor(cells / 2))
    end
    return width
end

-- Returns hu or u as a function (t, x, y, depth of the water there) and its times; nil where
-- neither is given.
local function transport(self, given, name)
    local what = self.what .. ': ' .. name
    if given['h' .. name] and given[name] then fail(self, '%s and h%s are one', name, name) end
    local total, single = given['h' .. name], given[name]
    if not total and not single then return nil end
    local known = timeline.new(what, total or single, 1)
    return { times = known.times, records = known.records, at = function(t, x, y, depth)
        return known.at(t, x, y) * (total and 1 or depth)
    end }
end

local function check_tide(self)
    local currents = 0
    for _, wave in ipairs(self.tide) do currents = currents + (wave.current and 1 or 0) end
    if self.kind ~= 'elevation' and currents < #self.tide then
        fail(self, "a tide wants its current_amplitude and current_phase too; with its elevation "
            .. "alone use kind = 'elevation'")
    end
end

-- Makes what a file knows a sponge or flather side. Where the file has land nothing flows.
local function from_file(given)
    local function variable(name)
        local elevation_known = name == 'eta'
        return gridded.new { file = given.file, variable = given[name] or name,
            start = given.start, fill = elevation_known or nil, hold = given.hold,
            quantity = elevation_known and 'length' or 'transport',
            missing = not elevation_known and 0 or nil }:timeline(given.position)
    end
    return { kind = given.through or 'sponge', width = given.width, eta = variable 'eta',
        hu = variable 'hu', hv = variable 'hv' }
end

-- piece: which of the side's pieces this is the first of, or nil.
local function new_side(side, given, scheme, bed, piece)
    local grid, place = bed.grid, side .. (piece and (', piece %d'):format(piece) or '')
    errors.fields('ocean: boundary in the ' .. place, given, fields[given.kind])
    if given.kind == 'nesting' then given = from_file(given) end
    local self = setmetatable({
        side = side, kind = given.kind, grid = grid, bed = bed, scheme = scheme,
        boundaries = bed.boundaries, pieces = { [piece or 1] = true }, place_text = place,
        axis = (side == 'west' or side == 'east') and 'x' or 'y', what = place .. ' boundary',
        high = side == 'east' or side == 'north', width = 0, ramp = given.ramp or 0,
    }, Side)
    self.is_still = (given.eta or 0) == 0 and not (given.hu or given.hv or given.u or given.v
        or given.constituents)
    if given.kind == 'sponge' then self.width = check_width(self, given) end
    self.total = not scheme.staggered or scheme.nonlinear or false
    self.cells = self.axis == 'x' and grid.ny or grid.nx
    self.eta = timeline.new(self.what .. ': eta', given.eta or 0, 1)
    self.hu, self.hv = transport(self, given, 'u'), transport(self, given, 'v')
    self.tide = tide.new(self.what, given.constituents, self.cells)
    check_tide(self)
    local known = { self.eta }
    for _, name in ipairs { 'hu', 'hv' } do known[#known + 1] = self[name] end
    self.times, self.files = timeline.union(known), timeline.records(known)
    self:at((timeline.around(self.times, 0)), 0, 0)     -- what cannot be, raises before any device
    return self
end

-- Refuses a piece that is no open side and no wall.
local function check_piece(what, given)
    local kind = type(given) == 'table' and given.kind or given
    if kind ~= 'reflective' and not fields[kind] then
        errors.argument("%s: side = '%s', must be reflective or { kind = %s, ... }", what,
            tostring(kind), tables.names(fields))
    end
end

-- Pieces that are one table are one open side, which costs the launches of one.
local function add_pieces(list, side, given, scheme, bed)
    local first, made = #list + 1, {}
    scheme_sides.check_pieces(side, given, check_piece)
    for k, piece in ipairs(given) do
        local known = type(piece.side) == 'table' and piece.side
        if known and made[known] then
            made[known].pieces[k] = true
        elseif known then
            made[known] = new_side(side, known, scheme, bed, k)
            list[#list + 1] = made[known]
        end
    end
    if not list[first] then
        errors.argument("ocean: boundary in the %s: all pieces are walls: write 'reflective'", side)
    end
    list[first].has_walls = true
end

-- Returns all open sides and pieces of sides, in the order in which they are filled.
function open.new(scheme, bed)
    local list = {}
    for _, side in ipairs(grid_module.sides) do
        local given = bed.boundaries[side]
        if type(given) == 'table' and given.kind == 'pieces' then
            add_pieces(list, side, given, scheme, bed)
        elseif type(given) == 'table' then
            list[#list + 1] = new_side(side, given, scheme, bed)
        end
    end
    return list
end

-- Returns what pieces are, in words; nil of any other side.
function open.text(given)
    if type(given) ~= 'table' or given.kind ~= 'pieces' then return nil end
    local texts = {}
    for k, piece in ipairs(given) do
        local kind = type(piece.side) == 'table' and piece.side.kind or piece.side
        texts[k] = piece.to and ('%s to %.17g'):format(kind, piece.to) or kind
    end
    return table.concat(texts, ', then ')
end

-- Returns what is known of the transports: the sum of KNOWN_*.
function Side:known()
    if self.kind == 'elevation' then return 0 end
    local along = self.axis == 'x' and self.hv or self.hu
    return constants.KNOWN_NORMAL
        + ((self.kind == 'sponge' or along) and constants.KNOWN_ALONG or 0)
end

-- Returns the rows of what is known: the side itself, and each cell of the sponge.
function Side:columns()
    return 1 + self.width
end

-- Returns the cell that is d cells from the side on a line, which may lie in the halo beyond either
-- end.
function Side:cell(d, line)
    local g, x = self.grid, self.axis == 'x'
    local k = self.high and (x and g.nx or g.ny) - 1 - d or d
    local i, j = x and k or line, x and line or k
    i, j = g:wrapped(self.boundaries, i, j)
    return math.max(0, math.min(g.nx - 1, i)), math.max(0, math.min(g.ny - 1, j))
end

-- Whether a line is in one of its pieces. The first open piece of a side has those at walls, too.
function Side:has_line(line)
    local given = self.boundaries[self.side]
    if given.kind ~= 'pieces' then return true end
    local i, j = self:cell(0, line)
    local along = self.axis == 'x' and self.grid:y_centre(j) or self.grid:x_centre(i)
    local here, piece = scheme_sides.piece_at(given, along)
    return self.pieces[piece] or self.has_walls and type(here) ~= 'table'
end

-- Returns where the line meets the side.
function Side:place(line)
    local g, i, j = self.grid, self:cell(0, line)
    if self.axis == 'x' then return g.x[self.high and 2 or 1], g:y_centre(j) end
    return g:x_centre(i), g.y[self.high and 2 or 1]
end

-- eta, hu, hv at time t in column 0 (the side) or d + 1 of a line; without the tide. Lines of other
-- pieces have land for eta, which kernels pass over.
function Side:at(t, column, line)
    if not self:has_line(line) then return bed_module.land, 0, 0 end
    local g, i, j = self.grid, self:cell(math.max(0, column - 1), line)
    local x, y = g:x_centre(i), g:y_centre(j)
    if column == 0 then x, y = self:place(line) end
    local x_u, y_v = x, y
    if self.scheme.staggered and column > 0 then x_u, y_v = x - 0.5 * g.dx, y - 0.5 * g.dy end
    local eta = self.eta.at(t, x, y)
    local depth = math.max(0, self.bed:depth_at(i, j)) + (self.total and eta or 0)
    return eta, self.hu and self.hu.at(t, x_u, y, depth) or 0,
        self.hv and self.hv.at(t, x, y_v, depth) or 0
end

-- Elevation and normal transport of a constituent where a line meets the side: cosine and sine of
-- each.
function Side:harmonics(wave, line)
    local i, j = self:cell(0, line)
    local x, y = self:place(line)
    local cell, depth = self.axis == 'x' and j or i, self.bed:depth_at(i, j)
    if self.bed:is_land(i, j) then return 0, 0, 0, 0 end
    local c, s = wave.elevation(cell, x, y)
    if not wave.current then return c, s, 0, 0 end
    local cu, su = wave.current(cell, x, y)
    return c, s, depth * cu, depth * su
end

return open
