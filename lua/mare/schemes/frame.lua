-- What the schemes that march in the frame of kernels/traverse/ have in common: they are its
-- kernels with the equation's header put in. A step sweeps along one axis after the other, in two
-- passes (sweep_x.krn, sweep_y.krn) or on GPUs in one (march.krn, for few cells tile.krn or, many
-- steps at once, resident.krn), which gives the same bits; or it consists of the scheme's `stages`,
-- { { keep =, base =, src =, dst = }, ... }, along both axes at once; see stage.krn. A scheme has
-- `defines` (EQUATION, FLUX, ...) and values(state, boundaries), which are arguments of its own; it
-- `resides` where its equation has faces_of().

local bind = require 'mare.array.bind'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local layout = require 'mare.array.layout'
local shapes = require 'mare.shapes'
local source = require 'mare.base.source'

local frame = {}

frame.limiters = {
    minmod = 'generalised minmod, theta from 1 (safest) to 2 (sharpest)',
    mc = 'monotonised central',
    van_leer = 'harmonic mean, between minmod and mc',
    superbee = 'the most compressive: squares smooth waves off',
    none = 'no slopes: first order',
}

local striped = { 'x', 'y', 'stage', 'rate' }   -- kernels whose strips work() makes

local function shape_for(scheme, device, precision, part)
    local found = {}
    for _, kernel in ipairs(striped) do
        found[kernel] = shapes.find(kernel, scheme, device, precision, part)
    end
    return found
end

