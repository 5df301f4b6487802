-- Writes kernel text from statements and expression trees. The same calls give
-- the same text. A value that is used more than once gets a name, declared where
-- it is first needed, and so does one that would make a line too long.
--
--     local w = writer.new()
--     w:open('MR_KERNEL void f(...)', { 'x', 'out' })         -- names that are taken
--     local a, b = w:values { x * y, x + 1 }                  -- the texts of trees
--     w:line('out[0] = %s;', a)
--     w:close()
--     w:text()

local nodes = require 'mare.dialect.nodes'
local reserved = require 'mare.dialect.reserved'
local types = require 'mare.dialect.types'
local operations = require 'mare.dialect.operations'

local writer = {}

local Writer = {}
Writer.__index = Writer

local longest = 60      -- characters of an operand; one that is longer gets a name
local widest = 100      -- columns of a line

function writer.new()
    return setmetatable({ lines = {}, indent = '', scope = { taken = {}, named = {}, count = 0 } },
        Writer)
end

-- ---- statements ----

-- Calls add(line) for a text behind an indent. A line that is too wide is broken
-- after a comma, or else at a blank.
function writer.wrap(indent, text, add)
    local line = text == '' and '' or indent .. text
    while #line > widest do
        local fitting = line:sub(1, widest)
        local head = fitting:match '^(.*,) ' or fitting:match '^(.*%S) '
        if not head or #head <= #indent + 4 then break end
        add(head)
        line = indent .. '    ' .. line:sub(#head + 2)
    end
    add(line)
end

-- Adds a line.
function Writer:line(format, ...)
    local lines, text = self.lines, select('#', ...) > 0 and format:format(...) or format
    if text ~= '' and #self.indent + #text <= widest then
        lines[#lines + 1] = self.indent .. text
    else
        writer.wrap(self.indent, text, function(line) lines[#lines + 1] = line end)
    end
end

-- Begins a block, which close() ends. Names that are declared in it hold until
-- then. taken: names that already have a meaning in the block, such as those of
-- a kernel's arguments.
function Writer:open(head, taken)
    local outer = self.scope
    self:line('%s {', head)
    self.indent = self.indent .. '    '
    self.scope = { outer = outer, count = outer.count,
        taken = setmetatable({}, { __index = outer.taken }),
        named = setmetatable({}, { __index = outer.named }) }
    for _, name in ipairs(taken or {}) do self.scope.taken[name] = true end
end

function Writer:close()
    self.indent, self.scope = self.indent:sub(5), self.scope.outer
    self:line '}'
end

function Writer:text()
    return table.concat(self.lines, '\n') .. '\n'
end

-- ---- names ----

-- Returns the wanted name, with a number behind it if it is taken.
local function free_name(scope, wanted)
    local name, k = wanted, 1
    while scope.taken[name] or reserved[name] do
        k = k + 1
        name = wanted .. '_' .. k
    end
    scope.taken[name] = true
    return name
end

local function declare(self, node, text)
    local scope, wanted = self.scope, node.name
    if not wanted then
        scope.count = scope.count + 1
        wanted = 't' .. scope.count
    end
    local name = free_name(scope, wanted)
    self:line('%s %s = %s;', types.all[node.type].written, name, text)
    scope.named[node] = name
    return name
end

-- ---- expressions ----

-- Returns the type in which operands that are numbers of Lua are written.
local function operand_type(node)
    local op = node.op
    if op.compares then return types.common(node[1].type, node[2].type) end
    return op.converts and types.real(node[1].type) or node.type
end

local text_of

-- Returns the text of an operand, in parentheses if its level is below `level`.
local function operand(self, node, level, type, is_repeated)
    local text, own = text_of(self, node, type)
    local is_long = #text > longest or is_repeated and node.kind == 'operation'
    if is_long and node.kind == 'operation' and not self.scope.named[node] then
        return declare(self, node, text)
    end
    return own < level and '(' .. text .. ')' or text
end

-- Converts the first operand of a quotient of integers, which is real as in Lua.
local function dividend(self, node, type)
    local text = operand(self, node[1], operations.unary, type)
    return ('(%s)%s'):format(types.all[type].written, text)
end

local function written(self, node)
    local op, type = node.op, operand_type(node)
    if op.call then
        local list = {}
        for k = 1, op.operands do
            local own = k == 1 and op == operations.where and 'bool' or type
            list[k] = operand(self, node[k], 0, own, op.repeats)
        end
        local name = node.type ~= 'real' and op.own or op.call
        return ('%s(%s)'):format(name, table.concat(list, ', '))
    end
    local inner = op.inner or op.level
    if op.prefix then return op.prefix .. operand(self, node[1], inner, type) end
    local of_whole = op == operations['/'] and types.all[node[1].type].rank > 0
        and not types.all[node[1].type].has_fractions
    local first = of_whole and dividend(self, node, type) or operand(self, node[1], inner, type)
    return ('%s %s %s'):format(first, op.infix, operand(self, node[2], inner + 1, type))
end

-- Returns the text of a node and its level. type: of numbers of Lua
function text_of(self, node, type)
    local name = self.scope.named[node]
    if name then return name, operations.atom end
    if node.kind == 'number' then
        local text = types.literal(node.value, type)
        return text, text:find '^-' and operations.unary or operations.atom
    end
    local text, level = node.text, operations.atom
    if node.kind == 'operation' then text, level = written(self, node), node.op.level end
    local is_named = self.uses[node] > 1 or node.kind == 'operation' and node.name
    if is_named and not node.is_argument then
        return declare(self, node, text), operations.atom
    end
    return text, level
end

-- Counts how often each node is used.
local function count(uses, node)
    uses[node] = (uses[node] or 0) + 1
    if uses[node] > 1 then return end
    for _, child in ipairs(node) do count(uses, child) end
end

-- Writes the declarations that trees need and returns their texts. type: of trees
-- that are numbers of Lua (real)
function Writer:values(list, type)
    self.uses = {}
    local roots, texts = {}, {}
    for k, value in ipairs(list) do
        roots[k] = nodes.wrap(value, 'writer')
        count(self.uses, roots[k])
    end
    for k, root in ipairs(roots) do texts[k] = text_of(self, root, type or 'real') end
    return unpack(texts)
end

-- Returns the inputs of a tree, each once.
function writer.inputs(root)
    local list, seen = {}, {}
    local function visit(node)
        if seen[node] then return end
        seen[node] = true
        if node.kind == 'input' then list[#list + 1] = node end
        for _, child in ipairs(node) do visit(child) end
    end
    visit(root)
    return list
end

return writer
