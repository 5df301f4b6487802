-- Reads NetCDF files, Mare's own and others that follow CF. A field is a
-- variable over (y, x), or over a third dimension in front, which is taken for
-- time. Packed values are unpacked, missing ones become NaN, and rows are
-- returned south first. A curve is a variable over time alone, or over time and
-- the stations of a CF collection of time series.

local classic = require 'mare.files.classic'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local netcdf = require 'bindings.netcdf'

local dataset = {}

local Dataset = {}
Dataset.__index = Dataset

local time_names = { second = 's', sec = 's', minute = 'min', hour = 'h', day = 'd' }

-- Opens a file; raises an error if it is missing, truncated or no NetCDF file.
local function open(path)
    local reason = files.unreadable(path) or not files.is_remote(path) and classic.cut_off(path)
    if reason then errors.usage('%s: %s', path, reason) end
    local ok, file = pcall(netcdf.open, path)
    if not ok then
        errors.usage('%s (%s is wanted)', tostring(file), files.is_remote(path)
            and 'an address of a server of OPeNDAP' or 'a whole NetCDF file')
    end
    return file
end

-- Opens a file and returns { path, title, names, ... }, or raises an error.
function dataset.open(path)
    local file = open(path)
    local self = setmetatable({ path = path, file = file, fields = {}, names = {}, curves = {},
        curve_names = {} }, Dataset)
    local attributes = file:attributes()
    self.title = attributes.title
    local of_stations = attributes.featureType == 'timeSeries'
    local known, stations = file:dimensions(), 0
    for _, v in ipairs(file:variables()) do
        local rank = #v.dimensions
        local is_bounds = known[v.name] or v.dimensions[rank] == 'nv' or v.type == 'char'
            or v.type == 'string'
        local is_curve = v.dimensions[1] == 'time' and (rank == 1 or rank == 2 and of_stations)
        if is_curve and not is_bounds then
            self.curves[v.name] = v
            if rank == 2 then stations = stations + 1 end       -- list station variables first
            table.insert(self.curve_names, rank == 2 and stations or #self.curve_names + 1, v.name)
        elseif (rank == 2 or rank == 3) and not is_bounds then
            self.fields[v.name] = v
            self.names[#self.names + 1] = v.name
        end
    end
    return self
end

-- Returns a coordinate as an array of numbers, and its attributes. If the file
-- has no such variable, cells are numbered from 0.5.
local function coordinate(self, name, n)
    local ok, attributes = pcall(self.file.attributes, self.file, name)
    local values = {}
    if not ok then
        for k = 1, n do values[k] = k - 0.5 end
        return values, {}
    end
    local data = self.file:get(name)
    for k = 1, n do values[k] = tonumber(data[k - 1]) end
    return values, attributes
end

-- Returns the edges { low, high } of cells with these centres, cleaned of
-- rounding errors, and whether the coordinate decreases.
local function edges(values)
    local n = #values
    local first, last = values[1], values[n]
    local half = n > 1 and last ~= first and (last - first) / (n - 1) / 2 or 0.5
    local grain = 10 ^ (math.floor(math.log10(math.abs(half))) - 6)
    local function rounded(value) return math.floor(value / grain + 0.5) * grain end
    local low, high = rounded(first - half), rounded(last + half)
    if low > high then return { high, low }, true end
    return { low, high }, false
end

-- An attribute that people are to read; nil for lists of numbers.
local function text_of(value)
    return type(value) ~= 'table' and value ~= nil and tostring(value) or nil
end

local function time_unit(attributes)
    local units = text_of(attributes.units) or '1'
    if tostring(attributes.comment):find '^scaled' then return '1' end
    local word = units:match '^(%a+) since' or units
    return time_names[word:gsub('s$', '')] or word
end

-- Returns { name, label, unit, nx, ny, x, y (edges { low, high }), coordinates,
-- length_unit, times (or nil), time_unit } of a field. An unknown name raises
-- an error that lists the known ones.
function Dataset:field(name)
    local v = self.fields[name]
    if not v then
        errors.usage("%s: no variable '%s' over y and x (there are: %s)", self.path, name,
            table.concat(#self.names > 0 and self.names or self.curve_names, ', '))
    end
    local rank, attributes = #v.shape, self.file:attributes(name)
    local nx, ny = v.shape[rank], v.shape[rank - 1]
    local x, of_x = coordinate(self, v.dimensions[rank], nx)
    local y = coordinate(self, v.dimensions[rank - 1], ny)
    local out = { name = name, nx = nx, ny = ny, rank = rank, unit = text_of(attributes.units),
        label = text_of(attributes.long_name) or name, attributes = attributes,
        length_unit = text_of(of_x.units), coordinates = tostring(of_x.units):find '^degrees_?[eE]'
            and 'longitude-latitude' or 'cartesian' }
    out.x, out.x_turned = edges(x)
    out.y, out.y_turned = edges(y)
    if rank == 3 then
        local times, of_time = coordinate(self, v.dimensions[1], v.shape[1])
        out.times, out.time_unit = times, time_unit(of_time)
    end
    return out
end

-- Returns the numbers that stand for a missing value, as keys.
local function missing_values(attributes)
    local list = {}
    for _, name in ipairs { '_FillValue', 'missing_value' } do
        local value = attributes[name]
        if type(value) == 'number' and value == value then list[value] = true end
    end
    return next(list) and list
end

-- Returns the factor and the offset of the numbers of a variable.
local function packing(self, name, attributes)
    local scale, offset = attributes.scale_factor or 1, attributes.add_offset or 0
    if type(scale) ~= 'number' or type(offset) ~= 'number' then
        errors.usage('%s: %s: scale_factor or add_offset is no number', self.path, name)
    end
    return scale, offset
end

-- Returns record k (from 1) of a field: ny rows of nx numbers, indexed from 0.
function Dataset:read(field, k)
    local nx, ny, a = field.nx, field.ny, field.attributes
    local start, count = { k - 1, 0, 0 }, { 1, ny, nx }
    if field.rank == 2 then start, count = { 0, 0 }, { ny, nx } end
    local data = self.file:get(field.name, start, count)
    local missing, scale, offset = missing_values(a), packing(self, field.name, a)
    local plain = not missing and scale == 1 and offset == 0
    if plain and not field.x_turned and not field.y_turned then return data:pointer() end
    local out = netcdf.doubles(nx * ny)
    for j = 0, ny - 1 do
        local row = (field.y_turned and ny - 1 - j or j) * nx
        for i = 0, nx - 1 do
            local value = tonumber(data[row + (field.x_turned and nx - 1 - i or i)])
            out[j * nx + i] = missing and missing[value] and 0 / 0 or value * scale + offset
        end
    end
    return out
end

-- Returns the names of the stations in order, or numbers if the file has none.
local function station_names(self, n)
    local names = {}
    for k = 1, n do names[k] = 'station ' .. k end
    for _, v in ipairs(self.file:variables()) do
        local is_name = v.type == 'char' and #v.shape == 2 and v.shape[1] == n
            and self.file:attributes(v.name).cf_role == 'timeseries_id'
        for k = 1, is_name and n or 0 do
            names[k] = self.file:text(v.name, { k - 1, 0 }, { 1, v.shape[2] })
        end
    end
    return names
end

-- Returns { label, unit, times, time_unit, series = { { label, values } } } of
-- a variable over time.
function Dataset:curve(name)
    local v, attributes = self.curves[name], self.file:attributes(name)
    local times, of_time = coordinate(self, 'time', v.shape[1])
    local n, missing = v.shape[2] or 1, missing_values(attributes) or {}
    local labels = v.shape[2] and station_names(self, n) or { '' }
    local data, series = self.file:get(name), {}
    local scale, offset = packing(self, name, attributes)
    for s = 1, n do
        local values = {}
        for k = 1, #times do
            local value = tonumber(data[(k - 1) * n + s - 1])
            values[k] = missing[value] and 0 / 0 or value * scale + offset
        end
        series[s] = { label = labels[s], values = values }
    end
    return { label = text_of(attributes.long_name) or name,
        unit = text_of(attributes.units), times = times,
        time_unit = time_unit(of_time), series = series }
end

function Dataset:close()
    self.file:close()
end

return dataset
