-- Makes arrays of nothing, of Lua's tables and of memory. All functions have the options type
-- ('float' if not given) and device (that of MARE_DEVICE, else 'auto'); those of nothing also
-- rows = { low, high }: the rows low to high - 1 of that array alone.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local errors = require 'bindings.errors'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local tables = require 'bindings.tables'
local types = require 'mare.expression.types'

local creation = {}

local allowed = { type = 'string', device = 'any', rows = 'table' }

-- Returns options, which must be a table, or none. A slip of a user of NumPy is told by its name.
local function table_of(what, given)
    if type(given) == 'string' then
        errors.argument("%s: '%s' stands where options are wanted: a type is one, { type = '%s' }",
            what, given, given)
    end
    return errors.wanted(what .. ': options', 'table', given or {})
end

-- Raises an error if a second size stands where options are wanted.
function creation.check_options(what, given)
    if type(given) == 'number' then
        errors.argument('%s: %s stands where options are wanted: several sizes are one table, '
            .. '{ 2, 3 }', what, tostring(given))
    end
end

-- Returns the type and the device that options name.
local function settings(what, given, default)
    given = errors.fields(what, table_of(what, given), allowed)
    return types.named(given.type or default or 'float', what), array.device(given.device, what)
end

creation.settings = settings

-- Returns the shape of the rows that are wanted of an array of a shape, all if none are given, and
-- the number of their first element.
function creation.rows(what, shape, rows)
    if not rows then return shape, 0 end
    local low, high = rows[1], rows[2]
    local is_good = shape.rank > 0 and type(low) == 'number' and type(high) == 'number'
        and low % 1 == 0 and high % 1 == 0 and 0 <= low and low <= high and high <= shape[1]
    if not is_good then
        errors.argument('%s: rows { %s, %s }: two whole numbers are wanted, of the rows of %s',
            what, tostring(low), tostring(high), tostring(shape))
    end
    local sizes = { unpack(shape) }
    sizes[1] = high - low
    local part = shapes.of(sizes, #sizes)
    return part, shape.count > 0 and low * (shape.count / shape[1]) or 0
end

local seeds = 0

-- Returns a seed for random numbers that are given none: each time another one.
function creation.new_seed()
    seeds = seeds + 1
    return seeds - 1
end

-- Returns the numbers of elements, from `first` on.
function creation.numbers(on, type, shape, first)
    if first == 0 then return array.of(nodes.numbers(on, type, shape)) end
    return (array.of(nodes.numbers(on, types.int64, shape)) + first):to(type.name)
end

-- ---- of nothing ----

local function filled(what, sizes, value, given)
    creation.check_options(what, given)
    local type, on = settings(what, given)
    local shape = creation.rows(what, shapes.given(what, sizes), given and given.rows)
    return array.of(array.filled(on, type, shape, value, what))
end

-- Returns an array of zeros: mare.zeros({ 3, 4 }, { type = 'double' }).
function creation.zeros(sizes, options) return filled('zeros', sizes, 0, options) end

-- Returns an array of ones: mare.ones { 4 }.
function creation.ones(sizes, options) return filled('ones', sizes, 1, options) end

-- Returns an array of one number: mare.full({ 3, 4 }, 0.5).
function creation.full(sizes, value, options)
    if type(value) == 'boolean' then
        return filled('full', sizes, value and 1 or 0,
            tables.merged({ type = 'bool' }, table_of('full', options)))
    end
    return filled('full', sizes, errors.wanted('full: value', 'number', value), options)
end

-- Returns first, first + step, ... up to but not with `stop`, as int32 if all three
-- are whole, else as float: mare.arange(4) is 0 1 2 3, mare.arange(1, 2, 0.25) has
-- four elements. arange(stop), arange(first, stop), arange(first, stop, step)
function creation.arange(first, stop, step, options)
    if type(stop) == 'table' or stop == nil and step == nil then
        first, stop, step, options = 0, first, 1, stop or options
    elseif type(step) == 'table' then
        step, options = 1, step
    end
    step = step or 1
    errors.wanted('arange: first', 'number', first)
    errors.wanted('arange: stop', 'number', stop)
    errors.wanted('arange: step', 'number', step)
    local steps = (stop - first) / step
    if steps - steps ~= 0 then
        errors.argument('arange: from %g to %g by %g: finite numbers and a step that is not 0 are '
            .. 'wanted', first, stop, step)
    end
    local is_whole = first % 1 == 0 and stop % 1 == 0 and step % 1 == 0
    local type, on = settings('arange', options, is_whole and 'int32' or 'float')
    types.check(type, first, 'arange')
    types.check(type, stop, 'arange')
    local line = shapes.line(math.max(0, math.ceil(steps)))
    local numbers = creation.numbers(on, type, creation.rows('arange', line,
        options and options.rows))
    if step ~= 1 then numbers = numbers * step end
    if first ~= 0 then numbers = numbers + first end
    return numbers
end

-- Returns `count` numbers at equal distances from first to last, both included (50):
-- mare.linspace(0, 1, 5) is 0 0.25 0.5 0.75 1.
function creation.linspace(first, last, count, options)
    count = count or 50
    errors.wanted('linspace: first', 'number', first)
    errors.wanted('linspace: last', 'number', last)
    local type, on = settings('linspace', options)
    local shape = shapes.given('linspace', { count })
    local numbers = creation.numbers(on, type, creation.rows('linspace', shape,
        options and options.rows))
    if count < 2 then return numbers * 0 + first end
    local half = math.floor(count / 2)
    -- From both ends, so that the last is as exact as the first.
    local step = (last - first) / (count - 1)
    return array.where(numbers:lt(half), numbers * step + first,
        last - (count - 1 - numbers) * step)
end

-- Returns a matrix with ones on its diagonal: mare.eye(3), mare.eye(3, 4).
function creation.eye(rows, columns, options)
    if type(columns) == 'table' then columns, options = nil, columns end
    errors.wanted('eye: rows', 'number', rows)
    columns = columns or rows
    local type, on = settings('eye', options)
    local shape = shapes.given('eye', { rows, columns })
    local int32 = types.int32
    local row = creation.numbers(on, int32, creation.rows('eye', shapes.line(shape[1]),
        options and options.rows)):unsqueeze(1)
    local column = array.of(nodes.numbers(on, int32, shapes.line(shape[2])))
    return row:eq(column):to(type.name)
end

-- ---- of data ----

-- Returns an array of `shape.count` numbers of the host.
function creation.uploaded(on, type, data, shape)
    local version = memory.new(on, type, shape.count)
    bound.upload(version.cell, type.name, data, shape.count)
    return array.of_version(version, shape)
end

-- Returns the shape of a nested table, from its first elements.
local function shape_of(list)
    local sizes = {}
    while type(list) == 'table' do
        sizes[#sizes + 1] = #list
        list = list[1]
    end
    return shapes.of(sizes, #sizes), list
end

-- Adds the numbers of a nested table to `flat`.
local function flatten(list, shape, depth, flat)
    if type(list) ~= 'table' or #list ~= shape[depth] then
        errors.argument('array: the table is no box: its first elements make the shape %s, but '
            .. 'it holds %s along axis %d', tostring(shape),
            type(list) == 'table' and #list .. ' elements' or type(list), depth - 1)
    end
    for k = 1, math.max(#list, table.maxn(list)) do
        local value = list[k]
        if value == nil then
            errors.argument('array: the table has no element %d along axis %d', k, depth - 1)
        elseif depth < shape.rank then
            flatten(value, shape, depth + 1, flat)
        elseif type(value) == 'table' then
            errors.argument('array: the table is deeper than its first elements: shape %s',
                tostring(shape))
        else
            flat[#flat + 1] = value
        end
    end
end

local function of_table(list, given)
    local shape, first = shape_of(list)
    local type, on = settings('array', given, type(first) == 'boolean' and 'bool' or 'float')
    local flat = {}
    flatten(list, shape, 1, flat)
    return creation.uploaded(on, type, bound.from_table('array', flat, type.name), shape)
end

local function of_buffer(buffer, given)
    local type, on = types.named(buffer.type, 'array'), buffer.device
    if given and (given.type or given.device) then
        errors.argument("array: a buffer has its type and device: '%s' is %s on %s",
            buffer.label, type.name, on.name)
    end
    return array.of_version(memory.of_buffer(buffer, type), shapes.line(buffer.count))
end

-- Returns an array of a nested table of numbers or truth values, of C data, host
-- memory, a host array or a field of a simulation, or of a buffer:
--     mare.array { { 1, 2 }, { 3, 4 } }         mare.array(buffer):reshape(3, 4)
-- Numbers of a table become floats, unless a type is given; all other data keep their type. The
-- memory of a buffer is shared, all else is copied.
function creation.new(data, options)
    local kind = type(data)
    table_of('array', options)
    if array.is(data) then return options and data:to(options.type) or data:copy() end
    if bound.is_buffer(data) then return of_buffer(data, options) end
    if kind == 'number' or kind == 'boolean' then
        return creation.full({}, data, options)
    elseif kind == 'table' and rawget(data, 'ny') then
        return creation.new(data.data, options):reshape(data.ny, data.nx)
    elseif kind == 'table' and not bound.is_host(data) then
        return of_table(data, options)
    end
    local name, count, numbers = bound.elements(data, 'array')
    local from, wanted = types.named(name, 'array'), options and options.type
    local _, on = settings('array', options, name)
    local made = creation.uploaded(on, from, numbers, shapes.line(count))
    return wanted and made:to(wanted) or made
end

return creation
