-- Sorts the rows of an array by kernels/ordering/sort.krn: by passes for the digits of keys and,
-- where there are several rows, for those of the rows' numbers.

local host = require 'mare.ordering.host'
local kernels = require 'mare.ordering.kernels'
local memory = require 'mare.expression.memory'
local scan = require 'mare.ordering.scan'
local types = require 'mare.expression.types'

local sort = {}

sort.most = 2 ^ 31 - 1      -- elements

-- Returns ORDER of sort.krn.
local function order_of(type)
    if type.kind == 2 then return 2 end
    return type.kind == 1 and type.signed and 1 or 0
end

local digit, group = 8, 512     -- bits of a digit, as in sort.krn; work-items that work together

-- Returns how many elements a work-item of a group has: such that the local memory of a block is
-- 32 KiB.
local function each_of(type, how)
    return math.min(16, math.floor(64 / (type.size + (how.places and 4 or 0))))
end

-- Returns how elements are cut into blocks: { size of a block, blocks, items: all work-items,
-- group: those of one }.
local function division(device, type, how, count)
    if kernels.by_groups(device) then
        local size = group * each_of(type, how)
        local blocks = math.ceil(count / size)
        return { size = size, blocks = blocks, items = math.min(blocks, 2 ^ 20) * group,
            group = group }
    end
    local size = math.max(4096, math.ceil(count / (4 * device.info.compute_units)))
    local blocks = math.ceil(count / size)
    return { size = size, blocks = blocks, items = blocks, group = 1 }
end

function sort.defines(device, type, how)
    return kernels.defines(device, type, type, { ORDER = order_of(type), DOWN = how.down and 1 or 0,
        PLACES = how.places and 1 or 0, ONE_ZERO = how.keys and 0 or 1, EACH = each_of(type, how),
        GROUP = kernels.by_groups(device) and group or 1, MR_GROUPS_PER_UNIT = 2 })
end

-- Returns the kernels `count` and `move`.
local function programs(device, type, how)
    local key = ('%s %s %s %s'):format(type.name, how.down, how.places, how.keys)
    local function defines() return sort.defines(device, type, how) end
    return kernels.of(device, 'ordering/sort.krn', 'count', key, defines),
        kernels.of(device, 'ordering/sort.krn', 'move', key, defines)
end

-- Returns the passes: { shift: bits below the digit; row: elements of a row, in a pass that goes
-- by the rows' numbers, else 0 }.
local function passes_of(bits, rows, row)
    local list = {}
    for shift = 0, bits - 1, digit do list[#list + 1] = { shift = shift, row = 0 } end
    local shift = 0
    while 2 ^ shift < rows do
        list[#list + 1] = { shift = shift, row = row }
        shift = shift + digit
    end
    list[1].is_first, list[#list].is_last = true, true
    return list
end

-- Queues the passes. Returns versions of the sorted elements and of their places.
local function on_device(leaf, how, rows, row)
    local device, type, count = leaf.device, leaf.type, rows * row
    local cut = division(device, type, how, count)
    local counting, moving = programs(device, type, how)
    local counts = memory.new(device, types.int32, 2 ^ digit * cut.blocks)
    local none = memory.new(device, types.int32, 1)
    local function new_places()
        return how.places and memory.new(device, types.int32, count) or none
    end
    local pairs_of = { { memory.new(device, type, count), new_places() },
        { memory.new(device, type, count), new_places() } }
    local from, at = { leaf.version, none }, 1
    for _, pass in ipairs(passes_of(how.bits or type.bits, rows, row)) do
        local numbers = { count, cut.size, cut.blocks, pass.shift, pass.row,
            pass.is_first and 1 or 0, pass.is_last and 1 or 0 }
        local to = pairs_of[at]
        kernels.run(counting, device, { counts, from[1], from[2] }, numbers, cut.items, cut.group)
        local offsets = scan.places(counts, 'sum')
        kernels.run(moving, device, { to[1], to[2], from[1], from[2], offsets }, numbers, cut.items,
            cut.group)
        memory.drop(offsets)
        from, at = to, 3 - at
    end
    local spare = pairs_of[at]
    memory.drop(counts)
    memory.drop(spare[1])
    if how.places then memory.drop(spare[2]) end
    memory.drop(none)
    return from[1], how.places and from[2]
end

-- ---- null devices ----

-- Returns whether a comes before b; NaN is behind all numbers, and -0 before 0 where
-- the elements are wanted.
local function precedes(a, b, how)
    if how.down then a, b = b, a end
    if a ~= a then return false end
    if how.keys and a == 0 and b == 0 then return 1 / a < 1 / b end
    return b ~= b or a < b
end

local function on_host(leaf, how, rows, row)
    local read = host.reader(leaf.version)
    local sorted = memory.new(leaf.device, leaf.type, rows * row)
    local places = how.places and memory.new(leaf.device, types.int32, rows * row)
    local write, number = host.writer(sorted), places and host.writer(places)
    for r = 0, rows - 1 do
        local list = {}
        for k = 1, row do list[k] = { r * row + k - 1, read(r * row + k - 1) } end
        table.sort(list, function(x, y)
            if precedes(x[2], y[2], how) then return true end
            if precedes(y[2], x[2], how) then return false end
            return x[1] < y[1]
        end)
        for k, entry in ipairs(list) do
            write(r * row + k - 1, entry[2])
            if number then number(r * row + k - 1, entry[1]) end
        end
    end
    return sorted, places
end

-- Sorts each row of `row` elements of a contiguous leaf. how: { down: the
-- greatest first; places: whether the elements' numbers are wanted; keys: whether the
-- elements are; bits: of keys from 0 that are not all 0 }. Returns a version of the
-- sorted elements and, if wanted, one of the numbers in the whole array, as int32.
function sort.rows(leaf, how, rows, row)
    if leaf.device.is_null then return on_host(leaf, how, rows, row) end
    return on_device(leaf, how, rows, row)
end

return sort
