-- Open sides of an ocean, on a device: what each part knows of those that it touches, and the
-- launches of kernels/physics/ocean/open.krn, which fills ghost cells, and sponge.krn. Both run
-- over lines with their ghost cells, and look along their line only, so that parts agree on what
-- they share.

local bind = require 'mare.array.bind'
local cells = require 'mare.ocean.cells'
local constants = require 'mare.base.constants'
local memory = require 'bindings.memory'
local records = require 'mare.forcing.records'
local rivers = require 'mare.ocean.rivers'
local source = require 'mare.base.source'

local edges = {}

-- Returns the lines of a part along a side, ghost cells too: the first of the global ones, and how
-- many.
local function lines_of(side, state)
    local part, halo = state.part, state.layout.halo
    if side.axis == 'x' then return part.j0 - halo, part.ny + 2 * halo end
    return part.i0 - halo, part.nx + 2 * halo
end

-- Returns the cells that lie in the part and in the sponge, by their distance d from the side: the
-- first, and how many.
local function depths_of(side, part)
    local x = side.axis == 'x'
    local low, count = x and part.i0 or part.j0, x and part.nx or part.ny
    local first = side.high and (x and side.grid.nx or side.grid.ny) - low - count or low
    return first, math.max(0, math.min(count, side.width - first))
end

local function outer_records(side, state)
    local first, lines = lines_of(side, state)
    local columns = side:columns()
    local count = 3 * columns * lines
    return records.new {
        device = state.device, precision = state.precision, times = side.times, count = count,
        label = string.format('%s boundary of part %d', side.side, state.part.index),
        at = function(t)
            local data = memory.array(state.precision, count)
            for column = 0, columns - 1 do
                for line = 0, lines - 1 do
                    local k = column * lines + line
                    data[k], data[k + columns * lines], data[k + 2 * columns * lines] =
                        side:at(t, column, first + line)
                end
            end
            return data
        end,
    }
end

