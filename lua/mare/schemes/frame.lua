-- What the schemes that march in the frame of kernels/sweep/ have in common: they are its kernels
-- with the equation's header put in. A step sweeps along one axis after the other, or consists of
-- the scheme's `stages`, { { keep =, base =, src =, dst = }, ... }, along both axes at once; see
-- stage.krn. A scheme has `defines` (EQUATION, FLUX, ...) and values(state, boundaries), which are
-- arguments of its own.

local errors = require 'bindings.errors'
local layout = require 'mare.layout'
local source = require 'mare.source'

local frame = {}

frame.limiters = {
    minmod = 'generalised minmod, theta from 1 (safest) to 2 (sharpest)',
    mc = 'monotonised central',
    van_leer = 'harmonic mean, between minmod and mc',
    superbee = 'the most compressive: squares smooth waves off',
    none = 'no slopes: first order',
}

-- How kernels are cut into work: W columns a work-item, GROUP work-items a group, strips of about
-- `rows` rows. The best of sweeps over these on an H200 (8192^2 cells of Euler) and on PoCL, but
-- for those of a stage, which are still a guess; results do not depend on it.
local gpu = {
    float = {
        x = { W = 4, GROUP = 64, rows = 16 },
        y = { W = 2, GROUP = 64, rows = 64 },
        stage = { W = 4, GROUP = 64, rows = 32 },
        rate = { W = 1, GROUP = 128, rows = 64 },
    },
    double = {
        x = { W = 4, GROUP = 64, rows = 16 },
        y = { W = 1, GROUP = 64, rows = 64 },
        stage = { W = 2, GROUP = 64, rows = 32 },
        rate = { W = 1, GROUP = 128, rows = 64 },
    },
}
local cpu = {
    x = { W = 120, GROUP = 1, rows = 32 },
    y = { W = 128, GROUP = 1, rows = 64 },
    stage = { W = 120, GROUP = 1, rows = 32 },
    rate = { W = 64, GROUP = 1, rows = 64 },
}

local function shape_for(device, precision)
    return device.info.kind == 'cpu' and cpu or gpu[precision]
end

