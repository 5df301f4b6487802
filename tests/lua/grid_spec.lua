local grid = require 'mare.array.grid'
local fails = require 'tests.fails'
local layout = require 'mare.array.layout'

-- The words that f(...) has in its refusal, after the name of what refuses it.
local function refused(words, f, ...)
    local given = { ... }
    fails(function() f(unpack(given)) end, 'MARE_ERROR_ARGUMENT', 'grid: ', unpack(words))
end

local function square(nx, ny)
    return grid.new { nx = nx, ny = ny or nx, x = { 0, 2 }, y = { -1, 1 } }
end

describe('grid', function()
    it('knows spacing and cell centres', function()
        local g = square(8, 4)
        assert.equal(0.25, g.dx)
        assert.equal(0.5, g.dy)
        assert.equal(0.125, g:x_centre(0))
        assert.equal(1.875, g:x_centre(7))
        assert.equal(-0.75, g:y_centre(0))
        assert.same({ 3, 2 }, { g:cell(0.9, 0.1) })
        assert.same({ 7, 0 }, { g:cell(9, -9) })
    end)

    it('refuses what cannot be a grid, naming the value', function()
        for _, nx in ipairs { 0, -1, 3, 4.5, 2 ^ 31, 0 / 0, math.huge } do
            refused({ 'nx = ' .. tostring(nx) }, square, nx, 8)
        end
        refused({ 'x', 'low < high' }, grid.new,
            { nx = 8, ny = 8, x = { 1, 1 }, y = { 0, 1 } })
        for _, halo in ipairs { -1, 0, 1.5, 0 / 0, 'wide' } do
            refused({ 'halo = ' .. tostring(halo), 'whole number from 1' }, grid.new,
                { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 }, halo = halo })
        end
        refused({ "'hallo'", 'allowed: angle, ', ' halo, nx, ny,' }, grid.new,
            { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 }, hallo = 2 })
    end)

    it('knows the cells of a sphere', function()
        local R = 6371000
        local g = grid.new { nx = 36, ny = 18, x = { 0, 360 }, y = { -90, 90 },
            coordinates = 'longitude-latitude' }
        local area = 0
        for j = 0, 17 do area = area + 36 * g:cell_area(j) end
        assert.near(1, area / (4 * math.pi * R ^ 2), 1e-14)
        local dx, dy = g:cell_size(60)
        assert.near(math.pi * R / 36, dx, 1e-6)
        assert.near(math.pi * R / 18, dy, 1e-6)
        assert.equal(-80, g:y_face(1))
    end)

    it('refuses what is not on a sphere', function()
        local function sphere(words, x, y, more)
            local desc = { nx = 8, ny = 8, x = x, y = y, coordinates = 'longitude-latitude' }
            for key, value in pairs(more or {}) do desc[key] = value end
            refused(words, grid.new, desc)
        end
        sphere({ 'y', '-95', 'latitude', '-90 to 90' }, { 0, 1 }, { -95, 0 })
        sphere({ 'x', '400', 'longitude', '360' }, { 0, 400 }, { 0, 1 })
        sphere({ 'angle', 'cartesian' }, { 0, 1 }, { 0, 1 }, { angle = 3 })
        sphere({ "coordinates = 'polar'", 'allowed: cartesian, longitude-latitude' }, { 0, 1 },
            { 0, 1 }, { coordinates = 'polar' })
    end)

    it('tells where its x axis points', function()
        local desc = { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } }
        assert.equal(0, grid.new(desc):angle_at(0, 0))
        desc.angle = 30
        assert.equal(30, grid.new(desc):angle_at(1, 1))
        desc.angle = function(x, y) return x + y end
        assert.equal(2, grid.new(desc):angle_at(1, 1))
        desc.angle = 'east'
        refused({ 'angle = east', 'degrees', 'function' }, grid.new, desc)
    end)

    it('splits into parts that tile it', function()
        local g = square(23, 17)
        local owner, parts = {}, g:split(3, 2)
        for _, part in ipairs(parts) do
            for j = part.j0, part.j0 + part.ny - 1 do
                for i = part.i0, part.i0 + part.nx - 1 do
                    assert.is_nil(owner[j * 23 + i])
                    owner[j * 23 + i] = part.index
                end
            end
        end
        for k = 0, 23 * 17 - 1 do assert.is_not_nil(owner[k]) end
    end)

    it('gives parts as much as their weights say, and room for their halos', function()
        local function sizes(px, py, weights)
            local found = {}
            for k, part in ipairs(square(23, 17):split(px, py, weights)) do
                found[k] = ('%d+%d,%d+%d'):format(part.i0, part.nx, part.j0, part.ny)
            end
            return table.concat(found, ' ')
        end
        assert.equal('0+23,0+12 0+23,12+5', sizes(1, 2, { 3, 1 }))
        assert.equal('0+4,0+17 4+15,0+17 19+4,0+17', sizes(3, 1, { 0.1, 5, 1e-9 }))
        assert.equal('0+10,0+5 10+13,0+5 0+10,5+12 10+13,5+12', sizes(2, 2, { 1, 2, 3, 3 }))
        assert.equal(sizes(2, 2), sizes(2, 2, { 2, 2, 2, 2 }))
    end)

    it('names neighbours around the corner of the domain', function()
        local parts = square(16):split(3, 2)
        assert.same({ west = 3, east = 2, south = 4, north = 4 }, parts[1].neighbours)
        assert.same({ west = true, east = false, south = true, north = false }, parts[1].edge)
        assert.same({ west = 5, east = 4, south = 3, north = 3 }, parts[6].neighbours)
        local alone = square(16):split(1, 1)[1]
        assert.same({ west = 1, east = 1, south = 1, north = 1 }, alone.neighbours)
    end)

    it('refuses parts too small for their halo', function()
        assert.equal(4, #square(16, 4):split(4, 1))
        local g = square(16)
        refused({ '5 parts', '16 cells', 'x', 'at most 4' }, g.split, g, 5, 1)
        refused({ 'parts along y = 0' }, g.split, g, 1, 0)
    end)
end)

describe('layout', function()
    it('aligns interior rows to 32 elements and leaves room for the halo', function()
        for nx = 4, 200 do
            local l = layout.new { nx = nx, ny = 5, halo = 2, fields = 4 }
            assert.equal(0, l:offset(3, 0, 4) % 32)
            assert.is_true(l:offset(0, nx + 1, 0) < l:offset(0, -2, 1))
            assert.is_true(l:offset(3, nx + 1, 6) < l.count)
            assert.equal(l.plane, l:offset(1, 0, 0) - l:offset(0, 0, 0))
        end
    end)
end)
