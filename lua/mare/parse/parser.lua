-- Reads the text of one function of Lua into a tree. All of Lua 5.1's grammar is
-- read, so that what a kernel does not take can be refused by its name and line.
-- Each node has a `tag` and a `line`:
--
--     function   parameters (names), is_vararg, body
--     number value, string, nil, true, false, vararg
--     name name; index object key; call callee arguments; method object name arguments
--     binary op left right; unary op operand; table items; paren inner
--     local names values; assign targets values; do body; while test body
--     repeat body test; if clauses { test, body } otherwise; for name from to step body
--     forin names values body; localfunction name value; return values; break; goto; label

local parser = {}

local Parser = {}
Parser.__index = Parser

function Parser:fail(wanted)
    local t = self.token
    error({ line = t.line, message = ("%s is wanted near '%s'"):format(wanted, t.text) }, 0)
end

function Parser:advance()
    local token = self.token
    self.position = self.position + 1
    self.token = self.tokens[self.position]
    return token
end

function Parser:is(text)
    return self.token.text == text and self.token.kind ~= 'string'
end

function Parser:accept(text)
    return self:is(text) and self:advance()
end

function Parser:expect(text)
    return self:accept(text) or self:fail(("'%s'"):format(text))
end

function Parser:name()
    if self.token.kind ~= 'name' then self:fail 'a name' end
    return self:advance().text
end

local function node(tag, line, fields)
    fields = fields or {}
    fields.tag, fields.line = tag, line
    return fields
end

-- ---- expressions ----

-- The two numbers say how tightly an operator binds to its left and to its right.
local priority = {
    ['or'] = { 1, 1 }, ['and'] = { 2, 2 },
    ['<'] = { 3, 3 }, ['>'] = { 3, 3 }, ['<='] = { 3, 3 }, ['>='] = { 3, 3 }, ['~='] = { 3, 3 },
    ['=='] = { 3, 3 }, ['..'] = { 5, 4 }, ['+'] = { 6, 6 }, ['-'] = { 6, 6 },
    ['*'] = { 7, 7 }, ['/'] = { 7, 7 }, ['%'] = { 7, 7 }, ['^'] = { 10, 9 },
}
local unary_priority = 8
local unary = { ['not'] = true, ['-'] = true, ['#'] = true }

