-- Expression trees: they record what a function computes instead of computing
-- it. A node is one of
--
--     { kind = 'number', value }                              a number written in Lua
--     { kind = 'input', name, text, uses, is_argument }       what a kernel reads
--     { kind = 'operation', op = of operations.lua, [1], ... }  the operands are nodes
--
-- and has a `type` of types.lua. The same operation on the same operands gives
-- the same node, so that common subexpressions need no search. Nodes are cached
-- in weak tables of their first operand, so that nothing accumulates.

local errors = require 'bindings.errors'
local tables = require 'bindings.tables'
local types = require 'mare.dialect.types'
local operations = require 'mare.dialect.operations'

local nodes = {}

local Node = {}

function nodes.is(value)
    return getmetatable(value) == Node
end

local weak_keys, weak = { __mode = 'k' }, { __mode = 'kv' }
local numbers = setmetatable({}, { __mode = 'v' })

local function number(value)
    local key = (value == 0 and 1 / value < 0) and '-0' or value
    if value ~= value then key = 'nan' end
    local node = numbers[key]
    if not node then
        node = setmetatable({ kind = 'number', value = value, type = types.of_number(value),
            users = {} }, Node)
        numbers[key] = node
    end
    return node
end

-- Returns a node for a value that a kernel reads. name: a name for a variable
-- that holds it; uses: the names that the text mentions, for the caller that
-- writes the kernel. Each call makes a new node, so the caller keeps them.
function nodes.input(name, type, text, uses)
    return setmetatable({ kind = 'input', name = name, type = type, text = text, uses = uses or {},
        is_argument = name == text, users = {} }, Node)
end

-- Returns a node for a node or a number. who: the beginning of an error message
function nodes.wrap(value, who)
    if nodes.is(value) then return value end
    if type(value) == 'number' then return number(value) end
    errors.argument('%s: a value or a number is wanted, not %s', who, type(value))
end

local function result_type(op, a, b, c)
    return op.result(a.type, b and b.type, c and c.type) or errors.argument(
        "'%s' is for %s, not for %s", op.name, op.domain, table.concat({ a.type,
        b and b.type, c and c.type }, ', '))
end

local function operand(op, k, value)
    if getmetatable(value) == Node then return value end
    return nodes.wrap(value, ("operand %d of '%s'"):format(k, op.name))
end

-- Returns the node of an operation. The operands, up to three, are nodes or numbers.
function nodes.apply(op, a, b, c)
    local count = op.operands
    a = operand(op, 1, a)
    b = count > 1 and operand(op, 2, b) or nil
    c = count > 2 and operand(op, 3, c) or nil
    local place = tables.under(a.users, op, b and c and weak_keys or weak)
    if c then place = tables.under(place, b, weak) end
    local key = c or b or a
    local node = place[key]
    if not node then
        node = setmetatable({ a, b, c, kind = 'operation', op = op, users = {},
            type = result_type(op, a, b, c) }, Node)
        place[key] = node
    end
    return node
end

-- Returns the value, which kernels compute under this name ahead of what uses it.
-- A number is returned as it is.
function nodes.named(name, value)
    if nodes.is(value) and value.kind == 'operation' then value.name = name end
    return value
end

-- ---- operators of Lua ----

for name, operator in pairs { __add = '+', __sub = '-', __mul = '*', __div = '/' } do
    local op = operations[operator]
    Node[name] = function(a, b) return nodes.apply(op, a, b) end
end

function Node.__unm(a) return nodes.apply(operations.negative, a) end

-- A whole power is written as a product.
function Node.__pow(a, n)
    if type(n) ~= 'number' or n % 1 ~= 0 or n < 1 or n > 8 then
        errors.argument("'^': a whole power from 1 to 8 is wanted, not %s; see sqrt, cbrt, rcp",
            type(n) == 'number' and tostring(n) or type(n))
    end
    local product = a
    for _ = 2, n do product = nodes.apply(operations['*'], product, a) end
    return product
end

local function no_comparison()
    errors.argument('values are compared by lt, le, gt, ge, eq and ne: < and == of Lua are true or '
        .. 'false at once')
end

Node.__lt, Node.__le, Node.__eq = no_comparison, no_comparison, no_comparison

function Node.__tostring(node)
    return ('a value of type %s'):format(node.type)
end

return nodes
