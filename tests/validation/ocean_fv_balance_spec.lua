-- Tests states that must not change: lakes over rough beds with dry cells and
-- with land, on flat and rotated maps and on the sphere, and flow that the
-- earth's rotation balances, along and across walls. The published codes keep
-- them to 2e-7 on straight grids, and none on a rotated one.

local ocean = require 'mare.ocean'
local grid = require 'mare.array.grid'
local random = require 'mare.base.random'
local sample = require 'tests.sample'
local simulation = require 'mare.run.simulation'
local support = require 'tests.validation.support'
local turns = require 'tests.turns'

local g, steps = 9.81, 1000

-- Returns the largest |transport| and the largest change of eta.
local function unrest(sim, before)
    local now, flow, rise = support.state(sim), 0, 0
    for k = 0, sim.grid.cells - 1 do
        flow = math.max(flow, math.abs(now.hu[k]), math.abs(now.hv[k]))
        rise = math.max(rise, math.abs(now.eta[k] - before.eta[k]))
    end
    return flow, rise
end

local function rough(k) return random.uniform(23, k) end

-- Returns depths of 30 x 24 cells: a third of them is dry at eta = 0.3, some
-- are permanent land.
local function data(land)
    local depths = {}
    for k = 1, 30 * 24 do
        depths[k] = 60 * rough(k) - 20
        if land and rough(-k) < 0.05 then depths[k] = 0 / 0 end
    end
    return { nx = 30, ny = 24, data = depths }
end

local function turned_f(x, y) return 1.2e-4 + 1e-9 * (y * math.cos(0.6) - x * math.sin(0.6)) end

local maps = {
    flat = { x = { 0, 3e4 }, y = { 0, 2e4 }, f = { f = 1.2e-4, beta = 1e-8 } },
    turned = { x = { 0, 3e4 }, y = { 0, 2e4 }, angle = 35, f = turned_f },
    ['longitude-latitude'] = { x = { 3, 4 }, y = { 55, 56 }, f = 'latitude' },
}

local function simulate(map, nx, ny, scheme, boundaries, initial, precision)
    local m = maps[map]
    local spherical = map == 'longitude-latitude'
    return simulation.new {
        grid = grid.new { nx = nx, ny = ny, x = m.x, y = m.y, angle = m.angle,
            coordinates = spherical and map or nil },
        boundaries = boundaries, scheme = scheme, initial = initial, devices = support.devices(),
        options = { precision = precision },
    }
end

describe('a lake at rest', function()
    for _, map in ipairs(sample({ 'flat', 'longitude-latitude', 'turned' }, 1)) do
        local m = maps[map]
        for k, name in ipairs(sample({ 'cdklm', 'kurganov_petrova' }, 1)) do
            it('stays so to the bit, ' .. map .. ', ' .. name, function()
                local scheme = ocean.new { scheme = name, depth = data(map ~= 'turned'),
                    coriolis = m.f }
                local sim = simulate(map, 30, 24, scheme, map == 'flat' and 'periodic'
                    or 'reflective', function() return 0.3, 0, 0 end, support.precisions[k])
                local before = support.state(sim)
                support.run_steps(sim, steps)
                local flow, rise = unrest(sim, before)
                assert.equal(0, flow)
                assert.equal(0, rise)
                sim:release()
            end)
        end
    end
end)

local depth, f0 = 100, 1.2e-4
local profile = function(s) return math.exp(-(s / 50e3) ^ 2) end    -- m/s

-- Elevation at the centres of n cells, d wide, that holds the velocity u(k) to the right of which
-- it rises: half of each step belongs to either cell, as in the scheme.
local function surface(n, d, u, f)
    local eta = { [-2] = 0 }
    for k = -1, n + 1 do
        eta[k] = eta[k - 1] - 0.5 * d / g * (f(k - 1) * u(k - 1) + f(k) * u(k))
    end
    return eta
