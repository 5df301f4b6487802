-- The kernels of a volume, with an equation put in, how they are cut into work on a device, and
-- their launches. Results depend on no shape.

local bind = require 'mare.array.bind'
local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local lua_code = require 'mare.schemes.lua_code'
local tables = require 'bindings.tables'

local kernels = {}

local team = 32         -- work-items side by side along x
local reach = constants.REACH

-- Shapes of a step: work-items of a group, rows of each, and groups on a compute unit.
local shapes = {
    gpu = { GROUP = 384, W = 2, at_once = 1 },
    cpu = { GROUP = 128, W = 4, at_once = 4 },
    other = { GROUP = 128, W = 2, at_once = 4 },
}
local rate_group = 32

-- Returns how a step is cut: the shape, its tiles, and groups along x and along y and z.
function kernels.cut(device, grid, slab, shape)
    local chosen = shape or shapes[device.info.kind]
    local width, height = team - 2 * reach, chosen.GROUP / team * chosen.W - 2 * reach
    local columns, rows = math.ceil(grid.nx / width), math.ceil(grid.ny / height)
    local all = chosen.at_once * device.info.compute_units
    local best, least = 1, math.huge
    -- Slices are shared among so many groups that few compute units wait at the end for others.
    for share = 1, math.max(1, math.floor(slab.nz / 8)) do
        local turns = math.ceil(columns * rows * share / all)
        local cost = turns * (math.ceil(slab.nz / share) + 2 * reach)
        if cost < least then best, least = share, cost end
    end
    return { shape = chosen, tiles = rows, groups = { columns, rows * best } }
end

local function defines_of(scheme, precision, shape)
    return tables.merged(scheme.defines, { MARE_REAL = precision, W = shape.W, GROUP = shape.GROUP,
        TEAM = team })
end

-- Returns what device:program takes to compile a file of kernels/volume/.
function kernels.program(scheme, device, file, precision, maths, shape)
    return scheme.equation:program('volume/' .. file, {
        defines = defines_of(scheme, precision, shape), has_source = false,
        math = device.info.kind == 'gpu' and maths or 'strict' })
end

local rate_shape = { W = 1, GROUP = rate_group }

local function rate_groups(grid, slab)
    return { math.max(1, math.min(8, math.ceil(grid.nx / rate_group))),
        math.min(256, grid.ny * slab.nz) }
end

-- Returns how many maxima the kernels of a slab write.
function kernels.maxima(grid, slab, shape)
    local groups, rate = kernels.cut(slab.device, grid, slab, shape).groups, rate_groups(grid, slab)
    return math.max(groups[1] * groups[2], rate[1] * rate[2])
end

-- Returns the rule of a side; along z slices of other slabs lie beyond where `has_other`.
local function rule(boundaries, side, has_other)
    if has_other then return constants.KIND_KEEP end
    return boundary.of(boundaries[side]).rule
end

local function block(desc, slab)
    local g, sides, mirrors = desc.grid, desc.boundaries, 0
    for _, kind in pairs(sides) do mirrors = boundary.is_wall(kind) and 1 or mirrors end
    local is_cut, is_around = desc.count > 1, sides.low == 'periodic'
    return { nx = g.nx, ny = g.ny, nz = slab.nz, stride = slab.stride, plane = slab.plane,
        inv_dx = 1 / g.dx, inv_dy = 1 / g.dy, inv_dz = 1 / g.dz, has_mirrors = mirrors,
        west = rule(sides, 'west'), east = rule(sides, 'east'), south = rule(sides, 'south'),
        north = rule(sides, 'north'), slot = slab.slot,
        low = rule(sides, 'low', is_cut and (is_around or slab.k0 > 0)),
        high = rule(sides, 'high', is_cut and (is_around or slab.k0 + slab.nz < g.nz)) }
end

-- Returns the program of volume/fill.krn, or raises what keeps a function from being a kernel.
-- stored: the type of the state
function kernels.filler(scheme, stored, initial)
    return scheme.equation:program('volume/fill.krn', { math = 'strict',
        before = lua_code.cell(scheme.equation, 'initial', initial, 'place'),
        defines = tables.merged(defines_of(scheme, 'double', rate_shape), { STORED = stored }) })
end

local many = 2 ^ 22     -- cells that a device is asked for rather than Lua

-- Fills a slab with an initial state in double, if that is to be computed on the device: of many
-- cells, by a function that becomes a kernel. Returns whether it was. desc: as for bind
function kernels.fill(desc, slab, initial)
    local scheme, device, g = desc.scheme, slab.device, desc.grid
    if g.cells < many or not device.info.has_double then return false end
    local ok, program = pcall(kernels.filler, scheme, desc.precision, initial)
    if not ok then return false end
    local values = tables.merged(scheme.equation:values(scheme.numbers), block(desc, slab),
        { state = slab.now, first = slab.k0, tiles = 1, slot = 0, x = g.x[1], y = g.y[1],
            z = g.z[1], dx = g.dx, dy = g.dy, dz = g.dz })
    local launch = bind(device:program(program):kernel 'volume_fill', values,
        { global = { g.nx, g.ny, slab.nz } })
    launch:run()
    launch:release()
    return true
end

-- Binds the launches of a slab: `x` and `z` are steps that sweep along that axis first, `measure`
-- writes the maxima of the state as it is. desc: { scheme, grid, boundaries, precision, maths,
-- count = of slabs, first = axis of even steps, maxima, clock, shape }
function kernels.bind(desc, slab)
    local scheme, device = desc.scheme, slab.device
    local cut = kernels.cut(device, desc.grid, slab, desc.shape)
    local values = tables.merged(scheme.equation:values(scheme.numbers), block(desc, slab),
        { tiles = cut.tiles, clock = desc.clock, maxima = desc.maxima })
    local function program(file, shape)
        return device:program(kernels.program(scheme, device, file, desc.precision, desc.maths,
            shape))
    end
    local step, group = program('step.krn', cut.shape), cut.shape.GROUP
    local function launch(axis, name)
        local is_even = axis == desc.first
        values.src, values.dst = slab[is_even and 'now' or 'other'],
            slab[is_even and 'other' or 'now']
        return bind(step:kernel(name), values, { group = { group, 1 },
            global = { cut.groups[1] * group, cut.groups[2] } })
    end
    local made = { x = launch('x', 'step_xyz'), z = launch('z', 'step_zyx') }
    local rate = rate_groups(desc.grid, slab)
    values.src = slab.now
    made.measure = bind(program('rate.krn', rate_shape):kernel 'volume_rate', values,
        { group = { rate_group, 1 }, global = { rate[1] * rate_group, rate[2] } })
    return made
end

return kernels
