-- Compares every scenario, shortened, with published or recorded numbers.
-- Recorded ones are from PoCL.

local home = require 'bindings.home'
local lfs = require 'lfs'
local mare = require 'mare'
local sample = require 'tests.sample'
local tables = require 'bindings.tables'
local turns = require 'tests.turns'

require 'tests.share'()

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local folder

-- Runs a scenario as if its options came from a script.
local function run(name, values)
    local options = mare.options
    local source = options.source
    values.device = values.device or device
    if name ~= 'saxpy' then values.quiet = true end
    if name ~= 'saxpy' and name ~= 'blas' and name ~= 'fit_friction' then
        values.image = values.image or folder .. '/picture.png'
    end
    options.source, options.program = values, name
    local ok, result = pcall(dofile, home.root .. '/scenarios/' .. name .. '.lua')
    options.source = source
    if not ok then error(result, 0) end
    return result
end

local function files()
    local list = {}
    for name in lfs.dir(folder) do
        if name ~= '.' and name ~= '..' then list[#list + 1] = name end
    end
    table.sort(list)
    return list
end

-- Returns the mean and the mean square of a variable.
local function moments(sim, variable)
    local data, n, first, second = sim:field(variable), sim.grid.cells, 0, 0
    for k = 0, n - 1 do first, second = first + data[k], second + data[k] * data[k] end
    return first / n, second / n
end

local function near(expected, value, tolerance)
    assert.is_true(math.abs(value / expected - 1) <= tolerance,
        string.format('%.9g, expected %.9g', value, expected))
end

local function copy(sim, variable)
    local data, values = sim:field(variable), {}
    for k = 0, sim.grid.cells - 1 do values[k + 1] = data[k] end
    return values
end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
end)

after_each(function()
    for _, name in ipairs(files()) do os.remove(folder .. '/' .. name) end
    lfs.rmdir(folder)
end)

