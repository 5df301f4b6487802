-- The sides of a volume: what may lie beyond them, and ghost cells beyond those whose state a
-- function of the script gives, on the device, before each step:
--
--     boundaries = { west = function(q, x, y, z, t, p) return 1, q.u.x, 0, 0, q.p end, ... }
--
-- It returns what a script's `initial` returns. q is the cell next to the side inside, by the names
-- of that, x, y, z the middle of the ghost cell, p has the parameters. Sides along y see the ghost
-- cells of those along x, and sides along z both.

local bind = require 'mare.array.bind'
local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local lua_code = require 'mare.schemes.lua_code'
local tables = require 'bindings.tables'

local sides = {}

sides.names = { 'west', 'east', 'south', 'north', 'low', 'high' }

local axis_of = { west = 'x', east = 'x', south = 'y', north = 'y', low = 'z', high = 'z' }
local is_high = { east = true, north = true, high = true }

local is_kind = { periodic = true, reflective = true, outflow = true }

-- ---- what a script gives ----

-- Refuses what is no function that can become a kernel. Returns it as exchange.boundaries does.
local function checked(scheme, side, f)
    errors.wanted('volume: boundary ' .. side, 'function', f)
    lua_code.cell(scheme.equation, 'boundary ' .. side, f, 'state')
    return { kind = 'function', state = f }
end

local function kind_of(scheme, side, kind)
    if type(kind) == 'function' then return checked(scheme, side, kind) end
    local name = exchange.kind_name(kind)
    if type(kind) == 'table' and name == 'function' then
        return checked(scheme, side, kind.state)
    elseif not is_kind[kind] then
        errors.argument("volume: boundary %s = %s (there are: %s, function(q, x, y, z, t, p))",
            side, tostring(name), tables.names(is_kind))
    end
    return kind
end

-- Returns the kind of each side, of functions { kind = 'function', state = f }. given: one for all,
-- a table of all six, or what this has returned
function sides.of(given, scheme)
    local kinds, is_each = {}, type(given) == 'table' and not given.kind
    for side in pairs(is_each and given or {}) do
        if not axis_of[side] then
            errors.argument('volume: boundary %s: there is no such side (there are: %s)',
                tostring(side), table.concat(sides.names, ', '))
        end
    end
    for k, side in ipairs(sides.names) do
        local kind = given
        if is_each then kind = given[side] end
        kind = kind_of(scheme, side, kind)
        kinds[side] = kind
        local other = k % 2 == 0 and kinds[sides.names[k - 1]]
        if other and (other == 'periodic') ~= (kind == 'periodic') then
            errors.argument('volume: boundary %s is periodic, the opposite side is not',
                other == 'periodic' and sides.names[k - 1] or side)
        end
    end
    return kinds
end

-- Returns for each axis how many ghost cells lie in memory on either side: those of functions.
function sides.ghosts(kinds)
    local ghosts = { x = 0, y = 0, z = 0 }
    for side, kind in pairs(kinds) do
        if type(kind) == 'table' then ghosts[axis_of[side]] = constants.REACH end
    end
    return ghosts
end

-- Returns whether any side is a function.
function sides.has_functions(kinds)
    local ghosts = sides.ghosts(kinds)
    return ghosts.x + ghosts.y + ghosts.z > 0
end

-- Returns the rule by which kernels find what lies beyond a side; where has_other, that is slices
-- of other slabs.
function sides.rule(kinds, side, has_other)
    if has_other or type(kinds[side]) == 'table' then return constants.KIND_KEEP end
    return boundary.of(kinds[side]).rule
end

-- ---- launches ----

-- Returns the functions, each once, and the number of each side's, by its name.
local function distinct(kinds)
    local list, number, of_side = {}, {}, {}
    for _, side in ipairs(sides.names) do
        local f = type(kinds[side]) == 'table' and kinds[side].state
        if f and not number[f] then
            list[#list + 1] = f
            number[f] = #list
        end
        of_side[side] = f and number[f]
    end
    return list, of_side
end

-- Returns the program of volume/beyond.krn.
function sides.program(scheme, functions, defines)
    return scheme.equation:program('volume/beyond.krn', { math = 'strict', defines = defines,
        before = lua_code.cells(scheme.equation, 'boundaries', functions, 'state') })
end

-- Returns the same for the sides of a volume, or nil where none is a function.
function sides.program_of(kinds, scheme, defines)
    local functions = distinct(kinds)
    return functions[1] and sides.program(scheme, functions, defines)
end

-- Returns how many cells a side has along the other axes, ghost cells included that are due before.
local function extent(desc, slab, axis, ghosts)
    local g = desc.grid
    if axis == 'x' then return { g.ny, slab.nz } end
    return { g.nx + 2 * ghosts.x, axis == 'y' and slab.nz or g.ny + 2 * ghosts.y }
end

-- Returns the launches that fill the ghost cells of a slab in a buffer, in order. values: of what
-- kernels take (kernels.lua); program: of sides.program_of
function sides.bind(desc, slab, state, values, program)
    local _, of_side = distinct(desc.boundaries)
    local ghosts, launches = sides.ghosts(desc.boundaries), {}
    values = tables.merged(values, { state = state, columns_beyond = ghosts.x,
        rows_beyond = ghosts.y })
    for _, side in ipairs(sides.names) do
        local is_elsewhere = side == 'low' and slab.k0 > 0
            or side == 'high' and slab.k0 + slab.nz < desc.grid.nz
        if of_side[side] and not is_elsewhere then
            values.axis = (axis_of[side]):byte() - ('x'):byte()
            values.is_high, values.which = is_high[side] and 1 or 0, of_side[side]
            launches[#launches + 1] = bind(program:kernel 'volume_beyond', values,
                { global = extent(desc, slab, axis_of[side], ghosts) })
        end
    end
    return launches
end

return sides
