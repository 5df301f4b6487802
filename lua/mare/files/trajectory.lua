-- Writes the drifters of a run: a CF collection of featureType trajectory with
-- all their times and places. The file is written once, complete or not at all.

local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'
local positions = require('mare.files.series').positions

local trajectory = {}

local fates = { afloat = 0, beached = 1, gone = 2 }

local function define(file, spec, what)
    local n, m = file:define_dimension('trajectory', #what), file:define_dimension('obs',
        #what.time)
    local function variable(...) output.define(file, ...) end
    output.put_global_attributes(file, spec)
    file:put_attribute(nil, 'featureType', 'trajectory')
    variable('trajectory', 'int', { n }, { long_name = 'number of the drifter',
        cf_role = 'trajectory_id' })
    variable('time', 'double', { n, m }, output.time_attributes(spec))
    local coordinates = 'time'
    for _, axis in ipairs(positions[spec.grid.coordinates or 'cartesian']) do
        variable(axis[2], 'double', { n, m }, { long_name = axis[2] .. ' of the drifter',
            units = axis[3] or spec.space_units or '1', standard_name = axis[3] and axis[2] })
        coordinates = coordinates .. ' ' .. axis[2]
    end
    variable('fate', 'int', { n, m }, { long_name = 'what has become of the drifter',
        flag_meanings = 'afloat beached gone', coordinates = coordinates })
    file:put_attribute('fate', 'flag_values', { 0, 1, 2 })
    file:end_definitions()
end

local function put(file, spec, what)
    local n, m = #what, #what.time
    local function each(name, value)
        local data = netcdf.doubles(n * m)
        for k = 1, n do
            for r = 1, m do data[(k - 1) * m + r - 1] = value(what[k], r) end
        end
        file:put(name, { 0, 0 }, { n, m }, data)
    end
    local numbers = netcdf.doubles(n)
    for k = 1, n do numbers[k - 1] = k end
    file:put('trajectory', { 0 }, { n }, numbers)
    each('time', function(_, r) return what.time[r] end)
    for _, axis in ipairs(positions[spec.grid.coordinates or 'cartesian']) do
        each(axis[2], function(one, r) return one[axis[1]][r] end)
    end
    each('fate', function(one, r) return fates[one.fate[r]] end)
end

-- spec: as for netcdf.writer, without variables. what: the result of
-- Drifters:arrays() in ocean/drifters.lua.
function trajectory.write(spec, what)
    output.write_whole(spec, 32 * #what * #what.time, function(file)
        define(file, spec, what)
        put(file, spec, what)
    end)
end

return trajectory
