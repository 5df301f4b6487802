-- heart.lua - lets the ranks look after each other: each sends heartbeats to the
-- next, and the last to the first, from a thread (heart_thread.lua) that goes on
-- while the others compile, compute or write. A rank that was stopped, or whose
-- machine is lost, falls silent; after 10 s of silence, or the seconds that
-- MARE_RANK_TIMEOUT or option --rank-timeout set, all ranks end. 0, meant for
-- debuggers, stops the heartbeats.

local beat = require 'bindings.beat'
local events = require 'mare.base.events'
local launch = require 'bindings.mpi_launch'
local literal = require 'mare.base.literal'
local speaker = require 'mare.ranks.speaker'
local system = require 'bindings.system'
local worker = require 'bindings.worker'

local heart = { limit = nil }       -- seconds of silence that end a run; nil: any

local usual = 10            -- seconds of silence that end a run, if not set
local usual_start = 60      -- seconds in which all ranks have to start MPI, if not set
local patience = 10         -- seconds in which a neighbour has to connect

local function limit_of()
    local text = system.setting 'MARE_RANK_TIMEOUT'
    local limit = tonumber(text or usual)
    if limit and limit >= 0 then return limit end
    events.warn('MARE_RANK_TIMEOUT=%s is not used (allowed: seconds from 0)', text)
    return usual
end

-- Returns the seconds that all ranks have to start MPI. Options are not known by then.
local function start_limit()
    local words = require('bindings.files').read '/proc/self/cmdline' or ''
    local given = words:match '%z%-%-rank%-timeout[%z=]([%d.]+)%z'
    return tonumber(given) or tonumber(system.setting 'MARE_RANK_TIMEOUT') or usual_start
end

-- Watches MPI_Init, which waits for all ranks. Returns a function that ends this.
function heart.watch_start()
    local found = launch.find()
    local limit = found and found.is_wired and found.size > 1 and start_limit() or 0
    if limit <= 0 then return function() end end
    local thread = worker.start 'mare.ranks.start_thread'
    thread:send(literal.encode { rank = found.rank, size = found.size, limit = limit })
    return function() thread:stop() end
end

-- Connects to the next rank and waits for the one before. Returns both, or nil.
local function meet(ranks, all, listening)
    local next_one = all[(ranks.rank + 1) % ranks.size + 1]
    local token = all[1].token
    local is_near = next_one.machine == all[ranks.rank + 1].machine
    local to = next_one.port and beat.connect(not is_near and next_one.host or nil, next_one.port,
        token)
    local connected = ranks.broadcast(ranks.gather(to ~= nil))
    local is_awaited = connected[(ranks.rank - 1) % ranks.size + 1]
    return to, is_awaited and listening and beat.accept(listening, token, patience) or nil
end

-- All ranks call it. machine: a text that no other machine has; limit: seconds of silence
-- that end a run, 0: any; those of the environment if nil
function heart.start(ranks, machine, limit)
    limit = ranks.broadcast(limit or limit_of())
    heart.limit = limit > 0 and limit or nil
    if limit == 0 then return end
    local listening, port = beat.listen(ranks.local_size == ranks.size)
    local all = ranks.broadcast(ranks.gather { host = ranks.host, machine = machine, port = port,
        name = ranks.name(), token = ('%08x'):format(system.process() * 7919 % 2 ^ 32) })
    local to, from = meet(ranks, all, listening)
    if listening then beat.close(listening) end
    local before = all[(ranks.rank - 1) % ranks.size + 1].name
    if not (to and from) then
        events.tell('log', { level = 'warn', message = before .. ' cannot be watched' })
        return
    end
    heart.connections = { to, from }
    heart.thread = worker.start 'mare.ranks.heart_thread'
    heart.thread:send(literal.encode { to = to, from = from, limit = limit, own = ranks.name(),
        before = before, word = speaker.tally })
end

-- Tells the next rank that this one ends in good order.
function heart.stop()
    if not heart.thread then return end
    heart.thread:send 'end'
    heart.thread:stop()
    heart.thread = nil
    for _, one in ipairs(heart.connections) do beat.close(one) end
end

return heart
