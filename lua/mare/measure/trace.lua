-- trace.lua - what the host does while a profile runs: calls of mare.ranks, waits for
-- devices and for other ranks, messages, and what the thread that writes files does. While
-- nobody profiles nothing here is called.

local buffer = require 'bindings.buffer'
local event = require 'bindings.event'
local here = require 'mare.ranks.here'
local stream = require 'bindings.stream'
local system = require 'bindings.system'

local trace = { spans = nil }        -- nil: nobody profiles

local replaced      -- { owner, name, function } of each that is timed

-- Notes that something took from start to stop, seconds of the steady clock. row: 'calls',
-- 'waits', 'messages' or 'writer'; more: { bytes, peer } of a message
function trace.note(row, name, start, stop, more)
    local spans = trace.spans
    if not spans then return end
    spans[#spans + 1] = { row = row, name = name, start = start, stop = stop,
        bytes = more and more.bytes, peer = more and more.peer }
end

local function replace(owner, name, new)
    replaced[#replaced + 1] = { owner, name, owner[name] }
    owner[name] = new
end

local function passed(row, name, start, ...)
    trace.note(row, name, start, system.now())
    return ...
end

-- From now on owner[name] notes itself. text: of its span, or a function of its arguments
local function watch(owner, name, row, text)
    local f = owner[name]
    replace(owner, name, function(...)
        local start = system.now()
        local label = type(text) == 'function' and text(...) or text
        return passed(row, label, start, f(...))
    end)
end

-- ---- messages ----

-- Notes the messages of a list that have come through.
local function note_messages(list)
    for _, one in ipairs(list) do
        if one.began then
            trace.note('messages', ('%s %d'):format(one.way == 'send' and 'to' or 'from',
                one.peer), one.began, system.now(), one)
            one.began = nil
        end
    end
end

local function begin_messages(list, way, bytes, peer)
    for _, one in ipairs(list) do
        one.way, one.bytes, one.peer, one.began = way, bytes, peer or -1, system.now()
    end
    return list
end

local function watch_world(world, link)
    for _, way in ipairs { 'send', 'receive' } do
        local f = world[way]
        replace(world, way, function(self, data, bytes, peer, tag)
            return begin_messages(f(self, data, bytes, peer, tag), way, bytes, peer)
        end)
    end
    local begin, wait, is_done = link.begin, world.wait, world.is_done
    replace(link, 'begin', function(self)
        begin(self)
        self.began = system.now()
    end)
    replace(world, 'wait', function(self, list, what, seconds)
        local start, all = system.now(), { unpack(list) }
        local is_over = wait(self, list, what, seconds)
        trace.note('waits', what, start, system.now())
        if is_over then note_messages(all) end
        return is_over
    end)
    replace(world, 'is_done', function(self, list, what)
        local all = { unpack(list) }
        local is_over = is_done(self, list, what)
        if is_over then note_messages(all) end
        return is_over
    end)
end

local function watch_ranks()
    local ranks = require 'mare.ranks'
    for _, name in ipairs { 'send', 'receive', 'exchange', 'barrier', 'broadcast', 'gather',
        'reduce', 'largest' } do
        watch(ranks, name, 'calls', 'ranks.' .. name)
    end
    watch_world(getmetatable(here.world).__index, require('bindings.mpi_link').methods)
end

-- ---- from begin to end ----

local function of_stream(self)
    return ('%s: stream %s'):format(self.device and self.device.name or '?', self.label)
end

function trace.begin()
    trace.spans, replaced = {}, {}
    watch(stream.methods, 'wait', 'waits', of_stream)
    watch(event.methods, 'wait', 'waits', 'event')
    watch(buffer.methods, 'download', 'waits', function(self)
        return ('%s: download'):format(self.device.name)
    end)
    if here.size > 1 then watch_ranks() end
end

-- Returns what was noted: { row, name, start, stop, bytes, peer } each.
function trace.finish()
    local spans = trace.spans
    trace.spans = nil
    for k = #replaced, 1, -1 do
        local owner, name, f = unpack(replaced[k])
        owner[name] = f
    end
    return spans
end

local question = 31990      -- the tag of questions for the time, and of answers

-- Returns how far the clock of a rank is ahead of that of rank 0, which asks: the quickest
-- of some answers tells. Both call it.
local function ahead_of(ranks, rank)
    local best, offset = math.huge, nil
    for _ = 1, 10 do
        if here.rank == 0 then
            local asked = system.now()
            ranks.send(rank, true, { tag = question })
            local theirs, answered = ranks.receive(rank, { tag = question }), system.now()
            if answered - asked < best then
                best, offset = answered - asked, theirs - (asked + answered) / 2
            end
        else
            ranks.receive(0, { tag = question })
            ranks.send(0, system.now(), { tag = question })
        end
    end
    return offset
end

-- Returns by how many seconds the steady clock of this rank is ahead of that of rank 0.
-- Ranks of a machine have the same one. All ranks call it.
function trace.ahead()
    if here.size == 1 then return 0 end
    local ranks, machines, offsets = require 'mare.ranks', here.all(here.machine), { 0 }
    for rank = 1, here.size - 1 do
        local is_far = machines[rank + 1] ~= machines[1]
        local takes_part = is_far and (here.rank == 0 or here.rank == rank)
        offsets[rank + 1] = takes_part and ahead_of(ranks, rank) or 0
    end
    return here.broadcast(offsets)[here.rank + 1]
end

return trace