describe('kelvin_helmholtz', function()
    -- McNally, Lyra and Passy (2012); the bands are those of other second-order codes
    local published = 0.1479463
    local function amplitude_error(n, limiter, theta)
        local result = run('kelvin_helmholtz', { perturbation = 'smooth', nx = n, ny = n,
            limiter = limiter, theta = theta })
        return math.abs(result.amplitude / published - 1)
    end

    -- Measured in 128 cells: 0.0287, and 0.1400 with minmod.
    local n, most, of_minmod = unpack(sample(true, false) and { 256, 0.01, 0.06 }
        or { 128, 0.03, 0.15 })
    for _, limiter in ipairs(sample(true, false) and { 'mc', 'minmod' } or { 'mc' }) do
        it('grows as published when smooth, ' .. limiter, function()
            local fine = amplitude_error(n, limiter, 1)
            assert.is_true(fine <= (limiter == 'mc' and most or of_minmod), tostring(fine))
            if limiter == 'mc' then
                assert.is_true(amplitude_error(n / 2, limiter, 1) >= 2 * fine)
            end
        end)
    end

    it('keeps mass, momentum and energy over 1000 float steps', function()
        local function sums(steps)
            local values = { nx = 128, ny = 64, steps = steps, t_end = 100 }
            local sim = run('kelvin_helmholtz', values).sim
            assert.equal(steps, sim.now.steps)
            return { (moments(sim, 'rho')), (moments(sim, 'rho_u')), (moments(sim, 'rho_v')),
                (moments(sim, 'E')) }
        end
        local before, after = sums(0), sums(1000)
        for _, k in ipairs { 1, 2, 4 } do near(before[k], after[k], 1e-6) end
        assert.is_true(math.abs(after[3]) < 1e-6)       -- none at first; 1.5 is the mean density
    end)

    it('is the same for every decomposition, and another for another seed', function()
        local base = { nx = 120, ny = 50, t_end = 0.3 }
        local whole = copy(run('kelvin_helmholtz', base).sim, 'rho')
        base.decompose = { 3, 2 }
        assert.same(whole, copy(run('kelvin_helmholtz', base).sim, 'rho'))
        base.seed = 7
        assert.not_same(whole, copy(run('kelvin_helmholtz', base).sim, 'rho'))
    end)

    it('writes what it was asked for, and exactly then', function()
        local netcdf = folder .. '/kh.nc'
        run('kelvin_helmholtz', { nx = 32, ny = 16, t_end = 0.25, every = 0.1, out = netcdf,
            variables = 'u,p,rho' })
        assert.same({ 'kh.nc', 'picture.png' }, files())
        local file = require('bindings.netcdf').open(netcdf)
        local times = file:get('time', { 0 }, { file:dimensions().time })
        local kind, seed = file:variable('p'), file:attributes().option_seed
        file:close()
        assert.same({ 0, 0.1, 0.2, 0.25 }, { times[0], times[1], times[2], times[3] })
        assert.equal('float', kind.type)
        assert.same({ 'time', 'y', 'x' }, kind.dimensions)
        assert.equal(42, seed)
    end)

    it('that fails leaves no file', function()
        local function bad(x) return 1, 0, 0, x < 0.5 and 1 or -1 end
        local options = mare.options
        local source = options.source
        options.source = { out = folder .. '/bad.nc', image = folder .. '/bad.png', quiet = true,
            device = device }
        local ok, failure = pcall(mare.run, {
            title = 'bad', options = options { options.simulation, mare.euler.options },
            grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
            scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic', initial = bad,
        })
        options.source = source
        assert.is_false(ok)
        assert.matches('pressure %-1 in cell %(4, 0%)', failure.message)
        collectgarbage()
        collectgarbage()
        assert.same({}, files())
    end)

    it('refuses bad values and leaves nothing behind', function()
        for _, case in ipairs {
            { nx = 0 }, { nx = -1 }, { nx = 3 }, { nx = 1e9 }, { t_end = 0 }, { flux = 'roe' },
            { decompose = { 40, 1 } }, { variables = 'q', out = 'q.nc' },
            { nx = 2 ^ 20, ny = 2 ^ 20, out = 'q.nc' },
            { out = '/nowhere/kh.nc' }, { image = '/nowhere/kh.png' }, { colour = 'red' },
        } do
            case.nx, case.ny = case.nx or 32, case.ny or 16
            if case.out == 'q.nc' then case.out = folder .. '/q.nc' end
            local ok, failure = pcall(run, 'kelvin_helmholtz', case)
            assert.is_false(ok)
            assert.is_not_nil(failure)
            collectgarbage()
            collectgarbage()
            assert.same({}, files())
        end
    end)
end)

describe('sod', function()
    -- L1 errors of density at 200 cells in double; below what MUSCL with minmod, HLLC and
    -- Runge-Kutta reaches (0.0041, 0.0041, 0.0081, 0.101, 0.303), times 1.2 for toro5 (0.0232)
    local recorded = { sod = 2.2889918e-3, toro1 = 2.348187e-3, toro2 = 2.402129e-3,
        toro3 = 6.0526378e-2, toro4 = 0.18278001, toro5 = 2.4514641e-2 }
    for _, test in ipairs(sample(tables.keys(recorded), 1)) do
        local error = recorded[test]
        it(test .. ' is near the exact solution, along both axes alike', function()
            local values = { test = test, nx = 200, precision = sample('double', 'float') }
            local along_x = run('sod', values)
            near(error, along_x.error.rho, 1e-3)
            values.axis = 'y'
            local along_y = run('sod', values)
            assert.same(along_x.error, along_y.error)
            local rho = along_x.sim:field 'rho'
            for i = 0, 199 do assert.equal(rho[i], rho[3 * 200 + i]) end
            values.axis, values.precision = 'x', 'float'
            near(error, run('sod', values).error.rho, 1e-3)
        end)
    end
end)

local in_turn = turns(it, 3)

