-- Finds the text of a function of Lua: the one that was loaded, never another. It
-- compiles the present text of the file, or the line typed in a session, once more,
-- and takes it only if that gives the bytecode of the function, lines and names of
-- variables included. The same comparison tells functions that begin on one line
-- from each other.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local home = require 'bindings.home'
local lexer = require 'mare.parse.lexer'
local parser = require 'mare.parse.parser'

local text = {}

-- ---- texts that are in no file ----

local kept, most_kept = {}, 1000        -- by the name of the chunk, the last one first

-- Keeps what was loaded under a name such as '=input', which may come again.
function text.keep(name, loaded)
    local list = kept[name] or {}
    kept[name] = list
    table.insert(list, 1, loaded)
    list[most_kept + 1] = nil
end

-- Returns the text of the script that runs, wherever it came from, or nil.
local function script_text()
    local script = home.options and home.options.script
    return script and script.text
end

-- Returns the texts that a function may be from.
local function candidates(info)
    local script = script_text()
    if info.source:sub(1, 1) == '@' then
        local found, reason = files.read(info.source:sub(2))
        if script then return { script, found } end
        if not found then
            errors.argument('the function at line %d of %s: its text cannot be read: %s',
                info.linedefined, info.short_src, reason)
        end
        return { found }
    end
    return kept[info.source] or { script or info.source, info.source }
end

-- ---- bytecode ----

-- Returns the number at a place of a dump, which is written in LEB128, and the place
-- behind it.
local function uleb(dump, at)
    local value, factor = 0, 1
    while true do
        local byte = dump:byte(at)
        value, at, factor = value + byte % 128 * factor, at + 1, factor * 128
        if byte < 128 then return value, at end
    end
end

-- Returns the position behind `count` numbers of a dump, and the last of them.
local function skip(dump, at, count)
    local value
    for _ = 1, count do value, at = uleb(dump, at) end
    return at, value
end

-- Returns where the two bytes about each upvalue begin and end in a function of a dump
-- that begins at `at`. They tell whether code outside the function assigns to the
-- upvalue, which the text of the function alone does not say. Before them stand four
-- bytes and some numbers: how many constants of two kinds there are, how many
-- instructions, and how many bytes for debugging; if there are any of these, the first
-- line and the number of lines follow.
local function upvalue_bytes(dump, at)
    local upvalues = dump:byte(at + 3)
    local behind, instructions = skip(dump, at + 4, 3)
    local first, debugging = skip(dump, behind, 1)
    if debugging > 0 then first = skip(dump, first, 2) end
    first = first + 4 * instructions
    return first, first + 2 * upvalues
end

-- Returns the bytecode of a function without these bytes and the name of its chunk.
local function bytecode(f)
    local dump = string.dump(f)
    local size, at = uleb(dump, 6)
    at = at + size
    local fragments = {}
    while true do
        size, at = uleb(dump, at)
        if size == 0 then return table.concat(fragments) end
        local from, to = upvalue_bytes(dump, at)
        fragments[#fragments + 1] = dump:sub(at, from - 1) .. dump:sub(to, at + size - 1)
        at = at + size
    end
end

-- Returns the names of a function's upvalues, in their order.
function text.upvalues(f)
    local names, k = {}, 1
    while true do
        local name = debug.getupvalue(f, k)
        if not name then return names end
        names[k], k = name, k + 1
    end
end

-- Compiles the text of one function where it stood, with the upvalues of `f`.
local function compile(whole, tree, names)
    local head = #names > 0 and 'local ' .. table.concat(names, ', ') .. ' ' or ''
    local body = whole:sub(tree.first, tree.last)
    if tree.is_method then
        body = '(self' .. (#tree.parameters > 1 and ', ' or '') .. body:sub(2)
    end
    local chunk = loadstring(('\n'):rep(tree.line - 1) .. head .. 'return function' .. body, '=f')
    return chunk and chunk()
end

-- ---- functions ----

local function describe(info)
    return ('the function at line %d of %s'):format(info.linedefined, info.short_src)
end

-- Returns the tree of the function in `whole`, or nil. list: tokens
local function search(list, f, info, whole)
    local wanted, names = bytecode(f), text.upvalues(f)
    for position, token in ipairs(list) do
        if token.line > info.linedefined then return nil end
        if token.line == info.linedefined and token.kind == 'keyword'
            and token.text == 'function' then
            local tree = parser.parse(list, position)
            if tree and tree.last_line == info.lastlinedefined then
                local same = compile(whole, tree, names)
                if same and bytecode(same) == wanted then return tree end
            end
        end
    end
end

local found = setmetatable({}, { __mode = 'k' })

local function find(f)
    local info = debug.getinfo(f, 'S')
    if info.what == 'C' then
        errors.argument('a function of C, or of a library, has no text of Lua to make a kernel of')
    end
    if not info.source:find '%S' or info.linedefined < 1 then
        errors.argument('%s was loaded without its lines: there is no text to make a kernel of',
            describe(info))
    end
    -- The lines of the function are enough, unless they begin in a string or a comment.
    for _, lines in ipairs { { info.linedefined, info.lastlinedefined }, {} } do
        for _, whole in ipairs(candidates(info)) do
            local tree = search(lexer.tokens(whole, unpack(lines)), f, info, whole)
            if tree then
                return { tree = tree, chunk = info.short_src,
                    source = whole:sub(tree.first, tree.last) }
            end
        end
    end
    errors.argument('%s: its text is not there any more: the file has changed since it was loaded, '
        .. 'or it was loaded without names', describe(info))
end

-- Returns for a function { tree, chunk = what messages call the file, source = the text
-- of the function from its parameters on }. Raises an error if the text cannot be found.
function text.of(f)
    found[f] = found[f] or find(f)
    return found[f]
end

return text
