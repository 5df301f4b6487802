-- The kernels of a volume, with an equation put in, how they are cut into work on a device, and
-- their launches. Results depend on no shape.

local bind = require 'mare.array.bind'
local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local lua_code = require 'mare.schemes.lua_code'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local kernels = {}

local warp = 32
local reach = constants.REACH

-- Shapes of the sweeps along x and y, and along z: columns of a work-item, work-items of a group,
-- and rows or slices of a strip at most.
local shapes = {
    planes = { gpu = { W = 2, GROUP = 32, along = 256 }, cpu = { W = 68, GROUP = 1, along = 32 },
        other = { W = 2, GROUP = 64, along = 128 } },
    columns = { gpu = { W = 4, GROUP = 64, along = 256 }, cpu = { W = 64, GROUP = 1, along = 32 },
        other = { W = 2, GROUP = 64, along = 128 } },
}
local busy, least = 1024, 16    -- work-items that a compute unit should have, rows of a strip
local rate_group = 32

-- Returns how a kernel is cut: { shape, along = rows or slices of a strip, groups along x, y and z
-- }. given: shapes by kernel to take instead
function kernels.cut(device, kernel, grid, slab, given)
    local shape = given and given[kernel] or shapes[kernel][device.info.kind]
    local cut = { W = shape.W, GROUP = shape.GROUP,
        TEAM = source.shuffles(device.info) and warp or shape.GROUP }
    local is_columns = kernel == 'columns'
    local owned = is_columns and shape.W * shape.GROUP
        or (cut.TEAM * shape.W - 2 * reach) * shape.GROUP / cut.TEAM
    local along, length = shape.along, is_columns and slab.nz or grid.ny
    local along_x, others = math.ceil(grid.nx / owned), is_columns and grid.ny or slab.nz
    local wanted = device.info.kind == 'gpu' and busy * device.info.compute_units / shape.GROUP or 0
    while along > least and along_x * others * math.ceil(length / along) < wanted do
        along = math.ceil(along / 2)
    end
    local strips = math.ceil(length / along)
    return { shape = cut, along = along, groups = is_columns and { along_x, grid.ny, strips }
        or { along_x, strips, slab.nz } }
end

local function defines_of(scheme, precision, shape)
    return tables.merged(scheme.defines, shape, { MARE_REAL = precision })
end

-- Returns what device:program takes to compile a file of kernels/volume/.
function kernels.program(scheme, device, file, precision, maths, shape)
    return scheme.equation:program('volume/' .. file, {
        defines = defines_of(scheme, precision, shape), has_source = false,
        math = device.info.kind == 'gpu' and maths or 'strict' })
end

local rate_shape = { W = 1, GROUP = rate_group, TEAM = rate_group }

local function rate_groups(grid, slab)
    return { math.max(1, math.min(8, math.ceil(grid.nx / rate_group))),
        math.min(256, grid.ny * slab.nz) }
end

-- Returns how many maxima the kernels of a slab write.
function kernels.maxima(grid, slab, given)
    local most = rate_groups(grid, slab)
    most = most[1] * most[2]
    for kernel in pairs(shapes) do
        local groups = kernels.cut(slab.device, kernel, grid, slab, given).groups
        most = math.max(most, groups[1] * groups[2] * groups[3])
    end
    return most
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
        inv_dx = 1 / g.dx, inv_dy = 1 / g.dy, inv_dz = 1 / g.dz, has_ends = 1,
        has_mirrors = mirrors,
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
        { state = slab.now, first = slab.k0, along = 0, slot = 0, x = g.x[1], y = g.y[1],
            z = g.z[1], dx = g.dx, dy = g.dy, dz = g.dz })
    local launch = bind(device:program(program):kernel 'volume_fill', values,
        { global = { g.nx, g.ny, slab.nz } })
    launch:run()
    launch:release()
    return true
end

-- Binds the launches of a slab. A step that sweeps along x first is `planes`.first, from `now` to
-- `other`, and `columns`.last, back; one along z first is `columns`.first and `planes`.last;
-- `measure` writes the maxima of the state as it is. desc: { scheme, grid, boundaries, precision,
-- maths, count = of slabs, maxima, clock, shapes = by kernel, if not those of this module }
function kernels.bind(desc, slab)
    local scheme, device, made = desc.scheme, slab.device, {}
    local values = tables.merged(scheme.equation:values(scheme.numbers), block(desc, slab),
        { clock = desc.clock, maxima = desc.maxima, along = 0 })
    local function program(file, shape)
        return device:program(kernels.program(scheme, device, file, desc.precision, desc.maths,
            shape))
    end
    for kernel in pairs(shapes) do
        local cut = kernels.cut(device, kernel, desc.grid, slab, desc.shapes)
        local both, group = program(kernel .. '.krn', cut.shape), cut.shape.GROUP
        local is_even = desc.boundaries.west == 'periodic' and desc.grid.nx % cut.shape.W == 0
        values.has_ends = is_even and cut.shape.W <= 2 and 0 or 1
        values.along, made[kernel] = cut.along, {}
        for _, turn in ipairs { 'first', 'last' } do
            values.src = turn == 'first' and slab.now or slab.other
            values.dst = turn == 'first' and slab.other or slab.now
            made[kernel][turn] = bind(both:kernel(kernel .. '_' .. turn), values,
                { group = { group, 1, 1 },
                    global = { cut.groups[1] * group, cut.groups[2], cut.groups[3] } })
        end
    end
    local groups = rate_groups(desc.grid, slab)
    values.src = slab.now
    made.measure = bind(program('rate.krn', rate_shape):kernel 'volume_rate', values,
        { group = { rate_group, 1 }, global = { groups[1] * rate_group, groups[2] } })
    return made
end

return kernels
