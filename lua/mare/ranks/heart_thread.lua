-- heart_thread.lua - a thread that tells the next rank every second, or more often,
-- that this rank lives, and listens to the rank before. If that is silent for too
-- long, the thread ends this process, whereupon the launcher ends all.

local beat = require 'bindings.beat'
local literal = require 'mare.base.literal'
local system = require 'bindings.system'

local grace = 2         -- seconds in which a launcher ends all if a process has gone

-- Ends this process. known: the state of the thread; why: what became of the rank
-- before
local function lose(known, why)
    beat.die(('mare: %s: %s %s: all ranks end\n'):format(known.own, known.before, why))
end

-- Takes note of what has come from the rank before, or of its silence.
local function check(known)
    local text, now = beat.receive(known.from), system.now()
    if not text then
        known.gone = known.gone or now
        if now - known.gone > math.min(grace, known.limit) then lose(known, 'has gone') end
    elseif text ~= '' then
        known.heard, known.is_over = now, text:find('e', 1, true) ~= nil
    elseif now - known.heard > known.limit then
        lose(known, ('was silent for %g s'):format(known.limit))
    end
end

return function(channel)
    local known = literal.decode(channel:receive())
    known.heard, known.pause = system.now(), math.min(1, known.limit / 5)
    -- What comes from the rank before is no reason to send: beats would run around the ring.
    local due = known.heard
    while not channel:ready() do
        local now = system.now()
        if now >= due then
            beat.send(known.to, 'b')
            due = now + known.pause
        end
        local from = not (known.is_over or known.gone) and known.from or nil
        beat.wait(due - now, channel.fd, from)
        if not known.is_over then check(known) end
    end
    beat.send(known.to, 'e')
end
