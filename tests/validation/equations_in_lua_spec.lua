-- Equations whose functions are Lua: Burgers' against its exact solution, gas against the same
-- written in C, a source against its exact decay, and what is refused.

-- luacheck: ignore 212 (functions take what equations hand them)

local events = require 'mare.base.events'
local fails = require 'tests.fails'
local gas = require 'tests.gas_in_lua'
local mare = require 'mare'
local sample = require 'tests.sample'
local shapes = require 'mare.shapes'
local support = require 'tests.validation.support'
local tracer = require 'mare.schemes.euler_tracer'

-- Which of the two tests of steps in one pass this is: their programs are large.
local in_one_pass = {}
for _, what in ipairs(sample({ 'torn', 'sources' }, 1)) do in_one_pass[what] = true end

local function simulate(desc)
    local sim = require('mare.run.simulation').new {
        grid = mare.grid { nx = desc.nx, ny = desc.ny or 8, x = desc.x or { 0, 1 }, y = { 0, 1 } },
        scheme = desc.scheme, boundaries = desc.boundaries or 'periodic', initial = desc.initial,
        options = { device = support.device, precision = 'double', maths = 'strict', cfl = 0.4,
            decompose = desc.decompose },
    }
    sim:aim(desc.t_end)
    while sim.now.t < desc.t_end do
        sim:step(64)
        sim:read()
    end
    return sim
end

local function values(sim, name)
    local field, list = sim:field(name), {}
    for k = 0, sim.grid.cells - 1 do list[k + 1] = field[k] end
    return list
end

local function largest_difference(a, b)
    local largest = 0
    for k = 1, #a do largest = math.max(largest, math.abs(a[k] - b[k])) end
    return largest
end

-- ---- Burgers ----

local function burgers(riemann)
    return mare.equations { name = 'burgers', fields = { 'u' }, riemann = riemann,
        flux = function(q) return 0.5 * q.u ^ 2 end,
        speed = function(q) return q.u, q.u end }
end

local function wave(x) return 1 + 0.25 * math.sin(2 * math.pi * x) end

-- u = wave(x - u t), by Newton's method, while the wave has not broken.
local function exact(x, t)
    local u = wave(x - wave(x) * t)
    for _ = 1, 50 do
        local slope = 1 + 0.5 * math.pi * math.cos(2 * math.pi * (x - u * t)) * t
        u = u - (u - wave(x - u * t)) / slope
    end
    return u
end

local function error_of(nx)
    local t_end, sum = 0.2, 0
    local sim = simulate { nx = nx, scheme = burgers(), t_end = t_end,
        initial = function(x) return wave(x) end }
    local u = values(sim, 'u')
    for i = 0, nx - 1 do sum = sum + math.abs(u[i + 1] - exact((i + 0.5) / nx, t_end)) / nx end
    return sum
end

-- ---- gas ----

local function air() return gas { parameters = { gamma = 1.4 } } end

local function bump(x, y)
    return 1 + 0.2 * math.sin(2 * math.pi * (x + y)), 0.5, -0.3, 1
end

