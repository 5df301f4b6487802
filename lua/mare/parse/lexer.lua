-- Splits a text of Lua into tokens. A token is { kind, text, line, at }, where kind
-- is 'name', 'number', 'string', 'symbol', 'keyword' or 'end' and `at` is the
-- position of its first byte. Numbers have a `value`.

local lexer = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
    return then true until while]]):gmatch '%a+' do
    keywords[word] = true
end

-- Symbols of two and three characters, which are tried before those of one.
local long_symbols = { '...', '..', '==', '~=', '<=', '>=', '::' }

-- Returns where a long bracket that begins at `at` ends, or nil if there is none.
local function long_bracket(text, at)
    local equals = text:match('^%[(=*)%[', at)
    if not equals then return nil end
    local _, last = text:find(']' .. equals .. ']', at, true)
    return last or #text
end

local function comment(text, at)
    return long_bracket(text, at + 2) or (text:find('\n', at, true) or #text + 1) - 1
end

-- Returns where a quoted string ends; an escaped quote does not end it.
local function quoted(text, at)
    local quote, k = text:sub(at, at), at + 1
    while k <= #text do
        local c = text:sub(k, k)
        if c == '\\' then
            k = k + 1
        elseif c == quote or c == '\n' then
            return k
        end
        k = k + 1
    end
    return #text
end

-- Returns where a number ends. An exponent may have a sign.
local function number(text, at)
    local mark = text:find('^0[xX]', at) and '[pP]' or '[eE]'
    local k = at
    while true do
        local _, last = text:find('^[%w.]+', k)
        k = last + 1
        if not (text:sub(last, last):find(mark) and text:find('^[+-]%d', k)) then return last end
        k = k + 1
    end
end

local function symbol(text, at)
    for _, long in ipairs(long_symbols) do
        if text:sub(at, at + #long - 1) == long then return at + #long - 1 end
    end
    return at
end

local function kind_at(text, at)
    local c = text:sub(at, at)
    if c:find '[%a_]' then return 'name', (select(2, text:find('^[%w_]+', at))) end
    if c:find '%d' or text:find('^%.%d', at) then return 'number', number(text, at) end
    if c == '"' or c == "'" then return 'string', quoted(text, at) end
    if c == '[' and long_bracket(text, at) then return 'string', long_bracket(text, at) end
    if text:sub(at, at + 1) == '--' then return 'comment', comment(text, at) end
    return 'symbol', symbol(text, at)
end

local function token(kind, text, line, at)
    if kind == 'name' and keywords[text] then kind = 'keyword' end
    return { kind = kind, text = text, line = line, at = at,
        value = kind == 'number' and tonumber(text) or nil }
end

-- Returns the tokens of a text that Lua has accepted. The last one is of kind 'end'.
function lexer.tokens(text)
    local list, line, at = {}, 1, 1
    if text:sub(1, 1) == '#' then at = text:find('\n', 1, true) or #text + 1 end
    while true do
        local start = text:find('%S', at)
        local _, lines = text:sub(at, (start or #text + 1) - 1):gsub('\n', '')
        line = line + lines
        if not start then break end
        local kind, last = kind_at(text, start)
        local word = text:sub(start, last)
        if kind ~= 'comment' then list[#list + 1] = token(kind, word, line, start) end
        line = line + select(2, word:gsub('\n', ''))
        at = last + 1
    end
    list[#list + 1] = { kind = 'end', text = 'the end of the text', line = line, at = #text + 1 }
    return list
end

return lexer
