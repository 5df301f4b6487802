-- What the midpoint rule makes of variables in a time dt, from the expressions of their rates: both
-- rates multiplied out, so that what they have in common is computed once.

local derivative = require 'mare.algebra.derivative'
local nodes = require 'mare.dialect.nodes'
local polynomial = require 'mare.algebra.polynomial'

local midpoint = {}

-- Keeps the differences in an expression, those within others first, but for those that it has
-- seen.
local function keep_differences(room, node, middle, seen)
    if type(node) ~= 'table' or not node.op or seen[node] then return end
    seen[node] = true
    for _, operand in ipairs(node) do keep_differences(room, operand, middle, seen) end
    if node.op.name == '-' then room:keep(node, derivative.substituted({ node }, middle)[1]) end
end

-- Whether the numbers of an expression are such that products with dt and with each other in
-- another order are still numbers of float.
local function is_ordinary(node, seen)
    if type(node) == 'number' or node.kind == 'number' then
        local size = math.abs(type(node) == 'number' and node or node.value)
        return size == 0 or size > 1e-12 and size < 1e12
    end
    if seen[node] then return true end
    seen[node] = true
    for _, operand in ipairs(node) do
        if not is_ordinary(operand, seen) then return false end
    end
    return true
end

-- Returns the variables after dt, and whether these are fewer operations than the rule as it
-- stands; nil where they are too long, or rates have numbers that are not ordinary. known: what
-- else rates depend on, inputs that do not change; t: the time, which does
function midpoint.of(variables, rates, known, t, dt)
    local checked = {}
    for _, rate in ipairs(rates) do
        if not is_ordinary(rate, checked) then return nil end
    end
    local middle, set, moved = { [t] = t + 0.5 * dt }, { [dt] = true }, 0
    for _, node in ipairs(known) do set[node] = true end
    for k, node in ipairs(variables) do
        middle[node] = derivative.plus(node, derivative.times(0.5 * dt, rates[k]))
        moved = moved + (rates[k] == 0 and 0 or 1)      -- a product and its sum are one operation
    end
    local list, room = derivative.substituted(rates, middle), polynomial.room(set, true)
    local seen = {}
    for k, rate in ipairs(list) do
        keep_differences(room, rates[k], middle, seen)
        list[k] = derivative.times(dt, rate)
    end
    local rows = room:expanded(list)
    if not rows then return nil end
    for k, node in ipairs(variables) do     -- as another, so that nothing small is added to 1
        local own = nodes.input(node.name, node.type, node.text, node.uses)
        rows[k] = polynomial.sum(room:expand(own), rows[k], 1)
    end
    local values = room:expressions(rows)
    return values, room:cost(values) < room:cost(list) - moved
end

return midpoint
