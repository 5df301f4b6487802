-- Derivatives of expressions (dialect/nodes.lua).

local maths = require 'mare.dialect.maths'
local nodes = require 'mare.dialect.nodes'

local derivative = {}

-- The derivatives of an operation by its operands; y is its result. false: none, as of a condition.
local by = {
    ['+'] = function() return 1, 1 end,
    ['-'] = function() return 1, -1 end,
    ['*'] = function(_, a, b) return b, a end,
    ['/'] = function(y, _, b) return 1 / b, -(y / b) end,
    negative = function() return -1 end,
    sqrt = function(y) return 0.5 / y end,
    cbrt = function(y, a) return y / (3 * a) end,
    rcp = function(y) return -(y * y) end,
    rsqrt = function(y, a) return -0.5 * y / a end,
    fma = function(_, a, b) return b, a, 1 end,
    abs = function(_, a) return maths.copysign(1, a) end,
    min = function(_, a, b)
        local first = maths.le(a, b)
        return maths.where(first, 1, 0), maths.where(first, 0, 1)
    end,
    max = function(_, a, b)
        local first = maths.ge(a, b)
        return maths.where(first, 1, 0), maths.where(first, 0, 1)
    end,
    where = function(_, test)
        return false, maths.where(test, 1, 0), maths.where(test, 0, 1)
    end,
    exp = function(y) return y end,
    exp2 = function(y) return math.log(2) * y end,
    expm1 = function(y) return y + 1 end,
    log = function(_, a) return 1 / a end,
    log2 = function(_, a) return 1 / (math.log(2) * a) end,
    log10 = function(_, a) return 1 / (math.log(10) * a) end,
    log1p = function(_, a) return 1 / (1 + a) end,
    sin = function(_, a) return maths.cos(a) end,
    cos = function(_, a) return -maths.sin(a) end,
    tan = function(y) return 1 + y * y end,
    asin = function(_, a) return 1 / maths.sqrt(1 - a * a) end,
    acos = function(_, a) return -1 / maths.sqrt(1 - a * a) end,
    atan = function(_, a) return 1 / (1 + a * a) end,
    sinh = function(_, a) return maths.cosh(a) end,
    cosh = function(_, a) return maths.sinh(a) end,
    tanh = function(y) return 1 - y * y end,
    pow = function(y, a, b)
        if type(b) == 'number' or b.kind == 'number' then return b * y / a, 0 end
        return b * y / a, y * maths.log(a)
    end,
    hypot = function(y, a, b) return a / y, b / y end,
    atan2 = function(_, a, b) return b / (a * a + b * b), -a / (a * a + b * b) end,
    floor = function() return 0 end, ceil = function() return 0 end,
    trunc = function() return 0 end, rint = function() return 0 end,
}

-- Returns a list of the derivatives of an operation by its operands, numbers or expressions; nil if
-- it has none.
local function partials(node)
    local rule = by[node.op.name]
    if not rule then return nil end
    local list = { rule(node, unpack(node)) }
    for k = 1, #node do list[k] = list[k] or 0 end
    return list
end

-- Returns a * b and a + b without what a factor 0 or 1 and a sum with 0 would add.
local function times(a, b)
    if a == 0 or b == 0 then return 0 end
    if a == 1 then return b end
    if b == 1 then return a end
    return a * b
end

local function plus(a, b)
    if a == 0 then return b end
    if b == 0 then return a end
    return a + b
end

local number = function(value) return type(value) == 'number' end

-- Returns how expressions change along a direction, { [input] = expression or number }, of which
-- inputs that are not there do not change. nil and the name of an operation that has no derivative.
function derivative.along(list, direction)
    local known, fault = {}, nil
    local function change(node)
        if number(node) or node.kind == 'number' then return 0 end
        if node.kind == 'input' then return direction[node] or 0 end
        if not known[node] then
            local sum, changes, moves = 0, {}, false
            for k, operand in ipairs(node) do
                changes[k] = operand.type == 'bool' and 0 or change(operand)
                moves = moves or changes[k] ~= 0
            end
            local factors = moves and partials(node)
            if moves and not factors then fault = fault or node.op.name end
            for k = 1, factors and #node or 0 do
                sum = plus(sum, times(factors[k], changes[k]))
            end
            known[node] = sum
        end
        return known[node]
    end
    local result = {}
    for k, node in ipairs(list) do result[k] = change(node) end
    if fault then return nil, fault end
    return result
end

-- Returns the same expressions with inputs replaced: { [input] = expression or number }.
function derivative.substituted(list, given)
    local known = {}
    local function replaced(node)
        if number(node) or node.kind == 'number' then return node end
        if node.kind == 'input' then return given[node] or node end
        if not known[node] then
            local operands = {}
            for k, operand in ipairs(node) do operands[k] = replaced(operand) end
            known[node] = nodes.apply(node.op, unpack(operands))
        end
        return known[node]
    end
    local result = {}
    for k, node in ipairs(list) do result[k] = replaced(node) end
    return result
end

derivative.partials, derivative.times, derivative.plus = partials, times, plus

return derivative
