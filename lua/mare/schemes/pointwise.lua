-- Cells whose state a function of the script gives, on the device: ghost cells beyond a side, a
-- state that a call changes, the initial state. Such a function becomes a kernel
-- (translate/README.md says what it may contain) and returns what a script's `initial` returns.
--
--     'state'   function(q, x, y, t, p): q is what the cell holds, or beyond a side the cell next
--               to it inside, by the names of what `initial` gives; q.u.x and q.u.y of a vector of
--               mare.equations. x, y is the middle of the cell, p has the parameters
--     'place'   function(x, y)
--
-- The device half is kernels/traverse/pointwise.krn.

local bind = require 'mare.array.bind'
local errors = require 'bindings.errors'
local lua_code = require 'mare.schemes.lua_code'
local quadrature = require 'mare.schemes.quadrature'
local tables = require 'bindings.tables'

local pointwise = {}

-- Returns the program with the kernels `beyond` and `inside`. what: the beginning of messages;
-- kind: 'state' or 'place'; desc: { precision of the arithmetic, stored = of the state in memory,
-- count = points along an axis }
function pointwise.program(scheme, what, f, kind, desc)
    local own = lua_code.cell(scheme.equation, what, f, kind)
    return scheme.equation:program('traverse/pointwise.krn', {
        before = own, math = 'strict', defines = tables.merged(scheme.defines, {
            MARE_REAL = desc.precision, STORED = desc.stored or desc.precision, W = 1, GROUP = 64,
            COUNT = desc.count or 1 }) })
end

-- Refuses a function that cannot become such a kernel.
function pointwise.check(scheme, what, f, kind)
    errors.wanted(what, 'function', f)
    lua_code.cell(scheme.equation, what, f, kind)
end

local function place_of(state, grid, more)
    local l, part = state.layout, state.part
    return tables.merged({ nx = l.nx, ny = l.ny, stride = l.stride, plane = l.plane,
        margin = l.halo, i = part.i0, j = part.j0, x = grid.x[1], y = grid.y[1], dx = grid.dx,
        dy = grid.dy, cells = 0, along_x = 0, high = 0 }, more)
end

-- Returns the launch that fills a part's ghost cells beyond a side, of buffer `which`, which holds
-- the state a fraction of a step later than the clock says.
function pointwise.beyond(scheme, f, side, state, grid, which, fraction)
    local program = pointwise.program(scheme, 'boundary in the ' .. side, f, 'state',
        { precision = state.precision })
    local along_x, l = side == 'south' or side == 'north', state.layout
    return bind(state.device:program(program):kernel 'beyond', tables.merged({
        state = state[which], clock = state.clock, fraction = fraction,
        p = place_of(state, grid, { along_x = along_x and 1 or 0,
            cells = along_x and l.ny or l.nx, high = (side == 'east' or side == 'north') and 1 or 0,
        }),
    }, scheme.equation:values(scheme.numbers)), {
        global = (along_x and l.nx or l.ny) + 2 * l.halo })
end

-- Returns the places and weights of the points of a mean along an axis, as kernels take them.
local function points_of(n)
    local list = {}
    for k, point in ipairs(quadrature.points(n)) do
        list[k], list[n + k] = point.at, point.weight
    end
    return list
end

local function whole(piece, margin)
    return { piece.columns + 2 * margin, piece.rows + 2 * margin }
end

-- Computes the cells of all parts, in the buffer that holds their state. desc: { what = the
-- beginning of messages, kind = 'state' or 'place', precision of the arithmetic, count = points
-- along an axis, margin = ghost cells that are computed too, t = the time }
local function fill(scheme, f, fields, desc)
    local n, precision, grid = desc.count, desc.precision, fields.grid
    local points = {}
    for _, device in ipairs(fields.devices) do
        points[device] = device:buffer { type = precision, count = 2 * n, label = 'points' }
        points[device]:upload(points_of(n))
    end
    local launch = fields:map {
        program = pointwise.program(scheme, desc.what, f, desc.kind, {
            precision = precision, stored = fields.precision, count = n }),
        kernel = 'inside',
        values = function(piece)
            return tables.merged({ state = fields, points = points[piece.state.device], t = desc.t,
                p = place_of(piece.state, grid, { margin = desc.margin }),
            }, scheme.equation:values(scheme.numbers))
        end,
        global = function(piece) return whole(piece, desc.margin) end,
    }
    launch:run()
    launch:release()
    for _, buffer in pairs(points) do buffer:release() end
end

-- Changes the state: f gives it, of kind 'state'.
function pointwise.change(scheme, f, fields, t)
    errors.wanted('simulation: change', 'function', f)
    fill(scheme, f, fields, { what = 'simulation: change', kind = 'state', count = 1, margin = 0,
        precision = fields.precision, t = t })
end

local many = 2 ^ 22     -- values of a function that a device is asked for rather than Lua

-- Whether the devices compute an initial state: by desc.on, which is 'device', 'host' or 'auto'.
local function on_devices(scheme, initial, fields, desc)
    if desc.on == 'host' then return false end
    local can, what = true, 'initial'
    for _, device in ipairs(fields.devices) do can = can and device.info.has_double end
    if desc.on == 'device' then
        if not can then errors.usage "option --initial-on: 'device' has no double precision" end
        pointwise.check(scheme, what, initial, 'place')
        return true
    end
    local is_large = fields.grid.cells * desc.count ^ 2 >= many
    return can and is_large and pcall(pointwise.check, scheme, what, initial, 'place')
end

-- Fills fields and their ghost cells with an initial state, of kind 'place', in double, if it is to
-- be computed on the devices. Returns whether it was. desc: { on, count = points along an axis }
function pointwise.fill_fields(scheme, initial, fields, desc)
    if not on_devices(scheme, initial, fields, desc) then return false end
    fill(scheme, initial, fields, { what = 'initial', kind = 'place', precision = 'double',
        count = desc.count, margin = fields.halo, t = 0 })
    fields:spread(fields:present())
    return true
end

return pointwise
