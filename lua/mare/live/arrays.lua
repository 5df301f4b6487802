-- Gives the fields of a simulation as arrays: sim:array 'rho' is the memory of the device where the
-- state lies, with the shape { ny, nx }. What is pending on it is computed before the next step,
-- and after steps the array shows the new state.

require 'mare.ndarray'
local array = require 'mare.ndarray.array'
local assign = require 'mare.ndarray.assign'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local field = require 'mare.live.field'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'
local variables = require 'mare.base.variables'

local arrays = {}

local function is_unknown(simulation, name)
    for _, known in ipairs(simulation.fields.names) do
        if known == name then return true end
    end
    return false
end

-- Returns what simulation.fields:native() says of the only part, and the version that
-- is its buffer.
local function shown(live, what)
    local fields = live.simulation.fields
    local native = fields:native()
    if not fields:is_whole() then
        errors.argument('%s: the grid is in %d pieces: an array shows one device', what,
            fields:count_parts())
    end
    local own, old = native[1], rawget(live, 'shown')
    if old and old.buffer == own.buffer then return own, old end
    local version = memory.of_buffer(own.buffer, types.named(own.type, what))
    version.refs, version.buffer = 1, own.buffer
    rawset(live, 'shown', version)
    if old then
        memory.move(old, version)
        memory.release(old)
    end
    return own, version
end

-- Returns an unknown as an array that shows the device's memory.
local function of_unknown(live, name, what)
    local own, version = shown(live, what)
    local plane = live.simulation.fields:index(name)
    return array.of(nodes.leaf(version, version.type, shapes.of({ own.ny, own.nx }, 2),
        own.offset + plane * own.plane, { own.stride, 1 }))
end

-- Returns a variable as an array of the shape { ny, nx }: an unknown is the one on the
-- device, all others, and those of a grid in several pieces, are copies of now.
function arrays.of(live, name)
    local simulation = live.simulation
    variables.find(simulation.scheme, name, 'array: ')
    local is_one = simulation.fields:is_whole()
    if is_one and is_unknown(simulation, name) then return of_unknown(live, name, 'array') end
    local values = field.of_simulation(simulation, name)
    return creation.new(values.data, { device = simulation.devices[1] })
        :reshape(values.ny, values.nx)
end

-- Computes what is pending on the state: steps will change it.
function arrays.settle(live)
    assign.settle(live.shown)
end

-- Lets arrays show the state where it lies now.
function arrays.renew(live)
    if not rawget(live, 'is_released') then shown(live, 'array') end
end

-- ---- setting ----

-- Returns the variables that `initial` gives, as arrays by name and in their order.
local function given(live, names)
    local simulation, q, list = live.simulation, {}, {}
    local scheme = simulation.scheme
    for _, name in ipairs(simulation.fields.names) do q[name] = of_unknown(live, name, 'set') end
    for k, name in ipairs(names) do
        list[k] = q[name] or variables.find(scheme, name, 'set: ').value(q, scheme)
    end
    return list
end

-- Writes the unknowns, given in their order. An invalid state is refused, and the one
-- before comes back.
local function write(live, state)
    local targets, old = {}, {}
    for k, name in ipairs(live.simulation.fields.names) do
        targets[k] = of_unknown(live, name, 'set')
        old[k] = targets[k]:copy():eval()
        state[k]:eval()
    end
    for k, target in ipairs(targets) do target:assign(state[k]) end
    local ok, failure = pcall(live.simulation.changed, live.simulation)
    if ok then return end
    for k, target in ipairs(targets) do target:assign(old[k]) end
    live.simulation:changed()
    error(failure, 0)
end

-- Returns a value that a script gives as an array of the shape of the grid.
local function wanted(live, value)
    local simulation = live.simulation
    local ny, nx = simulation.grid.ny, simulation.grid.nx
    if type(value) == 'table' then
        value = creation.new(value, { device = simulation.devices[1] })
    end
    if array.is(value) then
        if not shapes.fits(array.node(value).shape, shapes.given('set', ny, nx)) then
            errors.argument('set: %s cannot be repeated to the grid, { %d, %d } ({ ny, nx })',
                tostring(value.shape), ny, nx)
        end
        return value:expand(ny, nx)
    end
    if type(value) ~= 'number' then
        errors.argument('set: an array, a field or a number is wanted, not %s', type(value))
    end
    return creation.full({ ny, nx }, value, { type = simulation.precision,
        device = simulation.devices[1] })
end

-- Sets a variable of `initial`, the others staying as they are, to an array, repeated
-- to the grid, a field of one time, or a number.
function arrays.set(live, name, value)
    local scheme, place = live.simulation.scheme, nil
    local names = scheme.initial_names and scheme:initial_names()
    if not names then
        errors.argument('set: %s does not say what initial gives', scheme.name)
    end
    for k, known in ipairs(names) do if known == name then place = k end end
    if not place then
        errors.argument("set: '%s' is not what initial gives (allowed: %s)", tostring(name),
            table.concat(names, ', '))
    end
    local list = given(live, names)
    list[place] = wanted(live, value)
    write(live, { scheme:conserved(unpack(list)) })
end

return arrays
