-- The kernels of a volume, with an equation put in, how they are cut into work on a device, and
-- their launches. Results depend on no shape.

local bind = require 'mare.array.bind'
local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local lua_code = require 'mare.schemes.lua_code'
local sides = require 'mare.volume.sides'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local kernels = {}

local reach = constants.REACH

-- Shapes of the sweeps along x and y, and along z: columns of a work-item, work-items of a group
-- and, where they shuffle, of a team, lines that local memory holds ahead of use (0: none), and
-- rows or slices of a strip at most. Of a list the first is used whose `fields` the scheme does not
-- exceed. A GPU reaches its rate by four columns of a work-item; two steps along z, or numbers of
-- eight bytes, leave registers for half as many.
local shapes = {
    planes = {
        gpu = {
            float = { { fields = 1, W = 4, GROUP = 128, TEAM = 16, DEPTH = 8, along = 256 },
                { fields = 4, W = 4, GROUP = 64, TEAM = 16, DEPTH = 4, along = 128 },
                { W = 2, GROUP = 64, TEAM = 32, DEPTH = 4, along = 128 } },
            double = { { fields = 5, W = 2, GROUP = 64, TEAM = 32, DEPTH = 4, along = 128 },
                { W = 1, GROUP = 64, TEAM = 32, DEPTH = 4, along = 128 } },
        },
        cpu = { W = 68, GROUP = 1, along = 32 },
        other = { W = 2, GROUP = 64, along = 128 },
    },
    columns = {
        gpu = {
            float = { { fields = 1, W = 4, GROUP = 64, DEPTH = 8, along = 512 },
                { fields = 5, W = 2, GROUP = 64, DEPTH = 4, along = 256 },
                { W = 1, GROUP = 64, DEPTH = 4, along = 256 } },
            double = { W = 1, GROUP = 64, DEPTH = 4, along = 256 },
        },
        cpu = { W = 64, GROUP = 1, along = 32 },
        other = { W = 2, GROUP = 64, along = 128 },
    },
}
local busy, least = 1024, 16    -- work-items that a compute unit should have, rows of a strip
local rate_group = 32

local function shape_of(device, kernel, scheme, precision)
    local found = shapes[kernel][source.shuffles(device.info) and 'gpu'
        or device.info.kind == 'cpu' and 'cpu' or 'other']
    found = found[precision] or found
    for _, shape in ipairs(found) do
        if not shape.fields or #scheme.fields <= shape.fields then return shape end
    end
    return found
end

-- Returns what a launch goes over: ghost cells on either side along x and y, and which slices.
local function all_of(slab) return { x = 0, y = 0, lowest = 0, taken = slab.nz } end

-- Returns how a kernel is cut: { shape, along = rows or slices of a strip, groups along x, y and z
-- }. desc: as for bind; over: as all_of, which is what is taken without
function kernels.cut(desc, kernel, slab, over)
    over = over or all_of(slab)
    local device, grid = slab.device, desc.grid
    local shape = desc.shapes and desc.shapes[kernel]
        or shape_of(device, kernel, desc.scheme, desc.precision)
    local cut = { W = shape.W, GROUP = shape.GROUP, DEPTH = shape.DEPTH or 0,
        TEAM = source.shuffles(device.info) and shape.TEAM or shape.GROUP }
    local is_columns, length = kernel == 'columns', kernel == 'columns' and slab.nz or grid.ny
    local groups = { math.ceil((grid.nx + 2 * over.x) / (shape.W * shape.GROUP)),
        grid.ny + 2 * over.y, 1 }
    if not is_columns then
        -- Columns of the first team west of the domain; see kernels/volume/planes.krn.
        local before = device.info.kind == 'cpu' and 0 or math.max(0, shape.W - reach)
        local strips = math.ceil((grid.nx + before) / (cut.TEAM * shape.W - 2 * reach))
        groups = { math.ceil(strips * over.taken * cut.TEAM / shape.GROUP), 1, 1 }
    end
    local wanted = device.info.kind == 'gpu' and busy * device.info.compute_units / shape.GROUP or 0
    local along = shape.along
    while along > least and groups[1] * groups[2] * math.ceil(length / along) < wanted do
        along = math.ceil(along / 2)
    end
    groups[is_columns and 3 or 2] = math.ceil(length / along)
    return { shape = cut, along = along, groups = groups }
end

local function defines_of(scheme, precision, shape)
    return tables.merged(scheme.defines, shape, { MARE_REAL = precision })
end

-- Returns what device:program takes to compile a file of kernels/volume/.
function kernels.program(scheme, device, file, precision, maths, shape)
    return scheme.equation:program('volume/' .. file, {
        defines = defines_of(scheme, precision, shape), has_source = scheme.has_source,
        math = device.info.kind == 'gpu' and maths or 'strict' })
end

local rate_shape = { W = 1, GROUP = rate_group, TEAM = rate_group }

