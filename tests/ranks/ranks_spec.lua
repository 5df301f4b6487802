local fails = require 'tests.fails'
local launch = require 'tests.ranks.launch'
local mare = require 'mare'
local sample = require 'tests.sample'
local system = require 'bindings.system'

local run, says = launch.run, fails.says
local is_long = os.getenv 'MARE_TESTS' == 'long'       -- for figures of time

local calls = "require 'tests.ranks.calls'"

describe('one rank', function()
    local ranks = require 'mare.ranks'

    it('is what a process without a launcher is, and loads no library', function()
        assert.equal(1, ranks.size)
        assert.is_nil(ranks.start())
        local maps = assert(io.open '/proc/self/maps'):read '*a'
        assert.is_nil(maps:find('libmpi', 1, true))
    end)

    it('makes all the calls', function()
        assert(loadstring(calls))()
    end)

    it('refuses what no rank can do', function()
        local status = 'MARE_ERROR_ARGUMENT'
        fails(function() ranks.send(1, 'x') end, status, 'to = 1', 'from 0 to 0')
        fails(function() ranks.receive(-1) end, status, 'from = -1', 'from 0 to 0')
        fails(function() ranks.receive(0) end, status, 'has sent none')
        fails(function() ranks.send(0, print) end, status, 'function')
        fails(function() ranks.broadcast { print } end, status, 'function')
        fails(function() ranks.send(0, 1, { tag = 0.5 }) end, status, 'tag = 0.5', '31999')
        fails(function() ranks.receive(0, { inot = 1 }) end, status, 'inot', 'into, tag')
        fails(function() ranks.reduce(1, 'mean') end, status, 'mean', 'max, min, sum')
        fails(function() ranks.reduce({}, 'sum') end, status, 'empty table')
        fails(function() ranks.largest(-1) end, status, '-1', 'from 0')
        fails(function() ranks.exchange(0, { 1 }, 0, { into = {} }) end, status, 'into', 'table')
        local five = require('ffi').new 'float[5]'
        fails(function() ranks.exchange(0, five, 0, { into = require('ffi').new 'float[4]' }) end,
            status, 'rank 0 sends 5 of float', '4 of float')
        local function zeros(n) return mare.zeros({ n }, { device = 'null' }) end
        fails(function() ranks.exchange(0, zeros(2), 0, { into = zeros(3) }) end, status,
            'rank 0 sends float of shape { 2 }', 'into is float of shape { 3 }')
        fails(function() ranks.exchange(0, five, 0, { into = zeros(3) }) end, status,
            'rank 0 sends 5 of float', 'into is float of shape { 3 }')
    end)
end)

