-- What the C-grid schemes share on the host: how their kernels are cut into work, and binding them
-- by the names of their arguments. A step of theirs is one kernel from one buffer to another, so
-- even and odd steps go in opposite directions.

local domain = require 'mare.ocean.domain'
local source = require 'mare.source'

local c_grid = {}

-- W columns a work-item, GROUP work-items a group, strips of about `rows` rows; results do not
-- depend on it.
c_grid.shapes = {
    gpu = {
        linear = { W = 4, GROUP = 64, rows = 32 }, nonlinear = { W = 2, GROUP = 64, rows = 32 },
        rate = { W = 1, GROUP = 128, rows = 64 },
    },
    cpu = {
        linear = { W = 128, GROUP = 1, rows = 64 }, nonlinear = { W = 128, GROUP = 1, rows = 64 },
        rate = { W = 1, GROUP = 16, rows = 64 },
    },
}

local function shape_for(device)
    return device.info.kind == 'cpu' and c_grid.shapes.cpu or c_grid.shapes.gpu
end

local function work(shape, columns, rows)
    local items = math.ceil(columns / shape.W)
    local global = { math.ceil(items / shape.GROUP) * shape.GROUP, math.ceil(rows / shape.rows) }
    return global, global[1] / shape.GROUP * global[2]
end

-- How many maxima the kernels of a part write at most: one a group.
function c_grid.maxima(_, device, part)
    local most = 0
    for _, shape in pairs(shape_for(device)) do
        local _, groups = work(shape, part.nx, part.ny)
        most = math.max(most, groups)
    end
    return most
end

-- { step, rate, shape } of a device; host: of ocean/domain.lua.
function c_grid.kernels(scheme, device, precision, host)
    local shape = shape_for(device)
    local fast = device.info.kind == 'gpu' and precision == 'float'
    local function load(name, kernel, cut)
        local defines = domain.defines(host)
        defines.MARE_REAL, defines.W, defines.GROUP = precision, cut.W, cut.GROUP
        defines.NONLINEAR = scheme.nonlinear and 1 or 0
        return device:program(source.program(('ocean/%s.krn'):format(name), {
            math = fast and 'fast' or 'strict', defines = defines })):kernel(kernel)
    end
    local cut = shape[scheme.scheme]
    return {
        step = load(scheme.scheme, scheme.scheme, cut), cut = cut,
        rate = load('c_grid_rate', 'c_grid_rate', { W = 1, GROUP = shape.rate.GROUP }),
        rate_cut = shape.rate,
    }
end

local function bind(kernel, cut, values, more)
    local arguments = { global = work(cut, values.nx, values.ny), group = { cut.GROUP, 1 } }
    for _, arg in ipairs(kernel.args) do
        arguments[arg.name] = more[arg.name]
        if arguments[arg.name] == nil then arguments[arg.name] = values[arg.name] end
    end
    arguments.bytes = more.bytes
    return kernel:bind(arguments)
end

-- A function that binds the step, given the buffers and numbers that differ between its launches,
-- and the launch that measures the state. part: as of frame.bind.
function c_grid.binder(kernels, part)
    local state = part.state
    local values = domain.values(state)
    values.nx, values.ny = state.layout.nx, state.layout.ny
    values.stride, values.plane = state.layout.stride, state.layout.plane
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    local measure = bind(kernels.rate, kernels.rate_cut, values, { src = state.now })
    return function(more) return bind(kernels.step, kernels.cut, values, more) end, measure
end

-- Bytes that a launch cannot do without moving, where each cell has so many values.
function c_grid.bytes(state, values)
    return math.floor(values * state.layout.nx * state.layout.ny * state.element)
end

return c_grid