describe('shock_bubble', function()
    in_turn('has the recorded moments and is symmetric about its axis', function()
        for _, flux in ipairs(sample({ 'hllc', 'hllc_straight' }, 1)) do
            local sim = run('shock_bubble', { nx = 160, ny = 40, t_end = 0.2, flux = flux }).sim
            local mean, square = moments(sim, 'rho')
            near(1.5173378, mean, 1e-4)
            near(3.3465417, square, 1e-4)
            local rho = sim:field 'rho'
            for j = 0, 19 do
                for i = 0, 159 do
                    assert.equal(rho[j * 160 + i], rho[(39 - j) * 160 + i])
                end
            end
        end
    end)
end)

describe('double_mach', function()
    in_turn('has its shock along the north where theory has it, and one state behind', function()
        local sim = run('double_mach', { nx = 240, ny = 60 }).sim
        local rho, last = sim:field 'rho', 59 * 240
        local i = 239
        while rho[last + i] < 4.7 do i = i - 1 end
        local y = sim.grid:y_centre(59)
        near(1 / 6 + (y + 20 * 0.2) / math.sqrt(3), sim.grid.x[1] + (i + 1) * sim.grid.dx,
            2 * sim.grid.dx)
        for k = 0, 160 do near(8, rho[last + k], 0.05) end
    end)
end)

describe('strong_shocks', function()
    in_turn('bends no shock and smears no contact', function()
        assert.equal(0, run('strong_shocks', { problem = 'contact', nx = 48, t_end = 0.5 }).most)
        assert.is_true(run('strong_shocks', { problem = 'duct', nx = 240 }).most < 1e-4)
        local blast = run('strong_shocks', { problem = 'blast', nx = 80 })
        assert.near(0.75, blast.along, 2.4 / 80)
        assert.near(blast.between, blast.along, 2.4 / 80)
    end)
end)

describe('rayleigh_taylor', function()
    in_turn('grows to the recorded mean square of v and keeps its mass', function()
        local recorded = { interface = 1.33360e-4, velocity = 1.02714e-4 }
        for _, perturbation in ipairs(sample({ 'interface', 'velocity' }, 1)) do
            local expected = recorded[perturbation]
            local sim = run('rayleigh_taylor',
                { nx = 40, ny = 120, t_end = 5, perturbation = perturbation }).sim
            near(1.5, (moments(sim, 'rho')), 1e-6)
            local _, square = moments(sim, 'v')
            near(expected, square, 1e-3)
        end
    end)
end)

describe('dam_break', function()
    -- Relative L1 errors of depth and transport in 100 cells, in double
    local recorded = { wet = { 3.242e-3, 2.298e-2 }, dry = { 8.446e-3, 5.881e-2 } }
    for bed, errors in pairs(recorded) do
        it('onto a ' .. bed .. ' bed is near the exact solution, along both axes alike', function()
            local values = { bed = bed, nx = 100, precision = 'double' }
            local along_x = run('dam_break', values)
            near(errors[1], along_x.error.h, 1e-3)
            near(errors[2], along_x.error.transport, 1e-3)
            values.axis = 'y'
            assert.same(along_x.error, run('dam_break', values).error)
        end)
    end

    in_turn('is as near by a scheme of the ocean, of which it takes no other option', function()
        local found = run('dam_break', { ocean = 'cdklm', bed = 'dry', nx = 100,
            precision = 'double' }).error
        near(7.715e-3, found.h, 1e-3)
        near(5.814e-2, found.transport, 1e-3)
        local ok, err = pcall(run, 'dam_break', { ocean = 'cdklm', flux = 'hll' })
        assert.is_false(ok)
        assert.matches("option %-%-flux: 'hll' %(allowed: none with %-%-ocean%)", tostring(err))
    end)
end)

