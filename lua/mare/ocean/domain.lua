-- The domain of an ocean: bed, rows and what else surrounds the equations, the same for all ocean
-- schemes. The host half is made, and everything about it checked, before any device is opened; a
-- part gets its share in prepare(). Kernels ask for it by the names in values().

local bed = require 'mare.ocean.bed'
local cells = require 'mare.ocean.cells'
local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'
local edges = require 'mare.ocean.edges'
local forcing = require 'mare.ocean.forcing'
local memory = require 'bindings.memory'
local open = require 'mare.ocean.open'
local part_state = require 'mare.array.state'
local quadrature = require 'mare.schemes.quadrature'
local rivers = require 'mare.ocean.rivers'
local rows = require 'mare.ocean.rows'
local source = require 'mare.base.source'
local timeline = require 'mare.forcing.timeline'
local zlib = require 'bindings.zlib'

local domain = {}

local Domain = {}
Domain.__index = Domain

local frictions = { linear = constants.FRICTION_LINEAR, quadratic = constants.FRICTION_QUADRATIC,
    manning = constants.FRICTION_MANNING }
local by_row = constants.CORIOLIS_BY_ROW
local rotations = { ['nil'] = 0, table = by_row, string = by_row,
    ['function'] = constants.CORIOLIS_BY_CELL }

-- Returns the Coriolis parameter at all centres with their halo, or nil where rows tell it.
local function coriolis_plane(self, f)
    if type(f) ~= 'function' then return nil end
    local g, b = self.grid, self.boundaries
    local halo, plane = g.halo, memory.array(self.precision, self.bed.count)
    for j = -halo, g.ny + halo - 1 do
        for i = -halo, g.nx + halo - 1 do
            local from_i, from_j = g:wrapped(b, i, j)
            local x, y = g:x_centre(from_i), g:y_centre(from_j)
            local value = f(x, y)
            if type(value) ~= 'number' or value - value ~= 0 then
                errors.argument('ocean: coriolis(%g, %g) gives %s, must be a number (1/s)', x, y,
                    tostring(value))
            end
            plane[self.bed:index(i, j)] = value
        end
    end
    return plane
end

-- Makes the host half. scheme: of init.lua. Raises what of it does not fit the grid.
function domain.new(scheme, grid, boundaries, precision)
    local self = { scheme = scheme, grid = grid, boundaries = boundaries, precision = precision }
    self.cells = cells.new(scheme.tide, grid, scheme)
    self.bed = bed.new(grid, boundaries, scheme, precision, scheme.staggered)
    self.rows = rows.new(grid, boundaries, scheme.coriolis)
    self.coriolis = coriolis_plane(self, scheme.coriolis)
    self.forcing = forcing.new(scheme, grid, boundaries)
    self.open = open.new(scheme, self.bed)
    self.rivers = rivers.new(scheme.rivers, self.bed)
    return setmetatable(self, Domain)
end

function Domain:has_land()
    return self.bed.water < self.grid.cells
end

-- Whether there may be places without water, for ever or until they are flooded.
function Domain:has_missing()
    return self:has_land() or not self.scheme.staggered
end

-- Returns what a side of this kind is, in words, which tell open cells too.
function Domain:side_text(side, kind)
    kind = open.text(self.boundaries[side]) or kind
    return self.cells and cells.side_text(self.cells, self.bed, side, kind) or kind
end

-- Returns what is given at cells that are open, in words, or nil.
function Domain:tide_text()
    return self.cells and cells.text(self.cells)
end

-- Returns a text that tells beds apart.
function Domain:checksum()
    local bytes, crc = self.bed.count * (self.precision == 'double' and 8 or 4), 0
    for _, plane in ipairs { self.bed.depth, self.bed.corner or self.bed.depth,
        self.coriolis or self.bed.depth } do
        crc = zlib.crc32(crc, plane, bytes)
    end
    return string.format('%08x', crc)
end

