-- Cells of an ocean whose elevation is that of a tide: an open boundary that need not follow a side
-- of the grid. Beyond them there is land; where the bed has land in such a cell itself, its depth
-- is the mean of the water beside it (bed.lua). On C-grids such a cell has no velocity of its own;
-- with transports at centres it takes that of the water beside it in each stage of a step, and is
-- shown at rest.

local bind = require 'mare.array.bind'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local here = require 'mare.ranks.here'
local source = require 'mare.base.source'
local tide = require 'mare.forcing.tide'

local cells = {}

local fields = { cells = 'table', constituents = 'table', ramp = 'number' }

-- Checks cells { { i, j }, ... } from 0: each is in the grid and there once.
local function check_cells(list, grid)
    local seen = {}
    for k, cell in ipairs(list) do
        local i, j = unpack(type(cell) == 'table' and cell or {})
        if not (type(i) == 'number' and type(j) == 'number' and i % 1 == 0 and j % 1 == 0
            and i >= 0 and i < grid.nx and j >= 0 and j < grid.ny) then
            errors.argument('ocean: tide: cell %d is (%s, %s), must be in 0 to %d, 0 to %d', k,
                tostring(i), tostring(j), grid.nx - 1, grid.ny - 1)
        end
        local at = j * grid.nx + i
        if seen[at] then errors.argument('ocean: tide: cell (%d, %d) is there twice', i, j) end
        seen[at] = true
    end
end

-- Raises an error where a wave has no height.
local function check_waves(waves, list, g)
    for _, wave in ipairs(waves) do
        for k, cell in ipairs(list) do
            local c, s = wave.elevation(k - 1, g:x_centre(cell[1]), g:y_centre(cell[2]))
            if (c + s) - (c + s) ~= 0 then
                errors.argument('ocean: tide: the elevation of cell %d is %g', k, c)
            end
        end
    end
end

-- Returns the current (m/s) that the fall between two cells, a distance (m) apart, drives within a
-- period of each wave, and the fall (m) at most.
local function current_between(self, k, other, distance)
    local current, sum = 0, 0
    local function at(wave, n)
        local cell = self.list[n]
        return wave.elevation(n - 1, self.grid:x_centre(cell[1]), self.grid:y_centre(cell[2]))
    end
    for _, wave in ipairs(self.waves) do
        local c, s = at(wave, k)
        local c2, s2 = at(wave, other)
        local fall = math.sqrt((c2 - c) ^ 2 + (s2 - s) ^ 2)
        current, sum = current + self.g * fall / (distance * math.max(1e-6, wave.speed)), sum + fall
    end
    return current, sum
end

local fastest, told = 10, {}        -- m/s; what has been said in this process

-- Warns of neighbours between which no tide of the earth is so steep.
local function check_neighbours(self)
    local g, number, worst = self.grid, {}, { fastest }
    for k, cell in ipairs(self.list) do number[cell[2] * g.nx + cell[1]] = k end
    for k, cell in ipairs(self.list) do
        local at, dx, dy = cell[2] * g.nx + cell[1], g:cell_size(g:y_centre(cell[2]))
        for _, other in pairs { cell[1] + 1 < g.nx and number[at + 1] or nil, number[at + g.nx] } do
            local is_east = other == number[at + 1]
            local current, fall = current_between(self, k, other, is_east and dx or dy)
            if current > worst[1] then worst = { current, fall, cell, self.list[other] } end
        end
    end
    if not worst[2] then return end
    local text = ('ocean: tide: cells (%d, %d) and (%d, %d) differ by %.3g m, which drives '
        .. 'currents of %.3g m/s'):format(worst[3][1], worst[3][2], worst[4][1], worst[4][2],
        worst[2], worst[1])
    if here.rank == 0 and not told[text] then events.warn('%s', text) end
    told[text] = true
end

