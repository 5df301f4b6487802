-- events.lua - everything that Mare has to say goes through here: to the
-- terminal, the journal of a run, or the program that embeds Mare.
--
--     events.warn('%s is not used', path)
--     local run = events.source { quiet = true, run = 'id' }      fields of all its events
--     run:tell('checkpoint', { path = 'a.ck', t = 0.5, step = 12 })
--     local stop = events.listen { hear = function(event) end, pause = 10 }
--
-- An event is a table with its `kind`, the fields below and, if people are to
-- read it, a `message`. Each field is a plain value, so a program need not parse
-- messages. `run` tells which run an event belongs to; `quiet` that its user
-- wants no messages but warnings.

local home = require 'bindings.home'
local tables = require 'bindings.tables'
local terminal = require 'mare.base.terminal'

local events = {}

-- The kinds of events, with their fields.
events.kinds = {
    warning = 'message',
    note = 'message',
    answer = 'message: what the user asked for',
    log = 'level, message: a line of the core library',
    start = 'version, commit, title, parameters, options, grid, restart: a run begins',
    progress = 'message; of a run: percent, t, step, dt, cells_per_second, t_eff_share, eta',
    compiling = 'message, done, count: programs that are waited for for more than a second',
    interlude = 'other text may follow on the terminal',
    output = 'path, t: a record or a frame is in its file',
    checkpoint = 'path, t, step: it is on the disk',
    rates = 'message, steps, seconds, cells_per_second, ...: the steps of a run are done',
    files = 'message, paths: these are complete',
    failure = 'reason, status, t, step, ...: a run ends with an error',
    ['end'] = 't, step, wall_seconds, ...: a run ends',
}

-- Who listens: { hear = function(event), pause = seconds between two events of
-- progress }. An embedding program has its own instead of the terminal.
local listeners = home.listeners or { terminal.new() }

-- Adds a listener; calling the result removes it again.
function events.listen(listener)
    listener.pause = listener.pause or 10
    listeners[#listeners + 1] = listener
    return function()
        for k = #listeners, 1, -1 do
            if listeners[k] == listener then table.remove(listeners, k) end
        end
    end
end

-- Takes the present listeners away; calling the result brings them back. For
-- tests.
function events.mute()
    local before = listeners
    listeners = {}
    return function() listeners = before end
end

-- ---- sources ----

local Source = {}
Source.__index = Source

-- Returns a source of events that all have the fields `common`.
function events.source(common)
    return setmetatable({ common = common or {} }, Source)
end

local function new_event(self, kind, fields)
    if not events.kinds[kind] then error(('events: no kind %q'):format(tostring(kind)), 3) end
    return tables.merged(self.common, fields, { kind = kind })
end

-- Tells every listener of an event.
function Source:tell(kind, fields)
    local event, now = new_event(self, kind, fields), {}
    for k, listener in ipairs(listeners) do now[k] = listener end   -- hearing may change the list
    for _, listener in ipairs(now) do listener.hear(event) end
end

function Source:warn(message, ...)
    self:tell('warning', { message = message:format(...) })
end

function Source:note(message, ...)
    self:tell('note', { message = message:format(...) })
end

-- Tells each listener of progress as often as it wants. memos: a table of the
-- caller, with the time of the begin in `begin`; make(memo): returns the fields.
-- memo is a table of the caller's for each listener, in which `told` is the time
-- of its last event.
function Source:progress(memos, now, make)
    for _, listener in ipairs(listeners) do
        local memo = memos[listener]
        if not memo then
            memo = { told = memos.begin }
            memos[listener] = memo
        end
        if now - memo.told >= listener.pause then
            listener.hear(new_event(self, 'progress', make(memo)))
            memo.told = now
        end
    end
end

-- ---- without a run ----

local plain = events.source()

function events.tell(kind, fields) plain:tell(kind, fields) end
function events.warn(message, ...) plain:warn(message, ...) end
function events.note(message, ...) plain:note(message, ...) end

return events
