-- ranks_mpis.lua - the specs of tests/ranks under Open MPI 5, MPICH 5 and the standard ABI of MPI
-- 5, which tests/ranks/wheels.sh fetches from PyPI. Prints what failed; adds a record for each MPI
-- to MARE_RECORDS.
--     build/mare tests/long/ranks_mpis.lua [SPEC, such as runs...]

local home = require 'bindings.home'
local json = require 'dkjson'
local launch = require 'tests.ranks.launch'
local trial = require 'tests.scenarios.trial'

local specs = #arg > 0 and arg or { 'ranks', 'simulations', 'runs', 'page' }
local folder = home.launcher:match '^(.*)/' .. '/mpi'
if trial.status_of(("%s/tests/ranks/wheels.sh '%s'"):format(home.root, folder)) ~= 0 then
    print 'skipped: Open MPI and MPICH cannot be fetched from PyPI'
    os.exit(0)
end

local failed = 0

-- The version that a library of MPI tells.
local function version_of(one)
    return launch.run(one.launcher, 1, "print(require 'mare'.ranks.start().version)", '',
        one.settings):match '[^\n]*'
end

local function try(one)
    local record = { benchmark = 'ranks_mpis', mpi = one.name, version = version_of(one),
        passed = 0, failed = 0, date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
    for _, spec in ipairs(specs) do
        local _, text = trial.status_of(("MARE_TESTS= MARE_TEST_LAUNCHERS='%s' %s '%s' "
            .. "'%s/tests/busted.lua' '%s/tests/ranks/%s_spec.lua'"):format(one.launcher,
            one.settings, home.launcher, home.root, home.root, spec))
        local passed, bad, errors = text:match '(%d+) success%a* / (%d+) failure%a* / (%d+) error'
        record.passed = record.passed + (tonumber(passed) or 0)
        local faults = passed and bad + errors or 1
        record.failed = record.failed + faults
        if faults > 0 then print(one.name .. ', ' .. spec .. ':\n' .. text) end
    end
    failed = failed + record.failed
    print(json.encode(record))
    local path = os.getenv 'MARE_RECORDS'
    local file = path and assert(io.open(path, 'a'))
    if file then
        file:write(json.encode(record), '\n')
        file:close()
    end
end

for _, one in ipairs(launch.of_wheels()) do try(one) end
os.exit(failed == 0 and 0 or 1)
