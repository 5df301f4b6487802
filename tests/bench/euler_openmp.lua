-- euler_openmp.lua - the Euler step on the processor against the same scheme in C with OpenMP
-- (euler_openmp.c), compiled here with -O3 -march=native, and with -ffast-math besides.
--     mare tests/bench/euler_openmp.lua [DEVICE [N [ROUNDS]]]
-- The programs take turns, so that a busy machine is as busy for each; medians of the rounds.

local devices = require 'bindings.device'
local euler = require 'mare.schemes.euler'
local grid = require 'mare.grid'
local host = require 'mare.host'
local record = require 'tests.bench.record'
local simulation = require 'mare.simulation'
local system = require 'bindings.system'

local device = devices.open(arg[1] or 'opencl:0')
local n, rounds, steps = tonumber(arg[2]) or 1024, tonumber(arg[3]) or 5, 20

local function compile(flags)
    local program = os.tmpname()
    local command = ('cc -O3 -march=native -fopenmp %s %s/tests/bench/euler_openmp.c -o %s -lm')
        :format(flags, host.root, program)
    if os.execute(command) ~= 0 then error('cannot compile the peer: ' .. command) end
    return function()
        local pipe = io.popen(('%s %d %d'):format(program, n, steps))
        local text = pipe:read '*a'
        pipe:close()
        return tonumber(text:match '^[%d.]+') * 1e6
    end, program
end

local function shear(_, y)
    local inside = math.abs(y - 0.5) < 0.25
    return inside and 2 or 1, inside and -0.5 or 0.5, 0.01 * math.sin(8 * math.pi * y), 2.5
end

local sim = simulation.new {
    grid = grid.new { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } }, initial = shear,
    scheme = euler.new {}, boundaries = 'periodic', devices = { device },
}
sim:aim(1e3)

-- The best of three runs, as the peer does.
local function mare()
    local best = math.huge
    for _ = 1, 3 do
        local start = system.now()
        sim:step(steps)
        sim:read()
        best = math.min(best, system.now() - start)
    end
    return n * n * steps / best
end

local peer, program = compile ''
local fast_peer, fast_program = compile '-ffast-math'
local rates, ratios = { {}, {}, {} }, { {}, {} }
for round = 1, rounds do
    local own, plain, fast = mare(), peer(), fast_peer()
    rates[1][round], rates[2][round], rates[3][round] = own, plain, fast
    ratios[1][round], ratios[2][round] = own / plain, own / fast
end
os.remove(program)
os.remove(fast_program)

local own, plain, fast = record.median(rates[1]), record.median(rates[2]), record.median(rates[3])
local over_plain, over_fast = record.median(ratios[1]), record.median(ratios[2])
record.write(device, {
    benchmark = 'euler_openmp', nx = n, ny = n, precision = 'float', rounds = rounds,
    flux = 'hllc', limiter = 'mc', cells_per_second = own, openmp_cells_per_second = plain,
    openmp_fast_math_cells_per_second = fast, over_openmp = over_plain,
    over_openmp_fast_math = over_fast,
}, ('%-10s Euler %d^2: %.1f Mcells/s; C + OpenMP %.1f (%.2f x), with -ffast-math %.1f (%.2f x)')
    :format(device.name, n, own / 1e6, plain / 1e6, over_plain, fast / 1e6, over_fast))