local function upload(state, type, label, list)
    if #list == 0 then list = { 0 } end
    local buffer = state.device:buffer { type = type, count = #list, label = label }
    buffer:upload(list)
    return buffer
end

local function tide_buffers(side, state)
    local first, lines = lines_of(side, state)
    local speeds, harmonics = {}, {}
    for k, wave in ipairs(side.tide) do
        speeds[k] = wave.speed
        for line = 0, lines - 1 do
            local at = 4 * (k - 1) * lines + line + 1
            harmonics[at], harmonics[at + lines], harmonics[at + 2 * lines],
                harmonics[at + 3 * lines] = side:harmonics(wave, first + line)
        end
    end
    return upload(state, 'double', 'speeds of tides', speeds),
        upload(state, state.precision, 'tides', harmonics)
end

local absorbed = 3      -- of what crosses a sponge, exp(-3) arrives at the side

-- Returns how fast each cell from the side on is relaxed, see sponge.krn. A parabola, because what
-- begins at once reflects: the common 1 - tanh((d + 1) / 2) sent 5 to 20 times as much back.
local function fade(side)
    local list, width = { 0 }, side.width
    for d = 0, width - 1 do
        list[d + 2] = 3 * absorbed / width * (1 - (d + 0.5) / width) ^ 2
    end
    list[width + 2] = 0
    return list
end

-- Returns what a part knows of the sides that it has to do with: { { side, records, ... }, ... }
function edges.prepare(sides, state)
    local list = {}
    for _, side in ipairs(sides) do
        local first, depths = depths_of(side, state.part)
        local at_edge = state.part.edge[side.side]
        if at_edge or depths > 0 then
            local speeds, harmonics = tide_buffers(side, state)
            list[#list + 1] = {
                side = side, at_edge = at_edge, first = first, depths = depths,
                records = outer_records(side, state), speeds = speeds, harmonics = harmonics,
                fade = upload(state, state.precision, 'sponge', fade(side)),
            }
        end
    end
    return list
end

function edges.release(list)
    for _, edge in ipairs(list) do
        for _, name in ipairs { 'records', 'speeds', 'harmonics', 'fade' } do
            edge[name]:release()
        end
    end
end

-- ---- launches ----

-- Returns the bits of the open sides at the edge of a part, as WALL_* of kernels.
function edges.open_bits(state)
    local bits = 0
    for _, edge in ipairs(state.domain.edges) do
        if edge.at_edge then
            bits = bit.bor(bits, constants['WALL_' .. edge.side.side:upper()])
        end
    end
    return bits
end

local function strides(side, layout)
    if side.axis == 'x' then return 1, layout.stride end
    return layout.stride, 1
end

-- Returns arguments that both kernels ask for.
local function common(state, edge, which, clock)
    local side, l, scheme = edge.side, state.layout, edge.side.scheme
    local values = state.domain.host:values(state)
    local along, across = strides(side, l)
    local x = side.axis == 'x'
    values.state, values.clock, values.plane = state[which], clock, l.plane
    values.along, values.across = along, across
    values.cells = x and l.nx or l.ny
    values.high = side.high and 1 or 0
    values.normal = scheme.normal[side.axis][1]
    values.staggered, values.total = scheme.staggered and 1 or 0, side.total and 1 or 0
    values.known, values.ramp = side:known(), side.ramp
    values.outer, values.outer_times = edge.records.buffer, edge.records.moments
    values.columns, values.constituents = side:columns(), #side.tide
    values.speeds, values.harmonics, values.fade = edge.speeds, edge.harmonics, edge.fade
    return values
end

-- Returns the kernel of a file of that name, loaded when a part first asks for it.
local function kernel_of(state, file, name)
    local loaded, host = state.domain.kernels, state.domain.host
    local defines = file:find '/side%.krn$' and host:defines() or host:beside_defines()
    defines.MARE_REAL, defines.W, defines.GROUP = state.precision, 1, 1
    loaded[name] = loaded[name]
        or state.device:program(source.program(file, { defines = defines })):kernel(name)
    return loaded[name]
end

local function bind_ghosts(edge, state, which, fraction)
    local values, l = common(state, edge, which, state.clock), state.layout
    local x, halo = edge.side.axis == 'x', l.halo
    values.origin = x and l:offset(0, 0, -halo) or l:offset(0, -halo, 0)
    values.lines, values.fraction = (x and l.ny or l.nx) + 2 * halo, fraction
    return bind(kernel_of(state, 'physics/ocean/open.krn', 'open_side'), values,
        { global = { values.lines } })
end

-- One of the kernels of side.krn, from buffer `which` to the other, over the lines of the side and
-- so many more on either end; instead: arguments that differ.
local function bind_side(name, edge, state, which, more, instead)
    local values, l, axis = common(state, edge, which, state.clock), state.layout, edge.side.axis
    values.nx, values.ny, values.stride = l.nx, l.ny, l.stride
    values.dst = state[which == 'other' and 'now' or 'other']
    values.third = state.third or values.dst
    values.filter, values.axis = edge.side.scheme.filter_weight or 0, axis == 'x' and 0 or 1
    values.open_sides = edges.open_bits(state)
    for key, value in pairs(instead or {}) do values[key] = value end
    return bind(kernel_of(state, 'physics/ocean/side.krn', name), values,
        { global = { (axis == 'x' and l.ny or l.nx) + 2 * more } })
end

-- For output there is only the present level: of the one before, which a step wants, the ghost
-- cells that copy other parts may not be filled.
local function fill_ghosts(edge, state, which, fraction, is_shown)
    if edge.side.scheme.staggered then
        return bind_side('side_ghosts', edge, state, which, state.layout.halo,
            is_shown and { dst = state[which], third = state[which] })
    end
    return bind_ghosts(edge, state, which, fraction)
end

local function open_edges(state)
    local list = {}
    for _, edge in ipairs(state.domain and state.domain.edges or {}) do
        if edge.at_edge then list[#list + 1] = edge end
    end
    return list
end

-- Does the same for the faces around cells whose elevation is given, where water carries momentum.
local function bind_cells(name, state, which)
    local share, l = state.domain.cells, state.layout
    local values = state.domain.host:values(state)
    values.state, values.clock, values.plane = state[which], state.clock, l.plane
    values.nx, values.ny, values.stride = l.nx, l.ny, l.stride
    values.dst, values.third = state[which == 'other' and 'now' or 'other'], state.third
    values.filter, values.count = state.domain.host.scheme.filter_weight, share.around
    values.faces, values.found = share.faces, share.found
    return bind(kernel_of(state, 'physics/ocean/side.krn', name), values,
        { global = { share.around } })
end

local function has_faces(state)
    return state.domain and state.domain.cells and state.domain.cells.around > 0
end

-- Launches that fill the ghost cells of a part's buffer `which` beyond open sides with what is
-- there at the step's time + fraction * dt, and set cells whose elevation is given. Where ghost
-- cells are wanted for output only, nothing else may change: is_shown = true.
function edges.ghosts(state, which, fraction, is_shown)
    local launches = is_shown and {} or cells.launches(state, which, fraction)
    local open = open_edges(state)
    for _, edge in ipairs(open) do
        if edge.side.scheme.nonlinear and which == 'third' then
            launches[#launches + 1] = bind_side('side_back', edge, state, which, 1)
        end
    end
    for _, edge in ipairs(open) do
        launches[#launches + 1] = fill_ghosts(edge, state, which, fraction, is_shown)
    end
    for _, edge in ipairs(open) do
        if edge.side.scheme.staggered and not is_shown and which ~= 'third' then
            launches[#launches + 1] = bind_side('side_flow', edge, state, which, 1)
        end
    end
    if has_faces(state) and not is_shown and which ~= 'third' then
        launches[#launches + 1] = bind_cells('cell_flow', state, which)
    end
    return launches
end

local function bind_sponge(edge, state, which)
    local values, l = common(state, edge, which, state.clock), state.layout
    local x, high = edge.side.axis == 'x', edge.side.high
    values.origin, values.by_line = l:offset(0, 0, 0), x and 1 or 0
    values.lines = x and l.ny or l.nx
    values.outer_lines = values.lines + 2 * l.halo
    values.first, values.depths = edge.first, edge.depths
    values.direction = high and -1 or 1
    values.base = high and values.cells - 1 + edge.first or -edge.first
    return bind(kernel_of(state, 'physics/ocean/sponge.krn', 'sponge'), values,
        { global = { values.lines, edge.depths } })
end

-- Launches that, after a step into a part's buffer `which`, finish open sides, let rivers flow,
-- relax it in sponges and set such cells.
function edges.after(state, which)
    local launches = {}
    for _, edge in ipairs(open_edges(state)) do
        local from = which == 'now' and 'other' or 'now'
        if edge.side.scheme.nonlinear and not edge.side.high then
            launches[#launches + 1] = bind_side('side_store', edge, state, from, 0)
        end
    end
    if has_faces(state) then
        launches[#launches + 1] = bind_cells('cell_store', state,
            which == 'now' and 'other' or 'now')
    end
    for _, list in ipairs { rivers.launches(state, which),
        cells.launches(state, which, 1, true) } do
        for _, launch in ipairs(list) do launches[#launches + 1] = launch end
    end
    for _, edge in ipairs(state.domain and state.domain.edges or {}) do
        if edge.depths > 0 then launches[#launches + 1] = bind_sponge(edge, state, which) end
    end
    return launches
end

return edges
