-- Transforms along one axis of an array: which kernels do them, and where these find the points.
-- There is a transform for each element of the other axes, which are merged into up to three
-- levels; a tile has neighbours along the first of them.

local evaluate = require 'mare.expression.evaluate'
local factors = require 'mare.fft.factors'
local kernels = require 'mare.fft.kernels'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local strides = require 'mare.expression.strides'

local axis = {}

-- ---- limits ----

local width_of_cpu = 16     -- transforms of a tile on a processor
local least_row = 128       -- points of a row that is a tile of its own there

local most_private = 2 ^ 21 -- bytes of a tile: about those of a second-level cache

local function size_of(real) return real == 'double' and 8 or 4 end

-- Whether the device takes the kernel for processors; tests set axis.has_groups, so that it does
-- not.
local function is_cpu(device)
    return device.info.kind == 'cpu' and not axis.has_groups
end

-- Returns how many points a tile of `width` transforms can have.
local function most_points(device, real, width)
    if is_cpu(device) then
        return most_private / (4 * size_of(real) * width)
    end
    return (device.info.local_memory < 40000 and 2 ^ 13 or 2 ^ 15) / size_of(real)
end

-- Returns how many points a kernel can have at most, however it goes over the array.
function axis.most_points(device, real)
    return most_points(device, real, 1)
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
    if factors.is_smooth(d.n) then
        d.points = d.n
    elseif factors.is_prime(d.n) and factors.is_smooth(d.n - 1) then
        d.convolution, d.points = 'rader', d.n - 1
    else
        d.convolution, d.points = 'bluestein', factors.good(2 * d.n - 1)
    end
    d.is_cpu = is_cpu(device)
    if d.is_cpu then
        d.radices = factors.on_cpu(d.points, d.real == 'double')
    else
        d.radices, d.items = factors.on_gpu(d.points)
    end
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

local group_of_rows, group_of_columns = 128, 512    -- work-items of a group
local most_local = 40000                            -- bytes of local memory

-- Sets how many transforms a group does: of columns enough to read 128 bytes, a line of the cache.
local function set_group(d, device, inners)
    d.is_column = d.load.unit ~= 'axis' and inners > 1
    local most = math.min(device.info.local_memory, most_local) / (d.points * size_of(d.real))
    if not d.is_column then
        local fitting = math.min(group_of_rows / d.items, most / 1.25)     -- padding included
        d.width = math.max(1, math.floor(fitting))
        return
    end
    d.width = 128 / (2 * size_of(d.real))
    while d.width > 1 and (d.width > most or d.width * d.items > group_of_columns) do
        d.width = d.width / 2
    end
end

-- Sets the number of transforms of a tile.
local function set_width(d, device, inners)
    if not d.is_cpu then return set_group(d, device, inners) end
    if d.load.unit == 'axis' then
        d.width = d.points >= least_row and 1 or width_of_cpu
    else
        d.width = inners >= 4 and width_of_cpu or 1
    end
    if d.points > most_points(device, d.real, d.width) then d.width = 1 end
end

-- ---- one kernel ----

