-- The C-grid kernels against the reference in Lua, and what must hold bit for bit.

local c_grid = require 'mare.ocean.c_grid'
local mare = require 'mare'
local part = require 'tests.kernels.part'
local random = require 'mare.base.random'
local reference = require 'tests.kernels.c_grid_reference'
local sample = require 'tests.sample'
local turns = require 'tests.turns'

local nx, ny = 29, 22

local function draw(n, k) return random.uniform(n, k) - 0.5 end

-- Rough, with an island and a bay, the same around a periodic domain.
local function rough(x, y)
    local i, j = math.floor(x) % nx, math.floor(y) % ny
    local land = (i - 8) ^ 2 + (j - 9) ^ 2 < 14 or i < 3 and j > 12 and j < 18
    return land and 0 or 30 + 20 * draw(5, i + nx * j)
end

-- Any state, that depends on the cell alone: ghost cells of periodic sides are copies.
local function noise(x, y)
    local k = 2 * (math.floor(2 * x) + 1000 * math.floor(2 * y)) % 2 ^ 31
    return draw(1, k), draw(2, k), draw(3, k)
end

local cases = {
    { 'still bed', depth = 40 },
    { 'rough bed, beta plane, quadratic friction', depth = rough,
        coriolis = { f = 0.3, beta = 0.02 }, friction = { kind = 'quadratic', coefficient = 3 },
        wind = { times = { 0, 0.1 }, value = function(x, y, t) return noise(t + x, y) end },
        pressure = function(x, y) return 30 * noise(y, x) end },
    { 'rough bed, rotation in a plane, Manning friction', depth = rough,
        coriolis = function(x, y) return 0.2 + 0.05 * math.sin(x) * math.cos(y) end,
        friction = { kind = 'manning', coefficient = 0.8 } },
    { 'sphere, latitude, linear friction', depth = rough, coriolis = 'latitude', sphere = true,
        friction = { kind = 'linear', coefficient = 0.1 }, wind = { 5000, -3000 } },
}

local function simulate(device, case, scheme, more)
    local grid = { nx = nx, ny = ny, x = { 0, nx }, y = { 0, ny } }
    if case.sphere then
        grid.coordinates, grid.radius, grid.y = 'longitude-latitude', 50, { 50, 50 + ny }
    end
    local desc = { grid = mare.grid(grid), boundaries = 'reflective', initial = noise,
        devices = { device }, options = { precision = 'double', cfl = 0.7 } }
    desc.scheme = mare.ocean {
        scheme = scheme, filter = case.filter, depth = case.depth, coriolis = case.coriolis,
        friction = case.friction, wind = case.wind, pressure = case.pressure, rho = 1,
        viscosity = scheme == 'nonlinear' and case[1] ~= 'still bed' and 0.5 or 0,
    }
    for key, value in pairs(more or {}) do
        if desc.options[key] ~= nil or key == 'decompose' then desc.options[key] = value
        else desc[key] = value end
    end
    return mare.simulation(desc)
end

-- The largest difference of interior cells relative to the largest value of the field.
local function distance(got, wanted)
    local worst = 0
    for _, name in ipairs { 'eta', 'hu', 'hv' } do
        local difference, largest = 0, 0
        for j = 0, ny - 1 do
            for i = 0, nx - 1 do
                local d = math.abs(got[name](i, j) - wanted[name](i, j))
                if d ~= d then return d end
                difference = math.max(difference, d)
                largest = math.max(largest, math.abs(wanted[name](i, j)))
            end
        end
        worst = math.max(worst, difference / largest)
    end
    return worst
end

-- What a part holds, once its ghost cells are those of the present state.
local function levels_of(sim)
    local state = sim.states[1]
    sim:fill_ghosts()
    local names, found = sim.scheme.levels(sim.now.steps), {}
    for k, name in ipairs(names) do found[k] = reference.level(state, state[name]) end
    return found[1], found[2]
end

local steppers = {
    linear = function(sim, state)
        return reference.linear(reference.sea(sim, state), (levels_of(sim)), sim.now.dt,
            sim.now.last)
    end,
    nonlinear = function(sim, state)
        local q, old = levels_of(sim)
        local last = sim.now.last > 0 and sim.now.last or sim.now.cfl / sim.now.rate
        return reference.nonlinear(reference.sea(sim, state), q, old, sim.now.dt, last)
    end,
}

