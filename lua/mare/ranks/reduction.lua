-- reduction.lua - the sum, least or largest over the ranks, on one of them and
-- in their order, so that the result has the same bits whatever MPI does.

local boxes = require 'mare.ranks.boxes'
local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local message = require 'bindings.message'

local reduction = {}

-- Each takes the result so far and the next number, and returns the new result.
local operations = {
    sum = function(before, x) return before + x end,
    min = function(before, x) return (x < before or x ~= x) and x or before end,
    max = function(before, x) return (x > before or x ~= x) and x or before end,
}

function reduction.check_name(what, how)
    if operations[how] then return end
    errors.argument("%s: '%s' (allowed: max, min, sum)", what, tostring(how))
end

-- Returns the numbers of a value as an array: a number or a Lua array of them
-- as doubles.
function reduction.numbers(what, value)
    if boxes.is(value) then return value:data() end
    if type(value) == 'number' then return memory.from_table(what, { value }, 'double') end
    if message.is_array(value) then return value end
    if type(value) == 'table' and #value > 0 then
        return memory.from_table(what, value, 'double')
    end
    errors.argument('%s: a number, a Lua array of numbers, an array or a buffer is wanted, not %s',
        what, type(value) == 'table' and 'an empty table' or type(value))
end

local function check_alike(what, first, parcel, rank)
    if parcel.type == first.type and parcel.count == first.count then return end
    errors.argument('%s: rank %d gives %s, rank 0 %s', what, rank, message.describe(parcel),
        message.describe(first))
end

-- Returns the combination of the parcels of all ranks as a host array.
function reduction.combine(what, all, how)
    local first, combine = all[1], operations[how]
    local type_name = message.type_name(first)
    if type_name ~= 'float' and type_name ~= 'double' then
        errors.argument('%s: elements of float or double are wanted, not %s', what, type_name)
    end
    local total = memory.array('double', first.count)
    local numbers = message.numbers(first)
    for i = 0, first.count - 1 do total[i] = numbers[i] end
    for k = 2, #all do
        check_alike(what, first, all[k], k - 1)
        numbers = message.numbers(all[k])
        for i = 0, first.count - 1 do total[i] = combine(total[i], numbers[i]) end
    end
    local result, data = memory.frozen(type_name, first.count, 'reduced')
    for i = 0, first.count - 1 do data[i] = total[i] end
    return result
end

-- Returns the result in the form of what was given.
function reduction.like(value, result)
    if boxes.is(value) then return boxes.make(result, value.shape, value.device) end
    if type(value) == 'number' then return result[0] end
    if message.is_array(value) then return result end
    return result:totable()
end

return reduction
