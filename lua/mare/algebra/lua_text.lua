-- Writes expressions (dialect/nodes.lua) as text of Lua.
--
--     local w = lua_text.new()
--     w:open 'return function(a, b)'
--     w:line('return %s', w:values { a * b })
--     w:close()
--     w:text()

local nodes = require 'mare.dialect.nodes'

local lua_text = {}

local Text = {}
Text.__index = Text

local widest = 60       -- characters of an operand; one that is longer gets a name

-- is_taken(name): whether a name has a meaning already
function lua_text.new(is_taken)
    return setmetatable({ lines = {}, indent = '', named = {}, count = 0,
        is_taken = is_taken or function() return false end }, Text)
end

function Text:line(format, ...)
    self.lines[#self.lines + 1] = self.indent .. format:format(...)
end

-- Begins a block, with a line if there is one; close() ends it, and what was named in it has no
-- name any more.
function Text:open(format, ...)
    if format then self:line(format, ...) end
    self.indent = self.indent .. '    '
    self.named = setmetatable({ outer = self.named }, { __index = self.named })
end

function Text:close(word)
    self.indent, self.named = self.indent:sub(5), self.named.outer
    self:line(word or 'end')
end

function Text:text() return table.concat(self.lines, '\n') .. '\n' end

-- ---- expressions ----

-- How tightly the operators of Lua bind.
local compares, sums, products, signs, atoms = 3, 5, 6, 7, 9

local infix = { ['+'] = { '+', sums }, ['-'] = { '-', sums }, ['*'] = { '*', products },
    ['/'] = { '/', products }, modulo = { '%', products }, lt = { '<', compares },
    le = { '<=', compares }, gt = { '>', compares }, ge = { '>=', compares },
    eq = { '==', compares }, ne = { '~=', compares }, logical_and = { 'and', 2 },
    logical_or = { 'or', 1 } }

local operand

local function call(name)
    return function(self, node)
        local list = {}
        for k, one in ipairs(node) do list[k] = operand(self, one, 0) end
        return ('math.%s(%s)'):format(name, table.concat(list, ', ')), atoms
    end
end

-- Each returns the text of an operation and how tightly it binds.
local written = {
    negative = function(self, node) return '-' .. operand(self, node[1], signs + 1), signs end,
    logical_not = function(self, node) return 'not ' .. operand(self, node[1], atoms), signs end,
    fma = function(self, node)
        return ('%s * %s + %s'):format(operand(self, node[1], products),
            operand(self, node[2], products + 1), operand(self, node[3], sums + 1)), sums
    end,
    rcp = function(self, node) return '1 / ' .. operand(self, node[1], products + 1), products end,
    rsqrt = function(self, node)
        return ('1 / math.sqrt(%s)'):format(operand(self, node[1], 0)), products
    end,
    where = function(self, node)
        return ('(%s and %s or %s)'):format(operand(self, node[1], compares),
            operand(self, node[2], compares), operand(self, node[3], compares)), atoms
    end,
    pow = function(self, node)
        return ('%s ^ %s'):format(operand(self, node[1], atoms), operand(self, node[2], atoms)), 8
    end,
    -- Of a positive number alone, as in the derivative of a size.
    copysign = function(self, node)
        local size, of = operand(self, node[1], signs + 1), operand(self, node[2], compares + 1)
        return ('(%s < 0 and -%s or %s)'):format(of, size, size), atoms
    end,
}
for name in ('sqrt abs min max exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh floor '
    .. 'ceil fmod'):gmatch '%S+' do
    written[name] = call(name)
end
for name, op in pairs(infix) do
    written[name] = function(self, node)
        return ('%s %s %s'):format(operand(self, node[1], op[2]), op[1],
            operand(self, node[2], op[2] + 1)), op[2]
    end
end

function lua_text.has(op) return written[op.name] ~= nil end

local function number(value)
    if value ~= value then return '(0 / 0)', atoms end
    if value == math.huge then return 'math.huge', atoms end
    if value < 0 then return '-' .. number(-value), signs end
    for digits = 15, 17 do
        local text = ('%.' .. digits .. 'g'):format(value)
        if tonumber(text) == value then return text, atoms end
    end
end

-- Returns the text of an input: its name, or that of an array and what is in brackets.
local function input(self, node)
    if not node.index then return node.text end
    return ('%s[%s]'):format(node.array.text, (operand(self, node.index, 0)))
end

local function text_of(self, node)
    if self.named[node] then return self.named[node], atoms end
    if type(node) == 'number' then return number(node) end
    if node.kind == 'number' then return number(node.value) end
    if node.kind == 'input' then return input(self, node), atoms end
    local text, level = written[node.op.name](self, node)
    local is_short = (self.uses[node] or 0) < 2 and #text <= widest
    if is_short or node.type == 'bool' then return text, level end
    local name
    repeat
        self.count = self.count + 1
        name = 't' .. self.count
    until not self.is_taken(name)
    self:line('local %s = %s', name, text)
    rawset(self.named, node, name)
    return name, atoms
end

function operand(self, node, level)
    local text, own = text_of(self, node)
    return own < level and '(' .. text .. ')' or text
end

local function count(uses, node)
    if not nodes.is(node) then return end
    uses[node] = (uses[node] or 0) + 1
    if uses[node] > 1 then return end
    for _, one in ipairs(node) do count(uses, one) end
end

-- Writes the declarations that expressions need and returns their texts.
function Text:values(list)
    self.uses = {}
    local texts = {}
    for _, node in ipairs(list) do count(self.uses, node) end
    for k, node in ipairs(list) do texts[k] = operand(self, node, 0) end
    return unpack(texts, 1, #list)
end

-- Returns the text of one expression.
function lua_text.of(node)
    local w = lua_text.new()
    w.uses = {}
    return (operand(w, node, 0))
end

return lua_text
