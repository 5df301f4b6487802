-- soak.lua - for so many seconds, in one folder: runs that end, runs that are killed at any moment
-- and gone on with, sessions that come and go, and one session that lives all the time and
-- runs once a round. Neither that session nor the folder may grow. Prints a line every half
-- minute and at the end what there was. The session's memory levels off after some 150 runs.
--     build/mare tests/long/soak.lua [SECONDS [SEED]]

local device = require 'bindings.device'
local json = require 'dkjson'
local lfs = require 'lfs'
local random = require 'mare.base.random'
local system = require 'bindings.system'
local terminal = require 'tests.pseudo_terminal'
local trial = require 'tests.scenarios.trial'

local seconds, seed = tonumber(arg[1] or 3600), tonumber(arg[2] or 1)
-- From the second third to the last, in MiB. What a killed run leaves until the next is as large
-- as that got; the number of files tells of litter.
local MEMORY_GROWTH, FOLDER_GROWTH = 8, 64
-- The same of memory for each run of the session: growth.lua tells what PoCL keeps of one.
local MEMORY_OF_RUN = 0.1

io.stdout:setvbuf 'line'
local folder, begin, drawn = trial.new_folder(), system.now(), 0
local counts = { run = 0, kill = 0, chain = 0, chain_kill = 0, session = 0, round = 0 }
local failures = {}

local function draw()
    drawn = drawn + 1
    return random.uniform(seed, drawn)
end

