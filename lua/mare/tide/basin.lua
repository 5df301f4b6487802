-- A sea from a NetCDF file that follows CF: depths or heights over latitude and
-- longitude, or over x and y of a map. It becomes a grid, depths with NaN on
-- land, and, if the file has it, the tide on an open boundary of any shape, in
-- the layout of COHERENS' shelf models: obc_j, obc_i are the cells just beyond
-- the model area (from 0; they may lie one cell outside the grid),
-- obc_interior_j, _i the water behind each, and constituent_name names the
-- constituents of obc_amplitude (m) and obc_phase (degrees behind Greenwich).
-- Instead, a table may hold the tide: i,j,NAME_amplitude_m,NAME_phase_deg, with
-- one line per open cell.

local dataset = require 'mare.files.dataset'
local earth = require 'mare.forcing.earth'
local errors = require 'bindings.errors'
local gauges = require 'mare.tide.gauges'
local grid = require 'mare.array.grid'
local gridded = require 'mare.forcing.gridded'
local memory = require 'bindings.memory'
local nest = require 'mare.tide.nest'
local random = require 'mare.base.random'

local basin = {}

local Basin = {}
Basin.__index = Basin

local function fail(self, ...)
    errors.usage('%s: %s', self.path, string.format(...))
end

-- ---- reading the file ----

local function read(self, name)
    local ok, data, n, shape = pcall(self.set.file.get, self.set.file, name)
    if not ok then fail(self, "variable '%s' is missing, or cannot be read: %s", name, data) end
    return data, n, shape
end

local metres = { m = true, metre = true, metres = true, meter = true, meters = true }
local heights = { altitude = true, surface_altitude = true, height_above_mean_sea_level = true,
    height_above_reference_ellipsoid = true, height_above_geopotential_datum = true }

-- Returns the mask of a file and its value on land: a variable with CF's
-- standard name of a mask, or with such a name; nil if there is none.
local function read_mask(self)
    for name in pairs(self.set.fields) do
        local field = self.set:field(name)
        local standard = field.attributes.standard_name
        local of_land = standard == 'land_binary_mask' or name == 'land_mask'
        local of_sea = standard == 'sea_binary_mask' or name == 'sea_mask' or name == 'mask_rho'
        if (of_land or of_sea) and field.rank == 2 then
            return self.set:read(field, 1), of_land and 1 or 0
        end
    end
end

-- Reads the edges of the grid along both axes, in degrees or metres.
local function read_axes(self, field)
    local unit, scale = tostring(field.length_unit), 1
    if field.coordinates == 'longitude-latitude' then
        self.coordinates = field.coordinates
    else
        scale = gridded.scale('length', unit)
        if not scale then
            fail(self, "variable '%s' is over '%s', must be over degrees_north and degrees_east, "
                .. 'or over lengths of a map', field.name, unit)
        end
    end
    self.nx, self.ny = field.nx, field.ny
    self.x = { field.x[1] * scale, field.x[2] * scale }
    self.y = { field.y[1] * scale, field.y[2] * scale }
end

-- Reads the latitude of every cell of a map, if the file has it.
local function read_latitude(self)
    for name in pairs(self.set.fields) do
        local field = self.set:field(name)
        local is_latitude = tostring(field.unit):find '^degrees?_?[nN]'
        if is_latitude and field.nx == self.nx and field.ny == self.ny then
            return self.set:read(field, 1)
        end
    end
end

-- Reads the depths of the file's own cells, NaN on land.
local function read_depths(self, name)
    local field = self.set:field(name)
    if field.rank ~= 2 then
        fail(self, "variable '%s' depends on time, (lat, lon) is wanted", name)
    end
    if not metres[tostring(field.unit)] then
        fail(self, "variable '%s' has units '%s', must be m", name, tostring(field.unit))
    end
    read_axes(self, field)
    local data, a = self.set:read(field, 1), field.attributes
    local up = a.positive == 'up' or a.positive ~= 'down' and heights[tostring(a.standard_name)]
    local mask, land = read_mask(self)
    self.latitude = not self.coordinates and read_latitude(self) or nil
    self.depths = memory.array('double', self.nx * self.ny)
    for k = 0, self.nx * self.ny - 1 do
        local depth = tonumber(data[k]) * (up and -1 or 1)
        local wet = depth > 0 and not (mask and tonumber(mask[k]) == land)
        self.depths[k] = wet and depth or 0 / 0
    end
