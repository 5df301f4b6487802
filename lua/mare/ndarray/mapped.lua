-- mare.map(f): a function of numbers, called for each element of arrays by one kernel.
--
--     local f = mare.map(function(u, v) return u * u + math.sin(v) end)
--     local w = f(x, y)
--
-- The function may have branches, loops and several results (translate/README.md); mare.fuse takes
-- what array operators can say.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local map = require 'mare.translate.map'
local shapes = require 'mare.expression.shapes'

local mapped = {}

-- Returns the shape to which all arrays are repeated, and their device.
local function common(name, given)
    local shape, device
    for _, value in ipairs(given) do
        array.check_whole(value, name)
        if array.is(value) then
            local node = array.node(value)
            local here = node.device
            if device and here ~= device then
                errors.argument('%s: one array is on %s, another on %s: :to(device) copies', name,
                    device.name, here.name)
            end
            local own = shape and shapes.common(shape, node.shape) or node.shape
            if shape and not shapes.common(shape, node.shape) then
                errors.argument('%s: the shapes %s and %s do not fit', name, tostring(shape),
                    tostring(node.shape))
            end
            shape, device = own, here
        end
    end
    if not shape then errors.argument('%s: at least one array is wanted', name) end
    return shape, device
end

-- Returns a function of arrays and numbers, which calls f for each element and returns as many
-- arrays as f returns numbers. Numbers outside f are read at each call. options: { name, math }
function mapped.map(f, options)
    local each = map.new(f, options)
    return function(...)
        local given, values = { ... }, {}
        local shape, device = common(each.name, given)
        local size = { unpack(shape, 1, shape.rank) }
        for k, value in ipairs(given) do
            values[k] = array.is(value) and value:expand(unpack(size)):buffer() or value
        end
        local made, results, outputs = each:on(device, values), {}, {}
        for k, type in ipairs(made.results) do
            results[k] = creation.zeros(size, { type = type, device = device })
            outputs[k] = results[k]:buffer()
        end
        made:run(outputs, values, shape.count)
        return unpack(results)
    end
end

return mapped
