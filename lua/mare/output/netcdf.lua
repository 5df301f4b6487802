-- Snapshots of a run in one CF-1.8 NetCDF-4 file (dimensions time, y, x; coordinates at cell
-- centres). Everything goes to a unique temporary file beside the final one; close() syncs it and
-- renames it, so the final name only ever holds a complete file, and an older file there survives a
-- failed run.
--
--   local netcdf = require 'mare.output.netcdf'
--   local out = netcdf.writer{
--       path = 'kh.nc',
--       grid = { nx = 64, ny = 32, x = { 0, 2 }, y = { 0, 1 } },   -- the region that is written
--       variables = {                         -- type 'float' or 'double'; units default to '1'
--           { name = 'rho', type = 'float', long_name = 'mass density', units = 'kg m-3',
--             standard_name = 'air_density' },                       -- standard_name only if CF's
--       },
--       title = 'Kelvin-Helmholtz instability',
--       source = 'Mare 0.1.0',                -- program and version
--       command = 'mare kelvin_helmholtz.lua --nx 64',               -- becomes 'history'
--       attributes = { device = 'cuda:0', precision = 'float' },     -- global, by these names
--       options = { nx = 64, ['t-end'] = 2.0, flux = 'hllc' },       -- global 'option_t_end' etc.
--       time_units = '1', space_units = '1',  -- '1' (default) for scaled problems; otherwise e.g.
--                                             -- 'seconds since 2000-01-01 00:00:00' and 'm'
--       deflate = 0,                          -- 0 (default) to 9
--   }
--   out:write(t, function(name) return data end)   -- data: cdata, ny*nx values, row-major, y up
--   out:close()                               -- complete: now it has its final name
--   out:abort()                               -- or: remove the temporary; harmless after close()
--
-- writer{} raises before anything is computed if the path is a folder, the folder cannot be written
-- or a description is wrong. After any failed call the temporary is already gone.
-- Attribute values: string, number, boolean (written as text) or array of numbers.

local files = require 'bindings.files'
local netcdf = require 'bindings.netcdf'

local output = {}

local Writer = {}
Writer.__index = Writer

local max_chunk = 1024     -- cells along one axis: 4 MiB in float, small enough for partial readers

local function fail(spec, ...)
    error(tostring(spec.path) .. ': ' .. string.format(...), 0)
end

local function check_grid(spec)
    local g = spec.grid
    for _, n in ipairs { 'nx', 'ny' } do
        if not (type(g[n]) == 'number' and g[n] >= 1 and g[n] % 1 == 0) then
            fail(spec, 'grid: %s = %s, must be a whole number of at least 1', n, tostring(g[n]))
        end
    end
    for _, axis in ipairs { 'x', 'y' } do
        local range = g[axis]
        if not (type(range) == 'table' and range[1] and range[2] and range[1] < range[2]) then
            fail(spec, 'grid: %s must be { low, high }', axis)
        end
    end
end

local function check_variables(spec)
    if #spec.variables == 0 then fail(spec, 'no variables to write') end
    local seen = { time = true, y = true, x = true }
    for i, v in ipairs(spec.variables) do
        if type(v.name) ~= 'string' or not v.name:find '^[%a][%w_]*$' then
            fail(spec, 'variable %d: name %s, must be letters, digits and _', i, tostring(v.name))
        end
        if seen[v.name] then fail(spec, 'variable %s: the name is used twice', v.name) end
        seen[v.name] = true
        if v.type ~= 'float' and v.type ~= 'double' then
            fail(spec, 'variable %s: type %s, must be float or double', v.name, tostring(v.type))
        end
    end
end

local function check_deflate(spec)
    local level = spec.deflate or 0
    if not (type(level) == 'number' and level >= 0 and level <= 9 and level % 1 == 0) then
        fail(spec, 'deflate = %s, must be 0 to 9', tostring(level))
    end
end

-- n cells in the fewest equal chunks that are not longer than max_chunk
local function chunk(n)
    return math.ceil(n / math.ceil(n / max_chunk))
end

-- Bytes that one record may add to the file: whole chunks and some room for HDF5's own tables.
local function record_bytes(spec)
    local g, bytes = spec.grid, 0
    local rows = chunk(g.ny) * math.ceil(g.ny / max_chunk)
    local cells = rows * chunk(g.nx) * math.ceil(g.nx / max_chunk)
    for _, v in ipairs(spec.variables) do
        bytes = bytes + cells * (v.type == 'double' and 8 or 4)
    end
    return bytes + math.ceil(bytes / 64) + 65536
end

local function storable(value)
    if type(value) == 'table' then return type(value[1]) == 'number' end
    return type(value) == 'string' or type(value) == 'number'
end

local function put_attributes(file, target, attributes)
    local names = {}
    for name in pairs(attributes) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        local value = attributes[name]
        if type(value) == 'boolean' then value = tostring(value) end
        if not storable(value) then
            error(string.format('%s: attribute %s: neither text nor numbers', file.path, name), 0)
        end
        file:put_attribute(target, name, value)
    end
