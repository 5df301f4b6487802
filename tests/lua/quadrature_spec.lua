-- Tests means over cells: the points, and initial states of an ocean that are means.

local fails = require 'tests.fails'
local mare = require 'mare'
local quadrature = require 'mare.schemes.quadrature'

describe('quadrature', function()
    it('is exact for polynomials of degree 2 n - 1', function()
        for n = 1, 16 do
            local points = quadrature.points(n)
            for degree = 0, 2 * n - 1 do
                local sum = 0
                for _, p in ipairs(points) do sum = sum + p.weight * (p.at + 0.5) ^ degree end
                assert.near(1 / (degree + 1), sum, 1e-14)
            end
        end
    end)

    it('takes one point as it is, and weights along y', function()
        local function f(x, y) return x, y end
        assert.equal(f, quadrature.mean(1, f, 2, 1, 1))
        local mean = quadrature.mean(4, f, 2, 2, 2, function(y) return y end)
        local x, y = mean(3, 5)
        assert.near(3, x, 1e-14)
        assert.near((6 ^ 3 - 4 ^ 3) / 3 / ((6 ^ 2 - 4 ^ 2) / 2), y, 1e-13)
    end)
end)

local nx, ny = 6, 5
local grid = { nx = nx, ny = ny, x = { 0, 6 }, y = { 0, 2.5 } }

-- The unknowns that a cell begins with.
local function start(scheme, initial, points)
    local sides = { west = 'reflective', east = 'reflective', south = 'reflective',
        north = 'reflective' }
    return scheme:conserved(scheme:domain(mare.grid(grid), sides, 'double'), initial, points)
end

local function cube_mean(low, high) return (high ^ 4 - low ^ 4) / 4 / (high - low) end
local function square_mean(low, high) return (high ^ 3 - low ^ 3) / 3 / (high - low) end

describe('an initial state of means', function()
    it('has transports along the faces of a C-grid, and over cells of finite volumes', function()
        local function initial(x, y) return 0.1 * x ^ 3, y ^ 2, x ^ 2 end
        local along_y = square_mean(1.5, 2)
        local function expect(scheme, ...)
            local found = { start(mare.ocean { scheme = scheme, depth = 40 }, initial, 3)(2, 3) }
            for k, value in ipairs { ... } do assert.near(value, found[k], 1e-12) end
        end
        local eta = 0.1 * cube_mean(2, 3)
        expect('linear', eta, 40 * along_y, 40 * square_mean(2, 3))
        expect('nonlinear', eta, (40 + 0.1 * 2 ^ 3) * along_y)
        expect('cdklm', eta, (40 + eta) * along_y)
        assert.equal(0.1 * 2.5 ^ 3, (start(mare.ocean { depth = 40 }, initial)(2, 3)))
    end)
end)

describe('options of every run', function()
    it('refuse an axis for steps that do not sweep', function()
        fails(function()
            mare.simulation { grid = mare.grid(grid), scheme = mare.ocean { scheme = 'linear',
                depth = 40 }, boundaries = 'reflective', initial = function() return 0, 0, 0 end,
                options = { device = 'null:0', first = 'y' } }
        end, 'usage', '--first', "'y'", 'linear')
    end)
end)
