-- Runs of scenarios over ranks: the same files as one process writes, written once; checkpoints
-- that any number of ranks goes on from; what is refused.

local checkpoint = require 'mare.files.checkpoint'
local fails = require 'tests.fails'
local files = require 'bindings.files'
local json = require 'dkjson'
local launch = require 'tests.ranks.launch'
local lfs = require 'lfs'
local netcdf = require 'bindings.netcdf'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local folder

local function in_folder(text) return (text:gsub('@', folder .. '/')) end

-- Runs a scenario. words: of its command line, @ for the folder; launcher: nil for one process.
-- Returns what it said, and the status.
local function run(launcher, count, words)
    words = in_folder(words) .. ' --device ' .. name
    local command = launcher and launch.command(launcher, count, ''):gsub("%-e '' $", words)
        or launch.mare .. ' ' .. words
    local pipe = io.popen('cd ' .. folder .. ' && ' .. command .. ' 2>&1; echo "status $?"')
    local text = pipe:read '*a'
    pipe:close()
    return text, launch.status(text)
end

local function good(...)
    local text, status = run(...)
    assert.equal(0, status, text)
    return text
end

-- Those that say how a file was made, and by which of two runs.
local of_run = {}
for word in ([[history arguments run_id ranks transport option_out option_series option_image
    option_film option_steps option_t_end option_lost option_signal option_at option_restart
    option_decompose option_checkpoint option_checkpoint_every option_weights
    option_rank_timeout option_tracks]]):gmatch '%S+' do of_run[word] = true end

local function what_is_in(path)
    local file = netcdf.open(in_folder(path))
    local variables, own = file:variables(), {}
    for _, v in ipairs(variables) do own[v.name] = file:attributes(v.name) end
    local all = { dimensions = file:dimensions(), variables = variables, own = own,
        attributes = file:attributes() }
    file:close()
    for attribute in pairs(of_run) do all.attributes[attribute] = nil end
    assert.is_true(#variables > 1)
    all.data = trial.data_of(in_folder(path))
    return all
end

local function same_files(a, b)
    for _, path in ipairs { a, b } do assert.truthy(files.size(in_folder(path)), path) end
    assert.equal(files.read(in_folder(a)), files.read(in_folder(b)))
end

-- The shares of the last two checkpoints are there, and no others. Without one of the newest, or
-- with a damaged one, the one before is the newest that is whole.
local function falls_back(path)
    local found = checkpoint.newest(in_folder(path))
    local before = checkpoint.read(in_folder(path .. '.1'))
    local one = in_folder '@' .. found.header.shares[2].name
    local pipe = io.popen('ls ' .. in_folder(path) .. '.s* | wc -l')
    assert.equal(#found.header.shares + #before.header.shares, tonumber(pipe:read '*a'))
    pipe:close()
    for reason, command in pairs { ['not complete'] = 'truncate -s -1 ', ['No such'] = 'rm ' } do
        os.execute(('cp %s %s.kept; %s %s'):format(one, one, command, one))
        local other = checkpoint.newest(in_folder(path))
        assert.equal(before.header.steps, other.header.steps)
        fails.says(other.passed_over[1], found.header.shares[2].name, reason)
        os.execute(('mv %s.kept %s'):format(one, one))
    end
end

-- The trace of a run on two ranks has what each of them did, on one clock.
local function check_trace(path)
    local seen, first, last = {}, math.huge, 0
    for _, e in ipairs(json.decode(files.read(in_folder(path))).traceEvents) do
        if e.name == 'process_name' then seen[e.args.name:match '^rank %d' .. e.pid] = true end
        if e.ph ~= 'M' then
            seen[e.cat .. ' ' .. math.floor(e.pid / 1000)] = true
            first, last = math.min(first, e.ts), math.max(last, e.ts)
        end
    end
    for _, what in ipairs { 'rank 01', 'rank 01000', 'rank 11001', 'rank 12000', 'kernel 0',
        'kernel 1', 'memory 1', 'waits 1', 'waits 2', 'calls 2', 'messages 1', 'messages 2',
        'writer 1' } do
        assert.is_true(seen[what], what)
    end
    assert.is_nil(seen['writer 2'])
    assert.is_true(first >= 0 and last < 600e6)
end

-- A current along a channel that goes round, over a wave, with drifters in and beside all parts.
local sea = [[
    local mare = require 'mare'
    local o = mare.options { title = 'drift', mare.options.simulation, mare.ocean.options,
        { name = 'tracks', type = 'path', help = 'file' } }
    local places = {}
    for k = 1, 12 do places[k] = { 800 * k, 317 * (7 * k % 30) + 200 } end
    mare.run { title = 'drift', options = o,
        boundaries = { west = 'periodic', east = 'periodic', south = 'reflective',
            north = 'reflective' },
        grid = mare.grid { nx = 16, ny = 16, x = { 0, 1e4 }, y = { 0, 1e4 } },
        scheme = mare.ocean { scheme = 'linear', depth = 10 },
        drifters = { places = places, path = o.tracks, steps = 4 },
        initial = function(x, y) return math.sin(x / 900), 4, math.cos(y / 1e3) end }
]]

-- A rank that kills itself, or sends itself another signal.
local loss = [[
    local mare = require 'mare'
    local o = mare.options { title = 'loss', mare.options.simulation, mare.euler.options,
        { name = 'lost', default = -1, range = { -1, 9 }, help = 'rank' },
        { name = 'signal', default = 'KILL', help = 'what it sends itself' },
        { name = 'at', default = 0.11, range = { 0, 1 }, help = 'when' } }
    mare.run { title = 'loss', options = o, boundaries = 'periodic',
        grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, 1 } },
        scheme = mare.euler { options = o },
        initial = function(x, y) return 1 + 0.2 * math.sin(6 * x), 0.1, math.cos(6 * y), 1 end,
        every_steps = { { 1, function(sim)
            if sim.now.t > o.at and mare.ranks.rank == o.lost then
                os.execute('kill -' .. o.signal .. ' $PPID')
            end
        end } } }
]]

