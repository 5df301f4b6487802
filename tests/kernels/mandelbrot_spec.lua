-- Escape times in every arithmetic: known ones, exact ones at random points, and the same with and
-- without shortcuts. Known numbers: those of orbits in whole numbers, and of a grid in double.

local device = require('bindings.device').open(os.getenv 'MARE_TEST_DEVICE' or 'auto')
local random = require 'mare.base.random'
local reference = require 'tests.kernels.mandelbrot_reference'
local view = require 'mare.mandelbrot.view'

local has_double = device.info.has_double
local modes = { 'float', 'double', 'double-double', 'perturbation' }

-- A frame of one point, `right` and `up` from the centre.
local function count_at(mode, centre, limit, right, up)
    local frame = view.frames({ centre = centre, width = 1, zoom = 1, frames = 1, columns = 1,
        rows = 1, precision = mode })[1]
    frame.left, frame.top = right or 0, up or 0
    return reference.counts(device, frame, 1, 1, limit)[0]
end

local function frame_of(mode, centre, width, columns, rows)
    return view.frames({ centre = centre, width = width, zoom = 1, frames = 1, columns = columns,
        rows = rows, precision = mode })[1]
end

describe('escape times', function()
    if not has_double then
        return pending(device.name .. ' has no double', function() end)
    end

    it('are those of points that are known', function()
        local known = { ['2'] = 2, ['3'] = 1, ['0.5'] = 5, ['-2.1'] = 1, ['2i'] = 2, ['0'] = 0,
            ['-1'] = 0, ['-2'] = 0, ['1i'] = 0, ['0.25'] = 0, ['-0.75+0.1i'] = 33,
            ['-0.75+0.01i'] = 315, ['0.35'] = 8, ['0.26'] = 30, ['0.251'] = 97 }
        for _, mode in ipairs(modes) do
            for centre, n in pairs(known) do
                assert.same({ mode, centre, n }, { mode, centre, count_at(mode, centre, 400) })
            end
        end
    end)

    it('go on to 1e-100 from a point', function()
        local known = { [10] = { 33, 34 }, [20] = { 54, 54 }, [30] = { 83, 82 },
            [50] = { 134, 134 }, [100] = { 270, 271 } }
        for k, n in pairs(known) do
            local d = 10 ^ -k
            assert.same({ k, n[1] }, { k, count_at('perturbation', '1i', 400, d) })
            assert.same({ k, n[2] }, { k, count_at('perturbation', '1i', 400, d, d) })
        end
    end)

    it('are 1 just west of the tip, where |z| - 2 is less than a number holds', function()
        for k = 15, 100, 5 do
            local d = 10 ^ -k
            assert.same({ k, 1 }, { k, count_at('perturbation', '-2', 400, -d) })
            assert.is_true(count_at('perturbation', '-2', 400, d) ~= 1)
        end
        assert.equal(0, count_at('perturbation', '-2', 400))
    end)

    it('are those of a grid in double', function()
        local counts, sum, inside = reference.counts(device,
            frame_of('double', '-0.75', 2.5, 512, 512), 512, 512, 255), 0, 0
        for k = 0, 512 * 512 - 1 do
            sum, inside = sum + counts[k], inside + (counts[k] == 0 and 1 or 0)
        end
        assert.same({ 63838, 17679814 }, { inside, sum + 256 * inside })
    end)

    -- Views with points inside, of cycles too, near the boundary and outside.
    local views = {
        float = { '-0.75+0.1i', 0.3, 2000, 0 }, double = { '-0.7436438+0.1318259i', 1e-5, 2000, 1 },
        ['double-double'] = { '-0.743643887037158+0.131825904205311i', 1e-12, 2000, 0 },
        perturbation = { '-0.743643887037158704752191506114+0.131825904205311970493132056385i',
            1e-26, 3000, 0 },
    }

    for _, mode in ipairs(modes) do
        it('are exact in ' .. mode .. ' but for what its rounding decides', function()
            local centre, width, limit, decided = unpack(views[mode])
            local columns, rows, n = 48, 32, 100
            local frame = frame_of(mode, centre, width, columns, rows)
            local counts = reference.counts(device, frame, columns, rows, limit)
            local plain = reference.counts(device, frame, columns, rows, limit, false)
            assert.same(plain, counts)
            local differing = 0
            for k = 0, n - 1 do
                local i = math.floor(random.uniform(7, 2 * k) * columns)
                local j = math.floor(random.uniform(7, 2 * k + 1) * rows)
                local found = counts[j * columns + i]
                local right, rounded = reference.expected(frame, i, j, limit, found)
                assert.same({ i, j, rounded }, { i, j, found })
                if found ~= right then differing = differing + 1 end
            end
            assert.equal(decided, differing)
        end)
    end
end)