end

local function define_axis(file, name, dim, attributes)
    file:define_variable(name, 'double', { dim })
    put_attributes(file, name, attributes)
end

-- In CF only units "... since <date>" make a time coordinate, and axis = 'T' or the standard name
-- 'time' may not stand without them; so a scaled time is a plain coordinate with units and a long
-- name. The axis attribute stays off x and y: checkers take X and Y for longitude and latitude.
local function time_attributes(units)
    local attributes = { units = units, long_name = 'time since the start of the run' }
    if units:find ' since ' then
        attributes.standard_name, attributes.axis, attributes.calendar = 'time', 'T', 'standard'
    end
    return attributes
end

local function define_axes(file, spec, dims)
    local space = spec.space_units or '1'
    define_axis(file, 'time', dims.time, time_attributes(spec.time_units or '1'))
    define_axis(file, 'y', dims.y, { units = space, long_name = 'y of the cell centre' })
    define_axis(file, 'x', dims.x, { units = space, long_name = 'x of the cell centre' })
end

local function define_variables(file, spec, dims)
    local order = { dims.time, dims.y, dims.x }
    local g = spec.grid
    local storage = { chunks = { 1, chunk(g.ny), chunk(g.nx) }, deflate = spec.deflate }
    for _, v in ipairs(spec.variables) do
        file:define_variable(v.name, v.type, order, storage)
        put_attributes(file, v.name, { units = v.units or '1', long_name = v.long_name or v.name,
            standard_name = v.standard_name })
    end
end

local function put_global_attributes(file, spec)
    file:put_attribute(nil, 'Conventions', 'CF-1.8')
    if spec.title then file:put_attribute(nil, 'title', spec.title) end
    if spec.source then file:put_attribute(nil, 'source', spec.source) end
    if spec.command then
        file:put_attribute(nil, 'history', os.date '!%Y-%m-%dT%H:%M:%SZ ' .. spec.command)
    end
    put_attributes(file, nil, spec.attributes or {})
    local options = {}
    for name, value in pairs(spec.options or {}) do
        options['option_' .. name:gsub('[^%w_]', '_')] = value
    end
    put_attributes(file, nil, options)
end

local function put_centres(file, name, n, range)
    local centres = netcdf.doubles(n)
    local step = (range[2] - range[1]) / n
    for i = 0, n - 1 do centres[i] = range[1] + (i + 0.5) * step end
    file:put(name, { 0 }, { n }, centres)
end

local function define(file, spec)
    local g = spec.grid
    local dims = { time = file:define_dimension 'time', y = file:define_dimension('y', g.ny),
        x = file:define_dimension('x', g.nx) }
    put_global_attributes(file, spec)
    define_axes(file, spec, dims)
    define_variables(file, spec, dims)
    file:end_definitions()
    put_centres(file, 'y', g.ny, g.y)
    put_centres(file, 'x', g.nx, g.x)
    file:sync()
end

-- Runs f(self, ...); when it raises, the writer is aborted before the error goes on.
local function guarded(self, f, ...)
    local ok, message = pcall(f, self, ...)
    if not ok then
        self:abort()
        error(message, 0)
    end
end

function output.writer(spec)
    check_grid(spec)
    check_variables(spec)
    check_deflate(spec)
    local self = setmetatable({ path = spec.path, spec = spec, steps = 0, last = -math.huge,
        time = netcdf.doubles(1), record_bytes = record_bytes(spec) }, Writer)
    self.start, self.count = { 0, 0, 0 }, { 1, spec.grid.ny, spec.grid.nx }
    self.temporary = files.temporary(spec.path)
    guarded(self, function()
        self.temporary:reserve(self.record_bytes)
        self.file = netcdf.create(self.temporary.name, self.path)
        define(self.file, spec)
    end)
    return self
end

local function write(self, t, get)
    if t ~= t or t <= self.last then
        fail(self, 'time %.17g does not come after %.17g', t, self.last)
    end
    self.temporary:reserve(self.record_bytes)
    self.start[1] = self.steps
    for _, v in ipairs(self.spec.variables) do
        self.file:put(v.name, self.start, self.count, get(v.name))
    end
    self.time[0] = t
    self.file:put('time', { self.steps }, { 1 }, self.time)
    self.file:sync()
    self.last, self.steps = t, self.steps + 1
end

function Writer:write(t, get)
    if not self.file then fail(self, 'is closed') end
    guarded(self, write, t, get)
end

function Writer:close()
    if not self.file then fail(self, 'is closed') end
    guarded(self, function()
        self.file:close()
        self.temporary:commit()
        self.file = nil
    end)
end

function Writer:abort()
    if self.file then self.file:abort() end
    self.temporary:discard()
    self.file = nil
end

-- Raises now what writer{} would raise later because of the path.
output.check = files.check

return output