launch.each(function(launcher)
    describe(launcher, function()
        for _, count in ipairs(sample({ 1, 2, 3, 4 }, 1)) do
            it('makes all the calls on ' .. count, function()
                local text, status = run(launcher, count, calls)
                assert.equal(0, status, text)
                says(text, 'all is well of ' .. count)
            end)
        end

        it('tells the doctor how it was started, once', function()
            local command = launch.command(launcher, 2, '', '', 'MARE_DEVICE=null:0')
                :gsub("%-e ''", 'doctor')
            local text = io.popen(command .. ' 2>&1'):read '*a'
            says(text, '2 ranks, 2 of them on', 'started by', launcher:find 'openmpi' and 'Open MPI'
                or 'MPICH', 'through pinned memory and MPI', 'no memory between', '0-1',
                'rank 1: null:0, cores ')
            assert.equal(1, select(2, text:gsub('Compiled programs', '')), text)
        end)

        it('says an error of one rank with its number, and of all once', function()
            local program = "if mare.ranks.rank == tonumber((...)) then error 'broken' end "
                .. 'mare.ranks.receive(2)'
            program = "mare = require 'mare' " .. program
            for _, rank in ipairs(sample({ 0, 2 }, 1)) do
                local text, status = run(launcher, 3, program, tostring(rank))
                says(text, ('mare: rank %d ('):format(rank), 'broken')
                launch.failed(launcher, status, text)
            end
            -- without a pause, and where rank 0 comes after others have spoken
            for _, pause in ipairs(sample({ 0, 3 }, 1)) do
                local text = run(launcher, 3, "if require 'mare'.ranks.rank == 0 then "
                    .. "os.execute('sleep ' .. ...) end error 'alike'", tostring(pause))
                assert.equal(1, select(2, text:gsub('mare: rank', '')), text)
            end
        end)

        it('counts the energy of counters that ranks share once', function()
            local text, status = run(launcher, 3, [[
                local ranks, energy = require 'mare'.ranks, require 'mare.measure.energy'
                local now, load = 0, 1
                function energy.open(device)
                    return energy.new { name = 'counter', id = device.id,
                        counter = function() return device.watts * load * math.floor(now) end,
                        now = function() now = now + 0.125 return now end,
                        sleep = function() end }
                end
                local own = { id = 'own of ' .. ranks.rank, watts = 8 * (ranks.rank + 1) }
                local recorder = energy.recorder { { id = 'shared', watts = 64 }, own }
                recorder:begin()
                local idle = recorder.meters[1].idle
                now = now + 1000
                local found = recorder:finish()
                local all = ranks.gather(('%d meters, rest %g W of %g'):format(
                    #recorder.meters, idle, found.idle))
                recorder = energy.recorder { own }
                recorder:begin()
                now = now + 1000
                if ranks.rank == 1 then recorder.reason = 'no counter' end
                local reasons = ranks.gather(select(2, recorder:finish()))
                if all then print(table.concat(all, ';'), table.concat(reasons, ';')) end]])
            assert.equal(0, status, text)
            says(text, '2 meters, rest 64 W of 112;1 meters, rest 16 W of 112;1 meters, rest 24 W '
                .. 'of 112', 'no counter;no counter;no counter')
        end)

        it('gives the exit status of os.exit', function()
            local program = "require 'mare'.ranks.barrier() os.exit(tonumber((...)))"
            assert.equal(0, select(2, run(launcher, 2, program, '0')))
            local text, status = run(launcher, 2, program, '7')
            launch.failed(launcher, status, text)
        end)

        it('ends all when one leaves early by os.exit with a failure', function()
            local text, status = run(launcher, 2, "local ranks = require 'mare'.ranks "
                .. 'if ranks.rank == 1 then os.exit(3) end ranks.barrier()')
            launch.failed(launcher, status, text)
        end)

        it('refuses ranks that make different calls', function()
            local cases = { { 'if r.rank == 0 then r.gather(1) else r.barrier() end',
                'ranks.gather: rank 1 is in ranks.barrier' },
                { "r.reduce(1, r.rank == 0 and 'sum' or 'max')",
                    'ranks.reduce to the sum: rank 1 is in ranks.reduce to the max' } }
            for _, case in ipairs(sample(cases, 1)) do
                local text, status = run(launcher, 2, "local r = require 'mare'.ranks " .. case[1])
                launch.failed(launcher, status, text)
                says(text, case[2], 'same order')
            end
        end)

        it('ends all when one leaves while others wait for it', function()
            local text, status = run(launcher, 2, "local r = require 'mare'.ranks "
                .. 'if r.rank == 1 then return end ' .. sample({ 'r.barrier()', 'r.receive()',
                    'r.receive(1)', 'r.largest(1)', 'r.broadcast(1, 1)' }, 1)[1])
            launch.failed(launcher, status, text)
            says(text, 'rank 1 has ended its program')
        end)

        it('ends all when one is killed, in a quiet minute within 10 s', function()
            local start = system.now()
            local text, status = run(launcher, 3, [[
                local ranks, system = require 'mare'.ranks, require 'bindings.system'
                if ranks.rank == 1 then os.execute('kill -9 ' .. system.process()) end
                ranks.receive(1)]])
            launch.failed(launcher, status, text)
            if is_long then assert.is_true(system.now() - start < 10) end
        end)

        it('ends all, and says which, when one is stopped', function()
            local program = [[
                local ranks, system = require 'mare'.ranks, require 'bindings.system'
                ranks.barrier()
                if ranks.rank == tonumber((...)) then
                    os.execute('kill -STOP ' .. system.process())
                end
                ranks.receive((ranks.rank + 1) % 3)]]
            for _, rank in ipairs(sample({ 0, 2 }, 1)) do
                local start = system.now()
                local text, status = run(launcher, 3, program, tostring(rank),
                    'MARE_RANK_TIMEOUT=4')
                launch.failed(launcher, status, text)
                says(text, ('rank %d ('):format((rank + 1) % 3), ('rank %d ('):format(rank),
                    'silent for 4 s')
                if is_long then assert.is_true(system.now() - start < 14) end
            end
        end)

        it('ends all, and says which, when one is stopped before MPI has started', function()
            local started = launch.quote '[ $OMPI_COMM_WORLD_RANK$PMI_RANK = 1 ] && kill -STOP $$; '
                .. launch.quote 'exec "$0" "$@"'
            local start = system.now()
            local text, status = run(launcher, 2, 'print "never"', '', 'MARE_RANK_TIMEOUT=1', nil,
                'sh -c ' .. started)
            launch.failed(launcher, status, text)
            says(text, 'rank 0: has waited for 1 s', 'rank 1 (process', 'is stopped')
            if is_long then assert.is_true(system.now() - start < 11) end
        end)

        it('lets a rank be busy for longer than it may be silent, and says who waits', function()
            local text, status = run(launcher, 2, "local ranks = require 'mare'.ranks "
                .. "require 'mare.ranks.process'.world.patience = 3 "
                .. "if ranks.rank == 0 then os.execute 'sleep 6' end ranks.barrier()", '',
                'MARE_RANK_TIMEOUT=4')
            assert.equal(0, status, text)
            says(text, 'rank 1 (', 'waits for more than 3 s: ranks.barrier: from rank 0')
            assert.equal(1, select(2, text:gsub('waits for', '')), text)
        end)

        it('refuses the library of another MPI', function()
            local other = launcher:find 'openmpi' and 'libmpich.so.12' or 'libmpi.so.40'
            if not launch.has_library(other) then pending(other .. ' is not installed') end
            local text, status = run(launcher, 2, 'print "never"', '', 'MARE_MPI=' .. other)
            launch.failed(launcher, status, text)
            says(text, 'started this program', other, 'set MARE_MPI')
            assert.is_nil(text:find('never', 1, true))
        end)

        it('refuses a library that is not there', function()
            local text = run(launcher, 2, 'print "never"', '', 'MARE_MPI=/nonexistent.so')
            says(text, 'MARE_MPI=/nonexistent.so')
        end)

        it('is not what a program that a rank starts belongs to', function()
            local text, status = run(launcher, 2, ("local ranks = require 'mare'.ranks "
                .. "if ranks.rank == 1 then os.execute(%q) end"):format(launch.mare
                .. " -e 'print(\"size \" .. require(\"mare\").ranks.size)'"))
            assert.equal(0, status, text)
            says(text, 'size 1')
        end)
    end)
end)

describe('srun', function()
    it('without PMI is refused: its tasks know nothing of each other', function()
        local text = io.popen('SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 ' .. launch.mare
            .. ' -e "print(1)" 2>&1; echo status $?'):read '*a'
        says(text, '4 tasks', '--mpi=pmix', 'status 1')
    end)

    it('of one task, and a job without srun, are one rank', function()
        for _, settings in ipairs { 'SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0', 'SLURM_NTASKS=4' } do
            local text = io.popen(settings .. ' ' .. launch.mare
                .. ' -e "print(require(\'mare\').ranks.size)" 2>&1'):read '*a'
            assert.equal('1\n', text)
        end
    end)
end)
