-- Where on the earth the cells of a map lie: the Coriolis parameter and the direction of the map's
-- x axis, as functions of its x and y, from latitudes and longitudes (degrees) of every cell.

local earth = {}

local spin = 7.2921e-5      -- of the earth, 1/s

-- Returns a function (x, y) -> the value at the nearest cell of a grid. data: one number a cell, x
-- fastest.
local function nearest(grid, data)
    return function(x, y)
        local i, j = grid:cell(x, y)
        return data[j * grid.nx + i]
    end
end

-- Returns f (1/s) at a place.
function earth.coriolis(grid, latitude)
    local at = nearest(grid, latitude)
    return function(x, y) return 2 * spin * math.sin(math.rad(at(x, y))) end
end

-- Returns the degrees from east to the x axis, anticlockwise, at a place, from angles of every
-- cell.
earth.angle = nearest

-- Returns such angles from positions: of n x m cells, those towards the next cell along x.
function earth.angles(nx, ny, latitude, longitude, angles)
    for j = 0, ny - 1 do
        for i = 0, nx - 1 do
            local a = j * nx + math.min(i, nx - 2)
            local east = (longitude[a + 1] - longitude[a] + 180) % 360 - 180
            local north = latitude[a + 1] - latitude[a]
            local scale = math.cos(math.rad(0.5 * (latitude[a] + latitude[a + 1])))
            angles[j * nx + i] = math.deg(math.atan2(north, east * scale))
        end
    end
    return angles
end

return earth
