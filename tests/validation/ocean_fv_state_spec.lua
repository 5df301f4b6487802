-- Tests what the finite-volume ocean schemes keep over rough beds with wet
-- cells, dry cells and permanent land: no depth below the bed, mass, the same
-- bits in every decomposition and for the transposed problem, and a dt that
-- follows from the present state. The published reduction of dt leaves out a
-- third of the cells of a group of 384; the published KP07 treats x and y
-- differently.

local ocean = require 'mare.ocean'
local random = require 'mare.base.random'
local shapes = require 'mare.shapes'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'

local nx, ny, g, cfl = 37, 22, 9.81, 0.45

local function draw(i, j, k) return random.uniform(17, 8 * (j * 100 + i) + k) end

local function block(n) return math.floor(n / 3) end

-- Returns the still-water depth at corner (i, j): rough, from 3 m of dry land
-- to 6 m of water.
local function bed(i, j)
    return 9 * draw(i, j, 4) - 3 + 2 * math.sin(0.7 * i) * math.cos(0.4 * j)
end

-- Returns surface and velocity in blocks of 3 x 3 cells with large jumps of all
-- values.
local function cell(i, j)
    i, j = block(i), block(j)
    local dry = draw(i, j, 1) < 0.3
    return dry and -9 or 4 * draw(i, j, 0) - 1, 6 * draw(i, j, 2) - 3, 6 * draw(i, j, 3) - 3
end

-- Returns the depths of cells and corners of the whole grid; land: some cells
-- are permanent land.
local function depth_of(desc, i, j)
    if desc.flat then return 5 end
    if desc.land and i % 1 == 0.5 and draw(block(i), block(j), 5) < 0.1 then return 0 / 0 end
    return bed(i, j)
end

-- Cells are 1 wide and 1/2 high; ghost cells have values of their own, which fixed sides keep.
local function simulate(desc)
    local turned = desc.turned
    local width, height, dx, dy = nx, ny, 1, 0.5
    if turned then width, height, dx, dy = ny, nx, 0.5, 1 end
    local function depth(x, y)
        if turned then return depth_of(desc, y / dy, x / dx) end
        return depth_of(desc, x / dx, y / dy)
    end
    local function initial(x, y)
        local i, j = math.floor(x / dx), math.floor(y / dy)
        if desc.flat then return 0, 1, 1 end
        if not turned then return cell(i + 6, j + 6) end
        local eta, u, v = cell(j + 6, i + 6)
        return eta, v, u
    end
    return support.simulation {
        nx = width, ny = height, x = { 0, width * dx }, y = { 0, height * dy }, cfl = cfl,
        scheme = ocean.new { scheme = desc.scheme, depth = depth, g = g, rk = desc.rk,
            coriolis = { f = turned and -0.3 or 0.3, beta = desc.beta }, dry = 1e-4 },
        boundaries = desc.boundaries or 'reflective', precision = desc.precision or 'double',
        decompose = desc.split, initial = initial,
    }
end

-- Returns the least depth of a cell and the volume.
local function water(sim)
    local eta, least, volume = sim:stored 'eta', math.huge, 0
    for j = 0, sim.grid.ny - 1 do
        for i = 0, sim.grid.nx - 1 do
            local depth = sim.domain.bed:depth_at(i, j)
            local h = sim.domain.bed:is_land(i, j) and 0 or eta[j * sim.grid.nx + i] + depth
            least, volume = math.min(least, h), volume + h
        end
    end
    return least, volume
end

-- Returns the largest 2 (|u| + c) / dx or 2 (|v| + c) / dy.
local function signal_rate(sim)
    local s, rate = support.state(sim), 0
    for k = 0, sim.grid.cells - 1 do
        local i, j = k % nx, math.floor(k / nx)
        local h = s.eta[k] + sim.domain.bed:depth_at(i, j)
        if h > 0 and not sim.domain.bed:is_land(i, j) then
            local c = math.sqrt(g * h)
            rate = math.max(rate, (math.abs(s.hu[k] / h) + c) / sim.grid.dx,
                (math.abs(s.hv[k] / h) + c) / sim.grid.dy)
        end
    end
    return 2 * rate
end

for _, name in ipairs(sample({ 'cdklm', 'kurganov_petrova' }, 1)) do
    describe('ocean, ' .. name .. ':', function()
        for _, precision in ipairs(sample(support.precisions, 1)) do
            it('no cell has less than no water, and mass is kept, in ' .. precision, function()
                for _, rk in ipairs { 2, 3 } do
                    local sim = simulate { scheme = name, precision = precision, land = true,
                        rk = rk }
                    local _, before = water(sim)
                    sim:aim(math.huge)
                    for _ = 1, 4 do
                        sim:step(100)
                        sim:read()
                        support.assert_valid(sim)
                        support.at_least(0, water(sim), 'depth')
                    end
                    local _, after = water(sim)
                    local limit = precision == 'float' and 3e-6 or 1e-13
                    support.at_most(limit, math.abs(after / before - 1), 'rk ' .. rk)
                end
            end)
        end

        it('dt follows from the present state', function()
            local sim = simulate { scheme = name, land = true }
            sim:aim(math.huge)
            for step = 1, 15 do
                local wanted = cfl / signal_rate(sim)
                support.at_most(3e-15, math.abs(sim.now.dt / wanted - 1), 'step ' .. step)
                sim:step(1)
                sim:read()
            end
        end)

        it('the transposed problem has the transposed bits', function()
            local desc = { scheme = name, land = true }
            local state = support.state(support.run_steps(simulate(desc), 40))
            desc.turned = true
            local other = support.state(support.run_steps(simulate(desc), 40))
            assert.is_nil(support.bits_differ(state, support.transposed(other)))
        end)

        it('teams of work-items have the bits of single ones', function()
            for _, precision in ipairs(sample(support.precisions, 1)) do
                local W = precision == 'double' and 2 or 4
                local desc = { scheme = name, land = true, precision = precision }
                local state = support.state(support.run_steps(simulate(desc), 8))
                local team = shapes.with({ volumes = { W = W, GROUP = 32, TEAM = 32, DEPTH = 4,
                    UNROLL = 1, rows = 9 } }, simulate, desc)
                support.run_steps(team, 8)
                assert.is_nil(support.bits_differ(state, support.state(team)), precision)
            end
        end)

        it('every decomposition has the bits of one part', function()
            for _, boundaries in ipairs { 'periodic', 'reflective', 'outflow', 'fixed',
                { west = 'fixed', east = 'outflow', south = 'reflective', north = 'fixed' } } do
                local desc = { scheme = name, boundaries = boundaries, land = true, beta = 0.01 }
                local sim = support.run_steps(simulate(desc), 20)
                local state, t = support.state(sim), sim.now.t
                for _, split in ipairs { { 2, 1 }, { 1, 3 }, { 4, 3 } } do
                    desc.split = split
                    sim = support.run_steps(simulate(desc), 20)
                    assert.is_nil(support.bits_differ(state, support.state(sim)), split[1])
                    assert.equal(t, sim.now.t)
                    sim:release()
                end
            end
        end)
    end)
end
