-- Writes a volume's variables to a CF-1.8 NetCDF-4 file with dimensions time, z, y, x and
-- coordinates at the centres of cells. It is used like files/netcdf.lua, takes the same
-- description, whose grid has nz and z, and is sealed and resumed alike; all data go to a unique
-- temporary file, which close() renames.
--
--     local out = netcdf.writer { path = 'a.nc', grid = g, title = 'A', attributes = {},
--         variables = { { name = 'rho', type = 'float', long_name = 'density', units = '1' } } }
--     out:write(t, function(name) return data end)        -- nz * ny * nx values, x fastest
--     out:close()   out:abort()   out:seal()   out:keep()   netcdf.resume(spec, position)

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local library = require 'bindings.netcdf'
local literal = require 'mare.base.literal'
local output = require 'mare.files.netcdf'
local sealed = require 'mare.files.sealed'
local tables = require 'bindings.tables'

local netcdf = {}

local Writer = {}
Writer.__index = Writer

local axes = { 'z', 'y', 'x' }

-- Readers of three dimensions find their axes by these. Up is CF's word for z that grows upward.
local marks = { x = { axis = 'X' }, y = { axis = 'Y' }, z = { axis = 'Z', positive = 'up' } }
local bytes_of = { float = 4, double = 8 }

local function define_axes(file, spec)
    local dims = { file:define_dimension 'time' }
    output.define(file, 'time', 'double', { dims[1] }, tables.merged({ axis = 'T' },
        output.time_attributes(spec)))
    for k, axis in ipairs(axes) do
        dims[k + 1] = file:define_dimension(axis, spec.grid['n' .. axis])
        output.define(file, axis, 'double', { dims[k + 1] }, tables.merged(marks[axis], {
            units = spec.space_units or '1', long_name = axis .. ' of the cell centre' }))
    end
    return dims
end

local function put_centres(file, grid, axis)
    local n = grid['n' .. axis]
    local centres = library.doubles(n)
    for k = 0, n - 1 do centres[k] = grid:centre(axis, k) end
    file:put(axis, { 0 }, { n }, centres)
end

local function define(file, spec)
    local g = spec.grid
    output.put_global_attributes(file, spec)
    local dims = define_axes(file, spec)
    for _, v in ipairs(spec.variables) do
        file:define_variable(v.name, v.type, dims, { chunks = { 1, 1, g.ny, g.nx } })
        file:put_attribute(v.name, 'units', v.units or '1')
        file:put_attribute(v.name, 'long_name', v.long_name or v.name)
    end
    file:end_definitions()
    for _, axis in ipairs(axes) do put_centres(file, g, axis) end
    file:sync()
end

local function guarded(self, f, ...)
    local ok, failure = pcall(f, ...)
    if ok then return end
    self:abort()
    error(failure, 0)
end

local function new_writer(spec)
    local self = setmetatable({ spec = spec, path = spec.path, steps = 0, last = -math.huge,
        temporary = files.temporary(spec.path), record_bytes = 65536 }, Writer)
    for _, v in ipairs(spec.variables) do
        self.record_bytes = self.record_bytes + spec.grid.cells * bytes_of[v.type]
    end
    return self
end

local function open(self)
    sealed.begin(self)
    self.temporary:reserve(self.record_bytes)
    self.file = library.create(self.temporary.name, self.path)
    define(self.file, self.spec)
end

-- Opens a file. A path that cannot be written is refused before anything is computed.
function netcdf.writer(spec)
    local self = new_writer(spec)
    guarded(self, errors.on_disk, open, self)
    return self
end

-- What must be equal when another run continues the file.
local function shape_of(spec)
    local g, names = spec.grid, {}
    for k, v in ipairs(spec.variables) do names[k] = v.name .. ' ' .. v.type end
    return literal.encode { cells = { g.nx, g.ny, g.nz }, variables = names }
end

local function resume(self, position)
    sealed.resume(self, position)
    output.put_later_attributes(self.file, self.spec)
end

-- Returns a writer that continues where seal() returned that position.
function netcdf.resume(spec, position)
    if position.shape ~= shape_of(spec) then
        errors.usage('%s: the run to be continued wrote other variables or cells into it; give '
            .. 'another --out', spec.path)
    end
    local self = new_writer(spec)
    guarded(self, errors.on_disk, resume, self, position)
    return self
end

-- Chunks are slices across z.
local function chunk_origins(spec, first, last)
    local origins = {}
    for record = first, last - 1 do
        for z = 0, spec.grid.nz - 1 do origins[#origins + 1] = { record, z, 0, 0 } end
    end
    return origins
end

-- Returns the position for resume(), in a checkpoint.
function Writer:seal()
    if not self.position or self.counted ~= self.steps then
        guarded(self, errors.on_disk, sealed.seal, self, chunk_origins, shape_of(self.spec))
    end
    return self.position
end

-- A checkpoint has the position: from now on a run that fails leaves the temporary file.
function Writer:keep() self.is_kept = true end

local function write(self, t, get)
    local g, n, file, time = self.spec.grid, self.steps, self.file, library.doubles(1)
    errors.on_disk(self.temporary.reserve, self.temporary, self.record_bytes)
    for _, v in ipairs(self.spec.variables) do
        errors.on_disk(file.put, file, v.name, { n, 0, 0, 0 }, { 1, g.nz, g.ny, g.nx }, get(v.name))
    end
    time[0] = t
    errors.on_disk(file.put, file, 'time', { n }, { 1 }, time)
    errors.on_disk(file.sync, file)
    self.steps, self.last = n + 1, t
end

function Writer:write(t, get) guarded(self, write, self, t, get) end

function Writer:close()
    guarded(self, errors.on_disk, function()
        self.file:close()
        self.temporary:commit()
        self.file = nil
    end)
end

-- Closes the file. One that is kept stays under its temporary name; others are removed, unless they
-- are complete.
function Writer:abort()
    if self.file then self.file:abort() end
    self.file = nil
    if self.is_kept then self.temporary:keep() else self.temporary:discard() end
end

return netcdf
