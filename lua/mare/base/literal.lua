-- Converts plain values (numbers, strings, booleans and tables of these) to a
-- Lua literal and back without losing a bit. A literal is evaluated in an empty
-- environment, so it can call nothing.

local literal = {}

local function number(value)
    if value ~= value then return '0/0' end
    if value == math.huge then return '1/0' end
    if value == -math.huge then return '-1/0' end
    local short = string.format('%.15g', value)
    return tonumber(short) == value and short or string.format('%.17g', value)
end

local write

local function write_table(value, out)
    out[#out + 1] = '{'
    local count = #value
    for k = 1, count do
        write(value[k], out)
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
        write(key, out)
        out[#out + 1] = ']='
        write(value[key], out)
        out[#out + 1] = ','
    end
    out[#out + 1] = '}'
end

function write(value, out)
    local kind = type(value)
    if kind == 'number' then
        out[#out + 1] = number(value)
    elseif kind == 'string' then
        out[#out + 1] = string.format('%q', value)
    elseif kind == 'boolean' then
        out[#out + 1] = tostring(value)
    elseif kind == 'table' then
        write_table(value, out)
    else
        error('a ' .. kind .. ' cannot be kept: numbers, texts, booleans and tables can', 0)
    end
end

function literal.encode(value)
    local out = {}
    write(value, out)
    return table.concat(out)
end

-- Returns the value of a literal, or nil if the text is not one.
function literal.decode(text)
    if text:byte(1) == 27 then return nil end       -- compiled Lua
    local chunk = loadstring('return ' .. text, '=literal')
    if not chunk then return nil end
    local ok, value = pcall(setfenv(chunk, {}))
    if ok then return value end
end

return literal
