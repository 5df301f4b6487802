-- Tests scenarios/TUTORIAL.md: every snippet runs in one session, one after the
-- other, as a reader would type it.

local device = require 'bindings.device'
local examples = require 'mare.session.examples'
local lfs = require 'lfs'
local mare = require 'mare'
local repl = require 'mare.session.repl'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

-- Puts arrays for which no device is named onto a null device, for good. It computes what others
-- do, which specs of arrays and of transforms compare, and compiles nothing.
local function arrays_on_null()
    local open = device.open
    function device.open() return open 'null' end
    mare.zeros { 1 }:eval()
    device.open = open
end

describe('the tutorial', function()
    local folder, before, stdout

    setup(function()
        if sample(false, true) then arrays_on_null() end
        folder, before = os.tmpname(), lfs.currentdir()
        os.remove(folder)
        assert(lfs.mkdir(folder))
        assert(lfs.chdir(folder))
        stdout = io.output()
        io.output(folder .. '/shown')
    end)

    teardown(function()
        io.output():close()
        io.output(stdout)
        lfs.chdir(before)
        os.execute("rm -rf '" .. folder .. "'")
    end)

    it('has thirteen steps whose snippets do what they say', function()
        local session, steps, shown = repl.new(), examples.steps(), {}
        assert.equal(13, #steps)
        for k, step in ipairs(steps) do
            assert.is_true(#step.code > 0, step.title)
            for _, code in ipairs(step.code) do
                local status, text = session:run(code)
                assert.equal('ok', status, step.title .. '\n' .. text)
                shown[k] = text
            end
        end
        for k, expected in pairs { '^0%.3333.*\n1\n', "device .*range 2 to 2", 't_end = 2.*\n0%.5$',
            'rho %(mass density%): 256 x 128', '0$', 'true$', '0%.00%d+', 'Blast',
            'range 6 to 6.*T_eff', '\n%-?%d%.%d+',
            '366.*\n0%.02%d+', 'MR_KERNEL', '\n50 int32' } do
            assert.truthy(shown[k]:find(expected), k .. '\n' .. shown[k])
        end
        assert.equal('ok', (session:step 'examples()'))
        assert.equal('ok', (session:step 'examples(1)'))
        assert.matches('examples: 1 to 13, not 14', (select(2, session:step 'examples(14)')))
        for _, name in ipairs { 'vorticity.png', 'kh.nc', 'kh.ck' } do
            assert.truthy(lfs.attributes(folder .. '/' .. name), name)
        end
    end)

    it('has steps that each run alone, and keep their files in a folder of their own', function()
        local own = folder .. '/alone'
        assert(lfs.mkdir(own))
        for _, k in ipairs(sample({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 }, 1)) do
            assert(lfs.chdir(own))
            local status, text = repl.new():step(('examples(%d)'):format(k))
            assert.equal('ok', status, k .. ': ' .. text)
            assert.equal(own, lfs.currentdir())
        end
        assert.truthy((examples.folder .. ' '):find(trial.listing(own), 1, true))
        assert(lfs.chdir(own))
        assert.equal('ok', (repl.new():step 'examples(9)'))
        assert.equal('scale.krn', trial.listing(own .. '/' .. examples.folder):match 'scale.krn')
    end)
end)
