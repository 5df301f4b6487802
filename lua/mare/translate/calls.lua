-- Finds the types of calls in a function that is translated. What is called stands
-- in the library (library.lua), or is another function of the script, which becomes
-- a function of the dialect.

local operations = require 'mare.dialect.operations'
local resolve = require 'mare.parse.resolve'
local types = require 'mare.translate.types'

local calls = {}

local function count(self, node, wanted)
    if #node.arguments ~= wanted then
        self:refuse(node, '%d argument%s wanted, not %d', wanted, wanted == 1 and ' is' or 's are',
            #node.arguments)
    end
end

-- Returns the type of an expression that must be a number.
function calls.number(self, node)
    local type = self:expression(node)
    if type ~= 'none' and not types.is_number(type) then
        self:refuse(node, 'a number is wanted, not %s', types.name(type))
    end
    return type
end

-- Returns the common type of all arguments, which must be numbers.
local function numbers(self, node)
    local common
    for _, argument in ipairs(node.arguments) do
        local type = calls.number(self, argument)
        if type ~= 'none' then common = common and types.common(common, type) or type end
    end
    return common or 'none'
end

-- ---- the library ----

local function as_real(type)
    return type == 'none' and type or types.quotient(type, 'whole')
end

local special = {}

function special.floor(self, node)
    count(self, node, 1)
    return numbers(self, node)
end
special.ceil, special.abs = special.floor, special.floor

function special.min(self, node)
    if #node.arguments < 1 then self:refuse(node, 'min and max want numbers') end
    return numbers(self, node)
end
special.max = special.min

function special.fmod(self, node)
    count(self, node, 2)
    return numbers(self, node)
end

function special.pow(self, node)
    count(self, node, 2)
    return calls.power(self, node, numbers(self, node))
end

-- ---- mare.work ----

local function axis(self, node)
    local given = node.arguments[1]
    local value = 0
    if given then
        self:expression(given)
        value = self.constants[given]
    end
    if #node.arguments > 1 or value ~= 0 and value ~= 1 and value ~= 2 then
        self:refuse(node, 'an axis is 0, 1 or 2, as it stands in the text')
    end
    return 'int32'
end
special.item, special.group, special.size = axis, axis, axis

function special.barrier(self, node)
    count(self, node, 0)
    self.unit.has_barrier = true
    return nil
end

-- add, least and most.
local function atomic(self, node, entry)
    count(self, node, 3)
    local array = self:expression(node.arguments[1])
    if array.kind ~= 'array' or array.stored ~= 'int32' then
        self:refuse(node, '%s wants an array of int32: sums of reals depend on their order',
            entry.special)
    end
    for k = 2, 3 do calls.number(self, node.arguments[k]) end
    self.written[node.arguments[1].symbol] = true
    return 'int32'
end
special.add, special.least, special.most = atomic, atomic, atomic

-- Returns the type of an array in local memory, which is made once for each call
-- in the text.
function special.shared(self, node)
    count(self, node, 2)
    local stored, size = node.arguments[1].value, node.arguments[2]
    self:expression(size)
    local elements = self.constants[size]
    if not self.is_kernel then
        self:refuse(node, 'an array of the group is made in the kernel: give it to the function')
    elseif node.arguments[1].tag ~= 'string' or not self.unit.memory(stored) then
        self:refuse(node, "shared('float', n): a type is wanted")
    elseif type(elements) ~= 'number' or elements % 1 ~= 0 or elements < 1 then
        self:refuse(node, 'shared: a number of elements is wanted, as it stands in the text')
    end
    if not self.locals[node] then
        local made = self.unit.memory(stored)
        made.is_local, made.size = true, elements
        self.locals[node] = made
    end
    return self.locals[node]
end

local function bits(self, node, entry)
    local unary = entry.special == 'bnot'
    local shift = entry.special:find 'shift'
    if unary or shift then count(self, node, unary and 1 or 2) end
    for _, argument in ipairs(node.arguments) do
        if not types.is_integer(calls.number(self, argument)) then
            self:refuse(argument, 'bit.%s wants whole numbers', entry.special)
        end
    end
    return 'int32'
end

-- Returns the type of a call of a function of the library.
function calls.known(self, node, entry)
    self.callees[node] = entry
    if entry.is_bits then return bits(self, node, entry) end
    if entry.special then return special[entry.special](self, node, entry) end
    count(self, node, entry.operands)
    local list = {}
    for k, argument in ipairs(node.arguments) do
        local type = self:expression(argument)
        if type == 'none' then return 'none' end
        if type == 'float' or type == 'double' then type = entry.on_reals and 'real' or type end
        list[k] = type
    end
    local result = entry.result(unpack(list))
    return result or self:refuse(node, "'%s' is for %s, not for %s", entry.name, entry.domain,
        types.name(list[1]))
end

-- Returns the type of a power that is no short product.
function calls.power(self, node, base)
    if not operations.pow then
        self:refuse(node, "'^' takes whole numbers from 1 to 8 and 0.5, as they stand in the text")
    end
    return as_real(base)
end

-- ---- functions of the script ----

local function argument_type(symbol, type)
    if type == 'whole' then return symbol.is_index and 'int32' or 'real' end
    return types.settled(type)
end

-- Returns the types of the results of another function of the script.
function calls.own(self, node, f, name)
    local unit = self.unit
    local parameters = resolve.of(f).parameters
    if #node.arguments ~= #parameters then
        self:refuse(node, "'%s' takes %d arguments, not %d", name, #parameters, #node.arguments)
    end
    local list = {}
    for k, argument in ipairs(node.arguments) do
        local type = self:expression(argument)
        if type == 'none' then return { 'none' } end
        if _G.type(type) == 'table' and type.kind == 'tuple' then
            self:refuse(argument, 'a list cannot be given to a function: give its numbers')
        end
        list[k] = argument_type(parameters[k], type)
    end
    local callee = unit:instance(f, list, name, self, node)
    self.callees[node] = callee
    for k, symbol in ipairs(callee.resolved.parameters) do
        local given = node.arguments[k]
        if given.tag == 'name' and given.symbol.kind ~= 'outer' then
            if callee.written[symbol] then self.written[given.symbol] = true end
            if callee.counted[symbol] then self.counted[given.symbol] = true end
        end
    end
    for _, entry in ipairs(callee.captures) do
        if not self.captures[entry] then
            self.captures[entry], self.captures[#self.captures + 1] = entry, entry
        end
    end
    return callee.results
end

return calls
