-- Where values belong in sorted elements, by search.krn.

local host = require 'mare.ordering.host'
local kernels = require 'mare.ordering.kernels'
local memory = require 'mare.expression.memory'
local types = require 'mare.expression.types'

local search = {}

local function is_before(a, b) return a < b or b ~= b and a == a end

local function on_host(sorted, values, after, out)
    local element, value, to = host.reader(sorted.version), host.reader(values.version),
        host.address(out)
    for k = 0, values.shape.count - 1 do
        local low, high, x = 0, sorted.shape.count, value(k)
        while low < high do
            local middle = math.floor((low + high) / 2)
            local is_low = is_before(element(middle), x)
            if after then is_low = not is_before(x, element(middle)) end
            if is_low then low = middle + 1 else high = middle end
        end
        to[k] = low
    end
end

-- Returns a version of int32: for each value how many of the sorted elements are before it, or
-- with `after` how many are before it or equal to it. sorted, values: contiguous leaves of one type
function search.of(sorted, values, after)
    local device, type, count = values.device, values.type, values.shape.count
    local out = memory.new(device, types.int32, count)
    if count == 0 then return out end
    if device.is_null then
        on_host(sorted, values, after, out)
        return out
    end
    local computed = kernels.computed(type)
    local kernel = kernels.of(device, 'ordering/search.krn', 'search', type.name, function()
        return kernels.defines(device, type, computed, { IS_REAL = type.kind == 2 and 1 or 0 })
    end)
    kernels.run(kernel, device, { out, sorted.version, values.version },
        { count, sorted.shape.count, after and 1 or 0 }, kernels.shape(device, count))
    return out
end

return search
