-- Prints arrays as NumPy does: rows in brackets, and only the corners of large arrays.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local number_texts = require 'mare.base.number_texts'
local transfer = require 'mare.ndarray.transfer'

local padded = number_texts.padded

local printing = {}

local most, edge = 1000, 3      -- elements of an array that is shown whole; elements at an edge
local widest = 75               -- characters of a line

-- ---- numbers ----

local function texts_of(values, type)
    local round = bound.on_host['to_' .. type.name:gsub('^complex_', '')]
    if type.complex then return number_texts.of_complex(values, round) end
    if type.kind == 2 then return number_texts.of(values, round) end
    local list = {}
    for k, value in ipairs(values) do list[k] = tostring(value):gsub('U?LL$', '') end
    return list
end

-- Returns the elements as a list, in which whole numbers of 64 bits are texts, as no number of Lua
-- has them all.
local function elements(handle)
    local data, count, type = transfer.read(handle, 'tostring')
    local read, list = type.kind == 1 and tostring or bound.reader(type.name), {}
    for k = 1, count do list[k] = read(data[k - 1]) end
    return list
end

-- ---- what is shown ----

-- Adds the elements that are shown to `values`. Returns nested tables of where they stand there, in
-- which '...' stands for what is left out.
local function gather(handle, shape, axis, values)
    local list, size = {}, shape[axis]
    local function add(first, stop)
        if axis == shape.rank then
            for _, value in ipairs(elements(handle { { first, stop } })) do
                values[#values + 1] = value
                list[#list + 1] = #values
            end
            return
        end
        for k = first, stop - 1 do
            list[#list + 1] = gather(handle { k }, shape, axis + 1, values)
        end
    end
    if size > 2 * edge then
        add(0, edge)
        list[#list + 1] = '...'
        add(size - edge, size)
    elseif size > 0 then
        add(0, size)
    end
    return list
end

-- Breaks the numbers of a row into lines.
local function row_text(list, texts, indent)
    local lines, line = {}, ''
    for _, at in ipairs(list) do
        local text = texts[at] or at
        if #line > 0 and #line + #text + 1 > widest - 2 * #indent then
            lines[#lines + 1] = line:gsub(' *$', '')
            line = ''
        end
        line = line == '' and text or line .. ' ' .. text
    end
    lines[#lines + 1] = line
    return '[' .. table.concat(lines, '\n' .. indent) .. ']'
end

local function box_text(list, texts, depth, rank)
    local indent = (' '):rep(depth)
    if depth == rank then return row_text(list, texts, indent) end
    local rows = {}
    for k, inner in ipairs(list) do
        rows[k] = type(inner) == 'table' and box_text(inner, texts, depth + 1, rank) or inner
    end
    return '[' .. table.concat(rows, '\n' .. ('\n'):rep(rank - depth - 1) .. indent) .. ']'
end

-- Returns the elements, or the corners if there are more than 1000; then type, shape and device.
function printing.text(handle)
    local leaf = array.shown(handle, 'tostring')
    local shape, type, values = leaf.shape, leaf.type, {}
    local head = ('%s %s on %s'):format(type.name, tostring(shape), leaf.device.name)
    if shape.count == 0 then return array.drop(leaf, '[] ' .. head) end
    if shape.rank == 0 then
        local text = texts_of(elements(handle), type)[1]
        return array.drop(leaf, text .. ' ' .. head)
    end
    if shape.count <= most then
        local read = elements(handle)
        local at = 0
        local function nested(depth)
            local list = {}
            for k = 1, shape[depth] do
                at = depth == shape.rank and at + 1 or at
                list[k] = depth == shape.rank and at or nested(depth + 1)
            end
            return list
        end
        return array.drop(leaf, box_text(nested(1), padded(texts_of(read, type)), 1, shape.rank)
            .. '\n' .. head)
    end
    local list = gather(handle, shape, 1, values)
    return array.drop(leaf, box_text(list, padded(texts_of(values, type)), 1, shape.rank)
        .. '\n' .. head)
end

return printing
