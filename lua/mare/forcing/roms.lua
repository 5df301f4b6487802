-- Reads files of ROMS and of models written alike, such as MET Norway's NorKyst-800: bed, land,
-- initial state, what is known at the sides, and wind, on a window of their grid.
--
-- Cell (i, j) of such a grid is its rho point (i, j), from 0. In files of ROMS itself u[j][i] lies
-- between the rho points i and i + 1, v[j][i] between j and j + 1; others have all at rho points.
-- Places are counted in cells, rho point (i, j) at (i, j), and everything is bilinear between its
-- own points: u is at (i + 1/2, j). Velocity is along the axes of the grid unless its standard name
-- says eastward or northward, and so is wind: ROMS turns that when it reads it. What is missing is
-- land: there is no velocity, and the elevation is that of the water around.
--
--     local sea = mare.roms { file = 'norkyst.nc', window = { 25, 350, 550, 875 } }
--     mare.run { grid = sea.grid, initial = sea.initial,
--         boundaries = sea:boundaries { kind = 'sponge', width = 20 },
--         scheme = mare.ocean { depth = sea.depth, coriolis = sea.coriolis, wind = sea.wind },
--         title = 'Skagerrak', options = o }
--
-- mare.roms.sample(path) writes a small file like those (roms_sample.lua).

local calendar = require 'mare.forcing.calendar'
local dataset = require 'mare.files.dataset'
local earth = require 'mare.forcing.earth'
local errors = require 'bindings.errors'
local grid = require 'mare.array.grid'
local gridded = require 'mare.forcing.gridded'
local memory = require 'bindings.memory'
local roms_sample = require 'mare.forcing.roms_sample'
local weather = require 'mare.forcing.weather'

local roms = { sample = roms_sample.write }

local Roms = {}
Roms.__index = Roms

local max_cached = 3        -- records of a variable in memory

local function fail(set, name, message, ...)
    errors.usage('%s: %s: ' .. message, set.path, name, ...)
end

-- ---- variables ----

-- The first of several names that a file has.
local function find(set, ...)
    for _, name in ipairs { ... } do
        local ok, v = pcall(set.file.variable, set.file, name)
        if ok then return v, set.file:attributes(name) end
    end
end

local function need(set, ...)
    local v, attributes = find(set, ...)
    if not v then
        errors.usage("%s: no variable '%s'", set.path, table.concat({ ... }, "' or '"))
    end
    return v, attributes
end

local function number_in(set, v, attributes, name, default)
    local value = attributes[name]
    if value == nil then return default end
    if type(value) ~= 'number' then fail(set, v.name, '%s is no number', name) end
    return value
end

-- Returns the numbers of a variable in a box of its last two dimensions, unpacked, missing ones
-- NaN; `before`: the indices in front of these, from 0.
local function read(set, v, attributes, box, before)
    local start, count, n = {}, {}, #v.shape
    if n < 2 or n > 4 then fail(set, v.name, 'has %d dimensions, must have 2 to 4', n) end
    for k = 1, n - 2 do start[k], count[k] = before[k] or 0, 1 end
    start[n - 1], start[n], count[n - 1], count[n] = box.j0, box.i0, box.ny, box.nx
    local data, total = set.file:get(v.name, start, count)
    local out, a = memory.array('double', total), attributes
    local scale, offset = number_in(set, v, a, 'scale_factor', 1),
        number_in(set, v, a, 'add_offset', 0)
    for k = 0, total - 1 do
        local value = tonumber(data[k])
        if value == a._FillValue or value == a.missing_value or math.abs(value) > 1e36 then
            out[k] = 0 / 0
        else
            out[k] = value * scale + offset
        end
    end
    return out
end

-- What the numbers of a variable are to be multiplied by for the units of Mare.
local function scale_of(set, v, attributes, quantity)
    local scale, known = gridded.scale(quantity, attributes.units)
    if not scale then
        fail(set, v.name, "units '%s', must be one of a %s: %s", tostring(attributes.units),
            quantity, known)
    end
    return scale
end

local function is_of_earth(v, attributes)
    local name = v.name .. tostring(attributes.standard_name)
    return (name:find 'eastward' or name:find 'northward') and not name:find 'grid' or false
