-- Tests mare.study: a table of runs over options, each of which is the run of the scenario.

local fails = require 'tests.fails'
local mare = require 'mare'
local trial = require 'tests.scenarios.trial'

local function study(more)
    local desc = { scenario = 'sod', options = { t_end = 0.02, device = trial.device },
        over = { nx = { 20, 40 }, limiter = { 'minmod', 'mc' } },
        measure = function(result) return { error = result.error.rho } end }
    for key, value in pairs(more or {}) do desc[key] = value end
    return mare.study(desc)
end

describe('a study', function()
    it('has a row for each choice of its options', function()
        local found = study()
        assert.equal(4, #found)
        local seen = {}
        for k, row in ipairs(found) do
            seen[k] = row.limiter .. row.nx
            assert.is_true(row.steps > 0 and row.seconds > 0)
        end
        assert.same({ 'minmod20', 'minmod40', 'mc20', 'mc40' }, seen)
        local alone = mare.simulation 'sod' { nx = 40, limiter = 'mc', t_end = 0.02, quiet = true,
            device = trial.device, image = 'none' }
        assert.equal(alone:finish().error.rho, found[4].error)
        assert.equal(alone.steps, found[4].steps)
    end)

    it('is shown as a table, and written for other programs', function()
        local found, folder = study(), trial.new_folder()
        local lines = {}
        for line in tostring(found):gmatch '[^\n]+' do lines[#lines + 1] = line end
        assert.equal(5, #lines)
        assert.matches('^limiter%s+nx%s+error%s+seconds%s+steps$', lines[1])
        assert.matches('^minmod%s+20%s+0%.', lines[2])
        found[1].failure = 'so, "it" failed'
        found:write(folder .. '/a.csv')
        local text = trial.slurp(folder .. '/a.csv')
        assert.matches('^limiter,nx,error,failure,seconds,steps\nminmod,20,', text)
        assert.truthy(text:find('"so, ""it"" failed"', 1, true))
        assert.truthy(text:find(('%.17g'):format(found[2].error), 1, true))
        trial.remove(folder)
    end)

    it('goes on where a run fails, and says why', function()
        local unmute = require('mare.base.events').mute()
        local found = study { over = { nx = { 1, 20 } } }
        unmute()
        assert.matches('nx', found[1].failure)
        assert.is_nil(found[2].failure)
    end)

    it('refuses what it cannot run over', function()
        fails(function() study { over = { nx = 3 } } end, 'MARE_ERROR_ARGUMENT', 'over.nx')
        fails(function() study { scenarios = 'sod' } end, 'MARE_ERROR_ARGUMENT', 'scenarios')
        fails(function() mare.study {} end, 'MARE_ERROR_ARGUMENT', 'scenario is missing')
    end)
end)
