-- Follows a function of Lua with expressions (dialect/nodes.lua) for its arguments, statement by
-- statement, and gives the expressions of its results. It goes through what has no loop but those
-- of known length, and no branch but `a and b or c` and those that are known. trace.paths() goes
-- each way at every branch, so that nothing is computed that the function would not compute, and
-- into arrays.

local errors = require 'bindings.errors'
local library = require 'mare.translate.library'
local maths = require 'mare.dialect.maths'
local nodes = require 'mare.dialect.nodes'
local outer = require 'mare.translate.outer'
local resolve = require 'mare.parse.resolve'

local trace = {}

local most_turns = 64       -- of a loop
local untraced = {}         -- what is raised where the trace ends

local function give_up(node, why) error(setmetatable({ node = node, why = why }, untraced), 0) end

-- The remainder of Lua, which a kernel has as a function of its own: for text of Lua alone.
trace.modulo = { name = 'modulo', operands = 2, result = function() return 'real' end }

local expression, call

-- ---- expressions ----

local function is_number(value) return type(value) == 'number' or nodes.is(value) end

local function numbers(node, ...)
    for k = 1, select('#', ...) do
        if not is_number((select(k, ...))) then give_up(node, 'something that is no number') end
    end
    return ...
end

local function power(base, n)
    if type(base) == 'number' and type(n) == 'number' then return base ^ n end
    if n == 0.5 then return maths.sqrt(base) end
    if type(n) == 'number' and n % 1 == 0 and n >= 1 and n <= 8 then return base ^ n end
    return maths.pow(base, n)
end

local arithmetic = {
    ['+'] = function(a, b) return a + b end, ['-'] = function(a, b) return a - b end,
    ['*'] = function(a, b) return a * b end, ['/'] = function(a, b) return a / b end,
    ['^'] = power,
    ['%'] = function(a, b, node, self)
        local is_known = type(a) == 'number' and type(b) == 'number'
        if not is_known and not self.ways then give_up(node, 'a remainder') end
        return is_known and a % b or nodes.apply(trace.modulo, a, b)
    end,
}
local comparisons = { ['<'] = 'lt', ['<='] = 'le', ['>'] = 'gt', ['>='] = 'ge', ['=='] = 'eq',
    ['~='] = 'ne' }

local function choice(self, node)
    local test = expression(self, node.left.left)
    if test == true then return expression(self, node.left.right) end
    if test == false then return expression(self, node.right) end
    return maths.where(test, numbers(node, expression(self, node.left.right),
        expression(self, node.right)))
end

-- Returns a condition, as true or false where each way is gone.
local function decided(self, test)
    if self.ways and nodes.is(test) and test.type == 'bool' then return self.ways.decide(test) end
    return test
end

-- What Lua does: the second operand is looked at only if the first does not say it all.
local function in_order(self, node)
    local a = decided(self, expression(self, node.left))
    if (a ~= false) == (node.op == 'or') then return a end
    return expression(self, node.right)
end

local function is_real(value)
    return type(value) == 'number' or nodes.is(value) and value.type ~= 'bool'
end

local function logical(self, node)
    if self.ways then return in_order(self, node) end
    local is_choice = node.op == 'or' and node.left.op == 'and'
    if is_choice and is_real(expression(self, node.left.right)) then return choice(self, node) end
    local a = expression(self, node.left)
    if type(a) == 'boolean' then
        if a == (node.op == 'or') then return a end
        return expression(self, node.right)
    end
    local b = expression(self, node.right)
    if type(b) == 'boolean' then give_up(node, 'a condition that is known in part') end
    return node.op == 'and' and maths.logical_and(a, b) or maths.logical_or(a, b)
end

local visit = {}

function visit.number(_, node) return node.value or give_up(node, 'a number of 64 bits') end
visit['true'], visit['false'] = function() return true end, function() return false end

local function static(self, node)
    local is_known, value = outer.static(self, node)
    if not is_known then return false end
    if type(value) ~= 'number' and type(value) ~= 'boolean' then give_up(node, 'no number') end
    if self.ways and type(value) == 'number' then return true, self.ways.outside(self.f, node) end
    return true, value
