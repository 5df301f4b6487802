-- scaling.lua - what a step costs over several devices: as many cells a part (weak), as many in all
-- (strong); in one process, and in ranks of MPI where a launcher is found.
--     mare tests/bench/scaling.lua [DEVICE,DEVICE...] [N] [PARTS] [SECONDS]
-- Without PARTS there is one for each device, or two. The base is one process alone on the first
-- device with N x N cells; beside it as many processes as parts, at once and each alone with a
-- part, on the devices in turn, which they share as the ranks do. The model of a step is a step of
-- these, and what filling halos and the ticks of clocks cost more. Ranks go the best way, then
-- through the host. Figures are medians of five batches with rests between them, and of three
-- turns; dt follows from the state in every step.

local devices = require 'bindings.device'
local home = require 'bindings.home'
local launch = require 'tests.ranks.launch'
local lfs = require 'lfs'
local record = require 'tests.bench.record'

local names = {}
for name in (arg[1] or devices.open().name):gmatch '[^,]+' do names[#names + 1] = name end
local device = devices.open(names[1])
local list = table.concat(names, ',')
local n = tonumber(arg[2] or 1024)
local count = tonumber(arg[3] or math.max(2, #names))
local seconds, rounds = tonumber(arg[4] or 0.4), record.few(3, 1)

local launcher
launch.each(function(found) launcher = found end)
if not launcher then print 'no launcher of MPI was found: one process only' end

local program = 'local d, nx, ny, s, parts, count, folder, k = ... '
    .. "require 'tests.bench.scaling_rank' (d, tonumber(nx), tonumber(ny), tonumber(s), "
    .. 'tonumber(parts), tonumber(count), folder, k)'

local function words(on, nx, ny, parts)
    return ('%s %d %d %g %d'):format(on, nx, ny, seconds, parts)
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

local function command(on, nx, ny, parts, more)
    return ('POCL_MAX_PTHREAD_COUNT=1 timeout 120 %s -e %s %s %s'):format(home.launcher,
        launch.quote(program), words(on, nx, ny, parts), more or '')
end

-- Returns the means of processes alone, which run at once.
local function apart(processes, nx, ny)
    local commands, mean, folder = {}, { step = 0, tick = 0 }, os.tmpname()
    os.remove(folder)
    lfs.mkdir(folder)
    for k = 1, processes do
        commands[k] = command(names[(k - 1) % #names + 1], nx, ny, 1,
            ('%d %s %d'):format(processes, folder, k))
    end
    local found = run(commands)
    os.execute('rm -r ' .. folder)
    for _, one in ipairs(found) do
        mean.step, mean.tick = mean.step + one.step / processes, mean.tick + one.tick / processes
    end
    return mean
end

-- The ways to run all parts: { mode, way or nil, f(nx, ny) }.
local modes = { { mode = 'process', run = function(nx, ny)
    return run { command(list, nx, ny, count) }[1]
end } }
for _, way in ipairs { 'auto', 'staged' } do
    modes[#modes + 1] = launcher and { mode = 'ranks', way = way, run = function(nx, ny)
        return run { launch.command(launcher, count, program, words(list, nx, ny, count),
            'MARE_TRANSPORT=' .. way) }[1]
    end }
end

-- Returns the median of each figure.
local function median(turns)
    local result = { way = turns[1].way }
    for _, name in ipairs { 'step', 'halo', 'tick' } do
        local values = {}
        for k, one in ipairs(turns) do values[k] = one[name] end
        result[name] = values[1] and record.median(values)
    end
    return result
end

-- Measures in turns: one alone, all apart, and together in each mode. Ranks that go through the
-- host anyway do so once.
local function measure(nx, ny)
    local ones, aparts, together = {}, {}, {}
    for k = 1, rounds do
        ones[k] = apart(1, n, n)
        aparts[k] = apart(count, nx, ny / count)
        for m, one in ipairs(modes) do
            local before = together[m - 1]
            together[m] = together[m] or { mode = one.mode }
            if one.way ~= 'staged' or not before[1].way:find 'MPI' then
                together[m][k] = one.run(nx, ny)
            end
        end
    end
    local found = {}
    for _, turns in ipairs(together) do
        if turns[1] then
            found[#found + 1] = median(turns)
            found[#found].mode = turns.mode
        end
    end
    return median(ones), median(aparts), found
end

-- ideal: what a step of the base takes over these parts if all goes well, of a step of one alone
local function report(kind, nx, ny, ideal)
    local one, alone, all = measure(nx, ny)
    for _, found in ipairs(all) do
        local values = { benchmark = 'scaling', kind = kind, n = n, mode = found.mode,
            ranks = found.mode == 'ranks' and count or 1, parts = count, devices = list,
            rounds = rounds, dt = 'every step', way = found.way, one_us = 1e6 * one.step,
            apart_us = 1e6 * alone.step, step_us = 1e6 * found.step, halo_us = 1e6 * found.halo,
            tick_us = 1e6 * (found.tick - alone.tick) }
        values.model_us = values.apart_us + values.halo_us + values.tick_us
        values.of_one, values.of_apart = ideal * one.step / found.step, alone.step / found.step
        record.write(device, values, ('%-9s %-6s %-7s %d parts of %d x %d: step %.5g us, model '
            .. '%.5g = %.5g apart + %.4g halos + %.4g ticks; %.1f %% of one alone (%.5g us), %.1f '
            .. '%% of apart; %s'):format(device.name, kind, found.mode, count, nx, ny / count,
            values.step_us, values.model_us, values.apart_us, values.halo_us, values.tick_us,
            100 * values.of_one, values.one_us, 100 * values.of_apart, found.way))
    end
end

report('weak', n, n * count, 1)
report('strong', n, n, 1 / count)