-- Completes a description d and runs its kernel. run: { device, from, to: leaves, levels: sizes,
-- places, filled, scale: see kernels.run; texts: a list to add the text of the kernel to instead }
local function queue(d, run)
    for k = #run.levels + 1, 3 do run.levels[k] = 1 end
    for _, place in ipairs(run.places) do
        for k = 3, 5 do place[k] = place[k] or 0 end
    end
    d.load.unit, d.store.unit = unit_of(run.places[1]), unit_of(run.places[2])
    d.index = index_type(run.from.version.count, run.to.version.count)
    set_points(d, run.device)
    set_width(d, run.device, run.levels[1])
    if run.texts then
        run.texts[#run.texts + 1] = kernels.source(d)
        return
    end
    kernels.run(kernels.of(d, run.device), run.device, run.from.version.cell,
        run.to.version.cell, run.levels, run.places, run.filled, run.scale)
end

-- Transforms a leaf into another one by one kernel. step: { kind: 'complex', 'rfft' or
-- 'irfft', axis: from 1, n, is_inverse, real, scale, load, store: the script's functions, texts }
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
        real_length = length < step.n and step.n or nil,
        load = { kind = kind[1], type = from.type, f = step.load, length = step.n },
        store = { kind = kind[2], type = to.type, f = step.store } }
    local wanted = step.kind == 'irfft' and math.floor(step.n / 2) + 1 or step.n
    d.load.is_padded = from.shape[along] < wanted
    queue(d, { texts = step.texts, device = from.device, from = from, to = to, levels = levels,
        places = { { from.offset, own[along], unpack(in_levels) },
            { 0, other[along], unpack(out_levels) } },
        filled = from.shape[along], scale = step.scale })
end

-- ---- two kernels ----

-- Returns the levels, { sizes, strides in, strides out }, with one more, and its name: the
-- first one if neighbours along it are neighbours in memory, else the second.
local function with_level(levels, size, own, other)
    local is_first, lists = own == 1 or levels[1][1] == 1, {}
    local is_alone = #levels[1] == 1 and levels[1][1] == 1
    for k, value in ipairs { size, own, other } do
        lists[k] = is_alone and {} or { unpack(levels[k]) }
        table.insert(lists[k], is_first and 1 or 2, value)
    end
    return lists[1], lists[2], lists[3], is_first and 'inner' or 'mid'
end

local batch_of = { inner = 'rest', mid = 'inner + outer * inners' }

-- Returns a function that gives the text of the index of point k in the whole transform, of which
-- this kernel has every count-th point, and a text for the kernel's key.
local function index_of(count, level)
    return function(k) return ('(%s) * %d + %s'):format(k, count, level) end,
        ('%d %s'):format(count, level)
end

-- Transforms columns of n1 points, n2 apart, multiplies them by roots, and stores them as rows.
local function run_columns(step, from, to, n1, n2, levels, own, other)
    local sizes, of_in, of_out, level = with_level(levels, n2, own, n1 * other)
    local index, key = index_of(n2, level)
    local d = { n = n1, is_inverse = step.is_inverse, real = step.real, batch = batch_of[level],
        roots = step.n, root_bits = math.ceil(math.log(step.n) / math.log(2) / 2),
        root_level = level,
        load = { kind = 'plain', type = from.type, f = step.load, index = index, index_key = key,
            is_padded = from.shape[step.axis] < step.n },
        store = { kind = 'plain', type = to.type } }
    queue(d, { texts = step.texts, device = from.device, from = from, to = to, levels = sizes,
        places = { { from.offset, n2 * own, unpack(of_in) }, { 0, other, unpack(of_out) } },
        filled = from.shape[step.axis], scale = 1 })
end

-- Does the other stages of a long transform, of n2 points each.
local function run_rest(step, from, to, n1, n2, levels, other)
    local sizes, of_in, of_out, level = with_level(levels, n1, other, other)
    local index, key = index_of(n1, level)
    local d = { n = n2, is_inverse = step.is_inverse, real = step.real, batch = batch_of[level],
        load = { kind = 'plain', type = from.type },
        store = { kind = 'plain', type = to.type, f = step.store, index = index,
            index_key = key } }
    queue(d, { texts = step.texts, device = from.device, from = from, to = to, levels = sizes,
        places = { { 0, n1 * other, unpack(of_in) }, { 0, n1 * other, unpack(of_out) } },
        filled = 0, scale = step.scale })
end

-- Transforms a leaf by two kernels. between: a leaf like `to` for the complex numbers that the
-- first one stores; it may be `to` itself
local function run_long(step, from, to, between)
    local along, own, other = step.axis, strides.own(from), strides.own(to)
    local sizes, of_in, of_out = levels_of(from.shape, along, own, other)
    if #sizes > 2 then
        local copy = evaluate.copied(from)
        run_long(step, copy, to, between)
        return nodes.release(copy)
    end
    local n1 = factors.halves(step.n, axis.most_points(from.device, step.real))
    local n2 = step.n / n1
    run_columns(step, from, between, n1, n2, { sizes, of_in, of_out }, own[along], other[along])
    run_rest(step, between, to, n1, n2, { sizes, of_out, of_out }, other[along])
end

-- Whether two kernels can do a transform that is too long for one.
function axis.is_long(device, real, n)
    return factors.is_smooth(n) and factors.halves(n, axis.most_points(device, real)) ~= nil
end

-- Whether one or two kernels do a step; otherwise composed.lua does it.
function axis.is_direct(device, step)
    return axis.is_short(device, step.real, step.kind, step.n)
        or step.kind == 'complex' and axis.is_long(device, step.real, step.n)
end

-- Runs a step. new_between: nil if `to` is complex, otherwise a function that returns a complex
-- leaf of the same shape
function axis.run(step, from, to, new_between)
    if axis.is_short(from.device, step.real, step.kind, step.n) then
        return run_short(step, from, to)
    end
    local between = new_between and new_between() or to
    run_long(step, from, to, between)
    if between ~= to then nodes.release(between) end
end

-- Returns a shape with another size along an axis.
function axis.shape_with(shape, along, size)
    local sizes = { unpack(shape) }
    sizes[along] = size
    return shapes.of(sizes, shape.rank)
end

return axis
