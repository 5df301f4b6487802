-- screen.lua - what standard output supports: colours, pictures, characters
-- beyond ASCII. The terminal is asked once, before the first picture. With
-- NO_COLOR, on a dumb terminal and in a pipe, output is plain text.

local terminal = require 'bindings.terminal'

local screen = {}

local patience = 1000       -- ms to wait for an answer; a later one would look like typed text

local function set(name)
    local value = os.getenv(name)
    return value and value ~= '' and value or nil
end

local function is_terminal(fd)
    return terminal.is(fd or 1) and set 'TERM' ~= nil and set 'TERM' ~= 'dumb'
end

-- Returns whether text to the file descriptor (default 1) may have colours.
function screen.has_colour(fd)
    return not set 'NO_COLOR' and is_terminal(fd)
end

-- Returns the text in a colour if colours are supported. colour: for SGR, such
-- as '31' for red.
function screen.paint(colour, text, fd)
    if not screen.has_colour(fd) then return text end
    return '\27[' .. colour .. 'm' .. text .. '\27[0m'
end

-- Returns whether block and dot characters can be shown.
function screen.has_unicode()
    local locale = set 'LC_ALL' or set 'LC_CTYPE' or set 'LANG' or ''
    return is_terminal() and locale:lower():find 'utf%-?8' ~= nil
end

function screen.has_true_colour()
    local kind = set 'COLORTERM'
    return kind == 'truecolor' or kind == '24bit'
end

-- A Kitty terminal answers the first question. Every terminal answers the
-- second one; a 4 among the numbers means Sixel.
local question = '\27_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\27\\\27[c'

-- Returns what the answer means: 'kitty', 'sixel' or nil.
function screen.protocol_of(answer)
    if answer:find '\27_Gi=31;OK' then return 'kitty' end
    local attributes = answer:match '\27%[%?([%d;]*)c'
    if attributes and (';' .. attributes .. ';'):find ';4;' then return 'sixel' end
end

local asked, protocol

-- Returns how pictures are shown: 'kitty', 'sixel', 'blocks' or 'ascii'.
-- MARE_PICTURES overrides the detection.
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

-- Returns columns and rows for a picture that leaves room for a prompt, and the
-- size of a character in pixels.
function screen.size()
    local columns, rows, width, height = terminal.size()
    local is_known = width > 0 and height > 0
    return columns, rows, is_known and width / columns or 10, is_known and height / rows or 20
end

-- Breaks a text into lines of at most `width` bytes; all but the first are
-- indented.
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
