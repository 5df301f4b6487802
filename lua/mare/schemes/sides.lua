-- Makes sides of a plane whose state is prescribed or whose kind changes along them, for the
-- schemes of equations.
--
--   { kind = 'prescribed', state = function(t, x, y) ... end, times = { 0, 0.1, ... } }
--       beyond the side is what the function gives, the same numbers as a script's `initial`. It
--       is sampled once, at the set-up, in the middle of each ghost cell at each of the times; in
--       between the unknowns are linear in time, before and after constant. `times` may also be
--       { from =, to =, every = }; without, the state is that at t = 0 and stays
--   function(q, x, y, t, p)
--       beyond the side is what the function gives, on the device, at each step and stage:
--       pointwise.lua
--   { kind = 'pieces', { to = 0.25, side = 'outflow' }, { side = { kind = 'prescribed', ... } } }
--       kinds that follow one another along the side, from its lower end on, each to a coordinate;
--       all are sampled at all the times that one of them names
--
-- The device half is kernels/traverse/side.krn.

local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local bind = require 'mare.array.bind'
local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local pointwise = require 'mare.schemes.pointwise'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local sides = {}

sides.kinds = {
    prescribed = 'the state beyond is a function of time and place',
    pieces = 'other kinds follow one another along the side',
    ['function'] = 'function(q, x, y, t, p) gives the state beyond',
}

-- What a piece may be: any kind that asks nothing of the opposite side.
local plain = {}
for name, kind in pairs(boundary.kinds) do
    if kind.rule ~= constants.KIND_COPY then plain[name] = kind.rule end
end

local prescribed_fields = { kind = 'string', state = 'function', times = 'table' }
local piece_fields = { to = 'number', side = 'any' }
local most_numbers = 2 ^ 28     -- of one table

-- ---- checks ----

local function where(side) return 'boundary in the ' .. side end

local function every(what, given)
    errors.fields(what, given, { from = 'number', to = 'number', every = 'number' })
    local from, to, step = given.from or 0, given.to, given.every
    if not (to and step and step > 0 and to > from and (to - from) / step < 1e7) then
        errors.argument('%s: { from =, to =, every = } wants from < to and every > 0', what)
    end
    local list, count = {}, math.ceil((to - from) / step - 1e-9)
    for k = 0, count do list[k + 1] = k < count and from + k * step or to end
    return list
end

local function times_of(what, given)
    if not given then return { 0 } end
    if given.every then return every(what, given) end
    for k, t in ipairs(given) do
        if type(t) ~= 'number' or t - t ~= 0 or k > 1 and t <= given[k - 1] then
            errors.argument('%s %d = %s, must be a number after the one before', what, k,
                tostring(t))
        end
    end
    if #given == 0 then errors.argument('%s: at least one is wanted', what) end
    return given
end

local function check_prescribed(side, given)
    errors.fields(where(side), given, prescribed_fields)
    if not given.state then errors.argument('%s: state is missing', where(side)) end
    times_of(where(side) .. ': times', given.times)
end

