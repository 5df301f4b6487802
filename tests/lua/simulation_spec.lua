local device = require 'bindings.device'
local division = require 'mare.run.division'
local exchange = require 'mare.array.exchange'
local fails = require 'tests.fails'
local mare = require 'mare'
local sample = require 'tests.sample'

require 'tests.share'()

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local random = mare.random

-- Returns a rough state: density, velocity and pressure change from cell to
-- cell, with strong shocks.
local function rough(nx, ny)
    return function(x, y)
        local k = 4 * (math.floor(y * ny + 2) * (nx + 4) + math.floor(x * nx + 2))
        return 0.5 + random.uniform(1, k), random.uniform(1, k + 1) - 0.5,
            random.uniform(1, k + 2) - 0.5, 0.3 + 2 * random.uniform(1, k + 3)
    end
end

local function new(desc)
    local nx, ny = desc.nx or 37, desc.ny or 29
    return mare.simulation {
        grid = mare.grid { nx = nx, ny = ny, x = desc.x or { 0, 1 }, y = desc.y or { 0, 1 } },
        scheme = mare.euler { gamma = 1.4, gravity = desc.gravity, flux = desc.flux,
            limiter = desc.limiter, scheme = desc.scheme },
        boundaries = desc.boundaries or 'periodic', initial = desc.initial or rough(nx, ny),
        devices = desc.devices,
        options = { device = name, decompose = desc.decompose, precision = desc.precision,
            first = desc.first, cfl = desc.cfl, maths = desc.maths,
            quadrature = desc.quadrature, weights = desc.weights },
    }
end

-- Returns all unknowns as Lua arrays, in the order of memory.
local function unknowns(sim)
    local all = {}
    for k, field in ipairs(sim.scheme.fields) do
        local data, copy = sim:field(field), {}
        for c = 0, sim.grid.cells - 1 do copy[c + 1] = data[c] end
        all[k] = copy
    end
    return all
end

local function differences(a, b)
    local count = 0
    for k = 1, #a do
        for c = 1, #a[k] do
            if a[k][c] ~= b[k][c] then count = count + 1 end
        end
    end
    return count
end

local function steps(desc, n)
    local sim = new(desc)
    sim:aim(math.huge)
    sim:step(n)
    assert.equal(n, sim:read().steps)
    assert.is_false(sim.now.failed)
    return unknowns(sim), sim
end

