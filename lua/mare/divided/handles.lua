-- Divided arrays: { group, shape, type, shares }, where each share { device, rows = { low, high },
-- array, index } lies on a device of this rank; operations on them, and how they are brought
-- together.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local functions = require 'mare.ndarray.functions'
local here = require 'mare.ranks.here'
local ndarray = require 'mare.ndarray'
local ranks = require 'mare.ranks'
local shapes = require 'mare.expression.shapes'
local suggest = require 'bindings.suggest'
local tables = require 'bindings.tables'
local types = require 'mare.expression.types'

local handles = {}
local Divided = {}
local meta = { no_argument = 'not for divided arrays: a:each(f) calls f for the array of each '
    .. 'device, :gather() makes one array' }

local function is(x) return type(x) == 'table' and getmetatable(x) == meta end

-- ---- rows ----

-- Where shares begin: at multiples of the elements of a block of a reduction, or of a run, where
-- there are many of them, so that no block lies in two shares.
local function step_of(rows, count)
    for _, step in ipairs { 16384, 64 } do
        if rows >= 8 * count * step then return step end
    end
    return 1
end

-- Returns the first row of share k of `count`; k = count: how many rows there are.
function handles.first_row(rows, count, k)
    local step = step_of(rows, count)
    return k == count and rows or math.floor(rows * k / count / step + 0.5) * step
end

-- ---- handles ----

local function handle(group, shape, type, shares)
    return setmetatable({ group = group, shape = shape, type = type.name, shares = shares,
        node = { shares = shares, group = group, shape = shape, type = type,
            device = group.home, refs = 1, version = false, op = false } }, meta)
end

-- Returns a divided array like a node, of which f(share) makes the share with these rows.
function handles.made(group, node, f)
    local shape, shares = node.shape, {}
    if shape.rank == 0 then errors.argument 'an array without axes cannot be divided' end
    for k, own in ipairs(group.own_devices) do
        local low = handles.first_row(shape[1], group.count, own.index)
        local high = handles.first_row(shape[1], group.count, own.index + 1)
        shares[k] = { device = own.device, rows = { low, high }, index = own.index }
        shares[k].array = f(shares[k])
    end
    return handle(group, shape, node.type, shares)
end

-- Whether all axes but the first are the same.
local function has_rows_like(shape, other)
    local is_same = shape.rank == other.rank
    for k = 2, shape.rank do is_same = is_same and shape[k] == other[k] end
    return is_same
end

