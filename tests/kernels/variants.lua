-- variants.lua - what the compile test compiles each kernel with.
--
-- A kernel file that is not named here is compiled as it is, in float and in double. One that wants
-- defines has a row in `rows`: the end of its path, and a function(precision, team) that gives a
-- list of { title, defines, more fields of device:program, or program = a whole one }; `team` lanes
-- shuffle. MARE_REAL is the precision unless the defines say otherwise. A file of one precision
-- gives an empty list for the other; what only CUDA compiles says cuda = true.

local domain = require 'mare.ocean.domain'
local equations = require 'mare.schemes.equations'
local euler = require 'mare.schemes.euler'
local euler_in_space = require 'mare.volume.euler'
local every = require 'tests.every_scheme'
local kernels = require 'mare.ordering.kernels'
local kernels_in_space = require 'mare.volume.kernels'
local samples_in_space = require 'mare.volume.samples'
local sides_in_space = require 'mare.volume.sides'
local limits = require 'mare.schemes.choices'
local mhd = require 'mare.schemes.mhd'
local multiply = require 'mare.products.multiply'
local part = require 'tests.kernels.part'
local pointwise = require 'mare.schemes.pointwise'
local renderer = require 'mare.mandelbrot.renderer'
local scan = require 'mare.ordering.scan'
local sort = require 'mare.ordering.sort'
local stencil = require 'mare.schemes.stencil'
local tables = require 'bindings.tables'
local types = require 'mare.expression.types'
local water = require 'mare.schemes.shallow_water'

local function fill(defines, more)
    for name, value in pairs(more) do defines[name] = value end
    return defines
end

-- ---- the steps: each limiter, each flux, each width; each scheme of each equation ----

local widths = { 4, 2, 1, 8 }

