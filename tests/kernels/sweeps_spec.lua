-- The Euler sweeps on every device: against the reference in Lua, and what must hold bit for bit.

local choices = require 'mare.schemes.choices'
local euler = require 'mare.schemes.euler'
local part = require 'tests.kernels.part'
local reference = require 'tests.kernels.reference'
local sample = require 'tests.sample'
local tables = require 'bindings.tables'

local gamma, nx, ny, dx, dy = 1.4, 29, 22, 0.5, 0.25

-- Periodic: smooth, with a block of high pressure and one of low density.
local function cells(i, j)
    i, j = i % nx, j % ny
    local x, y = 2 * math.pi * i / nx, 2 * math.pi * j / ny
    local rho, p = 1 + 0.3 * math.sin(x + 2 * y), 1 + 0.2 * math.cos(x - y)
    local u, v = 0.5 + math.sin(y), 0.4 * math.cos(x)
    if i > 5 and i < 12 and j > 7 and j < 13 then p = 8 * p end
    if i > 17 and i < 24 and j > 2 and j < 9 then rho = 0.1 * rho end
    return rho, rho * u, rho * v, p / (gamma - 1) + rho * (u * u + v * v) / 2
end

local function new_part(device, precision, changes)
    local desc = {
        device = device, nx = nx, ny = ny, dx = dx, dy = dy, gamma = gamma, precision = precision,
        cells = cells,
    }
    for key, value in pairs(changes or {}) do desc[key] = value end
    return part.new(desc)
end

-- The largest difference of two states relative to the largest value of the field.
local function distance(a, b, width, height)
    local worst = 0
    for q = 1, 4 do
        local difference, largest = 0, 0
        for j = 0, height - 1 do
            for i = 0, width - 1 do
                local d = math.abs(a(q, i, j) - b(q, i, j))
                if d ~= d then return d end
                difference = math.max(difference, d)
                largest = math.max(largest, math.abs(b(q, i, j)))
            end
        end
        if difference > 0 then worst = math.max(worst, difference / largest) end
    end
    return worst
end

local function initial(q, i, j) return (select(q, cells(i, j))) end

local function reference_step(order, dt, flux, limiter)
    local state = initial
    for axis in order:gmatch '.' do
        local k = dt / (axis == 'x' and dx or dy)
        state = reference.sweep(state, nx, ny, axis, k, gamma, flux, limiter)
    end
    return state
end

