-- This is what simulation.lua must know of the shallow-water equations over a flat bottom. Unknowns
-- are cell means of depth h and of hu and hv. The device half is kernels/physics/shallow_water/; a
-- new flux is one line here and one header there.

local choices = require 'mare.schemes.choices'
local constants = require 'mare.base.constants'
local equation = require 'mare.schemes.equation'
local m = require 'mare.dialect.maths'
local options = require 'mare.base.options'
local tables = require 'bindings.tables'

local water = {}

water.schemes = {
    lax_friedrichs = 'first order, centred, the most diffusive',
    force = 'first order, centred, the mean of Lax-Friedrichs and Lax-Wendroff',
    hll = 'first order, upwind',
    muscl_hancock = 'second order, dimension split, with --flux and --limiter',
    waf = 'second order, dimension split: weighted average flux, with --limiter',
    kurganov_petrova = 'second order along both axes at once, with --limiter, SSP-RK2',
    kurganov_petrova_rk3 = 'the same with SSP-RK3',
    kurganov_petrova_split = 'second order, dimension split, their flux after half a step',
}
water.fluxes = {
    hll = 'Harten, Lax, van Leer: shear smears',
    hllc = 'with the contact wave: shear stays sharp',
}
water.limiters = choices.limiters

local rk2, rk3 = choices.stages.ssp_rk2, choices.stages.ssp_rk3

-- What the schemes are made of; flux and limiter are the user's where they are nil.
local pieces = {
    lax_friedrichs = { reconstruction = 'hancock', flux = 'lax_friedrichs', limiter = 'none' },
    force = { reconstruction = 'hancock', flux = 'force', limiter = 'none' },
    hll = { reconstruction = 'hancock', flux = 'hll', limiter = 'none' },
    muscl_hancock = { reconstruction = 'hancock' },
    waf = { reconstruction = 'jumps', flux = 'waf' },
    kurganov_petrova = { reconstruction = 'linear', flux = 'central_upwind', stages = rk2 },
    kurganov_petrova_rk3 = { reconstruction = 'linear', flux = 'central_upwind', stages = rk3 },
    kurganov_petrova_split = { reconstruction = 'hancock', flux = 'central_upwind' },
}

local dry = constants.DRY_DEPTH

local function velocity(q)
    local inverse = m.where(m.gt(q.h, dry), m.rcp(q.h), 0)
    return q.hu * inverse, q.hv * inverse
end

local function elevation(q, p) return q.h - p.depth end

local function speed(q)
    local u, v = velocity(q)
    return m.sqrt(m.fma(u, u, v * v))
end

local function energy(q, p)
    local u, v = velocity(q)
    local eta = elevation(q, p)
    return 0.5 * ((u * q.hu + v * q.hv) + p.g * eta * eta)
end

-- The unknowns come first, in the order of their planes; the others are expressions:
-- array/derive.lua.
local variables = {
    { name = 'h', units = 'm', long_name = 'depth of the water' },
    { name = 'hu', units = 'm2 s-1', long_name = 'volume transport along x' },
    { name = 'hv', units = 'm2 s-1', long_name = 'volume transport along y' },
    { name = 'eta', units = 'm', long_name = 'elevation of the surface above still water',
        value = elevation },
    { name = 'u', units = 'm s-1', long_name = 'velocity along x', value = velocity },
    { name = 'v', units = 'm s-1', long_name = 'velocity along y',
        value = function(q) return (select(2, velocity(q))) end },
    { name = 'speed', units = 'm s-1', long_name = 'magnitude of the velocity', value = speed },
    { name = 'energy', units = 'm3 s-2', value = energy,
        long_name = 'energy of a column of water, by density' },
}

local integrals = {
    { name = 'volume', variable = 'h', units = 'm3', long_name = 'volume of the water' },
    { name = 'momentum_x', variable = 'hu', units = 'm4 s-1',
        long_name = 'momentum along x, by density' },
    { name = 'momentum_y', variable = 'hv', units = 'm4 s-1',
        long_name = 'momentum along y, by density' },
    { name = 'total_energy', variable = 'energy', units = 'm5 s-2',
        long_name = 'kinetic energy and potential energy above still water, by density' },
}

-- Says what went wrong in a cell; returns nil if nothing did.
local function invalid(_, h, hu, hv)
    if not (h >= 0 and h < math.huge) then return string.format('depth %g', h) end
    local transport = hu + hv
    if transport - transport ~= 0 then return string.format('transport %g, %g', hu, hv) end
end

water.equation = equation.new {
    name = 'shallow_water', title = 'shallow water', header = 'physics/shallow_water/equation',
    folder = 'physics/shallow_water', units = { length = 'm', time = 's' },
    fields = {
        { name = 'h' },
        { name = 'hu', vector = 'm', axis = 'x' },
        { name = 'hv', vector = 'm', axis = 'y' },
    },
    primitives = { 'h', 'un', 'ut' },
    parameters = { { name = 'g', default = 9.81, range = { 1e-30, 1e30 } } },
    fluxes = water.fluxes, variables = variables, integrals = integrals,
    derive = { 'depth' }, invalid = invalid,
    initial = { 'h', 'u', 'v' },
    conserved = function(_, h, u, v) return h, h * u, h * v end,
    sample = function(_, draw)
        local h = draw(0.5, 2)
        return h, h * draw(-1, 1), h * draw(-1, 1)
    end,
}

-- These a scenario with this scheme lets its user choose; o.g and o.depth are its own.
water.options = choices.options('Shallow water', water.schemes, water.fluxes, variables)

local choose, number = choices.checks 'shallow_water'

-- Makes a scheme: { g = 9.81, depth = 0 of still water, scheme = 'muscl_hancock', flux = 'hllc',
-- limiter = 'mc', theta = 1.3, passes, options = as of mare.euler }
function water.new(desc)
    desc = options.pick('shallow_water', desc, water.options)
    local chosen = water.equation:read(desc, 'hllc',
        { depth = 'any', scheme = 'any', options = 'table' })
    local scheme = choose('scheme', desc.scheme or 'muscl_hancock', water.schemes)
    local own = pieces[scheme]
    return water.equation:build(tables.merged(chosen, own, {
        scheme = scheme,
        headers = { RECONSTRUCTION = 'physics/shallow_water/' .. own.reconstruction },
        more = { depth = number('depth', desc.depth or 0, -1e30, 1e30) },
    }))
end

return water
