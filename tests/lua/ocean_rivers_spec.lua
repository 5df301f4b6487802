-- Tests rivers: their volume, rating curves, uniform flow down a slope, and what is refused.

local fails = require 'tests.fails'
local mare = require 'mare'
local sample = require 'tests.sample'

local g = 9.81
local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local schemes = { 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' }

local function still() return 0, 0, 0 end

local function bay(scheme, rivers, more)
    local desc = {
        grid = mare.grid { nx = 12, ny = 10, x = { 0, 12e3 }, y = { 0, 10e3 } },
        scheme = mare.ocean { scheme = scheme, g = g, depth = 20, rivers = rivers,
            coriolis = { f = 1e-4 } },
        boundaries = 'reflective', initial = still,
        options = { device = name, precision = 'double', cfl = 0.8 },
    }
    for key, value in pairs(more or {}) do desc.options[key] = value end
    return mare.simulation(desc)
end

local function advance(sim, t)
    sim:aim(t)
    while sim.now.t < t do
        sim:step(50)
        sim:read()
        assert.is_false(sim.now.failed)
    end
    return sim
end

local function volume(sim)
    local eta, sum = sim:stored 'eta', 0
    for k = 0, sim.grid.cells - 1 do sum = sum + tonumber(eta[k]) end
    return sum * sim.grid.dx * sim.grid.dy
end

describe('rivers', function()
    -- 40 m3/s in the west all the time, 100 in the south by a table, 30 taken from within.
    local three = { { side = 'west', from = 2e3, to = 5e3, flow = 40 },
        { side = 'south', from = 0, to = 6e3,
            flow = { times = { 600, 1200, 3000 }, series = { 0, 100, 100 } } },
        { at = { 7.5e3, 6.5e3 }, flow = -30 } }

    for _, scheme in ipairs(sample(schemes, 1)) do
        it('bring just the volume of their flow, with ' .. scheme, function()
            local t = 3000
            local sim = advance(bay(scheme, three), t)
            local split = advance(bay(scheme, three, { decompose = { 3, 2 } }), t)
            local eta, other = sim:stored 'eta', split:stored 'eta'
            for k = 0, sim.grid.cells - 1 do assert.equal(eta[k], other[k]) end
            -- the table's corners lie within steps, of which the middle counts
            local wanted = 10 * t + 100 * (300 + 1800)
            assert.is_true(math.abs(volume(sim) / wanted - 1) < 1e-3)
            local before = volume(sim)
            advance(sim, 2 * t)
            assert.near(110 * t, volume(sim) - before, 1e-9 * before)
            assert.is_true(eta[0] > 0)
            sim:release()
            split:release()
        end)
    end

    -- What leaves is 25 m2/s times the elevation: in 600 x 500 m it falls like exp(-t / 12000 s).
    it('leave by a rating curve', function()
        local out = { { side = 'east', rating = { { 0, 0 }, { 2, 50 } } } }
        for _, scheme in ipairs(sample({ 'linear', 'nonlinear', 'cdklm' }, 1)) do
            local sim = mare.simulation {
                grid = mare.grid { nx = 12, ny = 10, x = { 0, 600 }, y = { 0, 500 } },
                scheme = mare.ocean { scheme = scheme, g = g, depth = 20, rivers = out },
                boundaries = 'reflective', initial = function() return 1, 0, 0 end,
                options = { device = name, precision = 'double', cfl = 0.8 },
            }
            local first, t = volume(sim), 600
            advance(sim, t)
            local wanted = math.exp(-25 * t / (600 * 500))
            assert.is_true(math.abs(volume(sim) / first / wanted - 1) < 1e-3)
            sim:release()
        end
    end)

    -- A channel 2 km long and 50 m wide falls by 1 m in 1000 m. Manning's n = 0.03 lets 100 m3/s
    -- flow at a depth of (q n / sqrt(S))^(3/5), and the curve at its lower end is that law.
    it('flow down a slope at the depth that friction wants', function()
        local n, slope, width, length, q = 0.03, 1e-3, 50, 2000, 2
        local depth = (q * n / math.sqrt(slope)) ^ 0.6
        local function bed(x) return 2 + slope * (x - length / 2) end
        local last, curve = bed(length - 10), {}
        for k = 0, 80 do
            local h = 0.05 * k
            curve[k + 1] = { h - last, width * h ^ (5 / 3) * math.sqrt(slope) / n }
        end
        local sim = mare.simulation {
            grid = mare.grid { nx = 100, ny = 4, x = { 0, length }, y = { 0, width } },
            scheme = mare.ocean { scheme = 'cdklm', g = g, depth = bed,
                friction = { kind = 'manning', coefficient = n },
                rivers = { { side = 'west', flow = width * q },
                    { side = 'east', rating = curve } } },
            boundaries = 'reflective', initial = function(x) return 1 - bed(x), 0, 0 end,
            options = { device = name, precision = 'double', cfl = 0.9 },
        }
        advance(sim, 4000)
        local eta, hu = sim:stored 'eta', sim:field 'hu'
        for _, i in ipairs { 30, 50, 70 } do
            local h = tonumber(eta[i]) + bed(sim.grid:x_centre(i))
            assert.is_true(math.abs(h / depth - 1) < 0.01, tostring(h / depth))
            assert.is_true(math.abs(hu[i] / q - 1) < 1e-3, tostring(hu[i]))
        end
        sim:release()
    end)

    it('add up in a cell where several come in', function()
        local at = { 0.5e3, 3.5e3 }
        local many = { { side = 'west', from = 2e3, to = 5e3, flow = 40 }, { at = at, flow = -25 },
            { at = at, flow = 60 }, { at = at, flow = 25 } }
        for _, scheme in ipairs(sample(schemes, 1)) do
            local sim, t = advance(bay(scheme, many), 600), 600
            assert.is_true(math.abs(volume(sim) / (100 * t) - 1) < 1e-9, scheme)
            sim:release()
        end
    end)

    it('are refused where they cannot be', function()
        local function refused(river, ...)
            local ok, err = pcall(bay, 'cdklm', { river })
            assert.is_false(ok)
            fails.says(err.message, 'river 1', ...)
        end
        refused({ side = 'up', flow = 1 }, 'up', 'west')
        refused({ side = 'west' }, 'flow', 'rating')
        refused({ flow = 1 }, 'side', 'at')
        refused({ at = { 13e3, 0 }, flow = 1 }, '(13000, 0)', 'outside')
        refused({ side = 'west', flow = 'much' }, 'flow', 'number')
        refused({ side = 'west', from = 20e3, flow = 1 }, 'no water')
        refused({ side = 'west', rating = { { 1, 2 }, { 0, 3 } } }, 'rating 2', 'rise')
        refused({ side = 'west', rating = {} }, 'rating', 'least one')
    end)
end)
