-- inspect.lua - shows any value of a session in a few lines, without raising
-- errors. Objects of Mare say what they are; a buffer also shows its range and
-- first elements, a table its contents, each up to a limit.

local handle = require 'bindings.handle'
local memory = require 'bindings.memory'
local size_of = require('mare.measure.report').size

local inspect = {}

local limits = { depth = 3, entries = 24, text = 400, width = 78, lines = 60, corner = 8,
    elements = 2 ^ 24 }

-- ---- texts, numbers, functions ----

-- Escapes control characters, which would disturb the terminal.
local function escaped(text)
    return (text:gsub('[%z\1-\8\11-\31\127]', function(c) return ('\\%d'):format(c:byte()) end))
end

local function quoted(text)
    local shown = escaped(text:sub(1, limits.text):gsub('[\\"]', '\\%0'):gsub('\n', '\\n')
        :gsub('\t', '\\t'))
    if #text <= limits.text then return '"' .. shown .. '"' end
    return ('"%s"... (%d bytes)'):format(shown, #text)
end

function inspect.number(value)
    return ('%.10g'):format(value)
end

local function source_of(f)
    local info = debug.getinfo(f, 'S')
    if info.what == 'C' then return 'built in' end
    return ('%s:%d'):format(info.short_src:match '[^/]*/?[^/]*$', info.linedefined)
end

-- ---- handles ----

local function corner(data, n)
    local shown = {}
    for i = 0, math.min(n, limits.corner) - 1 do
        shown[i + 1] = ('%.5g'):format(tonumber(data[i]))
    end
    return table.concat(shown, ' ') .. (n > limits.corner and ' ...' or '')
end

-- Returns the range of the finite values as text, and how many values are not
-- finite.
local function range(data, n)
    local low, high, strange = math.huge, -math.huge, 0
    for i = 0, n - 1 do
        local value = tonumber(data[i])
        if value - value ~= 0 then
            strange = strange + 1
        else
            low, high = math.min(low, value), math.max(high, value)
        end
    end
    local text = low <= high and ('%.6g to %.6g'):format(low, high) or 'no finite value'
    return strange > 0 and ('%s, %d not finite'):format(text, strange) or text
end

-- Shows n numbers of an array that begins at 0, in two lines.
function inspect.numbers(data, n)
    if n == 0 then return 'nothing in it' end
    return ('range %s\n%s'):format(range(data, n), corner(data, n))
end

local kinds = {}

function kinds.buffer(b)
    local head = ("buffer '%s': %.0f %s on %s, %s"):format(b.label, b.count,
        b.type == 'bytes' and 'bytes' or 'of ' .. b.type, b.device.name, size_of(b.size))
    local n = math.min(b.count, limits.elements)
    local limit = n < b.count and (', of the first %d'):format(n) or ''
    return head .. limit .. '\n' .. inspect.numbers(b:download { count = n }, n)
end

kinds['host memory'] = function(h)
    local n = math.min(h.count, limits.elements)
    return ("host memory '%s': %.0f of %s, %s\n%s"):format(h.label, h.count, h.type,
        size_of(h.size), inspect.numbers(h.data, n))
end

function kinds.device(d)
    local i = d.info
    local free, total = d:memory()
    local used, idle = d:pool()
    return ('device %s: %s (%s, %s)\n%d compute units, %s of memory%s, double %s\nin buffers %s, '
        .. 'idle %s'):format(i.name, i.model, i.kind, i.arch, i.compute_units,
        i.memory > 0 and size_of(i.memory) or 'an unknown amount',
        total > 0 and ', ' .. size_of(free) .. ' free' or '', i.has_double and 'yes' or 'no',
        size_of(used), size_of(idle))
end

local function argument(arg)
    if arg.fields then
        local fields = {}
        for k, field in ipairs(arg.fields) do
            local length = field.count > 1 and ('[%d]'):format(field.count) or ''
            fields[k] = ('%s %s%s;'):format(field.type, field.name, length)
        end
        return ('struct { %s } %s'):format(table.concat(fields, ' '), arg.name)
    end
    if not arg.is_buffer then return ('%s %s'):format(arg.type, arg.name) end
    return ('%s%s *%s'):format(arg.is_const and 'const ' or '', arg.type, arg.name)
end

-- Returns the resources that limit how many groups of a kernel a compute unit
-- holds.
function inspect.resources(info)
    local function known(value) return value > 0 and ('%d'):format(value) or 'unknown' end
    local text = ('registers %s, local memory %s, private memory %s, groups of at most %d'):format(
        known(info.registers), size_of(info.local_memory), size_of(info.private_memory),
        info.max_group_size)
    if info.groups_per_unit == 0 then return text end
    return ('%s, %d resident on a compute unit'):format(text, info.groups_per_unit)
end

function kinds.kernel(k)
    local arguments = {}
    for index, arg in ipairs(k.args) do arguments[index] = argument(arg) end
    return ("kernel '%s'(%s)\n%s"):format(k.name, table.concat(arguments, ', '),
        inspect.resources(k.info))
end

function kinds.program(p)
    return ("program '%s' for %s, %s"):format(p.label, p.device.name,
        p.cached and 'from the cache' or 'compiled now')
end

local function object(value, kind, released)
    if released or not kinds[kind] then return tostring(value) end
    local ok, text = pcall(kinds[kind], value)
    return ok and text or ('%s: %s'):format(tostring(value), tostring(text))
end

-- ---- tables ----

local order = { number = 1, string = 2, boolean = 3 }

local function before(a, b)
    local x, y = order[type(a)] or 9, order[type(b)] or 9
    if x ~= y then return x < y end
    if x <= 2 then return a < b end
    return tostring(a) < tostring(b)
end

local function sorted_keys(t)
    local keys, count = {}, #t
    for key in next, t do
        local is_item = type(key) == 'number' and key >= 1 and key <= count and key % 1 == 0
        if not is_item then keys[#keys + 1] = key end
        if #keys > 10000 then break end
    end
    table.sort(keys, before)
    return keys
end

local show

local function key_text(key)
    if type(key) == 'string' and key:find '^[%a_][%w_]*$' then return key end
    return '[' .. show(key, limits.depth, {}) .. ']'
end

local function items_of(t, depth, seen)
    local items, count = {}, #t
    for i = 1, math.min(count, limits.entries) do
        items[i] = show(rawget(t, i), depth + 1, seen)
    end
    local left = count - #items
    for _, key in ipairs(sorted_keys(t)) do
        if #items < limits.entries then
            local value = show(rawget(t, key), depth + 1, seen)
            items[#items + 1] = key_text(key) .. ' = ' .. value
        else
            left = left + 1
        end
    end
    if left > 0 then items[#items + 1] = ('... %d more'):format(left) end
    return items
end

local function table_text(t, depth, seen)
    if seen[t] then return '{ itself }' end
    if depth >= limits.depth then return next(t) == nil and '{}' or '{ ... }' end
    seen[t] = true
    local items = items_of(t, depth, seen)
    seen[t] = nil
    if #items == 0 then return '{}' end
    local line = '{ ' .. table.concat(items, ', ') .. ' }'
    if #line + 4 * depth <= limits.width and not line:find '\n' then return line end
    local indent = (' '):rep(4 * (depth + 1))
    return '{\n' .. indent .. table.concat(items, ',\n' .. indent) .. '\n' .. (' '):rep(4 * depth)
        .. '}'
end

-- ---- C data ----

local function c_text(value, depth)
    local ok, name, n = pcall(memory.elements, value)
    if depth > 0 or not ok or not name then return tostring(value) end
    return ('%.0f of %s\n%s'):format(n, name, inspect.numbers(value, n))
end

-- ---- everything ----

local function has_words(value)
    local meta = debug.getmetatable(value)
    return type(meta) == 'table' and (rawget(meta, '__show') or rawget(meta, '__tostring'))
end

local function in_its_words(value, words, depth)
    local ok, text = pcall(words, value)
    if not ok or type(text) ~= 'string' then return ('<%s>'):format(type(value)) end
    return depth > 0 and text:match '^[^\n]*' or text
end

function show(value, depth, seen)
    local kind = type(value)
    if kind == 'string' then return quoted(value) end
    if kind == 'number' then return tostring(value) end
    if kind == 'function' then return ('function (%s)'):format(source_of(value)) end
    local class, released = handle.kind(value)
    if class then return depth > 0 and tostring(value) or object(value, class, released) end
    local words = (kind == 'table' or kind == 'userdata') and has_words(value)
    if words then return in_its_words(value, words, depth) end
    if kind == 'table' then return table_text(value, depth, seen) end
    if kind == 'cdata' then return c_text(value, depth) end
    local ok, text = pcall(tostring, value)
    return ok and text or ('<%s>'):format(kind)
end

local function cut(text)
    local lines, count = {}, 0
    for line in (text .. '\n'):gmatch '(.-)\n' do
        count = count + 1
        if count <= limits.lines then lines[count] = line end
    end
    if count > limits.lines then
        lines[#lines + 1] = ('... %d more lines'):format(count - limits.lines)
    end
    return escaped(table.concat(lines, '\n'))
end

-- Shows a value, through its metatable's __show or __tostring if it has one.
function inspect.show(value)
    local ok, text = pcall(show, value, 0, {})
    return ok and cut(text) or ('<%s: %s>'):format(type(value), tostring(text))
end

return inspect
