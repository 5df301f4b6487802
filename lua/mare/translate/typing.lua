-- Finds the types of expressions in an instance of a function (infer.lua). The type is
-- 'none' where it is not known yet: a later pass will know it.

local calls = require 'mare.translate.calls'
local library = require 'mare.translate.library'
local outer = require 'mare.translate.outer'
local tables = require 'bindings.tables'
local types = require 'mare.translate.types'

local typing = {}

local expression

local number = calls.number

local function condition(self, node)
    local type = expression(self, node)
    if type ~= 'none' and type ~= 'bool' then
        self:refuse(node, 'a condition is wanted, not %s (every number counts as true in Lua)',
            types.name(type))
    end
end

local folds = {
    ['+'] = function(a, b) return a + b end, ['-'] = function(a, b) return a - b end,
    ['*'] = function(a, b) return a * b end, ['/'] = function(a, b) return a / b end,
    ['%'] = function(a, b) return a % b end, ['^'] = function(a, b) return a ^ b end,
}

local function constant(self, node, value)
    self.constants[node] = value
    return types.of_number(value)
end

local function power(self, node, base)
    local n = self.constants[node.right]
    if n and n % 1 == 0 and n >= 1 and n <= 8 then return base end
    if n == 0.5 then return types.quotient(base, 'whole') end
    return calls.power(self, node, base)
end

local function arithmetic(self, node)
    local a, b = number(self, node.left), number(self, node.right)
    local left, right = self.constants[node.left], self.constants[node.right]
    if type(left) == 'number' and type(right) == 'number' then
        return constant(self, node, folds[node.op](left, right))
    end
    if a == 'none' or b == 'none' then return 'none' end
    if node.op == '/' then return types.quotient(a, b) end
    if node.op == '^' then return power(self, node, a) end
    return types.common(a, b)
end

local function comparison(self, node)
    local a, b = expression(self, node.left), expression(self, node.right)
    local are_booleans = (a == 'bool' or a == 'none') and (b == 'bool' or b == 'none')
    if not (are_booleans and (node.op == '==' or node.op == '~=')) then
        number(self, node.left)
        number(self, node.right)
    end
    return 'bool'
end

-- Returns the type of `a and b or c`, whose value is b or c.
local function choice(self, node)
    local test, yes, no = node.left.left, node.left.right, node.right
    condition(self, test)
    local a, b = expression(self, yes), expression(self, no)
    if a == 'none' then return b end
    local joined = types.join(a, b)
    if not joined or type(joined) == 'table' then
        self:refuse(node, "'and ... or' chooses between two numbers or two booleans, not %s and %s",
            types.name(a), types.name(b))
    end
    self.choices[node] = joined ~= 'bool'
    return joined
end

local function logical(self, node)
    local is_choice = node.op == 'or' and node.left.tag == 'binary' and node.left.op == 'and'
    if is_choice and expression(self, node.left.right) ~= 'bool' then return choice(self, node) end
    condition(self, node.left)
    condition(self, node.right)
    return 'bool'
end

local operator = { ['and'] = logical, ['or'] = logical }
for _, op in ipairs { '+', '-', '*', '/', '%', '^' } do operator[op] = arithmetic end
for _, op in ipairs { '<', '<=', '>', '>=', '==', '~=' } do operator[op] = comparison end

local visit = {}

function visit.number(self, node)
    if not node.value then
        self:refuse(node, "'%s': 64-bit literals are not for kernels", node.text)
    end
    return constant(self, node, node.value)
end

visit['true'] = function(self, node)
    self.constants[node] = true
    return 'bool'
end
visit['false'] = function(self, node)
    self.constants[node] = false
    return 'bool'
end

function visit.string(self, node) self:refuse(node, 'a string: kernels have none') end

function visit.name(self, node)
    if node.symbol.kind == 'outer' then return outer.type(self, node) end
    self.read[node.symbol] = true
    return self.types[node.symbol] or 'none'
end

function visit.paren(self, node)
    local type = expression(self, node.inner)
    self.constants[node] = self.constants[node.inner]
    return type
end

function visit.binary(self, node) return operator[node.op](self, node) end

function visit.unary(self, node)
    if node.op == 'not' then
        condition(self, node.operand)
        return 'bool'
    end
    local type = number(self, node.operand)
    local value = self.constants[node.operand]
    if value then return constant(self, node, -value) end
    return type
end

local function tuple_element(self, node, object)
    number(self, node.key)
    local k = self.constants[node.key]
    if k and (k % 1 ~= 0 or k < 1 or k > object.size) then
        self:refuse(node, 'element %g of %d: they count from 1', k, object.size)
    end
    return object.element
end

local function record_field(self, node, object)
    local name = node.key.tag == 'string' and node.key.value
    return name and object.fields[name] or self:refuse(node, "there is no '%s' (there are: %s)",
        tostring(name or '[...]'), tables.names(object.fields))
end

local function array_element(self, node, object)
    if node.key.tag == 'string' then
        if node.key.value ~= 'count' then
            self:refuse(node, "an array has x[i] and x.count, not '%s'", tostring(node.key.value))
        end
        if object.is_local then self.constants[node] = object.size end
        if node.object.tag == 'name' then self.counted[node.object.symbol] = true end
        return object.count
    end
    number(self, node.key)
    return object.element
end

local elements = { tuple = tuple_element, record = record_field, array = array_element }

function visit.index(self, node)
    if outer.static(self, node) then return outer.type(self, node) end
    local object = expression(self, node.object)
    if object == 'none' then return 'none' end
    if type(object) ~= 'table' then
        local name, key = node.object.name, node.key.value
        self:refuse(node, name and "'%s' is %s, which has no %s" or '%s%s has no %s',
            name or '', types.name(object), key and ("'%s'"):format(key) or 'elements')
    end
    return elements[object.kind](self, node, object)
end

function visit.table(self, node)
    if #node.items == 0 then
        self:refuse(node, 'a list of numbers is wanted, not an empty table')
    end
    local element
    for _, item in ipairs(node.items) do
        element = types.join(element, number(self, item.value))
    end
    return { kind = 'tuple', element = element, size = #node.items }
end

function visit.method(self, node)
    self:refuse(node, "':%s' is no method that kernels know", node.name)
end

-- Returns the types of all results of a call.
local function call(self, node)
    local is_known, value, name = outer.static(self, node.callee)
    if not is_known or type(value) ~= 'function' then
        self:refuse(node, '%s is called, which is no function outside the kernel',
            node.callee.tag == 'name' and "'" .. node.callee.name .. "'" or 'something')
    end
    local entry = library.entry(value)
    if entry then return { calls.known(self, node, entry) } end
    local info = debug.getinfo(value, 'S')
    if info.what == 'C' or info.short_src:find '^%[builtin' then
        self:refuse(node, "'%s' is no function that kernels have (there are functions of the "
            .. 'script, and %s)', name, library.names())
    end
    return calls.own(self, node, value, (name:gsub('[^%w_]', '_')))
end

function visit.call(self, node)
    local results = call(self, node)
    if #results == 0 then self:refuse(node, 'a value is wanted, and this function returns none') end
    return results[1]
end

function expression(self, node)
    local type = visit[node.tag](self, node)
    self.of[node] = type
    return type
end

typing.condition = condition
typing.call, typing.expression = call, expression

return typing