describe('equations in Lua', function()
    it('have the order of the scheme: Burgers', function()
        local coarse, fine = error_of(64), error_of(128)
        assert.is_true(math.log(coarse / fine) / math.log(2) > 1.7)
        assert.is_true(fine < 2e-4, fine)
    end)

    it('have steps of the fastest signal where others are -0', function()
        local sim = simulate { nx = 64, scheme = burgers(), t_end = 0,
            initial = function(x) return x < 0.5 and -0.0 or 1 end }
        assert.equal(64, sim.now.rate)
    end)

    it('are warned of where nothing moves that dt could follow from', function()
        local unmute, said = events.mute(), {}
        local stop = events.listen { hear = function(event) said[#said + 1] = event.message end }
        simulate { nx = 64, scheme = burgers(), t_end = 0, initial = function() return 0 end }
        stop()
        unmute()
        assert.equal(1, #said)
        fails.says(said[1], 'no signal moves in the initial state', '--dt')
    end)

    it('compute what the same in C computes: gas', function()
        local lua = simulate { nx = 32, ny = 32, scheme = air(), t_end = 0.2, initial = bump }
        local c = simulate { nx = 32, ny = 32, scheme = tracer.new { flux = 'hll' }, t_end = 0.2,
            initial = function(x, y)
                local rho, u, v, p = bump(x, y)
                return rho, u, v, p, 0
            end }
        for _, names in ipairs { { 'rho', 'rho' }, { 'm_x', 'rho_u' }, { 'E', 'E' } } do
            assert.is_true(largest_difference(values(lua, names[1]), values(c, names[2])) < 1e-12)
        end
        assert.equal(c.now.steps, lua.now.steps)
    end)

    it('have the same bits however the grid is cut', function()
        local whole = simulate { nx = 32, ny = 32, scheme = air(), t_end = 0.1, initial = bump }
        local cut = simulate { nx = 32, ny = 32, scheme = air(), t_end = 0.1, initial = bump,
            decompose = { 2, 2 } }
        for _, name in ipairs { 'rho', 'm_x', 'm_y', 'E' } do
            assert.same(values(whole, name), values(cut, name))
        end
    end)

    -- Gas that is torn apart: without a look at them, faces would be no states at once.
    local function torn(passes, n, precision)
        local sim = require('mare.run.simulation').new {
            grid = mare.grid { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } },
            scheme = gas { parameters = { gamma = 1.4 }, passes = passes },
            boundaries = 'periodic', initial = function(x, y)
                local is_inside = (x - 0.5) ^ 2 + (y - 0.5) ^ 2 < 0.04
                return is_inside and 10 or 0.01, x < 0.5 and -1 or 1, y < 0.5 and -1 or 1,
                    is_inside and 0.01 or 30
            end,
            options = { device = support.device, precision = precision, maths = 'strict',
                cfl = 0.4 },
        }
        sim:aim(1)
        sim:step(20)
        assert.is_false(sim:read().failed)
        return values(sim, 'E')
    end

    it('stay states where faces would be none, in one pass and in two', function()
        local two = torn(2, 24, 'double')
        if in_one_pass.torn then assert.same(two, torn(1, 24, 'double')) end
    end)

    -- Only GPUs of NVIDIA march without a look at each face, in float.
    it('stay so where a march ends at such faces and goes on with a look', function()
        if mare.device.open(support.device).info.kind ~= 'gpu' then return end
        local shape = { W = 4, GROUP = 64, resident = 4, DEPTH = 4 }
        assert.equal(0, largest_difference(torn(2, 1000, 'float'),
            shapes.with({ march = shape }, torn, 1, 1000, 'float')))
    end)

    -- With names that a limiter's number, a scheme's fields and a macro of OpenCL have.
    local function advected(cx, cy, initial)
        local scheme = mare.equations { fields = { 'pow' }, theta = 1.5,
            parameters = { c = mare.vector(cx, cy), theta = 0.5, flux = 0, units = 0 },
            flux = function(q, p) return p.c.n * q.pow + p.flux end,
            speed = function(q, p) return p.c.n, p.c.n end,
            source = function(q, x, y, t, p) return -p.theta * q.pow + p.units * p.c.x end }
        return simulate { nx = 16, ny = 16, scheme = scheme, t_end = 0.25, initial = initial }
    end

    -- Both components of c are exact in binary, so that what moves along x and along y is the
    -- same but for the axes.
    it('have parameters that are vectors', function()
        local function bumps(x, y) return 1 + 0.5 * math.sin(2 * math.pi * x) * y end
        local one = values(advected(0.75, 0.25, bumps), 'pow')
        local other = values(advected(0.25, 0.75, function(x, y) return bumps(y, x) end), 'pow')
        local sum = 0
        for j = 0, 15 do
            for i = 0, 15 do
                local difference = math.abs(one[j * 16 + i + 1] - other[i * 16 + j + 1])
                assert.is_true(difference < 0.03, difference)       -- the order of the sweeps
                sum = sum + one[j * 16 + i + 1] / 256
            end
        end
        local mean = 1 * math.exp(-0.5 * 0.25)
        assert.is_true(math.abs(sum - mean) < 1e-5, sum)
    end)

    it('have sources', function()
        local sim = advected(0.75, 0.25, function() return 2 end)
        for _, u in ipairs(values(sim, 'pow')) do
            assert.is_true(math.abs(u - 2 * math.exp(-0.5 * 0.25)) < 1e-5)
        end
    end)

    -- u = sin(2 pi (x - t)) cos(2 pi y) exactly, and what the source alone makes of m.
    local function forced(scheme)
        return mare.equations { fields = { 'u', mare.vector 'm' }, scheme = scheme,
            parameters = { c = mare.vector(1, 0.5) },
            flux = function(q, p) return p.c.n * q.u, 0 * q.u, 0 * q.u end,
            speed = function(q, p) return p.c.n, p.c.n end,
            source = function(q, x, y, t, p)
                local a, b = 2 * math.pi * (x - t), 2 * math.pi * y
                return -2 * math.pi * p.c.y * math.sin(a) * math.sin(b), x + t + q.m.y, y
            end }
    end

    local function forced_wave(x, y, t)
        return math.sin(2 * math.pi * (x - (t or 0))) * math.cos(2 * math.pi * y), 0, 0
    end

    local function check_forced(sim)
        local u, mx, my = values(sim, 'u'), values(sim, 'm_x'), values(sim, 'm_y')
        local g, t = sim.grid, sim.now.t
        for k = 0, g.cells - 1 do
            local x, y = g:x_centre(k % g.nx), g:y_centre(math.floor(k / g.nx))
            assert.is_true(math.abs(u[k + 1] - forced_wave(x, y, t)) < 0.04)
            assert.is_true(math.abs(mx[k + 1] - t * (x + t / 2 * (1 + y))) < 1e-12)
            assert.is_true(math.abs(my[k + 1] - t * y) < 1e-12)
        end
    end

    for _, scheme in ipairs(sample({ 'muscl_hancock', 'ssp_rk2', 'ssp_rk3' }, 1)) do
        it('have sources that know place, time and x from y: ' .. scheme, function()
            check_forced(simulate { nx = 32, ny = 32, scheme = forced(scheme), t_end = 0.3,
                initial = forced_wave })
        end)
    end

    local function water(changes)
        local desc = { fields = { 'h', mare.vector 'm' },
            flux = function(q)
                local u = q.m.n / q.h
                return q.m.n, q.m.n * u + 0.5 * q.h * q.h, q.m.t * u
            end,
            speed = function(q)
                local u, c = q.m.n / q.h, math.sqrt(q.h)
                return u - c, u + c
            end,
            source = function(q, x, y, t)
                return 0.1 * math.cos(t) * x * x * y, 0.3 * x * q.h, -0.5 * q.h * y
            end }
        for key, value in pairs(changes) do desc[key] = value end
        return mare.equations(desc)
    end

    local function still(x, y) return 1 + 0.1 * math.cos(3 * x + 2 * y), 0.1 * x * y, 0.2 * y end

    local walls = { west = 'reflective', east = 'outflow', south = 'fixed', north = 'reflective' }

    it('have sources at all kinds of sides, in one pass, two, and cut', function()
        local function run(passes, decompose)
            return simulate { nx = 24, ny = 20, scheme = water { passes = passes }, t_end = 0.1,
                boundaries = walls, initial = still, decompose = decompose }
        end
        local two, one = run(2), run(in_one_pass.sources and 1 or 2, { 2, 3 })
        for _, name in ipairs { 'h', 'm_x', 'm_y' } do
            assert.same(values(two, name), values(one, name))
        end
    end)

    it('have sources that are mirrored at walls', function()
        local function mirrored(x, y)
            local h, mx, my = still(math.abs(x), y)
            return h, x < 0 and -mx or mx, my
        end
        local scheme = water { passes = 2 }
        local half = simulate { nx = 16, ny = 16, scheme = scheme, t_end = 0.1, initial = mirrored,
            boundaries = walls }
        local all = simulate { nx = 32, ny = 16, x = { -1, 1 }, scheme = scheme, t_end = 0.1,
            initial = mirrored, boundaries = { west = 'outflow', east = 'outflow',
                south = walls.south, north = walls.north } }
        local a, b = values(half, 'm_x'), values(all, 'm_x')
        for j = 0, 15 do
            for i = 0, 15 do
                assert.is_true(math.abs(a[j * 16 + i + 1] - b[j * 32 + i + 17]) < 1e-12)
            end
        end
    end)

    it('have fluxes of their own', function()
        local function upwind(a) return 0.5 * a.u ^ 2 end
        local function run(riemann)
            return values(simulate { nx = 32, t_end = 0.1, initial = function(x) return wave(x) end,
                scheme = burgers(riemann) }, 'u')
        end
        assert.is_true(largest_difference(run 'hll', run(upwind)) < 1e-14)
    end)

    it('are told apart by what their functions compute', function()
        local function decay(rate)
            return mare.equations { fields = { 'u' }, flux = function(q) return rate * q.u end,
                speed = function(q) return q.u, q.u end }:parameters().functions
        end
        assert.equal(decay(1.5), decay(1.5))
        assert.are_not.equal(decay(1.5), decay(2.5))
        assert.are_not.equal(decay(1.5), burgers():parameters().functions)
    end)

    it('tell of states that are none, whatever their speeds depend on', function()
        local text = 'untold%(cell q%) {\n    real all = q%.rho %+ q%.mn %+ q%.mt %+ q%.q_E;'
        assert.is_nil(gas().equation.code:find 'untold')
        local swapped = gas { speed = function() return 1, -1 end }
        assert.is_truthy(swapped.equation.code:find(text), swapped.equation.code)
        assert.equal('speed(q, p) gives 1, -1, not the lowest and the highest velocity',
            swapped:invalid(1, 0, 0, 2.5))
        assert.equal('rho nan', swapped:invalid(0 / 0, 0, 0, 2.5))
    end)

    it('are refused with what is wrong', function()
        local function refused(words, changes)
            fails(function() gas(changes) end, 'MARE_ERROR_ARGUMENT', words)
        end
        refused('flux: 4 values are wanted', { flux = function(w) return w.rho end })
        refused('flux: value 2 is a vector (n, t), a number is wanted',
            { flux = function(w) return w.rho, w.u, 0, 0 end })
        refused("'math.random' is no function that kernels have",
            { source = function() return 0, 0, 0, math.random() end })
        refused("there is no 'q'", { speed = function(w) return w.q, w.q end })
        fails(function()
            mare.equations { fields = { 'u' }, flux = bump, speed = bump, primitive = bump }
        end, 'MARE_ERROR_ARGUMENT', 'go together')
        refused("scheme 'euler'", { scheme = 'euler' })
        refused('riemann(a, a, p) gives 2 as value 1',
            { riemann = function() return 2, 0, 0, 0 end })
        refused("'gamma' must be a number", { parameters = { gamma = 'much' } })
        refused("'Gamma'", { parameters = { Gamma = 1 } })
        refused('at least one', { fields = {} })
        refused("variable 'rho' is a field",
            { variables = { { name = 'rho', value = function(q) return q.rho end } } })
        refused("field 2: 'rho' is there twice", { fields = { 'rho', 'rho' } })
        refused("no argument for 'p': it is given 5",
            { source = function(q, x, y, z, t, p) return p.a, 0, 0, t end })  -- luacheck: ignore
        fails(function() mare.equations { fields = { 'u' } } end, 'MARE_ERROR_ARGUMENT',
            'flux is missing')
        fails(function()
            mare.equations { fields = { 3 }, flux = math.sin, speed = math.sin }
        end, 'MARE_ERROR_ARGUMENT', 'field 1')
    end)
end)
