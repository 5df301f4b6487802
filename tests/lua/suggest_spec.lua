-- Names that are unknown: each is refused, with the one that was meant where that can be told.

local errors = require 'bindings.errors'
local mare = require 'mare'
local options = require 'mare.base.options'
local suggest = require 'bindings.suggest'
local trial = require 'tests.scenarios.trial'

local function message(f, ...)
    local ok, failure = pcall(f, ...)
    assert.is_false(ok)
    return type(failure) == 'table' and failure.message or tostring(failure)
end

local function has(text, ...)
    for _, piece in ipairs { ... } do assert.truthy(text:find(piece, 1, true), text) end
end

describe('a suggestion', function()
    it('is the nearest name, if that is near', function()
        local names = { 'gamma', 'gravity', 'kelvin_helmholtz', 'kelvin_wave', 'nx', 'ny', 't_end' }
        for typed, meant in pairs { gama = 'gamma', gravtiy = 'gravity', nxx = 'nx', ['t-edn'] =
            't_end', kelvinhelmholz = 'kelvin_helmholtz', Gamma = 'gamma' } do
            assert.equal((" (did you mean '%s'?)"):format(meant), suggest(typed, names))
        end
        for _, typed in ipairs { 'colour', '', ('x'):rep(1e5), 7, 'q' } do
            assert.equal('', suggest(typed, names))
        end
    end)

    it('is in what is refused', function()
        has(message(function() return mare.eular end), "no 'eular'", "'euler'")
        has(message(mare.grid, { nxx = 3 }), "'nxx'", "mean 'nx'")
        has(message(mare.simulation, 'kelvinwave'), "'kelvinwave'", "'kelvin_wave'")
        has(message(mare.simulation 'sod', { fluxx = 'hll' }), "'fluxx'", "mean 'flux'")
        has(message(errors.fields, 'x', { colour = 1 }, { nx = 'any' }), "'colour' (allowed: nx)")
        local kept = options.source
        options.source = { '--nxx=3' }
        local text = message(options, { options.simulation })
        options.source = kept
        has(text, "unknown option '--nxx'", "mean '--nx'")
    end)

    it('is in what every public table refuses, and inner tables of functions', function()
        for _, name in ipairs(getmetatable(mare).__names()) do
            local value = mare[name]
            if type(value) == 'table' then
                local text = message(function() return value.no_such_name end)
                has(text, 'mare.', "no 'no_such_name'")
                assert.is_nil(value.__of_a_protocol)
                assert.is_nil(value[1e9])
            end
        end
        has(message(function() return mare.array.zerros end), 'mare.array', "mean 'zeros'")
        has(message(function() mare.device.cache.claer() end), 'device.cache', "mean 'clear'")
        has(message(function() return mare.tune.sweep.x end), 'mare.tune.sweep', "no 'x'")
    end)

    it('is not for Mare itself, which may ask whether a table has a field', function()
        local fields = require('bindings.tables').column({ mare.energy }, 'metr')
        assert.same({}, fields)
    end)

    it('is the one that is abbreviated', function()
        local names = { 'kelvin_helmholtz', 'kelvin_wave', 'sod', '--version', '--help' }
        for typed, meant in pairs { kh = 'kelvin_helmholtz', ['--vr'] = '--version',
            ['--ver'] = '--version' } do
            assert.equal((" (did you mean '%s'?)"):format(meant), suggest(typed, names))
        end
        for _, typed in ipairs { 'kel', 's', '--', 'eh', ('s'):rep(1e5) } do
            assert.equal('', suggest(typed, names))
        end
    end)

    it('is for what a simulation and a field do not have', function()
        local sim = mare.simulation 'sod' { nx = 16, device = trial.device, quiet = true }
        has(message(function() return sim:plt() end), "'plt'", "mean 'plot'")
        has(message(function() return sim.filed end), "'filed'", "mean 'field'")
        has(message(function() return sim:field 'rho':rnage() end), "'rnage'", "mean 'range'")
        assert.is_nil(sim.__of_a_protocol)
        sim:release()
    end)

    it('is on the command line', function()
        local launcher = require('bindings.home').launcher
        local status, text = trial.status_of(("'%s' kelvinhelmholtz"):format(launcher))
        assert.equal(2, status)
        has(text, "mean 'kelvin_helmholtz'")
        has(select(2, trial.status_of(("'%s' --versoin"):format(launcher))), "mean '--version'")
        has(select(2, trial.status_of(("'%s' --vr"):format(launcher))), "mean '--version'")
        has(select(2, trial.status_of(("'%s' docter"):format(launcher))), "mean 'doctor'")
    end)
end)

describe('help of a name that is unknown', function()
    it('is a failure, said on standard error', function()
        local command = ("'%s' help 'nosuch thing'"):format(require('bindings.home').launcher)
        local status, text = trial.status_of(command)
        assert.equal(1, status)
        has(text, "'nosuch thing'")
        has(select(2, trial.status_of(('(%s 2>/dev/null)'):format(command))), 'status 1')
        assert.is_nil(select(2, trial.status_of(('(%s 2>/dev/null)'):format(command))):find 'such')
    end)

    it('suggests a name that is near', function()
        require 'mare.session.repl'         -- whose words it knows
        local help = require 'mare.session.help'
        for typed, meant in pairs { kelvin_helmholz = 'kelvin_helmholtz', ['sim:rnu'] = 'sim:run',
            ['mare.simulatoin'] = 'simulation', mare_bufer_create = 'mare_buffer_create' } do
            local text, is_found = help.text(typed)
            assert.is_false(is_found)
            has(text, typed, ("mean '%s'"):format(meant))
        end
    end)
end)

describe('what is gone or missing', function()
    it('is said of a released simulation', function()
        local sim = mare.simulation 'sod' { nx = 16, device = trial.device, quiet = true }
        sim:release()
        sim:release()
        has(tostring(sim), 'released')
        has(message(function() sim:step() end), 'step', 'released')
    end)

    it('is the number of work-items of a watched kernel', function()
        local w = mare.watch('MR_KERNEL void f(MR_GLOBAL float *x) { x[mr_gid_x()] = 1; }',
            { device = trial.device })
        has(message(w.run, w, 'f', {}), "kernel 'f'", 'global is missing')
    end)
end)
