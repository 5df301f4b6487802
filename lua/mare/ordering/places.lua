-- Elements by their numbers: taken from, put or added to an array, by the kernels of
-- take.krn and scatter.krn.

local bound = require 'bindings.array'
local host = require 'mare.ordering.host'
local kernels = require 'mare.ordering.kernels'
local memory = require 'mare.expression.memory'
local scan = require 'mare.ordering.scan'
local sort = require 'mare.ordering.sort'
local types = require 'mare.expression.types'

local places = {}

-- ---- take ----

local function take_kernel(leaf, at, entry)
    local device, type = leaf.device, leaf.type
    return kernels.of(device, 'ordering/take.krn', entry, type.name .. at.type.name, function()
        return kernels.defines(device, type, kernels.computed(type),
            { PLACE = at.type == types.int32 and 'int' or 'mr_index' })
    end)
end

local function take_on_host(leaf, at, outer, size, inner, out)
    local from, to, place = host.address(leaf.version), host.address(out),
        host.reader(at.version)
    local count = at.shape.count
    for n = 0, outer * count * inner - 1 do
        local row = math.floor(n / inner)
        local o, number = math.floor(row / count), tonumber(place(row % count))
        if number < 0 then number = number + size end
        number = math.max(0, math.min(size - 1, number))
        to[n] = from[(o * size + number) * inner + n % inner]
    end
end

-- Returns a version of the shape { outer, number of places, inner }: elements of a
-- leaf { outer, size, inner }. at: a leaf of int32 or int64; both are contiguous
function places.take(leaf, at, outer, size, inner)
    local device, count = leaf.device, at.shape.count
    local all = outer * count * inner
    local out = memory.new(device, leaf.type, all)
    if all == 0 then return out end
    if device.is_null then
        take_on_host(leaf, at, outer, size, inner, out)
    elseif outer == 1 and inner == 1 then
        kernels.run(take_kernel(leaf, at, 'take'), device, { out, leaf.version, at.version },
            { count, size }, kernels.shape(device, count))
    else
        kernels.run(take_kernel(leaf, at, 'take_along'), device,
            { out, leaf.version, at.version }, { all, size, count, inner },
            kernels.shape(device, all))
    end
    return out
end

-- ---- true elements ----

local function number_kernel(device)
    local int32 = types.int32
    local key = int32.name .. int32.name
    return kernels.of(device, 'ordering/take.krn', 'number_true', key, function()
        return kernels.defines(device, int32, int32, { PLACE = 'int' })
    end)
end

-- Returns a version with the numbers of the true elements of a leaf of truth values,
-- and how many there are. It waits for their number.
function places.of_true(leaf)
    local device, count = leaf.device, leaf.shape.count
    local sums = scan.of(leaf, types.int32, 'sum', 1, count)
    local found = count > 0 and bound.download(sums.cell, 'int32', count - 1, 1)[0] or 0
    local out = memory.new(device, types.int32, found)
    if found > 0 and device.is_null then
        local mask, to, n = host.address(leaf.version), host.address(out), 0
        for k = 0, count - 1 do
            if mask[k] then
                to[n] = k
                n = n + 1
            end
        end
    elseif found > 0 then
        kernels.run(number_kernel(device), device, { out, leaf.version, sums }, { count },
            kernels.shape(device, count))
    end
    memory.drop(sums)
    return out, found
end

-- ---- put and add ----

local function scatter_kernel(device, type, computed, entry)
    return kernels.of(device, 'ordering/scatter.krn', entry, type.name, function()
        return kernels.defines(device, type, computed)
    end)
end

-- Puts the values in their order, so that of equal numbers the last one's stays. is_one: whether
-- there is one value for all
local function put_on_host(out, at, values, is_one)
    local from, to, place = host.address(values.version), host.address(out),
        host.address(at.version)
    for k = 0, at.shape.count - 1 do to[place[k]] = from[is_one and 0 or k] end
end

-- Returns versions of the sorted numbers and of where each stood before. at: a leaf of numbers
-- from 0 to below `size`
local function in_order(at, size)
    local bits = 1
    while 2 ^ bits < size do bits = bits + 1 end
    return sort.rows(at, { places = true, keys = true, bits = bits }, 1,
        at.shape.count)
end

-- Puts values into elements of a version. at: a leaf of int32, the numbers of the elements from 0;
-- values: a leaf with one value, or as many as numbers
function places.put(out, at, values)
    local device, type, count = out.device, out.type, at.shape.count
    local is_one = values.shape.count == 1
    if count == 0 then return end
    if device.is_null then return put_on_host(out, at, values, is_one) end
    local computed = kernels.computed(type)
    if is_one then
        kernels.run(scatter_kernel(device, type, computed, 'put_one'), device,
            { out, values.version, at.version }, { count }, kernels.shape(device, count))
        return
    end
    local keys, from = in_order(at, out.count)
    kernels.run(scatter_kernel(device, type, computed, 'put_last'), device,
        { out, values.version, keys, from }, { count }, kernels.shape(device, count))
    memory.drop(keys)
    memory.drop(from)
end

local run = 64      -- values that are added one after the other

-- Returns a version that has for each of the sorted keys where the first equal one stands.
local function starts_of(keys)
    local device, count, int32 = keys.device, keys.count, types.int32
    local heads = memory.new(device, int32, count)
    kernels.run(scatter_kernel(device, int32, int32, 'find_heads'), device, { heads, keys },
        { count }, kernels.shape(device, count))
    local starts = scan.places(heads, 'greatest')
    memory.drop(heads)
    return starts
end

-- Adds runs of the values of each key, then runs of those sums, and the last sum to the element.
local function add_on_host(out, at, values, is_one, computed)
    local read, write, element = host.reader(values.version), host.writer(out), host.reader(out)
    local place, round = host.address(at.version), bound.on_host['to_' .. computed.name]
    local lists, keys = {}, {}
    for k = 0, at.shape.count - 1 do
        local key = place[k]
        if not lists[key] then
            lists[key] = {}
            keys[#keys + 1] = key
        end
        table.insert(lists[key], round(read(is_one and 0 or k)))
    end
    for _, key in ipairs(keys) do
        local list = lists[key]
        while #list > 1 do
            local sums = {}
            for first = 1, #list, run do
                local sum = list[first]
                for k = first + 1, math.min(first + run - 1, #list) do
                    sum = round(sum + list[k])
                end
                sums[#sums + 1] = sum
            end
            list = sums
        end
        write(key, round(round(element(key)) + list[1]))
    end
end

-- Adds values to the elements of a version, see places.put. The values of one element
-- are added among themselves first, in runs of 64 in their order, then the sums of the runs in the
-- same way, and the last sum to the element.
function places.add(out, at, values)
    local device, type, count = out.device, out.type, at.shape.count
    local is_one = values.shape.count == 1
    local computed = kernels.computed(type)
    if count == 0 then return end
    if device.is_null then return add_on_host(out, at, values, is_one, computed) end
    local keys, from = in_order(at, out.count)
    local starts, sums = starts_of(keys), memory.new(device, computed, count)
    local function launch(entry, memories, ...)
        kernels.run(scatter_kernel(device, type, computed, entry), device, memories,
            { count, ... }, kernels.shape(device, count))
    end
    launch('add_values', { sums, values.version, keys, from, starts }, is_one and 1 or 0)
    local step = run
    while step < count do
        launch('add_sums', { sums, keys, starts }, step)
        step = step * run
    end
    launch('add_to', { out, sums, keys, starts })
    for _, version in ipairs { keys, from, starts, sums } do memory.drop(version) end
end

return places
