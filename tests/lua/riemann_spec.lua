local riemann = require 'mare.schemes.riemann'

-- p*, u*, rho*L, rho*R after Toro (2009), tables 4.2 and 4.3, with more digits
local cases = {
    sod = { { 1, 0, 1 }, { 0.125, 0, 0.1 },
        0.3031301781, 0.9274526200, 0.4263194282, 0.2655737117 },
    toro1 = { { 1, 0.75, 1 }, { 0.125, 0, 0.1 },
        0.4662935668, 1.360905519, 0.5798666875, 0.3397002349 },
    toro2 = { { 1, -2, 0.4 }, { 1, 2, 0.4 },
        0.001893873420, 0, 0.02185211821, 0.02185211821 },
    toro3 = { { 1, 0, 1000 }, { 1, 0, 0.01 },
        460.8937875, 19.59745139, 0.5750622985, 5.999240705 },
    toro4 = { { 5.99924, 19.5975, 460.894 }, { 5.99242, -6.19633, 46.0950 },
        1691.646955, 8.689774412, 14.28234995, 31.04260164 },
    chapter4 = { { 1, 0, 0.01 }, { 1, 0, 100 },
        46.09504425, -6.19632825, 5.992416864, 0.5751127898 },
}

local function near(expected, value)
    assert.is_true(math.abs(value - expected) <= 1e-9 * math.max(1, math.abs(expected)),
        string.format('%.12g, expected %.12g', value, expected))
end

describe('exact Riemann solution', function()
    for name, case in pairs(cases) do
        it('has the published middle states of ' .. name, function()
            local solution = riemann.solve(case[1], case[2], 1.4)
            near(case[3], solution.p)
            near(case[4], solution.u)
            near(case[5], (solution:sample(solution.u - 1e-9)))
            near(case[6], (solution:sample(solution.u + 1e-9)))
        end)
    end

    it('keeps the outer states and has the wave positions of Sod at t = 0.2', function()
        local solution = riemann.solve(cases.sod[1], cases.sod[2], 1.4)
        local function rho(x) return (solution:sample((x - 0.5) / 0.2)) end
        assert.equal(1, rho(0.26335))
        assert.is_true(rho(0.26337) < 1)                        -- head of the fan, 0.2633568
        near(solution:sample(0), rho(0.4859455))                -- its tail, 0.4859454
        assert.is_true(rho(0.68549) > 0.42 and rho(0.685491) < 0.27)    -- contact, 0.6854905
        assert.is_true(rho(0.85043) > 0.26)                     -- shock, 0.8504311
        assert.equal(0.125, rho(0.850432))
    end)

    it('refuses a vacuum and states that are none', function()
        assert.has_error(function() riemann.solve({ 1, -10, 1 }, { 1, 10, 1 }, 1.4) end)
        assert.has_error(function() riemann.solve({ 0, 0, 1 }, { 1, 0, 1 }, 1.4) end)
    end)
end)
