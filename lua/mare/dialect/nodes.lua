-- Expression trees: what a function computes, kept instead of computed. A node is
--
--     { kind = 'number', value }                             a number that stands in Lua
--     { kind = 'input', name, text, uses, is_argument }      what a kernel reads
--     { kind = 'word', word = of words.lua, [1], ... }       a word on operands
--
-- and a `type` of types.lua. The same word on the same operands is the same node, so that a tree
-- says itself what it computes twice. A node is remembered by its first operand, and forgotten
-- with it: nothing here grows.

local errors = require 'bindings.errors'
local types = require 'mare.dialect.types'
local words = require 'mare.dialect.words'

local nodes = {}

local Node = {}

function nodes.is(value)
    return getmetatable(value) == Node
end

local weak_keys, weak = { __mode = 'k' }, { __mode = 'kv' }
local numbers = setmetatable({}, { __mode = 'v' })

-- What `list` has under the key; where there is nothing, a table that forgets as `mode` says.
local function under(list, key, mode)
    local found = list[key]
    if not found then
        found = setmetatable({}, mode)
        list[key] = found
    end
    return found
end

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

-- What a kernel reads. name: of the variable that may hold it; uses: what the text mentions, for
-- whoever writes the kernel around it. Two inputs are never one: whoever makes them keeps them.
function nodes.input(name, type, text, uses)
    return setmetatable({ kind = 'input', name = name, type = type, text = text, uses = uses or {},
        is_argument = name == text, users = {} }, Node)
end

-- A node or a number as a node. who: what asks for it
function nodes.wrap(value, who)
    if nodes.is(value) then return value end
    if type(value) == 'number' then return number(value) end
    errors.argument('%s: a value or a number is wanted, not %s', who, type(value))
end

local function result_type(word, operands)
    local list = {}
    for k, operand in ipairs(operands) do list[k] = operand.type end
    return word.result(unpack(list)) or errors.argument("'%s' is for %s, not for %s", word.name,
        word.domain, table.concat(list, ', '))
end

-- The node of a word on operands, which may be numbers.
function nodes.apply(word, ...)
    local operands = {}
    for k = 1, word.operands do
        operands[k] = nodes.wrap((select(k, ...)), ("operand %d of '%s'"):format(k, word.name))
    end
    local a, b, c = unpack(operands)
    local place = under(a.users, word, b and c and weak_keys or weak)
    if c then place = under(place, b, weak) end
    local key = c or b or a
    local node = place[key]
    if not node then
        node = setmetatable(operands, Node)
        node.type = result_type(word, operands)
        node.kind, node.word, node.users = 'word', word, {}
        place[key] = node
    end
    return node
end

-- ---- operators of Lua ----

for name, operator in pairs { __add = '+', __sub = '-', __mul = '*', __div = '/' } do
    local word = words[operator]
    Node[name] = function(a, b) return nodes.apply(word, a, b) end
end

function Node.__unm(a) return nodes.apply(words.negative, a) end

-- Whole powers are products, from the left; others are words of their own.
function Node.__pow(a, n)
    if type(n) ~= 'number' or n % 1 ~= 0 or n < 1 or n > 8 then
        errors.argument("'^': a whole power from 1 to 8 is wanted, not %s; see sqrt, cbrt, rcp",
            type(n) == 'number' and tostring(n) or type(n))
    end
    local product = a
    for _ = 2, n do product = nodes.apply(words['*'], product, a) end
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
