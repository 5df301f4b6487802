-- system_faults.lua - lets every call of the system in a run with output and checkpoints fail, one
-- in each run, and then all from it on (tests/faults.lua). Prints each run that lost a file, left
-- half of one, said nothing or died; adds a record to MARE_RECORDS.
--     build/mare tests/long/system_faults.lua [KIND [EVERY [FIRST]]]
-- With EVERY = 16 every 16th call of that kind fails.

local faults = require 'tests.faults'
local json = require 'dkjson'
local trial = require 'tests.scenarios.trial'

local only, every, first = arg[1], tonumber(arg[2] or 1), tonumber(arg[3] or 1)
local folder = trial.new_folder()
local runs, kinds, failed = faults.new(folder), {}, 0
for kind in pairs(faults.kinds) do kinds[#kinds + 1] = kind end
table.sort(kinds)

local function try_all(kind)
    local found, tried, faulty, begun = 0, 0, 0, os.time()
    for n = first, runs.counts[kind], every do
        for _, from_there in ipairs(faults.ways(kind)) do
            local fault, vendor = runs:try(kind, n, from_there)
            tried, faulty = tried + 1, faulty + (vendor and 1 or 0)
            if fault then
                found = found + 1
                print(('%s %d%s: %s'):format(kind, n, from_there and ' on' or '', fault))
            end
        end
    end
    local record = { benchmark = 'system_faults', kind = kind, cases = tried, every = every,
        findings = found, faults_of_drivers = faulty, seconds = os.time() - begun,
        date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
    print(json.encode(record))
    local path = os.getenv 'MARE_RECORDS'
    local file = path and assert(io.open(path, 'a'))
    if file then
        file:write(json.encode(record), '\n')
        file:close()
    end
    return found
end

for _, kind in ipairs(kinds) do
    if not only or only == kind then failed = failed + try_all(kind) end
end
trial.remove(folder)
os.exit(failed == 0 and 0 or 1)
