-- The shallow-water equations over a bed, on a turning earth: what all ocean schemes share.
-- Unknowns are the elevation eta of the surface above still water (m) and the transports hu, hv
-- (m2/s). NAME.lua beside this file adds what makes a scheme: its setup(scheme, options) gets the
-- table that new() is about to return and puts kernels(), bind(), maxima(), `updated`, `read_only`,
-- `buffers`, `stages`, `staggered` and `nonlinear` into it; `fields` names the options it takes.

local accounts = require 'mare.ocean.accounts'
local cdklm = require 'mare.ocean.cdklm'
local domain = require 'mare.ocean.domain'
local drifters = require 'mare.ocean.drifters'
local edges = require 'mare.ocean.edges'
local errors = require 'bindings.errors'
local choices = require 'mare.schemes.choices'
local kurganov_petrova = require 'mare.ocean.kurganov_petrova'
local linear = require 'mare.ocean.linear'
local nonlinear = require 'mare.ocean.nonlinear'
local open = require 'mare.ocean.open'
local options = require 'mare.base.options'
local tables = require 'bindings.tables'
local variables = require 'mare.ocean.variables'
local variables_of = require 'mare.base.variables'

local ocean = {}

local Ocean = {}
Ocean.__index = Ocean

ocean.schemes = {
    linear = 'C-grid, forward-backward in time: small waves on deep water; transports are half a '
        .. 'step older than the elevation',
    nonlinear = 'C-grid, leapfrog in time: advection too, no drying',
    cdklm = 'finite volumes that keep lakes at rest and geostrophic flow, wet and dry',
    kurganov_petrova = 'finite volumes that keep lakes at rest, wet and dry',
}

-- What makes each of them.
ocean.halves = { linear = linear, nonlinear = nonlinear, cdklm = cdklm,
    kurganov_petrova = kurganov_petrova }

ocean.frictions = {
    linear = 'coefficient (1/s)',
    quadratic = 'coefficient without a unit, such as 0.0025',
    manning = 'coefficient (s m^(-1/3)), such as 0.03',
}

local fields = { 'eta', 'hu', 'hv' }

-- Each where it is of use: see budget.lua.
local integrals = {
    { name = 'volume', variable = 'eta', units = 'm3',
        long_name = 'volume of the water above still water' },
    { name = 'momentum_x', variable = 'hu', units = 'm4 s-1',
        long_name = 'momentum along x, by density' },
    { name = 'momentum_y', variable = 'hv', units = 'm4 s-1',
        long_name = 'momentum along y, by density' },
    { name = 'total_energy', variable = 'energy', units = 'm5 s-2',
        long_name = 'kinetic energy and potential energy above still water, by density' },
    { name = 'dissipation', variable = 'dissipation', units = 'm5 s-3', wants = 'friction',
        long_name = 'energy that friction takes, by density' },
    { name = 'wind_power', variable = 'wind_power', units = 'm5 s-3', wants = 'wind',
        long_name = 'energy that wind gives, by density' },
    { name = 'inflow', account = 1, units = 'm3', wants = 'accounts',
        long_name = 'volume that has come in through the cells of the tide' },
    { name = 'tidal_work', account = 2, units = 'm5 s-2', wants = 'accounts',
        long_name = 'energy that has come in through the cells of the tide, by density' },
}

