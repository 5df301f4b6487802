-- Variables of a volume by their names, on the host: the unknowns, the primitive variables of the
-- equation, whose vectors have components u_x, u_y and u_z, and those that it lists with a function
-- of one cell.

local errors = require 'bindings.errors'
local lua_code = require 'mare.schemes.lua_code'
local memory = require 'bindings.memory'
local tables = require 'bindings.tables'

local variables = {}

-- Returns { name, long_name, units, plane = of an unknown, result = of scheme.functions.primitive,
-- value = function }, by name and in order.
function variables.of(scheme)
    local list = {}
    local function add(v)
        if not list[v.name] then list[#list + 1], list[v.name] = v, v end
    end
    local planes = {}
    for k, name in ipairs(scheme.fields) do planes[name] = k - 1 end
    for _, v in ipairs(scheme.variables) do
        add { name = v.name, long_name = v.long_name, units = v.units, plane = planes[v.name],
            value = v.value }
    end
    local has_own = scheme.functions and scheme.functions.primitive
    for k, field in ipairs(has_own and lua_code.fields_of(scheme.equation.given) or {}) do
        add { name = field.name, result = k }
    end
    return list
end

-- Returns what is known of a variable. who: the beginning of messages, if not 'volume: '
function variables.find(scheme, name, who)
    local list = variables.of(scheme)
    return list[name] or errors.argument("%sno variable '%s' (there are: %s)",
        who or 'volume: ', tostring(name), table.concat(tables.column(list, 'name'), ', '))
end

-- Returns a function that computes a variable of the unknowns of a cell.
local function evaluator(scheme, v)
    local p = lua_code.parameter_values(scheme.equation.parameters, scheme.numbers)
    if v.result then
        return function(...)
            local q = lua_code.values_of(scheme.equation.unknowns, ...)
            return (select(v.result, scheme.functions.primitive(q, p)))
        end
    end
    local numbers = tables.merged(scheme.numbers, p)
    return function(...)
        local q = {}
        for k, name in ipairs(scheme.fields) do q[name] = (select(k, ...)) end
        return v.value(q, numbers)
    end
end

-- Returns a variable of a box of cells, as Slabs:read does. Waits.
function variables.read(sim, name, box, only_first)
    local scheme, fields = sim.scheme, sim.fields
    local v = variables.find(scheme, name)
    if v.plane then return fields:read(v.plane, box, only_first) end
    local value, planes, count = evaluator(scheme, v), {}, box.nx * box.ny * box.nz
    for k = 1, #scheme.fields do planes[k] = fields:read(k - 1, box, only_first) end
    if not planes[1] then return nil end
    local data, cell = memory.array(sim.precision, count), {}
    for at = 0, count - 1 do
        for k = 1, #planes do cell[k] = planes[k][at] end
        data[at] = value(unpack(cell))
    end
    return data
end

-- Says where and how the state is none, or nil.
function variables.invalid(sim)
    local g, planes, cell = sim.grid, {}, {}
    local box = { i = 0, j = 0, k = 0, nx = g.nx, ny = g.ny, nz = g.nz }
    for k = 1, #sim.scheme.fields do planes[k] = sim.fields:read(k - 1, box) end
    for at = 0, g.cells - 1 do
        for k = 1, #planes do cell[k] = planes[k][at] end
        local what = sim.scheme:invalid(unpack(cell))
        if what then
            local i, j = at % g.nx, math.floor(at / g.nx) % g.ny
            local k = math.floor(at / (g.nx * g.ny))
            return ('%s in cell (%d, %d, %d) at x = %g, y = %g, z = %g'):format(what, i, j, k,
                g:centre('x', i), g:centre('y', j), g:centre('z', k))
        end
    end
end

return variables
