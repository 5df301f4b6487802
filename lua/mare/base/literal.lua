-- Converts plain values (numbers, strings, booleans and tables of these) to a
-- Lua literal and back without losing a bit. A literal comes from a file that
-- anybody may have written, so it is parsed and never run.

local literal = {}

local max_depth = 64            -- of tables in tables

local function number(value)
    if value ~= value then return '0/0' end
    if value == math.huge then return '1/0' end
    if value == -math.huge then return '-1/0' end
    local short = string.format('%.15g', value)
    return tonumber(short) == value and short or string.format('%.17g', value)
end

local write

local function write_table(value, out, depth)
    if depth > max_depth then
        error('a table that holds itself, or tables too deep, cannot be kept or sent', 0)
    end
    out[#out + 1] = '{'
    local count = #value
    for k = 1, count do
        write(value[k], out, depth + 1)
        out[#out + 1] = ','
    end
    local keys = {}
    for key in pairs(value) do
        local listed = type(key) == 'number' and key % 1 == 0 and key >= 1 and key <= count
        if not listed then keys[#keys + 1] = key end
    end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, key in ipairs(keys) do
        out[#out + 1] = '['
        write(key, out, depth + 1)
        out[#out + 1] = ']='
        write(value[key], out, depth + 1)
        out[#out + 1] = ','
    end
    out[#out + 1] = '}'
end

function write(value, out, depth)
    local kind = type(value)
    if kind == 'number' then
        out[#out + 1] = number(value)
    elseif kind == 'string' then
        out[#out + 1] = string.format('%q', value)
    elseif kind == 'boolean' then
        out[#out + 1] = tostring(value)
    elseif kind == 'table' then
        write_table(value, out, depth)
    else
        error('a ' .. kind .. ' cannot be kept or sent: numbers, texts, booleans and tables can', 0)
    end
end

function literal.encode(value)
    local out = {}
    write(value, out, 0)
    return table.concat(out)
end

-- ---- parsing ----
--
-- Each of these takes the text and a position, and returns the value and the
-- position after it, or no position if there is no such value.

local constants = { ['true'] = true, ['false'] = false, ['0/0'] = 0 / 0, ['1/0'] = math.huge,
    ['-1/0'] = -math.huge }

local function parse_plain(text, at)
    local word, after = text:match('^([%w%.+/-]+)()', at)
    local value = constants[word]
    if value == nil and word and word:find '^%-?%d' and not word:find '[xX]' then
        value = tonumber(word)
    end
    return value, value ~= nil and after or nil
end

local letters = { a = '\a', b = '\b', f = '\f', n = '\n', r = '\r', t = '\t', v = '\v',
    ['\\'] = '\\', ['"'] = '"', ["'"] = "'", ['\n'] = '\n' }

-- After a backslash.
local function parse_escape(text, at)
    local letter = letters[text:sub(at, at)]
    if letter then return letter, at + 1 end
    local digits = text:match('^%d%d?%d?', at)
    if digits and tonumber(digits) < 256 then return string.char(digits), at + #digits end
end

local function parse_string(text, at)
    local pieces = {}
    at = at + 1
    while at do
        local stop = text:find('["\\]', at)
        if not stop then return end
        pieces[#pieces + 1] = text:sub(at, stop - 1)
        if text:sub(stop, stop) == '"' then return table.concat(pieces), stop + 1 end
        pieces[#pieces + 1], at = parse_escape(text, stop + 1)
    end
end

local parse

-- A key in brackets, up to and with '='.
local function parse_key(text, at, depth)
    local key, after = parse(text, at + 1, depth)
    local is_key = after and key == key and text:sub(after, after + 1) == ']='
    return key, is_key and after + 2 or nil
end

local function parse_table(text, at, depth)
    local result, count, key, value = {}, 0
    at = at + 1
    if depth > max_depth then return end
    while text:sub(at, at) ~= '}' do
        if text:sub(at, at) == '[' then
            key, at = parse_key(text, at, depth)
        else
            count = count + 1
            key = count
        end
        if not at then return end
        value, at = parse(text, at, depth)
        if not at or text:sub(at, at) ~= ',' then return end
        result[key], at = value, at + 1
    end
    return result, at + 1
end

function parse(text, at, depth)
    local first = text:sub(at, at)
    if first == '{' then return parse_table(text, at, depth + 1) end
    if first == '"' then return parse_string(text, at) end
    return parse_plain(text, at)
end

-- Returns the value of a text that encode() returned, or nil.
function literal.decode(text)
    local value, after = parse(text, 1, 0)
    if after == #text + 1 then return value end
end

return literal
