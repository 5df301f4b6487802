-- requests.lua - what a front end asks beside the running of cells: completion and help
-- where a cursor stands, whether a text is complete, and earlier cells. Each function takes
-- the session or the cells, and the content of the request; it returns that of the reply.
-- Positions in a text count characters.

local complete = require 'mare.session.complete'
local help = require 'mare.session.help'
local inspect = require 'mare.session.inspect'
local json = require 'mare.notebook.encoding'
local repl = require 'mare.session.repl'
local reference = require 'mare.session.reference'
local utf8 = require 'bindings.utf8'

local requests = {}

-- Returns the code before the cursor and after it.
local function parts_at(content)
    local code = type(content.code) == 'string' and content.code or ''
    local at = tonumber(content.cursor_pos) or math.huge
    local bytes = utf8.bytes(code, math.max(0, math.min(at, #code)))
    return code:sub(1, bytes), code:sub(bytes + 1)
end

-- Returns a text without the comments of its lines but the last: an apostrophe there
-- begins no quoted text.
local function without_comments(text)
    return (text:gsub('%-%-[^\n]*\n', '\n'))
end

function requests.complete(session, content)
    local before = parts_at(content)
    local text = without_comments(before)
    local words, start = session:complete(text)
    local stop = utf8.length(before)
    return { status = 'ok', matches = json.array(words), metadata = json.object(),
        cursor_start = stop - utf8.length(text:sub(start)), cursor_end = stop }
end

-- ---- help ----

-- Returns the name at the cursor and that of the function whose arguments are typed there.
local function names_at(content)
    local before, after = parts_at(content)
    local left, right = before:match '[%a_][%w_.:]*$', after:match '^[%w_.:]*'
    if not left and (before == '' or before:find '[%s;]$') then left = '' end
    local name = left and (left .. right):gsub('[.:]+$', '')
    return name ~= '' and name or nil, before:match '([%a_][%w_.:]*)%s*[({\'"][^(){}\n]*$'
end

local nothing_known = '^An? [%w ]+%. help \'text\' searches%.$'

-- Returns what a name of a session stands for, in words; nil if it is none.
function requests.about(session, name)
    local value = complete.value_of(session.environment, name)
    if value == nil then
        local all = reference.all()
        return (all[name] or all['mare.' .. name]) and help.text(name) or nil
    end
    local words, meta = help.text(value), debug.getmetatable(value)
    if words:find(nothing_known) then return inspect.show(value) end
    local is_object = type(meta) == 'table' and (rawget(meta, '__show') or rawget(meta,
        '__tostring'))
    return is_object and inspect.show(value) .. '\n\n' .. words or words
end

function requests.inspect(session, content)
    local name, of_call = names_at(content)
    local text = name and requests.about(session, name)
        or of_call and requests.about(session, of_call)
    return { status = 'ok', found = text ~= nil and text ~= false, metadata = json.object(),
        data = json.object { ['text/plain'] = text or nil } }
end

-- ---- whether a cell is complete ----

-- Returns the blanks for the next line of an entry: those of its last line, four more
-- where that opens something.
local function indent_of(code)
    local last = code:match '[^\n]*$'
    local opens = last:find '%f[%w_]do%s*$' or last:find '%f[%w_]then%s*$' or last:find '[({]%s*$'
        or last:find '%f[%w_]else%s*$' or last:find '%f[%w_]function[^()]*%b()%s*$'
        or last:find '%f[%w_]repeat%s*$'
    return last:match '^ *' .. (opens and '    ' or '')
end

function requests.is_complete(content)
    local code = type(content.code) == 'string' and content.code or ''
    local status = repl.judge(code)
    return { status = status, indent = status == 'incomplete' and indent_of(code) or nil }
end

-- ---- earlier cells ----

-- Returns a pattern of Lua for one with * ? and [...].
local function pattern_of(glob)
    local text = glob:gsub('[%^$().%%+-]', '%%%0'):gsub('%*', '.*'):gsub('%?', '.')
    return '^' .. text:gsub('%[!', '[^') .. '$'
end

local function tail(list, count)
    return { unpack(list, math.max(1, #list - count + 1)) }
end

local by_type = {}

function by_type.tail(cells, content)
    return tail(cells, tonumber(content.n) or 10)
end

-- session: 0 is this one, as is its number; below 0 those before it.
function by_type.range(cells, content)
    local session, found = tonumber(content.session) or 0, {}
    if session <= 0 then session = cells.session + session end
    for _, cell in ipairs(cells) do
        local is_in = cell.line >= (tonumber(content.start) or 1)
            and cell.line < (tonumber(content.stop) or math.huge)
        if cell.session == session and is_in then found[#found + 1] = cell end
    end
    return found
end

function by_type.search(cells, content)
    local pattern, found, last = pattern_of(tostring(content.pattern or '*')), {}, {}
    for k, cell in ipairs(cells) do last[cell.source] = k end
    for k, cell in ipairs(cells) do
        local ok, fits = pcall(string.find, cell.source, pattern)
        if ok and fits and not (content.unique and last[cell.source] ~= k) then
            found[#found + 1] = cell
        end
    end
    return tail(found, tonumber(content.n) or #found)
end

-- cells: a list of { session, line, source, output }, oldest first, with the number of this
-- session in `session`.
function requests.history(cells, content)
    local find, list = by_type[content.hist_access_type], json.array()
    for k, cell in ipairs(find and find(cells, content) or {}) do
        local what = content.output and json.array { cell.source, cell.output or json.null }
            or cell.source
        list[k] = json.array { cell.session, cell.line, what }
    end
    return { status = 'ok', history = list }
end

return requests
