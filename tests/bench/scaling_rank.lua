-- What scaling.lua runs on every rank, or in one process: a family of simulations. Rank 0 says when
-- it is ready, waits for its turn, which a file tells, and prints the figures.

local family = require 'tests.bench.scaling_family'
local here = require 'mare.ranks.here'
local lfs = require 'lfs'
local system = require 'bindings.system'

local patience = 300        -- seconds

local function numbers(text)
    local list = {}
    for word in text:gmatch '[^,]+' do list[#list + 1] = tonumber(word) end
    return list
end

-- Says that all is set up. Returns when the file is there.
local function wait_for(path)
    local start = system.now()
    here.all(true)
    if here.rank == 0 then
        print 'ready'
        io.stdout:flush()
        while not lfs.attributes(path) do
            if system.now() - start > patience then error('no turn came', 0) end
            system.sleep(5e-3)
        end
    end
    here.all(true)
end

-- folder, k: the file that tells the turn; others: of scaling_family.lua, lists with commas
return function(folder, k, devices, case, n, counts, seconds, rounds, kinds)
    here.allow_silence(0)
    local names = {}
    for name in devices:gmatch '[^,]+' do names[#names + 1] = name end
    local list = family { case = case, n = tonumber(n), names = names, counts = numbers(counts),
        seconds = tonumber(seconds), rounds = tonumber(rounds), kinds = kinds,
        settled = function() wait_for(folder .. '/' .. k) end }
    if here.rank > 0 then return end
    for _, e in ipairs(list) do
        print(('entry %s %d %d %d %d %d %.6g %.6g %.6g %s'):format(e.kind, e.px, e.py, e.nx, e.ny,
            e.steps, e.us, e.least_us, e.most_us, e.way))
    end
end