end

-- ---- the grid ----

-- The window with a ring around it, as far as there is one.
local function ring_of(window, nx, ny)
    local i0, j0 = math.max(0, window[1] - 1), math.max(0, window[3] - 1)
    return { i0 = i0, j0 = j0, nx = math.min(nx, window[2] + 1) - i0,
        ny = math.min(ny, window[4] + 1) - j0 }
end

local function check_window(self, nx, ny)
    local w = self.window
    local is_right = #w == 4 and w[1] >= 0 and w[2] <= nx and w[3] >= 0 and w[4] <= ny
        and w[2] - w[1] >= 4 and w[4] - w[3] >= 4
    for _, k in ipairs(w) do is_right = is_right and k % 1 == 0 end
    if not is_right then
        fail(self.first, 'h', 'window %s, must be i0,i1,j0,j1 within 0,%d,0,%d, with 4 cells',
            table.concat(w, ','), nx, ny)
    end
end

-- Mean length of a cell along both axes (m): from pm and pn, or the coordinates of a map.
local function cell_size(self)
    local set, box, sizes = self.first, self.box, {}
    local axes = { { 'pm', self.h.dimensions[2] }, { 'pn', self.h.dimensions[1] } }
    for k, names in ipairs(axes) do
        local v, attributes = find(set, names[1])
        if v then
            local data, sum = read(set, v, attributes, box, {}), 0
            for n = 0, box.nx * box.ny - 1 do sum = sum + 1 / data[n] end
            sizes[k] = sum / (box.nx * box.ny)
        else
            local x, of_x = need(set, names[2], k == 1 and 'X' or 'Y')
            local data, n = set.file:get(x.name)
            sizes[k] = scale_of(set, x, of_x, 'length')
                * (tonumber(data[n - 1]) - tonumber(data[0])) / (n - 1)
            if sizes[k] <= 0 then fail(set, x.name, 'must ascend') end
        end
    end
    return sizes[1], sizes[2]
end

-- Interpolates at (a, b) in cells. Missing numbers are 0, or left out of the mean if is_filled.
local function interpolate(found, a, b, is_filled)
    local box, sum, total = found.box, 0, 0
    local x = math.max(0, math.min(box.nx - 1, a - found.x - box.i0))
    local y = math.max(0, math.min(box.ny - 1, b - found.y - box.j0))
    local i, j = math.min(math.floor(x), box.nx - 2), math.min(math.floor(y), box.ny - 2)
    for corner = 0, 3 do
        local di, dj = corner % 2, math.floor(corner / 2)
        local value = found.data[(j + dj) * box.nx + i + di]
        local weight = (di == 1 and x - i or 1 - x + i) * (dj == 1 and y - j or 1 - y + j)
        if value == value then sum, total = sum + weight * value, total + weight end
    end
    if is_filled then return total > 1e-9 and sum / total or 0 end
    return sum
end

-- Returns the numbers of the window, from an array over the box: `refine` cells a rho point along
-- each axis, bilinear between its points. A missing number is so in all cells of its rho point.
local function cut(self, data, refine)
    local w, box = self.window, self.box
    local nx, ny = refine * (w[2] - w[1]), refine * (w[4] - w[3])
    local out, found = memory.array('double', nx * ny), { data = data, box = box, x = 0, y = 0 }
    for j = 0, ny - 1 do
        local row = (math.floor(j / refine) + w[3] - box.j0) * box.nx + w[1] - box.i0
        for i = 0, nx - 1 do
            local own = data[row + math.floor(i / refine)]
            out[j * nx + i] = own == own and interpolate(found, w[1] + (i + 0.5) / refine - 0.5,
                w[3] + (j + 0.5) / refine - 0.5, true) or own
        end
    end
    return out
end

-- Returns the directions of the x axis, from `angle` or positions; nil where a file has neither.
local function angles_of(self, latitude)
    local set, box = self.first, self.box
    local v, attributes = find(set, 'angle')
    if v then
        local data = read(set, v, attributes, box, {})
        local turn = tostring(attributes.units):find 'deg' and 1 or 180 / math.pi
        for k = 0, box.nx * box.ny - 1 do data[k] = turn * data[k] end
        return data
    end
    v, attributes = find(set, 'lon_rho', 'lon', 'longitude')
    return v and earth.angles(box.nx, box.ny, latitude, read(set, v, attributes, box, {}),
        memory.array('double', box.nx * box.ny)) or nil