-- Refuses files of forces and boundaries whose records do not cover a run until t_end.
function Domain:check_times(t_end)
    local sources = { self.forcing }
    for _, side in ipairs(self.open) do sources[#sources + 1] = side end
    for _, one in ipairs(sources) do
        for _, records in ipairs(one.files) do records:check_times(t_end) end
    end
end

-- Returns the next time after t at which the devices must get something new.
function Domain:next_time(t)
    local time = timeline.next_time(self.forcing.times, t)
    for _, side in ipairs(self.open) do
        time = math.min(time, timeline.next_time(side.times, t))
    end
    return time
end

-- Gives a part what belongs to time t.
function Domain.update(_, state, t)
    state.domain.forcing:update(t)
    for _, edge in ipairs(state.domain.edges) do edge.records:update(t) end
end

-- ---- the device half ----

-- Returns the planes of the bed of a scheme, and how many there are.
local function planes_of(scheme)
    if type(scheme.coriolis) == 'function' then return constants.BED_CORIOLIS + 1 end
    return (scheme.staggered and constants.BED_DEPTH or constants.BED_CORNER) + 1
end

-- Returns how many copies of a state's fields take as much room as the planes of bed and forcing,
-- at most.
function domain.room(scheme)
    return planes_of(scheme) / #scheme.fields + ((scheme.wind or scheme.pressure) and 2 or 0)
end

-- Uploads the planes of the bed that a part sees. Returns their buffer.
local function new_bed(self, state)
    local width = self.grid.nx + 2 * self.grid.halo
    local fields = part_state.new(state.part, { fields = planes_of(self.scheme),
        halo = self.grid.halo, precision = self.precision, buffers = 1, label = 'bed' })
    fields:load_field(constants.BED_DEPTH, self.bed.depth, width)
    if self.bed.corner then
        fields:load_field(constants.BED_CORNER, self.bed.corner, width)
    end
    if self.coriolis then fields:load_field(constants.BED_CORIOLIS, self.coriolis, width) end
    return fields.now
end

local function release(share)
    for _, name in ipairs { 'bed', 'rows', 'forcing' } do share[name]:release() end
    edges.release(share.edges)
    if share.cells then cells.release(share.cells) end
    if share.rivers then rivers.release(share.rivers) end
end

-- Gives a part its share: state.domain, which the state releases.
function domain.prepare(self, state)
    local part = state.part
    local list = rows.part(self.rows, self.grid, part.j0, part.ny)
    local row_buffer = state.device:buffer { type = self.precision, count = #list,
        label = 'rows of part ' .. part.index }
    row_buffer:upload(list)
    state.domain = {
        host = self, bed = new_bed(self, state), rows = row_buffer, release = release, kernels = {},
        forcing = self.forcing:records(state),
        edges = edges.prepare(self.open, state), cells = cells.prepare(self.cells, state, self.bed),
        rivers = rivers.prepare(self.rivers, state),
    }
end

-- Returns arguments of kernels by name, beside those of the state and the step.
function domain.values(state)
    local host, share = state.domain.host, state.domain
    local scheme = host.scheme
    local dx, dy = host.grid:cell_size(0.5 * (host.grid.y[1] + host.grid.y[2]))
    return {
        south = 1, north = 1, wraps = 0,        -- no source, and ghost cells on all sides
        slot = 0,                               -- of those that find no largest rate
        bed = share.bed, rows = share.rows, row_count = state.layout.rows, g = scheme.g,
        dx = dx, dy = dy, inv_dx = 1 / dx, inv_dy = 1 / dy,
        friction = scheme.friction and scheme.friction.coefficient or 0,
        viscosity = scheme.viscosity, rho = scheme.rho, dry = scheme.dry or 0,
        forcing = share.forcing.buffer, forcing_times = share.forcing.moments,
    }
end

-- This takes the place of PARAMETERS in a kernel: the type `surroundings` of domain.h.
local parameters = { 'const MR_GLOBAL real *MR_RESTRICT bed',
    'const MR_GLOBAL real *MR_RESTRICT rows', 'int row_count', 'real g', 'real viscosity' }

-- Returns what device:program takes to compile a kernel file for the ocean. desc: as of
-- source.program.
function domain.program(file, desc)
    local text, given = source.with_parameters(file, parameters)
    desc.defines.GIVEN = given
    return source.text(text, file, desc)
end

-- Returns defines of kernels that include ocean/domain.h; self is what scheme:kernels(device,
-- precision, host) gets.
function domain.defines(self)
    local scheme = self.scheme
    return {
        METRIC = self.grid.spherical and 1 or 0, FORCING = self.forcing:kind(),
        CORIOLIS = rotations[type(scheme.coriolis)],
        CELL_RATE = scheme.staggered and '"physics/ocean/c_grid_rate.h"'
            or '"physics/ocean/volume_rate.h"',
        STAGGERED = scheme.staggered and 1 or 0, OPEN_SIDES = #self.open > 0 and 1 or 0,
        TOTAL = (not scheme.staggered or scheme.nonlinear) and 1 or 0,
        FRICTION = scheme.friction and frictions[scheme.friction.kind] or 0,
        VISCOSITY = scheme.viscosity > 0 and 1 or 0,
        FILTER_PERIOD = scheme.filter_period, FILTER_STEPS = scheme.filter_steps,
    }
end

-- Returns those of a kernel that measures signal rates. What rates do not depend on is as in the
-- plainest ocean, so that few programs serve all.
function domain.rate_defines(self)
    local defines = domain.defines(self)
    defines.FORCING, defines.FRICTION, defines.OPEN_SIDES = 0, 0, 0
    if not self.scheme.staggered then defines.CORIOLIS = 0 end
    return defines
end

-- Returns those of kernels that run beside a step: of drifters, open sides, sponges, rivers and
-- cells with a tide. Again what they do not depend on is as in the plainest ocean.
function domain.beside_defines(self)
    local defines = domain.defines(self)
    defines.FORCING, defines.FRICTION, defines.CORIOLIS = 0, 0, 0
    defines.VISCOSITY, defines.OPEN_SIDES, defines.CELL_RATE = 0, 0, nil
    return defines
end

-- ---- initial state ----

-- Returns the depth of still water at the west or south face of a C-grid cell; nil where it is
-- closed.
local function face_depth(self, i, j, di, dj)
    local b = self.bed
    local least = -self.grid.halo
    local k, l = math.max(least, i - di), math.max(least, j - dj)
    if b:is_land(i, j) or b:is_land(k, l) then return nil end
    return 0.5 * (b:depth_at(i, j) + b:depth_at(k, l))
end

-- mean(f, count, dx, dy): of quadrature.lua
local function staggered_cell(self, initial, mean)
    local g, nonlinear = self.grid, self.scheme.nonlinear
    local elevation = mean(initial, 1, g.dx, g.dy)
    local transport_x = mean(function(x, y, depth)
        local eta, u = initial(x, y)
        return (depth + (nonlinear and eta or 0)) * u
    end, 1, 0, g.dy)
    local transport_y = mean(function(x, y, depth)
        local eta, _, v = initial(x, y)
        return (depth + (nonlinear and eta or 0)) * v
    end, 1, g.dx, 0)
    return function(i, j)
        local x, y = g:x_centre(i), g:y_centre(j)
        local eta = elevation(x, y)
        local west, south = face_depth(self, i, j, 1, 0), face_depth(self, i, j, 0, 1)
        return self.bed:is_land(i, j) and 0 or eta,
            west and transport_x(x - 0.5 * g.dx, y, west) or 0,
            south and transport_y(x, y - 0.5 * g.dy, south) or 0
    end
end

local function centred_cell(self, initial, mean)
    local g, b = self.grid, self.bed
    local water = mean(function(x, y, depth)
        local eta, u, v = initial(x, y)
        eta = math.max(eta, -depth)
        return eta, (depth + eta) * u, (depth + eta) * v
    end, 3, g.dx, g.dy)
    return function(i, j)
        if b:is_land(i, j) then return 0, 0, 0 end
        return water(g:x_centre(i), g:y_centre(j), b:depth_at(i, j))
    end
end

-- initial(x, y) -> eta (m, raised to a bed that lies above it), u, v (m/s) becomes a function
-- (i, j) -> eta, hu, hv: what is there at the centres of cells, on C-grids of faces, or with more
-- than one of `points` an axis the means over cells and along faces, of water as deep as theirs.
function domain.sampler(self, initial, points)
    local weight = self.grid.spherical and function(y) return math.cos(math.rad(y)) end or nil
    local function mean(f, count, dx, dy)
        return quadrature.mean(points or 1, f, count, dx, dy, weight)
    end
    return (self.scheme.staggered and staggered_cell or centred_cell)(self, initial, mean)
end

function Domain.values(_, state)
    return domain.values(state)
end

Domain.defines, Domain.beside_defines = domain.defines, domain.beside_defines

return domain
