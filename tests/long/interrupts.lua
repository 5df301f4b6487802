-- interrupts.lua - Ctrl-C at 200 random moments in loops of one's own and in runs, as scripts and
-- in sessions: each stops in time and leaves nothing half-written. After each the control, a loop
-- of the shell, computes 0.1 s more at the key: how late it ends tells how busy the machine was.
-- Prints the distributions, adds them to MARE_RECORDS, and names the moments that were later than
-- their limit and the control.
--     build/mare tests/long/interrupts.lua [MOMENTS [FIRST SEED [NOTE]]]

local interrupts = require 'tests.interrupts'
local json = require 'dkjson'
local trial = require 'tests.scenarios.trial'

local moments, first = tonumber(arg[1] or 200), tonumber(arg[2] or 1)
local times, failed, late = { control = {} }, 0, 0

local function try(seed)
    local folder = trial.new_folder()
    local kind, seconds, what, problem = interrupts.case(seed, folder)
    trial.remove(folder)
    local lateness = interrupts.lateness()
    times[kind] = times[kind] or {}
    table.insert(times[kind], seconds or 20)
    table.insert(times.control, lateness)
    local is_late = seconds and seconds > interrupts.limits[kind] + math.max(0, lateness)
    if problem then failed = failed + 1 end
    if is_late then late = late + 1 end
    if problem or is_late then
        print(('%d %s %.2f s, the control %.2f s late: %s%s'):format(seed, kind, seconds or 20,
            lateness, what, problem and ': ' .. problem or ''))
    end
end

local function load_average()
    return tonumber(trial.slurp('/proc/loadavg'):match '%S+')
end

local function record(rows, load_before)
    local path = os.getenv 'MARE_RECORDS'
    if not path then return end
    local file = assert(io.open(path, 'a'))
    file:write(json.encode({ benchmark = 'interrupts', moments = moments, first_seed = first,
        failed = failed, late = late, seconds = rows, load = { load_before, load_average() },
        note = arg[3], date = os.date '!%Y-%m-%dT%H:%M:%SZ' }), '\n')
    file:close()
end

local load_before, rows = load_average(), {}
for seed = first, first + moments - 1 do try(seed) end
print '| what | moments | median | 90 % | longest, s |'
print '|---|---|---|---|---|'
for kind, list in pairs(times) do
    table.sort(list)
    local row = { moments = #list, median = list[math.ceil(#list / 2)],
        nine_tenths = list[math.ceil(0.9 * #list)], longest = list[#list] }
    print(('| %s | %d | %.2f | %.2f | %.2f |'):format(kind, row.moments, row.median,
        row.nine_tenths, row.longest))
    for name, value in pairs(row) do row[name] = math.floor(value * 1000 + 0.5) / 1000 end
    rows[kind] = row
end
record(rows, load_before)
print(('%d moments, %d failed, %d late'):format(moments, failed, late))
os.exit(failed == 0 and 0 or 1)
