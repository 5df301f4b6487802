-- Writes snapshots of a run to a CF-1.8 NetCDF-4 file with dimensions time, y,
-- x (or time, latitude, longitude) and coordinates at the centres of cells. All
-- data go to a unique temporary file beside the final one; close() syncs and
-- renames it. So the final name only ever holds a complete file, and an older
-- file of that name survives a failed run.
--
--   local netcdf = require 'mare.files.netcdf'
--   local out = netcdf.writer{
--       path = 'kh.nc',
--       grid = { nx = 64, ny = 32, x = { 0, 2 }, y = { 0, 1 } },   -- for degrees add coordinates =
--                                     -- 'longitude-latitude'
--       sample = { i0 = 0, j0 = 0, nx = 32, ny = 16, step = 2 },   -- which cells: from (i0, j0)
--                                     -- every second one, 32 x 16 in total; nil: the whole grid
--       variables = {                         -- type 'float' or 'double'; units default to '1'
--           { name = 'rho', type = 'float', long_name = 'mass density', units = 'kg m-3',
--             standard_name = 'air_density', missing = nil,        -- standard_name: only CF's;
--             comment = nil },
--       },                                    -- missing: the _FillValue, if there is one
--       statics = { { name = 'depth', data = cdata, ... } },       -- variables without time
--       title = 'Kelvin-Helmholtz instability',
--       source = 'Mare 0.1.0',                -- program and version
--       command = 'mare kelvin_helmholtz.lua --nx 64',               -- becomes 'history'
--       attributes = { device = 'cuda:0', precision = 'float' },     -- global, with these names
--       options = { nx = 64, ['t-end'] = 2.0, flux = 'hllc' },       -- global 'option_t_end' etc.
--       time_units = 's', space_units = 'm',  -- nil for scaled problems
--       epoch = '2011-03-11 05:46:24',        -- the date of t = 0, UTC; nil: none
--       has_dates = true,                     -- without an epoch too
--       owner = nil,                          -- names the run, if the file will be sealed
--       deflate = 0,                          -- 0 (default) to 9
--       shuffle = true,                       -- bytes before deflate; nil: when deflated
--       quantize = 4,                         -- significant digits to keep; nil: all
--   }
--   out:write(t, function(name) return data end)   -- data: cdata of ny*nx values, row-major, y up;
--                                     -- each variable has its own, unchanged until write() returns
--   out:close()                               -- completes the file under its final name
--   out:abort()                               -- or removes it, unless keep() came before;
--                                     -- harmless after close()
--
-- A run that may be killed seals its file now and then. HDF5 rewrites its index
-- in place, so a file whose process dies during a write may be unreadable; but
-- the data of a record, once written, never change. Therefore position =
-- out:seal() closes the file for a moment, syncs it, and records its length and
-- all bytes that are not data of records. From these and any later state of the
-- file, netcdf.resume(spec, position) copies the file as it was when it was
-- sealed, and continues it. Later records are dropped, computed again and
-- written again. The old file stays until the new one is complete. out:keep()
-- says that a checkpoint has the position: writing goes on, but from now on a
-- run that fails leaves the temporary file.
--
-- Large fields that nothing compresses go past HDF5 and past the page cache (bindings/README.md).
--
-- writer{} raises an error before anything is computed if the path is a folder,
-- its folder cannot be written or a description is wrong. After any failed call
-- the temporary file is gone already. Attributes are strings, numbers, booleans
-- (written as text) or arrays of numbers.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local hdf5 = require 'bindings.hdf5'
local literal = require 'mare.base.literal'
local netcdf = require 'bindings.netcdf'
local sealed = require 'mare.files.sealed'
local tables = require 'bindings.tables'

local output = {}

local Writer = {}
Writer.__index = Writer

local max_chunk = 2 ^ 20    -- cells: 4 MiB in float, small enough to read pieces of a field
local bytes_of = { float = 4, double = 8 }

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

local function sample_of(spec)
    local g = spec.grid
    return spec.sample or { i0 = 0, j0 = 0, nx = g.nx, ny = g.ny, step = 1 }
