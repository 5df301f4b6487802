-- speaker.lua - lets one rank of a machine say why all end, the first that wants to:
-- what fails on all ranks alike is said once, however late each of them comes.

local tally = require 'bindings.tally'

local speaker = { tally = nil }     -- the one that ranks of this machine share

local offered, withdraw

-- Returns what choose() wants of each rank; nil if there is none.
function speaker.offer()
    local ok, made, close = pcall(tally.new)
    if not ok then return nil end
    offered, withdraw = made, close
    return made
end

-- Opens the tally of the first rank of this machine. all: { machine, tally } of each
-- rank, the first at 1
function speaker.choose(rank, all)
    local own, first = all[rank + 1].machine, nil
    for k = #all, 1, -1 do
        if all[k].machine == own then first = all[k].tally end
    end
    speaker.tally = first and tally.open(first) or nil
    local is_kept = offered and first and first.name == offered.name
    if offered and not is_kept then withdraw() end
end

-- Returns whether this rank is the first that speaks. Without a tally each is.
function speaker.take()
    return not speaker.tally or tally.add(speaker.tally) <= 1
end

return speaker
