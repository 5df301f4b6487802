-- The variables of an ocean, at the centres of cells. On land they are missing.
-- Where finite volumes are dry there is no surface, so that the elevation and
-- what depends on the velocity are missing too. Kinetic energies and rates are 0
-- there instead, so that they can be summed.
--
-- q has the fields, `depth` (of still water, or land), `curvature` and `inv_dx` of
-- the row, `wind_x` and `wind_y`. p has the parameters and choices below. If
-- `staggered`, transports are at the low faces of cells; unless `total`, depths at
-- faces are those of still water.

local bed = require 'mare.ocean.bed'
local m = require 'mare.dialect.maths'
local nodes = require 'mare.dialect.nodes'
local tables = require 'bindings.tables'

local variables = {}

-- ---- what a cell holds ----

local function is_land(q) return m.lt(q.depth, bed.below_is_land) end

local function thickness(q) return q.eta + q.depth end

local function is_wet(q, p)
    return m.logical_and(m.logical_not(is_land(q)), m.gt(thickness(q), p.dry))
end

local function on_water(q, p, value) return m.where(is_land(q), p.missing, value) end

local function on_surface(q, p, value)
    if p.staggered then return on_water(q, p, value) end
    return m.where(is_wet(q, p), value, p.missing)
end

-- Returns the value in water, otherwise 0.
local function of_water(q, p, value) return m.where(is_wet(q, p), value, 0) end

local function transport_x(q, p)
    if p.staggered then return 0.5 * (q.hu + q:at(1, 0).hu) end
    return q.hu
end

local function transport_y(q, p)
    if p.staggered then return 0.5 * (q.hv + q:at(0, 1).hv) end
    return q.hv
end

local function velocity_x(q, p) return of_water(q, p, transport_x(q, p) / thickness(q)) end
local function velocity_y(q, p) return of_water(q, p, transport_y(q, p) / thickness(q)) end

local function speed(q, p)
    local u, v = velocity_x(q, p), velocity_y(q, p)
    return on_surface(q, p, m.sqrt(m.fma(u, u, v * v)))
end

-- Returns a neighbour, or the cell itself where the neighbour is land.
local function beside(q, i, j)
    local other = q:at(i, j)
    return m.where(is_land(other), q, other)
end

-- dv/dx - du/dy + u tan(latitude) / radius
local function vorticity(q, p)
    local v_x = (velocity_y(beside(q, 1, 0), p) - velocity_y(beside(q, -1, 0), p)) * q.inv_dx
    local u_y = (velocity_x(beside(q, 0, 1), p) - velocity_x(beside(q, 0, -1), p)) * p.inv_dy
    return on_surface(q, p, m.fma(0.5, v_x - u_y, q.curvature * velocity_x(q, p)))
end

-- ---- energy and its rates, over density ----
-- If transports are at faces, a cell has half of what each of its four faces has.

-- Returns the depth at the face between two cells, 0 where no water passes.
local function depth_between(q, before, p)
    local h = 0.5 * (q.depth + before.depth)
    if p.total then h = h + 0.5 * (q.eta + before.eta) end
    return m.where(m.logical_and(m.gt(q.depth, 0), m.gt(before.depth, 0)), h, 0)
end

-- Return the transport at a face, the transport across it, and the depth there.
local function west_face(q, p)
    local west, north, northwest = q:at(-1, 0), q:at(0, 1), q:at(-1, 1)
    return { flow = q.hu, h = depth_between(q, west, p),
        across = 0.25 * ((west.hv + q.hv) + (northwest.hv + north.hv)) }
end

local function south_face(q, p)
    local south, east, southeast = q:at(0, -1), q:at(1, 0), q:at(1, -1)
    return { flow = q.hv, h = depth_between(q, south, p),
        across = 0.25 * ((south.hu + q.hu) + (southeast.hu + east.hu)) }
end

-- Return f of the transport along an axis; if staggered, the sum over both faces,
-- of which mean() takes half.
local function along_x(q, p, f)
    if p.staggered then return f(west_face(q, p), p) + f(west_face(q:at(1, 0), p), p) end
    return f({ flow = q.hu, across = q.hv, h = thickness(q) }, p)
end

local function along_y(q, p, f)
    if p.staggered then return f(south_face(q, p), p) + f(south_face(q:at(0, 1), p), p) end
    return f({ flow = q.hv, across = q.hu, h = thickness(q) }, p)
end

local function mean(p, sum) return p.staggered and 0.5 * sum or sum end

local function along_both(q, p, f) return mean(p, along_x(q, p, f) + along_y(q, p, f)) end

-- The same of what is summed over faces, computed ahead: PoCL 6 with LLVM 18, as in
-- Debian 13, ends the process where such sums are an arm of the choice.
local function sum_of_water(q, p, value) return of_water(q, p, nodes.named('sum', value)) end

local function where_deep(c, value) return m.where(m.gt(c.h, 0), value, 0) end

local function moving(c) return where_deep(c, c.flow * c.flow / c.h) end

-- What it takes to bring the surface there from still water, or from a bed above that: also where a
-- bed below it has fallen dry.
local function potential(q, p)
    if p.staggered then return p.g * q.eta * q.eta end
    local level = m.where(m.lt(q.depth, 0), q.depth, 0)
    return p.g * ((q.eta - level) * (q.eta + level))
end

