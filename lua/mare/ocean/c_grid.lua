-- What the C-grid schemes share on the host: how their kernels are cut into work, and binding them
-- by the names of their arguments. A step of theirs is one kernel from one buffer to another, so
-- even and odd steps go in opposite directions.

local bind = require 'mare.array.bind'
local domain = require 'mare.ocean.domain'
local edges = require 'mare.ocean.edges'
local errors = require 'bindings.errors'
local shapes = require 'mare.shapes'

local c_grid = {}

-- These options of finite volumes are refused in words of their own.
c_grid.fields = { theta = 'any', rk = 'any' }

-- Refuses the options of finite volumes.
function c_grid.check(scheme, desc)
    for _, name in ipairs { 'theta', 'rk' } do
        if desc[name] ~= nil then
            errors.argument('ocean: %s = %s, which only cdklm and kurganov_petrova have, not %s',
                name, tostring(desc[name]), scheme.scheme)
        end
    end
end

local least_rows = 8            -- of a strip, which computes two more

-- Returns how the steps of a scheme are cut on a device.
function c_grid.cut(scheme, device, precision, part)
    return shapes.find(scheme.scheme, scheme, device, precision, part)
end

-- Returns the work-items along x and the strips along y, and the number of groups.
local function work(cut, device, columns, rows)
    local across = math.ceil(columns / cut.W / cut.GROUP)
    local strips = cut.rows and math.ceil(rows / cut.rows)
        or math.max(1, math.min(math.floor(cut.resident * device.info.compute_units / across),
            math.floor(rows / least_rows)))
    return { across * cut.GROUP, strips }, across * strips
end

-- Returns how many maxima the kernels of a part write at most: one a group. Steps write some only
-- where the rates change with the flow. first: the part whose shape they have
function c_grid.maxima(scheme, device, part, first)
    local function groups(cut) return select(2, work(cut, device, part.nx, part.ny)) end
    local most = groups(shapes.find('rate', scheme, device, 'float', first))
    if not scheme.nonlinear then return most end
    for _, precision in ipairs { 'float', 'double' } do
        most = math.max(most, groups(c_grid.cut(scheme, device, precision, first)))
    end
    return most
end

-- Hands the shapes and the programs of step and rate to `use`, of shapes.lua. Returns what that
-- does of each, and the shapes.
local function with_programs(use, scheme, device, precision, host, part, maths)
    local cut, fast = c_grid.cut(scheme, device, precision, part),
        device.info.kind ~= 'cpu' and precision == 'float'
    local measuring = shapes.find('rate', scheme, device, precision, part)
    local function load(file, shape, defines)
        defines.MARE_REAL, defines.W, defines.GROUP = precision, shape.W, shape.GROUP
        defines.NONLINEAR = scheme.nonlinear and 1 or 0
        defines.AHEAD, defines.OLD_AHEAD = shape.ahead and 1 or 0, shape.old_ahead and 1 or 0
        defines.UNROLL = shape.UNROLL or 1
        return use(device, shape, domain.program(file, { defines = defines,
            math = fast and (maths or 'fast') or 'strict' }))
    end
    local step = load(('physics/ocean/%s.krn'):format(scheme.scheme), cut, domain.defines(host))
    local rate = load('traverse/max_rate.krn', measuring, domain.rate_defines(host))
    return step, rate, cut, measuring
end

-- Begins to compile what kernels() is asked for, with the same arguments.
function c_grid.prepare_kernels(...)
    with_programs(shapes.prepare, ...)
end

-- Returns { step, rate, cut, measuring } of a device; host: of ocean/domain.lua, part: the first
-- there; maths: as of simulation.new, `fast` if nil
function c_grid.kernels(scheme, ...)
    local step, rate, cut, measuring = with_programs(shapes.program, scheme, ...)
    return { cut = cut, measuring = measuring, step = step:kernel(scheme.scheme),
        rate = rate:kernel 'max_rate' }
end

-- Returns a function that binds the step, given the buffers and numbers that differ between its
-- launches, and the launch that measures the state. part: as of traversal.bind.
function c_grid.binder(kernels, part)
    local state = part.state
    local values, l, device = domain.values(state), state.layout, state.device
    values.nx, values.ny, values.stride, values.plane = l.nx, l.ny, l.stride, l.plane
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    values.open_sides = edges.open_bits(state)
    local function launch(kernel, cut, more)        -- `more` comes before what all have
        return bind(kernel, setmetatable(more, { __index = values }), { bytes = more.bytes,
            group = { cut.GROUP, 1 }, global = work(cut, device, l.nx, l.ny) })
    end
    local measure = launch(kernels.rate, kernels.measuring, { src = state.now })
    return function(more) return launch(kernels.step, kernels.cut, more) end, measure
end

-- Returns the bytes that a launch cannot do without moving, where each cell has so many values.
function c_grid.bytes(state, values)
    return math.floor(values * state.layout.nx * state.layout.ny * state.element)
end

return c_grid