function frame.names_of(choices)
    local names = {}
    for name in pairs(choices) do names[#names + 1] = name end
    table.sort(names)
    return names
end

-- Checks of what a script hands to a scheme. A flux may also be a header of the user's: 'mine.h',
-- which becomes its whole name.
function frame.choose(equations, what, name, choices)
    if choices[name] then return name end
    if what == 'flux' and type(name) == 'string' and name:find '%.h$' then
        return require('bindings.files').resolve(name) or name
    end
    errors.argument("%s: %s '%s' (there are: %s)", equations, what, tostring(name),
        table.concat(frame.names_of(choices), ', '))
end

function frame.number(equations, what, value, low, high)
    if type(value) == 'number' and value >= low and value <= high then return value end
    errors.argument('%s: %s = %s, must be from %g to %g', equations, what, tostring(value), low,
        high)
end

-- The header of a choice, without its ending: in the folder, or the user's own.
function frame.header(folder, name)
    return name:find '^/' and name:gsub('%.h$', '') or folder .. '/' .. name
end

-- The defines of `limiter`, `theta` and headers { EQUATION = 'euler/equation', ... }.
function frame.defines(limiter, theta, headers)
    local defines = {
        LIMITER = string.format('"limiters/%s.h"', limiter),
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

-- How many maxima the kernels of a part write at most: one a group.
function frame.maxima(_, device, part)
    local most = 0
    for _, precision in ipairs { 'float', 'double' } do
        for _, shape in pairs(shape_for(device, precision)) do
            local _, groups = work(shape, part.nx, part.ny)
            most = math.max(most, groups)
        end
    end
    return most
end

-- The files that a scheme's kernels come from.
function frame.files(scheme)
    local x, y, stage = 'sweep/sweep_x.krn', 'sweep/sweep_y.krn', 'sweep/stage.krn'
    return scheme.stages and { 'sweep/max_rate.krn', stage } or { 'sweep/max_rate.krn', x, y }
end

-- The kernels on a device, shared by all its parts.
function frame.kernels(scheme, device, precision)
    local shape = shape_for(device, precision)
    local fast = device.info.kind == 'gpu' and precision == 'float'
    local function load(file, cut)
        local defines = { MARE_REAL = precision, W = cut.W, GROUP = cut.GROUP }
        for name, value in pairs(scheme.defines) do defines[name] = value end
        return device:program(source.program(file, {
            math = fast and 'fast' or 'strict', defines = defines }))
    end
    local files = frame.files(scheme)
    local kernels = { shape = shape, rate = load(files[1], shape.rate):kernel 'max_rate' }
    if scheme.stages then
        kernels.stage = load(files[2], shape.stage):kernel 'stage'
    else
        local x, y = load(files[2], shape.x), load(files[3], shape.y)
        kernels.x_first, kernels.x_last = x:kernel 'sweep_x_first', x:kernel 'sweep_x_last'
        kernels.y_first, kernels.y_last = y:kernel 'sweep_y_first', y:kernel 'sweep_y_last'
    end
    return kernels
end

-- Binds what the kernel asks for, over so many columns and rows.
local function bind(kernel, values, shape, columns, rows)
    local arguments = { global = work(shape, columns, rows), group = { shape.GROUP, 1 } }
    arguments.bytes = values.bytes
    for _, arg in ipairs(kernel.args) do arguments[arg.name] = values[arg.name] end
    return kernel:bind(arguments)
end

-- The sweeps of a step, by the axis of the first.
local function bind_sweeps(kernels, values, state)
    local nx, ny, halo = values.nx, values.ny, state.layout.halo
    local x, y = kernels.shape.x, kernels.shape.y
    values.src, values.dst = state.now, state.other
    local x_first = bind(kernels.x_first, values, x, nx, ny + 2 * halo)
    local y_first = bind(kernels.y_first, values, y, layout.pad + nx + halo, ny)
    values.src, values.dst = state.other, state.now
    return {
        x = { x_first, bind(kernels.y_last, values, y, nx, ny) },
        y = { y_first, bind(kernels.x_last, values, x, nx, ny) },
    }
end

local function bind_stages(kernels, values, state, stages)
    local launches, bytes = {}, values.bytes
    for k, stage in ipairs(stages) do
        values.src, values.base, values.dst = state[stage.src], state[stage.base], state[stage.dst]
        values.keep, values.is_last = stage.keep, k == #stages and 1 or 0
        values.bytes = stage.keep > 0 and 1.5 * bytes or bytes
        launches[k] = bind(kernels.stage, values, kernels.shape.stage, values.nx, values.ny)
    end
    return { x = launches, y = launches }
end

-- The launches of one part: a step is `x` or `y`, named after the axis of its first sweep;
-- `measure` writes the maxima of the state as it is. part: { state, grid, boundaries, clock,
-- maxima, slot }
function frame.bind(scheme, kernels, part)
    local state = part.state
    local nx, ny = state.layout.nx, state.layout.ny
    local values = scheme:values(state, part.boundaries)
    values.nx, values.ny = nx, ny
    values.stride, values.plane = state.layout.stride, state.layout.plane
    values.inv_dx, values.inv_dy = 1 / part.grid.dx, 1 / part.grid.dy
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    values.src, values.bytes = state.now, #scheme.fields * nx * ny * state.element
    local measure = bind(kernels.rate, values, kernels.shape.rate, nx, ny)
    values.bytes = 2 * values.bytes             -- a sweep also writes each field
    local launches = scheme.stages and bind_stages(kernels, values, state, scheme.stages)
        or bind_sweeps(kernels, values, state)
    launches.measure = measure
    return launches
end

return frame
