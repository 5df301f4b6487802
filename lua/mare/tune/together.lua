-- together.lua - a search on several ranks: all of them build, verify and time the same
-- candidates, whose records are those of rank 0, so that all go on alike. On one rank
-- everything here gives back what it is given.

local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'

local together = {}

-- Takes what pcall returned for something that ranks do without each other. Where it
-- failed on one of them it has failed on all, with the error of the first.
function together.agree(ok, result)
    if here.size == 1 then return ok, result end
    local own = not ok and { status = errors.is(result) and result.status or nil,
        message = errors.is(result) and result.message or tostring(result) } or false
    for rank, failed in ipairs(here.all(own)) do
        if failed then
            if ok then result:release() end
            return pcall(errors.raise, failed.status or 'MARE_ERROR_DEVICE', 'rank %d: %s',
                rank - 1, failed.message)
        end
    end
    return true, result
end

-- Raises what has failed on this rank while others may wait for its cells: all end. A
-- state that has become invalid is so on all of them, and no such failure.
function together.survive(failure, params)
    if here.size == 1 or not failure then return end
    if errors.is(failure) and failure.status == 'MARE_ERROR_STATE' then return end
    local words = {}
    for name, value in pairs(params) do words[#words + 1] = name .. ' = ' .. tostring(value) end
    table.sort(words)
    errors.raise('MARE_ERROR_LOST', 'tune: the candidate %s fails while it runs, which several '
        .. 'ranks do not survive: %s', table.concat(words, ', '),
        errors.is(failure) and failure.message or tostring(failure))
end

-- Calls put() where a list of shapes is written: once on each machine; then forget()
-- everywhere.
function together.keep(put, forget)
    if here.local_rank == 0 then put() end
    if here.size == 1 then return end
    here.all(true)
    forget()
end

return together
