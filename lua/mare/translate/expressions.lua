-- Writes expressions of Lua in the dialect. Every function here returns a text and how
-- tightly its last operator binds, as in C (see dialect/operations.lua). The order of
-- operations is that of the Lua text, so that strict maths gives Lua's bits.

local operations = require 'mare.dialect.operations'
local types = require 'mare.translate.types'

local expressions = {}

local atom, unary = operations.atom, operations.unary
local text_of

-- Returns the text of an operand, in parentheses if it binds less tightly than `level`.
local function operand(w, node, level, type)
    local text, own = text_of(w, node, type)
    return own < level and '(' .. text .. ')' or text
end

local function cast(type, text)
    return ('(%s)%s'):format(types.written(type), text), unary
end

local function literal(value, type)
    if type == 'bool' or _G.type(value) == 'boolean' then return tostring(value), atom end
    if value ~= value then return 'lua_nan()', atom end
    if value - value ~= 0 then return value > 0 and 'lua_huge()' or '-lua_huge()', unary end
    type = types.settled(type)
    if types.is_integer(type) and value % 1 ~= 0 then type = 'real' end
    local text = types.literal(value, type)
    return text, text:find '^-' and unary or atom
end

-- Returns the text of an argument of a function that has one name for floats and
-- doubles: which is meant follows from the argument.
local function real_argument(w, node)
    if w.constants[node] or w.of[node] == 'real' then return operand(w, node, 0, 'real') end
    return (cast('real', operand(w, node, unary, 'real')))
end

-- Returns the type of an expression, and for a number that has none yet the type in which
-- it is written.
local function settled(w, node, type)
    local own = w.of[node]
    if own == 'whole' or own == 'fraction' then return types.settled(type or own) end
    return own
end

-- ---- names and elements ----

local write = {}

function write.name(w, node)
    local entry = w.captured[node]
    return entry and entry.text or w.names_of[node.symbol], atom
end

-- Returns a text that the writer has made already, instead of an expression of Lua.
function write.written(_, node) return node.text, atom end

function write.paren(w, node, type) return text_of(w, node.inner, type) end

-- Returns the text of an index from 0, given as a number of any type.
local function index(w, node)
    local text = operand(w, node, w.of[node] == 'real' and unary + 1 or 0, 'int32')
    return types.is_integer(w.of[node]) and text or '(int)' .. text
end

