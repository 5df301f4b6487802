-- Running sums, sorting, and what is made of sorted elements. All of it stays on the
-- device; where a number of elements is only known when it is computed, the host waits.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local kernels = require 'mare.ordering.kernels'
local nodes = require 'mare.expression.nodes'
local operations = require 'mare.expression.operations'
local scan = require 'mare.ordering.scan'
local search = require 'mare.ordering.search'
local shapes = require 'mare.expression.shapes'
local sort = require 'mare.ordering.sort'
local types = require 'mare.expression.types'

local ordering = {}
local Array = array.methods

-- ---- rows ----

-- Returns the array with an axis moved to the end, and a function that moves it back.
local function with_last(self, axis)
    local rank, there, back = array.node(self).shape.rank, {}, {}
    if axis == rank - 1 then return self, function(made) return made end end
    for k = 0, rank - 1 do
        if k ~= axis then there[#there + 1] = k end
    end
    there[rank] = axis
    for k, from in ipairs(there) do back[from + 1] = k - 1 end
    return self:transpose(there), function(made) return made:transpose(back) end
end

-- Returns a held, contiguous leaf whose last axis is the wanted one, the number of rows and of the
-- elements of a row, and a function that moves the axis back.
local function rows_of(self, axis, what)
    local shape = array.node(self).shape
    if shape.rank == 0 then errors.argument('%s: an array without axes has no rows', what) end
    axis = shapes.axis(shape, axis, what)
    local turned, back = with_last(self, axis)
    local node = array.hold(turned, what)
    array.check_real(node, what)
    local row = node.shape[node.shape.rank]
    return kernels.contiguous(node), row > 0 and node.shape.count / row or 0, row, back
end

-- ---- running sums ----

local function scanned(self, what, name, options, computed_of)
    if type(options) == 'number' then options = { axis = options } end
    options = errors.fields(what, options or {}, { axis = 'number', type = 'string' })
    if not options.axis then self = Array.flatten(self) end
    local node = array.node(self)
    array.check_real(node, what)
    local computed, result = computed_of(node.type, options.type)
    local leaf, rows, row, back = rows_of(self, options.axis or 0, what)
    local made = array.of_version(scan.of(leaf, computed, name, rows, row), leaf.shape)
    return array.drop(leaf, back(made:to(result.name)))
end

-- Returns the type that a running sum is computed in, and that of its result.
local function sum_types(own, given)
    if given then
        local type = types.named(given, 'cumsum')
        return kernels.computed(type), type
    end
    if own.kind == 2 then return kernels.computed(own), own end
    local wide = own.signed and types.int64 or types.uint64
    return wide, wide
end

local function own_types(own)
    return own == types.bool and types.uint8 or kernels.computed(own), own
end

-- Returns the running sums: element k is the sum of the elements up to and with k, of all
-- in their order or along an axis: a:cumsum { axis = -1, type = 'double' }. The types are
-- those of sum. The order of the additions is the same on every device (runs of 16, and
-- runs of those), so the bits are, too.
function Array:cumsum(options) return scanned(self, 'cumsum', 'sum', options, sum_types) end

-- Returns the running products; see cumsum.
function Array:cumprod(options) return scanned(self, 'cumprod', 'product', options, sum_types) end

-- Returns the least element so far; NaN from the first NaN on. See cumsum.
function Array:cummin(options) return scanned(self, 'cummin', 'least', options, own_types) end

-- Returns the greatest element so far; NaN from the first NaN on. See cumsum.
function Array:cummax(options) return scanned(self, 'cummax', 'greatest', options, own_types) end

-- ---- sorting ----

local function sorted(self, what, options, how)
    if type(options) == 'number' then options = { axis = options } end
    options = errors.fields(what, options or {}, { axis = 'number', descending = 'boolean' })
    how.down = options.descending
    local leaf, rows, row, back = rows_of(self, options.axis or -1, what)
    if leaf.shape.count > sort.most then
        errors.argument('%s: %d elements, at most %d are sorted', what, leaf.shape.count,
            sort.most)
    end
    if leaf.shape.count == 0 then
        local type = how.places and types.int32 or leaf.type
        local made = array.of(array.filled(leaf.device, type, leaf.shape, 0, what))
        return array.drop(leaf, back(made))
    end
    local elements, places = sort.rows(leaf, how, rows, row)
    local made = array.of_version(how.keys and elements or places, leaf.shape)
    if not how.keys and rows > 1 then made = made % row end
    return array.drop(leaf, back(made))
end

-- Returns the elements of each row in ascending order, along an axis (the last one):
-- a:sort { axis = 0, descending = true }. NaN is greater than all numbers.
function Array:sort(options)
    return sorted(self, 'sort', options, { keys = true, places = array.node(self).shape.rank > 1 })
end

-- Returns the numbers, as int32, of the elements of each row in ascending order; equal
-- elements stay in their order. Options: see sort. a:take(a:argsort()) is a:sort().
function Array:argsort(options) return sorted(self, 'argsort', options, { places = true }) end

-- ---- searching ----

-- Returns an array of the values on the device of another array.
local function values_on(given, device, what)
    if array.is(given) then return given end
    if type(given) ~= 'number' and type(given) ~= 'table' then
        errors.argument('%s: an array, a table or a number is wanted, not %s', what, type(given))
    end
    return creation.new(given, { device = device })
end

-- Returns of each value how many elements of this array, which must be sorted and have
-- one axis, are before it, as int32; of those that are equal to it none, or all with
-- { right = true }. So edges:searchsorted(x, { right = true }) - 1 is the number of the
-- bin that x is in.
function Array:searchsorted(values, options)
    options = errors.fields('searchsorted', options or {}, { right = 'boolean' })
    local own = array.node(self)
    if own.shape.rank ~= 1 or own.shape.count > sort.most then
        errors.argument('searchsorted: the sorted array is %s: one axis of at most %d elements is '
            .. 'wanted', tostring(own.shape), sort.most)
    end
    values = values_on(values, own.device, 'searchsorted')
    local there = array.node(values)
    array.check_real(own, 'searchsorted')
    array.check_real(there, 'searchsorted')
    local on, elsewhere = own.device, there.device
    if on ~= elsewhere then
        errors.argument('searchsorted: the sorted array is on %s, the values on %s', on.name,
            elsewhere.name)
    end
    local type = types.common(own.type, there.type)
        or errors.argument('searchsorted: there is no type for %s and %s', own.type.name,
            there.type.name)
    local shape = there.shape
    local from = kernels.contiguous(array.hold(self:to(type.name), 'searchsorted'))
    local wanted = kernels.contiguous(array.hold(values:to(type.name), 'searchsorted'))
    local made = array.of_version(search.of(from, wanted, options.right), shape)
    nodes.release(from)
    return array.drop(wanted, made)
end

-- Returns truth values: whether each of sorted elements is the first of its kind. NaN is
-- one kind.
local function firsts(all)
    local n = all.count
    local first = creation.ones({ n }, { type = 'bool', device = all.device }):eval()
    if n < 2 then return first end
    local here, before = all { { 1, n } }, all { { 0, n - 1 } }
    local differ = here:ne(before)
    if array.node(all).type.kind == 2 then
        differ = array.binary(operations.logical_and, differ,
            array.binary(operations.logical_or, here:eq(here), before:eq(before)))
    end
    first { { 1, n } }:assign(differ)
    return first
end

-- Returns the different elements in ascending order. With { counts = true } also how often
-- each occurs, with { inverse = true } also the number of each element's own:
--     local values, counts, inverse = a:unique { counts = true, inverse = true }
function Array:unique(options)
    options = errors.fields('unique', options or {}, { counts = 'boolean', inverse = 'boolean' })
    local all = Array.flatten(self):sort()
    local n, results = all.count, {}
    local starts = firsts(all):flatnonzero()
    local values = all:take(starts, { mode = 'clip' })
    if options.counts then
        local m = starts.count
        local stops = creation.full({ m }, n, { type = 'int32', device = all.device }):eval()
        if m > 1 then stops { { 0, m - 1 } }:assign(starts { { 1, m } }) end
        results[1] = stops - starts
    end
    if options.inverse then results[#results + 1] = values:searchsorted(self) end
    return values, unpack(results)
end

-- ---- histograms ----

-- Returns the edges of bins as an array: `bins` equal ones of a range, or those given.
local function edges_of(self, bins, range, type)
    local device = array.node(self).device
    if array.is(bins) or _G.type(bins) == 'table' then
        local edges = values_on(bins, device, 'histogram')
        if edges.rank ~= 1 or edges.count < 2 then
            errors.argument('histogram: the edges are %s: two or more in one row are wanted',
                tostring(edges.shape))
        end
        return edges
    end
    errors.wanted('histogram: bins', 'number', bins)
    if bins % 1 ~= 0 or bins < 1 then
        errors.argument('histogram: %s bins: a whole number from 1 on is wanted', tostring(bins))
    end
    local low, high = 0, 1
    if range then
        low, high = range[1], range[2]
    elseif self.count > 0 then
        low, high = tonumber(self:min():item()), tonumber(self:max():item())
    end
    local is_range = _G.type(low) == 'number' and _G.type(high) == 'number' and low <= high
        and high - low < math.huge
    if not is_range then
        errors.argument('histogram: the range %s to %s: two numbers are wanted, the lower one '
            .. 'first', tostring(low), tostring(high))
    end
    if low == high then low, high = low - 0.5, high + 0.5 end
    return creation.linspace(low, high, bins + 1, { type = type, device = device })
end

-- Returns the sums of weights in the bins between edges.
local function weighted(self, edges, weights)
    local n, own = edges.count - 1, array.node(weights).type
    local last = edges { { n, n + 1 } }
    local number = edges:searchsorted(self, { right = true }) - 1
    number = array.where(self:eq(last), n - 1, number)
    local is_in = array.binary(operations.logical_and, self:ge(edges { { 0, 1 } }),
        self:le(last))
    local type = own.kind == 2 and own.name or own.signed and 'int64' or 'uint64'
    local sums = creation.zeros({ n + 1 }, { type = type, device = weights.device }):eval()
    sums:add(array.where(is_in, number, n), weights)
    return sums { { 0, n } }
end

-- Returns how many elements are in each bin, as int64, and the edges of the bins. bins: how
-- many equal ones there are from the least element to the greatest (10), or their edges;
-- range: { low, high } instead. A bin has its lower edge, the last one both. With weights,
-- an array of the same shape, their sums:
--     local counts, edges = a:histogram(50, { range = { 0, 1 } })
function Array:histogram(bins, options)
    options = errors.fields('histogram', options or {}, { range = 'table', weights = 'any' })
    self = Array.flatten(self)
    array.check_real(array.node(self), 'histogram')
    local own = array.node(self).type
    local edges = edges_of(self, bins or 10, options.range, types.real(own).name):eval()
    if options.weights then
        local weights = options.weights
        if not array.is(weights) or weights.count ~= self.count then
            errors.argument('histogram: the weights are an array of as many elements')
        end
        return weighted(self, edges, weights:flatten()), edges
    end
    local n, all = edges.count - 1, self:sort()
    local before = all:searchsorted(edges { { 0, n } })
    local last = all:searchsorted(edges { { n, n + 1 } }, { right = true })
    local stops = creation.zeros({ n }, { type = 'int32', device = all.device }):eval()
    if n > 1 then stops { { 0, n - 1 } }:assign(before { { 1, n } }) end
    stops { { n - 1, n } }:assign(last)
    return (stops - before):to 'int64', edges
end

return ordering
