-- Finds the type of every expression and variable of a function for arguments of
-- given types. An instance of a function is
--
--     { f, resolved, parameters (types), types = { [symbol] = type }, of = { [node] = type },
--       constants = { [node] = number or boolean }, callees = { [node] = instance },
--       captures = list of { name, type, key, value() }, results (types),
--       written, counted = { [symbol of an array] = true } }
--
-- Types are joined until none changes that was read before: a variable's type follows
-- from all that is assigned to it, in loops too.

local calls = require 'mare.translate.calls'
local errors = require 'bindings.errors'
local resolve = require 'mare.parse.resolve'
local types = require 'mare.translate.types'
local typing = require 'mare.translate.typing'

local expression, condition = typing.expression, typing.condition
local number = calls.number

local infer = {}

local Instance = {}
Instance.__index = Instance
Instance.expression = expression        -- for calls.lua, below typing.lua

function Instance:refuse(node, message, ...)
    errors.argument_at(('%s:%d'):format(self.resolved.chunk, node.line), message, ...)
end

-- ---- statements ----

local function assign(self, node, symbol, type)
    local joined = types.join(self.types[symbol], type)
    if type == 'none' then return end
    if not joined then
        self:refuse(node, "'%s' holds %s here and %s elsewhere", symbol.name, types.name(type),
            types.name(self.types[symbol]))
    end
    if type.kind and type.kind ~= 'tuple' and not (type.is_local and not symbol.is_assigned) then
        self:refuse(node, "'%s' cannot stand for %s: use it by its own name", symbol.name,
            types.name(type))
    end
    if joined == self.types[symbol] then return end
    self.types[symbol] = joined
    self.changed = self.changed or self.read[symbol]
end