local dt = 0.4 / reference.rate(initial, nx, ny, gamma, dx, dy)
local fluxes = tables.keys(euler.fluxes)
local some = sample(fluxes, { 'hllc' })     -- which other tests here compile
local bounds = { float = 2e-6, double = 4e-15 }
local cases = {}        -- each limiter and flux, each kernel, each precision; not all combinations
for _, order in ipairs { 'xy', 'yx' } do
    for _, precision in ipairs { 'float', 'double' } do
        for _, flux in ipairs(fluxes) do cases[#cases + 1] = { order, 'mc', flux, precision } end
    end
    for _, limiter in ipairs(tables.keys(choices.limiters)) do
        cases[#cases + 1] = { order, limiter, 'hllc', 'float' }
    end
end

for _, device in ipairs(part.devices()) do
    describe('Euler sweeps on ' .. device.name, function()
        for _, case in ipairs(sample(cases, 2)) do
            local order, limiter, flux, precision = unpack(case)
            it('agree with the reference: ' .. table.concat(case, ', '), function()
                local p = new_part(device, precision)
                p:advance(order, dt, part.shapes[1], flux, limiter)
                local error = distance(p:values(), reference_step(order, dt, flux, limiter), nx, ny)
                assert.is_true(error <= bounds[precision], ('off by %g'):format(error))
            end)
        end

        it('give the same bits in every shape', function()
            local gravity = { gravity = 0.7, south = -1, north = 0 }
            for _, order in ipairs(sample({ 'xy', 'yx' }, 1)) do
                local first
                for _, shape in ipairs(part.shapes) do
                    local p = new_part(device, 'float')
                    p:advance(order, dt, shape, 'hllc', 'mc', gravity)
                    first = first or p:values()
                    assert.equal(0, distance(p:values(), first, nx, ny))
                end
            end
        end)

        it('give the transposed bits for the transposed problem', function()
            for _, flux in ipairs(some) do
                local p = new_part(device, 'float')
                p:advance('xy', dt, part.shapes[1], flux, 'mc')
                local transposed = new_part(device, 'float', {
                    nx = ny, ny = nx, dx = dy, dy = dx,
                    cells = function(i, j)
                        local rho, mu, mv, energy = cells(j, i)
                        return rho, mv, mu, energy
                    end,
                })
                transposed:advance('yx', dt, part.shapes[1], flux, 'mc')
                local values, swap = transposed:values(), { 1, 3, 2, 4 }
                local function back(q, i, j) return values(swap[q], j, i) end
                assert.equal(0, distance(back, p:values(), nx, ny))
                assert.equal(p:largest_rate(), transposed:largest_rate())
            end
        end)

        it('begin with the same signal rate in the transposed problem', function()
            for k = 1, 20 do        -- each state's fastest cell is another one
                local function shifted(i, j)
                    local rho, mu, mv, energy = cells(i, j)
                    return rho, mu + k / 7, mv, energy + 3 * k
                end
                local function turned(i, j)
                    local rho, mu, mv, energy = shifted(j, i)
                    return rho, mv, mu, energy
                end
                local p = new_part(device, 'float', { cells = shifted })
                local transposed = new_part(device, 'float', {
                    nx = ny, ny = nx, dx = dy, dy = dx, cells = turned })
                assert.equal(p:measure(2, 2, 4), transposed:measure(2, 2, 4))
            end
        end)

        it('give the mirrored bits for the mirrored problem', function()
            local limiter = sample('van_leer', 'mc')
            for _, flux in ipairs(some) do
                local p = new_part(device, 'float')
                p:advance('xy', dt, part.shapes[1], flux, limiter)
                local mirrored = new_part(device, 'float', { cells = function(i, j)
                    local rho, mu, mv, energy = cells(nx - 1 - i, j)
                    return rho, -mu, mv, energy
                end })
                mirrored:advance('xy', dt, part.shapes[2], flux, limiter)
                local values, sign = mirrored:values(), { 1, -1, 1, 1 }
                local function back(q, i, j) return sign[q] * values(q, nx - 1 - i, j) end
                assert.equal(0, distance(back, p:values(), nx, ny))
            end
        end)

        it('leave a uniform state as it is, bit for bit', function()
            for _, flux in ipairs(some) do
                local function uniform() return 1.1, 0.37, -0.73, 2.9 end
                local p = new_part(device, 'float', { cells = uniform })
                local before = p:values()
                p:advance('xy', dt, part.shapes[1], flux, 'mc')
                p:advance('yx', dt, part.shapes[1], flux, 'mc')
                assert.equal(0, distance(p:values(), before, nx, ny))
            end
        end)

        it('keep a contact at rest exactly with HLLC, and not with HLL', function()
            local function contact(i) return i < 14 and 1 or 0.125, 0, 0, 2.5 end
            local kept = {}
            for _, flux in ipairs { 'hllc', 'hll' } do
                local p = new_part(device, 'float', { cells = contact })
                local before = p:values()
                p:advance('xy', dt, part.shapes[1], flux, 'mc')
                kept[flux] = distance(p:values(), before, nx, ny) == 0
            end
            assert.same({ hllc = true, hll = false }, kept)
        end)

        it('change no bit and write no maxima when dt is 0', function()
            local p = new_part(device, 'float')
            local before = p:values()
            p:advance('xy', 0, part.shapes[1], 'hllc', 'mc')
            p:advance('yx', 0, part.shapes[1], 'hllc', 'mc')
            assert.equal(0, distance(p:values(), before, nx, ny))
            assert.equal(0, p:largest_rate())
        end)

        it('write nothing beyond the interior of the state', function()
            for _, order in ipairs { 'xy', 'yx' } do
                local p = new_part(device, 'float')
                local before = p.now:totable()
                p:advance(order, dt, part.shapes[1], 'hllc', 'mc')
                local after = p.now:totable()
                for q = 1, 4 do
                    for j = 0, ny - 1 do
                        for i = 0, nx - 1 do
                            local k = p:element(q, i, j) + 1
                            after[k] = before[k]
                        end
                    end
                end
                assert.same(before, after)
            end
        end)

        it('fall freely: gravity is exact and the same before and after the sweep', function()
            local g = 0.3
            local values = { gravity = g }
            for _, order in ipairs { 'xy', 'yx' } do
                local p = new_part(device, 'double', { cells = function() return 2, 0.5, 0, 3 end })
                p:advance(order, dt, part.shapes[1], 'hllc', 'mc', values)
                local v = -g * dt
                assert.near(2 * v, p:values()(3, 3, 4), 1e-15)
                assert.near(3 + v * v, p:values()(4, 3, 4), 1e-15)
            end
        end)

        it('let a source act on ghost rows as on what they stand for', function()
            local function fall(sign, v)        -- ghost rows in the south hold a momentum v
                local p = new_part(device, 'double', { cells = function(_, j)
                    return 2, 0, j < 0 and v or 0, j < 0 and 4 + v * v / 4 or 4
                end })
                p:advance('yx', 0.25, part.shapes[1], 'hllc', 'mc', { gravity = 2, south = sign })
                return p:values()
            end
            assert.equal(0, distance(fall(1, 0), fall(0, -1), nx, ny))      -- as inside
            assert.equal(0, distance(fall(-1, 0), fall(0, 1), nx, ny))      -- mirrored
            assert.not_equal(0, distance(fall(-1, 0), fall(1, 0), nx, ny))
        end)
    end)
end
