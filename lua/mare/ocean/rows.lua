-- What depends on the row of a cell alone: widths, areas, the Coriolis parameter. One array a kind,
-- with a number for each row from the first ghost row on; the kinds are ROW_* of
-- base/constants.lua.

local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'

local rows = {}

local c, kinds = constants, constants.ROW_KINDS

local spin = 7.2921e-5      -- of the earth, 1/s

local rotation_fields = { f = 'number', beta = 'number', y0 = 'number' }

-- The Coriolis parameter (1/s) as a function of y, or nil where it is not one.
local function parameter(coriolis, grid)
    if coriolis == 'latitude' then
        if not grid.spherical then
            errors.argument "ocean: coriolis = 'latitude' wants a grid of longitude and latitude"
        end
        return function(y) return 2 * spin * math.sin(math.rad(y)) end
    end
    if type(coriolis) ~= 'table' then return nil end
    errors.fields('ocean: coriolis', coriolis, rotation_fields)
    local f, beta, y0 = coriolis.f, coriolis.beta or 0, coriolis.y0 or 0
    if not f or f - f ~= 0 or beta - beta ~= 0 then
        errors.argument('ocean: coriolis: f = %s, beta = %s, numbers are wanted', tostring(f),
            tostring(beta))
    end
    return function(y) return f + beta * (y - y0) end
end

local function curvature(grid, y)
    return grid.spherical and math.tan(math.rad(y)) / grid.radius or 0
end

-- Returns an array of all kinds one after the other.
function rows.new(grid, boundaries, coriolis)
    local halo, list = grid.halo, {}
    local count = grid.ny + 2 * halo
    local f = parameter(coriolis, grid) or function() return 0 end
    local function put(kind, j, value) list[kind * count + j + halo + 1] = value end
    for j = -halo, grid.ny + halo - 1 do
        local _, row = grid:wrapped(boundaries, 0, j)
        local centre, south = grid:y_centre(row), grid:y_face(row)
        put(c.ROW_INV_DX, j, 1 / (grid:cell_size(centre)))
        put(c.ROW_SOUTH, j, (grid:cell_size(south)))
        put(c.ROW_INV_AREA, j, 1 / grid:cell_area(row))
        put(c.ROW_F, j, f(centre))
        put(c.ROW_F_SOUTH, j, f(south))
        put(c.ROW_CURVATURE, j, curvature(grid, centre))
        put(c.ROW_CURVATURE_SOUTH, j, curvature(grid, south))
    end
    assert(#list == kinds * count)
    return list
end

-- Returns those of ny rows from j0 on only, and of the ghost rows around them.
function rows.part(list, grid, j0, ny)
    local halo, mine = grid.halo, {}
    local count = grid.ny + 2 * halo
    for kind = 0, kinds - 1 do
        for k = 1, ny + 2 * halo do mine[#mine + 1] = list[kind * count + j0 + k] end
    end
    return mine
end

return rows
