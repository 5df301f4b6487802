-- A variable of a NetCDF file over (time,) y and x, or latitude and longitude,
-- as a function of time and place. It is bilinear in space and linear between
-- the records in time. A point is missing if the nearest value is missing;
-- otherwise it is the weighted mean of those neighbours that are not missing.
-- With fill = true, missing values are first filled in from their neighbours.

local calendar = require 'mare.forcing.calendar'
local dataset = require 'mare.files.dataset'
local errors = require 'bindings.errors'
local netcdf = require 'bindings.netcdf'
local tables = require 'bindings.tables'
local timeline = require 'mare.forcing.timeline'

local gridded = {}

local Gridded = {}
Gridded.__index = Gridded

local max_cached = 3        -- records in memory: the present two and the one being read

local function fail(self, message, ...)
    errors.argument('%s: %s: ' .. message, self.path, self.name, ...)
end

-- ---- reading the file ----

-- Reads a coordinate in ascending order, as the records are. `around` is set if
-- it goes all around the earth.
local function read_axis(self, name, turned)
    local file = self.set.file
    local ok, data, n = pcall(file.get, file, name)
    if not ok then fail(self, "there is no coordinate '%s'", name) end
    local axis = { name = name, count = n, values = netcdf.doubles(n), step = 0 }
    for k = 0, n - 1 do axis.values[turned and n - 1 - k or k] = tonumber(data[k]) end
    for k = 1, n - 1 do
        if axis.values[k] <= axis.values[k - 1] then fail(self, '%s is not in order', name) end
    end
    axis.first, axis.last = axis.values[0], axis.values[n - 1]
    if n > 1 then axis.step = axis.values[1] - axis.first end
    axis.degrees = tostring(file:attributes(name).units):find '^degrees?_?[eE]' ~= nil
    axis.around = axis.degrees
        and math.abs(axis.last - axis.first + axis.step - 360) < 1e-3 * axis.step
    return axis
end

-- Reads the times in seconds since the date `start`, or since the first record. Plain seconds, as
-- runs without a calendar write them, have no date.
local function read_times(self, name, start)
    local attributes, unit, epoch = self.set.file:attributes(name), 1, 0
    local is_dated = attributes.units ~= 's'
    if is_dated then unit, epoch = calendar.units(attributes.units, attributes.calendar) end
    if not unit then fail(self, '%s: %s', name, epoch) end
    if start and not is_dated then fail(self, "start = '%s': %s has no dates", start, name) end
    local zero = start and calendar.seconds(start)
    if start and not zero then fail(self, "start = '%s', must be a date", start) end
    zero = zero or epoch + unit * self.field.times[1]
    for k, value in ipairs(self.field.times) do self.times[k] = epoch + unit * value - zero end
end

-- The units that files use for a quantity, and their factors to Mare's units.
local units_of = {
    length = { m = 1, metre = 1, metres = 1, meter = 1, meters = 1, km = 1000, cm = 0.01 },
    velocity = { ['m s-1'] = 1, ['m/s'] = 1, ['m s**-1'] = 1, ['m s^-1'] = 1,
        ['meter second-1'] = 1, ['meters second-1'] = 1, ['metre second-1'] = 1,
        ['cm s-1'] = 0.01 },
    transport = { ['m2 s-1'] = 1, ['m2/s'] = 1, ['m^2 s^-1'] = 1 },
    pressure = { Pa = 1, pascal = 1, Pascal = 1, hPa = 100, mbar = 100, millibar = 100 },
}

-- Returns the factor from `unit` to the unit that Mare uses for a quantity
-- (length, velocity, transport or pressure); 1 if the file names no unit. For
-- an unknown unit returns nil and the list of known ones.
function gridded.scale(quantity, unit)
    local known = units_of[quantity]
    if unit == nil then return 1 end
    return known[unit], tables.names(known)
end

local function scale_of(self, quantity)
    if not quantity then return 1 end
    local scale, known = gridded.scale(quantity, self.field.unit)
    if scale then return scale end
    fail(self, "units '%s', must be one of a %s: %s", self.field.unit, quantity, known)
end

local fields = {
    file = 'string', variable = 'string', start = 'string', fill = 'boolean', missing = 'number',
    quantity = units_of, hold = 'boolean',
}