-- Refuses pieces that do not follow one another; check_piece(what, side) refuses what one may not
-- be.
function sides.check_pieces(side, given, check_piece)
    for key in pairs(given) do
        if key ~= 'kind' and (type(key) ~= 'number' or key < 1 or key > #given or key % 1 ~= 0) then
            errors.argument("%s: unknown field '%s' of pieces", where(side), tostring(key))
        end
    end
    for k, piece in ipairs(given) do
        local what = ('%s: piece %d'):format(where(side), k)
        errors.fields(what, piece, piece_fields)
        if (piece.to == nil) ~= (k == #given) then
            errors.argument('%s: all pieces but the last want to = its end', what)
        end
        if k > 1 and piece.to and piece.to <= given[k - 1].to then
            errors.argument('%s ends at %g, before it begins', what, piece.to)
        end
        check_piece(what, piece.side)
    end
    if #given == 0 then errors.argument('%s: no pieces are given', where(side)) end
end

-- Refuses a side that is no such table. scheme: see equation.lua.
function sides.check(scheme, side, given)
    if given.kind == 'prescribed' then return check_prescribed(side, given) end
    if given.kind == 'function' then
        return pointwise.check(scheme, where(side), given.state, 'state')
    end
    sides.check_pieces(side, given, function(what, piece)
        if type(piece) == 'table' and piece.kind == 'prescribed' then
            check_prescribed(side, piece)
        elseif not plain[piece] then
            errors.argument("%s: side = '%s', must be %s or { kind = 'prescribed', ... }", what,
                tostring(piece), tables.names(plain))
        end
    end)
    local is_along_y = side == 'south' or side == 'north'
    if scheme.has_source and (is_along_y or scheme.equation.rates) then
        errors.argument('%s: pieces do not go with a source', where(side))
    end
end

-- ---- tables ----

-- Returns what the side is at a coordinate along it, and the number of that piece.
function sides.piece_at(given, coordinate)
    if given.kind ~= 'pieces' then return given, 1 end
    for k, piece in ipairs(given) do
        if not piece.to or coordinate < piece.to then return piece.side, k end
    end
end

-- Returns all times at which any of the pieces has a record.
local function all_times(given)
    if given.kind == 'prescribed' then return times_of('times', given.times) end
    local set = {}
    for _, piece in ipairs(given) do
        if type(piece.side) == 'table' then
            for _, t in ipairs(times_of('times', piece.side.times)) do set[t] = true end
        end
    end
    return next(set) and tables.keys(set) or { 0 }
end

-- Returns where ghost cell k of line t of the part's side is.
local function place_of(grid, part, side, k, t)
    local halo = grid.halo
    if side == 'west' or side == 'east' then
        local i = side == 'west' and k - halo or grid.nx + k
        return grid:x_centre(i), grid:y_centre(part.j0 - halo + t)
    end
    local j = side == 'south' and k - halo or grid.ny + k
    return grid:x_centre(part.i0 - halo + t), grid:y_centre(j)
end

-- Returns the unknowns there, checked.
local function unknowns_at(scheme, given, side, t, x, y)
    local values = { given.state(t, x, y) }
    for k = 1, #scheme.fields do
        if type(values[k]) ~= 'number' then
            errors.argument('%s: state(%g, %g, %g) gives %s as value %d, %s wants %d numbers',
                where(side), t, x, y, type(values[k]), k, scheme.name, #scheme.fields)
        end
    end
    local unknowns = { scheme:conserved(unpack(values)) }
    local wrong = scheme:invalid(unpack(unknowns))
    if wrong then
        errors.argument('%s: state(%g, %g, %g) is invalid: %s', where(side), t, x, y, wrong)
    end
    return unknowns
end

-- Returns the kinds of lines, the times and the table of a part's side, in the host's memory.
local function sampled(scheme, given, side, state, grid)
    local part, along_x = state.part, side == 'south' or side == 'north'
    local halo, fields = grid.halo, #scheme.fields
    local lines = (along_x and part.nx or part.ny) + 2 * halo
    local times, kinds = all_times(given), {}
    local count = #times * fields * halo * lines
    if count > most_numbers then
        errors.argument('%s: %d times of %d cells are %.3g numbers, at most %.3g', where(side),
            #times, lines, count, most_numbers)
    end
    local data = memory.array(state.precision, count)
    for t = 0, lines - 1 do
        local x, y = place_of(grid, part, side, 0, t)
        local piece = sides.piece_at(given, along_x and x or y)
        kinds[t + 1] = plain[piece] or constants.KIND_TABLE
        for r = 1, plain[piece] and 0 or #times do
            for k = 0, halo - 1 do
                local u = unknowns_at(scheme, piece, side, piece.times and times[r] or 0,
                    place_of(grid, part, side, k, t))
                for q = 1, fields do
                    data[(((r - 1) * fields + q - 1) * halo + k) * lines + t] = u[q]
                end
            end
        end
    end
    return { lines = lines, kinds = kinds, times = times, table = data, count = count }
end

local function upload(state, type, count, data, label)
    local buffer = state.device:buffer { type = type, count = count, label = label }
    buffer:upload(data)
    return buffer
end

-- Returns the same on its device, made when it is first asked for; it goes with the state.
local function tables_of(scheme, given, side, state, grid)
    state.sides = state.sides or {}
    local own = state.sides[side]
    if own then return own end
    local host = sampled(scheme, given, side, state, grid)
    local label = ('%s side of part %d'):format(side, state.part.index)
    own = { lines = host.lines, records = #host.times,
        kinds = upload(state, 'int32', host.lines, host.kinds, label),
        times = upload(state, 'double', #host.times, host.times, label),
        table = upload(state, state.precision, host.count, host.table, label) }
    state.sides[side] = own
    return own
end

-- ---- launches ----

local function launch_of(scheme, exchange, side, state, which, fraction)
    local given = exchange.boundaries[side]
    if given.kind == 'function' then
        return pointwise.beyond(scheme, given.state, side, state, exchange.grid, which, fraction)
    end
    local l, along_x = state.layout, side == 'south' or side == 'north'
    local own = tables_of(scheme, given, side, state, exchange.grid)
    local program = source.program('traverse/side.krn', {
        defines = { MARE_REAL = state.precision, HALO = l.halo } })
    local kernel = state.device:program(program):kernel 'side'
    return bind(kernel, {
        state = state[which], clock = state.clock, fraction = fraction,
        origin = along_x and l:offset(0, -l.halo, 0) or l:offset(0, 0, -l.halo),
        along = along_x and l.stride or 1, across = along_x and 1 or l.stride, plane = l.plane,
        lines = own.lines, cells = along_x and l.ny or l.nx, fields = l.fields,
        high = (side == 'east' or side == 'north') and 1 or 0,
        normals = boundary.mask(scheme.normal[along_x and 'y' or 'x']),
        kinds = own.kinds, times = own.times, records = own.records, table = own.table,
    }, { global = { own.lines, l.fields } })
end

-- Returns the launches that fill a part's ghost cells beyond such sides: those along x first, as
-- corners belong to the others. exchange: { boundaries, grid }
function sides.ghosts(scheme, state, which, fraction, exchange)
    local launches = {}
    for _, side in ipairs { 'west', 'east', 'south', 'north' } do
        if type(exchange.boundaries[side]) == 'table' and state.part.edge[side] then
            launches[#launches + 1] = launch_of(scheme, exchange, side, state, which, fraction)
        end
    end
    return launches
end

return sides
