-- Writes the time series of a run: integrals over the domain as variables over
-- time, and gauges as a CF collection of featureType timeSeries, with one
-- station per gauge. The file is written once, complete or not at all.

local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'

local series = {}

-- For a gauge or drifter: the field of its table, the name of the coordinate
-- variable, and its unit.
series.positions = {
    cartesian = { { 'x', 'x' }, { 'y', 'y' } },
    space = { { 'x', 'x' }, { 'y', 'y' }, { 'z', 'z' } },
    ['longitude-latitude'] = { { 'x', 'longitude', 'degrees_east' },
        { 'y', 'latitude', 'degrees_north' } },
}

local define = output.define

local function axes_of(spec)
    return series.positions[spec.grid.nz and 'space' or spec.grid.coordinates or 'cartesian']
end

local function define_gauges(file, spec, what, time)
    local longest = 1
    for _, gauge in ipairs(what.gauges) do longest = math.max(longest, #gauge.name) end
    local station = file:define_dimension('station', #what.gauges)
    local letters = file:define_dimension('name_strlen', longest)
    define(file, 'station_name', 'char', { station, letters },
        { long_name = 'name of the gauge', cf_role = 'timeseries_id' })
    local coordinates = 'station_name'
    for _, axis in ipairs(axes_of(spec)) do
        define(file, axis[2], 'double', { station }, {
            long_name = axis[2] .. ' of the centre of the cell that the gauge is in',
            units = axis[3] or spec.space_units or '1', standard_name = axis[3] and axis[2] })
        coordinates = coordinates .. ' ' .. axis[2]
    end
    for _, v in ipairs(what.variables) do
        define(file, v.name, 'double', { time, station }, { units = v.units or '1',
            long_name = v.long_name or v.name, standard_name = v.standard_name,
            comment = v.comment,
            coordinates = coordinates })
    end
    file:put_attribute(nil, 'featureType', 'timeSeries')
    return longest
end

local function put_list(file, name, start, count, values)
    local data = netcdf.doubles(#values)
    for k, value in ipairs(values) do data[k - 1] = value end
    file:put(name, start, count, data)
end

local function put_gauges(file, spec, what, arrays, longest)
    local count = #what.gauges
    for k, gauge in ipairs(what.gauges) do
        file:put_text('station_name', { k - 1, 0 }, { 1, longest },
            gauge.name .. ('\0'):rep(longest - #gauge.name))
    end
    for _, axis in ipairs(axes_of(spec)) do
        local values = {}
        for k, gauge in ipairs(what.gauges) do values[k] = gauge[axis[1]] end
        put_list(file, axis[2], { 0 }, { count }, values)
    end
    for _, v in ipairs(what.variables) do
        local values = {}
        for n = 1, #arrays.time do
            for _, gauge in ipairs(what.gauges) do
                values[#values + 1] = arrays.gauges[gauge.name][v.name][n]
            end
        end
        put_list(file, v.name, { 0, 0 }, { #arrays.time, count }, values)
    end
end

local function write(file, spec, what, arrays)
    local time, longest = file:define_dimension 'time', nil
    output.put_global_attributes(file, spec)
    define(file, 'time', 'double', { time }, output.time_attributes(spec))
    for _, integral in ipairs(what.integrals) do
        define(file, integral.name, 'double', { time }, { units = integral.units or '1',
            long_name = integral.long_name or integral.name })
    end
    if what.gauges[1] then longest = define_gauges(file, spec, what, time) end
    file:end_definitions()
    put_list(file, 'time', { 0 }, { #arrays.time }, arrays.time)
    for _, integral in ipairs(what.integrals) do
        put_list(file, integral.name, { 0 }, { #arrays.time }, arrays[integral.name])
    end
    if what.gauges[1] then put_gauges(file, spec, what, arrays, longest) end
end

-- spec: as for netcdf.writer, without variables. what: { integrals, variables,
-- gauges }. arrays: their values. run/series.lua makes both.
function series.write(spec, what, arrays)
    local columns = 1 + #what.integrals + #what.variables * #what.gauges
    output.write_whole(spec, 16 * #arrays.time * columns, function(file)
        write(file, spec, what, arrays)
    end)
end

return series
