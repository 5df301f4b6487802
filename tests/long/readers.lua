-- readers.lua - 20000 damaged files for each reader: none ends the process, hangs, or shows an
-- error of Lua. Files of one kind are read by a process of their own, 500 at a time.
--     build/mare tests/long/readers.lua [CASES [KIND]]

local host = require 'bindings.host'
local mutate = require 'tests.mutate'
local trial = require 'tests.scenarios.trial'

local cases, only, first = tonumber(arg[1] or 20000), arg[2], tonumber(arg[3])

-- One process: the cases from `first` on.
local function read_some()
    local folder, failed = trial.new_folder(), 0
    for seed = first, first + cases - 1 do
        math.randomseed(seed)
        local problem = mutate.case(only, folder)
        if problem then
            failed = failed + 1
            print(('%s %d: %s'):format(only, seed, problem))
        end
    end
    trial.remove(folder)
    os.exit(failed == 0 and 0 or 1)
end

if first then read_some() end

local failed = 0
for kind in pairs(mutate.kinds) do
    for from = 1, only and only ~= kind and 0 or cases, 500 do
        local count = math.min(500, cases - from + 1)
        local status, text = trial.status_of(("timeout 2500 '%s' '%s' %d %s %d"):format(
            host.launcher, arg[0], count, kind, from))
        if status ~= 0 then
            failed = failed + 1
            print(('%s from %d: status %s\n%s'):format(kind, from, tostring(status), text))
        end
    end
    print(('%s: done'):format(kind))
end
os.exit(failed == 0 and 0 or 1)