local function rate_groups(grid, slab)
    return { math.max(1, math.min(8, math.ceil(grid.nx / rate_group))),
        math.min(256, grid.ny * slab.nz) }
end

-- Returns how many maxima the kernels of a slab write. desc: as for bind
function kernels.maxima(desc, slab)
    local first, planes = rate_groups(desc.grid, slab), kernels.cut(desc, 'planes', slab).groups
    return math.max(first[1] * first[2], planes[1] * planes[2])
end

-- Returns what a launch over a slab goes over, as kernels/volume/volume.h has it.
function kernels.block(desc, slab)
    local g, kinds, mirrors = desc.grid, desc.boundaries, 0
    for _, kind in pairs(kinds) do mirrors = boundary.is_wall(kind) and 1 or mirrors end
    local is_cut, is_around = desc.count > 1, kinds.low == 'periodic'
    local function rule(side, has_other) return sides.rule(kinds, side, has_other) end
    return { nx = g.nx, ny = g.ny, nz = slab.nz, stride = slab.stride, plane = slab.plane,
        origin = slab.origin, first = slab.k0, slices = is_around and g.nz or 0, x = g.x[1],
        y = g.y[1], z = g.z[1], dx = g.dx, dy = g.dy, dz = g.dz,
        inv_dx = 1 / g.dx, inv_dy = 1 / g.dy, inv_dz = 1 / g.dz, has_ends = 1,
        has_mirrors = mirrors, sweeps = 0, along = 0,
        columns_beyond = 0, rows_beyond = 0, lowest = 0, taken = slab.nz,
        west = rule 'west', east = rule 'east', south = rule 'south', north = rule 'north',
        slot = slab.slot, low = rule('low', is_cut and (is_around or slab.k0 > 0)),
        high = rule('high', is_cut and (is_around or slab.k0 + slab.nz < g.nz)) }
end

-- Returns the program of volume/fill.krn, or raises what keeps a function from being a kernel.
-- stored: the type of the state; changes: whether the function takes the state as it is, else it is
-- one of the place, in double
function kernels.filler(scheme, stored, f, changes)
    return scheme.equation:program('volume/fill.krn', { math = 'strict',
        before = lua_code.cell(scheme.equation, changes and 'volume: change' or 'initial', f,
            changes and 'state' or 'place'),
        defines = tables.merged(defines_of(scheme, changes and stored or 'double', rate_shape),
            { STORED = stored, CHANGES = changes and 1 or 0 }) })
end

-- Computes all cells of a slab into a buffer at time t.
local function run_filler(desc, slab, program, state, t)
    local g = desc.grid
    local values = tables.merged(desc.scheme.equation:values(desc.scheme.numbers),
        kernels.block(desc, slab), { state = state, slot = 0, t = t })
    local launch = bind(slab.device:program(program):kernel 'volume_fill', values,
        { global = { g.nx, g.ny, slab.nz } })
    launch:run()
    launch:release()
end

-- Changes the state of a slab, which lies in buffer `at`, by f(q, x, y, z, t, p).
function kernels.change(desc, slab, at, f, t)
    run_filler(desc, slab, kernels.filler(desc.scheme, desc.precision, f, true),
        at == 1 and slab.state or slab.scratch, t)
end

local many = 2 ^ 22     -- cells that a device is asked for rather than Lua

-- Fills a slab with an initial state in double, if that is to be computed on the device: of many
-- cells, by a function that becomes a kernel. Returns whether it was. desc: as for bind
function kernels.fill(desc, slab, initial)
    local scheme, device, g = desc.scheme, slab.device, desc.grid
    if g.cells < many or not device.info.has_double then return false end
    local ok, program = pcall(kernels.filler, scheme, desc.precision, initial)
    if not ok then return false end
    run_filler(desc, slab, program, slab.state, 0)
    return true
end

-- Returns what a GPU knows of a domain as it compiles (kernels/volume/lines.h), so that no row has
-- to be looked at.
local function known(desc, slab, values, shape)
    if slab.device.info.kind ~= 'gpu' then return {} end
    local is_even = desc.boundaries.west == 'periodic' and desc.grid.nx % shape.W == 0
    return { HAS_ENDS = is_even and 0 or 1, HAS_MIRRORS = values.has_mirrors }
end

-- Which sweeps along z a launch does: see kernels/volume/volume.h.
local sweeps = { first = 1, second = 2, both = 3 }

-- Returns the programs of a slab, which compile side by side.
local function programs_of(desc, slab, values, cuts)
    local device, wanted, made = slab.device, {}, {}
    local function want(name, shape)
        wanted[name] = kernels.program(desc.scheme, device, name .. '.krn', desc.precision,
            desc.maths, shape)
    end
    for name, cut in pairs(cuts) do
        want(name, tables.merged(cut.shape, known(desc, slab, values, cut.shape),
            name == 'columns' and { STEPS = desc.steps, GRADUAL = 0 }))
    end
    want('rate', rate_shape)
    wanted.beyond = sides.program_of(desc.boundaries, desc.scheme,
        defines_of(desc.scheme, desc.precision, rate_shape))
    for _, one in pairs(wanted) do device:prepare(one) end
    for name, one in pairs(wanted) do made[name] = device:program(one) end
    return made
