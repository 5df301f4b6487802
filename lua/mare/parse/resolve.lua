-- Links the names in a function's tree to what they stand for, and refuses by line
-- what a kernel cannot do. Every name node gets a `symbol`
--
--     { name, kind = 'parameter' | 'local' | 'loop' | 'outer', is_used, is_assigned, is_index }
--
-- `is_index` says that a number is used to count or to index, or as a counter's limit.
-- An outer symbol is an upvalue or a global of the function: `value(f)` returns the
-- value that it has now in the function f.

local errors = require 'bindings.errors'
local interpreted = require 'mare.base.interpreted'
local lists = require 'mare.parse.lists'
local text = require 'mare.parse.text'

local resolve = {}

local Resolver = {}
Resolver.__index = Resolver

local function refuse(self, node, message, ...)
    errors.argument_at(('%s:%d'):format(self.chunk, node.line), message, ...)
end

-- ---- symbols ----

local function open(self)
    self.scope = { outer = self.scope, names = {} }
end

local function close(self)
    self.scope = self.scope.outer
end

local function declare(self, name, kind)
    local symbol = { name = name, kind = kind }
    self.scope.names[name] = symbol
    self.symbols[#self.symbols + 1] = symbol
    return symbol
end

-- Returns, by name, functions of f that read its upvalues.
local function upvalues(f)
    local list = {}
    for k, name in ipairs(text.upvalues(f)) do
        list[name] = function(g) return select(2, debug.getupvalue(g, k)) end
    end
    return list
end

local function outer_symbol(self, name)
    local symbol = self.outer[name]
    if not symbol then
        symbol = { name = name, kind = 'outer', value = self.upvalues[name]
            or function(f) return getfenv(f)[name] end }
        self.outer[name] = symbol
    end
    return symbol
end

local function find(self, name)
    local scope = self.scope
    while scope do
        if scope.names[name] then return scope.names[name] end
        scope = scope.outer
    end
    return outer_symbol(self, name)
end

-- ---- expressions ----

local expression, block

local function expressions(self, list)
    for _, node in ipairs(list) do expression(self, node) end
end

local beside = 'a function inside the function: write it beside, it may be called by its name'
local kinds = {
    ['nil'] = 'nil: a variable of a kernel is a number',
    vararg = "'...': a kernel takes a fixed list of arguments", ['function'] = beside,
}

local visit = {}

function visit.name(self, node)
    node.symbol = find(self, node.name)
    node.symbol.is_used = true
    node.symbol.uses = (node.symbol.uses or 0) + 1
    if self.counts > 0 then node.symbol.is_index = true end
end

-- Visits an expression that counts or indexes.
local function count(self, node)
    self.counts = self.counts + 1
    expression(self, node)
    self.counts = self.counts - 1
end

function visit.index(self, node)
    local counts = self.counts
    self.counts = 0
    expression(self, node.object)
    self.counts = counts
    if node.key.tag ~= 'string' then count(self, node.key) end
    if node.key.tag ~= 'string' and node.key.tag ~= 'number' then
        self.looks[#self.looks + 1] = node
    end
end

function visit.call(self, node)
    local counts = self.counts
    self.counts = 0
    expression(self, node.callee)
    expressions(self, node.arguments)
    self.counts = counts
end

function visit.method(self, node)
    expression(self, node.object)
    expressions(self, node.arguments)
end

local compares = { ['<'] = true, ['<='] = true, ['>'] = true, ['>='] = true, ['=='] = true,
    ['~='] = true }

local function note_comparison(self, node)
    local a, b = node.left.symbol, node.right.symbol
    if not (compares[node.op] and a and b) then return end
    for _, pair in ipairs { { a, b }, { b, a } } do
        self.compared[#self.compared + 1] = pair
        pair[1].comparisons = (pair[1].comparisons or 0) + 1
    end
end

function visit.binary(self, node)
    if node.op == '..' then
        refuse(self, node, "'..' joins strings, which kernels do not have")
    end
    expression(self, node.left)
    expression(self, node.right)
    note_comparison(self, node)
end

function visit.unary(self, node)
    if node.op == '#' then
        refuse(self, node, "'#' does not work in kernels: x.count is the number of elements")
    end
    expression(self, node.operand)
end

function visit.paren(self, node) expression(self, node.inner) end

function visit.table(self, node)
    for _, item in ipairs(node.items) do
        if item.key or item.name then
            refuse(self, node, 'a table in a kernel is a short list of numbers: { a, b, c }')
        end
        expression(self, item.value)
    end
end

visit.number = function() end
visit['true'], visit['false'], visit.string = visit.number, visit.number, visit.number

function expression(self, node)
    if not visit[node.tag] then refuse(self, node, '%s', kinds[node.tag]) end
    visit[node.tag](self, node)
end

-- ---- statements ----

local statement = {}

statement['local'] = function(self, node)
    expressions(self, node.values)
    node.symbols = {}
    for k, name in ipairs(node.names) do node.symbols[k] = declare(self, name, 'local') end
end

local function assign_to(self, node, target)
    if target.tag == 'index' then
        visit.index(self, target)
        if self.looks[#self.looks] == target then self.looks[#self.looks] = nil end
        return
    end
    if target.tag ~= 'name' then refuse(self, node, 'this cannot be assigned to') end
    visit.name(self, target)
    if target.symbol.kind == 'outer' then
        refuse(self, node, "'%s' is a variable outside the function: a kernel cannot change it, "
            .. 'it can write into a buffer', target.name)
    end
    target.symbol.is_assigned = true
end

-- Whether a value is that of the variable that it is assigned to and a whole number more, or less.
local function is_step(target, value)
    return target.tag == 'name' and value and value.tag == 'binary'
        and (value.op == '+' or value.op == '-') and value.left.symbol == target.symbol
        and value.right.tag == 'number' and value.right.value and value.right.value % 1 == 0
end

function statement.assign(self, node)
    expressions(self, node.values)
    for k, target in ipairs(node.targets) do
        assign_to(self, node, target)
        if is_step(target, node.values[k]) then target.symbol.is_counter = true end
    end
end

-- A number that is only compared with counters counts, too.
local function mark_limits(self)
    for _, pair in ipairs(self.compared) do
        local symbol, other = unpack(pair)
        if other.is_counter and symbol.uses == symbol.comparisons and not symbol.is_assigned then
            symbol.is_index = true
        end
    end
end

function statement.callstatement(self, node) expression(self, node.call) end

statement['do'] = function(self, node) block(self, node.body) end

statement['while'] = function(self, node)
    expression(self, node.test)
    block(self, node.body)
end

statement['repeat'] = function(self, node)
    open(self)
    block(self, node.body, true)
    expression(self, node.test)
    close(self)
end

statement['if'] = function(self, node)
    for _, clause in ipairs(node.clauses) do
        expression(self, clause.test)
        block(self, clause.body)
    end
    if node.otherwise then block(self, node.otherwise) end
end

statement['for'] = function(self, node)
    count(self, node.from)
    count(self, node.to)
    if node.step then count(self, node.step) end
    open(self)
    node.symbol = declare(self, node.name, 'loop')
    block(self, node.body, true)
    close(self)
end

statement['return'] = function(self, node) expressions(self, node.values) end
statement['break'] = function() end

local refused = {
    forin = "'for ... in': a kernel has no iterators: write for k = 0, x.count - 1 do",
    localfunction = beside, functionstatement = beside,
    ['goto'] = "'goto': write a loop with break",
    label = 'a label: write a loop with break',
}

function block(self, list, is_open)
    if not is_open then open(self) end
    for _, node in ipairs(list) do
        if refused[node.tag] then refuse(self, node, '%s', refused[node.tag]) end
        statement[node.tag](self, node)
    end
    if not is_open then close(self) end
end

local resolved = setmetatable({}, { __mode = 'k' })

local function resolve_function(f)
    local found = text.of(f)
    local self = setmetatable({ chunk = found.chunk, upvalues = upvalues(f), outer = {},
        symbols = {}, compared = {}, looks = {}, counts = 0 }, Resolver)
    local tree = found.tree
    if tree.is_vararg then refuse(self, tree, '%s', kinds.vararg) end
    open(self)
    local parameters = {}
    for k, name in ipairs(tree.parameters) do
        parameters[k] = declare(self, name, 'parameter')
    end
    block(self, tree.body, true)
    mark_limits(self)
    lists.bring_in(f, tree, self.looks, self.symbols)
    return { chunk = found.chunk, tree = tree, parameters = parameters,
        symbols = self.symbols, source = found.source }
end

-- Returns { chunk, tree, parameters and symbols (lists), source } of a function.
function resolve.of(f)
    resolved[f] = resolved[f] or interpreted(resolve_function, f)
    return resolved[f]
end

return resolve
