-- start_thread.lua - a thread that watches this rank while MPI_Init waits for all ranks: of one
-- that was stopped, or does something else first, MPI says nothing. The first rank of a machine
-- says who has not come; once that has taken too long, each ends its process, whereupon the
-- launcher ends all.

local beat = require 'bindings.beat'
local launch = require 'bindings.mpi_launch'
local literal = require 'mare.base.literal'
local system = require 'bindings.system'

local mark = 'mare starts'      -- the name of this thread, which other ranks see
local pause = 0.5               -- seconds between two looks
local patience = 10             -- seconds after which it is said who has not come
local most = 4                  -- ranks that are named

-- Returns what is to be said of a rank, or nil if it has come. own: its processes
local function state_of(rank, own)
    for _, one in ipairs(own) do
        if one.state:find '[Tt]' then
            return ('rank %d (process %d) is stopped'):format(rank, one.process)
        end
    end
    for _, one in ipairs(own) do
        if one.threads[mark] then return nil end
    end
    local first = own[1]
    return ('rank %d (process %d, %s) has not come'):format(rank, first.process, first.name)
end

-- Returns in words who has not come, and whether this rank is the first that has: each is where the
-- launcher is none whose processes are known.
local function absent(known)
    local by_rank, said, gone, is_first = launch.processes(), {}, {}, true
    if not by_rank[known.rank] then return 'who has not come is not known', true end
    for rank = 0, known.size - 1 do
        local text = by_rank[rank] and state_of(rank, by_rank[rank])
        if text then said[#said + 1] = text end
        if not by_rank[rank] then gone[#gone + 1] = 'rank ' .. rank end
        if by_rank[rank] and not text and rank < known.rank then is_first = false end
    end
    local is_said = #said > 0
    local list = is_said and said or gone
    local text = table.concat(list, ', ', 1, math.min(#list, most))
    if #list > most then text = ('%s and %d more'):format(text, #list - most) end
    if is_said then return text, is_first end
    return text == '' and 'all of this machine have come' or 'on this machine there is no ' .. text,
        is_first
end

local function tell(known, seconds, rest)
    local text, is_first = absent(known)
    if not is_first then return end
    beat.say(('mare: rank %d: has waited for %g s for all %d ranks to start MPI: %s%s\n'):format(
        known.rank, seconds, known.size, text, rest))
end

return function(channel)
    launch.name_thread(mark)
    local known = literal.decode(channel:receive())
    local waited, looked, is_told = 0, system.now(), patience >= known.limit
    while not channel:ready() do
        beat.wait(pause, channel.fd)
        local now = system.now()
        waited = waited + math.min(now - looked, pause)     -- while this thread was let run
        looked = now
        if not is_told and waited >= patience then
            is_told = true
            tell(known, patience, '')
        end
        if waited >= known.limit then
            tell(known, known.limit, ': all ranks end')
            system.sleep(pause)                             -- in which the first has said it
            beat.die()
        end
    end
end
