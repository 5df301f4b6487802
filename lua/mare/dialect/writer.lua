-- The writer of kernel text: trees become expressions of the dialect, statements stand between
-- them. The same calls give the same text, letter for letter. What is used twice gets a name where
-- it is first needed, and so does what would make a line too long.
--
--     local w = writer.new()
--     w:open('MR_KERNEL void f(...)', { 'x', 'out' })         -- names that are taken
--     local a, b = w:values { x * y, x + 1 }         -- their texts
--     w:line('out[0] = %s;', a)
--     w:close()
--     w:text()

local nodes = require 'mare.dialect.nodes'
local types = require 'mare.dialect.types'
local words = require 'mare.dialect.words'

local writer = {}

local Writer = {}
Writer.__index = Writer

local longest = 60      -- characters of an operand; one that is longer gets a name
local widest = 100      -- columns of a line

local reserved = {}
for name in ([[auto break case char const continue default do double else enum extern float for goto
    half if inline int long register restrict return short signed sizeof static struct switch
    typedef union unsigned void volatile while bool true false real uint ulong ushort uchar R]])
    :gmatch '%a+' do
    reserved[name] = true
end

function writer.new()
    return setmetatable({ lines = {}, indent = '', scope = { taken = {}, named = {}, count = 0 } },
        Writer)
end

-- ---- statements ----

-- A line that is too wide goes on further to the right, behind a comma or else a blank.
function Writer:line(format, ...)
    local text = select('#', ...) > 0 and format:format(...) or format
    local line = text == '' and '' or self.indent .. text
    while #line > widest do
        local part = line:sub(1, widest)
        local head = part:match '^(.*,) ' or part:match '^(.*%S) '
        if not head then break end
        self.lines[#self.lines + 1] = head
        line = self.indent .. '    ' .. line:sub(#head + 2)
    end
    self.lines[#self.lines + 1] = line
end

-- A block: what follows is inside until close(), and so are the names that it declares. taken:
-- names that mean something there, such as those of a kernel's arguments
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

-- A name like the one wanted, which nothing else has.
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

-- The type that the operands of a node are written in, where they are numbers of Lua.
local function operand_type(node)
    local word = node.word
    if word.compares then return types.common(node[1].type, node[2].type) end
    return word.converts and types.real(node[1].type) or node.type
end

local text_of

-- An operand, with parentheses where it binds less than `level`.
local function operand(self, node, level, type, is_repeated)
    local text, own = text_of(self, node, type)
    local is_long = #text > longest or is_repeated and node.kind == 'word'
    if is_long and node.kind == 'word' and not self.scope.named[node] then
        return declare(self, node, text)
    end
    return own < level and '(' .. text .. ')' or text
end

-- The first operand of a quotient of whole numbers becomes a real one, as in Lua.
local function dividend(self, node, type)
    local text = operand(self, node[1], words.unary, type)
    return ('(%s)%s'):format(types.all[type].written, text)
end

local function written(self, node)
    local word, type = node.word, operand_type(node)
    if word.call then
        local list = {}
        for k = 1, word.operands do
            local own = k == 1 and word == words.where and 'bool' or type
            list[k] = operand(self, node[k], 0, own, word.repeats)
        end
        return ('%s(%s)'):format(word.call, table.concat(list, ', '))
    end
    local inner = word.inner or word.level
    if word.prefix then return word.prefix .. operand(self, node[1], inner, type) end
    local of_whole = word == words['/'] and types.all[node[1].type].rank > 0
        and not types.all[node[1].type].has_fractions
    local first = of_whole and dividend(self, node, type) or operand(self, node[1], inner, type)
    return ('%s %s %s'):format(first, word.infix, operand(self, node[2], inner + 1, type))
end

-- The text of a node, and how tightly it binds. type: of a number of Lua
function text_of(self, node, type)
    local name = self.scope.named[node]
    if name then return name, words.atom end
    if node.kind == 'number' then
        local text = types.literal(node.value, type)
        return text, text:find '^-' and words.unary or words.atom
    end
    local text, level = node.text, words.atom
    if node.kind == 'word' then text, level = written(self, node), node.word.level end
    if self.uses[node] > 1 and not node.is_argument then
        return declare(self, node, text), words.atom
    end
    return text, level
end

-- How often each node of the trees is wanted.
local function count(uses, node)
    uses[node] = (uses[node] or 0) + 1
    if uses[node] > 1 then return end
    for _, child in ipairs(node) do count(uses, child) end
end

-- The texts of trees, after the declarations that they need. type: of numbers of Lua among them
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

-- ---- what a tree reads ----

-- The inputs of a tree, in the order in which they are met, each once.
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
