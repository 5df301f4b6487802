-- heart_thread.lua - a thread that tells the next rank every second, or more often,
-- that this rank lives, and listens to the rank before. If that is silent for too
-- long, the thread ends this process, whereupon the launcher ends all. Only time in
-- which this thread was let run counts: on a busy machine both may wait for a core.

local beat = require 'bindings.beat'
local literal = require 'mare.base.literal'
local system = require 'bindings.system'
local tally = require 'bindings.tally'

local grace = 2         -- seconds in which a launcher ends all if a process has gone

-- Says what became of the rank before, unless a rank has said why all end. known: the
-- state of the thread
local function tell(known, why)
    if known.word and tally.add(known.word) > 1 then return end
    beat.say(('mare: %s: %s %s: all ranks end\n'):format(known.own, known.before, why))
end

-- Takes note of what has come from the rank before, or of its silence. seconds: since
-- the last time
local function check(known, seconds)
    local text = beat.receive(known.from)
    known.silence = text and text ~= '' and 0 or known.silence + math.min(seconds, known.pause)
    if not text then
        if not known.gone then tell(known, 'has gone') end      -- the launcher is about to kill
        known.silence = known.gone and known.silence or 0
        known.gone = true
        if known.silence > math.min(grace, known.limit) then beat.die() end
    elseif text ~= '' then
        known.is_over = text:find('e', 1, true) ~= nil
    elseif known.silence >= known.limit then
        tell(known, ('was silent for %g s'):format(known.limit))
        beat.die()
    end
end

return function(channel)
    local known = literal.decode(channel:receive())
    known.silence, known.pause = 0, math.min(1, known.limit / 5)
    -- What comes from the rank before is no reason to send: beats would run around the ring.
    local due, looked = system.now(), system.now()
    while not channel:ready() do
        local now = system.now()
        if now >= due then
            beat.send(known.to, 'b')
            due = now + known.pause
        end
        local from = not (known.is_over or known.gone) and known.from or nil
        local left = from and known.limit - known.silence or known.pause    -- not to be late
        beat.wait(math.max(0, math.min(due - now, left)), channel.fd, from)
        now = system.now()
        if not known.is_over then check(known, now - looked) end
        looked = now
    end
    beat.send(known.to, 'e')
end