-- Returns the host half: { list, waves, ramp, grid }; nil where nothing is given. given: { cells =
-- { { i, j }, ... }, constituents = see tide.lua, whose arrays have one number a cell, ramp =
-- seconds until they have grown to their full height }
function cells.new(given, grid, scheme)
    if not given then return nil end
    errors.fields('ocean: tide', given, fields)
    if not given.cells or not given.constituents then
        errors.argument 'ocean: tide: cells and constituents are wanted'
    end
    check_cells(given.cells, grid)
    local self = { list = given.cells, constituents = given.constituents, ramp = given.ramp or 0,
        grid = grid, nonlinear = scheme.nonlinear, centred = not scheme.staggered, g = scheme.g,
        waves = tide.new('tide', given.constituents, #given.cells) }
    check_waves(self.waves, self.list, grid)
    check_neighbours(self)
    return self
end

-- Returns what is given at these cells, in words.
function cells.text(host)
    local names = {}
    for k, given in ipairs(host.constituents) do
        if given.amplitude ~= 0 then names[#names + 1] = given.name or tostring(k) end
    end
    return string.format('elevation of %s in %d cells',
        names[1] and table.concat(names, ', ') or 'still water', #host.list)
end

-- Finds the water nearest to a side in a row or column; nil where all is land.
local function nearest_water(bed, side, line)
    local g, is_x = bed.grid, side == 'west' or side == 'east'
    local last = (is_x and g.nx or g.ny) - 1
    for n = 0, last do
        local k = (side == 'west' or side == 'south') and n or last - n
        local i, j = is_x and k or line, is_x and line or k
        if not bed:is_land(i, j) then return i, j end
    end
end

-- Returns what a side of the grid is with such cells, in words. kind: what it is elsewhere
function cells.side_text(host, bed, side, kind)
    local g, is_open, open, lines = host.grid, {}, 0, 0
    for _, cell in ipairs(host.list) do is_open[cell[2] * g.nx + cell[1]] = true end
    for line = 0, (side == 'west' or side == 'east') and g.ny - 1 or g.nx - 1 do
        local i, j = nearest_water(bed, side, line)
        if i then lines = lines + 1 end
        if i and is_open[j * g.nx + i] then open = open + 1 end
    end
    if open == 0 then return kind end
    return string.format('open where the elevation is given, in %d of %d lines of cells; else %s',
        open, lines, kind)
end

-- Returns those that a part sees: their elements, and their number in the list. First those of its
-- own, how many of them, then ghost cells.
local function seen_by(host, state)
    local part, l, elements, numbers, own = state.part, state.layout, {}, {}, nil
    for _, reach in ipairs { 0, l.halo } do
        for k, cell in ipairs(host.list) do
            local i, j = cell[1] - part.i0, cell[2] - part.j0
            local is_own = i >= 0 and i < l.nx and j >= 0 and j < l.ny
            if is_own == (reach == 0) and i >= -reach and i < l.nx + reach and j >= -reach
                and j < l.ny + reach then
                elements[#elements + 1], numbers[#numbers + 1] = l:offset(0, i, j), k
            end
        end
        own = own or #elements
    end
    return elements, numbers, own
end

-- Returns the faces of a part around these cells that are open: i, j and axis of each, and the sign
-- that inflow has there.
local function faces_of(host, state, bed)
    local list, seen, part, given = {}, {}, state.part, {}
    for _, cell in ipairs(host.list) do given[cell[2] * host.grid.nx + cell[1]] = true end
    local function is_given(i, j) return given[j * host.grid.nx + i] and 1 or 0 end
    local function add(i, j, axis)
        local a, b = i - (axis == 0 and 1 or 0), j - axis
        local at = 3 * (j * host.grid.nx + i) + axis
        local x, y = i - part.i0, j - part.j0
        local is_own = x >= 0 and x < part.nx and y >= 0 and y < part.ny
        if seen[at] or not is_own or bed:is_land(i, j) or bed:is_land(a, b) then return end
        seen[at] = true
        local n = #list
        list[n + 1], list[n + 2], list[n + 3] = x, y, axis
        list[n + 4] = is_given(a, b) - is_given(i, j)
    end
    for _, cell in ipairs(host.list) do
        local i, j = cell[1], cell[2]
        add(i, j, 0)
        add(i + 1, j, 0)
        add(i, j, 1)
        add(i, j + 1, 1)
    end
    return list
end

-- Steps to the cells beside one and, if none of those is water that is not given, around its
-- corners.
local beside = { { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } },
    { { -1, -1 }, { 1, -1 }, { -1, 1 }, { 1, 1 } } }
local most_donors = 4

-- Returns the steps from cell (i, j) to the water beside it whose elevation is not given.
local function steps_to_water(host, bed, is_given, i, j)
    local g, steps = host.grid, {}
    for _, ring in ipairs(beside) do
        for _, step in ipairs(ring) do
            local a, b = i + step[1], j + step[2]
            local inside = a >= 0 and a < g.nx and b >= 0 and b < g.ny
            if inside and not is_given[b * g.nx + a] and not bed:is_land(a, b) then
                steps[#steps + 1] = step
            end
        end
        if #steps > 0 then break end
    end
    return steps
end

-- Returns the element of cell (i, j) of the grid in a part that must see it.
local function element_of(state, i, j)
    local part, l = state.part, state.layout
    local a, b = i - part.i0, j - part.j0
    if a < -l.halo or a >= l.nx + l.halo or b < -l.halo or b >= l.ny + l.halo then
        errors.argument('ocean: tide: the flow in a cell beside (%d, %d) comes from beyond what '
            .. 'part %d sees: divide the grid elsewhere (decompose)', i, j, part.index)
    end
    return l:offset(0, a, b)
end

-- Returns where cells that a part sees take their velocity: most_donors elements each, -1 for none,
-- and the direction from the cell to them, in x for all cells and then in y.
local function donors_of(host, state, bed, numbers)
    local is_given, donors, towards, count = {}, {}, {}, #numbers
    for _, cell in ipairs(host.list) do is_given[cell[2] * host.grid.nx + cell[1]] = true end
    for n, k in ipairs(numbers) do
        local i, j, x, y = host.list[k][1], host.list[k][2], 0, 0
        local steps = steps_to_water(host, bed, is_given, i, j)
        for d = 1, most_donors do
            local step = steps[d]
            donors[most_donors * (n - 1) + d] =
                step and element_of(state, i + step[1], j + step[2]) or -1
            if step then x, y = x + step[1], y + step[2] end
        end
        local length = math.max(1e-9, math.sqrt(x * x + y * y))
        towards[n], towards[n + count] = x / length, y / length
    end
    return donors, towards
end

local function buffer(state, type, list)
    local b = state.device:buffer { type = type, count = #list, label = 'tide' }
    b:upload(list)
    return b
end

-- Returns what a part knows of such cells, nil if it sees none.
function cells.prepare(host, state, bed)
    if not host then return nil end
    local elements, numbers, own = seen_by(host, state)
    if #elements == 0 or #host.waves == 0 then return nil end
    local speeds, harmonics, g = {}, {}, host.grid
    for w, wave in ipairs(host.waves) do
        speeds[w] = wave.speed
        for n, k in ipairs(numbers) do
            local cell, at = host.list[k], 4 * (w - 1) * #numbers + n
            harmonics[at], harmonics[at + #numbers] =
                wave.elevation(k - 1, g:x_centre(cell[1]), g:y_centre(cell[2]))
            harmonics[at + 2 * #numbers], harmonics[at + 3 * #numbers] = 0, 0
        end
    end
    local gained = state.device:buffer { type = 'double', count = math.max(1, 3 * own),
        label = 'account of the tide' }
    gained:fill(0)
    local faces = host.nonlinear and faces_of(host, state, bed) or {}
    local donors, towards = { -1 }, { 0 }
    if host.centred then donors, towards = donors_of(host, state, bed, numbers) end
    return {
        donors = buffer(state, 'int64', donors), towards = buffer(state, state.precision, towards),
        around = #faces / 4, faces = buffer(state, 'int32', #faces > 0 and faces or { 0 }),
        found = state.device:buffer { type = state.precision, count = math.max(1, #faces),
            label = 'flow around cells of the tide' },
        own = own, numbers = numbers, gained = gained,
        count = #elements, constituents = #speeds, ramp = host.ramp,
        elements = buffer(state, 'int64', elements), speeds = buffer(state, 'double', speeds),
        harmonics = buffer(state, state.precision, harmonics),
    }
end

function cells.release(share)
    for _, name in ipairs { 'elements', 'speeds', 'harmonics', 'gained', 'faces', 'found',
        'donors', 'towards' } do
        share[name]:release()
    end
end

-- Launches that set them in buffer `which` of a part, at the step's time + fraction * dt; is_still:
-- after a step, when no ghost cell tells what flows beside them.
function cells.launches(state, which, fraction, is_still)
    local share = state.domain and state.domain.cells
    if not share then return {} end
    local defines, host = state.domain.host:beside_defines(), state.domain.host.cells
    defines.MARE_REAL = state.precision
    local name = host.centred and 'prescribe_water' or 'prescribe'
    local kernel = state.device:program(source.program('physics/ocean/prescribe.krn', {
        defines = defines })):kernel(name)
    return { bind(kernel, {
        state = state[which], bed = state.domain.bed, clock = state.clock, fraction = fraction,
        count = share.count, elements = share.elements, ramp = share.ramp, speeds = share.speeds,
        harmonics = share.harmonics, constituents = share.constituents, own = share.own,
        gained = share.gained, plane = state.layout.plane, donors = share.donors,
        towards = share.towards, is_still = is_still and 1 or 0, g = host.g,
    }, { global = share.count }) }
end

return cells
