-- Parts of a script's functions that depend on the index alone, such as weights of samples: they
-- are computed once, in double, and kernels read them from a table. Only what calls a function that
-- takes long is worth that.

local dialect = require 'mare.dialect.nodes'
local types = require 'mare.dialect.types'

local constant = {}

local slow = {}
for _, name in ipairs { 'sqrt', 'cbrt', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh',
    'tanh', 'asinh', 'acosh', 'atanh', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p',
    'erf', 'erfc', 'lgamma', 'tgamma', 'pow', 'atan2', 'hypot', 'fmod' } do
    slow[name] = true
end

-- Returns whether a tree reads nothing but i, and whether it is slow.
local function nature(node, i)
    if node.kind ~= 'operation' then return rawequal(node, i) or node.kind == 'number', false end
    local is_constant, is_slow = node.op.plain ~= nil, slow[node.op.name] or false
    for k = 1, node.op.operands do
        local own, own_slow = nature(node[k], i)
        is_constant, is_slow = is_constant and own, is_slow or own_slow
    end
    return is_constant, is_slow
end

-- Returns a tree with each largest part that is constant, slow and no whole number replaced by what
-- replace(part) returns.
local function replaced(node, i, replace)
    if not dialect.is(node) or node.kind ~= 'operation' then return node end
    local is_constant, is_slow = nature(node, i)
    if not is_slow then return node end
    if is_constant and types.all[node.type].has_fractions then return replace(node) end
    local operands = {}
    for k = 1, node.op.operands do operands[k] = replaced(node[k], i, replace) end
    return dialect.apply(node.op, unpack(operands))
end

-- Returns a value, a tree or { re =, im = }, with replace(k, part) instead of constant parts; k is
-- the number of the part, from 1, in the order in which they are found.
function constant.replaced(value, i, replace)
    local known, count = {}, 0
    local function numbered(node)
        if not known[node] then
            count = count + 1
            known[node] = replace(count, node)
        end
        return known[node]
    end
    if type(value) == 'table' and not dialect.is(value) then
        return { re = replaced(value.re, i, numbered), im = replaced(value.im, i, numbered) }
    end
    return replaced(value, i, numbered)
end

-- Returns the constant parts of what f, a function that loads or stores, returns as functions of
-- the index. is_complex: whether f takes complex numbers; numbers: what it gets besides
function constant.found_in(f, is_complex, numbers)
    local function input(type) return dialect.input('x', type, 'x') end
    local i, list = input 'int32', {}
    local x = is_complex and { re = input 'real', im = input 'real' } or input 'real'
    constant.replaced(f(x, i, input 'int32', numbers), i, function(k, node)
        list[k] = function(at) return constant.value(node, i, at) end
        return node
    end)
    return list
end

-- Returns the value of a tree that reads nothing but i, where that is `at`.
function constant.value(node, i, at)
    if rawequal(node, i) then return at end
    if node.kind == 'number' then return node.value end
    local operands = {}
    for k = 1, node.op.operands do operands[k] = constant.value(node[k], i, at) end
    return node.op.plain(unpack(operands))
end

return constant
