-- Reverse mode: how a sum of expressions, each times its weight, changes with what they are made
-- of.

local derivative = require 'mare.algebra.derivative'
local nodes = require 'mare.dialect.nodes'

local plus = derivative.plus

local reverse = {}

local function times(a, b)
    if b == -1 then return -a end
    return derivative.times(a, b)
end

-- Adds the operations below a node to the list, operands before what is made of them, and says
-- which depend on one of the inputs.
local function order(node, inputs, list, active)
    if not nodes.is(node) then return false end
    if active[node] == nil then
        active[node] = inputs[node] or false
        for _, operand in ipairs(node) do
            active[node] = order(operand, inputs, list, active) or active[node]
        end
        list[#list + 1] = node
    end
    return active[node]
end

-- Returns { [input] = expression or number } for inputs that are the keys of a table, without those
-- that have no part in it; nil and the name of an operation that has no derivative.
function reverse.of(expressions, weights, inputs)
    local list, active, bars = {}, {}, {}
    for k, node in ipairs(expressions) do
        if order(node, inputs, list, active) then
            bars[node] = plus(bars[node] or 0, weights[k])
        end
    end
    for k = #list, 1, -1 do
        local node = list[k]
        local bar = active[node] and bars[node]
        if bar and node.kind == 'operation' then
            local factors = derivative.partials(node)
            if not factors then return nil, node.op.name end
            for n, operand in ipairs(node) do
                if active[operand] then
                    bars[operand] = plus(bars[operand] or 0, times(bar, factors[n]))
                end
            end
        end
    end
    local result = {}
    for node in pairs(inputs) do result[node] = bars[node] end
    return result
end

return reverse
