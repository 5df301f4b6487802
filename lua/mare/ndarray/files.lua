-- Arrays in files: NetCDF, which they are also read from, and films of their frames.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local colours = require 'mare.draw.colours'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local film = require 'mare.draw.film'
local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'
local raster = require 'mare.draw.raster'
local shapes = require 'mare.expression.shapes'
local transfer = require 'mare.ndarray.transfer'
local types = require 'mare.expression.types'

local files = {}
local Array = array.methods

-- The types that arrays of others are stored in without loss, and those of the pixels of films.
local stored = { bool = 'int32', int8 = 'int32', uint8 = 'int32', int16 = 'int32', uint16 = 'int32',
    int32 = 'int32', uint32 = 'double', int64 = 'int64', uint64 = 'uint64', half = 'float',
    float = 'float', double = 'double' }
local drawn_as = { int64 = 'double', uint64 = 'double' }
local netcdf_types = { int32 = 'int', int64 = 'int64', uint64 = 'uint64', float = 'float',
    double = 'double' }

-- The types of NetCDF's numbers.
local mare_types = { byte = 'int8', short = 'int16', int = 'int32', int64 = 'int64',
    ubyte = 'uint8', ushort = 'uint16', uint = 'uint32', uint64 = 'uint64', float = 'float',
    double = 'double' }

-- Returns the elements as a C array that NetCDF and pictures take, and the type that they have.
-- rather: the types that some are to have
local function numbers_of(self, what, rather)
    local own = array.node(self).type.name
    local type = rather[own] or stored[own]
    if not type then
        errors.argument('%s: %s has no place there: save :real() and :imag()', what, own)
    end
    return transfer.read(self:to(type), what), type
end

-- ---- NetCDF ----

-- Returns the names of the axes: those given, else axis_0, axis_1, ...
local function axes_of(given, shape)
    local list = {}
    for k = 1, shape.rank do list[k] = given and given[k] or ('axis_%d'):format(k - 1) end
    if given and #given ~= shape.rank then
        errors.argument('save: %d axes, the shape is %s', #given, tostring(shape))
    end
    return list
end

-- Refuses attributes that no file can hold.
local function check_attributes(given)
    for key, value in pairs(given) do
        local list = type(value) == 'table' and value or { value }
        local is_good = type(key) == 'string' and #list > 0
        for _, one in ipairs(list) do
            is_good = is_good and (type(one) == 'number' or type(value) == 'string')
        end
        if not is_good then
            errors.argument('save: attribute %s: a name with a text, a number or a list of numbers '
                .. 'is wanted', tostring(key))
        end
    end
end

-- Writes the array into a new NetCDF-4 file, which is complete or not there. options: name = of the
-- variable ('data'), axes = names of the axes, { 'y', 'x' }, attributes = { units = 'm', ... }.
-- Narrow whole numbers and truth values become int, halves float. Returns the array:
--     a:save('a.nc', { name = 'depth', axes = { 'y', 'x' } })      mare.array.load('a.nc', 'depth')
function Array:save(path, options)
    errors.wanted('save: path', 'string', path)
    options = errors.fields('save', options or {},
        { name = 'string', axes = 'table', attributes = 'table' })
    local shape, name = array.node(self).shape, options.name or 'data'
    local axes, count = axes_of(options.axes, shape), { unpack(shape, 1, shape.rank) }
    if shape.count == 0 then
        errors.argument('save: the shape is %s: NetCDF has no axis of no elements', tostring(shape))
    end
    check_attributes(options.attributes or {})
    local data, type = numbers_of(self, 'save', {})
    output.write_whole({ path = path }, 8 * shape.count, function(file)
        local dims, start = {}, {}
        for k, axis in ipairs(axes) do
            dims[k], start[k] = file:define_dimension(axis, count[k]), 0
        end
        file:define_variable(name, netcdf_types[type], dims)
        for key, value in pairs(options.attributes or {}) do
            file:put_attribute(name, key, value)
        end
        file:end_definitions()
        file:put(name, start, count, data)
    end)
    return self
end

-- Returns a variable of a NetCDF file as an array of its shape and type, without scaling and with
-- what stands for missing values as it is: mare.array.load('a.nc', 'depth', { type = 'float' }).
function files.load(path, name, options)
    errors.wanted('load: path', 'string', path)
    errors.wanted('load: name', 'string', name)
    local file = netcdf.open(path)
    local ok, data, _, shape = pcall(file.get, file, name)
    local type = ok and mare_types[file:variable(name).type]
    file:close()
    if not ok then errors.argument('load: %s', tostring(data)) end
    if not type then errors.argument("load: %s: '%s' holds no numbers", path, name) end
    local wanted, on = creation.settings('load', options, type)
    local made = creation.uploaded(on, types[type], data:pointer(), shapes.of(shape, #shape))
    return made:to(wanted.name)
end

-- ---- films ----

local most_pixels = 16384               -- along a side
local least_rate, most_rate = 0.01, 240 -- frames a second

-- Returns a new frame's pixels for width x height, coloured by `map` from range[1] to range[2].
local function drawn(data, nx, ny, width, height, range, map)
    local pixels = bound.new_array('uint32', width * height)
    raster.resample(data, nx, ny, width, height, function(row, means)
        raster.colour_row(pixels, row * width, means, width, range, map, 0)
    end)
    return pixels
end

local function frame_range(self, given)
    if given then
        errors.wanted('film: range[1]', 'number', given[1])
        errors.wanted('film: range[2]', 'number', given[2])
        return given
    end
    local low, high = self:reduce { 'min', 'max' }
    low, high = tonumber(low:item()), tonumber(high:item())
    if low - low ~= 0 or high - high ~= 0 then
        errors.argument('film: there are values that are not finite: give range = { low, high }')
    end
    return { low, low < high and high or low + 1 }
end

-- Writes a film of the array's frames, of the shape { frames, ny, nx }, the first row at the
-- bottom, into a file that ends in .mp4, .gif, .png or .apng. options: rate = frames a second (20),
-- range = { low, high } of the colours (of all frames), colours = their map ('viridis'), scale =
-- pixels of an element (1). Returns the array.
function Array:film(path, options)
    errors.wanted('film: path', 'string', path)
    options = errors.fields('film', options or {},
        { rate = 'number', range = 'table', colours = 'string', scale = 'number' })
    local shape, scale = array.node(self).shape, options.scale or 1
    if shape.rank ~= 3 or shape.count == 0 or scale % 1 ~= 0 or scale < 1 then
        errors.argument('film: the shape is %s, scale %s: { frames, ny, nx } and a whole number '
            .. 'from 1 are wanted', tostring(shape), tostring(scale))
    end
    local name, rate = options.colours or 'viridis', options.rate or 20
    local map, range = colours.map(name), frame_range(self, options.range)
    local ny, nx = shape[2], shape[3]
    local width, height = scale * nx, scale * ny
    if math.max(width, height) > most_pixels then
        errors.argument('film: %d x %d pixels (allowed: up to %d along each side)', width, height,
            most_pixels)
    end
    if not (rate >= least_rate and rate <= most_rate) then
        errors.argument('film: rate = %g (allowed: %g to %g)', rate, least_rate, most_rate)
    end
    film.check(path)
    local out = film.writer { path = path, rate = rate,
        bare = { width = width, height = height, colours = name, missing = 0 } }
    for k = 0, shape[1] - 1 do
        local data = numbers_of(self { k }, 'film', drawn_as)
        out:write(k, function() return drawn(data, nx, ny, width, height, range, map) end)
    end
    out:close()
    return self
end

return files