end

-- Returns the names in an array of characters.
local function read_names(self)
    local data, n, shape = read(self, 'constituent_name')
    local names, length = {}, shape[2] or n
    for k = 0, n / length - 1 do
        local bytes = {}
        for c = 0, length - 1 do
            local byte = tonumber(data[k * length + c])
            if byte > 32 then bytes[#bytes + 1] = string.char(byte) end
        end
        names[k + 1] = table.concat(bytes)
    end
    return names
end

-- Reads the open boundary: self.open = { { i, j, interior_i, interior_j, NAME =
-- { amplitude, phase }, ... }, ... }.
local function read_boundary(self)
    if not self.set.file:dimensions().obc then return end
    local names, list = read_names(self), {}
    local amplitude, phase = read(self, 'obc_amplitude'), read(self, 'obc_phase')
    local index, n = {}, nil
    for k, name in ipairs { 'obc_i', 'obc_j', 'obc_interior_i', 'obc_interior_j' } do
        index[k], n = read(self, name)
    end
    for k = 0, n - 1 do
        local cell = {}
        for c = 1, 4 do cell[c] = tonumber(index[c][k]) end
        for c, name in ipairs(names) do
            local at = k * #names + c - 1
            cell[name] = { tonumber(amplitude[at]), tonumber(phase[at]) }
        end
        list[k + 1] = cell
    end
    self.open, self.names = list, names
end

-- Reads the same from a table.
local function read_table(self, path)
    local list, names = gauges.cells(path)
    for _, cell in ipairs(list) do
        local i, j = cell[1], cell[2]
        local inside = i >= 0 and i < self.nx and j >= 0 and j < self.ny
        local depth = inside and self.depths[j * self.nx + i] or 0 / 0
        if depth ~= depth then
            errors.usage('%s: cell %d, %d is no water of %s, which has %d x %d cells', path, i, j,
                self.path, self.nx, self.ny)
        end
        cell[3], cell[4] = i, j
    end
    self.open, self.names = list, names
end

-- ---- the grid ----

-- Adds rows and columns if open cells lie outside the grid.
local function extend(self)
    local west, south, east, north = 0, 0, self.nx - 1, self.ny - 1
    for _, cell in ipairs(self.open or {}) do
        west, east = math.min(west, cell[1]), math.max(east, cell[1])
        south, north = math.min(south, cell[2]), math.max(north, cell[2])
    end
    local nx, ny = east - west + 1, north - south + 1
    local depths = memory.array('double', nx * ny)
    for j = 0, ny - 1 do
        for i = 0, nx - 1 do
            local a, b = i + west, j + south
            local inside = a >= 0 and a < self.nx and b >= 0 and b < self.ny
            depths[j * nx + i] = inside and self.depths[b * self.nx + a] or 0 / 0
        end
    end
    for _, cell in ipairs(self.open or {}) do
        local behind = self.depths[cell[4] * self.nx + cell[3]]
        cell[1], cell[2] = cell[1] - west, cell[2] - south
        depths[cell[2] * nx + cell[1]] = behind
    end
    local dx, dy = (self.x[2] - self.x[1]) / self.nx, (self.y[2] - self.y[1]) / self.ny
    self.x = { self.x[1] + west * dx, self.x[1] + (east + 1) * dx }
    self.y = { self.y[1] + south * dy, self.y[1] + (north + 1) * dy }
    self.nx, self.ny, self.depths = nx, ny, depths
end

-- Sets the fields that follow from the others.
local function complete(self)
    self.grid = grid.new { nx = self.nx, ny = self.ny, x = self.x, y = self.y,
        coordinates = self.coordinates }
    self.coriolis = self.coriolis or self.coordinates and 'latitude'
        or self.latitude and earth.coriolis(self.grid, self.latitude) or nil
    self.depth = { nx = self.nx, ny = self.ny, data = self.depths }
    self.divided = self.divided or 1
    return setmetatable(self, Basin)
end

local fields = { file = 'string', variable = 'string', boundary = 'string' }

-- desc: { file =, variable = of the depths ('depth'), boundary = table of the tide, or nil }.
-- Returns { grid = of mare.grid, depth = { nx, ny, data } as for mare.ocean,
--   open = the open cells { i, j, ..., NAME = { amplitude, phase } }, names = of the constituents,
--   coriolis = as for mare.ocean; nil for a map without latitudes }.
-- If no tide is known, the water on the western, southern and northern side is open.
function basin.new(desc)
    errors.fields('basin', desc, fields)
    local self = setmetatable({ path = desc.file, set = dataset.open(desc.file) }, Basin)
    local ok, failure = pcall(function()
        read_depths(self, desc.variable or 'depth')
        if desc.boundary then read_table(self, desc.boundary) else read_boundary(self) end
    end)
    self.set:close()
    if not ok then error(failure, 0) end
    extend(self)
    if not self.open then self.open, self.names = self:edge(1), {} end
    return complete(self)
end

-- Returns a basin with each cell divided into along_x times along_y; depths,
-- shore and tide are interpolated.
function Basin:refine(along_x, along_y)
    local finer = nest.refine(self, along_x, along_y)
    finer.path, finer.names = self.path, self.names
    finer.coordinates, finer.coriolis = self.coordinates, self.coriolis
    finer.divided = self.divided * math.max(along_x, along_y)
    return complete(finer)
end

-- Returns the basin within { west, east, south, north } (degrees). The tide on
-- its edge has the constituents `names` of `found`, the result of
-- mare.harmonics in a run of this basin.
function Basin:window(box, found, names)
    local window = nest.window(self, box, found, names)
    window.path, window.divided = self.path, self.divided
    window.coordinates, window.coriolis = self.coordinates, self.coriolis
    return complete(window)
end

-- Refuses a window that is not within the basin.
function Basin:check_window(box)
    nest.check(self, box)
end

-- Returns whether cell (i, j), counted from 0, has a depth.
function Basin:is_water(i, j)
    local depth = self.depths[j * self.nx + i]
    return depth == depth
end

local still = { name = 'M2', amplitude = 0, phase = 0 }

-- Returns the tide of the named constituents for mare.ocean; it reaches its
-- full height within `ramp` seconds. Without names, the surface at the boundary
-- stays level. arguments: { NAME = of tides.argument } or nil.
function Basin:tide(names, ramp, arguments)
    local cells, constituents = {}, {}
    for k, cell in ipairs(self.open) do cells[k] = { cell[1], cell[2] } end
    if #names == 0 then constituents[1] = still end
    for n, name in ipairs(names) do
        if not self.open[1][name] then
            fail(self, "no constituent '%s' on the open boundary (there are: %s)", name,
                self.names[1] and table.concat(self.names, ', ') or 'none')
        end
        local given = arguments and arguments[name] or {}
        local amplitude, phase = {}, {}
        for k, cell in ipairs(self.open) do amplitude[k], phase[k] = unpack(cell[name]) end
        constituents[n] = { name = name, amplitude = amplitude, phase = phase,
            factor = given.factor, argument = given.argument }
    end
    return { cells = cells, constituents = constituents, ramp = ramp }
end

-- Adds so many metres to all depths.
function Basin:deepen(more)
    for k = 0, self.nx * self.ny - 1 do self.depths[k] = self.depths[k] + more end
end

-- Converts depths of a chart, which refer to chart datum, to the mean level.
-- Chart datum is about the lowest tide, and lies below the mean level by more
-- than the amplitude of M2: adds `share` of that amplitude (an array, m, one
-- per cell) to all depths.
function Basin:lower_datum(amplitude, share)
    for k = 0, self.nx * self.ny - 1 do
        self.depths[k] = self.depths[k] + share * amplitude[k]
    end
end

-- Returns `count` independent copies of the basin side by side, with a column
-- of land between: a grid, depths for mare.ocean, and the number of columns
-- from a cell to the same cell of the next copy. Longitudes are right only in
-- the first copy.
function Basin:beside(count)
    local pitch, nx, ny = self.nx + 1, (self.nx + 1) * count, self.ny
    local depths = memory.array('double', nx * ny)
    for j = 0, ny - 1 do
        for i = 0, nx - 1 do
            local own = i % pitch
            depths[j * nx + i] = own < self.nx and self.depths[j * self.nx + own] or 0 / 0
        end
    end
    local wide = grid.new { nx = nx, ny = ny, y = self.y, coordinates = 'longitude-latitude',
        x = { self.x[1], self.x[1] + nx * self.grid.dx } }
    return wide, { nx = nx, ny = ny, data = depths }, pitch
end

local least_open = 4        -- cells of water next to each other on a side; fewer are closed

-- Returns the runs of adjacent cells of water along a side, whose cell k is
-- cell(k).
local function runs_along(self, cell, n)
    local runs, run = {}, nil
    for k = 0, n do
        local i, j = cell(math.min(k, n - 1))
        if k < n and self:is_water(i, j) then
            run = run or {}
            run[#run + 1] = { i, j }
        elseif run then
            if #run >= least_open then runs[#runs + 1] = run end
            run = nil
        end
    end
    return runs
end

-- Adds the knots of a run, from number `first` on: their weights in its cells,
-- and their second differences.
local function put_knots(run, spacing, first, smoothness)
    local pieces = math.max(1, math.floor((#run - 1) / spacing + 0.5))
    for n, cell in ipairs(run) do
        local at = (n - 1) / (#run - 1) * pieces
        local k = math.min(math.floor(at), pieces - 1)
        cell.shares = { [first + k] = 1 - (at - k), [first + k + 1] = at - k }
    end
    for k = 1, pieces - 1 do
        smoothness[#smoothness + 1] = { [first + k - 1] = 1, [first + k] = -2, [first + k + 1] = 1 }
    end
    return first + pieces + 1
end

-- Returns cell k of the way along the southern side to the west, the western one to the north and
-- the northern one to the east, and how many there are.
local function way_around(nx, ny)
    return function(k)
        if k < nx then return nx - 1 - k, 0 end
        if k < nx + ny - 2 then return 0, k - nx + 1 end
        return k - nx - ny + 2, ny - 1
    end, 2 * nx + ny - 2
end

-- Returns the water on the southern, western and northern side as cells { i, j,
-- shares = { [knot] = weight } } with knots about every `spacing` cells; the
-- number of knots; and rows { [knot] = number } of sums that vanish if the
-- boundary is smooth. Where water goes on around a corner, so do the knots: a tide that jumps
-- there would drive currents of its own.
function Basin:edge(spacing)
    local cells, next_knot, smoothness = {}, 1, {}
    for _, run in ipairs(runs_along(self, way_around(self.nx, self.ny))) do
        next_knot = put_knots(run, spacing, next_knot, smoothness)
        for _, cell in ipairs(run) do cells[#cells + 1] = cell end
    end
    return cells, next_knot - 1, smoothness
end

-- Returns the cell of water whose centre is nearest to a place (degrees), and
-- its distance (km). It must be within `reach` cells, as they were before
-- refinement. Returns nil if there is none, or the place is outside the grid.
function Basin:nearest_water(x, y, reach)
    local g, best, at = self.grid, math.huge, nil
    if x < g.x[1] or x > g.x[2] or y < g.y[1] or y > g.y[2] then return nil end
    local i0, j0 = g:cell(x, y)
    reach = reach * self.divided
    for j = math.max(0, j0 - reach), math.min(g.ny - 1, j0 + reach) do
        for i = math.max(0, i0 - reach), math.min(g.nx - 1, i0 + reach) do
            local dx, dy = g:cell_size(y)
            local distance = math.sqrt(((g:x_centre(i) - x) / g.dx * dx) ^ 2
                + ((g:y_centre(j) - y) / g.dy * dy) ^ 2) / 1000
            if self:is_water(i, j) and distance < best then best, at = distance, { i, j } end
        end
    end
    return at, at and best
end

-- Returns the gauges of a list of mare.gauges for mare.run, each moved to the
-- nearest cell of water within `reach` cells (4). Gauges outside the grid or
-- without water are left out.
function Basin:place_gauges(list, reach)
    local placed, g, taken = {}, self.grid, {}
    for _, gauge in ipairs(list) do
        local at = self:nearest_water(gauge.x, gauge.y, reach or 4)
        if at and not taken[gauge.name] then
            taken[gauge.name] = true
            placed[#placed + 1] = { name = gauge.name, x = g:x_centre(at[1]),
                y = g:y_centre(at[2]) }
        end
    end
    return placed
end

-- Returns n random places { x, y } in the water.
function Basin:random_places(n, seed)
    local list, g, k = {}, self.grid, 0
    while #list < n do
        local x = g.x[1] + (g.x[2] - g.x[1]) * random.uniform(seed, 2 * k)
        local y = g.y[1] + (g.y[2] - g.y[1]) * random.uniform(seed, 2 * k + 1)
        if self:is_water(g:cell(x, y)) then list[#list + 1] = { x, y } end
        k = k + 1
    end
    return list
end

return basin
