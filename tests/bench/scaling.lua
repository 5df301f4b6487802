-- scaling.lua - what a step costs over ranks: as many cells a rank (weak), as many in all (strong).
--     mare tests/bench/scaling.lua [DEVICE] [N] [RANKS] [SECONDS]
-- It starts mpirun itself. The base is one process alone with N x N cells; beside it as many
-- processes as ranks, at once and each alone with a rank's part, which share the device or the
-- cores as the ranks do. The model of a step over ranks is a step of these, and what filling halos
-- and the ticks of clocks cost more. Cells go the best way, then through the host. Figures are
-- those of the fastest batch in three turns.

local devices = require 'bindings.device'
local home = require 'bindings.home'
local launch = require 'tests.ranks.launch'
local lfs = require 'lfs'
local record = require 'tests.bench.record'

local device = devices.open(arg[1])
local n, ranks = tonumber(arg[2] or 1024), tonumber(arg[3] or 2)
local seconds, rounds = tonumber(arg[4] or 2), record.few(3, 1)

local launcher
launch.each(function(found) launcher = found end)
if not launcher then
    print 'no launcher of MPI was found: mpirun.openmpi or mpirun.mpich'
    return
end

local program = "local d, nx, ny, s, count, folder, k = ... require 'tests.bench.scaling_rank' (d, "
    .. 'tonumber(nx), tonumber(ny), tonumber(s), tonumber(count), folder, k)'

local function words(nx, ny)
    return ('%s %d %d %g'):format(device.name, nx, ny, seconds)
end

-- Returns what processes print that run at once. They read numbers from words.
local function run(commands)
    local pipes, found = {}, {}
    for k, command in ipairs(commands) do pipes[k] = io.popen(command) end
    for k, pipe in ipairs(pipes) do
        local text = pipe:read '*a'
        pipe:close()
        local step, halo, tick, way = text:match '(%S+) (%S+) (%S+) ([^\n]+)\n$'
        if not step then error('a process of the benchmark failed: ' .. text, 0) end
        found[k] = { step = tonumber(step), halo = tonumber(halo), tick = tonumber(tick),
            way = way }
    end
    return found
end

-- Returns the means of processes alone, which run at once.
local function apart(count, nx, ny)
    local commands, mean, folder = {}, { step = 0, tick = 0 }, os.tmpname()
    os.remove(folder)
    lfs.mkdir(folder)
    for k = 1, count do
        commands[k] = ('POCL_MAX_PTHREAD_COUNT=1 timeout 120 %s -e %s %s %d %s %d'):format(
            home.launcher, launch.quote(program), words(nx, ny), count, folder, k)
    end
    local found = run(commands)
    os.execute('rm -r ' .. folder)
    for _, one in ipairs(found) do
        mean.step, mean.tick = mean.step + one.step / count, mean.tick + one.tick / count
    end
    return mean
end

local function together(nx, ny, way)
    return run { launch.command(launcher, ranks, program, words(nx, ny),
        'MARE_TRANSPORT=' .. way) }[1]
end

-- Returns the least of each figure.
local function least(list)
    local result = { way = list[1].way, step = math.huge, halo = math.huge, tick = math.huge }
    for _, one in ipairs(list) do
        for _, name in ipairs { 'step', 'halo', 'tick' } do
            result[name] = math.min(result[name], one[name] or math.huge)
        end
    end
    return result
end

-- Measures in turns: one alone, all apart, and together by each way.
local function measure(nx, ny)
    local ones, aparts, ways = {}, {}, { auto = {}, staged = {} }
    for k = 1, rounds do
        ones[k] = apart(1, n, n)
        aparts[k] = apart(ranks, nx, ny / ranks)
        ways.auto[k] = together(nx, ny, 'auto')
        if ways.auto[1].way:find 'share' then ways.staged[k] = together(nx, ny, 'staged') end
    end
    return least(ones), least(aparts), { least(ways.auto),
        ways.staged[1] and least(ways.staged) }
end

-- ideal: what a step of the base takes over these ranks if all goes well, of a step of one alone
local function report(kind, nx, ny, ideal)
    local one, alone, ways = measure(nx, ny)
    for _, found in ipairs(ways) do
        local values = { benchmark = 'scaling', kind = kind, n = n, ranks = ranks, rounds = rounds,
            dt = 'every step', way = found.way, one_us = 1e6 * one.step,
            apart_us = 1e6 * alone.step, step_us = 1e6 * found.step, halo_us = 1e6 * found.halo,
            tick_us = 1e6 * (found.tick - alone.tick) }
        values.model_us = values.apart_us + values.halo_us + values.tick_us
        values.of_one, values.of_apart = ideal * one.step / found.step, alone.step / found.step
        record.write(device, values, ('%-9s %-6s %d ranks of %d x %d: step %.5g us, model %.5g = '
            .. '%.5g apart + %.4g halos + %.4g ticks; %.1f %% of one alone, %.1f %% of apart; %s')
            :format(device.name, kind, ranks, nx, ny / ranks, values.step_us, values.model_us,
            values.apart_us, values.halo_us, values.tick_us, 100 * values.of_one,
            100 * values.of_apart, found.way))
    end
end

report('weak', n, n * ranks, 1)
report('strong', n, n, 1 / ranks)
