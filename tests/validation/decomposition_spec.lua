-- Tests that every decomposition gives the bits of a single part, including dt,
-- at every kind of boundary.

local boundary = require 'mare.array.boundary'
local random = require 'mare.base.random'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local tables = require 'bindings.tables'

local nx, ny = 45, 38
local splits = sample({ { 1, 2 }, { 2, 1 }, { 2, 2 }, { 3, 2 }, { 1, 5 }, { 7, 4 }, { 11, 9 } }, 4)

local boundaries = {
    mixed = { west = 'fixed', east = 'outflow', south = 'reflective', north = 'fixed' },
    half_periodic = { west = 'periodic', east = 'periodic', south = 'reflective',
        north = 'outflow' },
}
for name in pairs(boundary.kinds) do boundaries[name] = name end

-- Ghost cells, from -2 on, have values of their own too, which fixed sides
-- keep.
local function initial(x, y)
    local k = 4 * (math.floor(10 * y + 3) * (nx + 6) + math.floor(10 * x + 3))
    local function draw(n) return random.uniform(3, k + n) end
    return 0.3 + draw(0), draw(1) - 0.5, draw(2) - 0.5, 0.3 + draw(3)
end

local function simulate(desc)
    local sim = support.simulation {
        nx = nx, ny = ny, x = { 0, nx / 10 }, y = { 0, ny / 10 }, boundaries = desc.boundaries,
        gravity = desc.gravity, first = desc.first, precision = desc.precision,
        decompose = desc.split, initial = initial,
    }
    local steps = {}
    sim:aim(math.huge)
    for k = 1, 30 do
        steps[k] = sim.now.dt
        sim:step(1)
        sim:read()
    end
    support.assert_valid(sim)
    local state = support.state(sim)
    sim:release()
    return state, steps
end

local function check(desc)
    local state, steps = simulate(desc)
    for _, split in ipairs(splits) do
        desc.split = split
        local other, other_steps = simulate(desc)
        local name = split[1] .. 'x' .. split[2]
        assert.is_nil(support.bits_differ(state, other), name)
        assert.same(steps, other_steps, name)
    end
    return state
end

describe('decomposition', function()
    local cases = {}
    for _, name in ipairs(tables.keys(boundaries)) do
        cases[#cases + 1] = { name, 'float', 'x' }
        cases[#cases + 1] = { name, 'double', 'y' }
    end
    for _, case in ipairs(sample(cases, 1)) do
        local name, precision, first = unpack(case)
        it(('changes no bit with %s sides and gravity, in %s, %s first'):format(name, precision,
            first), function()
            local desc = { boundaries = boundaries[name], precision = precision, first = first }
            desc.gravity = 2
            local state = check(desc)
            desc.gravity, desc.split = 1, nil
            assert.is_not_nil(support.difference(state, simulate(desc)))
        end)
    end
end)