local function text_of(sim, name)
    local field, list = sim:stored(name), {}
    for k = 0, sim.grid.cells - 1 do list[k + 1] = ('%.9g'):format(field[k]) end
    return table.concat(list, ' ')
end

local float = { precision = 'float' }

-- Work-items of W columns in groups of GROUP, strips of so many rows.
local shapes = {
    { W = 8, GROUP = 1, rows = 7 }, { W = 4, GROUP = 3, rows = 100 },
    { W = 1, GROUP = 8, rows = 1 },
}

-- use() with the kernels in another shape.
local function in_shape(shape, use)
    local cut = c_grid.cut
    c_grid.cut = function() return shape end
    local ok, result = pcall(use)
    c_grid.cut = cut
    return assert(ok and result, result)
end

-- All fields after so many steps, as a text.
local function bits_after(sim, steps)
    sim:aim(math.huge)
    sim:step(steps)
    sim:read()
    assert.is_false(sim.now.failed)
    local bits = {}
    for k, name in ipairs(sim.scheme.fields) do bits[k] = text_of(sim, name) end
    sim:release()
    return table.concat(bits)
end

for _, device in ipairs(part.devices()) do
    for _, scheme in ipairs(sample({ 'linear', 'nonlinear' }, 1)) do
        describe('C-grid, ' .. scheme .. ', on ' .. device.name, function()
            for _, case in ipairs(sample(cases, 1)) do
                it('agrees with the reference: ' .. case[1], function()
                    local sim = simulate(device, case, scheme)
                    sim:aim(5 * sim.now.cfl / sim.now.rate)
                    for step = 1, 4 do
                        if step == 3 then sim:aim(sim.now.t + 0.6 * sim.now.dt) end
                        if step == 4 then sim:aim(math.huge) end
                        local wanted = steppers[scheme](sim, sim.states[1])
                        sim:step(1)
                        sim:read()
                        local error = distance((levels_of(sim)), wanted)
                        assert.is_true(error <= 1e-13, ('step %d off by %g'):format(step, error))
                    end
                end)
            end

            it('gives the same bits in every shape, and in every decomposition', function()
                local case, first = cases[2], nil
                for _, shape in ipairs(sample(shapes, 1)) do
                    local bits = in_shape(shape, function()
                        return bits_after(simulate(device, case, scheme, float), 20)
                    end)
                    first = first or bits
                    assert.equal(first, bits)
                end
                for _, split in ipairs(sample({ { 2, 1 }, { 1, 3 }, { 4, 3 } }, 2)) do
                    local sim = simulate(device, case, scheme, { precision = 'float',
                        decompose = split })
                    assert.equal(first, bits_after(sim, 20), table.concat(split, ' x '))
                end
            end)
        end)
    end

    describe('C-grid, nonlinear, on ' .. device.name, function()
        local function check_filter(filter, first, weight_of)
            local sim = simulate(device, { 'still bed', depth = 40, filter = filter }, 'nonlinear')
            sim:aim(math.huge)
            sim:step(first)
            sim:read()
            for step = first, first + 5 do
                local q, old = levels_of(sim)
                local ratio = sim.now.last > 0 and sim.now.dt / (sim.now.dt + sim.now.last) or 0.5
                sim:step(1)
                sim:read()
                local next, kept = levels_of(sim)
                local weight = weight_of(step)
                local function smoothed(name)
                    return function(i, j)
                        local mean = next[name](i, j)
                            + ratio * (old[name](i, j) - next[name](i, j))
                        return q[name](i, j) + weight * (mean - q[name](i, j))
                    end
                end
                local wanted = { eta = smoothed 'eta', hu = smoothed 'hu', hv = smoothed 'hv' }
                assert.is_true(distance(kept, wanted) < (weight > 0 and 1e-14 or 1e-300))
            end
        end

        local it = turns(it, 2)

        it('filters the level before, every other step', function()
            check_filter(0.3, 0, function(step) return step % 2 == 0 and 0.3 or 0 end)
        end)

        it('filters six times as much in 16 steps of 192 where the filter is weak', function()
            check_filter(nil, 0, function() return 0.06 end)
            check_filter(0.005, 13, function(step) return step < 16 and 0.03 or 0 end)
            check_filter(0.01, 188, function(step) return step >= 192 and 0.06 or 0 end)
        end)
    end)
end
