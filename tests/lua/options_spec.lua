local fails = require 'tests.fails'
local options = require 'mare.base.options'

-- Evaluates a declaration with words or values as the source.
local function evaluate(spec, source)
    local kept = options.source
    options.source = source
    local ok, result = pcall(options, spec)
    options.source = kept
    if not ok then error(result, 0) end
    return result
end

local function refusal(spec, source)
    return fails(function() evaluate(spec, source) end, 'usage')
end

local spec = {
    title = 'Test', options.simulation,
    { name = 'nx', default = 1024 },
    { name = 'start', default = 'noise', choices = { 'noise', 'smooth' }, help = 'start from' },
    { name = 'gravity', type = 'number', default = -1.5, unit = 'm s-2' },
    { name = 'mixing', default = true },
    { name = 'note', type = 'string' },
}

describe('options', function()
    it('gives defaults, the later declaration first', function()
        local o = evaluate(spec, {})
        assert.equal(1024, o.nx)
        assert.equal(512, o.ny)
        assert.same({ 1, 1 }, o.decompose)
        assert.is_true(o.mixing)
        assert.is_false(o.quiet)
        assert.is_nil(o.out)
        assert.is_false(o:given 'nx')
    end)

    it('tells which of the shared ones change where steps end', function()
        local ends = {}
        for _, option in ipairs(options.declared { options.simulation }) do
            if option.help:find 'steps end' then ends[#ends + 1] = option.name end
        end
        assert.same({ 'every', 'times', 'series-every', 'film', 'film-every' }, ends)
    end)

    it('reads words', function()
        local o = evaluate(spec, {
            '--nx', '64', '--t-end=2e-1', '--gravity', '-9.81', '--decompose', '2x3', '--quiet',
            '--no-mixing', '--start', 'smooth', '--out', 'a b.nc',
        })
        assert.same({ 64, 0.2, -9.81, true, false, 'smooth', 'a b.nc' },
                    { o.nx, o.t_end, o.gravity, o.quiet, o.mixing, o.start, o.out })
        assert.same({ 2, 3 }, o.decompose)
        assert.is_true(o:given 'nx')
    end)

    it('reads a table of values', function()
        local values = { nx = 64, t_end = 0.5, decompose = { 4, 1 }, quiet = true, mixing = false }
        local o = evaluate(spec, values)
        assert.same({ 64, 0.5, true, false }, { o.nx, o.t_end, o.quiet, o.mixing })
        assert.same({ 4, 1 }, o.decompose)
    end)

    it('refuses with the option, the value and what is allowed', function()
        for value, allowed in pairs{
            ['--nx 0'] = 'whole number from 4 to 1048576',
            ['--nx -1'] = 'whole number from 4 to 1048576',
            ['--nx 3'] = 'whole number from 4 to 1048576',
            ['--nx 1000000000'] = 'whole number from 4 to 1048576',
            ['--nx 8.5'] = 'whole number from 4 to 1048576',
            ['--nx many'] = 'whole number from 4 to 1048576',
            ['--cfl nan'] = 'from 0.001 to 1', ['--t-end inf'] = 'at least 1e-12',
            ['--decompose 2'] = '2x2 from 1 to 1024', ['--decompose 0x1'] = '2x2 from 1 to 1024',
            ['--start calm'] = 'noise, smooth',
        } do
            local name, word = value:match '(%S+) (%S+)'
            local first = refusal(spec, { name, word }):match '[^\n]*'
            fails.says(first, name .. ':', "'" .. word .. "'", 'allowed: ', allowed)
        end
        for value, word in pairs { ['--bogus=1'] = "'--bogus'", ['--nx'] = "'--nx'",
            extra = "'extra'" } do
            fails.says(refusal(spec, { value }):match '[^\n]*', word)
        end
    end)

    it('refuses words that need another, which a session may give later', function()
        for words, file in pairs { ['--every=1'] = 'out', ['--keep=3'] = 'checkpoint',
            ['--frames=9'] = 'film' } do
            assert.truthy(refusal(spec, { words }):find(words:match '^[^=]+' .. ' wants --' .. file,
                1, true))
            evaluate(spec, { words, '--' .. file .. '=f' })
        end
        assert.equal(1, evaluate(spec, { every = 1 }).every)
        local either = { { name = 'a', default = 1, needs = { 'b', 'c' } },
            { name = 'b', type = 'path' }, { name = 'c', type = 'path', default = 'x' } }
        assert.equal(2, evaluate(either, { '--a=2' }).a)
        either[3].default = nil
        assert.truthy(refusal(either, { '--a=2' }):find('--a wants --b FILE or --c FILE', 1, true))
        local one = { either[1], either[2] }                -- a volume has no --series
        assert.truthy(refusal(one, { '--a=2' }):find('--a wants --b FILE', 1, true))
    end)

    it('has no option that a scenario withdraws', function()
        local fewer = { options.simulation, { name = 'ny', withdrawn = true } }
        assert.equal("unknown option '--ny'", (refusal(fewer, { '--ny=8' }):gsub('\n.*', '')))
        assert.equal("unknown option 'ny'", refusal(fewer, { ny = 8 }))
        local o = evaluate(fewer, { nx = 8 })
        assert.is_nil(o.ny)
        for _, entry in ipairs(o:metadata()) do assert.is_not.equal('ny', entry.name) end
        assert.equal(512, evaluate({ options.simulation }, {}).ny)
    end)

    it('refuses wrong values of a table too', function()
        assert.equal("unknown option 'nz'", refusal(spec, { nz = 1 }))
        assert.truthy(refusal(spec, { nx = 'many' }):find("option --nx: 'many'", 1, true))
        assert.equal("option --quiet: '1' (allowed: true or false)", refusal(spec, { quiet = 1 }))
        assert.truthy(refusal(spec, { start = 'calm' }):find('noise, smooth', 1, true))
    end)

    it('refuses a wrong declaration', function()
        local ok, message = pcall(evaluate, { { name = 'a', defualt = 1 } }, {})
        assert.is_false(ok)
        assert.truthy(tostring(message):find("option 'a': unknown field 'defualt'", 1, true))
        ok, message = pcall(evaluate, { { name = 'a' } }, {})
        assert.is_false(ok)
        assert.truthy(tostring(message):find("option 'a': type is missing", 1, true))
        assert.is_false((pcall(evaluate, { { name = 'a', default = 0, range = { 1 } } }, {})))
    end)

    it('is the metadata of a file, in order of declaration', function()
        local found = evaluate(spec, { '--nx', '64', '--decompose', '2x3' }):metadata()
        assert.same({ name = 'nx', value = 64, help = 'cells along x' }, found[1])
        local values = {}
        for _, item in ipairs(found) do values[item.name] = item.value end
        assert.equal('2x3', values.decompose)
        assert.equal('false', values.quiet)
        assert.is_nil(values.note)
    end)
end)