-- desc: { file =, variable =,
--   start = the date of t = 0 (nil: that of the first record),
--   fill = true, or missing = a number that replaces missing values,
--   quantity = 'length', 'velocity', 'transport' or 'pressure': units are checked and converted
--     to m, m/s, m2/s or Pa,
--   hold = true: a run may begin before the first record or end after the last }
function gridded.new(desc)
    errors.fields('gridded', desc, fields)
    errors.needs('gridded', desc, { 'file', 'variable' })
    local self = setmetatable({
        path = desc.file, name = desc.variable, fill = desc.fill, missing = desc.missing,
        hold = desc.hold,
        records = {}, order = {}, times = {}, set = dataset.open(desc.file),
    }, Gridded)
    self.field = self.set:field(desc.variable)
    self.scale = scale_of(self, desc.quantity)
    local dims = self.set.fields[desc.variable].dimensions
    self.y = read_axis(self, dims[#dims - 1], self.field.y_turned)
    self.x = read_axis(self, dims[#dims], self.field.x_turned)
    if self.field.times then read_times(self, dims[1], desc.start) end
    return self
end

-- ---- values ----

-- Returns the mean of those neighbours of point k that are not missing, or nil.
local function mean_around(values, k, nx, ny)
    local i, sum, count = k % nx, 0, 0
    for _, near in ipairs { i > 0 and k - 1, i < nx - 1 and k + 1, k - nx, k + nx } do
        local value = near and near >= 0 and near < nx * ny and values[near]
        if value and value == value then sum, count = sum + value, count + 1 end
    end
    return count > 0 and sum / count or nil
end

-- Fills missing values from their neighbours, one layer of points at a time.
local function fill(self, values)
    local nx, ny = self.x.count, self.y.count
    repeat
        local filled, left = {}, 0
        for k = 0, nx * ny - 1 do
            if values[k] ~= values[k] then
                left, filled[k] = left + 1, mean_around(values, k, nx, ny)
            end
        end
        if left == nx * ny then fail(self, 'nothing but missing values') end
        for k, value in pairs(filled) do values[k] = value end
    until left == 0
end

-- Returns record k, from 1. A variable without time has one record.
local function record(self, k)
    if self.records[k] then return self.records[k] end
    local count = self.x.count * self.y.count
    local data, values = self.set:read(self.field, k), netcdf.doubles(count)
    for n = 0, count - 1 do
        local value = tonumber(data[n])
        values[n] = value ~= value and self.missing or value * self.scale
    end
    if self.fill then fill(self, values) end
    self.records[k] = values
    table.insert(self.order, k)
    if #self.order > max_cached then self.records[table.remove(self.order, 1)] = nil end
    return values
end

-- Returns a longitude within the range that the file uses.
local function turn(axis, position)
    local turned = axis.first + (position - axis.first) % 360
    if not axis.around and turned > axis.last and turned - 360 >= axis.first - axis.step then
        return turned - 360
    end
    return turned
end

-- Returns the two points of an axis around a position, and the weight of the
-- second.
local function locate(self, axis, position)
    local values, n = axis.values, axis.count
    if axis.degrees then position = turn(axis, position) end
    if axis.around and position > axis.last then
        return n - 1, 0, (position - axis.last) / (axis.first + 360 - axis.last)
    end
    if position < axis.first - axis.step or position > axis.last + axis.step then
        fail(self, '%s = %g is wanted, there is %g to %g', axis.name, position, axis.first,
            axis.last)
    end
    if position <= axis.first then return 0, 0, 0 end
    if position >= axis.last then return n - 1, n - 1, 0 end
    local low, high = 0, n - 1
    while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        if values[middle] <= position then low = middle else high = middle end
    end
    return low, high, (position - values[low]) / (values[high] - values[low])
end

local function mean_of_some(nearest, values, weights)
    if nearest ~= nearest then return nearest end
    local sum, total = 0, 0
    for k = 1, 4 do
        if values[k] == values[k] then
            sum, total = sum + weights[k] * values[k], total + weights[k]
        end
    end
    return sum / total
end

local function in_record(self, k, x, y)
    local values, nx = record(self, k), self.x.count
    local i, i2, a = locate(self, self.x, x)
    local j, j2, b = locate(self, self.y, y)
    local sw, se, nw, ne = values[j * nx + i], values[j * nx + i2], values[j2 * nx + i],
        values[j2 * nx + i2]
    local south, north = sw + a * (se - sw), nw + a * (ne - nw)
    local value = south + b * (north - south)
    if value == value then return value end
    local nearest = values[(b < 0.5 and j or j2) * nx + (a < 0.5 and i or i2)]
    return mean_of_some(nearest, { sw, se, nw, ne },
        { (1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b })
end

-- Returns the value at a time (s) and place. Before the first record and after
-- the last, the value stays as it is there.
function Gridded:at(t, x, y)
    if #self.times < 2 then return in_record(self, 1, x, y) end
    local k, weight = timeline.bracket(self.times, t)
    local value = in_record(self, k, x, y)
    if weight == 0 then return value end
    return value + weight * (in_record(self, k + 1, x, y) - value)
end

-- Returns the variable as a timeline, which forces and boundaries take.
-- position: a function from x, y of the grid to x, y of the file.
function Gridded:timeline(position)
    local times = #self.times > 1 and self.times or {}
    return { times = times, records = times[1] and not self.hold and { self } or {},
        at = function(t, x, y)
            if position then x, y = position(x, y) end
            return self:at(t, x, y)
        end }
end

-- Refuses a run from t = 0 to `t_end` that the records do not cover.
function Gridded:check_times(t_end)
    local first, last = self.times[1], self.times[#self.times]
    if first > 0 or last < t_end then
        fail(self, '%d records, from t = %.14g s to %.14g s; the run is from 0 to %.14g s, all of '
            .. 'which they must cover', #self.times, first, last, t_end)
    end
end

return gridded
