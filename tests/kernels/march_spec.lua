-- A step in one pass gives, on every device, the bits of one in two passes: in any shape and with
-- work-items that look at each other through local memory.

local part = require 'tests.kernels.part'

local gamma, nx, ny = 1.4, 28, 11
local gravity = { gravity = 0.7, gravity_south = -0.7, gravity_north = 0 }
local fields = 4

-- A wave, a block of high pressure and one so thin that slopes have to be bounded.
local function cells(i, j)
    i, j = i % nx, j % ny
    local x, y = 2 * math.pi * i / nx, 2 * math.pi * j / ny
    local rho, p = 1 + 0.3 * math.sin(x + 2 * y), 1 + 0.2 * math.cos(x - y)
    local u, v = 0.5 + math.sin(y), 0.4 * math.cos(x)
    if i > 5 and i < 12 and j > 5 then p = 8 * p end
    if i > 17 and i < 24 and j > 2 and j < 9 then rho, p = 0.01 * rho, 0.02 * p end
    return rho, rho * u, rho * v, p / (gamma - 1) + rho * (u * u + v * v) / 2
end

local function new_part(device, precision, filled)
    return part.new { device = device, nx = nx, ny = ny, dx = 0.5, dy = 0.25, gamma = gamma,
        precision = precision, cells = filled or cells }
end

-- No ghost cells.
local function inner_cells(i, j)
    if i >= 0 and i < nx and j >= 0 and j < ny then return cells(i, j) end
    return 0 / 0, 0 / 0, 0 / 0, 0 / 0
end

-- How many interior values differ, and how many others of b are not those of the start.
local function differences(a, b)
    local left, right, start = a.now:totable(), b.now:totable(), new_part(a.device, a.precision)
    local before, wrong, touched, inside = start.now:totable(), 0, 0, {}
    for q = 1, fields do
        for j = 0, ny - 1 do
            for i = 0, nx - 1 do
                local k = a:element(q, i, j) + 1
                inside[k] = true
                if left[k] ~= right[k] then wrong = wrong + 1 end
            end
        end
    end
    for k = 1, #right do
        if not inside[k] and right[k] ~= before[k] then touched = touched + 1 end
    end
    return wrong, touched
end

local cases = {         -- W, GROUP, DEPTH, groups; precision, flux, limiter
    { { W = 4, GROUP = 4, DEPTH = 4, groups = 3 }, 'float', 'hllc', 'mc' },
    { { W = 2, GROUP = 7, DEPTH = 3, groups = 1 }, 'double', 'hll', 'van_leer' },
    { { W = 1, GROUP = 8, DEPTH = 2, groups = 5 }, 'float', 'hllc', 'mc' },
}

for _, device in ipairs(part.devices()) do
    describe('a step in one pass on ' .. device.name, function()
        for _, case in ipairs(cases) do
            local shape, precision, flux, limiter = unpack(case)
            it(('has the bits of one in two: W = %d, %s'):format(shape.W, precision), function()
                for _, order in ipairs { 'xy', 'yx' } do
                    local two, one = new_part(device, precision), new_part(device, precision)
                    one.other:copy(one.now)
                    two:advance(order, 0.02, part.shapes[1], flux, limiter, gravity)
                    one:march(order, 0.02, shape, flux, limiter, gravity)
                    assert.same({ 0, 0 }, { differences(two, one) }, order)
                    assert.is_true(two:largest_rate() > 0)
                    assert.equal(two:largest_rate(), one:largest_rate())
                end
            end)
        end

        it('needs no ghost cells where the domain goes around', function()
            for _, order in ipairs { 'xy', 'yx' } do
                local two, one = new_part(device, 'float'), new_part(device, 'float', inner_cells)
                two:advance(order, 0.02, part.shapes[1], 'hllc', 'mc')
                one:march(order, 0.02, cases[1][1], 'hllc', 'mc', { wraps = 3 })
                assert.equal(0, (differences(two, one)))
                assert.equal(two:largest_rate(), one:largest_rate())
            end
        end)

        it('writes nothing when dt is 0', function()
            local p = new_part(device, 'float')
            p:march('xy', 0, cases[1][1], 'hllc', 'mc', gravity)
            for _, value in ipairs(p.now:totable()) do assert.equal(0, value) end
            assert.equal(0, p:largest_rate())
        end)
    end)
end
