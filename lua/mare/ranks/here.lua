-- here.lua - which rank this process is, for rooms whose work one rank does
-- alone or many share. Unless init.lua has joined others, there is one; then the
-- calls that all ranks make return what they are given.

local home = require 'bindings.home'

local here = { rank = 0, size = 1, local_rank = 0, local_size = 1, name = 'this process',
    machine = 'this machine', place = '', world = nil }
-- place: a text that ranks of other machines do not have; world: of bindings.mpi, for messages of
-- memory

-- Returns the value that rank 0 has.
function here.broadcast(value) return value end

-- Returns the values of all ranks, on all of them.
function here.all(value) return { value } end

-- Returns the largest over the ranks of numbers from 0, or NaN if one is NaN.
function here.largest(value) return value end

-- Says that from now on rank 0 alone prints and writes files.
function here.hush() end

-- Says for how many seconds a rank may be silent before all end, 0: for ever. All ranks
-- call it.
function here.allow_silence() end

-- Returns whether all are to stop: a signal came to one of them.
function here.interrupted() return home.interrupted() end

local of_one = {}
for name, value in pairs(here) do of_one[name] = value end

local function back(kept, ok, ...)
    for name, value in pairs(kept) do here[name] = value end
    if not ok then error((...), 0) end
    return ...
end

-- Calls f(...) as if there were this rank only.
function here.alone(f, ...)
    local kept = {}
    for name in pairs(here) do kept[name] = here[name] end
    here.world = nil
    for name, value in pairs(of_one) do here[name] = value end
    return back(kept, pcall(f, ...))
end

return here