local function integrals_of(scheme)
    local list = {}
    for _, integral in ipairs(integrals) do
        if not integral.wants or scheme[integral.wants] then list[#list + 1] = integral end
    end
    return list
end

-- What a scenario with this scheme lets its user choose.
ocean.options = {
    title = 'Ocean',
    { name = 'scheme', default = 'cdklm', choices = tables.keys(ocean.schemes),
        help = 'of the time step; with linear u and v are half a step older than eta' },
    { name = 'theta', type = 'number', range = { 1, 2 },
        help = 'of the minmod limiter of finite volumes; 1.3 if not given' },
    { name = 'rk', type = 'integer', range = { 2, 3 },
        help = 'stages of a step of finite volumes; 2 if not given' },
    variables_of.option(variables.list, fields),
}

local common = {
    scheme = 'any', g = 'any', depth = 'any', land = 'number', minimum_depth = 'number',
    coriolis = 'any', friction = 'any', viscosity = 'any', rho = 'any', wind = 'any',
    pressure = 'any', tide = 'table', rivers = 'table', options = 'table',
}

local choose, number = choices.checks 'ocean'

local function check_friction(given)
    if not given then return nil end
    errors.fields('ocean: friction', given, { kind = ocean.frictions, coefficient = 'number' })
    choose('friction', given.kind, ocean.frictions)
    return { kind = given.kind,
        coefficient = number('coefficient of friction', given.coefficient, 0, 1e30) }
end

local function check_coriolis(given)
    local kind = type(given)
    if kind == 'nil' or kind == 'table' or kind == 'function' or given == 'latitude' then
        return given
    end
    errors.argument("ocean: coriolis = %s, must be { f =, beta =, y0 = }, a function(x, y) or "
        .. "'latitude'", tostring(given))
end

-- The scheme's own half.
local function find(name)
    choose('scheme', name, ocean.schemes)
    return ocean.halves[name]
end

local function check_fields(desc, half)
    local allowed = {}
    for _, list in ipairs { common, half.fields or {} } do
        for name, rule in pairs(list) do allowed[name] = rule end
    end
    errors.fields('ocean', desc, allowed)
end

-- { scheme = 'cdklm', g = 9.81 (m/s2), depth = see ocean/bed.lua, land = depth (m) from which on it
-- is land, minimum_depth = of the rest, coriolis = nil, { f = 1/s, beta = 1/(m s), y0 = m }, a
-- function(x, y) -> 1/s or 'latitude', friction = { kind =, coefficient = }, viscosity = 0 (m2/s),
-- rho = 1025 (kg/m3), wind = stress along x and y (N/m2) and pressure = of the air (Pa), see
-- forcing/timeline.lua, tide = cells whose elevation is given, see ocean/cells.lua, rivers = see
-- ocean/rivers.lua, options = of mare.options, which hold what is not given, and what the scheme
-- takes beside }
function ocean.new(desc)
    desc = options.pick('ocean', errors.wanted('ocean', 'table', desc), ocean.options)
    local name = desc.scheme or 'cdklm'
    local half = find(name)
    check_fields(desc, half)
    local scheme = setmetatable({
        name = 'ocean', scheme = name, halo = 2, fields = fields,
        normal = { x = { 1 }, y = { 2 } }, units = { length = 'm', time = 's' },
        variables = variables.list,
        missing = { colour = 0xb4aca0, label = 'land' },
        g = number('g', desc.g or 9.81, 0, 1e30),
        depth = desc.depth, land = desc.land, minimum_depth = desc.minimum_depth,
        coriolis = check_coriolis(desc.coriolis), friction = check_friction(desc.friction),
        viscosity = number('viscosity', desc.viscosity or 0, 0, 1e30),
        rho = number('rho', desc.rho or 1025, 1e-30, 1e30), wind = desc.wind,
        pressure = desc.pressure, tide = desc.tide, rivers = desc.rivers,
    }, Ocean)
    half.setup(scheme, desc)
    scheme.accounts = scheme.accounts and scheme.tide ~= nil
    scheme.integrals, scheme.derive = integrals_of(scheme), variables.inputs(scheme)
    return scheme
end

Ocean.domain, Ocean.prepare = domain.new, function(_, host, state) domain.prepare(host, state) end
Ocean.room = domain.room

local own = { reflective = true, periodic = true }      -- sides where nothing is known from outside

-- Where a tide alone drives the water it is never faster than by a fall from crest to trough, which
-- is twice the highest elevation so far (Bernoulli), and twice what it began with. Faster water has
-- been driven by cells of the tide that do not fit their neighbours, or by steps that are unstable.
local function bounds_of_tide()
    local highest = 0
    return { variables = { 'velocity_head', 'eta' }, most = true, excess = function(first, found)
        highest = math.max(highest, first[2], found[2])
        if found[1] <= 2 * highest + 2 * first[1] + 0.01 then return nil end
        return ('water became as fast as by a fall of %.4g m'):format(found[1]), ('where a tide '
            .. 'alone drives it, whose elevation was %.4g m at most: neighbours along the '
            .. 'boundary differ too much, or the steps are unstable'):format(highest)
    end }
end

-- Of a domain into which no energy comes: what its energy may become `factor` times, and more by
-- the noise. On C-grids the energy that steps keep has transports half a step before the
-- elevation: what they show is between 1 - cfl and 1 + cfl times that. The noise is that of
-- elevations which may be off by 16 roundings of the depth. Of one that a tide drives, see above;
-- linear waves may have any height. Else nil.
function Ocean:bounds(host, cfl)
    if self.wind or self.pressure or self.rivers then return nil end
    for _, given in pairs(host.boundaries) do
        if type(given) ~= 'table' and not own[given] then return nil end
    end
    local is_still, by_elevation = not self.tide, self.scheme == 'nonlinear'
    for _, side in ipairs(host.open) do
        is_still = is_still and side.is_still
        by_elevation = by_elevation and (side.is_still or side.kind == 'elevation')
    end
    if not is_still then return by_elevation and bounds_of_tide() or nil end
    local grid, rounding = host.grid, 16 * 2 ^ (host.precision == 'double' and -53 or -24)
    local area = 0
    for j = 0, grid.ny - 1 do area = area + grid.nx * grid:cell_area(j) end
    local factor = 2 * (self.staggered and (1 + cfl) / (1 - math.min(cfl, 0.99)) or 1)
    local noise = 0.5 * self.g * area * (rounding * host.bed.deepest) ^ 2
    return { variables = { 'energy' }, factor = factor, excess = function(first, found)
        if found[1] <= factor * first[1] + noise then return nil end
        return ('energy grew from %.4g to %.4g m5 s-2'):format(first[1], found[1]),
            'where none comes in (sides are closed or still): the steps are unstable'
    end }
end

-- What only the ocean has beside a state and its steps: see schemes/README.md.
Ocean.open_sides = open.kinds
Ocean.particles = { name = 'drifters', new = drifters.new }

-- Returns launches that fill ghost cells beyond open sides, as edges.ghosts.
function Ocean.ghosts(_, ...) return edges.ghosts(...) end

-- Returns launches of a sponge after each step, as edges.after.
function Ocean.after_step(_, ...) return edges.after(...) end

-- Makes what knows how much has come in through the cells of a tide since the start: accounts.lua.
function Ocean.new_accounts(_, sim) return accounts.new(sim) end

-- Returns what went wrong in a cell, or nil.
function Ocean.invalid(_, eta, hu, hv)
    local sum = eta + hu + hv
    if sum - sum == 0 then return nil end
    return string.format('elevation %g, transport %g, %g', eta, hu, hv)
end

-- From initial(x, y) -> eta, u, v to a function (i, j) -> eta, hu, hv; points: as domain.sampler.
function Ocean.conserved(_, host, initial, points)
    return domain.sampler(host, initial, points)
end

-- Returns whether an unknown is stored as it is shown: at centres, and not missing anywhere.
function Ocean:shows(variable, host)
    local name = variable.name
    if host:has_land() then return false end
    if name == 'eta' then return not host:has_missing() end
    return not self.staggered and (name == 'hu' or name == 'hv')
end

-- Returns what kernels of derived variables ask for, of a part.
function Ocean:derive_values(_, state)
    local values = domain.values(state)
    return { bed = values.bed, grid_rows = values.rows, row_count = values.row_count,
        inv_dx = values.inv_dx, inv_dy = values.inv_dy, g = self.g, dry = self.dry or 0,
        friction = values.friction, forcing = values.forcing, forcing_times = values.forcing_times,
        clock = state.clock, missing = 0 / 0 }
end

-- Returns what lies beside the variables in a file, without a time: still water's depth.
function Ocean.statics(_, host)
    return { { name = 'depth', units = 'm', long_name = 'depth of still water, positive down',
        standard_name = 'sea_floor_depth_below_geoid', at = function(i, j)
            return host.bed:is_land(i, j) and 0 / 0 or host.bed:depth_at(i, j)
        end } }
end

local rotations = { ['nil'] = 'none', table = 'by row', ['function'] = 'by place' }

-- Returns what describes the equations in a file's metadata.
function Ocean:parameters()
    local friction, rotation = self.friction or {}, self.coriolis
    local list = { equations = 'shallow water over a bed', g = self.g, scheme = self.scheme,
        viscosity = self.viscosity, rho = self.rho, friction = friction.kind,
        friction_coefficient = friction.coefficient,
        coriolis = rotations[type(rotation)] or rotation,
        rivers = self.rivers and #self.rivers or nil }
    for name, value in pairs(type(rotation) == 'table' and rotation or {}) do
        list['coriolis_' .. name] = value
    end
    for _, name in ipairs { 'limiter', 'theta', 'rk', 'dry', 'filter' } do
        list[name] = self[name]
    end
    return list
end

return ocean