-- Returns the types of a list of expressions, of which a last call may give several.
local function values(self, list, wanted)
    local found = {}
    for k, node in ipairs(list) do
        if k == #list and node.tag == 'call' and wanted > k then
            local results = typing.call(self, node)
            self.of[node] = results[1]
            for _, type in ipairs(results) do found[#found + 1] = type end
        else
            found[#found + 1] = expression(self, node)
        end
    end
    return found
end

local statement, block = {}, nil

statement['local'] = function(self, node)
    local found = values(self, node.values, #node.names)
    for k, symbol in ipairs(node.symbols) do
        if found[k] then
            assign(self, node, symbol, found[k])
        elseif #node.values > 0 then
            self:refuse(node, "there is no value for '%s'", symbol.name)
        end
    end
end

local function store(self, target, type)
    local object = expression(self, target.object)
    local is_place = object.kind == 'array' or object.kind == 'tuple'
    if not is_place or target.key.tag == 'string' then
        self:refuse(target, 'only elements of arrays and variables can be assigned to')
    end
    number(self, target.key)
    if type ~= 'none' and (object.element == 'bool') ~= (type == 'bool') then
        self:refuse(target, '%s cannot be stored in an array of %s', types.name(type),
            tostring(object.stored or object.element))
    end
    if target.object.tag == 'name' then self.written[target.object.symbol] = true end
end

function statement.assign(self, node)
    local found = values(self, node.values, #node.targets)
    for k, target in ipairs(node.targets) do
        if not found[k] then self:refuse(node, 'there is no value %d', k) end
        if target.tag == 'name' then
            assign(self, node, target.symbol, found[k])
        else
            store(self, target, found[k])
        end
    end
end

function statement.callstatement(self, node)
    if node.call.tag ~= 'call' then return expression(self, node.call) end
    local results = typing.call(self, node.call)
    self.of[node.call] = results[1]
end

statement['do'] = function(self, node) block(self, node.body) end

statement['while'] = function(self, node)
    condition(self, node.test)
    block(self, node.body)
end

statement['repeat'] = function(self, node)
    block(self, node.body)
    condition(self, node.test)
end

statement['if'] = function(self, node)
    for _, clause in ipairs(node.clauses) do
        condition(self, clause.test)
        block(self, clause.body)
    end
    if node.otherwise then block(self, node.otherwise) end
end

statement['for'] = function(self, node)
    local type = types.common(number(self, node.from), number(self, node.to))
    if node.step then
        type = types.common(type, number(self, node.step))
        if self.constants[node.step] == 0 then self:refuse(node, 'a step of 0 goes on for ever') end
    end
    assign(self, node, node.symbol, type)
    block(self, node.body)
end

statement['return'] = function(self, node)
    local found = values(self, node.values, math.huge)
    if self.results and #self.results ~= #found then
        self:refuse(node, '%d results here, %d elsewhere', #found, #self.results)
    end
    local joined = {}
    for k, type in ipairs(found) do
        local old = self.results and self.results[k]
        if old == 'none' then old = nil end
        joined[k] = type == 'none' and (old or 'none') or types.join(old, type)
            or self:refuse(node, 'result %d is %s here, %s elsewhere', k, types.name(type),
                types.name(old))
    end
    self.results = joined
end

statement['break'] = function() end

function block(self, list)
    for _, node in ipairs(list) do statement[node.tag](self, node) end
end

-- ---- functions ----

-- Whether a block ends with a return whatever happens.
local function returns(list)
    local last = list[#list]
    if not last then return false end
    if last.tag == 'return' then return true end
    if last.tag == 'do' then return returns(last.body) end
    if last.tag ~= 'if' or not last.otherwise then return false end
    for _, clause in ipairs(last.clauses) do
        if not returns(clause.body) then return false end
    end
    return returns(last.otherwise)
end

local most_passes = 20

local function pass(self)
    self.changed, self.read = false, {}
    self.of, self.constants, self.choices, self.captured = {}, {}, {}, {}
    local before = self.results
    self.results = nil
    block(self, self.resolved.tree.body)
    self.results = self.results or {}
    for k, type in ipairs(before or {}) do
        if self.results[k] ~= type then self.changed = true end
    end
end

local function pass_until_settled(self)
    local count = 0
    repeat
        pass(self)
        count = count + 1
        if count > most_passes then
            self:refuse(self.resolved.tree, 'the types of its variables do not settle')
        end
    until not self.changed
end

-- Gives variables of open types their types; returns whether there were any.
local function settle(self)
    local is_changed = false
    for symbol, type in pairs(self.types) do
        local own = type.kind == 'tuple' and type.element or type
        local settled = types.settled(own)
        is_changed = is_changed or settled ~= own
        if type.kind == 'tuple' then
            type.element = settled
        else
            self.types[symbol] = settled
        end
    end
    return is_changed
end

-- Returns the instance of f for these types of arguments. unit: the text of the
-- dialect that it belongs to (unit.lua)
function infer.instance(unit, f, parameters, is_kernel)
    local resolved = resolve.of(f)
    local self = setmetatable({ unit = unit, f = f, is_kernel = is_kernel, resolved = resolved,
        parameters = parameters, types = {}, captures = {}, written = {}, counted = {},
        callees = {}, locals = {} }, Instance)
    if unit.fault then self.captures[1], self.captures[unit.fault] = unit.fault, unit.fault end
    for k, symbol in ipairs(resolved.parameters) do
        self.types[symbol] = parameters[k]
            or self:refuse(resolved.tree, "there is no argument for '%s': it is given %d",
                symbol.name, #parameters)
    end
    pass_until_settled(self)
    if settle(self) then pass_until_settled(self) end
    for k, type in ipairs(self.results) do
        local is_real = unit.has_constants and types.is_number(type)
        self.results[k] = is_real and 'real' or types.settled(type)
    end
    if #self.results > 0 and not returns(resolved.tree.body) then
        self:refuse(resolved.tree, 'the function returns a value on some paths and none on others')
    end
    return self
end

return infer
