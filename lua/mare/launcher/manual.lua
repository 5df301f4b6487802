-- manual.lua - makes the reference manual, one page of HTML and three manual
-- pages. The texts are those of the session's help: the comments of the headers
-- and of the Lua modules (session/reference.lua).

local home = require 'bindings.home'
local reference = require 'mare.session.reference'
require 'mare'                      -- so that its modules can be described
require 'mare.session.repl'         -- likewise the words of a session

local manual = {}

-- For each chapter: a title, the manual page if there is one, and which entries
-- it has.
local chapters = {
    { title = 'Lua: the modules of mare', page = 'mare_lua',
      has = function(e) return e.name:find '^mare%.' end },
    { title = 'Lua: objects', page = 'mare_lua',
      has = function(e) return e.kind == 'type' or e.name:find ':' end },
    { title = 'Lua: the words of a session', page = 'mare_lua',
      has = function(e) return e.kind == 'function' end },
    { title = 'C: computing, mare.h', page = 'mare',
      has = function(e) return e.where == 'core/mare.h' end },
    { title = 'C: embedding, mare_engine.h', page = 'mare_engine',
      has = function(e) return e.where == 'bindings/mare_engine.h' end },
    { title = 'The words of kernels', has = function(e) return e.kind == 'kernel word' end },
    { title = 'Sides of a grid', has = function(e) return e.name:find '^boundaries%.' end },
    { title = 'Options of every simulation', has = function(e) return e.kind == 'option' end },
    { title = 'Scenarios', has = function(e) return e.kind == 'scenario' end },
}

local about = {
    mare = 'computing on CUDA and OpenCL devices',
    mare_engine = 'Mare with Lua, embedded in a program',
    mare_lua = 'the module mare of LuaJIT',
}

-- Returns the entries of each chapter in the order of the reference. An entry
-- belongs to the first chapter that has it.
local function sort_entries()
    local lists = {}
    for k in ipairs(chapters) do lists[k] = {} end
    for _, entry in ipairs(reference.all()) do
        for k, chapter in ipairs(chapters) do
            if chapter.has(entry) then
                table.insert(lists[k], entry)
                break
            end
        end
    end
    return lists
end

-- Returns the comment at the beginning of a header, without its stars.
local function introduction(path)
    local file = assert(io.open(path))
    local text = file:read '*a':match '^/%*(.-)%*/'
    file:close()
    return (text:gsub('\n %* ?', '\n'):gsub('^%s+', ''):gsub('%s+$', ''))
end

-- ---- HTML ----

local entities = { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }

local function escape(text)
    return (text:gsub('[&<>"]', entities))
end

local style = [[body { max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif }
pre { white-space: pre-wrap; background: #f4f4f4; padding: .5em } h3 { margin-bottom: 0 }
.where { color: #666; font-size: 80% } nav a { margin-right: 1em }]]

local function add_chapter(out, k, entries)
    out[#out + 1] = ('<h2 id="chapter%d">%s</h2>'):format(k, escape(chapters[k].title))
    for _, e in ipairs(entries) do
        out[#out + 1] = ('<h3 id="%s">%s</h3>\n<pre>%s</pre>\n<pre class="text">%s</pre>\n'
            .. '<p class="where">%s</p>'):format(escape(e.name), escape(e.name),
            escape(e.signature or e.name), escape(e.text), escape(e.where))
    end
end

local function html(lists)
    local out = { '<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
        '<title>Mare</title><style>' .. style .. '</style></head><body>', '<h1>Mare '
        .. home.version .. '</h1>', '<nav>' }
    for k, chapter in ipairs(chapters) do
        out[#out + 1] = ('<a href="#chapter%d">%s</a>'):format(k, escape(chapter.title))
    end
    out[#out + 1] = '</nav>'
    for k, entries in ipairs(lists) do add_chapter(out, k, entries) end
    out[#out + 1] = '</body></html>\n'
    return table.concat(out, '\n')
end

-- ---- manual pages ----

-- Escapes a text for troff, so that nothing in it is a request.
local function plain(text)
    return (text:gsub('\\', '\\e'):gsub('%-', '\\-'):gsub('\n([.\'])', '\n\\&%1')
        :gsub('^([.\'])', '\\&%1'))
end

local function add_entries(out, title, entries)
    out[#out + 1] = '.SH ' .. plain(title:upper())
    for _, e in ipairs(entries) do
        out[#out + 1] = '.SS ' .. plain(e.name)
        out[#out + 1] = '.nf\n' .. plain(e.signature or e.name) .. '\n.fi\n.PP\n' .. plain(e.text)
    end
end

local function page(name, lists)
    local out = { ('.TH %s 3 "" "Mare %s" "Mare"'):format(name:upper(), home.version), '.SH NAME',
        name .. ' \\- ' .. about[name] }
    local header = name == 'mare' and home.header or name == 'mare_engine'
        and home.root .. '/bindings/mare_engine.h'
    if header then
        out[#out + 1] = '.SH SYNOPSIS\n#include <' .. name .. '.h>\n.SH DESCRIPTION\n.nf\n'
            .. plain(introduction(header)) .. '\n.fi'
    end
    for k, chapter in ipairs(chapters) do
        if chapter.page == name then add_entries(out, chapter.title, lists[k]) end
    end
    return table.concat(out, '\n') .. '\n'
end

-- Writes mare.html, mare.3, mare_engine.3 and mare_lua.3 to a folder.
function manual.write(folder)
    local lists = sort_entries()
    local function put(name, text)
        local file = assert(io.open(folder .. '/' .. name, 'w'))
        assert(file:write(text))
        file:close()
    end
    for name in pairs(about) do put(name .. '.3', page(name, lists)) end
    put('mare.html', html(lists))
end

return manual
