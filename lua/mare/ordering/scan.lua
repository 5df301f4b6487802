-- Running sums, products and extremes along the last axis, in the order of
-- kernels/ordering/scan.krn, which a null device follows here.

local bound = require 'bindings.array'
local host = require 'mare.ordering.host'
local kernels = require 'mare.ordering.kernels'
local memory = require 'mare.expression.memory'
local tables = require 'bindings.tables'
local types = require 'mare.expression.types'

local scan = {}

local run, section, block = 16, 256, 4096        -- elements, as in scan.krn
local levels = 6                                 -- as in scan_once.h

-- Groups of scan_once on a compute unit: many, since each waits most of its time.
scan.groups_per_unit = 6

-- Groups of the two launches there: with 4, as many as their registers leave room for otherwise, a
-- running sum takes 7 % longer on an H200, with 6, which have too few registers, 11 %.
scan.groups_of_two = 5

-- Blocks up to which one launch was measured to be faster than two: those of 2^20 elements.
scan.most_blocks = 256

-- The text that combines a and b.
local combinations = {
    sum = { 'a + b' },
    product = { 'a * b' },
    least = { '(a < b || a != a ? a : b)' },
    greatest = { '(a > b || a != a ? a : b)' },
}

-- Functions of a type: the text of the value that changes nothing when it is combined with another.
local none = {
    sum = function(type) return type.kind == 2 and '((VALUE)-0.0f)' or '0' end,
    product = function() return '1' end,
    least = function(type)
        if type.kind == 2 then return '((VALUE)mr_as_float_(0x7f800000))' end
        return ('((VALUE)%s)'):format(type.signed and '(~(VALUE)0 ^ LOWEST)' or '~(VALUE)0')
    end,
    greatest = function(type)
        if type.kind == 2 then return '((VALUE)mr_as_float_(0xff800000))' end
        return type.signed and '(LOWEST)' or '0'
    end,
}

-- Returns the names of what elements can be combined by.
function scan.names() return tables.keys(combinations) end

-- is_once: whether of scan_once
function scan.defines(device, type, computed, name, is_once)
    return kernels.defines(device, type, computed, { COMBINE = combinations[name][1],
        MR_GROUPS_PER_UNIT = is_once and scan.groups_per_unit or scan.groups_of_two,
        NONE = none[name](computed), ONCE = is_once and 1 or 0,
        LOWEST = ('((VALUE)1 << %d)'):format(computed.bits - 1) })
end

-- Returns the words by which groups tell each other their sums: see scan_once.h.
local function words_of(device, computed, rows, blocks)
    local count, entry = 0, math.ceil(computed.size / 4)
    for _ = 1, levels do
        count = count + rows * blocks * entry
        blocks = math.floor(blocks / run)
    end
    local version = memory.new(device, types.uint64, 1 + count)
    bound.clear(version.cell, 8 * (1 + count))
    return version
end

-- Scans rows of several blocks by one launch.
local function scan_once(out, from, type, computed, name, rows, blocks, count)
    local device = out.device
    local kernel = kernels.of(device, 'ordering/scan.krn', 'scan_once',
        type.name .. computed.name .. name .. ' once',
        function()
            return scan.defines(device, type, computed, name, true)
        end)
    local words = words_of(device, computed, rows, blocks)
    kernels.run(kernel, device, { out, from, words }, { count, blocks, rows * blocks },
        kernels.blocks(device, rows * blocks))
    memory.drop(words)
end

local scan_into

-- Returns a version with the running totals of blocks; if a row is one block, one that is not read.
local function totals_of(from, type, computed, name, rows, count, blocks)
    local device = from.device
    if blocks == 1 then return memory.new(device, computed, 1) end
    local version = memory.new(device, computed, rows * blocks)
    local kernel = kernels.of(device, 'ordering/scan.krn', 'scan_totals',
        type.name .. computed.name .. name,
        function() return scan.defines(device, type, computed, name) end)
    kernels.run(kernel, device, { version, from }, { count, blocks, rows * blocks },
        kernels.blocks(device, rows * blocks))
    local scanned = memory.new(device, computed, rows * blocks)
    scan_into(scanned, version, computed, computed, name, rows, blocks)
    memory.drop(version)
    return scanned
end

function scan_into(out, from, type, computed, name, rows, count)
    local device, blocks = out.device, math.ceil(count / block)
    local is_short = rows * blocks <= scan.most_blocks or kernels.may_wait
    if blocks > 1 and is_short and rows * blocks < 16 ^ levels and kernels.can_wait(device) then
        scan_once(out, from, type, computed, name, rows, blocks, count)
        return
    end
    local totals = totals_of(from, type, computed, name, rows, count, blocks)
    local kernel = kernels.of(device, 'ordering/scan.krn', 'scan_blocks',
        type.name .. computed.name .. name,
        function() return scan.defines(device, type, computed, name) end)
    kernels.run(kernel, device, { out, from, totals }, { count, blocks, rows * blocks },
        kernels.blocks(device, rows * blocks))
    memory.drop(totals)
end

-- ---- null devices ----

local plain = {
    sum = function(a, b) return a + b end,
    product = function(a, b) return a * b end,
    least = function(a, b) return (a < b or a ~= a) and a or b end,
    greatest = function(a, b) return (a > b or a ~= a) and a or b end,
}

-- Returns the function that combines a and b, either of which may be nil: that changes nothing.
local function joined(name, computed)
    local f, round = plain[name], bound.on_host['to_' .. computed.name]
    return function(a, b)
        if a == nil then return b elseif b == nil then return a end
        return round(f(a, b))
    end
end

-- Scans the elements from low to before high, to which `before` is added first. Returns their
-- total.
local function host_block(out, read, low, high, before, join, round)
    local sections
    for s = low, high - 1, section do
        local own
        for r = s, math.min(s + section, high) - 1, run do
            local base, all = join(before, join(sections, own)), nil
            for k = r, math.min(r + run, high) - 1 do
                all = join(all, round(read(k)))
                out[k] = join(base, all)
            end
            own = join(own, all)
        end
        sections = join(sections, own)
    end
    return sections
end

-- Scans a row: the blocks, then their totals in the same way, then the blocks behind those.
local function on_host(out, read, first, count, join, round)
    local totals = {}
    for b = 0, math.ceil(count / block) - 1 do
        local low = first + b * block
        totals[b] = host_block(out, read, low, math.min(low + block, first + count), nil, join,
            round)
    end
    if count <= block then return end
    local sums = {}
    on_host(sums, function(k) return totals[k] end, 0, #totals + 1, join, round)
    for b = 1, #totals do
        local low = first + b * block
        host_block(out, read, low, math.min(low + block, first + count), sums[b - 1], join, round)
    end
end

-- Returns a version with the running combination of each row of elements. leaf: a
-- contiguous one; computed: the type of the result; name: sum, product, least or
-- greatest; rows, count: the number of rows and of their elements
function scan.of(leaf, computed, name, rows, count)
    local out = memory.new(leaf.device, computed, rows * count)
    if rows * count == 0 then return out end
    if leaf.device.is_null then
        local to, read = host.address(out), host.reader(leaf.version)
        for row = 0, rows - 1 do
            on_host(to, read, row * count, count, joined(name, computed),
                bound.on_host['to_' .. computed.name])
        end
    else
        scan_into(out, leaf.version, leaf.type, computed, name, rows, count)
    end
    return out
end

-- Returns the same of a version of int32 as one row.
function scan.places(version, name)
    local out, int32 = memory.new(version.device, version.type, version.count), version.type
    scan_into(out, version, int32, int32, name, 1, version.count)
    return out
end

return scan
