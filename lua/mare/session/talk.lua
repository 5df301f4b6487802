-- talk.lua - a session with a user: it reads lines (from a terminal through
-- libedit; from a pipe, or without libedit, directly) and prints their results.
-- Ctrl-C drops the entry that is typed or stops what is running, but never ends
-- the session. Ctrl-D ends the session; in the middle of an entry it only drops
-- the entry, which the up arrow brings back. If the input is no terminal, the
-- exit status says whether a line failed. Of several ranks rank 0 reads (together.lua).

local editline = require 'bindings.editline'
local history = require 'mare.session.history'
local here = require 'mare.ranks.here'
local home = require 'bindings.home'
local printable = require 'bindings.printable'
local repl = require 'mare.session.repl'
local screen = require 'mare.draw.screen'
local terminal = require 'bindings.terminal'
local together = require 'mare.session.together'

-- ---- reading lines ----

local Plain = {}
Plain.__index = Plain

function Plain.read(_, prompt)
    io.stdout:write(prompt)
    io.stdout:flush()
    local line = io.stdin:read()
    if line then return line end
    local came, by_key = home.interrupted(true)
    io.stdout:write '\n'
    return nil, by_key and 'interrupted' or came and 'signal' or 'end'
end

function Plain.remember() end

function Plain.close() end

local function is_editable()
    local kind = os.getenv 'TERM'
    return terminal.is(0) and terminal.is(1) and kind and kind ~= '' and kind ~= 'dumb'
end

local function open_reader(session)
    if not is_editable() then return setmetatable({}, Plain) end
    local ok, editor = pcall(editline.open, {
        complete = function(text) return session:complete(text) end,
    })
    if ok then
        for _, entry in ipairs(history.load(history.path())) do editor:remember(entry) end
        return editor
    end
    io.stderr:write('mare: plain lines without history and completion: ', tostring(editor), '\n')
    return setmetatable({}, Plain)
end

-- ---- the dialogue ----

local function prompt_of(session)
    local text = session.pending and '>>' or '>'
    if not screen.has_colour() or not is_editable() then return text .. ' ' end
    return '\1\27[1;36m\1' .. text .. '\1\27[0m\1 '
end

local function answer(status, text)
    if text == '' then return end
    if status == 'error' then
        io.stdout:flush()
        io.stderr:write(screen.paint('31', printable(text), 2), '\n')
    else
        io.stdout:write(text, '\n')
    end
end

-- Runs an entry line. A complete entry is kept in the history. Returns whether
-- to continue: SIGTERM and SIGHUP end a session.
local function take(self, line)
    local session = self.session
    local text = session.pending and session.pending .. '\n' .. line or line
    together.tell(line)
    local is_over, status, shown = repl.guard(function() return session:step(line) end)
    together.agree(status, shown)
    if status ~= 'more' and text:find '%S' then
        self.reader:remember(text)
        if self.path then history.add(self.path, text) end
    end
    answer(status, shown)
    self.has_failed = self.has_failed or status == 'error'
    return not is_over
end

local function greet(session)
    local where = here.size > 1 and (' on %d ranks'):format(here.size) or ''
    io.stdout:write(('Mare %s%s. help() tells more, examples() shows; Ctrl-D ends.\n'):format(
        session.environment.mare.version, where))
end

-- Drops an entry that is not complete.
local function drop(self)
    local session = self.session
    if not session.pending then return end
    if terminal.is(0) then
        self.reader:remember(session.pending)
    else
        answer('error', select(2, load(session.pending, '=input')))
    end
    session.pending, self.has_failed = nil, true
end

-- Returns the exit status, or nil to continue.
local function status_of(self, why)
    local was_within = self.session.pending ~= nil
    if why == 'signal' then return 130 end
    if why == 'interrupted' then self.session.pending = nil end
    if why ~= 'end' then return nil end
    drop(self)
    if not terminal.is(0) then return self.has_failed and 1 or 0 end
    return not was_within and 0 or nil
end

-- Reads standard input until its end; returns the exit status. All ranks call it.
return function()
    local session = repl.new()
    if here.rank > 0 then
        return together.follow(function(line) return session:step(line) end)
    end
    local self = { session = session, reader = open_reader(session) }
    self.path = is_editable() and history.path() or nil
    greet(session)
    while true do
        local line, why = self.reader:read(prompt_of(session))
        if line and not take(self, line) then why = 'signal' end
        local status = status_of(self, why)
        if status then
            self.reader:close()
            return together.leave(status)
        end
    end
end
