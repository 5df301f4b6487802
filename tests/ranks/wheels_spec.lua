-- The MPIs that Debian does not have: Open MPI 5, MPICH 5 and the standard ABI of MPI 5.
-- tests/long/ranks_mpis.lua runs all the specs of this folder under them.

local fails = require 'tests.fails'
local launch = require 'tests.ranks.launch'

local abi_of = { ['Open MPI 5'] = 'Open MPI', ['MPICH 5'] = 'MPICH', ['MPI 5'] = 'MPI 5' }

describe('all calls of mare.ranks are made under', function()
    local list = launch.of_wheels()
    if not list[1] then
        return pending 'tests/ranks/wheels.sh has not fetched MPI from PyPI (tests/run calls it)'
    end
    for _, one in ipairs(list) do
        it(one.name, function()
            local text, status = launch.run(one.launcher, 2, "require 'tests.ranks.calls' "
                .. "print('the ABI of ' .. require 'mare'.ranks.start().abi)", '', one.settings)
            assert.equal(0, status, text)
            fails.says(text, 'all is well of 2', 'the ABI of ' .. abi_of[one.name])
        end)
    end
end)