local function write(path, text)
    local file = assert(io.open(folder .. '/' .. path, 'w'))
    file:write(text)
    file:close()
end

setup(function()
    folder = os.tmpname()
    os.remove(folder)
    lfs.mkdir(folder)
end)

teardown(function() os.execute('rm -r ' .. folder) end)

local small = 'kelvin_helmholtz --nx 48 --ny 40 '
local flow = small .. '--every 0.05 --series-every 0.03 --variables p,vorticity --gauges 0.3,0.4 '

local launchers, going_on = {}, {}
launch.each(function(launcher) launchers[#launchers + 1] = launcher end)
for _, launcher in ipairs(sample(launchers, 1)) do going_on[launcher] = true end
local is_long = sample(true, false)

launch.each(function(launcher)
    describe(launcher, function()
        if is_long or not going_on[launcher] or #launchers == 1 then
        it('writes the files of one process', function()
            local count = name:find ',' and 2 or 3      -- a GPU each: with a barrier of these
            local one = flow .. '--t-end 0.15 --out @a.nc --series @as.nc --image @a.png '
                .. '--film @a.gif --film-every 0.1 --film-width 200'
            good(nil, 1, one)
            local text = good(launcher, count, (one:gsub('@a', '@b')))
            assert.equal(1, select(2, text:gsub('wrote ', '')), text)
            assert.same(what_is_in '@a.nc', what_is_in '@b.nc')
            assert.same(what_is_in '@as.nc', what_is_in '@bs.nc')
            same_files('@a.png', '@b.png')
            same_files('@a.gif', '@b.gif')
            assert.equal(0, os.execute('! ls ' .. folder .. ' | grep -q part'))
        end) end

        if going_on[launcher] then it('goes on from a checkpoint on another number', function()
            local one = flow .. '--image none --checkpoint @c.ck --restart latest --out @c.nc '
                .. '--series @cs.nc '
            good(nil, 1, flow .. '--image none --t-end 0.15 --out @a.nc --series @as.nc')
            good(launcher, 3, one .. '--steps 9')
            local found = checkpoint.newest(in_folder '@c.ck')
            assert.equal(9, found.header.steps)
            assert.equal(3, #found.header.shares)
            local text = good(launcher, 2, '--profile=@p.json ' .. one
                .. '--t-end 0.15 --weights 2,1')
            check_trace('@p.json')
            fails.says(text, 'going on from', 'step 9')
            assert.equal(1, select(2, text:gsub('going on', '')), text)
            assert.same(what_is_in '@a.nc', what_is_in '@c.nc')
            assert.same(what_is_in '@as.nc', what_is_in '@cs.nc')
            falls_back('@c.ck')
            os.execute('rm ' .. in_folder '@c.*')
        end) end

        if is_long or going_on[launcher] then it('stops at its limit of time on all', function()
            local text, status = run(launcher, 2, small .. '--image none --t-end 100 '
                .. '--checkpoint @l.ck --wall-limit 0.1s')
            launch.failed(launcher, status, text)
            fails.says(text, 'out of time', '--restart')
            assert.equal(1, select(2, text:gsub('out of time', '')), text)
            assert.truthy(checkpoint.newest(in_folder '@l.ck'))
        end) end
    end)
end)

describe('over ranks', function()
    local launcher
    launch.each(function(found) launcher = found end)
    if not launcher then return end

    -- One on a line, and one in three dimensions, of the equation of volume_spec.lua.
    for _, one in ipairs(sample({ 'sod --nx 40 --t-end 0.02 ', 'sound --nx 12 --ny 12 --nz 12 '
        .. '--t-end 0.1 --every 0.05 --precision double --gauges 0.3,0,-0.2 ' }, 1)) do
        it('a scenario writes, draws and prints once: ' .. one:match '%w+', function()
            one = one .. '--image @a.png --out @a.nc --series @as.nc '
            local alone = good(nil, 1, one)
            local text = good(launcher, 2, one:gsub('@a', '@v') .. '--checkpoint @v.ck')
            assert.equal(1, select(2, text:gsub(' error ', '')), text)
            assert.equal(alone:match 'error[^\n]*', text:match 'error[^\n]*')
            assert.same(what_is_in '@a.nc', what_is_in '@v.nc')
            assert.same(what_is_in '@as.nc', what_is_in '@vs.nc')
            same_files('@a.png', '@v.png')
            assert.equal(2, #checkpoint.newest(in_folder '@v.ck').header.shares)
            os.execute('rm ' .. in_folder '@v*')
        end)
    end

    it('drifters go from rank to rank, and on from a checkpoint', function()
        write('sea.lua', sea)
        local one = '@sea.lua --t-end 400 --image none --quiet '
        good(nil, 1, one .. '--tracks @a.nc')
        local kept = one .. '--tracks @b.nc --checkpoint @b.ck --restart latest '
        good(launcher, 3, kept .. '--steps 7')
        good(launcher, 2, kept)
        local whole = what_is_in '@a.nc'
        assert.same(whole, what_is_in '@b.nc')
        os.execute('rm ' .. in_folder '@b.*')
    end)

    it('tuning takes the slowest rank, and rank 0 keeps its results', function()
        write('tune.lua', [[
            local mare, device = require 'mare', ...
            -- GPUs march, whose parameter `rows` is, over 6e5 cells a rank and more.
            local fold = mare.device.open(device:match '[^,]+').info.kind == 'gpu' and 28 or 1
            local records, env = mare.tune.scenario { scenario = 'kelvin_helmholtz',
                device = device, options = { nx = 48 * fold, ny = 40 * fold },
                tune_params = { rows = { 32 } }, iterations = 1, cache = 'tune.json', keep = true,
                tell = function(r) print('told ' .. r.rows .. ' ' .. mare.ranks.rank) end }
            local all = mare.ranks.gather { records[1].time, env.best_config.rows }
            for k, mine in ipairs(all or {}) do
                assert(mine[1] == all[1][1] and mine[2] == 32, k)
            end
            if all then print('alike ' .. records[1].invalidity) end]])
        local command = launch.command(launcher, 2, '', in_folder '@tune.lua ' .. name, in_folder
            'MARE_TUNED=@tuned.json '):gsub("%-e ''", '')
        for _ = 1, 2 do         -- the second time from the file
            local pipe = io.popen('cd ' .. folder .. ' && ' .. command .. ' 2>&1')
            local text = pipe:read '*a'
            pipe:close()
            fails.says(text, 'told 32 0', 'alike correct')
            assert.is_nil(text:find 'told 32 1')
        end
        assert.equal(1, select(2, files.read(in_folder '@tune.json'):gsub('"32"', '')))
    end)

    it('what cannot be shared is refused by its name', function()
        for _, given in ipairs(sample({ 'mandelbrot', 'tuning_sweep', 'bench scaling' }, 2)) do
            local text, status = run(launcher, 2, given)
            launch.failed(launcher, status, text)
            fails.says(text, given:match '%w+', 'rank', 'start it without')
        end
    end)

    it('a lost rank or an interrupt ends all, and the run goes on from its checkpoint', function()
        write('loss.lua', loss)
        local one = '@loss.lua --nx 24 --ny 20 --t-end 0.2 --image none --every 0.05 --quiet '
        good(nil, 1, one .. '--out @whole.nc')
        local kept = one .. '--out @k.nc --checkpoint @k.ck --checkpoint-every 0.02 '
            .. '--restart latest '
        for _, rank in ipairs(sample({ 0, 1, 2 }, 1)) do
            local text, status = run(launcher, 3, ('%s--lost %d --at %g'):format(kept, rank,
                sample({ 0.01, 0.05, 0.11, 0.17 }, 1)[1]))
            launch.failed(launcher, status, text)
            assert.is_nil(files.size(in_folder '@k.nc'))
            good(launcher, 2, kept)
            assert.same(what_is_in '@whole.nc', what_is_in '@k.nc')
            os.execute('rm ' .. in_folder '@k.*')
        end
        local asked = sample({ 0, 1, 2 }, 1)[1]
        local text, status = run(launcher, 3, ('%s--lost %d --signal TERM'):format(kept, asked))
        launch.failed(launcher, status, text)
        assert.equal(1, select(2, text:gsub('goes on', '')), text)
        fails.says(text, 'interrupted at')
        if asked > 0 then fails.says(text, ('rank %d ('):format(asked), 'came to this rank') end
        good(launcher, 2, kept .. '--rank-timeout 0')
        assert.same(what_is_in '@whole.nc', what_is_in '@k.nc')
    end)

    it('a rank that is silent for as long as an option says ends all', function()
        write('loss.lua', loss)
        local text, status = run(launcher, 2, '@loss.lua --nx 24 --ny 20 --t-end 0.2 --image none '
            .. '--lost 1 --signal STOP --rank-timeout 4')
        launch.failed(launcher, status, text)
        fails.says(text, 'rank 1', 'silent for 4 s')
    end)
end)