end

local function make_grid(self)
    local w, set = self.window, self.first
    local dx, dy = cell_size(self)
    local v, attributes = need(set, 'lat_rho', 'lat', 'latitude')
    local latitude = read(set, v, attributes, self.box, {})
    local angles = angles_of(self, latitude)
    local desc = { nx = w[2] - w[1], ny = w[4] - w[3], x = { w[1] * dx, w[2] * dx },
        y = { w[3] * dy, w[4] * dy } }
    desc.angle = angles and earth.angle(grid.new(desc), cut(self, angles, 1))
    desc.nx, desc.ny = self.refine * desc.nx, self.refine * desc.ny
    self.grid = grid.new(desc)
    self.coriolis = earth.coriolis(self.grid, cut(self, latitude, self.refine))
end

-- Returns the depths of the window; NaN on land, that is where the mask says so or the elevation is
-- missing.
local function make_depth(self)
    local set, box = self.first, self.box
    local h = read(set, self.h, self.of_h, box, {})
    local scale = scale_of(set, self.h, self.of_h, 'length')
    local mask, of_mask = find(set, 'mask_rho', 'land_mask', 'sea_mask')
    local wet = mask and read(set, mask, of_mask, box, {})
    local land = mask and mask.name == 'land_mask' and 1 or 0
    local eta = self:raw('zeta', 1)
    for k = 0, box.nx * box.ny - 1 do
        local is_land = wet and wet[k] == land or eta[k] ~= eta[k]
        h[k] = is_land and 0 / 0 or h[k] * scale
    end
    self.depths = h
    self.depth = { nx = self.grid.nx, ny = self.grid.ny, data =
        cut(self, h, self.refine) }
end

-- ---- times ----

