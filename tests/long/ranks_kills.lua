-- ranks_kills.lua - kills a rank at a random moment of a run, be it while MPI starts, kernels
-- compile or files are written: all ranks end within 10 s, no half file has a final name, and the
-- run goes on with another number of ranks to the bytes of one process. Prints what was not so;
-- adds a record to MARE_RECORDS.
--     build/mare tests/long/ranks_kills.lua [KILLS [SEED]]

local ffi = require 'ffi'
local json = require 'dkjson'
local launch = require 'tests.ranks.launch'
local lfs = require 'lfs'
local random = require 'mare.base.random'
local system = require 'bindings.system'
local trial = require 'tests.scenarios.trial'

local kills, seed = tonumber(arg[1] or 20), tonumber(arg[2] or 1)
local limit = 10
local folder, drawn = trial.new_folder(), 0

local function draw(count)
    drawn = drawn + 1
    return math.floor(random.uniform(seed, drawn) * count)
end

local launchers = {}
launch.each(function(name) launchers[#launchers + 1] = name end)
if not launchers[1] then
    print 'no launcher of MPI is here'
    os.exit(0)
end

-- Its files are written often, so that many moments are those of writing.
local words = ('kelvin_helmholtz --nx 48 --ny 40 --t-end 0.15 --every 0.01 --series-every 0.01 '
    .. '--gauges 0.3,0.4 --film-every 0.03 --film-width 200 --quiet --device %s '):format(
    trial.device) .. '--out @.nc --series @s.nc --film @.gif --image @.png '
local kept = '--checkpoint @.ck --checkpoint-every 0.01 --restart latest '
local files = { '.nc', 's.nc', '.gif', '.png' }

local function command(launcher, count, text, settings)
    text = text:gsub('@', folder .. '/')
    if not launcher then return require('bindings.home').launcher .. ' ' .. text end
    return (launch.command(launcher, count, '', '', settings):gsub("%-e '' $", text))
end

-- Returns what the ranks wrote, the exit status, and the seconds that it took.
local function run(launcher, count, text)
    local start = system.now()
    local status, said = trial.status_of(command(launcher, count, text))
    return said, status, system.now() - start
end

-- Returns the process that has these settings in its environment, or nil.
local function process_of(tag, rank)
    for name in lfs.dir '/proc' do
        local text = name:find '^%d+$' and trial.slurp('/proc/' .. name .. '/environ') or ''
        local own = text:match 'OMPI_COMM_WORLD_RANK=(%d+)' or text:match 'PMI_RANK=(%d+)'
        local of = text:find(tag, 1, true) and trial.slurp('/proc/' .. name .. '/cmdline') or ''
        if tonumber(own) == rank and of:find '/mare%z' and not of:find '^timeout' then
            return tonumber(name)
        end
    end
end

local function bytes(name, path)
    if path:find 'nc$' then return trial.data_of(folder .. '/' .. name .. path) end
    return { assert(trial.slurp(folder .. '/' .. name .. path)) }
end

-- Returns which of the files that a run has written differs from that of one process.
local function other_file()
    for _, path in ipairs(files) do
        local a, b = bytes('whole', path), bytes('k', path)
        for key, value in pairs(a) do
            if b[key] ~= value then return path .. ': ' .. key end
        end
    end
end

-- Returns what was wrong after a kill, before the run goes on; nil if all was well.
local function fault_after(status, said, seconds)
    if seconds > limit then return ('all have ended %.1f s later'):format(seconds) end
    if status == 0 then return nil end
    for _, path in ipairs(files) do
        local ok = not trial.slurp(folder .. '/k' .. path) or pcall(bytes, 'k', path)
        if not ok then return path .. ' is there and not whole' end
    end
    if said:find 'panic' or said:find 'Segmentation' then return said end
end

-- Kills rank `victim` of so many after some seconds. Returns the exit status, what was said and how
-- long after that all had ended.
local function kill(launcher, count, victim, moment)
    local tag = ('MARE_KILL=%d.%d'):format(system.process(), drawn)
    local start = system.now()
    local pipe = io.popen(command(launcher, count, words:gsub('@', '@k') .. kept:gsub('@', '@k'),
        tag) .. ' 2>&1; echo "status $?"')
    local process
    repeat
        process = system.now() - start >= moment and process_of(tag, victim)
        system.sleep(0.005)
    until process or system.now() - start > moment + 20
    local killed = system.now()
    if process then ffi.C.kill(process, 9) end
    local said = pipe:read '*a'
    pipe:close()
    return launch.status(said), said, system.now() - killed
end

local longest, named, unharmed, failed = 0, 0, 0, 0

local function try(k)
    local launcher = launchers[k % #launchers + 1]
    local count, going_on = 2 + draw(3), 1 + draw(4)
    local victim, moment = draw(count), draw(1000) / 1000 * launch.whole
    local status, said, seconds = kill(launcher, count, victim, moment)
    longest = math.max(longest, seconds)
    unharmed = unharmed + (status == 0 and 1 or 0)
    named = named + (said:find(('rank %d %%('):format(victim)) and 1 or 0)
    local fault = fault_after(status, said, seconds)
    if not fault and status ~= 0 then
        local text, after = run(launcher, going_on, words:gsub('@', '@k') .. kept:gsub('@', '@k'))
        fault = after ~= 0 and 'does not go on: ' .. text or other_file()
    end
    if not fault and trial.listing(folder):find '%.part' then fault = 'a part file is left' end
    if fault then
        failed = failed + 1
        print(('%d %s, rank %d of %d after %.2f s, then %d: %s\n%s'):format(k, launcher, victim,
            count, moment, going_on, fault, said))
    end
    os.execute('rm -f ' .. folder .. '/k*')
end

assert(select(2, run(nil, 1, (words:gsub('@', '@whole')))) == 0)
launch.whole = select(3, run(launchers[1], 3, (words:gsub('@', '@k') .. kept:gsub('@', '@k'))))
os.execute('rm -f ' .. folder .. '/k*')
for k = 1, kills do try(k) end
trial.remove(folder)

local record = { benchmark = 'ranks_kills', kills = kills, seed = seed, failed = failed,
    launchers = table.concat(launchers, ' '), longest_s = math.floor(100 * longest) / 100,
    named = named, after_the_end = unharmed, date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
print(json.encode(record))
local path = os.getenv 'MARE_RECORDS'
local file = path and assert(io.open(path, 'a'))
if file then
    file:write(json.encode(record), '\n')
    file:close()
end
os.exit(failed == 0 and 0 or 1)
