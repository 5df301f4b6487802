-- volumes.lua - gas in three dimensions: where it is constant along z it has the bits of two
-- dimensions, also where it is torn apart; a wave comes in through sides that are functions, with
-- the second order; a blast has the radius of theory; vortices lose energy
-- only where they become small.
--     build/mare tests/long/volumes.lua [DEVICE [CELLS]]
-- CELLS of the blast and the vortices along an axis, 32 if not given.

local home = require 'bindings.home'
local gas = require 'tests.gas_in_lua'
local mare = require 'mare'

local device, n = arg[1] or 'auto', tonumber(arg[2] or 32)
local failed = 0

local function check(what, good, ...)
    print(('%-6s %s'):format(good and 'ok' or 'FAILED', what:format(...)))
    failed = failed + (good and 0 or 1)
end

-- ---- two dimensions ----

-- What lies beyond sides that are functions.
local function beyond(q, x, y, t)
    return q.rho * (1 + 0.1 * math.sin(9 * (x + t))), q.u.x + 0.1 * y, 0.3 - q.u.y, q.p + 0.01 * x
end

-- Sides of both grids: all of a kind, or functions.
local function sides_of(kind)
    if kind ~= 'functions' then return kind, kind end
    local function in_space(q, x, y, _, t)
        local rho, u, v, p = beyond(q, x, y, t)
        return rho, u, v, 0, p
    end
    return beyond, { west = in_space, east = in_space, south = in_space, north = in_space,
        low = 'periodic', high = 'periodic' }
end

-- Smooth, with a strong jump, and parting so fast that faces are no states.
local states = {
    smooth = function(x, y) return 1 + 0.2 * math.sin(6 * x), 0.5, 0.3 * math.cos(6 * y), 1 end,
    jump = function(x, y)
        return (x - 0.5) ^ 2 + (y - 0.4) ^ 2 < 0.05 and 10 or 1, 0.1, x * y, x < 0.3 and 20 or 0.1
    end,
    torn = function(x, y)
        local is_inside = (x - 0.5) ^ 2 + (y - 0.5) ^ 2 < 0.04
        return is_inside and 10 or 0.01, x < 0.5 and -1 or 1, y < 0.5 and -1 or 1,
            is_inside and 0.01 or 30
    end,
}

-- Two steps in space have one dt, so that it is given: some 0.4 of what the fastest signals allow.
local dt = { smooth = 2.5e-3, jump = 8e-4, torn = 6e-5 }

local function options(name, precision)
    return { device = device, precision = precision, maths = 'strict', dt = dt[name] }
end

local function compare(name, initial, precision, boundaries, cells)
    local unit, around, in_space = { 0, 1 }, sides_of(boundaries)
    local plane = mare.simulation.new { scheme = gas { parameters = { gamma = 1.4 } },
        grid = mare.grid { nx = cells, ny = cells, x = unit, y = unit }, initial = initial,
        boundaries = around, options = options(name, precision) }
    local space = mare.volume.simulation { scheme = mare.volume.euler {}, options =
        options(name, precision), boundaries = in_space,
        grid = { nx = cells, ny = cells, nz = 5, x = unit, y = unit, z = unit },
        initial = function(x, y)
            local rho, u, v, p = initial(x, y)
            return rho, u, v, 0, p
        end }
    for _, sim in ipairs { plane, space } do
        sim:aim(1)
        sim:step(12)
        sim:read()
    end
    local a, b, differ, at = plane:field 'rho', space:field 'rho', 0, 0
    for _ = 1, 5 do
        for k = 0, cells * cells - 1 do
            differ, at = differ + (a[k] == b[at] and 0 or 1), at + 1
        end
    end
    check('%s, %s, %s, %d^2: %d cells differ from those in two dimensions after %d steps',
        differ == 0 and plane.now.t == space.now.t, name, precision, boundaries, cells, differ,
        space.now.steps)
    plane:release()
    space:release()
end

for name, initial in pairs(states) do
    for _, precision in ipairs { 'float', 'double' } do
        for _, boundaries in ipairs { 'periodic', 'reflective', 'outflow', 'functions' } do
            compare(name, initial, precision, boundaries, boundaries == 'reflective' and 70 or 71)
        end
    end
end

local found = mare.volume.euler({}):check { device = device }
check('%d numbers of its functions on the device differ from plain Lua', found.different == 0,
    found.different)

-- ---- sources ----

