local device = require 'bindings.device'
local exchange = require 'mare.exchange'
local mare = require 'mare'

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local random = mare.random

-- A rough state: density, velocity and pressure differ from cell to cell, with strong shocks.
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
            first = desc.first, cfl = desc.cfl },
    }
end

-- All unknowns as Lua arrays, in the order of memory.
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

local function with(desc, more)
    local copy = {}
    for key, value in pairs(desc) do copy[key] = value end
    for key, value in pairs(more) do copy[key] = value end
    return copy
end

describe('every decomposition gives the same bits:', function()
    local cases = {
        ['periodic'] = {},
        ['walls and gravity'] = { boundaries = 'reflective', gravity = 0.5 },
        ['fixed, outflow, periodic'] = { gravity = 0.3, boundaries = {
            west = 'fixed', east = 'outflow', south = 'periodic', north = 'periodic' } },
        ['outflow, fixed, wall'] = { boundaries = {
            west = 'periodic', east = 'periodic', south = 'outflow', north = 'fixed' } },
        ['double, hll, minmod'] = { precision = 'double', flux = 'hll', limiter = 'minmod' },
    }
    for title, case in pairs(cases) do
        it(title, function()
            local whole = steps(case, 9)
            for _, split in ipairs { { 2, 1 }, { 1, 2 }, { 2, 2 }, { 4, 3 } } do
                local parts = steps(with(case, { decompose = split }), 9)
                assert.equal(0, differences(whole, parts), table.concat(split, 'x'))
            end
        end)
    end

    it('on two devices, through copies between them', function()
        local two = { device.open(name), device.open(name) }
        local whole = steps({}, 9)
        assert.equal(0, differences(whole, steps({ devices = two, decompose = { 2, 2 } }, 9)))
        local case = { boundaries = 'reflective', gravity = 0.5 }
        whole = steps(case, 9)
        local parts = steps(with(case, { devices = two, decompose = { 3, 1 } }), 9)
        assert.equal(0, differences(whole, parts))
    end)
end)

describe('a transposed problem gives the transposed bits:', function()
    -- u and v, x and y, exchanged; the first sweep too
    local function transposed(initial)
        return function(x, y)
            local rho, u, v, p = initial(y, x)
            return rho, v, u, p
        end
    end
    local partner = { 1, 3, 2, 4 }

    local function compare(flux, limiter)
        local initial = rough(33, 24)
        local case = { flux = flux, limiter = limiter, boundaries = 'reflective' }
        local a = steps(with(case, { nx = 33, ny = 24, initial = initial }), 6)
        local b = steps(with(case, { nx = 24, ny = 33, first = 'y',
            initial = transposed(initial) }), 6)
        local count = 0
        for k = 1, 4 do
            for c = 0, 24 * 33 - 1 do
                local i, j = c % 33, math.floor(c / 33)
                if a[k][c + 1] ~= b[partner[k]][i * 24 + j + 1] then count = count + 1 end
            end
        end
        assert.equal(0, count)
    end

    for flux in pairs(mare.euler.fluxes) do
        it(flux .. ' flux', function() compare(flux, 'mc') end)
    end
    for limiter in pairs(mare.euler.limiters) do
        it(limiter .. ' limiter', function() compare('hllc', limiter) end)
    end
end)

describe('steps', function()
    it('give the same bits however they are queued', function()
        local at_once = steps({}, 12)
        local sim = new {}
        sim:aim(math.huge)
        for _ = 1, 12 do
            sim:step(1)
            sim:read()
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
        local sim = new { nx = 20, ny = 50, initial = bad }
        assert.matches('^pressure %-1 in cell %(10, 35%) at x = 0.525, y = 0.71', sim:invalid())
        sim:aim(1)
        assert.is_true(sim.now.failed)
        assert.matches('the state became invalid in step 0.*pressure %-1 in cell',
            message(mare.run.loop, sim, { t_end = 1, quiet = true }))
        assert.is_nil(new({}):invalid())
    end)

    it('is run to its end, with calls at their times', function()
        local sim, times = new {}, {}
        local function note(at) times[#times + 1] = at.now.t end
        local rates = mare.run.loop(sim, { t_end = 0.04, quiet = true,
            at = { { 0.03, note }, { 0.01, note }, { 0.04, note }, { 0.05, note } } })
        assert.same({ 0.01, 0.03, 0.04 }, times)
        assert.equal(0.04, sim.now.t)
        assert.equal(sim.now.steps, rates.steps)
        mare.run.loop(sim, { steps = rates.steps + 5, quiet = true })
        assert.equal(rates.steps + 5, sim.now.steps)
        assert.matches('t_end or steps is wanted', message(mare.run.loop, sim, {}))
    end)

    it('refuses what it cannot be', function()
        assert.matches("boundary in the west: 'open' %(there are: fixed",
            message(new, { boundaries = 'open' }))
        assert.matches('south and north must both be periodic', message(exchange.boundaries,
            { west = 'fixed', east = 'fixed', south = 'periodic', north = 'fixed' }))
        assert.matches("flux 'roe' %(there are: hll, hllc, lax", message(new, { flux = 'roe' }))
        assert.matches("limiter 'mid'", message(new, { limiter = 'mid' }))
        assert.matches("precision 'half'", message(new, { precision = 'half' }))
        assert.matches("first = 'z'", message(new, { first = 'z' }))
    end)

    it('that does not fit is refused before it takes memory', function()
        local d = device.open(name)
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
end)