function frame.names_of(choices)
    local names = {}
    for name in pairs(choices) do names[#names + 1] = name end
    table.sort(names)
    return names
end

-- Checks of what a script hands to a scheme of these equations: choose(what, name, choices) and
-- number(what, value, low, high), which return what is right and raise what is not. A flux may also
-- be a header of the user's: 'mine.h', which becomes its whole name.
function frame.checks(equations)
    local function choose(what, name, choices)
        if choices[name] then return name end
        if what == 'flux' and type(name) == 'string' and name:find '%.h$' then
            return files.resolve(name) or name
        end
        errors.argument("%s: %s '%s' (there are: %s)", equations, what, tostring(name),
            table.concat(frame.names_of(choices), ', '))
    end
    local function number(what, value, low, high)
        if type(value) == 'number' and value >= low and value <= high then return value end
        errors.argument('%s: %s = %s, must be from %g to %g', equations, what, tostring(value),
            low, high)
    end
    return choose, number
end

-- The header of a choice, without its ending: in the folder, or the user's own.
function frame.header(folder, name)
    return name:find '^/' and name:gsub('%.h$', '') or folder .. '/' .. name
end

-- The defines of `limiter`, `theta` and headers { EQUATION = 'physics/euler/equation', ... }.
function frame.defines(limiter, theta, headers)
    local defines = {
        LIMITER = string.format('"physics/limiters/%s.h"', limiter),
        THETA = limiter == 'minmod' and string.format('R(%.16e)', theta) or nil,
    }
    for name, header in pairs(headers) do defines[name] = string.format('"%s.h"', header) end
    return defines
end

-- Work-items and groups for so many columns and rows.
local function work(shape, columns, rows)
    local global = { math.ceil(columns / shape.W), math.ceil(rows / shape.rows) }
    return global, math.ceil(global[1] / shape.GROUP) * global[2]
end

-- Lanes that look at one another: those of a warp, or of a group.
local function team_of(device, shape)
    return source.shuffles(device.info) and 32 or shape.GROUP
end

-- How march.krn is cut for a part: the columns of a work-item divide those of the part.
local function march_shape(scheme, device, precision, part)
    local choice = shapes.find('march', scheme, device, precision, part)
    local W = choice.W
    while part.nx % W > 0 do W = W / 2 end
    local team = team_of(device, choice)
    local strips = math.ceil((part.nx + math.max(W, 2) - 2) / (team * W - 4))
    local wanted = math.ceil(strips * part.ny / (choice.rows or 1) * team / choice.GROUP)
    local groups = math.min((choice.resident or math.huge) * device.info.compute_units, wanted)
    return { kernel = 'march', choice = choice, W = W, GROUP = choice.GROUP, DEPTH = choice.DEPTH,
        TEAM = team, global = { groups * choice.GROUP, 1 }, groups = groups }
end

local tile_width = 32       -- lanes of a team, on all GPUs
local tile_rows = { 6, 5, 4, 3, 8 }

-- Strips and bands of tiles.
local function tiles_of(part, group, rows)
    return math.ceil(part.nx / (tile_width - 4)),
        math.ceil(part.ny / (group / tile_width * rows - 4))
end

-- Of tile_rows the first with which the busiest compute unit has the fewest rows to compute, and
-- these.
function frame.even_rows(part, group, units)
    local best, least = nil, math.huge
    for _, rows in ipairs(tile_rows) do
        local strips, bands = tiles_of(part, group, rows)
        local load = math.ceil(strips * bands / units) * rows
        if load < least then best, least = rows, load end
    end
    return best, least
end

-- How tile.krn is cut.
local function tile_shape(scheme, device, precision, part)
    local choice = shapes.find('tile', scheme, device, precision, part)
    local group = choice.GROUP
    local W = choice.W
    if choice.even then W = frame.even_rows(part, group, device.info.compute_units) end
    local strips, bands = tiles_of(part, group, W)
    return { kernel = 'tile', choice = choice, W = W, GROUP = group, TEAM = tile_width,
        global = { strips * group, bands }, groups = strips * bands }
end

-- Which kernel takes a step in one pass: tile.krn where cells are few, unless another is tuned.
function frame.one_pass(scheme, device, precision, part)
    if shapes.is_tried 'march' then return 'march' end
    local is_small = part.cells <= shapes.find('tile', scheme, device, precision, part).cells
    return (is_small or shapes.is_tried 'tile') and 'tile' or 'march'
end

-- Whether resident.krn can run: groups of CUDA alone may wait for one another, from sm_70 on, and
-- the domain has to go around in one part.
local function may_reside(scheme, state, part)
    local sm = state.device.info.arch:match '^sm_(%d+)'
    return scheme.resides and sm and tonumber(sm) >= 70 and state.precision == 'float'
        and state.around.x and state.around.y and part.settle and part.first == 'x'
        and (scheme.gravity or 0) == 0 and not shapes.is_tried 'tile'
end

local resident_group, resident_teams, most_rows = 384, 8, 4

-- How it is cut: into no more tiles than there are compute units, as low as can be but of 16 rows.
-- nil where the cells do not fit, or where tile.krn is faster: a row of its costs half as much.
function frame.resident_shape(part, units, tile)
    local strips = math.ceil(part.nx / (2 * tile_width))
    local bands = math.min(math.floor(units / strips), math.floor(part.ny / (2 * resident_teams)))
    local rows = math.ceil(math.ceil(part.ny / bands) / resident_teams)
    if part.nx % 2 > 0 or part.nx < 8 or bands < 1 or rows > most_rows then return nil end
    local _, load = frame.even_rows(part, tile.GROUP, units)
    if not tile.even or load <= 2 * rows then return nil end
    return { kernel = 'resident', ROWS = rows, GROUP = resident_group, TEAM = tile_width, W = 2,
        POSTS = math.ceil(strips * bands / (2 * tile_width)), groups = strips * bands,
        global = { strips * resident_group, bands } }
end

local function one_pass_shape(scheme, device, precision, part)
    local shape = frame.one_pass(scheme, device, precision, part) == 'tile' and tile_shape
        or march_shape
    return shape(scheme, device, precision, part)
end

-- How many maxima the kernels of a part write at most: one a group, and steps that tick in two
-- places.
function frame.maxima(scheme, device, part)
    local most = 0
    for _, precision in ipairs { 'float', 'double' } do
        for _, shape in pairs(shape_for(scheme, device, precision, part)) do
            local _, groups = work(shape, part.nx, part.ny)
            most = math.max(most, groups)
        end
        local shape = one_pass_shape(scheme, device, precision, part)
        most = math.max(most, shape.kernel == 'tile' and 2 * shape.groups or shape.groups)
    end
    return most
end

local levels = { [0] = { 'now' }, { 'other' } }

-- Where the state is after so many steps, if a step leads from one buffer to another: see
-- state.lua. In one pass it does. A scheme's `passes` tell how many, if not the devices.
function frame.levels(scheme, devices)
    if scheme.stages then return nil end
    local passes = scheme.passes or 1
    for _, device in ipairs(devices) do
        if not scheme.passes and device.info.kind ~= 'gpu' then passes = 2 end
    end
    return passes == 1 and function(steps) return levels[steps % 2] end or nil
end

-- The files that a scheme's kernels come from.
function frame.files(scheme)
    local x, y, stage = 'traverse/sweep_x.krn', 'traverse/sweep_y.krn', 'traverse/stage.krn'
    return scheme.stages and { 'traverse/max_rate.krn', stage } or { 'traverse/max_rate.krn', x, y }
end

-- The kernels on a device, shared by all its parts; `one_pass` compiles those that it is asked for.
-- part: the first of them; maths: as of simulation.new, `fast` if nil
function frame.kernels(scheme, device, precision, _, part, maths)
    local shape = shape_for(scheme, device, precision, part)
    local function load(file, cut)
        local defines = { MARE_REAL = precision, W = cut.W, GROUP = cut.GROUP, TEAM = cut.TEAM,
            DEPTH = cut.DEPTH, ROWS = cut.ROWS, POSTS = cut.POSTS,
            GRAVITY = cut.TEAM and (scheme.gravity or 0) > 0 and 1 or 0 }
        for name, value in pairs(scheme.defines) do defines[name] = value end
        return shapes.program(device, cut.choice or cut, file, { defines = defines,
            math = device.info.kind == 'gpu' and (maths or 'fast') or 'strict' })
    end
    local kernels = { shape = shape, scheme = scheme,
        rate = load('traverse/max_rate.krn', shape.rate):kernel 'max_rate' }
    function kernels.one_pass(cut)
        local program = load(('traverse/%s.krn'):format(cut.kernel), cut)
        return program:kernel(cut.kernel .. '_x'), program:kernel(cut.kernel .. '_y')
    end
    function kernels.resident(cut)
        return load('traverse/resident.krn', cut):kernel 'resident'
    end
    function kernels.sweeps()
        local x, y = load('traverse/sweep_x.krn', shape.x), load('traverse/sweep_y.krn', shape.y)
        return x:kernel 'sweep_x_first', x:kernel 'sweep_x_last', y:kernel 'sweep_y_first',
            y:kernel 'sweep_y_last'
    end
    function kernels.stage() return load('traverse/stage.krn', shape.stage):kernel 'stage' end
    return kernels
end

-- Along which axes a part goes around into itself.
local function around(part, boundaries)
    local edge = part.edge
    return { x = edge.west and edge.east and boundaries.west == 'periodic',
        y = edge.south and edge.north and boundaries.south == 'periodic' }
end

-- Binds what the kernel asks for, over so many columns and rows.
local function launch(kernel, values, shape, columns, rows)
    return bind(kernel, values, { group = { shape.GROUP, 1 }, bytes = values.bytes,
        together = shape.kernel == 'resident' or nil,
        global = shape.global or work(shape, columns, rows) })
end

-- The sweeps of a step, by the axis of the first.
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

-- Any number of steps in one launch, where that is possible.
local function bind_resident(kernels, values, state, part, tile)
    local shape = may_reside(kernels.scheme, state, part)
        and frame.resident_shape(state.part, state.device.info.compute_units, tile)
    if not shape then return nil end
    local bytes = values.bytes
    values.news = state.device:buffer { type = 'uint64', label = 'news',
        count = 2 + 1024 * shape.POSTS + 16 * values.nx * values.ny }
    values.news:fill(0)
    values.src, values.dst, values.steps, values.bytes = state.now, state.other, 0, nil
    local all = launch(kernels.resident(shape), values, shape)
    values.bytes = bytes
    return { all = all, news = values.news }
end

-- Steps that sweep along `first` first are the even ones: from `now` to `other`. Where the part
-- goes around they look at its other side, not at ghost cells. Tiles have a `row` of steps, too,
-- which tick the clock themselves: `all` in one launch, which has an argument `steps`, or x, then
-- odd and even in turn, after an odd one settle.
local function bind_one_pass(kernels, values, state, part)
    local shape = one_pass_shape(kernels.scheme, state.device, state.precision, state.part)
    local x, y = kernels.one_pass(shape)
    state.around = around(state.part, part.boundaries)
    values.wraps = (state.around.x and 1 or 0) + (state.around.y and 2 or 0)
    local function step(axis, ticks)
        values.ticks, values.src, values.dst = ticks, state.now, state.other
        if axis ~= part.first then values.src, values.dst = state.other, state.now end
        return launch(axis == 'x' and x or y, values, shape)
    end
    local launches = { x = { step('x', 0) }, y = { step('y', 0) } }
    if shape.kernel == 'tile' and part.settle then
        launches.row = bind_resident(kernels, values, state, part, shape.choice)
            or { odd = step('y', 1), even = step('x', 2), settle = part.settle(shape.groups) }
    end
    return launches
end

local function bind_stages(kernels, values, state, stages)
    local launches, bytes, kernel = {}, values.bytes, kernels.stage()
    for k, stage in ipairs(stages) do
        values.src, values.base, values.dst = state[stage.src], state[stage.base], state[stage.dst]
        values.keep, values.is_last = stage.keep, k == #stages and 1 or 0
        values.bytes = stage.keep > 0 and 1.5 * bytes or bytes
        launches[k] = launch(kernel, values, kernels.shape.stage, values.nx, values.ny)
    end
    return { x = launches, y = launches }
end

-- The launches of one part: a step is `x` or `y`, named after the axis of its first sweep;
-- `measure` writes the maxima of the state as it is. part: { state, grid, boundaries, clock,
-- maxima, slot, first = axis of even steps, levels = of frame.levels,
-- settle = the clock's, of n maxima, where the part is the only one }
function frame.bind(scheme, kernels, part)
    local state = part.state
    local nx, ny = state.layout.nx, state.layout.ny
    local values = scheme:values(state, part.boundaries)
    values.nx, values.ny = nx, ny
    values.stride, values.plane = state.layout.stride, state.layout.plane
    values.inv_dx, values.inv_dy = 1 / part.grid.dx, 1 / part.grid.dy
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    values.src, values.bytes = state.now, #scheme.fields * nx * ny * state.element
    local measure = launch(kernels.rate, values, kernels.shape.rate, nx, ny)
    values.bytes = 2 * values.bytes             -- a sweep also writes each field
    local launches = scheme.stages and bind_stages(kernels, values, state, scheme.stages)
        or part.levels and bind_one_pass(kernels, values, state, part)
        or bind_sweeps(kernels, values, state)
    launches.measure = measure
    return launches
end

return frame