-- Euler's of each limiter and each flux, and those of the other equations that step in stages, or
-- those that do not.
local function of_schemes(in_stages)
    local list = {}
    for k, scheme in ipairs(every.schemes()) do
        if (scheme.stages ~= nil) == in_stages then
            list[#list + 1] = { ('%s %s %s'):format(scheme.name, scheme.scheme, scheme.flux),
                fill({ W = widths[k % #widths + 1], GROUP = 64 }, scheme.defines),
                equation = scheme.equation }
        end
    end
    return list
end

local function sweeps(precision)
    local list = of_schemes(false)
    for k, limiter in ipairs(tables.keys(limits.limiters)) do
        local W = widths[k % #widths + 1]
        list[#list + 1] = { ('W %d %s'):format(W, limiter),
            part.defines(precision, { W = W, GROUP = 64 }, 'hllc', limiter),
            equation = euler.equation, source = W == 4 }
    end
    return list
end

-- What a user's flux is checked with, of a header of Mare's and of an equation's own code.
local function consistency(precision)
    return { { 'hllc', part.defines(precision, { W = 1, GROUP = 64 }, 'hllc', 'mc'),
        equation = euler.equation },
        { 'mhd', fill({ W = 1, GROUP = 64 }, mhd.new({}).defines), equation = mhd.equation } }
end

-- An equation in Lua whose source asks for its place.
local function forced(scheme)
    return equations.new { fields = { 'u', equations.vector 'm' }, scheme = scheme,
        flux = function(q) return q.m.n * q.u, q.u, q.u end,
        speed = function(q) return q.m.n - 1, q.m.n + 1 end,
        source = function(q, x, y, t) return t * x, q.m.y, y * q.m.x end }
end

local function stages(precision)
    local list, own = of_schemes(true), forced 'ssp_rk2'
    list[#list + 1] = { 'lua ' .. precision, fill({ W = 4, GROUP = 64 }, own.defines),
        equation = own.equation, source = true }
    return list
end

-- ---- in one pass, of the widest accesses and the narrowest ----

local passes = {
    float = { { W = 4, 'mc', 'hllc' }, { W = 1, 'minmod', 'lax_friedrichs' } },
    double = { { W = 2, 'van_leer', 'hll' } },
}

local function in_one_pass(precision, widest, shape)
    local list = {}
    for _, v in ipairs(passes[precision]) do
        if v.W <= widest then
            list[#list + 1] = { 'W ' .. v.W,
                fill(part.defines(precision, { W = v.W }, v[2], v[1]), shape), math = 'fast',
                equation = euler.equation, source = true }
        end
    end
    if precision == 'float' then
        list[#list + 1] = { 'waf', fill(fill({ W = 2 }, water.new { scheme = 'waf' }.defines),
            shape), math = 'fast', equation = water.equation }
    end
    local own = forced()
    list[#list + 1] = { 'lua', fill(fill({ W = 2 }, own.defines), shape), math = 'fast',
        equation = own.equation, source = true }
    return list
end

local function march(precision, team)
    return in_one_pass(precision, 4, { GROUP = 64, TEAM = team, DEPTH = 4 })
end

local function tile(precision)      -- with fewer work-items, some own no row
    return in_one_pass(precision, 2, { GROUP = 256, TEAM = 32 })
end

local function persistent(precision)
    local list = {}
    local cut = { GROUP = 384, WARP = 32, RATE_PAIRS = 3, ROWS = 4, GRADUAL = 0 }
    for _, flux in ipairs(precision == 'float' and { 'hll', 'hllc' } or {}) do
        list[#list + 1] = { flux, fill(part.defines('float', { W = 2 }, flux, 'minmod'), cut),
            math = 'fast', cuda = true, equation = euler.equation }
    end
    if precision == 'float' then
        list[#list + 1] = { 'water', fill(fill({ W = 2 }, water.new({}).defines), cut),
            math = 'fast', cuda = true, equation = water.equation }
    end
    return list
end

-- ---- three dimensions ----

local function of_gas(more)
    return function(precision, team)
        local scheme = euler_in_space.new {}
        return { { 'gas', fill({ MARE_REAL = precision, W = 2, GROUP = 64, TEAM = team,
            DEPTH = team == 32 and 4 or 0, STEPS = 2, GRADUAL = 0 },
            scheme.defines), math = 'fast', program = more and more(scheme),
            equation = scheme.equation } }
    end
end

local function filled(scheme)
    return kernels_in_space.filler(scheme, 'float', function(x, y, z) return x, y, z, x, 1 end)
end

local function beside(scheme)
    return sides_in_space.program(scheme, {
        function(_, x, y, z) return x, y, z, x, 1 end,
        function(q, x, _, _, t) return q.rho, q.u.z, x, t, q.p end,
    }, fill({ MARE_REAL = 'float', W = 1, GROUP = 32, TEAM = 32 }, scheme.defines))
end

local function summed(scheme)
    local list = {}
    for _, name in ipairs { 'rho', 'p', 'kinetic' } do
        list[#list + 1] = samples_in_space.find(scheme, name)
    end
    return samples_in_space.program(scheme, list, 'float')
end

-- ---- the ocean: each choice of domain.h once ----

local c_grids = {     -- W, METRIC, CORIOLIS, FRICTION, FORCING, VISCOSITY
    { 4, 0, 0, 0, 0, 0 }, { 2, 0, 1, 1, 1, 0 }, { 1, 0, 2, 3, 2, 1 }, { 4, 1, 1, 2, 0, 1 },
}

local function c_grid(W, nonlinear)
    return function()
        local list = {}
        for k, v in ipairs(c_grids) do
            list[k] = { tostring(k), { GROUP = 64, W = W or v[1], METRIC = v[2], CORIOLIS = v[3],
                FRICTION = v[4], FORCING = v[5], VISCOSITY = nonlinear and v[6] or 0,
                NONLINEAR = nonlinear and 1 or 0, TOTAL = k % 2, AHEAD = k % 2, OLD_AHEAD = k % 2,
                OPEN_SIDES = k % 2, UNROLL = 1, FILTER_PERIOD = 2, FILTER_STEPS = 1 } }
        end
        return list
    end
end

-- The finite volumes: with teams of lanes, or without.
local choices = { 'W', 'DEPTH', 'METRIC', 'CORIOLIS', 'FRICTION', 'FORCING', 'VISCOSITY',
    'LAND_CELLS', 'WALLS' }
local finite_volumes = {
    { 2, 5, 0, 0, 0, 0, 0, 0, 0 }, { 4, 5, 1, 2, 3, 2, 1, 1, 1 }, { 4, nil, 0, 1, 2, 1, 0, 1, 1 },
}

local function volume(precision, team, k)
    local v = finite_volumes[k]
    local defines = fill(limits.defines('minmod', 1.3, {}), { MARE_REAL = precision, GROUP = team,
        UNROLL = 1, BALANCED = k % 2, TEAM = v[2] and team })
    for n, name in ipairs(choices) do defines[name] = v[n] end
    return { tostring(k), defines }
end

local function three_volumes(precision, team)
    return { volume(precision, team, 1), volume(precision, team, 2), volume(precision, team, 3) }
end

-- The largest is for those whose lanes shuffle: others take half a minute over it.
local function volumes(precision, team)
    local list = three_volumes(precision, team)
    if team ~= 32 then table.remove(list, 2) end
    return list
end

local ocean = { program = function(_, file, desc) return domain.program(file, desc) end }

-- The signal rates of the ocean's schemes.
local function ocean_rates(list, precision)
    local function add(variants, header)
        for _, v in ipairs(variants) do
            v[1], v.equation = header .. ' ' .. v[1], ocean
            v[2].CELL_RATE = ('"physics/ocean/%s.h"'):format(header)
            list[#list + 1] = v
        end
    end
    add(three_volumes(precision, 32), 'volume_rate')
    add(c_grid(1, false)(), 'c_grid_rate')
    add(c_grid(1, true)(), 'c_grid_rate')
    return list
end

-- What surrounds an ocean, on centres and on faces of small waves.
local function surroundings()
    local list = {}
    for staggered = 0, 1 do
        list[#list + 1] = { tostring(staggered), { STAGGERED = staggered, METRIC = staggered,
            CORIOLIS = staggered + 1, FORCING = staggered + 1 } }
    end
    return list
end

-- On faces leapfrog has two levels.
local function sources()
    return { { 'one level', { STAGGERED = 0, TOTAL = 1 } }, { 'leapfrog', { STAGGERED = 1,
        TOTAL = 1, FILTER_PERIOD = 2, FILTER_STEPS = 1 } } }
end

-- ---- Mandelbrot ----

local function escape(precision)
    if precision == 'float' then return { { 'plain', renderer.program('float', true).defines } } end
    return { { 'plain', renderer.program('double', false).defines },
        { 'double-double', renderer.program('double-double', true).defines } }
end

local function perturbation(precision)
    if precision == 'float' then return {} end
    return { { 'shortcuts', renderer.program('perturbation', true).defines } }
end

-- ---- scans, sorts and places of arrays, by groups as on a GPU ----

local gpu = { info = { has_double = true, kind = 'gpu' } }

local function of_type(name) return types[name == 'float' and 'float' or 'int64'] end

-- Places are those of elements of 2, 8 and 16 bytes.
local function places(more)
    return function(precision)
        local type = precision == 'float' and types.half or types.int64
        local defines = kernels.defines(gpu, type, kernels.computed(type), more)
        return { { type.name, fill(defines, { IS_REAL = type.kind == 2 and 1 or 0 }) } }
    end
end

local function scans(precision)
    local type, list = of_type(precision), {}
    for _, name in ipairs(scan.names()) do
        list[#list + 1] = { name, scan.defines(gpu, type, type, name) }
        list[#list + 1] = { name .. ' once', scan.defines(gpu, type, type, name, true),
            cuda = true }
    end
    return list
end

local function sorts(precision)
    local type = of_type(precision)
    return { { 'places', sort.defines(gpu, type, { places = true }) },
        { 'downwards', sort.defines(gpu, type, { keys = true, down = true }) } }
end

-- Functions of Lua: of a scheme in C, and of one in Lua, which is given as it is kept.
local function cells_of_functions(precision)
    local function gas(q, x, y, t, p) return q.rho + x * t, q.u, y, q.p * p.gamma end
    local function wave(q, x) return q.u + x, q.m.x, q.m.y end
    local desc = { precision = precision, count = 2 }
    return {
        { 'of gas', {}, program = pointwise.program(euler.new {}, 'a test', gas, 'state', desc) },
        { 'of a wave', {}, program = pointwise.program(forced(), 'a test', wave, 'state', desc) },
    }
end

local function factors(precision)
    local type = of_type(precision)
    return { { type.name, multiply.defines(gpu, type) } }
end

-- ---- the rows ----

-- What the functions of an equation give, and what those of cells with their neighbours do.
local function oracle()
    local own = forced()
    return { { 'lua', fill({ W = 1, GROUP = 64 }, own.defines), equation = own.equation,
        source = true } }
end

local function stencils()
    local own = stencil.new { fields = { 'u', 'v' }, parameters = { d = 1 },
        rate = function(q, x, y, t, p)
            return p.d * (q.u.west - q.u.here) / p.dx, (q.v.north - q.v.south) * t + x * y
        end,
        limit = function(p) return p.d / p.dx + p.d / p.dy end }
    return { { 'lua', fill({ W = 4, GROUP = 64 }, own.defines), equation = own.equation } }
end

local function in_tiles() return { { '8 x 8', { GX = 8, GY = 8 } } } end
local function in_groups() return { { 'GROUP 64', { GROUP = 64 } } } end
local function largest() return { { 'sums', {} }, { 'largest', { MOST = 1 } } } end
local function in_columns() return { { 'W 4', { W = 4, GROUP = 64 } } } end

-- Those of the rungs, and what they all want.
local function ladder()
    local list = {}
    for _, rung in ipairs { 0, 2, 4, 7 } do
        list[#list + 1] = { 'RUNG ' .. rung, fill({ RUNG = rung, GX = 8, GY = 8, BALANCED = 1,
            CORIOLIS = 'CORIOLIS_BY_ROW', METRIC = 0, FORCING = 0, FRICTION = 0, LAND_CELLS = 0,
            VISCOSITY = 0, WALLS = 0 }, limits.defines('minmod', 1.3, {})) }
    end
    return list
end

local M = { volume = volume }

M.rows = {
    ['array/barrier.krn'] = in_groups, ['array/parcel.krn'] = in_groups,
    ['clock.krn'] = in_groups, ['copy.krn'] = in_columns,
    ['measure/ladder.krn'] = ladder, ['measure/ladder_linear.krn'] = in_tiles,
    ['measure/ladder_nonlinear.krn'] = in_tiles, ['array/sums.krn'] = largest,
    ['differ.krn'] = in_groups,
    ['sweep_x.krn'] = sweeps, ['sweep_y.krn'] = sweeps,
    ['max_rate.krn'] = function(precision)
        local list = sweeps(precision)
        for _, one in ipairs(stages(precision)) do list[#list + 1] = one end
        return ocean_rates(list, precision)
    end,
    ['pointwise.krn'] = cells_of_functions, ['oracle.krn'] = oracle, ['stencil.krn'] = stencils,
    ['stage.krn'] = stages, ['march.krn'] = march, ['march_parts.krn'] = march,
    ['march_joined.krn'] = march, ['march_edges.krn'] = march, ['tile.krn'] = tile,
    ['persistent.krn'] = persistent, ['consistency.krn'] = consistency,
    ['ocean/linear.krn'] = c_grid(nil, false), ['ocean/nonlinear.krn'] = c_grid(nil, true),
    ['ocean/side.krn'] = c_grid(1, true),
    ['ocean/volumes.krn'] = volumes, ['ocean/open.krn'] = surroundings,
    ['ocean/rivers.krn'] = sources, ['ocean/sponge.krn'] = surroundings,
    ['ocean/prescribe.krn'] = surroundings, ['ocean/drift.krn'] = surroundings,
    ['ordering/scan.krn'] = scans, ['ordering/sort.krn'] = sorts,
    ['ordering/take.krn'] = places { PLACE = 'int' }, ['ordering/scatter.krn'] = places {},
    ['ordering/search.krn'] = places {}, ['products/multiply.krn'] = factors,
    ['products/vector.krn'] = factors,
    ['volume/planes.krn'] = of_gas(), ['volume/columns.krn'] = of_gas(),
    ['volume/rate.krn'] = of_gas(), ['volume/fill.krn'] = of_gas(filled),
    ['volume/beyond.krn'] = of_gas(beside),
    ['volume/sums.krn'] = of_gas(summed),
    ['mandelbrot/escape.krn'] = escape,
    ['mandelbrot/perturbation.krn'] = perturbation,
}

-- The row of a file: the name that its path ends with.
function M.row_of(file)
    for name in pairs(M.rows) do
        if ('/' .. file):sub(-#name - 1) == '/' .. name then return name end
    end
end

-- { title, defines = ..., math = ..., cuda = ... }... of a file in a precision
function M.of(file, precision, team)
    local row, list = M.row_of(file), {}
    for _, one in ipairs(row and M.rows[row](precision, team) or { { 'as it is', {} } }) do
        list[#list + 1] = { title = ('%s %s %s'):format(file, precision, one[1]),
            defines = fill({ MARE_REAL = precision }, one[2]), math = one.math, cuda = one.cuda,
            equation = one.equation, source = one.source, program = one.program }
    end
    return list
end

return M