-- Returns the text of an index that is checked: outside of the array or list, it is that of the
-- first element, and noted. first: the index of that in Lua
local function checked(w, node, base, text, first)
    local object, sites = w.of[node.object], w.fault.sites
    sites[#sites + 1] = { name = node.object.name or base, first = first,
        where = ('%s:%d'):format(w.instance.resolved.chunk, node.line or 0) }
    local count = object.size or base .. '_count'
    return ('lua_place(%s, %s, %d, %s)'):format(text, count, #sites, w.fault.text)
end

local function tuple_index(w, node, base)
    local k = w.constants[node.key]
    if k then return ('%.0f'):format(k - 1) end
    local is_whole = types.is_integer(w.of[node.key])
    local text = operand(w, node.key, is_whole and 12 or unary + 1, 'int32')
    text = (is_whole and '%s - 1' or '(int)%s - 1'):format(text)
    return w.fault and checked(w, node, base, text, 1) or text
end

-- Returns the text of an index into an array.
local function place_text(w, node, base)
    local text = index(w, node.key)
    return w.fault and checked(w, node, base, text, 0) or text
end

-- Returns the text of a place in an array or a list.
function expressions.place(w, node)
    local object = w.of[node.object]
    local base = operand(w, node.object, atom)
    local place = object.kind == 'tuple' and tuple_index or place_text
    return ('%s[%s]'):format(base, place(w, node, base)), atom
end

function write.index(w, node)
    if w.captured[node] then return write.name(w, node) end
    local object = w.of[node.object]
    local base = operand(w, node.object, atom)
    if object.kind == 'record' then return base .. object.texts[node.key.value], atom end
    if object.kind == 'tuple' then return expressions.place(w, node) end
    if node.key.tag == 'string' then return base .. '_' .. node.key.value, atom end
    if object.stored == 'half' then
        return ('(float)mr_half_load(%s, %s)'):format(base, place_text(w, node, base)), unary
    end
    local text = expressions.place(w, node)
    if object.stored == 'bool' then return text .. ' != 0', 9 end
    return text, atom
end

-- ---- operators ----

-- Returns the two factors of a product of reals.
local function factors(w, node)
    while node.tag == 'paren' do node = node.inner end
    if node.op == '*' and w.of[node] == 'real' and not w.constants[node] then
        return node.left, node.right
    end
end

-- Returns a sum with a product as one operation where maths are fast, of which strict maths make
-- the same two as Lua; nil if it has none.
local function fused(w, node)
    local a, b = factors(w, node.right)
    local sign, rest, after = node.op == '-' and '-' or '', node.left, ''
    if not a then
        a, b = factors(w, node.left)
        sign, rest, after = '', node.right, sign
    end
    if not a then return nil end
    local level = sign == '' and 0 or unary + 1
    return ('lua_mad(%s%s, %s, %s%s)'):format(sign, operand(w, a, level, 'real'),
        operand(w, b, 0, 'real'), after, operand(w, rest, after == '' and 0 or unary + 1, 'real'))
end

local function arithmetic(w, node, type)
    local op = operations[node.op]
    type = settled(w, node, type)
    local is_sum = node.op == '+' or node.op == '-'
    local text = w.fuses and is_sum and type == 'real' and fused(w, node)
    if text then return text, atom end
    local left = operand(w, node.left, op.level, type)
    return ('%s %s %s'):format(left, node.op, operand(w, node.right, op.level + 1, type)), op.level
end

local function quotient(w, node, type)
    type = settled(w, node, type)
    local a, b = w.of[node.left], w.of[node.right]
    if types.is_integer(a) and types.is_integer(b) and not w.constants[node.left] then
        local left = cast(type, operand(w, node.left, unary, a))
        return ('%s / %s'):format(left, operand(w, node.right, 14, type)), 13
    end
    if w.fuses and type == 'real' then
        return ('lua_over(%s, %s)'):format(operand(w, node.left, 0, type),
            operand(w, node.right, 0, type)), atom
    end
    return arithmetic(w, node, type)
end

-- Returns the name of a helper of kernels/translate/lua.h for a type.
local function helper(name, type)
    local of = { int32 = '_int', int64 = '_long' }
    return ('lua_%s%s'):format(name, of[type] or '')
end

local function helped(w, name, type, ...)
    local list = {}
    for k, node in ipairs { ... } do list[k] = operand(w, node, 0, type) end
    local text = ('%s(%s)'):format(helper(name, type), table.concat(list, ', '))
    if type == 'float' then return cast(type, text) end
    return text, atom
end

local function remainder(w, node, type)
    return helped(w, 'modulo', settled(w, node, type), node.left, node.right)
end

local function power(w, node, type)
    type = settled(w, node, type)
    local n = w.constants[node.right]
    if n == 1 then return text_of(w, node.left, type) end
    if n == 0.5 then return ('mr_sqrt(%s)'):format(operand(w, node.left, 0, 'real')), atom end
    if not (n and n % 1 == 0 and n > 1 and n <= 8) then
        return ('pow(%s, %s)'):format(real_argument(w, node.left), real_argument(w, node.right)),
            atom
    end
    local base, level = text_of(w, node.left, type)
    if level == atom and base:find '^[%w_.]+$' and n <= 3 then
        return base .. (' * ' .. base):rep(n - 1), 13
    end
    local text = ('%s(%s, %d)'):format(helper('power', type), base, n)
    if type == 'float' then return cast(type, text) end
    return text, atom
end

local tokens = { ['<'] = 10, ['<='] = 10, ['>'] = 10, ['>='] = 10, ['=='] = 9, ['~='] = 9 }

local function comparison(w, node)
    local a, b, type = w.of[node.left], w.of[node.right], 'bool'
    if a ~= 'bool' then type = types.settled(types.common(a, b)) end
    local token = node.op == '~=' and '!=' or node.op
    return ('%s %s %s'):format(operand(w, node.left, 11, type), token,
        operand(w, node.right, 11, type)), tokens[node.op]
end

local function logical(w, node, type)
    if w.choices[node] then
        type = settled(w, node, type)
        return ('%s ? %s : %s'):format(operand(w, node.left.left, 4), operand(w, node.left.right, 4,
            type), operand(w, node.right, 3, type)), 3
    end
    -- Compilers warn of && in || without parentheses.
    local level = node.op == 'and' and 5 or 4
    local inner = node.op == 'and' and 5 or 6
    return ('%s %s %s'):format(operand(w, node.left, node.left.op == node.op and level or inner),
        node.op == 'and' and '&&' or '||', operand(w, node.right, inner + 1)), level
end

local operator = { ['+'] = arithmetic, ['-'] = arithmetic, ['*'] = arithmetic, ['/'] = quotient,
    ['%'] = remainder, ['^'] = power, ['and'] = logical, ['or'] = logical }
for token in pairs(tokens) do operator[token] = comparison end

function write.binary(w, node, type) return operator[node.op](w, node, type) end

function write.unary(w, node, type)
    if node.op == 'not' then return '!' .. operand(w, node.operand, unary), unary end
    return '-' .. operand(w, node.operand, unary + 1, settled(w, node, type)), unary
end

-- ---- calls ----

local special = {}

local function rounded(name)
    return function(w, node, type)
        local argument = node.arguments[1]
        if types.is_integer(settled(w, argument, type)) then return text_of(w, argument, type) end
        return ('%s(%s)'):format(name, real_argument(w, argument)), atom
    end
end

special.floor, special.ceil = rounded 'floor', rounded 'ceil'

function special.abs(w, node, type)
    type = settled(w, node, type)
    if types.is_integer(type) then return helped(w, 'abs', type, node.arguments[1]) end
    local text = ('mr_abs(%s)'):format(operand(w, node.arguments[1], 0, type))
    if type == 'float' then return cast(type, text) end
    return text, atom
end

local function extreme(name)
    return function(w, node, type)
        type = settled(w, node, type)
        local is_whole = types.is_integer(type)
        local call = is_whole and helper(name, type) or 'mr_' .. name
        local text = operand(w, node.arguments[1], 0, type)
        for k = 2, #node.arguments do
            text = ('%s(%s, %s)'):format(call, text, operand(w, node.arguments[k], 0, type))
        end
        if type == 'float' then return cast(type, text) end
        return text, atom
    end
end

special.min, special.max = extreme 'min', extreme 'max'

function special.fmod(w, node, type)
    type = settled(w, node, type)
    local a, b = node.arguments[1], node.arguments[2]
    if types.is_integer(type) then
        return helped(w, 'remainder', type, a, b)
    end
    return ('fmod(%s, %s)'):format(real_argument(w, a), real_argument(w, b)), atom
end

function special.pow(w, node, type)
    return power(w, { left = node.arguments[1], right = node.arguments[2] }, type or w.of[node])
end

for name, word in pairs { item = 'lid', group = 'group', size = 'group_size' } do
    special[name] = function(w, node)
        local axis = node.arguments[1] and w.constants[node.arguments[1]] or 0
        return ('mr_%s_%s()'):format(word, ('xyz'):sub(axis + 1, axis + 1)), atom
    end
end

function special.barrier() return 'MR_BARRIER()', atom end

for _, name in ipairs { 'add', 'least', 'most' } do
    special[name] = function(w, node)
        local array, key, value = unpack(node.arguments)
        local place = expressions.place(w, { object = array, key = key, line = node.line })
        local call = ('lua_atomic_%s%s'):format(name, w.of[array].is_local and '_local' or '')
        return ('%s(&%s, %s)'):format(call, place, operand(w, value, 0, 'int32')), atom
    end
end

local bits = { band = { '&', 8 }, bor = { '|', 6 }, bxor = { '^', 7 } }

local function bitwise(w, node, name)
    local list = {}
    for k, argument in ipairs(node.arguments) do
        list[k] = operand(w, argument, unary, 'int32')
    end
    if bits[name] then return table.concat(list, ' ' .. bits[name][1] .. ' '), bits[name][2] end
    return ('lua_%s(%s)'):format(name, table.concat(list, ', ')), atom
end

local function of_library(w, node, entry, type)
    local list = {}
    for k, argument in ipairs(node.arguments) do
        local own = entry.on_reals and 'real' or settled(w, argument, type or w.of[node])
        local level = entry.call and 0 or entry.inner or entry.level + (k - 1)
        list[k] = entry.on_reals and entry.call and real_argument(w, argument)
            or operand(w, argument, level, own)
    end
    if entry.call then return ('%s(%s)'):format(entry.call, table.concat(list, ', ')), atom end
    if entry.prefix then return entry.prefix .. list[1], entry.level end
    return ('%s %s %s'):format(list[1], entry.infix, list[2]), entry.level
end

-- Returns the text of a call of another function of the script.
function expressions.call(w, node)
    local callee, list = w.callees[node], {}
    for k, argument in ipairs(node.arguments) do
        local type = callee.parameters[k]
        list[#list + 1] = operand(w, argument, 0, type)
        if type.kind == 'array' then
            list[#list + 1] = type.is_local and tostring(type.size) or list[#list] .. '_count'
        end
    end
    for _, entry in ipairs(callee.captures) do list[#list + 1] = entry.text end
    return ('%s(%s)'):format(callee.name, table.concat(list, ', ')), atom
end

function write.call(w, node, type)
    local callee = w.callees[node]
    if callee.is_bits then return bitwise(w, node, callee.special) end
    if callee.special then return special[callee.special](w, node, type) end
    if not callee.results then return of_library(w, node, callee, type) end
    local text = expressions.call(w, node)
    return #callee.results > 1 and text .. '.r1' or text, atom
end

-- Returns the text of an expression and its level. type: the type that numbers get which
-- have none themselves
function text_of(w, node, type)
    local value = w.constants[node]
    if value ~= nil then return literal(value, type or w.of[node]) end
    return write[node.tag](w, node, type)
end

expressions.text = text_of

return expressions
