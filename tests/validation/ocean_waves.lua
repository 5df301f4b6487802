-- ocean_waves.lua - waves and currents of an ocean whose course is known, in boxes with sides of
-- every kind, and how the error of a scheme falls from one grid to the next.

local mare = require 'mare'

local waves = {}

local g, pi = 9.81, math.pi
local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local height = 1e-5

-- Mean absolute error of the elevation at the end, of its height.
function waves.error_of(desc)
    local exact = desc.exact
    local sim = mare.simulation {
        grid = mare.grid { nx = desc.nx, ny = desc.ny, x = { 0, desc.x }, y = { 0, desc.y } },
        scheme = mare.ocean { scheme = desc.scheme, g = g, depth = desc.H, filter = desc.filter,
            coriolis = desc.f and { f = desc.f } or nil,
            friction = desc.r and { kind = 'linear', coefficient = desc.r } or nil },
        boundaries = desc.sides, initial = function(x, y) return exact(x, y, 0) end,
        options = { device = name, precision = 'double', cfl = desc.cfl or 0.8 },
    }
    sim:aim(desc.t)
    while sim.now.t < desc.t do
        sim:step(64)
        sim:read()
        assert(not sim.now.failed, 'the run failed')
    end
    local eta, sum = sim:field 'eta', 0
    for k = 0, sim.grid.cells - 1 do
        local i, j = k % desc.nx, math.floor(k / desc.nx)
        sum = sum + math.abs(eta[k] - exact(sim.grid:x_centre(i), sim.grid:y_centre(j), desc.t))
    end
    sim:release()
    return sum / (desc.nx * desc.ny) / (desc.height or height)
end

-- The order between grids of n and 2 n, and the error on the latter.
function waves.order(problem, scheme, n)
    local coarse, fine = problem(n), problem(2 * n)
    coarse.scheme, fine.scheme = scheme, scheme
    if scheme == 'nonlinear' then coarse.filter, fine.filter = 0, 0 end
    local last = waves.error_of(fine)
    return math.log(waves.error_of(coarse) / last) / math.log(2), last
end

-- The error function, by Simpson's rule.
function waves.erf(x)
    local n, sum = 200, 0
    for k = 0, n do
        local weight = (k == 0 or k == n) and 1 or k % 2 == 1 and 4 or 2
        sum = sum + weight * math.exp(-(x * k / n) ^ 2)
    end
    return 2 / math.sqrt(pi) * sum * x / (3 * n)
end

-- A function of n cells along each, by title; those of `advects` are for schemes that do.
local problems = {}
waves.problems = problems
waves.advects = {}

function waves.poincare(kx, ky, f)
    return function(n)
        local L, H = 1000e3, 100
        local k, l = 2 * pi / L * kx, 2 * pi / L * ky
        local square = k * k + l * l
        local w = math.sqrt(f * f + g * H * square)
        return { nx = n, ny = n, x = L, y = L, H = H, f = f, sides = 'periodic',
            t = 3.1 * 2 * pi / w, exact = function(x, y, t)
                local c, s = math.cos(k * x + l * y - w * t), math.sin(k * x + l * y - w * t)
                local u = height / (H * square)
                return height * c, u * (w * k * c - f * l * s), u * (w * l * c + f * k * s)
            end }
    end
end
for sign, where in pairs { [1] = '', [-1] = ', south of the equator' } do
    problems['a Poincare wave to the north-east' .. where] = waves.poincare(1, 1, sign * 1e-4)
    problems['a Poincare wave to the south-east' .. where] = waves.poincare(1, -1, sign * 1e-4)
end

-- With the coast on the right, south of the equator on the left.
local function kelvin(f)
    return function(n)
        local L, H = 1000e3, 100
        local c, k = math.sqrt(g * H), 2 * pi / L
        local way = f > 0 and 1 or -1
        return { nx = n, ny = n, x = L, y = L, H = H, f = f, t = 2.1 * L / c,
            sides = { west = 'periodic', east = 'periodic', south = 'reflective',
                north = 'reflective' },
            exact = function(x, y, t)
                local eta = height * math.exp(-y * math.abs(f) / c)
                    * math.cos(k * (x - way * c * t))
                return eta, way * c / H * eta, 0
            end }
    end
end
problems['a Kelvin wave'] = kelvin(1e-4)
problems['a Kelvin wave, south of the equator'] = kelvin(-1e-4)

-- Along the axis of a channel, as strong as its Rossby number 0.1 allows: it stands for ever.
local function jet(f)
    return function(n)
        local L, H, V, R = 400e3, 100, 1, 40e3
        local function profile(y) return (y - 0.5 * L) / R end
        return { nx = n, ny = n, x = L, y = L, H = H, f = f, t = 2e5,
            height = math.abs(f) * V * R / g,
            sides = { west = 'periodic', east = 'periodic', south = 'reflective',
                north = 'reflective' },
            exact = function(_, y)
                local s = profile(y)
                local e = math.exp(-s * s)
                return -f * V * R / g * 0.5 * math.sqrt(pi) * waves.erf(s), V * e, 0
            end }
    end
end

-- In the balance of gravity, rotation and its own curvature, carried along by a current that a
-- sloping surface balances. The bed slopes alike, so that the water is as deep everywhere.
local function vortex(f)
    return function(n)
        local V, R, H, L, drift = 0.5, 30e3, 100, 300e3, 0.5
        local way = f > 0 and 1 or -1
        local function around(x, y, t)
            local dx = (x - drift * t + L) % L - 0.5 * L
            local dy = y - 0.5 * L
            return dx, dy, (dx * dx + dy * dy) / R ^ 2
        end
        return { nx = n, ny = n, x = L, y = L, f = f, t = 1e5, height = math.abs(f) * V * R / g,
            H = function(_, y) return H + f * drift * (y - 0.5 * L) / g end,
            sides = { west = 'periodic', east = 'periodic', south = 'reflective',
                north = 'reflective' },
            exact = function(x, y, t)
                local dx, dy, q = around(x, y, t)
                local v = way * V / R * math.exp(0.5 * (1 - q))
                local eta = -(0.5 * V ^ 2 * math.exp(1 - q)
                    + way * f * V * R * math.exp(0.5 * (1 - q))) / g
                return eta - f * drift * dy / g, drift - v * dy, v * dx
            end }
    end
