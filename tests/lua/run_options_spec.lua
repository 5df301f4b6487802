-- One entry in the table of options of every run is all that a new one needs: it is on the command
-- line, in --help, in sim:run, in help() and completion, in the metadata of files and in a rerun.

local help = require 'mare.session.help'
local lfs = require 'lfs'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local options = require 'mare.base.options'
local rerun = require 'mare.launcher.rerun'
require 'mare.session.repl'

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local folder

local function with_words(words, f, ...)
    local kept, elsewhere = options.source, options.elsewhere
    options.source = words
    local ok, result = pcall(f, ...)
    options.source, options.elsewhere = kept, elsewhere
    if not ok then error(result, 0) end
    return result
end

local function fails(expected, f, ...)
    local ok, failure = pcall(f, ...)
    assert.is_false(ok)
    assert.truthy(tostring(failure):find(expected, 1, true), tostring(failure))
end

local function contains(list, text)
    for _, item in ipairs(list) do if item == text then return true end end
    return false
end

local function attribute(path, name)
    local file = netcdf.open(path)
    local value = file:attributes()[name]
    file:close()
    return value
end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
    options.simulation[#options.simulation + 1] = { name = 'sea-mood', type = 'number',
        range = { 0, 9 }, help = 'how the water feels' }
end)

after_each(function()
    options.simulation[#options.simulation] = nil
    for name in lfs.dir(folder) do os.remove(folder .. '/' .. name) end
    lfs.rmdir(folder)
end)

local function small(values)
    values.nx, values.ny, values.device, values.quiet = 16, 8, device, true
    return mare.simulation 'kelvin_helmholtz' (values)
end

describe('an option added to those of every run', function()
    it('is on the command line, with its range', function()
        local spec = { options.simulation }
        assert.equal(3, with_words({ '--sea-mood=3' }, options, spec).sea_mood)
        fails("option --sea-mood: '11' (allowed: a number from 0 to 9)", with_words,
            { '--sea-mood=11' }, options, spec)
    end)

    it('is in --help', function()
        local path, before = folder .. '/help', io.output()
        io.output(path)
        pcall(with_words, { '--help' }, options, { title = 'x', options.simulation })
        io.output():close()
        io.output(before)
        local text = assert(require 'bindings.read'(path))
        assert.truthy(text:find('%-%-sea%-mood <X>%s+how the water feels'))
    end)

    it('is taken by sim:run and sim:save, checked alike, and completed there', function()
        local sim = small {}
        sim:run { t_end = 0.01, sea_mood = 2 }
        fails("simulation: run: sea_mood = '11' (allowed: a number from 0 to 9)", sim.run, sim,
            { sea_mood = 11 })
        fails("sea_mood = 'calm'", sim.save, sim, folder .. '/x.nc', { sea_mood = 'calm' })
        assert.is_true(contains(getmetatable(sim).__options(sim, 'run'), 'sea_mood'))
    end)

    it('is in the metadata of files, and in a rerun', function()
        local path = folder .. '/a.nc'
        small { sea_mood = 4 }:run { t_end = 0.01, out = path }
        assert.equal(4, attribute(path, 'option_sea_mood'))
        local function words() return select(3, rerun.prepare(path, {})) end
        assert.is_true(contains(with_words({}, words), '--sea-mood=4'))
        path = folder .. '/b.nc'
        small { sea_mood = 4 }:run { t_end = 0.01, out = path, sea_mood = 5 }
        assert.equal(5, attribute(path, 'option_sea_mood'))
        local again = with_words({}, words)
        assert.is_true(contains(again, '--sea-mood=5'))
        assert.is_true(contains(again, '--t-end=0.01'))
        assert.is_false(contains(again, '--out=' .. path))
    end)

    it('is in help()', function()
        assert.truthy(help.text('sim:run'):find('sea_mood +how the water feels'))
    end)
end)

describe('the options of every run', function()
    it('are all taken by sim:run but those that make a simulation', function()
        local sim = small {}
        local taken = getmetatable(sim).__options(sim, 'run')
        for key, option in pairs(options.of_run()) do
            assert.equal(not option.setup, contains(taken, key), key)
        end
        for _, key in ipairs { 'energy', 'series', 'series_every', 'series_steps', 'gauges' } do
            assert.is_true(contains(taken, key), key)
        end
    end)

    it('let a session sample a series at gauges', function()
        local sim, path = small {}, folder .. '/s.nc'
        sim:run { t_end = 0.05, series = path, series_every = 0.01, gauges = 'a:0.5,0.5' }
        local file = netcdf.open(path)
        assert.equal(6, file:dimensions().time)
        file:close()
    end)

    it('let a session measure energy, where the device can, and steps without it', function()
        local sim = small {}
        local ok, failure = pcall(sim.run, sim, { t_end = 0.01, energy = true })
        if not ok then return assert.matches('^option %-%-energy: ', tostring(failure)) end
        assert.truthy(sim.rates.energy or sim.rates.no_energy)
        sim:step(1)
        assert.is_nil(sim.rates.energy or sim.rates.no_energy)
    end)

    it('have their defaults in one place', function()
        local of_run = options.of_run()
        for _, key in ipairs { 'precision', 'cfl', 'maths', 'keep', 'frames', 'film_width' } do
            assert.equal(of_run[key].default, options.value({}, key))
        end
        fails("options: cfl = '7' (allowed: a number from 0.001 to 1)", options.value,
            { cfl = 7 }, 'cfl')
    end)
end)

describe('a scheme', function()
    it('finds its own options in those of the scenario, behind what is given', function()
        local o = with_words({ '--limiter=superbee', '--flux=hll', '--theta=2' }, options,
            { options.simulation, mare.euler.options })
        local euler = mare.euler { options = o, flux = 'hllc' }
        assert.same({ 'superbee', 'hllc', 2 }, { euler.limiter, euler.flux, euler.theta })
        local water = mare.shallow_water { options = { scheme = 'waf' } }
        assert.same({ 'waf', 'mc' }, { water.scheme, water.limiter })
        local ocean = mare.ocean { depth = 10, options = { scheme = 'linear', g = 1 } }
        assert.same({ 'linear', 9.81 }, { ocean.scheme, ocean.g })
        fails('euler: options: a table is wanted', mare.euler, { options = 7 })
        fails("euler: flux 'roe'", mare.euler, { options = { flux = 'roe' } })
    end)
end)