-- Returns a divided array of what f(share) returns, arrays with the same rows.
local function mapped(self, f, what)
    local shares, shape, type = {}, nil, nil
    for k, share in ipairs(self.shares) do
        local made = f(share)
        local node = ndarray.is(made) and array.node(made)
        local rows = share.rows[2] - share.rows[1]
        if not node or node.shape[1] ~= rows then
            errors.argument('%s: an array of %d rows is wanted, not %s', what, rows,
                node and tostring(node.shape) or _G.type(made))
        end
        shares[k] = tables.merged(share, { array = made })
        if type and (node.type ~= type or not has_rows_like(node.shape, shape)) then
            errors.argument('%s: the rows of one device are %s %s, those of another %s %s', what,
                type.name, tostring(shape), node.type.name, tostring(node.shape))
        end
        shape, type = node.shape, node.type
    end
    local sizes = { unpack(shape) }
    sizes[1] = self.shape[1]
    return handle(self.group, shapes.of(sizes, #sizes), type, shares)
end

handles.mapped = mapped

-- Raises an error, the same on every rank, unless all ranks have made an array of one type and
-- shape.
local function check_ranks(self, what)
    local all = here.all(('%s %s'):format(self.type, tostring(self.shape)))
    for k, other in ipairs(all) do
        if other ~= all[1] then
            errors.argument('%s: rank 0 makes %s, rank %d %s: one type and shape is wanted', what,
                all[1], k - 1, other)
        end
    end
end

handles.moved = require 'mare.links.moved'

-- ---- operations ----

local function refuse_pair(op, one, other, why)
    errors.argument("'%s' of divided %s and %s: %s", op.name, tostring(one.shape),
        tostring(other.shape), why)
end

-- Raises an error unless an operand goes together with a divided array share by share.
local function check(op, first, x)
    local own, other = first.shape, array.node(x).shape
    if is(x) then
        if x.group ~= first.group then
            refuse_pair(op, first, x, 'they are of two calls of mare.divide')
        elseif own.rank ~= other.rank or own[1] ~= other[1] then
            refuse_pair(op, first, x, 'as many axes and rows are wanted; :gather() makes one array')
        end
    elseif other.rank > own.rank or other.rank == own.rank and other[1] ~= 1 then
        refuse_pair(op, first, array.node(x), 'an array on one device is repeated along the rows: '
            .. 'divide it by `array`')
    end
end

-- Returns an operand of a share.
local function of_share(x, k, device)
    if is(x) then return x.shares[k].array end
    return ndarray.is(x) and handles.moved(x, device) or x
end

-- Computes an operation on elements, of which one operand is divided.
local function operation(op, a, b, c)
    local first = is(a) and a or is(b) and b or c
    for _, x in pairs { a, b, c } do
        if is(x) or ndarray.is(x) then check(op, first, x) end
    end
    local f = c ~= nil and array.where or b ~= nil and array.binary
    local k = 0
    return mapped(first, function(share)
        k = k + 1
        local x = of_share(a, k, share.device)
        if not f then return (array.unary(op, x)) end
        local y = of_share(b, k, share.device)
        if c == nil then return (f(op, x, y)) end
        return (f(x, y, of_share(c, k, share.device)))
    end, op.name)
end

array.divided = { is = is, operation = operation, node = function(x) return x.node end }

-- Returns the numbers of the elements of a shape, which has the rows of a node.
function array.divided.numbers(node, shape)
    local row = shape.count / shape[1]
    return handles.made(node.group, { shape = shape, type = types.int32 }, function(share)
        local low, high = share.rows[1], share.rows[2]
        return ndarray.arange(low * row, high * row, 1, { device = share.device })
            :reshape(high - low, unpack(shape, 2))
    end)
end

-- ---- what is done share by share ----

-- Returns the divided array of f(share, first), where share is the array of one device, first the
-- number of its first row and the result has as many rows. On all devices and ranks the results
-- have one type, and one shape but for the rows:
--     x:each(function(share) return mare.fft.rfft(share) end)
function Divided:each(f)
    errors.wanted('each', 'function', f)
    local made = mapped(self, function(share) return f(share.array, share.rows[1]) end, 'each')
    check_ranks(made, 'each')
    return made
end

-- Computes all shares now. Returns the array.
function Divided:eval()
    for _, share in ipairs(self.shares) do share.array:eval() end
    return self
end

-- Returns an array of the same values in memory of its own.
function Divided:copy()
    return mapped(self, function(share) return share.array:copy() end, 'copy')
end

-- Returns the array as another type.
function Divided:to(type)
    if _G.type(type) ~= 'string' then
        errors.argument 'to: a type is wanted: :gather() brings the shares to one device'
    end
    types.named(type, 'to')
    return mapped(self, function(share) return share.array:to(type) end, 'to')
end

for _, name in ipairs(types.names) do
    Divided[name] = function(self) return Divided.to(self, name) end
end

-- Returns a view with an axis of one element more, before axis `axis`, which is not the first.
function Divided:unsqueeze(axis)
    if axis == 0 or axis == -self.shape.rank then
        errors.argument 'unsqueeze: the first axis of a divided array stays the first'
    end
    return mapped(self, function(share) return share.array:unsqueeze(axis) end, 'unsqueeze')
end

-- Writes values into this array; see assign of arrays on one device. Returns the array.
function Divided:assign(value, options)
    options = errors.fields('assign', options or {}, { where = 'any' })
    local mask = options.where
    local name = { name = 'assign' }
    for _, x in pairs { value, mask } do
        if is(x) or ndarray.is(x) then check(name, self, x) end
    end
    for k, share in ipairs(self.shares) do
        share.array:assign(of_share(value, k, share.device),
            mask ~= nil and { where = of_share(mask, k, share.device) } or nil)
    end
    return self
end

-- ---- together ----

-- Returns on every rank, on its home device, an array that the rank of a share has.
function handles.spread(group, index, own)
    if here.size == 1 then return handles.moved(own, group.home) end
    return handles.moved(ranks.broadcast(own and own:eval(), index), group.home)
end

-- Returns the array on one device: the first of the list, or each rank's own.
function Divided:gather()
    local whole = ndarray.zeros({ unpack(self.shape) },
        { type = self.type, device = self.group.home }):eval()
    local own = {}
    for _, share in ipairs(self.shares) do own[share.index] = share.array end
    for k = 0, self.group.count - 1 do
        local low = handles.first_row(self.shape[1], self.group.count, k)
        local high = handles.first_row(self.shape[1], self.group.count, k + 1)
        if high > low then
            whole { { low, high } }:assign(handles.spread(self.group, k, own[k]))
        end
    end
    return whole
end

-- Returns the elements as nested tables, the same on every rank.
function Divided:totable() return self:gather():totable() end

-- Returns the elements in their order as a host array, the same on every rank.
function Divided:data() return self:gather():data() end

-- Saves the array in a NetCDF file; see save of arrays on one device. Of several ranks 0 writes.
function Divided:save(path, options)
    local whole = self:gather()
    if here.rank == 0 then whole:save(path, options) end
    return self
end

-- ---- what they are to Lua ----

for name, f in pairs(Divided) do
    Divided[name] = function(self, value, options)
        if not is(self) then
            errors.argument('%s: a divided array is wanted, not %s; methods are called with a '
                .. 'colon: a:%s()', name, type(self), name)
        end
        return (f(self, value, options))
    end
end

-- Methods of arrays that do the same with divided ones: functions of elements and reductions.
local taken = tables.set { 'sum', 'prod', 'mean', 'var', 'std', 'min', 'max', 'argmin', 'argmax',
    'norm', 'dot', 'any', 'all', 'reduce', 'clip' }

local function method(key)
    return Divided[key] or (taken[key] or functions[key]) and array.methods[key]
end

function meta.__index(self, key)
    local found = method(key)
    if found then return found end
    if key == 'rank' or key == 'count' then return self.shape[key] end
    if array.methods[key] then
        errors.argument('%s is not for divided arrays: a:gather():%s(...) is, and a:each(f) '
            .. 'calls f for the rows of each device', key, key)
    end
    local names = tables.keys(tables.merged(array.methods, Divided))
    errors.argument("a divided array has no '%s'%s", tostring(key), suggest(tostring(key), names))
end

function meta.__call()
    errors.argument('a divided array has no views of elements: a:gather() has, and a:each(f) calls '
        .. 'f for the rows of each device')
end

function meta.__tostring(self)
    local list = {}
    for k = 0, self.group.count - 1 do
        local low = handles.first_row(self.shape[1], self.group.count, k)
        local high = handles.first_row(self.shape[1], self.group.count, k + 1)
        list[#list + 1] = high > low and ('%d to %d'):format(low, high - 1) or 'none'
    end
    return ('%s %s, rows %s'):format(self.type, tostring(self.shape), table.concat(list, ', '))
end

for name, f in pairs(functions.meta) do meta[name] = f end

return handles