end

-- The names and attributes of a grid's coordinates.
local axes = {
    cartesian = {
        x = { name = 'x', long_name = 'x of the cell centre' },
        y = { name = 'y', long_name = 'y of the cell centre' },
    },
    ['longitude-latitude'] = {
        x = { name = 'longitude', long_name = 'longitude of the cell centre',
            standard_name = 'longitude', units = 'degrees_east' },
        y = { name = 'latitude', long_name = 'latitude of the cell centre',
            standard_name = 'latitude', units = 'degrees_north' },
    },
}

local function axes_of(spec)
    return axes[spec.grid.coordinates or 'cartesian']
end

local function all_variables(spec)
    local list = {}
    for _, v in ipairs(spec.variables) do list[#list + 1] = v end
    for _, v in ipairs(spec.statics or {}) do list[#list + 1] = v end
    return list
end

local function check_variables(spec)
    if #spec.variables == 0 then fail(spec, 'no variables to write') end
    local names = axes_of(spec)
    local coordinates = { time = true, [names.y.name] = true, [names.x.name] = true }
    local seen = {}
    for i, v in ipairs(all_variables(spec)) do
        if type(v.name) ~= 'string' or not v.name:find '^[%a][%w_]*$' then
            fail(spec, 'variable %d: name %s, must be letters, digits and _', i, tostring(v.name))
        end
        if coordinates[v.name] then
            fail(spec, "variable %s: a coordinate of the file is called so", v.name)
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

-- Returns the rows of a chunk. Chunks are equal shares of whole rows, so each
-- is contiguous in memory too.
local function chunk_rows(g)
    local most = math.max(1, math.floor(max_chunk / g.nx))
    return math.ceil(g.ny / math.ceil(g.ny / most))
end

-- Returns an upper bound of the bytes that a record adds to the file: whole
-- chunks, and some room for HDF5's own tables.
local function record_bytes(spec)
    local g, bytes = sample_of(spec), 0
    local rows = chunk_rows(g)
    local cells = math.ceil(g.ny / rows) * rows * g.nx
    for _, v in ipairs(all_variables(spec)) do
        bytes = bytes + cells * bytes_of[v.type]
    end
    return bytes + math.ceil(bytes / 64) + 65536
end

local function storable(value)
    if type(value) == 'table' then return type(value[1]) == 'number' end
    return type(value) == 'string' or type(value) == 'number'
end

-- Writes a table of attributes, in the order of their names, of a variable of an open file, or with
-- target nil of the file itself.
local function put_attributes(file, target, attributes)
    for _, name in ipairs(tables.keys(attributes)) do
        local value = attributes[name]
        if type(value) == 'boolean' then value = tostring(value) end
        if not storable(value) then
            error(string.format('%s: attribute %s: neither text nor numbers', file.path, name), 0)
        end
        file:put_attribute(target, name, value)
    end
end

-- Defines a variable with its attributes.
function output.define(file, name, type, dims, attributes)
    file:define_variable(name, type, dims)
    put_attributes(file, name, attributes)
end

local function define_axis(file, axis, dim, units)
    output.define(file, axis.name, 'double', { dim }, { units = axis.units or units,
        long_name = axis.long_name, standard_name = axis.standard_name })
end

local unit_names = { s = 'seconds', min = 'minutes', h = 'hours', d = 'days' }

-- Oceans have dates, as CF wants time and as nested models read it; without an
-- epoch a comment says that the date is arbitrary. Other problems have no
-- calendar: their time is a number in its unit, if it has one, since programs
-- that see a date round it to nanoseconds and show the year. x and y have no
-- axis attribute: checkers take X and Y for longitude and latitude.
local function time_attributes(spec)
    local unit, long_name = spec.time_units, 'time since the start of the run'
    if not (spec.epoch or spec.has_dates) then return { units = unit, long_name = long_name } end
    local epoch = spec.epoch or '2000-01-01 00:00:00'
    return { units = (unit_names[unit or 's'] or unit) .. ' since ' .. epoch, long_name = long_name,
        comment = not spec.epoch and 'the date is arbitrary' or nil, standard_name = 'time',
        axis = 'T', calendar = 'standard' }
end

local function define_axes(file, spec, dims)
    local space, names = spec.space_units or '1', axes_of(spec)
    output.define(file, 'time', 'double', { dims.time }, time_attributes(spec))
    define_axis(file, names.y, dims.y, space)
    define_axis(file, names.x, dims.x, space)
end

local function define_variable(file, spec, v, order, chunks)
    file:define_variable(v.name, v.type, order, { chunks = chunks, deflate = spec.deflate,
        shuffle = spec.shuffle, quantize = spec.quantize })
    if v.missing then file:define_missing(v.name, v.missing) end
    put_attributes(file, v.name, { units = v.units or '1', long_name = v.long_name or v.name,
        standard_name = v.standard_name, comment = v.comment })
end

local function is_plain(spec)
    return (spec.deflate or 0) == 0 and not spec.shuffle and not spec.quantize
end

local function write_through(file, spec)
    if not is_plain(spec) then return end
    for _, v in ipairs(spec.variables) do file:write_through(v.name) end
end

-- Returns whether the chunks of all variables are large, consist of whole
-- pages, and are not filled by HDF5 beforehand (as with missing values).
local function has_whole_pages(spec)
    local g = sample_of(spec)
    for _, v in ipairs(spec.variables) do
        local row = g.nx * bytes_of[v.type]
        local chunk = chunk_rows(g) * row
        if v.missing or chunk < netcdf.align_from or chunk % netcdf.page > 0
            or g.ny * row % netcdf.page > 0 then return false end
    end
    return true
end

-- Opens an index that tells where HDF5 puts chunks, so that fields can be
-- written there directly, past HDF5 and the page cache.
local function open_index(self)
    local spec = self.spec
    if not (self.file.aligns and is_plain(spec) and has_whole_pages(spec)
        and self.temporary:has_direct()) then return end
    self.index = hdf5.index(self.temporary.name, tables.column(spec.variables, 'name'))
end

local function close_index(self)
    if self.index then self.index:close() end
    self.index = nil
end

local function define_variables(file, spec, dims)
    local g = sample_of(spec)
    local chunks = { chunk_rows(g), g.nx }
    for _, v in ipairs(spec.variables) do
        define_variable(file, spec, v, { dims.time, dims.y, dims.x }, { 1, unpack(chunks) })
    end
    for _, v in ipairs(spec.statics or {}) do
        define_variable(file, spec, v, { dims.y, dims.x }, chunks)
    end
end

local function history(spec)
    return os.date '!%Y-%m-%dT%H:%M:%SZ ' .. spec.command
end

-- earlier: the history of a file that is continued.
local function put_global_attributes(file, spec, earlier)
    file:put_attribute(nil, 'Conventions', 'CF-1.8')
    if spec.title then file:put_attribute(nil, 'title', spec.title) end
    if spec.source then file:put_attribute(nil, 'source', spec.source) end
    if spec.command then
        local before = earlier and earlier .. '\n' or ''
        file:put_attribute(nil, 'history', before .. history(spec))
    end
    put_attributes(file, nil, spec.attributes or {})
    local options = {}
    for name, value in pairs(spec.options or {}) do
        options['option_' .. name:gsub('[^%w_]', '_')] = value
    end
    put_attributes(file, nil, options)
end

-- Writes those of a run that goes on into a file of the run before.
function output.put_later_attributes(file, spec)
    local earlier = file:attributes().history
    file:begin_definitions()
    put_global_attributes(file, spec, earlier)
    file:end_definitions()
end

-- Writes the centres of cells `first`, first + step, ...; the whole range has
-- `cells` cells.
local function put_centres(file, name, n, range, cells, first, step)
    local centres = netcdf.doubles(n)
    local width = (range[2] - range[1]) / cells
    for i = 0, n - 1 do centres[i] = range[1] + (first + i * step + 0.5) * width end
    file:put(name, { 0 }, { n }, centres)
end

local function define(file, spec)
    local g, grid, names = sample_of(spec), spec.grid, axes_of(spec)
    local dims = { time = file:define_dimension 'time',
        y = file:define_dimension(names.y.name, g.ny),
        x = file:define_dimension(names.x.name, g.nx) }
    put_global_attributes(file, spec)
    define_axes(file, spec, dims)
    define_variables(file, spec, dims)
    file:end_definitions()
    write_through(file, spec)
    put_centres(file, names.y.name, g.ny, grid.y, grid.ny, g.j0, g.step)
    put_centres(file, names.x.name, g.nx, grid.x, grid.nx, g.i0, g.step)
    for _, v in ipairs(spec.statics or {}) do
        file:put(v.name, { 0, 0 }, { g.ny, g.nx }, v.data)
    end
    file:sync()
end

local function check_open(self)
    if self.failure then error(self.failure, 0) end
    if not self.file then fail(self, 'is closed') end
end

-- Calls f(self, ...). An error aborts the writer; whoever uses it on is told of
-- it again.
local function guarded(self, f, ...)
    local ok, message = pcall(f, self, ...)
    if not ok then
        self.failure = message
        self:abort()
        error(message, 0)
    end
end

local function new_writer(spec)
    errors.wanted('netcdf', 'table', spec)
    errors.wanted('netcdf: path', 'string', spec.path)
    for _, name in ipairs { 'grid', 'variables' } do
        if type(spec[name]) ~= 'table' then fail(spec, '%s: a table is wanted', name) end
    end
    check_grid(spec)
    check_variables(spec)
    check_deflate(spec)
    local self = setmetatable({ path = spec.path, spec = spec, steps = 0, last = -math.huge,
        time = netcdf.doubles(1), record_bytes = record_bytes(spec) }, Writer)
    self.cells = sample_of(spec)
    self.start, self.count = { 0, 0, 0 }, { 1, self.cells.ny, self.cells.nx }
    self.temporary = files.temporary(spec.path)
    return self
end

-- Opens a file for output, as the head of this module describes.
function output.writer(spec)
    local self = new_writer(spec)
    sealed.begin(self)
    guarded(self, function()
        self.temporary:reserve(self.record_bytes)
        self.file = netcdf.create(self.temporary.name, self.path)
        define(self.file, spec)
        open_index(self)
    end)
    return self
end

-- Writes a field chunk by chunk: each can leave the page cache while the next
-- one is written.
local function put_field(self, name, data)
    local start, count = self.start, self.count
    local ny, nx, rows = self.cells.ny, self.cells.nx, chunk_rows(self.cells)
    for y = 0, ny - 1, rows do
        start[2], count[2] = y, math.min(rows, ny - y)
        self.file:put(name, start, count, y > 0 and data + y * nx or data)
        self.temporary:recycle()
    end
end

-- HDF5 allocates a chunk when its first value is written.
local first_value = { 1, 1, 1 }

-- Makes HDF5 allocate the chunks of a field, and appends the pieces to write
-- there. The first value of a chunk is written again with the chunk.
local function claim(self, v, data, pieces)
    local start, nx, bytes = self.start, self.cells.nx, bytes_of[v.type]
    local ny, rows = self.cells.ny, chunk_rows(self.cells)
    for y = 0, ny - 1, rows do
        start[2] = y
        self.file:put(v.name, start, first_value, y > 0 and data + y * nx or data)
        pieces[#pieces + 1] = { data = data, from = y * nx * bytes,
            size = math.min(rows, ny - y) * nx * bytes,
            offset = self.index:offset(v.name, start) }
    end
end

-- Writes the pieces directly. HDF5 must have flushed its own data of these
-- pages before.
local function place(self, pieces)
    local ok, message = pcall(self.temporary.place, self.temporary, pieces)
    if not ok then
        self.file:fail()
        error(message, 0)
    end
end

-- Writes the fields of a record; returns the pieces that must still be written
-- past HDF5.
local function put_fields(self, get)
    local pieces, cells = {}, self.cells.nx * self.cells.ny
    for _, v in ipairs(self.spec.variables) do
        local data = get(v.name)
        if self.index and netcdf.holds(data, v.type, cells) then
            claim(self, v, data, pieces)
        else
            put_field(self, v.name, data)
        end
    end
    return pieces
end

local function write(self, t, get)
    if t ~= t or t <= self.last then
        fail(self, 'time %.17g does not come after %.17g', t, self.last)
    end
    self.temporary:reserve(self.record_bytes)
    self.start[1] = self.steps
    local pieces = put_fields(self, get)
    self.time[0] = t
    self.file:put('time', { self.steps }, { 1 }, self.time)
    self.file:sync()
    place(self, pieces)
    self.temporary:recycle()        -- frees pages that HDF5 kept to compress data
    self.last, self.steps = t, self.steps + 1
end

function Writer:write(t, get)
    check_open(self)
    guarded(self, write, t, get)
end

-- ---- sealed files ----

-- Returns a text of all that must be equal when another run continues the file.
local function shape_of(spec)
    local names = {}
    for k, v in ipairs(spec.variables) do names[k] = v.name .. ' ' .. v.type end
    return literal.encode { sample = sample_of(spec), variables = names,
        storage = { spec.deflate or 0, spec.shuffle or false, spec.quantize or 0 } }
end

-- Returns the origins of the chunks of records first ... last - 1; without
-- arguments, those of a variable without time.
local function chunk_origins(spec, first, last)
    local g, origins = sample_of(spec), {}
    for record = first or 0, (last or 1) - 1 do
        for y = 0, g.ny - 1, chunk_rows(g) do
            origins[#origins + 1] = first and { record, y, 0 } or { y, 0 }
        end
    end
    return origins
end

local function seal(self)
    close_index(self)
    sealed.seal(self, chunk_origins, shape_of(self.spec))
    write_through(self.file, self.spec)
    open_index(self)
end

-- Seals the file and returns the position for resume(); see the head of this
-- file.
function Writer:seal()
    check_open(self)
    if not self.position or self.counted ~= self.steps then guarded(self, seal) end
    return self.position
end

-- Something refers to the position: from now on a failed or aborted run leaves
-- the temporary file.
function Writer:keep()
    self.is_kept = true
end

output.fault = sealed.fault

-- Returns a writer that continues where seal() returned that position.
function output.resume(spec, position)
    if shape_of(spec) ~= position.shape then
        fail(spec, 'the run to be continued wrote other variables, cells or storage into it; give '
            .. 'another --out')
    end
    local self = new_writer(spec)
    guarded(self, function()
        sealed.resume(self, position)
        write_through(self.file, spec)
        output.put_later_attributes(self.file, spec)
        open_index(self)
    end)
    return self
end

function Writer:close()
    check_open(self)
    guarded(self, function()
        close_index(self)
        self.file:close()
        self.temporary:commit()
        self.file = nil
    end)
end

-- Closes the file if possible. One that is kept stays under its temporary name;
-- others are removed.
function Writer:abort()
    local file = self.file
    self.file = nil
    if file and not file.failed then close_index(self) end
    if file then file:abort() end
    if self.is_kept then self.temporary:keep() else self.temporary:discard() end
end

-- The writers of other files of the run use these.

-- Writes a file of about so many bytes that is complete or not at all: fill(file) defines
-- its contents and writes them.
function output.write_whole(spec, bytes, fill)
    local temporary, file = files.temporary(spec.path), nil
    local ok, failure = pcall(function()
        temporary:reserve(bytes + 65536)
        file = netcdf.create(temporary.name, spec.path)
        fill(file)
        file:close()
        temporary:commit()
    end)
    if ok then return end
    if file then file:abort() end
    temporary:discard()
    error(failure, 0)
end

output.put_global_attributes = put_global_attributes
output.time_attributes = time_attributes

return output
