-- Says how a step goes over the state: by the kernels of kernels/traverse/ with an equation put in.
-- A step sweeps along one axis after the other, in two passes (sweep_x.krn, sweep_y.krn) or on GPUs
-- in one (march.krn, for few cells tile.krn or, many steps at once, persistent.krn), which gives
-- the same bits; or it consists of the scheme's `stages`, { { keep =, base =, src =, dst = }, ...
-- }, along both axes at once; see stage.krn. A scheme comes from equation.lua.

local bind = require 'mare.array.bind'
local boundary = require 'mare.array.boundary'
local choices = require 'mare.schemes.choices'
local consistency = require 'mare.schemes.consistency'
local cuts = require 'mare.schemes.cuts'
local here = require 'mare.ranks.here'
local layout = require 'mare.array.layout'
local shapes = require 'mare.shapes'
local tables = require 'bindings.tables'

local traversal = {}

traversal.reach, traversal.maxima = cuts.reach, cuts.maxima

-- No signal rate depends on the limiter, so that one program serves all of them.
local without_limiter = { LIMITER = choices.defines('none', nil, {}).LIMITER, THETA = false }

local stage_file = 'traverse/stage.krn'   -- a scheme's stage_file says another

local levels = { [0] = { 'now' }, { 'other' } }

-- Returns a function that tells where the state is after so many steps, if a step leads from one
-- buffer to another: see state.lua. In one pass it does. A scheme's `passes` tell how many, if not
-- the devices.
function traversal.levels(scheme, devices)
    if scheme.stages then return nil end
    local passes = scheme.passes or 1
    for _, device in ipairs(devices) do
        if not scheme.passes and device.info.kind ~= 'gpu' then passes = 2 end
    end
    return passes == 1 and function(steps) return levels[steps % 2] end or nil
end

-- Whether steps of a part that is no whole domain can read cells of parts beside it where they lie,
-- instead of ghost cells: if all parts do, and the domain is periodic.
function traversal.reads_beside(scheme, device, precision, part)
    return not scheme.stages and cuts.one_pass(scheme, device, precision, part) == 'march'
end

local edge_rows = 8      -- of an edge: no fewer than a neighbour reads

-- Returns of how many rows the edges are that steps of a part may take before the rest, or nil.
-- Several GPUs of a process gain nothing, since their calls come one after the other.
function traversal.edge_rows(scheme, device, precision, part)
    local is_served = device.info.kind ~= 'gpu'
        or device.info.name:find '^cuda' and here.size > 1
    local can = is_served and device.info.has_scopes and not scheme.stages
        and part.ny >= 3 * edge_rows and cuts.one_pass(scheme, device, precision, part) == 'march'
    return can and edge_rows or nil
end

-- Returns a function that hands the shape and the program of a file to `use`, of shapes.
local function loader(scheme, device, precision, maths, use)
    return function(file, cut, plain)
        local defines = tables.merged({ MARE_REAL = precision, W = cut.W, GROUP = cut.GROUP,
            TEAM = cut.TEAM, DEPTH = cut.DEPTH, ROWS = cut.ROWS, WARP = cut.WARP,
            RATE_PAIRS = cut.RATE_PAIRS, HAS_MARGIN = cut.HAS_MARGIN }, scheme.defines, plain)
        return use(device, cut.choice or cut, scheme.equation:program(file, {
            defines = defines, has_source = scheme.has_source,
            math = device.info.kind == 'gpu' and (maths or 'fast') or 'strict' }))
    end
end

-- Begins to compile what kernels() compiles at once, and the steps. passes: one, if given
function traversal.prepare_kernels(scheme, device, precision, _, part, maths, passes)
    local shape = cuts.striped(scheme, device, precision, part)
    local begin = loader(scheme, device, precision, maths, shapes.prepare)
    begin('traverse/max_rate.krn', shape.rate, without_limiter)
    if scheme.stages then
        begin(scheme.stage_file or stage_file, shape.stage)
    elseif passes then
        local cut = cuts.one_pass_shape(scheme, device, precision, part)
        begin(('traverse/%s.krn'):format(cut.kernel), cut)
    else
        begin('traverse/sweep_x.krn', shape.x)
        begin('traverse/sweep_y.krn', shape.y)
    end
