-- openmp.lua - a step on the processor against the same scheme in C with
-- OpenMP, compiled here with -O3 -march=native, also with -ffast-math, and
-- against further peers of the caller. The programs take turns, so that other
-- load of the machine affects all alike; results are medians of the rounds.

local home = require 'bindings.home'
local record = require 'tests.bench.record'
local system = require 'bindings.system'

local openmp = {}

-- Compiles a peer in C; returns its command and the file of its program. A peer
-- takes the cells along each side and the steps, and first prints Mcells/s of
-- the best of three runs.
function openmp.compile(source, flags)
    local program = os.tmpname()
    local command = ('cc -O3 -march=native -fopenmp %s %s/tests/bench/%s -o %s -lm'):format(flags,
        home.root, source, program)
    if os.execute(command) ~= 0 then error('cannot compile the peer: ' .. command) end
    return program
end

-- Returns the cells per second that a peer reports.
local function run(command, n, steps)
    local pipe = io.popen(('%s %d %d'):format(command, n, steps))
    local text = pipe:read '*a'
    pipe:close()
    return tonumber(text:match '^[%d.]+') * 1e6
end

-- Returns the cells per second of the best of three runs, as the peers measure.
local function measure(sim, steps)
    local best = math.huge
    for _ = 1, record.few(3, 1) do
        local start = system.now()
        sim:step(steps)
        sim:read()
        best = math.min(best, system.now() - start)
    end
    return sim.grid.cells * steps / best
end

-- Returns { name, command, steps } of the peers, those in C first, and the
-- programs that were compiled.
local function peers_of(desc)
    local list, programs = {}, {}
    for k, one in ipairs { { 'openmp', '' }, { 'openmp_fast_math', '-ffast-math' } } do
        programs[k] = openmp.compile(desc.source, one[2])
        list[k] = { name = one[1], command = programs[k], steps = desc.steps }
    end
    for _, peer in ipairs(desc.peers or {}) do list[#list + 1] = peer end
    return list, programs
end

-- desc: { title, source = in tests/bench, sim = on a square grid, with its end
-- far ahead, steps, rounds, values = of the record, peers = { { name, command,
-- steps }, ... } beside those in C }.
function openmp.compare(desc)
    local sim, n = desc.sim, desc.sim.grid.nx
    local peers, programs = peers_of(desc)
    local own = {}
    for _, peer in ipairs(peers) do peer.rates, peer.ratios = {}, {} end
    for round = 1, desc.rounds do
        own[round] = measure(sim, desc.steps)
        for _, peer in ipairs(peers) do
            peer.rates[round] = run(peer.command, n, peer.steps)
            peer.ratios[round] = own[round] / peer.rates[round]
        end
    end
    for _, program in ipairs(programs) do os.remove(program) end
    local rate, words = record.median(own), {}
    local values = { nx = n, ny = n, precision = sim.precision, rounds = desc.rounds,
        cells_per_second = rate }
    for k, peer in ipairs(peers) do
        local median, ratio = record.median(peer.rates), record.median(peer.ratios)
        values[peer.name .. '_cells_per_second'], values['over_' .. peer.name] = median, ratio
        words[k] = ('%s %.1f (%.2f x)'):format(peer.name, median / 1e6, ratio)
    end
    for name, value in pairs(desc.values) do values[name] = value end
    record.write(sim.devices[1], values, ('%-10s %s %d²: %.1f Mcells/s; %s'):format(
        sim.devices[1].name, desc.title, n, rate / 1e6, table.concat(words, ', ')))
end

return openmp