-- Steps through a source of place and time, between walls of a kind, and changes the state on the
-- way. Returns the state and the end.
local function feed(boundaries, slabs, steps)
    local sim = mare.volume.simulation { boundaries = boundaries, slabs = slabs,
        options = { device = device, precision = 'double' },
        initial = function() return 1, 0, 0, 0 end,
        grid = { nx = 13, ny = 10, nz = 12, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 2 } },
        scheme = mare.equations { dimensions = 3, fields = { 'u', mare.vector 'v' },
            parameters = { c = mare.vector(0.3, 0.2, 1) },
            flux = function(q, p)
                return p.c.n * q.u, p.c.n * q.v.n, p.c.n * q.v.t, p.c.n * q.v.b
            end,
            speed = function(_, p) return p.c.n, p.c.n end,
            source = function(q, x, y, z, t) return t - q.u + z - 1, x, y - q.v.y, q.v.x * z end } }
    sim:aim(1)
    for _, count in ipairs(steps) do
        sim:step(count)
        sim:read()
        if sim.now.steps == 4 then
            sim:change(function(q, x, _, z, now) return q.u, q.v.x + z, q.v.y * now, q.v.z - x end)
            sim:aim(1)
        end
    end
    local u, v, mean, t = sim:field 'u', sim:field 'v_z', sim:integral 'u' / 2, sim.now.t
    sim:release()
    return u, v, mean, t
end

local mixed = { west = function(q, x, y, z, t) return t - x, y * q.u, z, q.v.y end,
    high = function(q, _, y, z) return q.u + z, q.v.x, y, 0 end,
    east = 'outflow', south = 'periodic', north = 'periodic', low = 'reflective' }

for _, boundaries in ipairs { 'periodic', 'reflective', 'outflow', mixed } do
    local u, v, mean, t = feed(boundaries, 1, { 4, 3 })
    local again, w = feed(boundaries, 3, { 1, 3, 2, 1 })
    local off, differ = math.abs(mean - (t - 1 + 2 * math.exp(-t))), 0
    for k = 0, 13 * 10 * 12 - 1 do
        differ = differ + (u[k] == again[k] and v[k] == w[k] and 0 or 1)
    end
    check('source, %s: %d cells differ in three slabs and steps one by one', differ == 0,
        boundaries == mixed and 'two functions' or boundaries, differ)
    if boundaries == 'periodic' then
        check('source: the mean is off by %.1e', off < 2e-3, off)
    end
end

-- ---- a wave that comes in ----

local function wave(x, y, z, t)
    return 1 + 0.3 * math.sin(6 * (x - 0.5 * t) + 4 * (y - 0.3 * t) - 5 * (z - 0.7 * t))
end

-- Returns the mean error at t = 0.4 of `cells` along each axis.
local function error_of(cells)
    local unit, sum, at = { 0, 1 }, 0, 0
    local sim = mare.volume.simulation { options = { device = device, precision = 'double',
            dt = 0.4 / cells },
        boundaries = function(_, x, y, z, t) return wave(x, y, z, t) end,
        grid = { nx = cells, ny = cells - 2, nz = cells + 3, x = unit, y = unit, z = unit },
        initial = function(x, y, z) return wave(x, y, z, 0) end,
        scheme = mare.equations { dimensions = 3, fields = { 'u' },
            parameters = { c = mare.vector(0.5, 0.3, 0.7) },
            flux = function(q, p) return p.c.n * q.u end,
            speed = function(_, p) return p.c.n, p.c.n end } }
    sim:aim(0.4)
    sim:step(cells)
    local now, u, g = sim:read(), sim:field 'u', sim.grid
    for k = 0, g.nz - 1 do
        for j = 0, g.ny - 1 do
            for i = 0, g.nx - 1 do
                sum = sum + math.abs(u[at]
                    - wave(g:centre('x', i), g:centre('y', j), g:centre('z', k), now.t))
                at = at + 1
            end
        end
    end
    sim:release()
    return sum / at
end

local coarse, fine = error_of(16), error_of(32)
check('a wave comes in on six sides: errors %.2e and %.2e, order %.2f',
    coarse / fine > 3.6, coarse, fine, math.log(coarse / fine) / math.log(2))

-- ---- scenarios ----

local function run(name, values)
    values.device, values.quiet, values.image = device, true, 'none'
    values.nx, values.ny, values.nz = n, n, n
    mare.options.source, mare.options.program = values, name
    return dofile(home.root .. '/scenarios/' .. name .. '.lua')
end

local blast = run('sedov', {})
check('blast of %d^3: the radius of the shock is off by %.4f', blast.error < 0.6 / n, n,
    blast.error)
local vortex = run('taylor_green', { t_end = 2 })
check('vortices of %d^3: %.4f of the kinetic energy is left at t = 2', vortex.left > 1 - 12 / n
    and vortex.left < 1, n, vortex.left)
print(failed == 0 and 'all as it should be' or failed .. ' failed')
os.exit(failed == 0 and 0 or 1)
