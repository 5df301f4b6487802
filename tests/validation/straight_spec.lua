-- Tests the flux that keeps shocks straight: contacts and shear layers exactly, a shock in a duct
-- and one that stands, both along the grid with noise on it (Quirk 1994), and slow vortices. The
-- flux without the cure fails the same test of shocks, which is tested too.

local support = require 'tests.validation.support'

local gamma = 1.4

-- Numbers from -1 to 1, the same in each run.
local function noise()
    local state = 12345
    return function()
        state = state * 16807 % 2147483647
        return 2 * state / 2147483647 - 1
    end
end

-- A shock of Mach number M: density, velocity towards it and pressure ahead, then behind.
local function jump(M)
    local rho = (gamma + 1) * M * M / ((gamma - 1) * M * M + 2)
    local u = M * math.sqrt(gamma)
    return { 1, u, 1 }, { rho, u / rho, (2 * gamma * M * M - gamma + 1) / (gamma + 1) }
end

-- A shock along the grid in n x 20 cells of size 1, at column `at`, seen by who moves at
-- `speed`, until t. Returns the largest velocity along it.
local function shock(desc)
    local ahead, behind = jump(desc.M)
    local random = noise()
    local function initial(x)
        local w, e = x < desc.at and desc.from_west and ahead or behind, 1e-6 * random()
        if not desc.from_west then w = x < desc.at and behind or ahead end
        return w[1] * (1 + e), (desc.from_west and 1 or -1) * w[2] + desc.speed,
            1e-6 * random(), w[3]
    end
    local sim = support.simulation {
        nx = desc.nx, ny = 20, x = { 0, desc.nx }, y = { 0, 20 }, flux = desc.flux,
        limiter = 'mc', cfl = 0.45, initial = initial,
        boundaries = { west = 'fixed', east = 'fixed', south = 'reflective', north = 'reflective' },
    }
    support.run_to(sim, desc.t)
    support.assert_valid(sim)
    local v, most = sim:field 'v', 0
    for k = 0, sim.grid.cells - 1 do most = math.max(most, math.abs(tonumber(v[k]))) end
    sim:release()
    return most
end

-- Into gas at rest, behind a piston; and against a wind in which it stands.
local function duct(flux)
    local u = 6 * math.sqrt(gamma)
    return shock { flux = flux, M = 6, nx = 480, at = 20, speed = u, t = 430 / u }
end

local function standing(flux, M)
    return shock { flux = flux, M = M, nx = 32, at = 12, from_west = true, speed = 0,
        t = 300 / (M * math.sqrt(gamma)) }
end

describe('the flux hllc_straight', function()
    it('keeps a shock in a duct straight, which hllc does not', function()
        support.at_most(1e-4, duct 'hllc_straight', 'duct/hllc_straight')
        support.at_least(0.1, duct 'hllc', 'duct/hllc')
    end)

    it('keeps shocks that stand straight, which hllc does not', function()
        for _, M in ipairs { 3, 7, 20 } do
            support.at_most(1e-3, standing('hllc_straight', M), 'standing/hllc_straight')
            support.at_least(0.02, standing('hllc', M), 'standing/hllc')
        end
    end)

    -- Gas of density 1 and of 10, u and v in the first, one more `jump_of_v` in the second.
    -- Returns how far density and pressure are off after 100 steps.
    local function kept(u, v, jump_of_v, precision)
        local function initial(x)
            local low = x < 16
            return low and 1 or 10, u, low and v or v + jump_of_v, 1
        end
        local sim = support.simulation { nx = 32, ny = 16, x = { 0, 32 }, y = { 0, 16 },
            flux = 'hllc_straight', limiter = 'mc', initial = initial, precision = precision }
        support.run_steps(sim, 100)
        local rho, off = sim:field 'rho', 0
        for k = 0, sim.grid.cells - 1 do
            off = math.max(off, math.abs(tonumber(rho[k]) - (k % 32 < 16 and 1 or 10)))
        end
        local p, off_p = sim:field 'p', 0
        for k = 0, sim.grid.cells - 1 do
            off_p = math.max(off_p, math.abs(tonumber(p[k]) - 1))
        end
        sim:release()
        return off, off_p
    end

    it('keeps contacts and shear layers', function()
        for _, precision in ipairs(support.precisions) do
            local off, off_of_p = kept(0, 0, 0, precision)
            assert.equal(0, off)
            support.at_most(precision == 'float' and 1e-7 or 1e-15, off_of_p, 'contact/at rest')
        end
        local off, off_of_p = kept(0, 0.7, 0.5, 'double')
        support.at_most(1e-12, math.max(off, off_of_p), 'contact/shear')
        support.at_most(1e-12, select(2, kept(0.3, 0.7, 0, 'double')), 'contact/moving')
    end)

    -- Gresho and Chan (1990) at a Mach number of the fastest ring; the exact vortex stands still.
    local function kinetic_energy_left(flux, M)
        local p0, n = 1 / (gamma * M * M), 32
        local function initial(x, y)
            local r = math.sqrt(x * x + y * y)
            local u, p = 0, p0 - 2 + 4 * math.log(2)
            if r < 0.2 then
                u, p = 5 * r, p0 + 12.5 * r * r
            elseif r < 0.4 then
                u, p = 2 - 5 * r, p0 + 12.5 * r * r + 4 - 20 * r + 4 * math.log(5 * r)
            end
            local s = r > 0 and u / r or 0
            return 1, -y * s, x * s, p
        end
        local sim = support.simulation { nx = n, ny = n, x = { -0.5, 0.5 }, y = { -0.5, 0.5 },
            flux = flux, limiter = 'mc', initial = initial, precision = 'double' }
        local function energy()
            local sum = 0
            for _, name in ipairs { 'u', 'v' } do
                local field = sim:field(name)
                for k = 0, n * n - 1 do sum = sum + tonumber(field[k]) ^ 2 end
            end
            return sum
        end
        local first = energy()
        support.run_to(sim, 1)
        local left = energy() / first
        sim:release()
        return left
    end

    it('damps a vortex of Mach 0.1 little more than hllc', function()
        local without, with = kinetic_energy_left('hllc', 0.1),
            kinetic_energy_left('hllc_straight', 0.1)
        support.show('gresho/hllc', without)
        support.show('gresho/hllc_straight', with)
        assert.is_true(1 - with < 1.25 * (1 - without))
    end)
end)
