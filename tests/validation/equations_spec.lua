-- Equations as data: what a table must hold, what a user's own flux is held to, and two equations
-- of one file each against exact solutions: gas that carries a tracer (five fields) and ideal
-- magnetohydrodynamics in a plane (six).

local choices = require 'mare.schemes.choices'
local consistency = require 'mare.schemes.consistency'
local equation = require 'mare.schemes.equation'
local euler = require 'mare.schemes.euler'
local every = require 'tests.every_scheme'
local grid = require 'mare.array.grid'
local mhd = require 'mare.schemes.mhd'
local sample = require 'tests.sample'
local simulation = require 'mare.run.simulation'
local support = require 'tests.validation.support'
local tracer = require 'mare.schemes.euler_tracer'

-- ---- the table ----

local code = 'primitive_of( conserved_of( physical_flux( waves_of('

local function refusal(changes)
    local desc = { name = 'test', fields = { { name = 'q' } }, code = code }
    for key, value in pairs(changes) do desc[key] = value end
    local ok, failure = pcall(equation.new, desc)
    assert.is_false(ok)
    return tostring(failure)
end

local cases = {
    { { fields = {} }, '0 are given' }, { { colour = 1 }, "unknown field 'colour'" },
    { { fields = { { name = 'q' }, { name = 'q' } } }, 'twice' },
    { { fields = { { name = 'Q' } } }, "'Q' is no name" },
    { { fields = { { name = 'float' } } }, "'float' is no name" },
    { { fields = { { name = 'q', vector = 'm' } } }, 'vector and axis' },
    { { fields = { { name = 'q', vector = 'm', axis = 'x' } } }, 'no component along y' },
    { { fields = { { name = 'q', colour = 1 } } }, "unknown field 'colour'" },
    { { parameters = { { name = 'a', range = { 2, 1 } } } }, 'range of a' },
    { { parameters = { { name = 'a' }, { name = 'a' } } }, 'twice' },
    { { code = 'physical_flux(' }, 'primitive_of' }, { { source = true }, 'source' },
    { { header = 'a' }, 'either header or code' }, { { source = 3 }, 'source must be' },
    { { halo = 1 }, 'halo = 1' }, { { halo = 2.5 }, 'halo = 2.5' },
    { { primitives = { 'u', 'u' } }, 'twice' },
}

describe('the table of an equation', function()
    it('is refused with what is wrong with it', function()
        for _, case in ipairs(cases) do assert.matches(case[2], refusal(case[1]), 1, true) end
        assert.matches('name is missing', tostring(select(2, pcall(equation.new, {}))))
        local many = {}
        for k = 1, 17 do many[k] = { name = 'q' .. k } end
        assert.matches('17 are given, must be from 1 to 16', refusal { fields = many })
    end)

    it('tells the parameters of its schemes', function()
        assert.has_error(function() mhd.new { gamma = 1 } end)
        assert.has_error(function() mhd.new { flux = 'hllc' } end)
        assert.has_error(function() mhd.new { colour = 1 } end)
        assert.equal(5 / 3, mhd.new({}):parameters().gamma)
        local plain = equation.new { name = 'test', fields = { { name = 'q' } }, code = code,
            parameters = { { name = 'a' } } }
        assert.has_error(function() plain {} end)       -- no default
        assert.same({ a = 2 }, plain({ a = 2 }).numbers)
    end)
end)

-- ---- fluxes ----

local function loader(scheme, device, precision)
    return function(file, cut)
        local defines = { MARE_REAL = precision, W = cut.W, GROUP = cut.GROUP }
        for name, value in pairs(scheme.defines) do defines[name] = value end
        return device:program(scheme.equation:program(file, { defines = defines }))
    end
end

local textbook = [[
MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real sl = mr_abs(l.un) + sound_speed(l, k), sr = mr_abs(r.un) + sound_speed(r, k);
    real s = mr_max(sl, sr);
    flux fl = physical_flux(l, k), fr = physical_flux(r, k), f;
    f.rho = R(0.5) * (fl.rho + fr.rho - s * (r.rho - l.rho));
    f.mn = R(0.5) * (fl.mn + fr.mn - s * (r.rho * r.un - l.rho * l.un));
    f.mt = R(0.5) * (fl.mt + fr.mt - s * (r.rho * r.ut - l.rho * l.ut));
    f.energy = R(0.5) * (fl.energy + fr.energy - s * (energy_of(r, k) - energy_of(l, k)));
    return f;
}
]]

-- Calls f with the name of a header of this text.
local function with_header(text, f)
    local path = os.tmpname()
    os.remove(path)
    path = path .. '.h'
    local file = assert(io.open(path, 'w'))
    file:write(text)
    file:close()
    local ok, result = pcall(f, path)
    os.remove(path)
    if not ok then error(result, 0) end
    return result
end

local function gas(flux)
    return support.simulation {
        nx = 24, ny = 16, x = { 0, 1 }, y = { 0, 1 }, precision = 'double',
        scheme = euler.new { flux = flux, limiter = 'none' },
        initial = function(x, y)
            return 1 + 0.3 * math.sin(6.28 * x), 1, math.cos(6.28 * y), 1 + 0.2 * math.cos(6.28 * y)
        end,
    }
end

