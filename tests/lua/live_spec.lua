-- Tests live simulations: they have the bits of a run of the scenario, whatever
-- the pieces.

local fails = require 'tests.fails'
local formats = require 'mare.files.formats'
local lfs = require 'lfs'
local mare = require 'mare'
local scenario = require 'mare.live.scenario'

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local folder

local function kelvin_helmholtz(values)
    local all = { nx = 32, ny = 16, device = device, t_end = 0.1, quiet = true }
    for key, value in pairs(values or {}) do all[key] = value end
    return mare.simulation 'kelvin_helmholtz'(all)
end

local function numbers(sim, name)
    local data, values = sim:field(name or 'rho'), {}
    for k = 0, sim.grid.cells - 1 do values[k + 1] = data[k] end
    return values
end

local function refused(expected, f, ...)
    local given, count = { ... }, select('#', ...)
    fails(function() f(unpack(given, 1, count)) end, nil, expected)
end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
end)

after_each(function()
    for name in lfs.dir(folder) do os.remove(folder .. '/' .. name) end
    lfs.rmdir(folder)
end)

describe('a simulation by hand', function()
    it('has the bits of the scenario', function()
        local options, source = mare.options, mare.options.source
        options.source = { nx = 32, ny = 16, device = device, t_end = 0.1, quiet = true,
            image = folder .. '/kh.png' }
        local result = dofile(require('bindings.home').root .. '/scenarios/kelvin_helmholtz.lua')
        options.source = source
        local sim = kelvin_helmholtz():run()
        assert.same(numbers(result.sim), numbers(sim))
        assert.equal(result.sim.now.steps, sim.steps)
        -- the last steps to a time are cut to hit it, so that pieces end before these
        local pieces = kelvin_helmholtz():step(2):step():step(2)
        assert.equal(5, pieces.steps)
        assert.same(numbers(sim), numbers(pieces:run()))
        assert.same(numbers(sim), numbers(pieces:reset():run()))
    end)

    it('takes another Courant number between steps', function()
        local sim = kelvin_helmholtz()
        sim:step(1)
        local before = sim.t
        sim:step(1)
        local first = sim.t - before
        sim.cfl = 0.225
        before = sim.t
        sim:step(1)
        assert.equal(0.225, sim.cfl)
        assert.is_true(math.abs((sim.t - before) / first - 0.5) < 0.05)
        refused('from 0.001 to 1', function() sim.cfl = 2 end)
        refused("'t' cannot be set", function() sim.t = 0 end)
    end)

    it('knows of the steps that were queued when an interrupt came', function()
        local sim, whole = kelvin_helmholtz { t_end = 1 }, kelvin_helmholtz { t_end = 1 }
        sim:step(2)
        sim.simulation:step(5)      -- queued, and then nobody read the clock
        assert.equal(7, sim.steps)
        sim.simulation:step(4)
        assert.equal(5, sim:step(5).steps - 11)
        assert.same(numbers(whole:step(16)), numbers(sim))
        sim.simulation:step(1)
        assert.truthy(tostring(sim):find('after 17 steps', 1, true))
    end)

    it('saves, and goes on from what it saved', function()
        local sim = kelvin_helmholtz():step(10)
        sim:save(folder .. '/kh.nc', { variables = 'u' }):save(folder .. '/kh.ck')
        sim:save(folder .. '/kh.png')
        local file = require('bindings.netcdf').open(folder .. '/kh.nc')
        local time = file:get('time', { 0 }, { file:dimensions().time })[0]
        assert.equal(1, file:dimensions().time)
        assert.truthy(file:variable 'u')
        file:close()
        assert.equal(sim.t, time)
        local later = kelvin_helmholtz { restart = folder .. '/kh.ck' }
        assert.equal(10, later.steps)
        assert.same(numbers(sim:run()), numbers(later:run()))
        refused('must end in .nc, ', sim.save, sim, 'x.txt')
        refused("unknown field 'colour'", sim.run, sim, { colour = 'red' })
        refused('a whole number of at least 1', sim.step, sim, 0)
        local t = sim.t
        refused('run to t_end = 0.01, but t is ', sim.run, sim, { t_end = 0.01 })
        refused("t_end = 'nan' (allowed: a number", sim.run, sim, { t_end = 0 / 0 })
        refused("every wants --out FILE", sim.run, sim, { every = 0.1 })
        refused("nx is settled when the simulation is made", sim.run, sim, { nx = 8 })
        refused("sim.cfl = ... sets it", sim.run, sim, { cfl = 0.2 })
        assert.equal(t, sim:run({ show = 'rho' }).t)            -- is at its end
    end)

    it('saves the state at the start in every format of --out', function()
        local sim = kelvin_helmholtz()
        for _, ending in ipairs(formats.endings()) do
            local path = folder .. '/start.' .. ending
            assert.equal(0, sim:save(path).t)
            assert.equal('file', lfs.attributes(path, 'mode'))
        end
    end)

    it('writes while it runs what it is asked for', function()
        local function picture() return lfs.attributes('kelvin_helmholtz.png', 'ino') end
        local before = picture()        -- of a run by hand
        local sim = kelvin_helmholtz()
        sim:run { t_end = 0.06, out = folder .. '/kh.nc', every = 0.02, quiet = true }
        local file = require('bindings.netcdf').open(folder .. '/kh.nc')
        assert.equal(4, file:dimensions().time)
        file:close()
        assert.equal(0.06, sim.t)
        assert.equal(before, picture())
    end)

    it('lets the scenario do the rest', function()
        local sod = mare.simulation 'sod' { nx = 50, device = device, quiet = true }
        local result = sod:step(3):finish()
        assert.is_true(result.error.rho > 0 and result.error.rho < 0.02)
        refused('come to its end', sod.finish, sod)
        local bump = mare.simulation 'bump' { nx = 16, reference = 32, device = device,
            quiet = true }
        assert.equal('number', type(bump:finish().order))
    end)

    it('stands what its functions raise', function()
        local wants = 0
        local desc = { grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
            scheme = mare.euler {}, boundaries = 'periodic', options = { device = device,
            t_end = 0.1, quiet = true }, initial = function() return 1 + wants, 0, 0, 1 end,
            every = { { 0.02, function(sim)
                if wants == 0 and sim.now.t > 0.05 then error 'no more of this' end
            end } } }
        local sim = mare.live(desc)
        refused('no more of this', sim.run, sim)
        assert.equal(0.06, sim.t)
        wants = 1
        assert.equal(0.1, sim:run().t)
        sim:reset()
        assert.equal(2, sim:field 'rho':at(0, 0))
        desc.initial = function() error 'no state' end
        refused('no state', sim.reset, sim)
        desc.initial = function() return 1, 0, 0, -1 end
        refused('pressure -1', sim.reset, sim)
        desc.initial = function() return 1, 0, 0, 1 end
        assert.equal(3, sim:reset():step(3).steps)
    end)

    it('lends its state to kernels of ones own, part by part', function()
        local sim = kelvin_helmholtz { decompose = { 2, 2 } }:step(3)
        local rho, seen = sim:field 'rho', 0
        for _, part in ipairs(sim:native()) do
            local kernel = part.device:program { name = 'mine.krn', source = [[
                MR_KERNEL
                void twice(const MR_GLOBAL float *src, mr_index offset, int stride, int nx,
                    MR_GLOBAL float *out) {
                    int i = mr_gid_x(), j = mr_gid_y();
                    if (i < nx) out[j * nx + i] = 2.0f * src[offset + j * stride + i];
                }]] }:kernel 'twice'
            local out = part.device:buffer { type = part.type, count = part.nx * part.ny }
            kernel:bind { src = part.buffer, offset = part.offset, stride = part.stride,
                nx = part.nx, out = out, global = { part.nx, part.ny } }:run()
            for k, value in ipairs(out:totable()) do
                local i, j = (k - 1) % part.nx, math.floor((k - 1) / part.nx)
                assert.equal(2 * rho:at(part.i0 + i, part.j0 + j), value)
                seen = seen + 1
            end
        end
        assert.equal(32 * 16, seen)
        sim:release()
    end)

    it('shares its device with those opened by hand, whose kernels take its state', function()
        local d = mare.device.open(device)
        local sim = kelvin_helmholtz()
        local part = sim:native()[1]
        assert.equal(d, sim.devices[1])
        assert.equal(d, kelvin_helmholtz().devices[1])
        local out = d:buffer { type = 'float', count = 1, label = 'one value' }
        d:program { name = 'first.krn', source = 'MR_KERNEL void first(int at, MR_GLOBAL float *x, '
            .. 'MR_GLOBAL float *y) { y[0] = x[at]; }' }:kernel 'first':bind {
            at = part.offset, x = part.buffer, y = out, global = 1 }:run()
        assert.equal(sim:field(part.names[1])[0], out:totable()[1])
        assert.are_not.equal(d, mare.device.open(device))       -- another, if it is asked for
    end)

    it('is refused where there is none', function()
        refused("no scenario 'nothing' (there are: ", mare.simulation, 'nothing')
        refused('runs no simulation', mare.simulation 'saxpy', { n = 10, device = device })
        local path = folder .. '/loose.lua'
        local file = assert(io.open(path, 'w'))
        file:write "error 'must not be run'"
        file:close()
        refused('runs no simulation', mare.simulation(path), {})
        assert.matches('from a shell mare saxpy', tostring(mare.simulation 'saxpy'))
        refused('option --nx', mare.simulation 'sod', { nx = 1 })
        refused('option --nx', mare.simulation, 'sod', { nx = 1 })
        refused("unknown option 'colour'", mare.simulation 'sod', { colour = 'red' })
        refused('a table of options', mare.simulation 'sod', 7)
        refused('no scenario file', function()
            mare.live { grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler {}, boundaries = 'periodic',
                initial = function() return 1, 0, 0, 1 end, options = { device = device } }:finish()
        end)
    end)

    it('is made from every scenario that runs one', function()
        for _, name in ipairs(scenario.names()) do
            local options = scenario.options(name)
            assert.is_true(#options > 0, name)
            assert.equal('string', type(options.title), name)
        end
    end)
end)

describe('a field', function()
    it('keeps its numbers while the simulation goes on', function()
        local sim = kelvin_helmholtz()
        local rho = sim:field 'rho'
        local before = rho:totable()
        sim:step(10)
        assert.same(before, rho:totable())
        assert.equal(32 * 16, #before)
        assert.equal(before[3 * 32 + 5 + 1], rho:at(5, 3))
        assert.equal(before[3 * 32 + 5 + 1], rho:row(3)[6])
        assert.equal(before[3 * 32 + 5 + 1], rho:column(5)[4])
        local low, high = rho:range()
        assert.is_true(low >= 1 and high <= 2 and low < high)
        refused('there are 32 x 16', rho.at, rho, 32, 0)
        refused("no variable 'q' (there are: rho", sim.field, sim, 'q')
        refused('the name of a variable is wanted, not a table', sim.plot, sim, { var = 3 })
        rho:save(folder .. '/rho.png')
        assert.truthy(lfs.attributes(folder .. '/rho.png'))
    end)
end)
