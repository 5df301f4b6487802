-- screen.lua - what standard output may be sent: colours, pictures and which, characters beyond
-- ASCII. The terminal itself is asked once, when the first picture is wanted; NO_COLOR, a dumb
-- terminal and a pipe get plain text.

local terminal = require 'bindings.terminal'

local screen = {}

local patience = 1000       -- milliseconds for an answer; what comes later would look like typed

local function set(name)
    local value = os.getenv(name)
    return value and value ~= '' and value or nil
end

local function is_terminal(fd)
    return terminal.is(fd or 1) and set 'TERM' ~= nil and set 'TERM' ~= 'dumb'
end

-- Whether text to the descriptor (1 if not given) may have colours.
function screen.has_colour(fd)
    return not set 'NO_COLOR' and is_terminal(fd)
end

-- The text in a colour given as for SGR ('31' is red), where there are colours.
function screen.paint(colour, text, fd)
    if not screen.has_colour(fd) then return text end
    return '\27[' .. colour .. 'm' .. text .. '\27[0m'
end

-- Whether block and dot characters can be shown.
function screen.has_unicode()
    local locale = set 'LC_ALL' or set 'LC_CTYPE' or set 'LANG' or ''
    return is_terminal() and locale:lower():find 'utf%-?8' ~= nil
end

function screen.has_true_colour()
    local kind = set 'COLORTERM'
    return kind == 'truecolor' or kind == '24bit'
end

-- A Kitty terminal answers the first question, every one the second, among whose numbers 4 stands
-- for Sixel.
local question = '\27_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\27\\\27[c'

-- From the answer to that: 'kitty', 'sixel' or nil.
function screen.protocol_of(answer)
    if answer:find '\27_Gi=31;OK' then return 'kitty' end
    local attributes = answer:match '\27%[%?([%d;]*)c'
    if attributes and (';' .. attributes .. ';'):find ';4;' then return 'sixel' end
end

local asked, protocol

-- How pictures are shown: 'kitty', 'sixel', 'blocks' or 'ascii'. MARE_PICTURES chooses by hand.
function screen.pictures()
    local chosen = set 'MARE_PICTURES'
    if chosen == 'kitty' or chosen == 'sixel' or chosen == 'blocks' or chosen == 'ascii' then
        return chosen
    end
    if not screen.has_colour() then return 'ascii' end
    if not asked and terminal.is(0) then
        asked = true
        local answer = terminal.ask(question, '\27%[%?[%d;]*c', patience)
        protocol = screen.protocol_of(answer)
        terminal.ahead = terminal.ahead
            .. answer:gsub('\27_G.-\27\\', ''):gsub('\27%[%?[%d;]*c', '')
    end
    return protocol or (screen.has_unicode() and 'blocks' or 'ascii')
end

-- Columns and rows for a picture, below which a prompt fits, and pixels of a cell.
function screen.size()
    local columns, rows, width, height = terminal.size()
    local is_known = width > 0 and height > 0
    return columns, rows, is_known and width / columns or 10, is_known and height / rows or 20
end

-- The words of a text in lines of at most `width` bytes, those after the first with an indent.
function screen.wrapped(text, width, indent)
    local lines, line = {}, ''
    for word in text:gmatch '%S+' do
        if line ~= '' and #line + 1 + #word > width then
            lines[#lines + 1], line = line, word
        else
            line = line == '' and word or line .. ' ' .. word
        end
    end
    lines[#lines + 1] = line
    return table.concat(lines, '\n' .. (' '):rep(indent))
end

return screen