describe('a flux', function()
    it('of Mare is the physical one of equal states', function()
        local device = support.devices()[1]
        for _, scheme in ipairs(sample(every.schemes(), 1)) do
            local fault = consistency.fault(scheme, device, 'double',
                loader(scheme, device, 'double'))
            assert.is_nil(fault, ('%s %s: %s'):format(scheme.name, scheme.flux, tostring(fault)))
        end
    end)

    it('of a textbook is right as it stands', function()
        with_header(textbook, function(path)
            assert.is_true(choices.is_own(path))
            local own, known = gas(path), gas 'lax_friedrichs'
            support.run_steps(own, 8)
            support.run_steps(known, 8)
            for k = 0, own.grid.cells - 1 do
                assert.near(known:field 'E'[k], own:field 'E'[k], 1e-12)
            end
        end)
    end)

    it('that is not consistent is refused', function()
        local twice = textbook:gsub('f.energy = R%(0.5%)', 'f.energy = R(1.0)')
        local message = with_header(twice, function(path)
            return tostring(select(2, pcall(gas, path)))
        end)
        assert.matches('is not consistent: .* for E', message)
    end)
end)

-- ---- a tracer ----

-- Density and share of gas that goes along as it is, and their exact course.
local function wave(x, y) return 1 + 0.3 * math.sin(2 * math.pi * (x + y)) end
local function share(x, y) return 0.5 + 0.3 * math.cos(2 * math.pi * (x - y)) end

local function carried(n, share_at)
    return support.simulation {
        nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 }, precision = 'double',
        scheme = tracer.new { limiter = 'mc' },
        initial = function(x, y) return wave(x, y), 1, 0.5, 1, share_at(x, y) end,
    }
end

describe('a tracer', function()
    it('goes with the gas, at second order', function()
        local errors, t = {}, 0.5
        for _, n in ipairs { 32, 64 } do
            local sim = support.run_to(carried(n, share), t)
            errors[n] = support.error(sim, 'rho_y', function(x, y)
                return wave(x - t, y - t / 2) * share(x - t, y - t / 2)
            end)
            support.gate(('equations/tracer/%d'):format(n), errors[n])
        end
        support.at_least(1.7, math.log(errors[32] / errors[64]) / math.log(2), 'order of a tracer')
    end)

    it('is conserved, and stays all of the gas where it was', function()
        local sim = carried(32, function() return 1 end)
        local before = support.total(sim, 'rho_y')
        support.run_steps(sim, 20)
        assert.near(1, support.total(sim, 'rho_y') / before, 1e-13)
        for k = 0, sim.grid.cells - 1 do
            assert.near(sim:field 'rho'[k], sim:field 'rho_y'[k], 1e-13)
        end
    end)
end)

-- ---- magnetohydrodynamics ----

local gamma = 5 / 3

-- The vortex of Balsara (2004), which magnetic tension, pressure and inertia keep in balance, on
-- its way with velocity (1, 1) in a box of 10 that goes around: density, velocity, pressure, field.
local function vortex(x, y, t)
    local function place(s) return (s - t + 5) % 10 - 5 end
    x, y = place(x), place(y)
    local strength, r2 = 1 / (2 * math.pi), x * x + y * y
    local e = strength * math.exp((1 - r2) / 2)
    return 1, 1 - y * e, 1 + x * e, 1 + e * e * ((1 - r2) - 1) / 2, -y * e, x * e
end

local function vortex_of(n, flux)
    return support.simulation {
        nx = n, ny = n, x = { -5, 5 }, y = { -5, 5 }, precision = 'double',
        scheme = mhd.new { gamma = gamma, flux = flux, limiter = 'mc' },
        initial = function(x, y) return vortex(x, y, 0) end,
    }
end

local function field_error(sim, t)
    return support.error(sim, 'Bx', function(x, y) return (select(5, vortex(x, y, t))) end)
end

describe('ideal magnetohydrodynamics', function()
    it('carries a vortex, at second order', function()
        local errors, t = {}, 2
        for _, n in ipairs { 32, 64 } do
            errors[n] = field_error(support.run_to(vortex_of(n, 'hll'), t), t)
            support.gate(('equations/mhd/vortex/%d'):format(n), errors[n])
        end
        support.at_least(1.6, math.log(errors[32] / errors[64]) / math.log(2), 'order of a vortex')
    end)

    it('conserves all six fields, and has the same bits in any decomposition', function()
        local whole = support.run_steps(vortex_of(24, 'hll'), 10)
        local start = vortex_of(24, 'hll')
        for _, name in ipairs(whole.scheme.fields) do
            assert.near(support.total(start, name), support.total(whole, name), 1e-10)
        end
        local split = support.simulation {
            nx = 24, ny = 24, x = { -5, 5 }, y = { -5, 5 }, precision = 'double',
            scheme = mhd.new { gamma = gamma, flux = 'hll', limiter = 'mc' }, decompose = { 2, 3 },
            initial = function(x, y) return vortex(x, y, 0) end,
        }
        support.run_steps(split, 10)
        assert.is_nil(support.bits_differ(support.state(whole), support.state(split)))
    end)

    it('turns both vectors around at a wall, with a halo of any width', function()
        local function behind_walls(halo)
            local desc = {}
            for key, value in pairs(mhd.equation) do desc[key] = value end
            desc.symbols, desc.vectors, desc.parameter_vectors, desc.halo = nil, nil, nil, halo
            return support.run_steps(simulation.new {
                grid = grid.new { nx = 16, ny = 12, x = { 0, 1 }, y = { 0, 1 }, halo = halo },
                scheme = equation.new(desc) { gamma = gamma, flux = 'hll', limiter = 'mc' },
                boundaries = 'reflective',
                devices = support.devices(), options = { precision = 'double' },
                initial = function(x, y)
                    return 1, math.sin(3 * y), math.cos(4 * x), 1 + x * y, math.sin(5 * y), x
                end,
            }, 6)
        end
        local narrow, wide = behind_walls(2), behind_walls(5)
        assert.is_nil(support.bits_differ(support.state(narrow), support.state(wide)))
        assert.near(16 * 12, support.total(narrow, 'rho'), 1e-10)
    end)
end)
