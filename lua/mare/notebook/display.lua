-- display.lua - what a notebook shows of a value: a bundle of texts by MIME type. Every
-- value has 'text/plain'. A metatable may offer __mime(value), which returns more of them;
-- a list of records or of rows has 'text/html'. Those of 'image/png' are in base64.

local inspect = require 'mare.session.inspect'
local json = require 'mare.notebook.encoding'
local pixels = require 'mare.draw.pixels'
local tables = require 'bindings.tables'

local display = {}

local max_rows, max_columns = 60, 30        -- of a table that is shown whole

-- ---- tables ----

local special = { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }

-- Returns a text as it stands in HTML.
function display.escaped(text)
    return (text:gsub('[&<>"]', special))
end

local function is_plain(value)
    local kind = type(value)
    return kind == 'number' or kind == 'string' or kind == 'boolean'
end

-- Returns the keys of the plain values of a list of tables, and whether they all are plain.
local function columns_of(list)
    local found, rows = {}, #list
    for k = 1, math.min(rows, max_rows) do
        local row = rawget(list, k)
        if type(row) ~= 'table' or debug.getmetatable(row) then return nil end
        for key, value in next, row do
            if not is_plain(value) or not is_plain(key) then return nil end
            found[key] = true
        end
    end
    local keys = tables.keys(found, function(a, b)
        if type(a) == type(b) and type(a) ~= 'boolean' then return a < b end
        return type(a) == 'number'
    end)
    return #keys > 0 and #keys <= max_columns and keys or nil
end

local function cell_text(value)
    if value == nil then return '' end
    return display.escaped(type(value) == 'number' and inspect.number(value) or tostring(value))
end

local function row_text(tag, cells)
    return ('<tr><%s>%s</%s></tr>'):format(tag, table.concat(cells, ('</%s><%s>'):format(tag, tag)),
        tag)
end

-- Returns a list of records, or of rows, as a table in HTML; nil if it is no such list.
function display.table(list)
    if type(list) ~= 'table' or debug.getmetatable(list) or #list == 0 then return nil end
    local keys = columns_of(list)
    if not keys then return nil end
    local lines, head, rows = { '<table>' }, {}, #list
    for k, key in ipairs(keys) do head[k] = cell_text(key) end
    if type(keys[#keys]) == 'string' then lines[2] = row_text('th', head) end
    for k = 1, math.min(rows, max_rows) do
        local cells = {}
        for c, key in ipairs(keys) do cells[c] = cell_text(list[k][key]) end
        lines[#lines + 1] = row_text('td', cells)
    end
    if rows > max_rows then
        lines[#lines + 1] = row_text('td', { ('... %d more'):format(rows - max_rows) })
    end
    return table.concat(lines, '\n') .. '\n</table>'
end

-- ---- values ----

local function own(value)
    local meta = debug.getmetatable(value)
    local make = type(meta) == 'table' and rawget(meta, '__mime')
    local found = make and make(value) or {}
    if found['image/png'] then found['image/png'] = pixels.base64(found['image/png']) end
    return found
end

-- Returns the bundle of a picture, of which no text is drawn.
function display.picture(picture) return json.object(own(picture)) end

-- Returns the bundle of a value; nil if it has been shown just now.
function display.bundle(value)
    local text = inspect.show(value)
    if text == '' then return nil end
    local bundle = json.object(own(value))
    bundle['text/plain'] = bundle['text/plain'] or text
    bundle['text/html'] = bundle['text/html'] or display.table(value)
    return bundle
end

-- Returns the bundle of what an expression gives: of several values their text alone.
function display.results(...)
    if select('#', ...) == 1 then return display.bundle((...)) end
    local shown = {}
    for k = 1, select('#', ...) do shown[k] = inspect.show((select(k, ...))) end
    local text = table.concat(shown, table.concat(shown):find '\n' and '\n' or '\t')
    return text ~= '' and json.object { ['text/plain'] = text } or nil
end

return display
