-- Makes a small sea as a file, depths over latitude and longitude, for specs
-- that read one.

local netcdf = require 'bindings.netcdf'

local sea = { nx = 24, ny = 16, west = 0, south = 50, dx = 0.1, dy = 0.05 }

-- Returns the depth of a cell: the sea gets deeper towards the north; there is
-- land in the east, and an island.
function sea.depth(i, j)
    local is_land = i >= sea.nx - 3 or i >= 10 and i <= 12 and j >= 6 and j <= 8
    return is_land and -9999 or 30 + 2 * j + 0.5 * i
end

-- Writes all values of a variable; count: along each dimension.
function sea.put(file, name, count, values)
    local data, start = netcdf.doubles(#values), {}
    for k, value in ipairs(values) do data[k - 1] = value end
    for k in ipairs(count) do start[k] = 0 end
    file:put(name, start, count, data)
end

-- Writes this sea, or another { nx =, ny =, west, south = of the corner, dx,
-- dy, depth = function(i, j) }.
function sea.write(path, other)
    local of, file = other or sea, netcdf.create(path, path)
    local y, x = file:define_dimension('lat', of.ny), file:define_dimension('lon', of.nx)
    local lat, lon, depth = {}, {}, {}
    for name, axis in pairs { lat = { y, 'degrees_north' }, lon = { x, 'degrees_east' } } do
        file:define_variable(name, 'double', { axis[1] })
        file:put_attribute(name, 'units', axis[2])
    end
    file:define_variable('depth', 'float', { y, x })
    file:put_attribute('depth', 'units', 'm')
    file:end_definitions()
    for j = 0, of.ny - 1 do lat[j + 1] = of.south + (j + 0.5) * of.dy end
    for i = 0, of.nx - 1 do lon[i + 1] = of.west + (i + 0.5) * of.dx end
    for k = 0, of.nx * of.ny - 1 do
        depth[k + 1] = of.depth(k % of.nx, math.floor(k / of.nx))
    end
    sea.put(file, 'lat', { of.ny }, lat)
    sea.put(file, 'lon', { of.nx }, lon)
    sea.put(file, 'depth', { of.ny, of.nx }, depth)
    file:close()
    return path
end

-- Writes M2 on the western side: 0.5 m, with a phase that grows by 2 degrees
-- per row.
function sea.write_tide(path)
    local file = assert(io.open(path, 'w'))
    file:write 'i,j,M2_amplitude_m,M2_phase_deg\n'
    for j = 0, sea.ny - 1 do file:write(('0,%d,0.5,%d\n'):format(j, 100 + 2 * j)) end
    file:close()
    return path
end

return sea
