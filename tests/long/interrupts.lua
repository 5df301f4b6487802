-- interrupts.lua - Ctrl-C at 200 random moments in loops of one's own and in runs, as scripts and
-- in sessions: each stops in time and leaves nothing half-written. Prints the distributions.
--     build/mare tests/long/interrupts.lua [MOMENTS [FIRST SEED]]

local interrupts = require 'tests.interrupts'
local trial = require 'tests.scenarios.trial'

local moments, first = tonumber(arg[1] or 200), tonumber(arg[2] or 1)
local times, failed = {}, 0

for seed = first, first + moments - 1 do
    local folder = trial.new_folder()
    local kind, seconds, what, problem = interrupts.case(seed, folder)
    trial.remove(folder)
    times[kind] = times[kind] or {}
    table.insert(times[kind], seconds or 20)
    if problem then failed = failed + 1 end
    if problem or seconds > interrupts.limits[kind] then
        print(('%d %s %.2f s: %s%s'):format(seed, kind, seconds or 20, what,
            problem and ': ' .. problem or ''))
    end
end
print '| what | moments | median | 90 % | longest, s |'
print '|---|---|---|---|---|'
for kind, list in pairs(times) do
    table.sort(list)
    print(('| %s | %d | %.2f | %.2f | %.2f |'):format(kind, #list, list[math.ceil(#list / 2)],
        list[math.ceil(0.9 * #list)], list[#list]))
end
print(('%d moments, %d failed'):format(moments, failed))
os.exit(failed == 0 and 0 or 1)
