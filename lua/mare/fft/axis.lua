-- Transforms along one axis of an array: which kernels do them, and where these find the points.
-- There is a transform for each element of the other axes, which are merged into up to three
-- levels; a tile has neighbours along the first of them.

local bound = require 'bindings.array'
local evaluate = require 'mare.expression.evaluate'
local factors = require 'mare.stages.factors'
local groups = require 'mare.stages.groups'
local kernels = require 'mare.fft.kernels'
local vectors = require 'mare.stages.vectors'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local square = require 'mare.stages.square'
local strides = require 'mare.expression.strides'

local axis = {}

-- ---- limits ----

local least_row = 128       -- points of a row that may be a tile of its own on a processor
local most_private = 2 ^ 21 -- bytes of a tile there: about those of a second-level cache

local function size_of(real) return real == 'double' and 8 or 4 end

-- Whether the device takes the kernel for processors; tests set axis.has_groups, so that it does
-- not.
local function is_cpu(device)
    return device.info.kind == 'cpu' and not axis.has_groups
end

-- Returns how many points a tile of `width` transforms of a processor can have.
local function most_on_cpu(real, width) return most_private / (4 * size_of(real) * width) end

-- Returns how many points a kernel can have at most, however it goes over the array.
function axis.most_points(device, real)
    return is_cpu(device) and most_on_cpu(real, 1) or groups.most_points(device, real)
end

-- Returns how many points the kernels of a long transform have at most.
local function most_of_long(device, real)
    return is_cpu(device) and most_on_cpu(real, 1) or groups.most_in_column(device, real)
end

-- ---- levels ----

