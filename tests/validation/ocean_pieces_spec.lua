-- Sides of an ocean along which open kinds and walls follow one another.

local boxes = require 'tests.open_boxes'
local fails = require 'tests.fails'
local mare = require 'mare'
local sample = require 'tests.sample'

require 'tests.share'()

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local elevation, flather = { kind = 'elevation' }, { kind = 'flather' }
local sponge = { kind = 'sponge', width = 2 }

-- Returns a side of these pieces, of one length each.
local function pieces(range, ...)
    local list = { kind = 'pieces' }
    for k, side in ipairs { ... } do
        list[k] = { side = side, to = k < select('#', ...)
            and range[1] + k / select('#', ...) * (range[2] - range[1]) or nil }
    end
    return list
end

local function box(scheme, decompose)
    local desc, depth = boxes.draw({ scheme }, 7, name)
    desc.grid = mare.grid { nx = 10, ny = 9, x = { 0, 6e4 }, y = { 0, 5.4e4 } }
    desc.options.decompose = decompose
    return desc, depth
end

-- Returns the elevation and the energy after so many steps, of what it was, and the simulation.
local function after(desc, depth, steps)
    local sim = mare.simulation(desc)
    local first = boxes.energy(sim, depth)
    sim:aim(math.huge)
    sim:step(steps)
    sim:read()
    assert.is_false(sim.now.failed)
    local eta, values = sim:field 'eta', {}
    for k = 0, sim.grid.cells - 1 do values[k + 1] = eta[k] end
    local energy = boxes.energy(sim, depth) / first
    sim:release()
    return values, energy
end

for _, scheme in ipairs(sample({ 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' }, 1)) do
    describe('pieces of sides: ' .. scheme, function()
        it('of one kind are that side, to the bit', function()
            local plain, depth = box(scheme)
            plain.boundaries = { west = elevation, east = flather, south = sponge,
                north = elevation }
            local cut, g = box(scheme), plain.grid
            cut.boundaries = { west = pieces(g.y, elevation, elevation),
                east = pieces(g.y, flather), south = pieces(g.x, sponge, sponge, sponge),
                north = pieces(g.x, elevation, elevation) }
            assert.same(after(plain, depth, 50), (after(cut, depth, 50)))
        end)

        -- From 48 boxes of 1000 steps, whose sides were such pieces, no energy came.
        it('bring no energy, walls among them, and do not depend on the parts', function()
            local whole, depth = box(scheme)
            local g = whole.grid
            local sides = { west = pieces(g.y, elevation, 'reflective'),
                east = pieces(g.y, flather, elevation), south = pieces(g.x, 'reflective', flather),
                north = pieces(g.x, sponge, elevation, 'reflective') }
            whole.boundaries = sides
            local eta, energy = after(whole, depth, 200)
            assert.is_true(energy <= 1, tostring(energy))
            local parts = box(scheme, '2x2')
            parts.boundaries = sides
            assert.same(eta, (after(parts, depth, 200)))
        end)
    end)
end

describe('pieces of sides', function()
    local function domain(side, rivers)
        local grid = mare.grid { nx = 8, ny = 8, x = { 0, 8 }, y = { 0, 8 } }
        local scheme = mare.ocean { depth = 50, rivers = rivers }
        return scheme:domain(grid, { west = side, east = 'reflective', south = 'reflective',
            north = 'reflective' }, 'float')
    end

    local function refused(side, ...)
        fails.call(function() domain(side) end, 'MARE_ERROR_ARGUMENT', 'west', ...)
    end

    it('are told in words', function()
        local side = pieces({ 0, 8 }, elevation, 'reflective')
        assert.equal('elevation to 4, then reflective', domain(side):side_text('west', 'pieces'))
    end)

    it('take rivers behind their walls only', function()
        local side = pieces({ 0, 8 }, elevation, 'reflective')
        local function river(from, to)
            return { { side = 'west', from = from, to = to, flow = 1 } }
        end
        assert.equal(4, #domain(side, river(4, 8)).rivers[1].cells)
        fails.call(function() domain(side, river(3, 8)) end, 'MARE_ERROR_ARGUMENT', 'west',
            'reflective')
    end)

    it('are refused by number', function()
        refused({ kind = 'pieces' }, 'no pieces')
        refused({ kind = 'pieces', { to = 4, side = 'outflow' }, { side = flather } }, 'piece 1',
            'outflow', 'flather')
        refused({ kind = 'pieces', { to = 4, side = flather }, { to = 3, side = flather },
            { side = flather } }, 'piece 2', '3')
        refused({ kind = 'pieces', { to = 4, side = flather }, { side = { kind = 'sponge' } } },
            'piece 2', 'width')
        refused(pieces({ 0, 8 }, 'reflective', 'reflective'), 'walls')
    end)
end)
