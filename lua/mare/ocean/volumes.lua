-- What the finite-volume schemes of mare.ocean share on the host: options, how their kernels are
-- cut into work, and the stages of a step (kernels/physics/ocean/volumes.krn).

local bind = require 'mare.array.bind'
local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local domain = require 'mare.ocean.domain'
local choices = require 'mare.schemes.choices'
local shapes = require 'mare.shapes'

local choose, number = choices.checks 'ocean'

local volumes = {}

-- theta of the minmod limiter; rk = 2 or 3 stages; dry: depth (m) below which water is at rest.
volumes.fields = { limiter = 'any', theta = 'any', rk = 'any', dry = 'any' }

local methods = { [2] = choices.stages.ssp_rk2, [3] = choices.stages.ssp_rk3 }

local function shape_for(scheme, device, precision, part)
    return { rate = shapes.find('rate', scheme, device, precision, part),
        stage = shapes.find('volumes', scheme, device, precision, part) }
end

local least_rows, most_rows = 4, 140    -- of a strip: longer ones are slower

-- How many strips of rows keep a GPU evenly busy: its groups run in waves of so many at a time,
-- each of which takes as long as a strip has rows, and some more.
local function strips_of(device, cut, groups, rows)
    if cut.rows then return math.ceil(rows / cut.rows) end
    local slots, best, least = device.info.compute_units * cut.resident, 1, math.huge
    for strips = math.ceil(rows / most_rows), math.ceil(rows / least_rows) do
        local waves = math.ceil(groups * strips / slots)
        local cost = waves * (math.ceil(rows / strips) + 8)
        if cost < least then best, least = strips, cost end
    end
    return best
end

-- Work-items for so many columns and rows, and how many groups they make. Of a team only those help
-- that have two columns to spare: EDGE of the kernel.
local function work(device, cut, columns, rows)
    local items = math.ceil(columns / cut.W)
    if cut.TEAM then
        local edge = math.floor((cut.W + 1) / cut.W)
        items = math.ceil(items / (cut.TEAM - 2 * edge)) * cut.TEAM
    end
    local groups = math.ceil(items / cut.GROUP)
    local strips = strips_of(device, cut, groups, rows)
    return { items, strips }, groups * strips
end

-- How many maxima the kernels of a part write at most: one a group. first: the part whose shape
-- they have
local function maxima(scheme, device, part, first)
    local most = 0
    for _, precision in ipairs { 'float', 'double' } do
        for _, cut in pairs(shape_for(scheme, device, precision, first)) do
            local _, groups = work(device, cut, part.nx, part.ny)
            most = math.max(most, groups)
        end
    end
    return most
end

-- Hands the shapes and the programs of stage and rate to `use`, of shapes.lua. Returns what that
-- does of each, and the shapes. host: of ocean/domain.lua, part: the first on the device; maths: as
-- of simulation.new
local function with_programs(use, scheme, device, precision, host, part, maths)
    local shape = shape_for(scheme, device, precision, part)
    local stage, rate = domain.defines(host), domain.rate_defines(host)
    for name, value in pairs(scheme.defines) do stage[name] = value end
    rate.LAND_CELLS = host.bed.water < host.grid.cells and 1 or 0
    stage.WALLS, stage.LAND_CELLS = 0, host.bed:has_coast() and 1 or 0
    for _, kind in pairs(host.boundaries) do
        if boundary.is_wall(kind) then stage.WALLS = 1 end
    end
    local function load(file, cut, defines)
        for _, name in ipairs { 'W', 'GROUP', 'TEAM', 'DEPTH', 'UNROLL' } do
            defines[name] = cut[name]
        end
        defines.MARE_REAL = precision
        return use(device, cut, domain.program(file, { defines = defines,
            math = device.info.kind == 'gpu' and (maths or 'fast') or 'strict' }))
    end
    return load('physics/ocean/volumes.krn', shape.stage, stage),
        load('traverse/max_rate.krn', shape.rate, rate), shape
end

local function prepare_kernels(...)
    with_programs(shapes.prepare, ...)
end

local function kernels(...)
    local stage, rate, shape = with_programs(shapes.program, ...)
    return { shape = shape, stage = stage:kernel 'stage', rate = rate:kernel 'max_rate' }
end

local function launch(device, kernel, values, cut)
    return bind(kernel, values, { global = work(device, cut, values.nx, values.ny),
        group = { cut.GROUP, 1 }, bytes = values.bytes })
end

local bits = { west = constants.WALL_WEST, east = constants.WALL_EAST,
    south = constants.WALL_SOUTH, north = constants.WALL_NORTH }

-- Bits of the walls at the edge of a part.
local function walls_of(part, boundaries)
    local walls = 0
    for side, bit in pairs(bits) do
        if part.edge[side] and boundary.is_wall(boundaries[side]) then walls = walls + bit end
    end
    return walls
end

-- part: as of traversal.bind.
local function bind_part(scheme, made, part)
    local state, stages = part.state, scheme.stages
    local values, launches = domain.values(state), {}
    values.nx, values.ny = state.layout.nx, state.layout.ny
    values.stride, values.plane = state.layout.stride, state.layout.plane
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    values.walls = walls_of(state.part, part.boundaries)
    local field = values.nx * values.ny * state.element
    for k, stage in ipairs(stages) do
        values.src, values.base, values.dst = state[stage.src], state[stage.base], state[stage.dst]
        values.keep, values.fraction, values.is_last = stage.keep, stage.fraction,
            k == #stages and 1 or 0
        values.bytes = field * (stage.keep > 0 and 11 or 8)
        launches[k] = launch(state.device, made.stage, values, made.shape.stage)
    end
    values.src, values.bytes = state.now, 4 * field
    local measure = launch(state.device, made.rate, values, made.shape.rate)
    return { x = launches, y = launches, measure = measure }
end

-- balanced: 1 where slopes are of what rotation does not hold of the surface.
function volumes.setup(scheme, desc, balanced)
    local limiter = choose('limiter', desc.limiter or 'minmod', choices.limiters)
    local theta = number('theta', desc.theta or 1.3, 1, 2)
    local rk = choose('rk', desc.rk or 2, { [2] = true, [3] = true })
    scheme.dry = number('dry', desc.dry or 1e-5, 1e-12, 1e3)
    scheme.limiter, scheme.theta, scheme.rk = limiter, limiter == 'minmod' and theta or nil, rk
    scheme.stages, scheme.buffers = methods[rk], rk
    scheme.updated, scheme.read_only = 3 * rk, 2 * rk
    scheme.defines = choices.defines(limiter, theta, {})
    scheme.defines.BALANCED = balanced
    scheme.maxima, scheme.kernels, scheme.bind = maxima, kernels, bind_part
    scheme.prepare_kernels = prepare_kernels
    scheme.step_shape = 'volumes'
end

return volumes