end

-- Returns a jet along x (or along y, if turned) on 8 x n cells between walls.
local function jet(n, along_y, name, precision)
    local d = 400e3 / n
    local function u(k) return profile((k + 0.5) * d - 200e3) end
    local eta = surface(n, d, u, function() return along_y and -f0 or f0 end)
    local walls = along_y and { west = 'reflective', east = 'reflective', south = 'periodic',
        north = 'periodic' } or { west = 'periodic', east = 'periodic', south = 'reflective',
        north = 'reflective' }
    local nx, ny = along_y and n or 8, along_y and 8 or n
    local function initial(x, y)
        local k = math.floor((along_y and x or y) / d)
        if along_y then return eta[k], 0, u(k) end
        return eta[k], u(k), 0
    end
    return simulation.new {
        grid = grid.new { nx = nx, ny = ny, x = { 0, nx * d }, y = { 0, ny * d }, angle = 35 },
        boundaries = walls, initial = initial, devices = support.devices(),
        scheme = ocean.new { scheme = name, depth = depth, coriolis = { f = f0 } },
        options = { precision = precision },
    }
end

-- Returns the largest transport across the jet, and the change along it,
-- relative to the jet.
local function drift(sim, before, along_y)
    local now, across, along = support.state(sim), 0, 0
    local a, b = along_y and 'hv' or 'hu', along_y and 'hu' or 'hv'
    for k = 0, sim.grid.cells - 1 do
        across = math.max(across, math.abs(now[b][k]))
        along = math.max(along, math.abs(now[a][k] - before[a][k]))
    end
    return across / depth, along / depth
end

local function day(sim, along_y)
    local before = support.state(sim)
    support.run_to(sim, 86400)
    local across, along = drift(sim, before, along_y)
    sim:release()
    return across, along
end

describe('a geostrophic jet', function()
    local it = turns(it, 2)

    local limits = { float = 3e-6, double = 1e-13 }
    for _, precision in ipairs(sample(support.precisions, 1)) do
        for _, along_y in ipairs { false, true } do
            it(('stays for a day, along %s, %s'):format(along_y and 'y' or 'x', precision),
                function()
                    local across, along = day(jet(40, along_y, 'cdklm', precision), along_y)
                    support.at_most(limits[precision], across, 'across')
                    support.at_most(limits[precision], along, 'along')
                end)
        end
    end

    it('erodes where rotation is a source of its own, at an order beyond 2', function()
        local _, coarse = day(jet(40, false, 'kurganov_petrova', 'double'), false)
        local _, fine = day(jet(80, false, 'kurganov_petrova', 'double'), false)
        support.at_least(1e-4, coarse, 'the jet of 40 cells')
        support.at_least(2, math.log(coarse / fine) / math.log(2), 'order')
    end)

    it('stays between circles of latitude', function()
        local omega, radius, n = 7.2921e-5, 6371000, 40
        local dy = math.rad(1 / n) * radius
        local function latitude(k) return math.rad(55 + (k + 0.5) / n) end
        local function u(k) return math.exp(-((k - 19.5) / 6) ^ 2) end
        local function f(k)
            local phi = latitude(k)
            return 2 * omega * math.sin(phi) + u(k) * math.tan(phi) / radius
        end
        local eta = surface(n, dy, u, f)
        local sim = simulate('longitude-latitude', 12, n,
            ocean.new { depth = depth, coriolis = 'latitude', g = g },
            { west = 'periodic', east = 'periodic', south = 'reflective', north = 'reflective' },
            function(_, y)
                local k = math.floor((y - 55) * n)
                return eta[k], u(k), 0
            end, 'double')
        local before = support.state(sim)
        support.run_steps(sim, steps)
        local across, along = drift(sim, before, false)
        support.at_most(1e-12, across, 'across')
        support.at_most(1e-12, along, 'along')
        sim:release()
    end)
end)