end

-- Returns the kernels on a device, shared by all its parts; `one_pass` compiles those that it is
-- asked for. part: the first of them; maths: as of simulation.new, `fast` if nil
function traversal.kernels(scheme, device, precision, _, part, maths)
    local shape = cuts.striped(scheme, device, precision, part)
    local load = loader(scheme, device, precision, maths, shapes.program)
    consistency.check(scheme, device, precision, load)
    local kernels = { shape = shape, scheme = scheme,
        rate = load('traverse/max_rate.krn', shape.rate, without_limiter):kernel 'max_rate' }
    function kernels.one_pass(cut)
        local program = load(('traverse/%s.krn'):format(cut.kernel), cut)
        return program:kernel(cut.kernel .. '_x'), program:kernel(cut.kernel .. '_y')
    end
    function kernels.persistent(cut)
        return load('traverse/persistent.krn', cut):kernel 'persistent'
    end
    function kernels.sweeps()
        local x, y = load('traverse/sweep_x.krn', shape.x), load('traverse/sweep_y.krn', shape.y)
        return x:kernel 'sweep_x_first', x:kernel 'sweep_x_last', y:kernel 'sweep_y_first',
            y:kernel 'sweep_y_last'
    end
    function kernels.stage()
        return load(scheme.stage_file or stage_file, shape.stage):kernel 'stage'
    end
    return kernels
end

-- Returns how the source acts on the ghost rows of a side: as on what they stand for, mirrored
-- behind a wall (-1), not at all where they are fixed (0); see kernels/traverse/sources.h.
local function ghost_sign(part, kinds, side)
    local given = kinds[side]
    if not part.edge[side] then return 1 end
    if type(given) == 'table' then return given.kind == 'pieces' and 1 or 0 end
    local kind = boundary.of(given)
    return kind and kind.source or 1
end

-- Returns what sources know of the grid: equation.lua says what it holds. from: the first row, if
-- it is not that of the part
local function place_of(state, part, from)
    local g, kinds, own = part.grid, part.boundaries, state.part
    local whole = { edge = { west = true, east = true, south = true, north = true } }
    local place = { mr_i = own.i0, mr_j = own.j0 + (from or 0), mr_columns = g.nx, mr_rows = g.ny,
        mr_x = g.x[1], mr_y = g.y[1], mr_dx = g.dx, mr_dy = g.dy,
        mr_around = (kinds.west == 'periodic' and 1 or 0) + (kinds.south == 'periodic' and 2 or 0) }
    for side in pairs(whole.edge) do place['mr_' .. side] = ghost_sign(whole, kinds, side) end
    return place
end

-- Returns along which axes a part goes around into itself.
local function around(part, boundaries)
    local edge = part.edge
    return { x = edge.west and edge.east and boundaries.west == 'periodic',
        y = edge.south and edge.north and boundaries.south == 'periodic' }
end

-- Binds what the kernel asks for, over so many columns and rows.
local function launch(kernel, values, shape, columns, rows)
    return bind(kernel, values, { group = { shape.GROUP, 1 }, bytes = values.bytes,
        together = shape.kernel == 'persistent' or nil, programmatic = shape.programmatic,
        global = shape.global or cuts.work(shape, columns, rows) })
end

-- Binds the sweeps of a step, by the axis of the first.
local function bind_sweeps(kernels, values, state)
    local nx, ny, halo = values.nx, values.ny, state.layout.halo
    local x, y = kernels.shape.x, kernels.shape.y
    local x_first, x_last, y_first, y_last = kernels.sweeps()
    values.src, values.dst = state.now, state.other
    local first = launch(x_first, values, x, nx, ny + 2 * halo)
    local first_along_y = launch(y_first, values, y, layout.pad + nx + halo, ny)
    values.src, values.dst = state.other, state.now
    return {
        x = { first, launch(y_last, values, y, nx, ny) },
        y = { first_along_y, launch(x_last, values, x, nx, ny) },
    }
end