-- Returns the sizes and the strides, in and out, of the levels of all axes but one, the
-- innermost first.
local function levels_of(shape, along, from, to)
    local sizes, own, other = { rank = shape.rank - 1 }, {}, {}
    for k = 1, shape.rank do
        if k ~= along then
            sizes[#sizes + 1], own[#own + 1], other[#other + 1] = shape[k], from[k], to[k]
        end
    end
    local found, lists = strides.collapsed(sizes, { own, other })
    return found, lists[1], lists[2]
end

local most_narrow = 2 ^ 31 - 2 ^ 16      -- elements whose numbers, and those of tiles, fit an int

-- Returns the type of the numbers of elements, for arrays of these many.
local function index_type(...)
    for k = 1, select('#', ...) do
        if select(k, ...) > most_narrow then return 'mr_index' end
    end
    return 'int'
end

-- ---- descriptions of kernels ----

-- Sets how the points of d are transformed.
local function set_points(d, device)
    if d.filter then
        d.convolution, d.points = 'filter', d.n
    elseif factors.is_smooth(d.n) then
        d.points = d.n
    elseif factors.is_prime(d.n) and factors.is_smooth(d.n - 1) then
        d.convolution, d.points = 'rader', d.n - 1
    else
        d.convolution, d.points = 'bluestein', factors.good(2 * d.n - 1)
    end
    d.is_cpu = is_cpu(device)
end

-- Whether rows are transformed side by side on a processor: short ones, or so many that they fill
-- vectors, of real numbers to 8192 points, of others, whose first and last stages go over the array
-- itself from there on, to 4096. inners: how many there are
local function has_rows_beside(d, inners)
    local width = vectors.count(d.real)
    if d.points < least_row then return true end
    return inners >= width and d.store.unit == 'axis' and vectors.takes(d, d.load)
        and vectors.takes(d, d.store)
        and d.points <= most_on_cpu(d.real, d.store.kind == 'split' and width or 2 * width)
end

-- Returns how many transforms a tile of a processor has. inners: those along the first level
local function width_on_cpu(d, inners, is_row)
    local width, is_beside = vectors.count(d.real), inners >= 4
    if is_row then is_beside = has_rows_beside(d, inners) end
    return is_beside and d.points <= most_on_cpu(d.real, width) and width or 1
end

-- Sets whether the points of a convolution are a square. width: of a tile of the whole array
local function set_square(d, width)
    d.square = d.convolution and width == 1 and square.rows_of(d.points, d.real) or nil
    if not d.square then return end
    d.columns_radices = factors.on_cpu(d.square, false, true)
    d.rows_radices = factors.on_cpu(d.points / d.square, false, true)
end

-- Sets the radices and the number of transforms of a tile. Shares of divided arrays take the
-- radices of the whole ones.
local function set_tile(d, device, levels)
    if d.is_cpu then
        local is_row = d.load.unit == 'axis'
        local of_whole = width_on_cpu(d, levels[1] * (d.many or 1), is_row and not d.is_of_columns)
        d.radices = factors.on_cpu(d.points, d.real == 'double', of_whole > 1)
        d.width = width_on_cpu(d, levels[1], is_row)
        set_square(d, of_whole)
    else
        groups.set(d, device, levels)
    end
    d.radices_back = d.radices
    if d.is_cpu then return end
    -- In reverse order: a work-item ends the first half with the points that it begins the second
    -- with.
    d.radices_back = {}
    for k, r in ipairs(d.radices) do d.radices_back[#d.radices + 1 - k] = r end
end

-- Returns the length of the complex transform that one of n real numbers takes: half if the
-- kernel goes over pairs of them.
local function length_of(kind, n)
    if kind == 'complex' or n % 2 == 1 or not factors.is_smooth(n / 2) then return n end
    return n / 2
end

-- Returns how many points a kernel of a step has.
local function points_of(kind, n)
    local length = length_of(kind, n)
    if factors.is_smooth(length) then return length end
    if factors.is_prime(length) and factors.is_smooth(length - 1) then return length - 1 end
    return factors.good(2 * length - 1)
end

-- Whether one kernel can do a transform.
function axis.is_short(device, real, kind, n)
    return points_of(kind, n) <= axis.most_points(device, real)
end

local kinds = {
    complex = { whole = { 'plain', 'plain' } },
    rfft = { whole = { 'plain', 'half' }, half = { 'pairs', 'split' } },
    irfft = { whole = { 'hermitian', 'real' }, half = { 'split', 'pairs' } },
}

-- Returns along which axis or level an array has neighbours in memory.
local function unit_of(place)
    return place[2] == 1 and 'axis' or place[3] == 1 and 'inner' or nil
end

-- ---- one kernel ----

-- Whether all rows of a leaf begin at even places, and its memory, which may be a view of a buffer,
-- at a multiple of 16 bytes.
local function has_even_places(leaf, place)
    for k, value in ipairs(place) do
        if k ~= 2 and value % 2 ~= 0 then return false end
    end
    local cell = leaf.version.cell      -- nil where a plan looks ahead
    return place[2] == 1 and (not cell or bound.is_aligned(cell, 16))
end

-- Whether all pairs of neighbours that an end, of a leaf, has begin at even places.
local function is_paired(end_, leaf, place, real)
    return end_.kind == 'pairs' and leaf.type.name == real and has_even_places(leaf, place)
end

-- Completes a description d and queues its kernel. launch: see kernels.lua; sequence: one of these,
-- or nil
local function queue(d, launch, sequence)
    for k = #launch.levels + 1, 3 do launch.levels[k] = 1 end
    for _, place in ipairs(launch.places) do
        for k = 3, 5 do place[k] = place[k] or 0 end
    end
    d.load.unit, d.store.unit = unit_of(launch.places[1]), unit_of(launch.places[2])
    d.load.is_paired = is_paired(d.load, launch.from, launch.places[1], d.real)
    d.store.is_paired = is_paired(d.store, launch.to, launch.places[2], d.real)
    d.load.is_even = has_even_places(launch.from, launch.places[1])
    d.depth = launch.levels[3] > 1 and 3 or launch.levels[2] > 1 and 2 or 1
    d.index = index_type(launch.from.version.count, launch.to.version.count)
    set_points(d, launch.device)
    set_tile(d, launch.device, launch.levels)
    launch.d = d
    kernels.queue(sequence, launch)
end

-- Transforms a leaf into another one by one kernel. step: { kind: 'complex', 'rfft' or
-- 'irfft', axis: from 1, n, is_inverse, real, scale, load, store, filter, aside: the script's
-- functions, numbers: names of what these get, values: by name; aside_leaf: what aside stores in;
-- many, is_of_columns: see kernels.lua; sequence: of kernels.lua, or nil }
local function run_short(step, from, to)
    local along, own, other = step.axis, strides.own(from), strides.own(to)
    local levels, in_levels, out_levels = levels_of(from.shape, along, own, other)
    if #levels > 3 then
        local copy = evaluate.copied(from)
        run_short(step, copy, to)
        return nodes.release(copy)
    end
    local length = length_of(step.kind, step.n)
    local kind = kinds[step.kind][length < step.n and 'half' or 'whole']
    local d = { n = length, is_inverse = step.is_inverse, real = step.real,
        many = step.many, is_of_columns = step.is_of_columns, filter = step.filter,
        aside = step.aside, numbers = step.numbers,
        real_length = length < step.n and step.n or nil,
        load = { kind = kind[1], type = from.type, f = step.load, length = step.n },
        store = { kind = kind[2], type = to.type, f = step.store } }
    local wanted = step.kind == 'irfft' and math.floor(step.n / 2) + 1 or step.n
    d.load.is_padded = from.shape[along] < wanted
    queue(d, { device = from.device, from = from, to = to, levels = levels,
        places = { { from.offset, own[along], unpack(in_levels) },
            { 0, other[along], unpack(out_levels) } },
        filled = from.shape[along], scale = step.scale, values = step.values,
        aside = step.aside_leaf }, step.sequence)
end

-- ---- several kernels ----
--
-- Of n = n1 n2 ... points, a pass does the transforms of one factor, each of points that lie n over
-- that factor apart. Before a pass the array has, for each number j of points that are still to be
-- transformed, the `done` numbers (done = n1 n2 ... so far) that belong to it, one after another:
-- point k of the pass with the rest j' is at ((k rest + j') done), and becomes number k of them,
-- (j' n_pass + k) done. The last pass has no rest and leaves all where it is.

-- Returns the index of point k in the whole transform as a function for descriptions, and a text
-- for the kernel's key. level: the text of what it has beside k
local function index_of(count, level)
    return function(k) return ('(%s) * %d + %s'):format(k, count, level) end,
        ('%d %s'):format(count, level)
end

-- Returns levels, { sizes, strides in, strides out }, with one more at place 1 or 2.
local function with_level(levels, place, size, own, other)
    local lists, is_alone = {}, #levels[1] == 1 and levels[1][1] == 1
    for k, value in ipairs { size, own, other } do
        lists[k] = is_alone and {} or { unpack(levels[k]) }
        table.insert(lists[k], math.min(place, #lists[k] + 1), value)
    end
    return lists
end

local names = { 'inner', 'mid', 'outer' }

-- Returns the levels with that of the points' rest, and its name.
local function with_rest(levels, pass, own, other)
    local place = pass.done == 1 and (own == 1 or levels[1][1] == 1) and 1 or 2
    if pass.rest == 1 then return levels end
    return with_level(levels, place, pass.rest, pass.done * own, pass.done * pass.n * other),
        names[place]
end

-- Returns the levels with that of the `done` numbers, and the texts of the number among these and
-- of the number of the transform. Where the array has neighbours along another axis, both are one
-- level.
local function with_done(levels, pass, other)
    if pass.done == 1 then return levels, '0', nil end
    if other == 1 then
        return with_level(levels, 1, pass.done, 1, 1), 'inner', 'rest'
    end
    local lists = { { unpack(levels[1]) }, levels[2], levels[3] }
    lists[1][1] = pass.done * other
    return lists, ('inner / %d'):format(other), ('(inner %% %d + rest * %d)'):format(other, other)
end

-- Describes a pass. pass: { n, done, rest, is_first, is_last }
local function describe(step, from, to, pass, levels, own, other)
    local d = { n = pass.n, is_inverse = step.is_inverse, real = step.real,
        many = step.many, is_of_columns = step.is_of_columns, is_rest = step.crossed ~= nil,
        numbers = step.numbers, load = { kind = 'plain', type = from.type },
        store = { kind = 'plain', type = to.type } }
    local lists, at, batch = with_done(levels, pass, other)
    local level
    lists, level = with_rest(lists, pass, own, other)
    d.batch = batch
    if pass.rest > 1 then
        d.roots, d.root_level = pass.n * pass.rest, level
        d.root_bits = math.ceil(math.log(d.roots) / math.log(2) / 2)
    end
    if pass.is_first then
        d.load.f, d.load.is_padded = step.load, from.shape[step.axis] < step.n
        d.load.index, d.load.index_key = index_of(pass.rest, level)
        d.batch = level == 'inner' and 'rest' or 'inner + outer * inners'
    elseif pass.is_last then
        d.store.f = step.store
        d.store.index, d.store.index_key = index_of(pass.done, at)
    end
    return d, lists
end

local function run_pass(step, from, to, pass)
    local along, other = step.axis, strides.own(to)
    local own = pass.is_first and strides.own(from) or other
    local sizes, of_in, of_out = levels_of(to.shape, along, own, other)
    local d, levels = describe(step, from, to, pass, { sizes, of_in, of_out }, own[along],
        other[along])
    local apart = pass.rest * pass.done
    queue(d, { device = from.device, from = from, to = to, levels = levels[1], pass = pass,
        apart = other[along],
        places = { { pass.is_first and from.offset or 0, apart * own[along], unpack(levels[2]) },
            { 0, pass.done * other[along], unpack(levels[3]) } },
        filled = pass.is_first and from.shape[along] or 0,
        scale = pass.is_last and step.scale or 1, values = step.values }, step.sequence)
end

-- Transforms a leaf by several kernels. new_complex: a function that returns a complex leaf of the
-- shape of `to`
local function run_long(step, from, to, new_complex)
    if #levels_of(from.shape, step.axis, strides.own(from), strides.own(to)) > 2 then
        local copy = evaluate.copied(from)
        run_long(step, copy, to, new_complex)
        return nodes.release(copy)
    end
    local lengths = factors.split(step.n, most_of_long(from.device, step.real))
    local leaf, done = from, 1
    for k, n in ipairs(lengths) do
        local is_last = k == #lengths
        local pass = { n = n, done = done, rest = step.n / done / n, is_first = k == 1,
            is_last = is_last }
        -- The last pass may be done in place, no other one.
        local is_end = is_last
            or k == #lengths - 1 and leaf.version ~= to.version and to.type.complex
        local next_one = is_end and to or new_complex()
        run_pass(step, leaf, next_one, pass)
        if leaf ~= from and leaf ~= next_one then nodes.release(leaf) end
        leaf, done = next_one, done * n
    end
end

-- ---- rows and columns ----
--
-- Where columns are long the kernel of the rows takes the first part of them: a group transforms q
-- rows that are n / q apart, and then their numbers of each place by a butterfly of q points. The q
-- rows of results lie one after another, so that the kernel of the columns, of n / q points, works
-- in place.

-- Returns how many rows a group transforms if two steps, which follow each other, are those of rows
-- and of columns that are crossed; nil if they are not.
local function crossed_of(device, rows, columns)
    for _, step in ipairs { rows, columns } do
        if step.kind ~= 'complex' or step.load or step.store or step.filter then return nil end
    end
    if device.is_null or is_cpu(device) or rows.from ~= columns.to
        or rows.axis ~= rows.from.rank or columns.axis ~= rows.axis - 1 then
        return nil
    end
    return groups.crossed(rows.n, columns.n, columns.real)
end

-- Makes one step of two, { ..., crossed = { q, rows: the step of the rows } }, where they are
-- crossed.
function axis.cross(device, steps)
    for k = 1, #steps - 1 do
        local rows, columns = steps[k], steps[k + 1]
        local q = crossed_of(device, rows, columns)
        if q then
            columns.crossed = { q = q, rows = rows }
            table.remove(steps, k)
            return
        end
    end
end

local function run_crossed(step, from, to, new_complex)
    if from.strides or from.type ~= to.type then
        local copy = evaluate.copied(from)
        run_crossed(step, copy, to, new_complex)
        return nodes.release(copy)
    end
    local n, row, q = step.n, step.crossed.rows.n, step.crossed.q
    local middle = from.version == to.version and new_complex() or to
    queue({ n = row, is_inverse = step.is_inverse, real = step.real, crossed = q, crossed_of = n,
        load = { kind = 'plain', type = from.type }, store = { kind = 'plain', type = to.type } },
        { device = from.device, from = from, to = middle,
            levels = { n, from.shape.count / n / row }, filled = row, scale = 1,
            places = { { from.offset, 1, row, n * row }, { 0, 1, row, n * row } } },
        step.sequence)
    run_pass(step, middle, to, { n = n / q, done = q, rest = 1, is_first = false, is_last = true })
    if middle ~= to then nodes.release(middle) end
end

-- Returns how many points a transform by several kernels can have at most: the numbers of roots
-- are ints.
function axis.longest(device, real)
    return math.min(most_of_long(device, real) ^ 3, 2 ^ 30)
end

-- Whether several kernels can do a transform that is too long for one.
function axis.is_long(device, real, n)
    return n <= axis.longest(device, real) and factors.is_smooth(n)
        and factors.split(n, most_of_long(device, real)) ~= nil
end

-- Whether one kernel can filter along an axis; otherwise there are two transforms.
function axis.can_filter(device, real, n)
    local most = is_cpu(device) and most_on_cpu(real, 1) or math.min(groups.limits.most_of_columns,
        groups.most_points(device, real))
    return device.is_null or factors.is_smooth(n) and n <= most
end

-- Whether one or more kernels do a step; otherwise composed.lua does it.
function axis.is_direct(device, step)
    return step.crossed ~= nil or axis.is_short(device, step.real, step.kind, step.n)
        or step.kind == 'complex' and axis.is_long(device, step.real, step.n)
end

-- Whether a GPU had to read columns so long that a group has room for few of them side by side.
local function is_narrow(step, from)
    return not is_cpu(from.device) and step.kind == 'complex' and strides.own(from)[step.axis] > 1
        and step.n > groups.limits.most_of_columns and axis.is_long(from.device, step.real, step.n)
end

-- Whether two kernels do a step of an array whose elements lie one after another. They go over one
-- array, not two, if its result is not stored where it comes from.
function axis.is_in_two(device, step)
    if device.is_null or step.kind ~= 'complex' or step.crossed
        or not axis.is_long(device, step.real, step.n) then
        return false
    end
    local is_several = not axis.is_short(device, step.real, step.kind, step.n)
        or is_narrow(step, { device = device, shape = step.from })
    return is_several and #factors.split(step.n, most_of_long(device, step.real)) == 2
end

-- Runs a step that is direct. new_complex: a function that returns a complex leaf of the shape of
-- `to`
function axis.run(step, from, to, new_complex)
    if step.crossed then return run_crossed(step, from, to, new_complex) end
    if axis.is_short(from.device, step.real, step.kind, step.n) and not is_narrow(step, from) then
        return run_short(step, from, to)
    end
    run_long(step, from, to, new_complex)
end

-- Returns a shape with another size along an axis.
function axis.shape_with(shape, along, size)
    local sizes = { unpack(shape) }
    sizes[along] = size
    return shapes.of(sizes, shape.rank)
end

return axis
