-- euler_peers.lua - the Euler step on the processor against the same scheme in
-- C with OpenMP (euler_openmp.c), and in NumPy and Numba (euler_peers.py) if
-- they are installed. First all must give the same answer. $MARE_PYTHON is the
-- Python that has the modules.
--     mare tests/bench/euler_peers.lua [DEVICE [N [ROUNDS]]]

local devices = require 'bindings.device'
local euler = require 'mare.schemes.euler'
local grid = require 'mare.array.grid'
local home = require 'bindings.home'
local openmp = require 'tests.bench.openmp'
local simulation = require 'mare.run.simulation'
local words = require 'tests.bench.words'

local n = words.count('euler_peers: N', arg[2], 1024)
local rounds = words.count('euler_peers: ROUNDS', arg[3], 5)
local device = devices.open(arg[1] or 'opencl:0')

-- The initial state of the peers.
local function shear(x, y)
    local s = 0.5 * (math.tanh((y - 0.25) / 0.025) - math.tanh((y - 0.75) / 0.025))
    return 1 + s, 0.5 - s, 0.01 * math.sin(4 * math.pi * x), 2.5
end

local function simulate(cells)
    local sim = simulation.new {
        grid = grid.new { nx = cells, ny = cells, x = { 0, 1 }, y = { 0, 1 } }, initial = shear,
        scheme = euler.new {}, boundaries = 'periodic', devices = { device },
    }
    sim:aim(1e3)
    return sim
end

-- ---- the same answer ----

local check_cells, check_steps, tolerance = 128, 50, 2e-5

local function densities(path)
    local file = assert(io.open(path, 'rb'))
    local text, list = file:read '*a', {}
    file:close()
    local values = require('ffi').cast('const float *', text)
    for k = 0, #text / 4 - 1 do list[k] = values[k] end
    return list
end

-- Returns the largest difference of a peer's density from Mare's after some
-- steps.
local function difference(command, sim)
    local path = os.tmpname()
    local status = os.execute(('%s %d %d %s > /dev/null'):format(command, check_cells, check_steps,
        path))
    if status ~= 0 then error('failed: ' .. command) end
    local theirs, ours, most = densities(path), sim:field 'rho', 0
    os.remove(path)
    for k = 0, check_cells ^ 2 - 1 do
        local apart = math.abs(theirs[k] - ours[k])
        if apart > most or apart ~= apart then most = apart end     -- a NaN stays
    end
    return most
end

local function check(peers)
    local sim, most = simulate(check_cells), 0
    sim:step(check_steps)
    for _, peer in ipairs(peers) do
        local apart = difference(peer.command, sim)
        print(('%-18s density after %d steps on %d²: %.1e from Mare at most'):format(peer.name,
            check_steps, check_cells, apart))
        if apart > tolerance or apart ~= apart then
            error(peer.name .. ' computes something else')
        end
        most = math.max(most, apart)
    end
    return most
end

-- ---- the peers ----

local function python_peers()
    local python, list = os.getenv 'MARE_PYTHON' or 'python3', {}
    for name, steps in pairs { numba = 20, numpy = 2 } do
        local command = ('%s %s/tests/bench/euler_peers.py %s'):format(python, home.root, name)
        if os.execute(command .. ' 64 1 > /dev/null 2>&1') == 0 then
            list[#list + 1] = { name = name, command = command, steps = steps }
        else
            print(('%-18s not there, or it fails: %s'):format(name, command))
        end
    end
    table.sort(list, function(a, b) return a.name < b.name end)
    return list
end

local peers = python_peers()
local program = openmp.compile('euler_openmp.c', '')
local all = { { name = 'openmp', command = program }, unpack(peers) }
local apart = check(all)
os.remove(program)
openmp.compare {
    title = 'Euler', source = 'euler_openmp.c', sim = simulate(n), steps = 20,
    rounds = rounds, peers = peers,
    values = { benchmark = 'euler_peers', flux = 'hllc', limiter = 'mc', most_apart = apart },
}