local function check(ok, text, ...)
    if not ok then
        failures[#failures + 1] = text:format(...)
        print(failures[#failures])
    end
end

-- ---- what is done ----

local function paths(name)
    return { out = name .. '.nc', film = name .. '.gif', image = name .. '.png' }
end

-- Starts a run that writes files of that name; `more`: further words.
local function start_run(name, t_end, more)
    local words = { 'kelvin_helmholtz', '--device=' .. trial.device, '--quiet', '--nx=64',
        '--ny=32', '--every=0.05', '--t-end=' .. t_end, unpack(more or {}) }
    for option, path in pairs(paths(folder .. '/' .. name)) do
        words[#words + 1] = '--' .. option .. '=' .. path
    end
    return terminal.start(words)
end

local function await(child, name)
    check(child:see(nil, 120), 'a run does not end: %s', child.text)
    local status = child:stop()
    check(status == 0, 'a run ends with %d: %s', status, child.text)
    for _, path in pairs(paths(folder .. '/' .. name)) do
        check(lfs.attributes(path, 'size'), '%s is missing', path)
    end
    check(not trial.listing(folder):find(name .. '[%w.-]*part'), 'parts are left: %s',
        trial.listing(folder))
end

-- Ends a run at any moment.
local function kill(child)
    child:see('\0', 4 * draw())
    child:kill(draw() < 0.5 and 'KILL' or 'TERM')
    check(child:see(nil, 30), 'a killed run goes on: %s', child.text)
    child:stop()
end

local actions = {}

function actions.run() await(start_run('run', 0.2), 'run') end

function actions.kill() kill(start_run('kill', 1000)) end

-- Goes on from the checkpoint that a killed run leaves, if it got so far. Others of its name, of
-- which nothing is wanted any more, may have been killed before.
function actions.chain()
    local path = folder .. '/chain.ck'
    local checkpoints = { '--checkpoint=' .. path, '--checkpoint-every=0.1' }
    for _ = 1, math.ceil(3 * draw()) do
        kill(start_run('chain', 4, checkpoints))
        counts.chain_kill = counts.chain_kill + 1
    end
    if lfs.attributes(path) then checkpoints[3] = '--restart=' .. path end
    await(start_run('chain', 4, checkpoints), 'chain')
    os.remove(path)
    os.remove(path .. '.1')
end

-- Types a line; returns what is printed until the next prompt.
local function type_line(child, line)
    child.text = ''
    child:send(line .. '\n')
    check(child:see('DONE%s+[^>]*> ', 120), 'no prompt after %s: %s', line, child.text)
end

local function start_session()
    local child = terminal.start {}
    check(child:see('> ', 60), 'no prompt: %s', child.text)
    return child
end

local typed = ("sim = mare.simulation 'kelvin_helmholtz' { nx = 64, ny = 32, device = %q, "
    .. "quiet = true } sim:run { t_end = 0.1, out = 'F.nc', image = 'F.png', series = 'Fs.nc', "
    .. "film = 'F.gif', frames = 4 } sim:release() print('DO' .. 'NE')"):format(trial.device)

local function typed_for(name) return (typed:gsub('F([.s])', folder .. '/' .. name .. '%1')) end

function actions.session()
    local child = start_session()
    type_line(child, typed_for 'session')
    child:send '\4'
    check(child:see(nil, 30), 'a session does not end: %s', child.text)
    local status = child:stop()
    check(status == 0, 'a session ends with %d: %s', status, child.text)
end

-- ---- what is measured ----

local function memory_of(process)
    local file = io.open(('/proc/%d/statm'):format(process))
    local pages = file:read '*l':match '^%d+ (%d+)'
    file:close()
    return pages * 4096 / 2 ^ 20
end

local function folder_size()
    local bytes, files = 0, 0
    for name in lfs.dir(folder) do
        local size = lfs.attributes(folder .. '/' .. name, 'size')
        if size and name:sub(1, 1) ~= '.' then bytes, files = bytes + size, files + 1 end
    end
    return bytes / 2 ^ 20, files
end

-- The most of `name` in the part of the samples from one third to another.
local function most(samples, name, first, last)
    local top = 0
    for k = math.ceil(first / 3 * #samples) + 1, math.floor(last / 3 * #samples) do
        top = math.max(top, samples[k][name])
    end
    return top
end

local resident, samples, told = start_session(), {}, 0
local names = { 'run', 'kill', 'chain', 'session' }
repeat
    type_line(resident, typed_for 'resident')
    local name = names[1 + math.floor(draw() * #names)]
    actions[name]()
    counts[name], counts.round = counts[name] + 1, counts.round + 1
    local size, files = folder_size()
    samples[#samples + 1] = { memory = memory_of(resident.process), size = size, files = files }
    local now = system.now() - begin
    if now >= told then
        local done = ('%d runs, %d kills, %d chains, %d sessions'):format(counts.run, counts.kill,
            counts.chain, counts.session)
        print(('%5.0f s: %s; %.1f MiB in the session, %.1f MiB in %d files'):format(now, done,
            samples[#samples].memory, size, files))
        told = told + 30
    end
until system.now() - begin >= seconds
resident:send '\4'
resident:see(nil, 30)
check(resident:stop() == 0, 'the session ends badly: %s', resident.text)

await(start_run('kill', 0.2), 'kill')       -- what follows those that were killed cleans up
check(not trial.listing(folder):find 'part', 'parts are left: %s', trial.listing(folder))

local grown = most(samples, 'memory', 2, 3) - most(samples, 'memory', 1, 2)
local more = most(samples, 'size', 2, 3) - most(samples, 'size', 1, 2)
check(grown <= math.max(MEMORY_GROWTH, MEMORY_OF_RUN * counts.round / 3),
    'the session grew by %.1f MiB', grown)
check(more <= FOLDER_GROWTH, 'the folder grew by %.1f MiB', more)
check(most(samples, 'files', 2, 3) <= most(samples, 'files', 1, 2) + 1, 'files are added')
trial.remove(folder)

local record = { benchmark = 'soak', seconds = math.floor(system.now() - begin), seed = seed,
    device = trial.device, commit = device.commit, memory_mib = samples[#samples].memory,
    runs = counts.run, kills = counts.kill, chains = counts.chain,
    chain_kills = counts.chain_kill,
    sessions = counts.session, typed_runs = counts.round, memory_growth_mib = grown,
    folder_growth_mib = more, failures = #failures, date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
local text = json.encode(record, { keyorder = { 'benchmark', 'seconds', 'device', 'seed' } })
print(text)
local file = os.getenv 'MARE_RECORDS' and io.open(os.getenv 'MARE_RECORDS', 'a')
if file then
    file:write(text, '\n')
    file:close()
end
os.exit(#failures == 0 and 0 or 1)
