-- Tests that a step in one pass gives the bits of a step in two passes,
-- including dt, whichever axis is first, after odd numbers of steps too, in any
-- decomposition, and through a checkpoint.

local euler = require 'mare.schemes.euler'
local integrals = require 'mare.array.integrals'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local water = require 'mare.schemes.shallow_water'

local kinds = { west = 'fixed', east = 'outflow', south = 'reflective', north = 'fixed' }

local function initial(x, y)
    return 1 + 0.5 * math.sin(20 * x + 3 * y), math.sin(9 * y), math.cos(7 * x),
        1 + 0.3 * math.cos(5 * x * y)
end

local function new(scheme, first, split)
    return support.simulation {
        nx = 40, ny = 26, x = { 0, 1 }, y = { 0, 0.5 }, precision = 'float', first = first,
        decompose = split, scheme = scheme, boundaries = kinds, initial = initial,
    }
end

local function assert_same(sim, other, names)
    assert.equal(sim.now.t, other.now.t)
    assert.equal(sim.now.dt, other.now.dt)
    assert.is_nil(support.bits_differ(support.state(sim), support.state(other)))
    for _, name in ipairs(names) do assert.equal(sim:field(name)[99], other:field(name)[99]) end
end

local function sums(sim)
    local list, values = integrals.new(sim, sim.scheme.integrals), {}
    for _ = 1, 2 do     -- bound in one state, taken in another
        list:take()
        list:fetch(values)
        sim:read()
        sim:step(1)
    end
    list:release()
    return values
end

local schemes = {
    euler = function(passes) return euler.new { gravity = 2, passes = passes } end,
    ['shallow water'] = function(passes) return water.new { passes = passes } end,
}
local derived = { euler = { 'vorticity', 'p' }, ['shallow water'] = { 'speed' } }

for _, name in ipairs(sample({ 'euler', 'shallow water' }, 1)) do
    local scheme, variable = schemes[name], derived[name][1]
    describe('passes over the state of ' .. name, function()
        it('may be one or two', function()
            for _, first in ipairs(sample({ 'x', 'y' }, 1)) do
                local two = support.run_steps(new(scheme(2), first), 5)
                local one = support.run_steps(new(scheme(1), first), 5)
                assert_same(two, one, derived[name])
                -- Parts have a kernel of their own; in the suite lua/parts_spec.lua runs it.
                if sample(true, false) then
                    assert_same(two, support.run_steps(new(scheme(1), first, { 2, 2 }), 5), {})
                end
            end
        end)

        it('show the state at any time, whether it was read or not', function()
            local two, one = new(scheme(2), 'x'), new(scheme(1), 'x')
            for _, sim in ipairs { two, one } do
                sim:aim(math.huge)
                sim:step(1)
            end
            assert.equal(two:field(variable)[99], one:field(variable)[99])
            assert.same(sums(two), sums(one))
            for _, sim in ipairs { two, one } do
                sim:read()
                sim:step(2)
            end
            assert.is_nil(support.bits_differ(support.state(two), support.state(one)))
        end)

        it('may be one after a checkpoint of an odd step', function()
            local sim = support.run_steps(new(scheme(1), 'x'), 3)
            local host = sim.devices[1]:host { type = 'float', count = sim:saved_count() }
            sim:save(host)
            local other = new(scheme(1), 'x')
            other:load { state = host:pointer(), t = sim.now.t, steps = 3, rate = sim.now.rate }
            assert.is_nil(support.bits_differ(support.state(sim), support.state(other)))
            other:aim(math.huge)
            sim:step(2)
            other:step(2)
            sim:read()
            other:read()
            assert_same(sim, other, { variable })
        end)
    end)
end

describe('passes over the state', function()
    it('are told by the devices, else must be one or two', function()
        assert.is_nil(euler.new({}):levels_on { { info = { kind = 'cpu' } } })
        assert.same({ 'other' }, euler.new({}):levels_on { { info = { kind = 'gpu' } } }(3))
        assert.has_error(function() euler.new { passes = 3 } end)
    end)
end)