end

function visit.name(self, node)
    local is_known, value = static(self, node)
    if is_known then return value end
    value = self.values[node.symbol]
    if value == nil then give_up(node, 'a variable without a value') end
    return value
end

function visit.paren(self, node) return expression(self, node.inner) end

function visit.unary(self, node)
    local value = expression(self, node.operand)
    if node.op == '-' then return -numbers(node, value) end
    value = decided(self, value)
    if type(value) == 'boolean' then return not value end
    return maths.logical_not(value)
end

function visit.binary(self, node)
    if node.op == 'and' or node.op == 'or' then return logical(self, node) end
    local a, b = numbers(node, expression(self, node.left), expression(self, node.right))
    if arithmetic[node.op] then return arithmetic[node.op](a, b, node, self) end
    return maths[comparisons[node.op]](a, b)
end

function visit.index(self, node)
    local is_known, value = static(self, node)
    if is_known then return value end
    local object = expression(self, node.object)
    local key = node.key.tag == 'string' and node.key.value or expression(self, node.key)
    if self.ways and nodes.is(object) then return self.ways.read(object, key, node) end
    if type(object) ~= 'table' or nodes.is(object) or nodes.is(key) or object[key] == nil then
        give_up(node, 'an element that is not known')
    end
    return object[key]
end

function visit.table(self, node)
    local list = {}
    for k, item in ipairs(node.items) do list[k] = expression(self, item.value) end
    return list
end

function visit.call(self, node) return (call(self, node)) end

function expression(self, node)
    if not visit[node.tag] then give_up(node, node.tag) end
    return visit[node.tag](self, node)
end

-- ---- calls ----

local function extreme(name)
    return function(first, ...)
        for k = 1, select('#', ...) do first = maths[name](first, (select(k, ...))) end
        return first
    end
end

local special = { floor = maths.floor, ceil = maths.ceil, abs = maths.abs, fmod = maths.fmod,
    min = extreme 'min', max = extreme 'max', pow = power }
local wanted = { floor = 1, ceil = 1, abs = 1, fmod = 2, pow = 2 }  -- min and max: any number

