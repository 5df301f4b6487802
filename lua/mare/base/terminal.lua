-- terminal.lua - the listener that prints events: answers and names of files to
-- standard output, everything else to standard error. A terminal shows progress
-- in one line that is rewritten in place, and there alone what is compiled.

local printable = require 'bindings.printable'
local system = require 'bindings.system'

-- rank: what a rank other than 0 is called, which says nothing but what core
-- logs. Rank 0 speaks for all.
local terminal = { rank = nil }

local pause = { terminal = 0.2, file = 10 }     -- seconds between two lines of progress

local function to_output(text)
    io.write(text)
end

local function to_errors(text)
    io.stderr:write(text)
end

-- By kind: the stream, and the message as a line.
local lines = {
    warning = { to_errors, 'mare: warning: %s\n' },
    note = { to_errors, 'mare: %s\n' },
    log = { to_errors, 'mare: %s: %s\n' },
    rates = { to_errors, '%s\n' },
    files = { to_output, '%s\n' },
    answer = { to_output, '%s\n' },
}

local loud = { warning = true, log = true, answer = true }      -- in quiet runs too

-- Returns a listener. desc, for tests: { is_terminal =, write = function(text,
-- kind) }
function terminal.new(desc)
    local given = desc or {}
    local is_terminal, is_shown = given.is_terminal, false
    if is_terminal == nil then is_terminal = system.is_terminal() end
    local function write(kind, text)
        if given.write then given.write(text, kind) else lines[kind][1](text) end
    end
    local function clear()
        if is_shown then write('note', '\r\27[K') end
        is_shown = false
    end
    local function hear(event)
        local kind = event.kind
        if event.quiet and not loud[kind] or terminal.rank and kind ~= 'log' then return end
        if kind == 'progress' or kind == 'compiling' and is_terminal then
            is_shown = is_terminal
            write('note', is_terminal and '\r' .. event.message .. '\27[K' or event.message .. '\n')
            return
        elseif lines[kind] or kind == 'interlude' then
            clear()
        end
        if not (lines[kind] and event.message) then return end
        local is_answer = kind == 'answer'       -- what a user asked for may have colours
        local message = is_answer and event.message or printable(event.message)
        if kind == 'log' then
            local from = terminal.rank and terminal.rank .. ': ' .. event.level or event.level
            write(kind, lines.log[2]:format(from, message))
        else write(kind, lines[kind][2]:format(message)) end
    end
    return { hear = hear, pause = is_terminal and pause.terminal or pause.file }
end

return terminal