describe('bump', function()
    it('has the order of its scheme', function()
        for _, case in ipairs(sample({ { 1.95, 2.4, { precision = 'double' } },
            { 0.95, 1.4, { scheme = 'hll', limiter = 'mc' } } }, 1)) do
            local least, most, values = unpack(case)
            values.nx, values.reference = 64, 256
            local order = run('bump', values).order
            assert.is_true(order >= least and order < most, tostring(order))
        end
    end)

    it('refuses a reference that does not fit', function()
        local ok, failure = pcall(run, 'bump', { nx = 64, reference = 100 })
        assert.is_false(ok)
        assert.matches("option %-%-reference: '100' %(allowed: a multiple of %-%-nx, 64, or 0%)",
            tostring(failure))
    end)
end)

describe('turbulence', function()
    -- On a null device: what it transforms is compared on others by kernels/fft_spec.
    in_turn('loses the energy that viscosity takes, and long waves gain', function()
        local result = run('turbulence', { n = 32, t_end = 2, device = 'null' })
        assert.is_true(result.error < 1e-4, tostring(result.error))
        assert.is_true(result.last[3] > 2 * result.first[3])     -- waves of number 2
        assert.same({ 'picture.png' }, files())
    end)
end)

describe('spectrogram', function()
    it('shows a tone that rises beside one that does not', function()
        local result = run('spectrogram', { length = 64, overlap = 0, device = 'null' })
        local power, rate = result.power, result.rate
        for _, k in ipairs { 20, 250, 480 } do
            local loudest = result.frequency:at(power { k }:argmax():item())
            assert.is_true(math.abs(loudest - 500 - 3000 * result.time:at(k)) <= rate / 64)
        end
        assert.same({ 'picture.png' }, files())
    end)
end)

describe('frequency_filter', function()
    it('keeps the mean of a picture, and draws the waves that are left', function()
        local wide = run('frequency_filter', { width = 24, height = 16, device = 'null',
            sigma_x = 1e6, sigma_y = 1e6, film = folder .. '/film.png', frames = 2, turn = 10 })
        local narrow = run('frequency_filter', { width = 24, height = 16, device = 'null',
            sigma_x = 2, sigma_y = 1, angle = 30 })
        local function mean(x) return x:float():mean():item() end
        assert.is_true(math.abs(mean(wide.picture) - mean(narrow.picture)) < 1)
        assert.is_true(mean(narrow.spectrum) < 0.5 * mean(wide.spectrum))
        assert.equal(8 * 24 + 12, narrow.spectrum:argmax():item())
        assert.same({ 'film.png', 'picture.png' }, files())
    end)
end)

describe('fit_friction', function()
    it('finds the friction of a channel by slopes that go back through its steps', function()
        local result = run('fit_friction', { n = 16, steps = 60, runs = 4 })
        assert.is_true(result.error < 0.4, tostring(result.error))      -- 1 at the start
        local at, _, slopes = { 3e-3, 5e-3, 4e-3 }, result.misfit_of { 3e-3, 5e-3, 4e-3 }
        for k = 1, 2 do
            local h, old = 1e-6, at[k]
            at[k] = old + h
            local above = result.misfit_of(at)
            at[k] = old - h
            local below = result.misfit_of(at)
            at[k] = old
            local slope = (above - below) / (2 * h)
            assert.is_true(math.abs(slopes[k] / slope - 1) < 1e-5, slopes[k] .. ', ' .. slope)
        end
    end)
end)

describe('saxpy', function()
    it('computes a x + y', function()
        local print = _G.print
        _G.print = function() end
        local ok, result = pcall(run, 'saxpy', { n = 10000 })
        _G.print = print
        assert.is_true(ok)
        assert.equal(0, result.error)
    end)
end)

describe('blas', function()
    it('has the same products from all kernels', function()
        local rows = run('blas', { n = 50, elements = 1000, seconds = 1e-3 }).rows
        assert.truthy(#rows >= 5)
        for _, row in ipairs(rows) do
            assert.is_true(row.error < 1e-6 and row.rate > 0, row.name .. ' ' .. row.error)
        end
    end)
end)
