-- scaling.lua - what a step costs over several devices: as many cells a part (weak), as many in all
-- (strong); in one process, and in ranks of MPI where a launcher is found.
--     mare tests/bench/scaling.lua [DEVICE,DEVICE...] [N,N...] [CASE,CASE...] [SECONDS] [MODE,...]
--         [weak|strong]
-- CASE: of cases.lua; MODE: process, ranks (the best way) or staged (ranks through the host). There
-- are 2, 4, 8... parts, up to one for each device; on one device two share it. The base is one
-- device alone with N x N cells; beside it all devices apart, each with as many. Figures are
-- medians of five bursts in turn, with rests between them; dt follows from the state in every step.
-- Programs of several cases are set up at once and measure one after the other.

local devices = require 'bindings.device'
local home = require 'bindings.home'
local launch = require 'tests.ranks.launch'
local lfs = require 'lfs'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local function list_of(text)
    local list = {}
    for word in text:gmatch '[^,]+' do list[#list + 1] = word end
    return list
end

local names = list_of(arg[1] or devices.open().name)
local device = words.device(names[1])
local sizes, chosen = list_of(arg[2] or '1024'), list_of(arg[3] or 'euler_hllc')
local seconds = words.seconds('scaling: SECONDS', arg[4], 0.2)
for _, n in ipairs(sizes) do words.count('scaling: N', n, nil, 2 ^ 16) end
local modes = list_of(arg[5] or record.few('process,ranks,staged', 'process,ranks'))
local kinds = arg[6] or 'weak,strong'
local rounds, limit = record.few(5, 1), 400

local counts = {}
for k = 1, math.floor(math.log(math.max(2, #names)) / math.log(2)) do counts[k] = 2 ^ k end

local launcher
launch.each(function(found) launcher = found end)
if not launcher then print 'no launcher of MPI was found: one process only' end

local folder = os.tmpname()
os.remove(folder)
lfs.mkdir(folder)

local program = "require 'tests.bench.scaling_rank' (...)"

-- Starts the program of a case. Returns { case, k, pipe }.
local function start(k, case, n, mode, count)
    local pieces = table.concat({ folder, k, table.concat(names, ','), case, n,
        table.concat(counts, ','), seconds, rounds, kinds }, ' ')
    local command = ('POCL_MAX_PTHREAD_COUNT=1 timeout %d %s -e %s %s'):format(limit,
        home.launcher, launch.quote(program), pieces)
    if mode ~= 'process' then
        command = launch.command(launcher, count, program, pieces, 'MARE_TRANSPORT='
            .. (mode == 'staged' and 'staged' or 'auto')
            .. ' OMPI_MCA_hwloc_base_binding_policy=none', limit)
    end
    return { case = case, k = k, pipe = io.popen(command .. ' 2>&1; echo over') }
end

local function leave_file(name)
    assert(io.open(folder .. '/' .. name, 'w')):close()
end

-- Waits until a job has set up or has ended. Returns whether it goes on.
local function wait_for(job)
    job.said = {}
    for line in job.pipe:lines() do
        if line == 'ready' then return true end
        job.said[#job.said + 1] = line
    end
    return false
end

-- Returns the entries that a job prints.
local function read(job)
    local list = {}
    for line in job.pipe:lines() do
        local e, number = {}, '(%S+) '
        local way
        e.kind, e.px, e.py, e.nx, e.ny, e.steps, e.us, e.least_us, e.most_us, way =
            line:match('^entry (%a+) ' .. number:rep(8) .. '(.*)$')
        if e.kind then
            for name, value in pairs(e) do e[name] = tonumber(value) or value end
            e.way, list[#list + 1] = way ~= 'nil' and way or nil, e
        elseif line ~= 'over' then
            job.said[#job.said + 1] = line
        end
    end
    if #list < 2 then
        error('a program of the benchmark failed: ' .. table.concat(job.said, '\n'), 0)
    end
    return list
end

-- Writes the records of one program.
local function report(case, n, mode, count, list)
    local one, apart = list[1], list[2]
    for k = 2, #list do
        local e = list[k]
        local parts = e.px * e.py
        local cells = e.kind == 'strong' and parts or 1
        e.benchmark, e.case, e.n, e.mode, e.ranks = 'scaling', case, tonumber(n), mode, count
        e.parts, e.devices, e.rounds, e.dt = parts, table.concat(names, ','), rounds, 'every step'
        e.one_us, e.apart_us = one.us, apart.us
        e.of_one, e.of_apart = one.us / cells / e.us, apart.us / cells / e.us
        if k == 2 then e.parts = mode == 'process' and #names or count end
        record.write(device, e, ('%-10s %-15s %-7s %-6s %dx%d of %5d x %5d: step %8.2f us (%.2f '
            .. 'to %.2f), %5.1f %% of one alone (%.2f us), %5.1f %% of all apart; %s'):format(
            device.name, case, mode, e.kind, e.px, e.py, e.nx / e.px, e.ny / e.py, e.us,
            e.least_us, e.most_us, 100 * e.of_one, e.one_us, 100 * e.of_apart, e.way or 'alone'))
    end
end

-- Runs the programs of all cases: they set up at once, then each has its turn.
local function wave(n, mode, count)
    local jobs, failed = {}, nil
    for k, case in ipairs(chosen) do jobs[k] = start(k, case, n, mode, count) end
    for _, job in ipairs(jobs) do job.goes_on = wait_for(job) end
    for _, job in ipairs(jobs) do
        leave_file(job.k)
        local ok, list = pcall(read, job)
        job.pipe:close()
        os.remove(folder .. '/' .. job.k)
        if ok then report(job.case, n, mode, count, list) else failed = list end
        io.stdout:flush()
        system.sleep(record.few(0.2, 0))
    end
    if failed then print(failed) end
    return not failed
end

local is_well = true
for _, mode in ipairs(modes) do
    for _, n in ipairs(sizes) do
        if mode == 'process' then
            is_well = wave(n, mode, 1) and is_well
        else
            for k = #counts, 1, -1 do
                is_well = (not launcher or wave(n, mode, counts[k])) and is_well
            end
        end
    end
end
os.execute('rm -r ' .. folder)
os.exit(is_well and 0 or 1)