local function energy(q, p)
    local moved = along_both(q, p, moving)
    if p.staggered then return sum_of_water(q, p, 0.5 * (potential(q, p) + moved)) end
    return m.where(is_land(q), 0, 0.5 * (potential(q, p) + of_water(q, p, moved)))
end

local function velocity(c) return where_deep(c, c.flow / c.h) end

local function square(c) return where_deep(c, c.flow * c.flow / (c.h * c.h)) end

local function velocity_head(q, p)
    return sum_of_water(q, p, along_both(q, p, square) / (2 * p.g))
end

local function size(c) return m.sqrt(c.flow * c.flow + c.across * c.across) end

-- The rates at which friction takes energy, without its coefficient.
local resisted = {
    none = function() return 0 end,
    linear = function(c) return where_deep(c, c.flow * c.flow / c.h) end,
    quadratic = function(c)
        return where_deep(c, c.flow * c.flow * size(c) / (c.h * c.h * c.h))
    end,
    manning = function(c)
        return where_deep(c, c.flow * c.flow * size(c) / (c.h * c.h * c.h * m.cbrt(c.h)))
    end,
}

local function dissipation(q, p)
    local rate = p.friction * along_both(q, p, resisted[p.friction_kind])
    if p.friction_kind == 'manning' then rate = rate * p.g * p.friction end
    return sum_of_water(q, p, rate)
end

local function wind_power(q, p)
    local u, v = mean(p, along_x(q, p, velocity)), mean(p, along_y(q, p, velocity))
    return sum_of_water(q, p, u * q.wind_x + v * q.wind_y)
end

-- ---- the table ----

variables.list = {
    { name = 'eta', units = 'm', long_name = 'elevation of the surface above still water',
        standard_name = 'sea_surface_height_above_geoid',
        value = function(q, p) return on_surface(q, p, q.eta) end },
    { name = 'hu', units = 'm2 s-1', long_name = 'volume transport along x',
        value = function(q, p) return on_water(q, p, transport_x(q, p)) end },
    { name = 'hv', units = 'm2 s-1', long_name = 'volume transport along y',
        value = function(q, p) return on_water(q, p, transport_y(q, p)) end },
    { name = 'h', units = 'm', long_name = 'depth of the water',
        standard_name = 'sea_floor_depth_below_sea_surface',
        value = function(q, p) return on_water(q, p, thickness(q)) end },
    { name = 'u', units = 'm s-1', long_name = 'velocity along x, mean over the depth',
        standard_name = 'barotropic_sea_water_x_velocity',
        on_sphere = 'barotropic_eastward_sea_water_velocity',
        value = function(q, p) return on_surface(q, p, velocity_x(q, p)) end },
    { name = 'v', units = 'm s-1', long_name = 'velocity along y, mean over the depth',
        standard_name = 'barotropic_sea_water_y_velocity',
        on_sphere = 'barotropic_northward_sea_water_velocity',
        value = function(q, p) return on_surface(q, p, velocity_y(q, p)) end },
    { name = 'speed', units = 'm s-1', long_name = 'magnitude of that velocity',
        standard_name = 'sea_water_speed', value = speed },
    { name = 'vorticity', units = 's-1', long_name = 'vorticity of that velocity',
        standard_name = 'ocean_relative_vorticity', value = vorticity },
    { name = 'velocity_head', units = 'm', value = velocity_head,
        long_name = 'height of a fall that makes water as fast' },
    { name = 'energy', units = 'm3 s-2', value = energy,
        long_name = 'energy of a column of water, by density' },
    { name = 'dissipation', units = 'm3 s-3', value = dissipation,
        long_name = 'energy that friction takes from a column of water, by density' },
    { name = 'wind_power', units = 'm3 s-3', value = wind_power,
        long_name = 'energy that wind gives a column of water, by density' },
}

local moving_names = tables.set { 'hu', 'hv', 'u', 'v', 'speed', 'vorticity',
    'velocity_head' }

-- Returns the table of a scheme whose transports are half a step older than its elevation, which
-- files say of each.
function variables.with_old_transports()
    local list = {}
    for k, v in ipairs(variables.list) do
        list[k] = moving_names[v.name] and tables.merged(v, {
            comment = 'half a time step before the elevation, but for the initial state' }) or v
    end
    return list
end

-- Returns the table `derive` of a scheme, as array/derive.lua describes it.
function variables.inputs(scheme)
    local wind = { 'forcing', 'forcing_times', 'clock', 'plane', 'at' }
    return {
        header = 'physics/ocean/derived.h',
        parameters = { 'g', 'dry', 'friction', 'missing', 'inv_dy' },
        choices = { staggered = scheme.staggered or false,
            total = not scheme.staggered or scheme.nonlinear or false,
            friction_kind = scheme.friction and scheme.friction.kind or 'none' },
        arguments = { bed = 'real*', grid_rows = 'real*', row_count = 'int', forcing = 'real*',
            forcing_times = 'double*', clock = 'double*', inv_dx = 'real' },
        inputs = {
            depth = { buffer = 'bed' },
            curvature = { call = 'curvature', 'grid_rows', 'row_count', 'cell_row' },
            inv_dx = { call = 'row_inv_dx', 'grid_rows', 'row_count', 'cell_row', 'inv_dx' },
            wind_x = { call = 'wind_x', unpack(wind) },
            wind_y = { call = 'wind_y', unpack(wind) },
        },
    }
end

return variables