-- Binds any number of steps in one launch, where that is possible.
local function bind_persistent(kernels, values, state, part, tile)
    local scheme, bytes = kernels.scheme, values.bytes
    local shape = cuts.may_persist(scheme, state, part)
        and cuts.persistent(state.part, state.device.info.compute_units, tile)
    if not shape then return nil end
    local pairs_of_cell = math.ceil(#scheme.fields / 2)
    values.mailbox = state.device:buffer { type = 'uint64', label = 'mailbox',
        count = 2 + 1024 * shape.RATE_PAIRS + 8 * pairs_of_cell * values.nx * values.ny }
    values.mailbox:fill(0)
    values.src, values.dst, values.steps, values.bytes = state.now, state.other, 0, nil
    local all = launch(kernels.persistent(shape), values, shape)
    values.bytes = bytes
    return { all = all, mailbox = values.mailbox }
end

local beside = {
    cells_sw = { -1, -1 }, cells_s = { 0, -1 }, cells_se = { 1, -1 }, cells_w = { -1, 0 },
    cells_e = { 1, 0 }, cells_nw = { -1, 1 }, cells_n = { 0, 1 }, cells_ne = { 1, 1 },
}

-- Binds steps in one pass that read cells of the parts beside this one.
local function bind_march_parts(kernels, values, state, part, shape)
    local x, y = kernels.one_pass(shape)
    state.around = { x = true, y = true }
    values.sizes = { west = part.beside(-1, 0).part.nx, south = part.beside(0, -1).part.ny }
    local function step(axis)
        local from, to = 'now', 'other'
        if axis ~= part.first then from, to = to, from end
        values.src, values.dst = state[from], state[to]
        for name, place in pairs(beside) do values[name] = part.beside(unpack(place))[from] end
        return launch(axis == 'x' and x or y, values, shape)
    end
    return { x = { step 'x' }, y = { step 'y' } }
end

-- Binds steps in one pass over all parts, by the first of them.
local function bind_march_joined(kernels, values, state, part, shape)
    local whole, memory = state.part.joined, state.joined
    state.around = { x = true, y = true }
    if state.part.index > 1 then return { x = {}, y = {} } end
    local x, y = kernels.one_pass(shape)
    values.bytes = values.bytes * whole.px * whole.py
    values.all = { px = whole.px, py = whole.py, columns = values.nx, each = memory.each }
    values.nx = whole.nx
    local function step(axis)
        values.src, values.dst = memory.now, memory.other
        if axis ~= part.first then values.src, values.dst = memory.other, memory.now end
        return launch(axis == 'x' and x or y, values, shape)
    end
    return { x = { step 'x' }, y = { step 'y' } }
end

-- Returns a buffer of a part from one of its rows on, or of those beyond.
local function from_row(state, which, row)
    local first = (row + (state.part.margin or 0)) * state.layout.stride
    return first > 0 and (state.wide or state)[which]:view(first) or (state.wide or state)[which]
end

-- Binds a step in one pass over some rows of a part. rows: { from, count, shape,
-- slot, axis }
local function bind_rows(kernels, values, state, part, rows)
    local scheme, from = kernels.scheme, rows.from
    local own = tables.merged(values,
        scheme.equation:values(scheme.numbers, place_of(state, part, from)))
    own.south = from == 0 and values.south or 1
    own.north = from + rows.count == values.ny and values.north or 1
    own.ny, own.slot, own.bytes = rows.count, rows.slot, values.bytes * rows.count / values.ny
    local src, dst = 'now', 'other'
    if rows.axis ~= part.first then src, dst = dst, src end
    own.src, own.dst = from_row(state, src, from), from_row(state, dst, from)
    local x, y = kernels.one_pass(rows.shape)
    return launch(rows.axis == 'x' and x or y, own, rows.shape)
end

-- Binds steps in one pass that also go over rows of the parts beside, in `cycle`: by axis and the
-- number of steps that follow before cells are exchanged.
local function bind_cycle(kernels, values, state, part)
    local own, cycle = state.part, { x = {}, y = {} }
    state.wide.around = state.around
    for rows = 0, own.margin, cuts.reach do
        local count = values.ny + 2 * rows
        local shape = cuts.march(kernels.scheme, state.device, state.precision, own, count)
        for axis, launches in pairs(cycle) do
            launches[rows / cuts.reach] = bind_rows(kernels, values, state, part, { from = -rows,
                count = count, slot = values.slot, axis = axis, shape = shape })
        end
    end
    return { x = {}, y = {}, cycle = cycle }
end

-- Binds steps in one pass. Those that sweep along `first` first are the even ones: they go from
-- `now` to `other`. Where the part goes around they read cells of its other side instead of ghost
-- cells. Where tiles are used there is also a `sequence` of steps that tick the clock themselves:
-- either `all`, one launch with an argument `steps`; or `x`, then `odd` and `even` in turn, and
-- `settle` after the last, which must be an odd one.
local function bind_one_pass(kernels, values, state, part)
    local shape = cuts.one_pass_shape(kernels.scheme, state.device, state.precision, state.part)
    if state.joined then return bind_march_joined(kernels, values, state, part, shape) end
    if part.beside then return bind_march_parts(kernels, values, state, part, shape) end
    local x, y = kernels.one_pass(shape)
    state.around = around(state.part, part.boundaries)
    values.wraps = (state.around.x and 1 or 0) + (state.around.y and 2 or 0)
    if state.part.margin then return bind_cycle(kernels, values, state, part) end
    if shape.edges then
        values.e = shape.edges
        values.done, values.arrived = state.edges.done.buffer, state.edges.arrived
    end
    local function step(axis, ticks)
        values.ticks, values.src, values.dst = ticks, state.now, state.other
        if axis ~= part.first then values.src, values.dst = state.other, state.now end
        return launch(axis == 'x' and x or y, values, shape)
    end
    local launches = { x = { step('x', 0) }, y = { step('y', 0) } }
    if shape.kernel == 'tile' and part.settle then
        launches.sequence = bind_persistent(kernels, values, state, part, shape.choice)
            or { odd = step('y', 1), even = step('x', 2), settle = part.settle(shape.groups) }
    end
    return launches
end

local function bind_stages(kernels, values, state, stages)
    local launches, bytes, kernel = {}, values.bytes, kernels.stage()
    for k, stage in ipairs(stages) do
        values.src, values.base, values.dst = state[stage.src], state[stage.base], state[stage.dst]
        values.keep, values.is_last = stage.keep, k == #stages and 1 or 0
        values.fraction = stage.fraction
        values.bytes = stage.keep > 0 and 1.5 * bytes or bytes
        launches[k] = launch(kernel, values, kernels.shape.stage, values.nx, values.ny)
    end
    return { x = launches, y = launches }
end

-- Binds the launches of one part: a step is `x` or `y`, named after the axis of its first sweep;
-- `measure` writes the maxima of the state as it is. part: { state, grid, boundaries, clock,
-- maxima, slot, first = axis of even steps, levels = of traversal.levels,
-- settle = the clock's, of n maxima, where the part is the only one, beside = function(east, north)
-- -> the state of another one, where steps read cells there }
function traversal.bind(scheme, kernels, part)
    local state = part.state
    local nx, ny = state.layout.nx, state.layout.ny
    local values = scheme.equation:values(scheme.numbers, place_of(state, part))
    values.nx, values.ny = nx, ny
    values.south = ghost_sign(state.part, part.boundaries, 'south')
    values.north = ghost_sign(state.part, part.boundaries, 'north')
    values.stride, values.plane = state.layout.stride, state.layout.plane
    values.inv_dx, values.inv_dy = 1 / part.grid.dx, 1 / part.grid.dy
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    values.wraps = 0
    values.src, values.bytes = state.now, #scheme.fields * nx * ny * state.element
    local measure = launch(kernels.rate, values, kernels.shape.rate, nx, ny)
    values.bytes = 2 * values.bytes             -- a sweep also writes each field
    local launches = scheme.stages and bind_stages(kernels, values, state, scheme.stages)
        or part.levels and bind_one_pass(kernels, values, state, part)
        or bind_sweeps(kernels, values, state)
    launches.measure = measure
    return launches
end

return traversal
