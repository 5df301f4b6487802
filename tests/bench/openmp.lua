-- openmp.lua - a step on the processor against the same scheme in C with OpenMP, compiled here with
-- -O3 -march=native, and with -ffast-math besides. The programs take turns, so that a busy machine
-- is as busy for each; medians of the rounds.

local host = require 'mare.host'
local record = require 'tests.bench.record'
local system = require 'bindings.system'

local openmp = {}

-- A function that runs the peer and returns its cells per second, and the file of the program. A
-- peer takes cells along each side and steps, and prints Mcells/s of the best of three runs first.
local function compile(source, flags, n, steps)
    local program = os.tmpname()
    local command = ('cc -O3 -march=native -fopenmp %s %s/tests/bench/%s -o %s -lm'):format(flags,
        host.root, source, program)
    if os.execute(command) ~= 0 then error('cannot compile the peer: ' .. command) end
    return function()
        local pipe = io.popen(('%s %d %d'):format(program, n, steps))
        local text = pipe:read '*a'
        pipe:close()
        return tonumber(text:match '^[%d.]+') * 1e6
    end, program
end

-- Cells per second of the best of three runs, as the peer measures.
local function measure(sim, steps)
    local best = math.huge
    for _ = 1, 3 do
        local start = system.now()
        sim:step(steps)
        sim:read()
        best = math.min(best, system.now() - start)
    end
    return sim.grid.cells * steps / best
end

-- desc: { title, source = in tests/bench, sim = aimed far ahead, on a square grid, steps, rounds,
-- values = of the record }
function openmp.compare(desc)
    local n, sim, device = desc.sim.grid.nx, desc.sim, desc.sim.devices[1]
    local peer, program = compile(desc.source, '', n, desc.steps)
    local fast_peer, fast_program = compile(desc.source, '-ffast-math', n, desc.steps)
    local rates, ratios = { {}, {}, {} }, { {}, {} }
    for round = 1, desc.rounds do
        local own, plain, fast = measure(sim, desc.steps), peer(), fast_peer()
        rates[1][round], rates[2][round], rates[3][round] = own, plain, fast
        ratios[1][round], ratios[2][round] = own / plain, own / fast
    end
    os.remove(program)
    os.remove(fast_program)
    local own, plain, fast = record.median(rates[1]), record.median(rates[2]),
        record.median(rates[3])
    local values = {
        nx = n, ny = n, precision = sim.precision, rounds = desc.rounds, cells_per_second = own,
        openmp_cells_per_second = plain, openmp_fast_math_cells_per_second = fast,
        over_openmp = record.median(ratios[1]), over_openmp_fast_math = record.median(ratios[2]),
    }
    for name, value in pairs(desc.values) do values[name] = value end
    record.write(device, values,
        ('%-10s %s %d^2: %.1f Mcells/s; C + OpenMP %.1f (%.2f x), with -ffast-math %.1f (%.2f x)')
        :format(device.name, desc.title, n, own / 1e6, plain / 1e6, values.over_openmp, fast / 1e6,
        values.over_openmp_fast_math))
end

return openmp
