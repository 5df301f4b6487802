-- Tells of compilers that are waited for: an event for each program that is done,
-- from the first second on.

local compiler = require 'bindings.compiler'
local events = require 'mare.base.events'
local system = require 'bindings.system'

local compiling = { silence = 1 }       -- seconds

local plain = events.source()
local source = plain
local since, told       -- when the first was waited for; what was told last

local function finish(is_last)
    if told then source:tell 'interlude' end
    told = nil
    if is_last then since = nil end
end

function compiler.hear(done, count, is_last)
    if not done then return finish(is_last) end
    since = since or system.now()
    local message = ('compiling %d of %d'):format(math.min(done + 1, count), count)
    if system.now() - since < compiling.silence or message == told then return end
    told = message
    source:tell('compiling', { message = message, done = done, count = count })
end

-- Makes the events those of a run, or with nil of none.
function compiling.of(events_of_run)
    source = events_of_run or plain
end

return compiling