end

-- Returns what the planes of a first step go over, and the columns of a second one: also the ghost
-- cells that the sweeps after it look at.
local function ways_beyond(desc, slab)
    local ghosts = sides.ghosts(desc.boundaries)
    local is_outermost = slab.k0 == 0 or slab.k0 + slab.nz == desc.grid.nz
    local is_cpu, z = slab.device.info.kind == 'cpu', is_outermost and ghosts.z or 0
    return { x = 0, y = 0, lowest = -z, taken = slab.nz + 2 * z },
        { x = is_cpu and ghosts.x or slab.before, y = ghosts.y, lowest = 0,
            taken = slab.nz }
end

-- Binds one kernel, which goes `over` so much.
local function bind_sweep(desc, slab, values, programs, of, kernel, over)
    local cut = kernels.cut(desc, of, slab, over)
    local group, n = cut.shape.GROUP, cut.groups
    return bind(programs[of]:kernel(kernel), tables.merged(values, { along = cut.along,
        columns_beyond = over.x, rows_beyond = over.y, lowest = over.lowest,
        taken = over.taken }), { group = { group, 1, 1 },
        global = { n[1] * group, n[2], n[3] } })
end

local at_edge = 2 * reach       -- slices that go to the slabs beside

-- Binds the sweeps of a slab: see bind.
local function bind_sweeps(desc, slab, values, programs)
    local before, after = ways_beyond(desc, slab)
    local function planes(kernel, over)
        return bind_sweep(desc, slab, values, programs, 'planes', kernel, over)
    end
    local function some(lowest, taken)
        return planes('planes_first', { x = 0, y = 0, lowest = lowest, taken = taken })
    end
    local own = { columns = {}, first = planes('planes_first', before),
        second = planes('planes_last', all_of(slab)) }
    if desc.has_edges then
        own.edges = { some(0, at_edge), some(slab.nz - at_edge, at_edge) }
        own.between = { some(at_edge, slab.nz - 2 * at_edge) }
    end
    for name, mask in pairs(sweeps) do
        values.sweeps = mask
        if mask <= 2 or desc.steps == 2 then
            own.columns[name] = bind_sweep(desc, slab, values, programs, 'columns', 'columns',
                name == 'second' and after or all_of(slab))
        end
    end
    return own
end

-- Returns whether edges of planes may come first: ghost slices are no part of them.
function kernels.may_have_edges(boundaries, slab)
    return slab.nz > 2 * at_edge and sides.ghosts(boundaries).z == 0
end

-- Binds the launches of a slab: those from one of its buffers to the other, and back. Each is {
-- beyond = those that fill ghost cells of the former, first, second = the planes of the first and
-- of the second step of a pair, columns = { first, second, both = those of the first, of the second
-- and, if desc.steps is 2, of both }, measure = what writes the maxima of the former buffer as it
-- is; edges = { low, high }, between = { the rest } of `first`, if desc.has_edges }. desc: {
-- scheme, grid, boundaries = of sides.of, precision, maths, count = of slabs, maxima, clock, shapes
-- = by kernel, if not those of this module }
function kernels.bind(desc, slab)
    local scheme, made = desc.scheme, {}
    local values = tables.merged(scheme.equation:values(scheme.numbers), kernels.block(desc, slab),
        { clock = desc.clock, maxima = desc.maxima })
    local cuts = { planes = kernels.cut(desc, 'planes', slab),
        columns = kernels.cut(desc, 'columns', slab) }
    local programs = programs_of(desc, slab, values, cuts)
    local groups = rate_groups(desc.grid, slab)
    for way, ends in ipairs { { slab.state, slab.scratch }, { slab.scratch, slab.state } } do
        values.src, values.dst = ends[1], ends[2]
        local own = bind_sweeps(desc, slab, values, programs)
        own.beyond = sides.bind(desc, slab, ends[1], values, programs.beyond)
        own.measure = bind(programs.rate:kernel 'volume_rate', values, {
            group = { rate_group, 1 }, global = { groups[1] * rate_group, groups[2] } })
        made[way] = own
    end
    return made
end

-- Frees what bind returned.
function kernels.release(launches)
    for _, way in ipairs(launches) do
        for _, name in ipairs { 'first', 'second', 'measure' } do way[name]:release() end
        for _, list in ipairs { way.columns, way.beyond, way.edges or {}, way.between or {} } do
            for _, launch in pairs(list) do launch:release() end
        end
    end
end

return kernels