describe('two devices', function()
    it('give the bits of one, through copies between them', function()
        local two = { device.open(name), device.open(name) }
        for _, case in ipairs(sample({ { decompose = { 2, 2 } },
            { decompose = { 3, 1 }, boundaries = 'reflective', gravity = 0.5 },
            { weights = '1,3' }, { weights = 'auto' } }, 2)) do
            local whole = steps({ boundaries = case.boundaries, gravity = case.gravity }, 9)
            case.devices = two
            local states, sim = steps(case, 9)
            assert.equal(0, differences(whole, states))
            if case.weights == '1,3' then       -- without --decompose each device has a part
                local parts = sim.fields:native()
                assert.same({ 2, 9 * 29, 28 * 29 },
                    { #parts, parts[1].nx * parts[1].ny, parts[2].nx * parts[2].ny })
            end
        end
    end)

    it('share a grid by weights that are numbers, or as fast as they are', function()
        local d = device.open(name)
        assert.is_nil(division.weights('equal', 2, { d }))
        assert.same({ 2, 0.5 }, division.weights(' 2, 0.5', 2, { d }))
        local auto = division.weights('auto', 3, { d, d }, function() return 5e6 end)
        assert.equal(auto[2], 2 * auto[1])
        assert.equal(auto[1], auto[3])
        for _, case in ipairs { { '1,2,3', 'for 2 parts' }, { '1,x', "'1,x'" },
            { '1,0', 'above 0' }, { '', "''" } } do
            fails(function() division.weights(case[1], 2, { d }) end, 'usage', case[2])
        end
    end)
end)

describe('steps', function()
    it('give the same bits however they are queued', function()
        local at_once = steps({}, 12)
        local sim = new {}
        sim:aim(math.huge)
        for k = 1, 12 do
            sim:step(1)
            if k % 4 == 0 then sim:read() end       -- else the next step does
        end
        assert.equal(0, differences(at_once, unknowns(sim)))
    end)

    it('end exactly at the target, and change nothing there', function()
        local sim = new {}
        sim:aim(0.05)
        sim:step(200)
        assert.equal(0.05, sim:read().t)
        assert.equal(0, sim.now.dt)
        local taken, there = sim.now.steps, unknowns(sim)
        assert.is_true(taken > 5 and taken < 200)
        sim:step(3)
        assert.equal(taken, sim:read().steps)
        assert.equal(0, differences(there, unknowns(sim)))
        sim:aim(0.06)
        sim:step(200)
        assert.equal(0.06, sim:read().t)
    end)

    it('choose the dt that the state allows', function()
        local _, sim = steps({ nx = 70, ny = 50, decompose = { 2, 1 }, cfl = 0.4,
            precision = 'double' }, 7)
        local all, fastest = unknowns(sim), 0
        for c = 1, #all[1] do
            local rho, u, v = all[1][c], all[2][c] / all[1][c], all[3][c] / all[1][c]
            local p = 0.4 * (all[4][c] - 0.5 * rho * (u * u + v * v))
            local sound = math.sqrt(1.4 * p / rho)
            fastest = math.max(fastest, (math.abs(u) + sound) * 70, (math.abs(v) + sound) * 50)
        end
        assert.is_true(math.abs(sim.now.dt * fastest / 0.4 - 1) < 1e-12)
    end)

    it('leave a uniform state alone, bit by bit', function()
        local function uniform() return 1.3, 0.7, -0.4, 2.1 end
        local sim = new { initial = uniform }
        local before = unknowns(sim)
        sim:aim(math.huge)
        sim:step(20)
        sim:read()
        assert.equal(0, differences(before, unknowns(sim)))
    end)

    it('keep mass, momentum and energy over 1000 periodic float steps', function()
        local function waves(x, y)
            local s, c = math.sin(2 * math.pi * x), math.cos(2 * math.pi * y)
            return 1.5 + 0.3 * s * c, 0.8 + 0.2 * c, -0.6 + 0.2 * s, 2.5
        end
        local function sums(all)
            local s = {}
            for k = 1, 4 do
                s[k] = 0
                for c = 1, #all[k] do s[k] = s[k] + all[k][c] end
            end
            return s
        end
        local sim = new { nx = 64, ny = 64, initial = waves }
        local before = sums(unknowns(sim))
        sim:aim(math.huge)
        sim:step(1000)
        sim:read()
        local after = sums(unknowns(sim))
        for k = 1, 4 do
            assert.is_true(math.abs(after[k] / before[k] - 1) < 1e-6, sim.scheme.fields[k])
        end
    end)

    it('10 000 times cost no memory', function()
        local sim = new { nx = 16, ny = 16 }
        sim:aim(math.huge)
        local function resident()
            local file = assert(io.open('/proc/self/statm'))
            local pages = file:read '*l':match '^%d+ (%d+)'
            file:close()
            return tonumber(pages) * 4096
        end
        local function batches(n)
            for _ = 1, n do
                sim:step(100)
                sim:read()
            end
        end
        batches(20)
        collectgarbage()
        local lua, objects, bytes = collectgarbage 'count', device.live_objects(), resident()
        batches(100)
        assert.equal(objects, device.live_objects())
        assert.is_true(resident() - bytes < 2 ^ 20)
        collectgarbage()
        assert.is_true(collectgarbage 'count' - lua < 64)
    end)
end)

describe('a simulation', function()
    local function message(f, ...)
        local ok, failure = pcall(f, ...)
        assert.is_false(ok)
        return failure.message
    end

    it('names what is wrong, and where', function()
        local function bad(x, y)
            return 1, 0, 0, x > 0.5 and x < 0.55 and y > 0.7 and y < 0.72 and -1 or 1
        end
        fails.says(message(new, { nx = 20, ny = 50, initial = bad }), 'invalid', 'pressure -1',
            '(10, 35)', 'x = 0.525', 'y = 0.71', 'initial')
        local function negative() return -1, 0, 0, -1 end
        assert.matches('invalid: density %-1 in cell', message(new, { initial = negative }))
        local function heavy() return math.huge, 0, 0, 1 end
        assert.matches('invalid: density inf in', message(new, { initial = heavy }))
        assert.is_nil(new({}):invalid())
    end)

    it('that becomes invalid stops there', function()
        -- fixed ghost cells are in the initial state, and in nobody's care
        local function poisoned(x) return 1, 0, 0, x > 0 and 1 or 0 / 0 end
        local sim = new { initial = poisoned, boundaries = 'fixed' }
        fails.says(message(mare.run.loop, sim, { t_end = 1, quiet = true }), 'step 1', '(0, 0)',
            'invalid', 'density')
    end)

    it('says which argument is missing, misspelt or of no use', function()
        local g, e = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } }, mare.euler {}
        local function one() return 1, 0, 0, 1 end
        local o = { t_end = 1, quiet = true, device = name }
        for pattern, desc in pairs {
            ["run: unknown field 'initail'"] = { initail = one },
            ['run: options is missing'] = { grid = g, scheme = e, initial = one },
            ['run: grid is missing'] = { options = o, scheme = e, initial = one },
            ['run: scheme is missing'] = { options = o, grid = g, initial = one },
            ['run: initial is missing'] = { options = o, grid = g, scheme = e },
            ["boundaries: unknown field 'notrh'"] = { options = o, grid = g, scheme = e,
                initial = one, boundaries = { notrh = 'fixed' } },
            ['gives nil as value 1, euler wants 4 numbers'] = { options = o, grid = g, scheme = e,
                boundaries = 'periodic', initial = function() end },
            ['initial%(0.0625, 0.0625%) gives nil as value 2'] = { options = o, grid = g,
                scheme = e, boundaries = 'periodic', initial = function() return 1 end },
        } do assert.matches(pattern, message(mare.run, desc)) end
        assert.matches("run: unknown field 'stesp'", message(mare.run.loop, new {}, { stesp = 1 }))
        assert.matches("euler: unknown field 'gama'", message(mare.euler, { gama = 1.4 }))
        assert.matches("shallow_water: unknown field 'dept'",
            message(mare.shallow_water, { dept = 1 }))
        assert.matches("simulation: unknown field 'device'",
            message(mare.simulation, { device = name }))
        fails.says(message(mare.simulation, { grid = { nx = 8 } }), 'mare.grid', 'missing', 'made')
        fails.says(message(mare.simulation,
            { grid = g, scheme = e, boundaries = 'periodic', options = o }), 'initial', 'function')
        fails.says(message(mare.simulation,
            { grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 }, halo = 3 },
                scheme = e, initial = one }), 'halo = 3', 'wants 2', 'scheme', 'euler')
    end)

    it('is told by what a scheme computes, not by what was asked for', function()
        local told = mare.shallow_water { scheme = 'waf', flux = 'hllc' }:parameters()
        assert.same({ 'waf', 'waf', 'mc' }, { told.scheme, told.flux, told.limiter })
        told = mare.shallow_water { scheme = 'force', limiter = 'minmod' }:parameters()
        assert.same({ 'force', 'none' }, { told.flux, told.limiter })
        assert.is_nil(told.theta)
    end)

    it('wants devices that run kernels', function()
        for _, list in ipairs { { 'null:0' }, { name, 'null:0' } } do
            for k, entry in ipairs(list) do list[k] = device.open(entry) end
            assert.matches('null:0 runs no kernels',
                message(new, { devices = list, decompose = { 2, 1 } }))
        end
    end)

    it('notices clocks that differ', function()
        local two = { device.open(name), device.open(name) }
        local sim = new { devices = two, decompose = { 2, 1 } }
        sim:aim(1)
        sim.clocks.list[2]:start { t = 0.5, steps = 0, cfl = 0.45, rate = 1 }
        assert.matches('the clocks differ: t = 0, .* on .*, t = 0.5, dt', message(sim.read, sim))
    end)

    it('gives everything back', function()
        local function made()
            local counts = {}
            for _, object in ipairs(device.objects()) do
                counts[object.kind] = (counts[object.kind] or 0) + 1
            end
            counts.program, counts.kernel = nil, nil    -- the scheme's, left to the collector
            return counts
        end
        local two = { device.open(name), device.open(name) }
        for _, decompose in ipairs { { 1, 1 }, { 2, 2 } } do
            collectgarbage()
            collectgarbage()
            collectgarbage 'stop'
            local before = made()
            local sim = new { devices = two, decompose = decompose }
            sim:aim(0.01)
            sim:step(3)
            sim:field 'rho'
            sim:field 'speed'
            sim:release()
            assert.same(before, made())
            collectgarbage 'restart'
        end
    end)

    it('lets gas fall onto fixed ghost cells, which stay', function()
        local sim = new { initial = function() return 1, 0, 0, 1 end, nx = 8, ny = 16, gravity = 1,
            boundaries = { west = 'periodic', east = 'periodic', south = 'fixed',
                north = 'fixed' }, first = 'y' }
        sim:aim(math.huge)
        sim:step(1)
        local rho = sim:field 'rho'
        -- measured 1.00448 and 0.99543; falling ghost cells would leave 1
        assert.is_true(rho[0] > 1.004 and rho[0] < 1.005)
        assert.is_true(rho[15 * 8] > 0.995 and rho[15 * 8] < 0.996)
        assert.near(1, rho[8 * 8], 1e-7)
    end)

    it('is run to its end, with calls at their times', function()
        local sim, times = new {}, {}
        local function note(at) times[#times + 1] = at.now.t end
        local rates = mare.run.loop(sim, { t_end = 0.04, quiet = true,
            at = { { 0.03, note }, { 0, note }, { 0.01, note }, { 0.04, note } } })
        assert.same({ 0, 0.01, 0.03, 0.04 }, times)
        assert.equal(0.04, sim.now.t)
        assert.equal(sim.now.steps, rates.steps)
        mare.run.loop(sim, { steps = rates.steps + 5, quiet = true })
        assert.equal(rates.steps + 5, sim.now.steps)
        fails.says(message(mare.run.loop, sim, {}), 't_end', 'steps')
    end)

    it('says which calls it does not reach', function()
        local said, stderr, calls = {}, io.stderr, 0
        local function note() calls = calls + 1 end
        rawset(io, 'stderr', { write = function(_, text) said[#said + 1] = text end })
        local ok, failure = pcall(mare.run.loop, new {}, { t_end = 0.01, quiet = true,
            at = { { 0.01, note }, { 0.05, note }, { -1, note } } })
        rawset(io, 'stderr', stderr)
        assert.is_true(ok, failure)
        assert.equal('mare: warning: at = 0.05 is not reached: the run is from 0 to 0.01\n'
            .. 'mare: warning: at = -1 is not reached: the run is from 0 to 0.01\n',
            table.concat(said))
        assert.equal(1, calls)
    end)

    it('begins with means over cells of the conserved variables', function()
        local sim = new { nx = 6, ny = 5, x = { 0, 6 }, precision = 'double', quadrature = 3,
            initial = function(x, y) return x ^ 3 + y, x, 0, 1 end }
        assert.near((3 ^ 5 - 2 ^ 5) / 5 + 0.7 * 2.5, sim:field('rho_u')[3 * 6 + 2], 1e-12)
        sim:release()
    end)

    it('refuses what it cannot be', function()
        fails.says(message(new, { boundaries = 'open' }), 'west', "'open'", 'euler', 'boundary')
        fails.says(message(exchange.boundaries,
            { west = 'fixed', east = 'fixed', south = 'periodic', north = 'fixed' },
            { name = 'euler' }), 'south', 'periodic')
        assert.matches("flux 'roe' %(there are: hll, hllc, ", message(new, { flux = 'roe' }))
        assert.matches("limiter 'mid'", message(new, { limiter = 'mid' }))
        assert.matches("precision = 'half'", message(new, { precision = 'half' }))
        assert.matches("first = 'z'", message(new, { first = 'z' }))
        assert.matches("maths = 'ieee'", message(new, { maths = 'ieee' }))
        local sim = new {}
        for _, wrong in ipairs { 0 / 0, 'x' } do
            fails.says(message(sim.aim, sim, wrong), 'aim(' .. wrong .. '): a time is wanted')
        end
    end)

    it('that does not fit is refused before it takes memory', function()
        local d = device.open(name)
        collectgarbage()
        collectgarbage()        -- finalizers of the first may have left more
        local before = device.live_objects()
        assert.matches('the grid needs .* GiB on ' .. d.name .. ', which has',
            message(new, { nx = 2 ^ 20, ny = 2 ^ 20, devices = { d } }))
        assert.equal(before, device.live_objects())
    end)

    it('knows its variables', function()
        local sim = new { initial = function(x) return 2, 3, -4, 1 + x end }
        local last = sim.grid.nx - 1
        assert.equal(-4, sim:field('v')[5])
        assert.equal(5, sim:field('speed')[5])
        assert.is_true(math.abs(sim:field('p')[last] - 1 - sim.grid:x_centre(last)) < 1e-5)
        assert.matches("no variable 'q' %(there are: rho, rho_u", message(sim.field, sim, 'q'))
    end)

    it('is drawn before drivers compile its steps', function()
        local sim, other = new {}, new {}
        sim:field 'speed'
        assert.is_true(sim.is_new)
        for _, aim in ipairs { { steps = 0 }, { t_end = 0 }, { steps = 0, t_end = 1 } } do
            other:warm_up(aim)
            assert.is_true(other.is_new)
        end
        other:warm_up { t_end = 1 }
        assert.is_false(other.is_new)
        assert.equal(0, other.now.steps)
        for _, one in ipairs { sim, other } do
            one:aim(1)
            one:step(7)
            one:warm_up()
            assert.equal(7, one:read().steps)
            assert.is_false(one.is_new)
        end
        assert.equal(0, differences(unknowns(sim), unknowns(other)))
    end)

    it('lets nobody read past a field, write into one, or use what is released', function()
        local sim = new {}
        for _, variable in ipairs { 'rho', 'speed' } do
            local data, cells = sim:field(variable), sim.grid.cells
            assert.equal(cells, #data)
            for _, k in ipairs { -1, 0.5, cells, 1e7 } do
                fails(function() return data[k] end, nil, variable, tostring(cells))
            end
            fails(function() data[0] = 3 end, 'MARE_ERROR_ARGUMENT', variable, 'frozen')
            assert.equal(data[3], data:pointer()[3])
        end
        fails(function() sim:step 'x' end, 'MARE_ERROR_ARGUMENT', 'step(x)')
        local data = sim:field 'rho'
        sim:release()
        sim:release()
        fails(function() return data[0] end, 'MARE_ERROR_ARGUMENT', 'rho', 'it has 0')
        fails(function() return sim:field 'rho' end, 'MARE_ERROR_ARGUMENT', 'field', 'released')
        assert.matches('released', tostring(sim))
    end)
end)