-- self.records = { { set, k = from 0, t }, ... }: of all files, each time once, the last file's.
local function read_times(self, start)
    local by_time, records = {}, {}
    for _, set in ipairs(self.sets) do
        local v, attributes = need(set, need(set, 'zeta').dimensions[1])
        local unit, epoch = calendar.units(attributes.units, attributes.calendar)
        if not unit then fail(set, v.name, '%s', epoch) end
        local data, n = set.file:get(v.name)
        for k = 0, n - 1 do
            local at = epoch + unit * tonumber(data[k])
            if at ~= at then fail(set, v.name, 'value %d is no number', k + 1) end
            by_time[at] = { set = set, k = k, at = at }
        end
    end
    for _, record in pairs(by_time) do records[#records + 1] = record end
    table.sort(records, function(a, b) return a.at < b.at end)
    local zero = start and calendar.seconds(start) or not start and records[1].at
    if not zero then errors.usage("roms: start = '%s', must be a date", start) end
    self.times, self.records = {}, records
    for k, record in ipairs(records) do self.times[k] = record.at - zero end
end

-- ---- values ----

-- Where the variables are: names that files may have, the offset of their points where these are
-- staggered, and the quantity.
local variables = {
    zeta = { { 'zeta' }, 0, 0, 'length' },
    u = { { 'ubar', 'ubar_eastward', 'u' }, 0.5, 0, 'velocity' },
    v = { { 'vbar', 'vbar_northward', 'v' }, 0, 0.5, 'velocity' },
    east_wind = { { 'Uwind', 'Uwind_eastward' }, 0, 0, 'velocity' },
    north_wind = { { 'Vwind', 'Vwind_northward' }, 0, 0, 'velocity' },
}

-- The values at the bounds of layers, of which there is one more than layers.
local function bounds(set, name, layers)
    local data, n = set.file:get(need(set, name).name)
    if n ~= layers + 1 then
        fail(set, name, 'has %d values, %d layers want %d', n, layers, layers + 1)
    end
    return data
end

-- Returns what stretches the layers of a file.
local function stretching(set, layers)
    local kind = find(set, 'Vtransform')
    return { s = bounds(set, 's_w', layers), c = bounds(set, 'Cs_w', layers),
        hc = tonumber(set.file:get(need(set, 'hc').name)[0]),
        kind = kind and tonumber(set.file:get(kind.name)[0]) or 1 }
end

-- The share of the depth h that a layer has, from 1 at the bottom; it does not depend on the
-- elevation (Shchepetkin and McWilliams 2005; Vtransform 1: Haidvogel and others 2000).
local function share_of(known, layer, h)
    local function height(k)
        local s, c = tonumber(known.s[k]), tonumber(known.c[k])
        if known.kind == 2 then return (known.hc * s + h * c) / (known.hc + h) end
        return (known.hc * s + (h - known.hc) * c) / h
    end
    return height(layer) - height(layer - 1)
end

-- The mean over the depth of a variable of four dimensions.
local function depth_mean(self, set, v, attributes, box, k, place)
    local sum, depth = memory.array('double', box.nx * box.ny), self.depths
    set.layers = set.layers or stretching(set, v.shape[2])
    for layer = 1, v.shape[2] do
        local data = read(set, v, attributes, box, { k, layer - 1 })
        for n = 0, box.nx * box.ny - 1 do
            local i, j = n % box.nx + box.i0 - self.box.i0, math.floor(n / box.nx) + box.j0
                - self.box.j0
            local a = depth[j * self.box.nx + i]
            local b = depth[(j + 2 * place[2]) * self.box.nx + i + 2 * place[1]]
            local h = a == a and b == b and 0.5 * (a + b) or 0 / 0
            sum[n] = sum[n] + (h == h and data[n] * share_of(set.layers, layer, h) or 0 / 0)
        end
    end
    return sum
end

-- { box, x, y = offset of its points } and numbers of a variable in record k, from 1.
local function load(self, name, k)
    local known, record = variables[name], self.records[k]
    local set, box = record.set, self.box
    local v, attributes = need(set, unpack(known[1]))
    local rank, h = #v.shape, self.h.shape
    if rank < 3 or rank > 4 then fail(set, v.name, 'must be over time, perhaps layers, y and x') end
    local is_staggered = v.shape[rank] < h[2] or v.shape[rank - 1] < h[1]
    local place = is_staggered and { known[2], known[3] } or { 0, 0 }
    local mine = { i0 = box.i0, j0 = box.j0, nx = box.nx - 2 * place[1],
        ny = box.ny - 2 * place[2] }
    if v.shape[rank] ~= h[2] - 2 * place[1] or v.shape[rank - 1] ~= h[1] - 2 * place[2] then
        fail(set, v.name, 'has %d x %d points, h has %d x %d', v.shape[rank], v.shape[rank - 1],
            h[2], h[1])
    end
    local scale = scale_of(set, v, attributes, known[4])
    local data = rank == 4 and depth_mean(self, set, v, attributes, mine, record.k, place)
        or read(set, v, attributes, mine, { record.k })
    for n = 0, mine.nx * mine.ny - 1 do data[n] = data[n] * scale end
    return { data = data, box = mine, x = place[1], y = place[2],
        of_earth = is_of_earth(v, attributes) }
end

local function cached(self, name, k)
    local kept = self.kept[name] or { order = {} }
    self.kept[name] = kept
    if not kept[k] then
        kept[k] = load(self, name, k)
        table.insert(kept.order, k)
        if #kept.order > max_cached then kept[table.remove(kept.order, 1)] = nil end
    end
    return kept[k]
end

-- Numbers of a variable over the box in record k.
function Roms:raw(name, k)
    return cached(self, name, k).data
end

-- A variable at time t (s) and a place of the grid, and whether it is along east or north.
local function value_at(self, name, t, x, y)
    local times, g = self.times, self.grid
    local a, b = x / (g.dx * self.refine) - 0.5, y / (g.dy * self.refine) - 0.5
    local is_filled = name == 'zeta'
    local k = 1
    while k < #times and times[k + 1] <= t do k = k + 1 end
    local found = cached(self, name, k)
    local value = interpolate(found, a, b, is_filled)
    if k < #times and t > times[k] then
        local weight = (t - times[k]) / (times[k + 1] - times[k])
        value = value + weight * (interpolate(cached(self, name, k + 1), a, b, is_filled) - value)
    end
    return value, found.of_earth
end

-- Returns both components of a vector, along the axes of the grid.
local function vector_at(self, names, t, x, y)
    local u, of_earth = value_at(self, names[1], t, x, y)
    local v = value_at(self, names[2], t, x, y)
    if not of_earth then return u, v end
    if not self.grid.angle then
        fail(self.first, 'angle', 'is missing, and lon too: vectors towards east cannot be turned')
    end
    local angle = math.rad(self.grid:angle_at(x, y))
    local c, s = math.cos(angle), math.sin(angle)
    return c * u + s * v, c * v - s * u
end

local current, wind = { 'u', 'v' }, { 'east_wind', 'north_wind' }

-- ---- what a run takes ----

-- Refuses a run from t = 0 to t_end which the records do not cover.
function Roms:check_times(t_end)
    local first, last = self.times[1], self.times[#self.times]
    if first > 0 or last < t_end then
        fail(self.first, 'zeta', '%d records, from t = %.14g s to %.14g s; the run is from 0 to '
            .. '%.14g s, all of which they must cover', #self.times, first, last, t_end)
    end
end

local function timeline_of(self, at)
    return { times = #self.times > 1 and self.times or {},
        records = #self.times > 1 and { self } or {}, at = at }
end

-- What mare.run takes as boundaries: of { kind = 'flather' } or { kind = 'sponge', width = cells },
-- on all four sides, with elevation and velocity of the files.
function Roms:boundaries(side)
    local desc = {}
    for _, name in ipairs(grid.sides) do
        desc[name] = { kind = side.kind, width = side.width,
            eta = timeline_of(self, function(t, x, y) return value_at(self, 'zeta', t, x, y) end),
            u = timeline_of(self, function(t, x, y)
                return (vector_at(self, current, t, x, y))
            end),
            v = timeline_of(self, function(t, x, y)
                return (select(2, vector_at(self, current, t, x, y)))
            end) }
    end
    return desc
end

-- The stress of the wind, as mare.ocean takes it, or nil where the files have none.
local function make_wind(self)
    if not find(self.first, unpack(variables.east_wind[1])) then return end
    self.wind = timeline_of(self, function(t, x, y)
        return weather.stress(vector_at(self, wind, t, x, y))
    end)
end

local fields = { file = 'string', files = 'table', window = 'table', start = 'string',
    refine = 'number' }
local finest = 16           -- cells a rho point

-- { file = or files = { ... }, window = { i0, i1, j0, j1 } of rho points, from 0, half open (all
-- but the outer ones), start = date of t = 0 (the first record), refine = cells a rho point along
-- each axis (1), between which all is bilinear }. Returns { grid =, depth = and coriolis = as
-- mare.ocean takes them, initial = function(x, y) -> eta, u, v at t = 0, wind = stress or nil,
-- times = of the records (s) }, and boundaries{}.
function roms.new(desc)
    errors.fields('roms', desc, fields)
    local self = setmetatable({ sets = {}, kept = {}, refine = desc.refine or 1 }, Roms)
    if not (self.refine >= 1 and self.refine <= finest and self.refine % 1 == 0) then
        errors.argument('roms: refine = %s (allowed: 1 to %d)', tostring(self.refine), finest)
    end
    for k, path in ipairs(desc.files or { desc.file }) do self.sets[k] = dataset.open(path) end
    if not self.sets[1] then errors.argument 'roms: file or files are wanted' end
    self.first = self.sets[1]
    self.h, self.of_h = need(self.first, 'h')
    local nx, ny = self.h.shape[2], self.h.shape[1]
    if #self.h.shape ~= 2 then fail(self.first, 'h', 'must be a map over two dimensions') end
    self.window = desc.window or { 1, nx - 1, 1, ny - 1 }
    check_window(self, nx, ny)
    self.box = ring_of(self.window, nx, ny)
    read_times(self, desc.start)
    make_grid(self)
    make_depth(self)
    make_wind(self)
    self.initial = function(x, y)
        local eta = value_at(self, 'zeta', 0, x, y)
        return eta, vector_at(self, current, 0, x, y)
    end
    return self
end

return roms