function Parser:expressions()
    local list = {}
    repeat list[#list + 1] = self:expression(0) until not self:accept ','
    return list
end

function Parser:item()
    if self:accept '[' then
        local key = self:expression(0)
        self:expect ']'
        self:expect '='
        return { key = key, value = self:expression(0) }
    end
    local ahead = self.tokens[self.position + 1]
    if self.token.kind == 'name' and ahead.text == '=' and ahead.kind == 'symbol' then
        local name = self:name()
        self:advance()
        return { name = name, value = self:expression(0) }
    end
    return { value = self:expression(0) }
end

function Parser:table()
    local line, items = self:expect('{').line, {}
    while not self:is '}' do
        items[#items + 1] = self:item()
        if not (self:accept ',' or self:accept ';') then break end
    end
    self:expect '}'
    return node('table', line, { items = items })
end

-- Reads a literal string; escapes stay as they are written.
function Parser:string()
    local t = self:advance()
    return node('string', t.line, { value = t.text:sub(2, -2) })
end

function Parser:arguments()
    if self.token.kind == 'string' then
        return { self:string() }
    elseif self:is '{' then
        return { self:table() }
    end
    self:expect '('
    local list = self:is ')' and {} or self:expressions()
    self:expect ')'
    return list
end

function Parser:primary()
    local t = self.token
    if self:accept '(' then
        local inner = self:expression(0)
        self:expect ')'
        return node('paren', t.line, { inner = inner })
    end
    return node('name', t.line, { name = self:name() })
end

function Parser:suffixed()
    local object = self:primary()
    while true do
        local t = self.token
        if t.kind == 'string' or t.text == '(' or t.text == '{' then
            object = node('call', t.line, { callee = object, arguments = self:arguments() })
        elseif self:accept '.' then
            local key = node('string', t.line, { value = self:name() })
            object = node('index', t.line, { object = object, key = key })
        elseif self:accept '[' then
            object = node('index', t.line, { object = object, key = self:expression(0) })
            self:expect ']'
        elseif self:accept ':' then
            local name = self:name()
            object = node('method', t.line,
                { object = object, name = name, arguments = self:arguments() })
        else
            return object
        end
    end
end

local constants = { ['nil'] = 'nil', ['true'] = 'true', ['false'] = 'false', ['...'] = 'vararg' }

function Parser:simple()
    local t = self.token
    if t.kind == 'number' then
        return node('number', self:advance().line, { value = t.value, text = t.text })
    elseif t.kind == 'string' then
        return self:string()
    elseif constants[t.text] then
        return node(constants[self:advance().text], t.line)
    elseif t.text == '{' then
        return self:table()
    elseif self:accept 'function' then
        return self:body(t.line)
    end
    return self:suffixed()
end

-- Reads an expression whose operators bind more tightly than `limit`.
function Parser:expression(limit)
    local t = self.token
    local left
    if unary[t.text] and t.kind ~= 'string' then
        self:advance()
        left = node('unary', t.line, { op = t.text, operand = self:expression(unary_priority) })
    else
        left = self:simple()
    end
    local op = self.token
    local level = op.kind ~= 'string' and priority[op.text]
    while level and level[1] > limit do
        self:advance()
        left = node('binary', op.line,
            { op = op.text, left = left, right = self:expression(level[2]) })
        op = self.token
        level = op.kind ~= 'string' and priority[op.text]
    end
    return left
end

-- ---- statements ----

local closers = { ['end'] = true, ['else'] = true, ['elseif'] = true, ['until'] = true }
local statements = {}

function Parser:block()
    local list = {}
    while self.token.kind ~= 'end' and not closers[self.token.text] do
        local t = self.token
        if not self:accept ';' then
            local read = t.kind ~= 'string' and statements[t.text] or Parser.plain
            list[#list + 1] = read(self, t.line)
            if t.text == 'return' then break end
        end
    end
    return list
end

-- Reads the parameters and the body of a function, after the word `function`. `first` is where its
-- parameters begin in the text.
function Parser:body(line)
    local parameters, is_vararg, first = {}, false, self.token.at
    self:expect '('
    while not self:is ')' do
        if self:accept '...' then
            is_vararg = true
        else
            parameters[#parameters + 1] = self:name()
        end
        if not self:accept ',' then break end
    end
    self:expect ')'
    local body = self:block()
    local last = self:expect 'end'
    return node('function', line, { parameters = parameters, is_vararg = is_vararg, body = body,
        first = first, last_line = last.line, last = last.at + 2 })
end

-- Reads an assignment or a call.
function Parser:plain(line)
    local first = self:suffixed()
    if first.tag == 'call' or first.tag == 'method' then
        return node('callstatement', line, { call = first })
    end
    local targets = { first }
    while self:accept ',' do targets[#targets + 1] = self:suffixed() end
    self:expect '='
    return node('assign', line, { targets = targets, values = self:expressions() })
end

statements['local'] = function(self, line)
    self:advance()
    if self:accept 'function' then
        local name = self:name()
        return node('localfunction', line, { name = name, value = self:body(line) })
    end
    local names = {}
    repeat names[#names + 1] = self:name() until not self:accept ','
    return node('local', line, { names = names, values = self:accept '=' and self:expressions()
        or {} })
end

statements['do'] = function(self, line)
    self:advance()
    local body = self:block()
    self:expect 'end'
    return node('do', line, { body = body })
end

statements['while'] = function(self, line)
    self:advance()
    local test = self:expression(0)
    self:expect 'do'
    local body = self:block()
    self:expect 'end'
    return node('while', line, { test = test, body = body })
end

statements['repeat'] = function(self, line)
    self:advance()
    local body = self:block()
    self:expect 'until'
    return node('repeat', line, { body = body, test = self:expression(0) })
end

statements['if'] = function(self, line)
    local clauses, otherwise = {}, nil
    repeat
        local at = self:advance().line
        local test = self:expression(0)
        self:expect 'then'
        clauses[#clauses + 1] = { test = test, body = self:block(), line = at }
    until not self:is 'elseif'
    if self:accept 'else' then otherwise = self:block() end
    self:expect 'end'
    return node('if', line, { clauses = clauses, otherwise = otherwise })
end

local function generic_for(self, line, names)
    while self:accept ',' do names[#names + 1] = self:name() end
    self:expect 'in'
    local values = self:expressions()
    self:expect 'do'
    local body = self:block()
    self:expect 'end'
    return node('forin', line, { names = names, values = values, body = body })
end

statements['for'] = function(self, line)
    self:advance()
    local name = self:name()
    if not self:accept '=' then return generic_for(self, line, { name }) end
    local from = self:expression(0)
    self:expect ','
    local to = self:expression(0)
    local step = self:accept ',' and self:expression(0)
    self:expect 'do'
    local body = self:block()
    self:expect 'end'
    return node('for', line, { name = name, from = from, to = to, step = step or nil, body = body })
end

statements['function'] = function(self, line)
    self:advance()
    self:name()
    while self:accept '.' or self:accept ':' do self:name() end
    return node('functionstatement', line, { value = self:body(line) })
end

statements['return'] = function(self, line)
    self:advance()
    local ends = self.token.kind == 'end' or closers[self.token.text] or self:is ';'
    local values = ends and {} or self:expressions()
    self:accept ';'
    return node('return', line, { values = values })
end

statements['break'] = function(self, line)
    self:advance()
    return node('break', line)
end

statements['goto'] = function(self, line)
    self:advance()
    self:name()
    return node('goto', line)
end

statements['::'] = function(self, line)
    self:advance()
    self:name()
    self:expect '::'
    return node('label', line)
end

-- Reads the function whose word `function` is the token at `position`. Returns its
-- tree or, if the text is none, nil and { line, message }.
function parser.parse(tokens, position)
    local self = setmetatable({ tokens = tokens, position = position, token = tokens[position] },
        Parser)
    local ok, result = pcall(function()
        local line = self:expect('function').line
        local is_method = false
        while self.token.kind == 'name' do       -- its own name, which does not matter here
            self:advance()
            is_method = is_method or self:is ':'
            if not (self:accept '.' or self:accept ':') then break end
        end
        local tree = self:body(line)
        if is_method then table.insert(tree.parameters, 1, 'self') end
        tree.is_method = is_method
        return tree
    end)
    if ok then return result end
    if type(result) ~= 'table' then error(result, 0) end
    return nil, result
end

return parser
