-- The order of the Euler scheme on smooth flow, against exact solutions, in double precision.

local mare = require 'mare'

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local gamma = 1.4

-- Mean over a cell of a function of position with several values, by 2 x 2 Gauss points.
local function mean(f, x, y, dx, dy)
    local s, a = { 0, 0, 0, 0 }, 0.5 / math.sqrt(3)
    for _, sx in ipairs { -a, a } do
        for _, sy in ipairs { -a, a } do
            local v = { f(x + sx * dx, y + sy * dy) }
            for k = 1, #v do s[k] = s[k] + 0.25 * v[k] end
        end
    end
    return s[1], s[2], s[3], s[4]
end

-- The L1 error of density after a run from `flow`, which returns to itself at t_end. `flow` gives
-- density, velocity and pressure.
local function error_after(flow, n, box, t_end)
    local grid = mare.grid { nx = n, ny = n, x = box, y = box }
    local scheme = mare.euler { gamma = gamma, limiter = 'mc' }
    local function conserved(x, y) return scheme:conserved(flow(x, y)) end
    local function means(x, y)
        local rho, mx, my, energy = mean(conserved, x, y, grid.dx, grid.dy)
        local kinetic = 0.5 * (mx * mx + my * my) / rho
        return rho, mx / rho, my / rho, (gamma - 1) * (energy - kinetic)
    end
    local sim = mare.simulation { grid = grid, scheme = scheme, boundaries = 'periodic',
        initial = means, options = { device = name, precision = 'double', cfl = 0.45 } }
    mare.run.loop(sim, { t_end = t_end, quiet = true })
    local rho, sum = sim:field 'rho', 0
    for j = 0, n - 1 do
        for i = 0, n - 1 do
            local exact = mean(conserved, grid:x_centre(i), grid:y_centre(j), grid.dx, grid.dy)
            sum = sum + math.abs(rho[j * n + i] - exact)
        end
    end
    return sum / (n * n)
end

local function order(flow, box, t_end)
    local coarse = error_after(flow, 128, box, t_end)
    local fine = error_after(flow, 256, box, t_end)
    return math.log(coarse / fine) / math.log(2), coarse, fine
end

-- A wave of density carried once around the box by a uniform flow.
local function wave(u, v)
    return function(x, y)
        local phase = 2 * math.pi * ((u ~= 0 and x or 0) + (v ~= 0 and y or 0))
        return 1 + 0.2 * math.sin(phase), u, v, 1
    end
end

-- A sound wave of speed 1, too weak to steepen, once through the box.
local function sound(along_x)
    return function(x, y)
        local a = 1e-6 * math.sin(2 * math.pi * (along_x and x or y))
        return 1 + a, along_x and a or 0, along_x and 0 or a, 1 / gamma + a
    end
end

-- The isentropic vortex (Shu 1998), strength 5, carried once through the box along the diagonal.
local function vortex(x, y)
    local r2, beta = x * x + y * y, 5
    local du = beta / (2 * math.pi) * math.exp(0.5 * (1 - r2))
    local t = 1 - (gamma - 1) * beta ^ 2 / (8 * gamma * math.pi ^ 2) * math.exp(1 - r2)
    local rho = t ^ (1 / (gamma - 1))
    return rho, 1 - du * y, 1 + du * x, rho * t
end

-- flow, box, time, and the L1 errors measured with PoCL at 128 and 256 cells
local cases = {
    ['wave along x'] = { wave(1, 0), { 0, 1 }, 1, 1.9861e-4, 4.7421e-5 },
    ['wave along y'] = { wave(0, 1), { 0, 1 }, 1, 1.9861e-4, 4.7421e-5 },
    ['wave along the diagonal'] = { wave(1, 1), { 0, 1 }, 1, 3.6404e-4, 8.9930e-5 },
    ['sound along x'] = { sound(true), { 0, 1 }, 1, 4.6294e-10, 9.3732e-11 },
    ['sound along y'] = { sound(false), { 0, 1 }, 1, 4.6294e-10, 9.3732e-11 },
    ['isentropic vortex'] = { vortex, { -10, 10 }, 20, 4.9157e-4, 9.8105e-5 },
}

describe('Euler, order between 128 and 256 cells:', function()
    for title, case in pairs(cases) do
        it(title, function()
            local found, coarse, fine = order(case[1], case[2], case[3])
            local text = string.format('order %.3f, L1 errors %.4e, %.4e', found, coarse, fine)
            assert.is_true(found >= 1.9, text)
            assert.is_true(math.abs(coarse / case[4] - 1) < 1e-3, text)
            assert.is_true(math.abs(fine / case[5] - 1) < 1e-3, text)
        end)
    end
end)