end
for sign, where in pairs { [1] = '', [-1] = ', south of the equator' } do
    for title, problem in pairs { ['a geostrophic jet'] = jet,
        ['a vortex in a current'] = vortex } do
        title = title .. where
        problems[title], waves.advects[title] = problem(sign * 1e-4), true
    end
end

problems['a seiche between a wall and still water'] = function(n)
    local L, H = 300e3, 50
    local c, k = math.sqrt(g * H), 1.5 * pi / L
    local w = c * k
    return { nx = n, ny = 4, x = L, y = 4 * L / n, H = H, t = 3.3 * 2 * pi / w,
        sides = { west = 'reflective', east = { kind = 'elevation' }, south = 'reflective',
            north = 'reflective' },
        exact = function(x, _, t)
            return height * math.cos(k * x) * math.cos(w * t),
                height * c / H * math.sin(k * x) * math.sin(w * t), 0
        end }
end

-- The Bessel function of the first kind of order 0 or 1.
local function bessel(n, z)
    local term = n == 0 and 1 or z / 2
    local sum = term
    for m = 1, 40 do
        term = -term * z * z / (4 * m * (m + n))
        sum = sum + term
    end
    return sum
end

-- Over a slope, eta = J0(z) cos(w t) with z^2 by the depth (Lamb, Hydrodynamics, 186).
problems['a seiche between a wall and still water over a slope'] = function(n)
    local L, H, wall, still = 300e3, 25, 3.8317059702075, 5.5200781102863
    local slope = H * ((still / wall) ^ 2 - 1) / L
    local w = wall * slope * math.sqrt(g / H) / 2
    local function depth(x) return H + slope * x end
    local function z(x) return wall * math.sqrt(depth(x) / H) end
    return { nx = n, ny = 4, x = L, y = 4 * L / n, H = depth, t = 3.3 * 2 * pi / w,
        sides = { west = 'reflective', east = { kind = 'elevation' }, south = 'reflective',
            north = 'reflective' },
        exact = function(x, _, t)
            local u = g / w * bessel(1, z(x)) * z(x) * slope / (2 * depth(x))
            return height * bessel(0, z(x)) * math.cos(w * t), height * u * math.sin(w * t), 0
        end }
end

-- Complex numbers { re, im }.
local function times(a, b) return { a[1] * b[1] - a[2] * b[2], a[1] * b[2] + a[2] * b[1] } end
local function over(a, b)
    local d = b[1] ^ 2 + b[2] ^ 2
    return times(a, { b[1] / d, -b[2] / d })
end
local function cosine(a)
    return { math.cos(a[1]) * math.cosh(a[2]), -math.sin(a[1]) * math.sinh(a[2]) }
end
local function sine(a)
    return { math.sin(a[1]) * math.cosh(a[2]), math.cos(a[1]) * math.sinh(a[2]) }
end

-- With friction and a wall at the far end, VALIDATION 2.3: in by one side along x or y.
local function channel(kind, side)
    return function(n)
        local L, H, r, w = 100e3, 50, 5e-5, 5.6e-4
        local re, im = w * w / (g * H), -w * r / (g * H)
        local kr = math.sqrt((math.sqrt(re * re + im * im) + re) / 2)
        local k = { kr, im / (2 * kr) }
        local mouth = cosine { k[1] * L, k[2] * L }
        local function wave(s, t)
            local at = { k[1] * (L - s), k[2] * (L - s) }
            local turn = { math.cos(w * t), math.sin(w * t) }
            local eta = times(over(cosine(at), mouth), turn)
            local u = over(times(times(k, over(sine(at), mouth)), turn), { r, w })
            return height * eta[1], -g * height * u[1]
        end
        local _, c = wave(0, 0)
        local _, s = wave(0, pi / 2 / w)
        local along_x, high = side == 'west' or side == 'east', side == 'east' or side == 'north'
        local flows, sign = kind == 'flather', high and -1 or 1
        local sides = { west = 'reflective', east = 'reflective', south = 'reflective',
            north = 'reflective' }
        sides[side] = { kind = kind, constituents = { { name = 'tide', speed = math.deg(w) * 3600,
            amplitude = height, phase = 0,
            current_amplitude = flows and sign * math.sqrt(c * c + s * s) or nil,
            current_phase = flows and math.deg(math.atan2(s, c)) or nil } } }
        local B = 4 * L / n
        return { nx = along_x and n or 4, ny = along_x and 4 or n, x = along_x and L or B,
            y = along_x and B or L, H = H, r = r, t = 1.3 * 2 * pi / w, sides = sides,
            exact = function(x, y, t)
                local a = along_x and x or y
                local eta, u = wave(high and L - a or a, t)
                return eta, along_x and sign * u or 0, along_x and 0 or sign * u
            end }
    end
end
for _, side in ipairs { 'west', 'east', 'south', 'north' } do
    problems['a tide by its elevation in the ' .. side] = channel('elevation', side)
    problems['a tide by elevation and current in the ' .. side] = channel('flather', side)
end

local names = {}
for title in pairs(problems) do names[#names + 1] = title end
table.sort(names)
waves.names = names

return waves
