-- together.lua - a session on several ranks: rank 0 reads and prints, all ranks take its
-- lines, or the cells of a notebook. A line that fails on all of them alike is an error
-- like any other. One that fails on some ends all: the others may wait for what does not
-- come.

local errors = require 'bindings.errors'
local heart = require 'mare.ranks.heart'
local here = require 'mare.ranks.here'
local home = require 'bindings.home'
local mail = require 'mare.ranks.mail'
local process = require 'mare.ranks.process'
local repl = require 'mare.session.repl'

local together = {}

local function send(to, value)
    mail.finish(mail.begin('session', to, mail.pack('session', value)))
end

-- Returns a value from a rank, or raises `failure` if there is one and nothing comes in
-- the time that a rank may be silent.
local function take(from, failure)
    local parcel = mail.take('session', from, nil, failure and heart.limit)
    if parcel then return mail.unpack(parcel) end
    errors.raise('MARE_ERROR_STATE', '%s\nAnother rank has not come to the end of this line '
        .. 'within %g s, so all end', failure, heart.limit)
end

-- Gives a value to all ranks.
local function tell(value)
    for rank = 1, here.size - 1 do send(rank, value) end
end

-- Gives a line to all ranks. Rank 0 calls it.
function together.tell(line)
    tell { line = line }
end

-- All ranks call it at the end of an entry, with what came of it. Raises where some have
-- failed and others not.
function together.agree(status, shown)
    if here.size == 1 or status == 'more' then return end
    local failure = status == 'error' and shown or nil
    if here.rank > 0 then
        send(0, { failure = failure })
        take(0, failure)
        return
    end
    for rank = 1, here.size - 1 do
        local other = take(rank, failure).failure
        if (other == nil) ~= (failure == nil) then
            errors.raise('MARE_ERROR_STATE', 'rank %d alone has failed in this line, so all end: '
                .. '%s', failure and 0 or rank, failure or other)
        end
    end
    tell(true)
end

-- Ends the session of all ranks with an exit status. Rank 0 calls it.
function together.leave(status)
    tell { is_over = true }
    process.agreed = status
    return status
end

-- Takes the lines of rank 0 until it leaves, and returns the exit status. step(line): what
-- is done with one, as session:step does. The other ranks call it.
function together.follow(step)
    here.hush()
    while true do
        local given = take(0)
        if given.is_over then return 0 end
        local _, status, shown = repl.guard(function() return step(given.line) end)
        home.interrupted(true)
        together.agree(status, shown)
    end
end

return together
