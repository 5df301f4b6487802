-- part_files.lua - 64 processes write one file at once, 20 rounds of 10 files each: none fails, no
-- file is torn, and no part file stays.
--     build/mare tests/long/part_files.lua [PROCESSES [ROUNDS]]

local lfs = require 'lfs'
local rivals = require 'tests.rivals'

local processes, rounds = tonumber(arg[1] or 64), tonumber(arg[2] or 20)
local folder = os.tmpname()
os.remove(folder)
assert(lfs.mkdir(folder))

local failed = 0
for round = 1, rounds do
    local said = rivals(folder .. '/file', processes, 10)
    local left = {}
    for name in lfs.dir(folder) do
        if name:find '%.part$' then left[#left + 1] = name end
    end
    if said ~= '' or left[1] then
        failed = failed + 1
        print(('round %d: %s%s'):format(round, said, table.concat(left, ' ')))
    end
end
os.remove(folder .. '/file')
lfs.rmdir(folder)
print(('%d processes, %d rounds: %d failed'):format(processes, rounds, failed))
os.exit(failed == 0 and 0 or 1)
