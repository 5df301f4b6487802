-- Scenarios whose equations are written in Lua, shortened: the errors against their exact
-- solutions fall as the scheme promises, and what is conserved stays.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local mare = require 'mare'
local repl = require 'mare.session.repl'
local sample = require 'tests.sample'
local scenario = require 'mare.live.scenario'

require 'tests.share'()

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local function run(name, values)
    local options = mare.options
    local source = options.source
    values.device, values.quiet, values.image = device, true, 'none'
    values.precision = 'double'
    options.source, options.program = values, name
    local ok, result = pcall(dofile, home.root .. '/scenarios/' .. name .. '.lua')
    options.source = source
    if not ok then error(result, 0) end
    return result
end

local function total(sim, variable)
    local data, sum = sim:field(variable), 0
    for k = 0, sim.grid.cells - 1 do sum = sum + data[k] end
    return sum * sim.grid.dx * sim.grid.dy
end

-- By how much the error falls where the cells are halved, as a power of 2.
local function order(name, coarse, fine)
    local error = run(name, fine).error
    return math.log(run(name, coarse).error / error) / math.log(2), error
end

local cases = {}

function cases.advection()
    local p, error = order('advection', { nx = 32, ny = 32, t_end = 0.25 },
        { nx = 64, ny = 64, t_end = 0.25 })
    assert.is_true(p > 1.6, p)
    assert.is_true(error < 1e-3, error)
end

function cases.burgers()
    local p, error = order('burgers', { nx = 50, t_end = 0.3 }, { nx = 100, t_end = 0.3 })
    assert.is_true(p > 1.7, p)
    assert.is_true(error < 2e-4, error)
end

-- A shock smears over some cells: the error falls as the cells do.
function cases.isothermal()
    local p = order('isothermal', { nx = 100 }, { nx = 200 })
    assert.is_true(p > 0.7, p)
    local sim = run('isothermal', { nx = 200 }).sim
    local ratio = 1 + 2 + 2 * math.sqrt(2)
    assert.is_true(math.abs(sim:field 'rho' [80] / ratio - 1) < 0.01)
end

function cases.gas_mixture()
    local sim = run('gas_mixture', { nx = 64, ny = 16, t_end = 0.05 }).sim
    local share, b = sim:field 'share', sim:field 'b'
    for k = 0, sim.grid.cells - 1 do assert.is_true(share[k] > -1e-12 and share[k] < 1 + 1e-12) end
    assert.is_true(b[63] == 2)
    local start = run('gas_mixture', { nx = 64, ny = 16, steps = 0 }).sim
    for _, name in ipairs { 'a', 'b', 'energy' } do
        assert.is_true(math.abs(total(sim, name) / total(start, name) - 1) < 1e-13, name)
    end
end

function cases.acoustics()
    local p, error = order('acoustics', { nx = 64, ny = 64 }, { nx = 128, ny = 128 })
    assert.is_true(p > 1.2, p)      -- limiters flatten the extremum that is looked at
    assert.is_true(error < 2e-3, error)
end

function cases.elastic()
    local p, error = order('elastic', { nx = 100, ny = 8 }, { nx = 200, ny = 8 })
    assert.is_true(p > 1.7, p)
    assert.is_true(error < 2e-3, error)
end

function cases.heat()
    local p, error = order('heat', { nx = 50, t_end = 1 }, { nx = 100, t_end = 1 })
    assert.is_true(p > 1.7, p)
    assert.is_true(error < 5e-4, error)
end

function cases.gray_scott()
    local values = { nx = 64, ny = 64, t_end = 500 }
    local sim = run('gray_scott', values).sim
    local u, v, most = sim:field 'u', sim:field 'v', 0
    for k = 0, sim.grid.cells - 1 do
        assert.is_true(u[k] > 0 and u[k] <= 1 and v[k] >= 0 and v[k] < 1)
        most = math.max(most, v[k])
    end
    assert.is_true(most > 0.25 and v[32 * 64 + 32] < 0.5 * most)        -- the spot has divided
    values.decompose = { 2, 2 }
    assert.equal(total(sim, 'v'), total(run('gray_scott', values).sim, 'v'))
end

function cases.traffic()
    local error = run('traffic', { nx = 100 }).error
    assert.is_true(math.abs(error / 3.56e-3 - 1) <= 0.05, error)
end

-- Besides mass and energy it keeps its turn of half a circle.
function cases.orszag_tang()
    local sim, pi = run('orszag_tang', { nx = 32, ny = 32, t_end = 0.1 }).sim, math.pi
    assert.near(1, total(sim, 'rho') / (25 / (36 * pi)), 1e-13)
    local energy = 0.5 * 25 / (36 * pi) + 1.5 * 5 / (12 * pi) + 0.5 / (4 * pi)
    assert.near(1, total(sim, 'energy') / energy, 1e-3)
    local rho = sim:field 'rho'
    for k = 0, 511 do assert.is_true(math.abs(rho[k] / rho[1023 - k] - 1) < 1e-12) end
end

describe('a stencil', function()
    it('has no parameter that would hide the size of a cell', function()
        fails(function()
            mare.stencil { fields = { 'u' }, parameters = { dx = 5 },
                rate = function(q) return q.u.here end,
                limit = function() return 1 end }
        end, 'MARE_ERROR_ARGUMENT', 'parameter dx', 'size of a cell')
    end)
end)

local shipped = { 'traffic', 'orszag_tang', 'advection', 'burgers', 'isothermal', 'gas_mixture',
    'acoustics', 'elastic' }

local function scheme_of(name) return scenario.load(name, { quiet = true }).desc.scheme end

describe('the functions of equations', function()
    for _, name in ipairs(sample(shipped, 2)) do
        it('give on a device what plain Lua gives, to the bit: ' .. name, function()
            local found = mare.check(scheme_of(name), { device = device, count = 64 })
            assert.is_true(found.compared >= 64 * 5)
            assert.equal(0, found.different, found.largest)
        end)
    end

    it('are found out where they differ', function()
        local scheme = scheme_of 'traffic'
        function scheme.functions.flux(q) return q.rho * (1 - q.rho) + 1e-15 end
        local found = scheme:check { device = device, count = 64 }
        assert.is_true(found.different > 0 and found.different <= 64)
        assert.is_true(found.largest < 1e-13)
        fails(function() mare.check(mare.euler {}) end, 'MARE_ERROR_ARGUMENT', 'mare.equations')
        function scheme.functions.speed() return 1 end
        fails(function() scheme:check { device = device, count = 64 } end,
            'MARE_ERROR_ARGUMENT', 'plain Lua gives nil')
    end)
end)

describe('the page of equations', function()
    it('has lines that do what they say', function()
        local session, shown = repl.new(), {}
        local page = scenario.text(home.root .. '/scenarios/EQUATIONS.md')
        for code in page:gmatch '```lua\n(.-)```' do
            local status, text = session:run(code)
            assert.equal('ok', status, code .. '\n' .. text)
            shown[#shown + 1] = text
        end
        assert.equal(3, #shown)
        assert.matches('\n0%s*$', shown[2])
        assert.matches('\n0%s*$', shown[3])
    end)
end)

describe('equations in Lua', function()
    local names = {}
    for name in pairs(cases) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(sample(names, 1)) do
        it('compute what they should: ' .. name, function() cases[name]() end)
    end
end)