-- Returns what a function of the library gives; with another number of arguments than its own it
-- would be another function.
local function of_library(entry, list, node)
    local f = not entry.is_bits and (special[entry.special] or maths[entry.name])
    if not f then give_up(node, 'a function without an expression') end
    local count = entry.operands or wanted[entry.special]
    if count and #list ~= count then
        give_up(node, ('a function of %d argument%s with %d'):format(count,
            count == 1 and '' or 's', #list))
    end
    return f(numbers(node, unpack(list)))
end

-- Returns all that a list of expressions gives, of which a last call may give several.
local function values(self, list)
    local found = {}
    for k, node in ipairs(list) do
        if k == #list and node.tag == 'call' then
            for _, value in ipairs { call(self, node) } do found[#found + 1] = value end
        else
            found[k] = expression(self, node)
        end
    end
    return found
end

local follow

function call(self, node)
    local is_known, f = outer.static(self, node.callee)
    if not is_known or type(f) ~= 'function' then give_up(node, 'a call of what is not known') end
    local entry, list = library.entry(f), values(self, node.arguments)
    if entry then return of_library(entry, list, node) end
    if debug.getinfo(f, 'S').what == 'C' then give_up(node, 'a function of C') end
    local caller = self
    while caller and caller.f ~= f do caller = caller.caller end
    if caller then give_up(node, 'a function that calls itself') end
    return unpack(follow(f, list, self.ways, self))
end

-- ---- statements ----

local statement = {}

-- Each returns the function's results if it ends there, or 'break'.
local function block(self, list)
    for _, node in ipairs(list) do
        if not statement[node.tag] then give_up(node, node.tag) end
        local ended = statement[node.tag](self, node)
        if ended then return ended end
    end
end

statement['local'] = function(self, node)
    local found = values(self, node.values)
    for k, symbol in ipairs(node.symbols) do self.values[symbol] = found[k] end
end

function statement.assign(self, node)
    local found = values(self, node.values)
    for k = #node.targets, 1, -1 do
        local target = node.targets[k]
        if target.tag == 'name' then
            self.values[target.symbol] = found[k]
        elseif self.ways then
            self.ways.write(expression(self, target.object), expression(self, target.key),
                numbers(node, found[k]), node)
        else
            give_up(node, 'an element that is assigned')
        end
    end
end

statement['do'] = function(self, node) return block(self, node.body) end

statement['if'] = function(self, node)
    for _, clause in ipairs(node.clauses) do
        local test = decided(self, expression(self, clause.test))
        if type(test) ~= 'boolean' then give_up(clause.test, 'a branch') end
        if test then return block(self, clause.body) end
    end
    return node.otherwise and block(self, node.otherwise)
end

statement['for'] = function(self, node)
    local from, to = expression(self, node.from), expression(self, node.to)
    local step = node.step and expression(self, node.step) or 1
    if type(from) ~= 'number' or type(to) ~= 'number' or type(step) ~= 'number' or step == 0
        or (to - from) / step >= most_turns then
        give_up(node, 'a loop of unknown length, or a long one')
    end
    for k = from, to, step do
        self.values[node.symbol] = k
        local ended = block(self, node.body)
        if ended == 'break' then break end
        if ended then return ended end
    end
end

statement['break'] = function() return 'break' end
statement['return'] = function(self, node) return values(self, node.values) end

function follow(f, list, ways, caller)
    local resolved = resolve.of(f)
    local self = { f = f, values = {}, ways = ways, caller = caller }
    for k, symbol in ipairs(resolved.parameters) do self.values[symbol] = list[k] end
    return block(self, resolved.tree.body) or {}
end

-- Returns a list of what f gives for these arguments: expressions, numbers, or tables of such as
-- q.m.n; nil, why, and the line of Lua where it cannot be told.
function trace.of(f, ...)
    local ok, result = pcall(follow, f, { ... })
    if ok then return result end
    if getmetatable(result) ~= untraced then error(result, 0) end
    return nil, result.why, result.node and result.node.line
end

-- ---- each way ----

local most_ways = 64

-- Returns decide(test) for one run, which goes on as `decisions` says and notes there what it
-- decides anew; and how many it has used.
local function decider(decisions)
    local known, used = {}, 0
    return function(test)
        if known[test] == nil then
            used = used + 1
            decisions[used] = decisions[used] or { test = test, yes = true }
            known[test] = decisions[used].yes
        end
        return known[test]
    end, function() return used end
end

-- Takes the last decision the other way that was not yet. Returns whether there is one.
local function turn(decisions)
    while #decisions > 0 and not decisions[#decisions].yes do decisions[#decisions] = nil end
    local last = decisions[#decisions]
    if last then last.yes = false end
    return last ~= nil
end

-- Goes each way through f. ways: { outside(f, node) gives the expression of a number outside f;
-- read(array, index, node) that of an element, or of a property if index is its name;
-- write(array, index, value, node) }. Calls begin() before each way, and finish(conditions,
-- results) behind it, with a list of { test = expression, yes = boolean }. Raises an error that
-- names the line where it cannot be followed.
function trace.paths(f, arguments, ways, begin, finish)
    local decisions, count = {}, 0
    repeat
        begin()
        local decide, used = decider(decisions)
        ways.decide = decide
        local ok, result = pcall(follow, f, arguments, ways)
        if not ok then
            if getmetatable(result) ~= untraced then error(result, 0) end
            local line = result.node and result.node.line or resolve.of(f).tree.line
            errors.argument_at(('%s:%d'):format(resolve.of(f).chunk, line),
                'a derivative cannot go through %s', result.why)
        end
        local conditions = {}
        for k = 1, used() do
            conditions[k] = { test = decisions[k].test, yes = decisions[k].yes }
        end
        finish(conditions, result)
        count = count + 1
        if count > most_ways then
            errors.argument_at(('%s:%d'):format(resolve.of(f).chunk, resolve.of(f).tree.line),
                'a derivative cannot go more than %d ways through its branches', most_ways)
        end
    until not turn(decisions)
end

trace.give_up = give_up

return trace
