-- ranks_cold.lua - ranks that start at once on an empty cache: each kernel is compiled once, so
-- their processor time is more than that on a full cache by what one process needs to compile.
-- Prints the times; adds a record to MARE_RECORDS.
--     build/mare tests/long/ranks_cold.lua [RANKS]

local json = require 'dkjson'
local launch = require 'tests.ranks.launch'
local trial = require 'tests.scenarios.trial'

local ranks, folder = tonumber(arg[1] or 8), trial.new_folder()
local launcher
launch.each(function(found) launcher = found end)
if not launcher then
    print 'no launcher of MPI is here'
    os.exit(0)
end

-- Returns the processor time of a run, in seconds.
local function spent(count)
    local command = launch.command(launcher, count, ''):gsub("%-e '' $", 'kelvin_helmholtz '
        .. '--nx 256 --ny 256 --steps 4 --image none --quiet --device ' .. trial.device)
    local settings = ('export POCL_CACHE_DIR=%s/pocl MARE_CACHE=%s/mare;'):format(folder, folder)
    local status, text = trial.status_of(("bash -c \"TIMEFORMAT='%%U %%S'; %s time (%s) 2>&1\"")
        :format(settings, command))
    assert(status == 0, text)
    local user, system = text:match '(%S+) (%S+)%s+status'
    return tonumber(user) + tonumber(system)
end

-- Returns the times on an empty cache and on a full one.
local function cold_and_warm(count)
    os.execute(('rm -rf %s/*; mkdir -p %s/pocl %s/mare'):format(folder, folder, folder))
    return spent(count), spent(count)
end

local cold_one, warm_one = cold_and_warm(1)
local cold, warm = cold_and_warm(ranks)
trial.remove(folder)
local record = { benchmark = 'ranks_cold', ranks = ranks, launcher = launcher,
    device = trial.device, one_cold_s = cold_one, one_warm_s = warm_one, cold_s = cold,
    warm_s = warm, compiled = (cold - warm) / (cold_one - warm_one),
    date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
print(json.encode(record))
local path = os.getenv 'MARE_RECORDS'
local file = path and assert(io.open(path, 'a'))
if file then
    file:write(json.encode(record), '\n')
    file:close()
end
os.exit(record.compiled < 2 and 0 or 1)
