-- Splits a text of Lua into tokens. A token is { kind, text, line, at }, where kind
-- is 'name', 'number', 'string', 'symbol', 'keyword' or 'end' and `at` is the
-- position of its first byte. Numbers have a `value`.

local lexer = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
    return then true until while]]):gmatch '%a+' do
    keywords[word] = true
end

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

-- Each returns the kind of what begins at a place, and where it ends.
local begin = {}

local function name_at(text, at) return 'name', (select(2, text:find('^[%w_]+', at))) end
local function number_at(text, at) return 'number', number(text, at) end
local function string_at(text, at) return 'string', quoted(text, at) end
-- One that may be of two or three characters.
local function symbol_at(text, at)
    return 'symbol', select(2, text:find('^[=~<>]=', at)) or select(2, text:find('^%.%.%.?', at))
        or select(2, text:find('^::', at)) or at
end

for byte = 0, 255 do
    local c = string.char(byte)
    begin[byte] = c:find '[%a_]' and name_at or c:find '%d' and number_at
        or c:find '["\']' and string_at or c:find '[.=~<>:]' and symbol_at
        or function(_, at) return 'symbol', at end
end

begin[('.'):byte()] = function(text, at)
    return (text:find('^%.%d', at) and number_at or symbol_at)(text, at)
end
begin[('['):byte()] = function(text, at)
    local last = long_bracket(text, at)
    return last and 'string' or 'symbol', last or at
end
begin[('-'):byte()] = function(text, at)
    if text:find('^%-%-', at) then return 'comment', comment(text, at) end
    return 'symbol', at
end

local function token(kind, text, line, at)
    if kind == 'name' and keywords[text] then kind = 'keyword' end
    return { kind = kind, text = text, line = line, at = at,
        value = kind == 'number' and tonumber(text) or nil }
end

-- Returns where a line begins.
local function line_start(text, line)
    local at = 1
    for _ = 2, line do at = (text:find('\n', at, true) or #text) + 1 end
    return at
end

-- Returns the tokens of a text that Lua has accepted, or of these lines of it, the first of which
-- must begin in no string and no comment. The last one is of kind 'end'.
function lexer.tokens(text, first, last_line)
    local list, line = {}, first or 1
    local at, stop = line_start(text, line), last_line or math.huge
    if at == 1 and text:sub(1, 1) == '#' then at = text:find('\n', 1, true) or #text + 1 end
    local next_line = text:find('\n', at, true)
    while true do
        local start = text:find('%S', at)
        while start and next_line and next_line < start do
            line, next_line = line + 1, text:find('\n', next_line + 1, true)
        end
        if not start or line > stop then break end
        local kind, last = begin[text:byte(start)](text, start)
        if kind ~= 'comment' then
            list[#list + 1] = token(kind, text:sub(start, last), line, start)
        end
        at = last + 1
    end
    list[#list + 1] = { kind = 'end', text = 'the end of the text', line = line, at = #text + 1 }
    return list
end

return lexer
