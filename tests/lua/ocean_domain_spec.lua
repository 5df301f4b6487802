local domain = require 'mare.ocean.domain'
local fails = require 'tests.fails'
local grid = require 'mare.array.grid'
local source = require 'mare.base.source'
local mare = require 'mare'
local ocean = require 'mare.ocean'
local state = require 'mare.array.state'

local device = mare.device.open(os.getenv 'MARE_TEST_DEVICE' or 'auto')

-- Schemes that never take a step: these specs are about what surrounds one.
local function stand_in(name, staggered)
    ocean.schemes[name] = 'for tests'
    ocean.halves[name] = {
        setup = function(scheme) scheme.staggered = staggered end,
    }
end
stand_in('centres', false)
stand_in('faces', true)

local nx, ny = 6, 5
local g = grid.new { nx = nx, ny = ny, x = { 0, 12 }, y = { -5, 5 } }
local walls = { west = 'reflective', east = 'reflective', south = 'reflective',
    north = 'reflective' }
local around = { west = 'periodic', east = 'periodic', south = 'outflow', north = 'outflow' }

local function new(options, boundaries, precision)
    options.scheme = options.scheme or 'centres'
    return domain.new(mare.ocean(options), g, boundaries or walls, precision or 'double')
end

local function message(f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    return err.message
end

local function refused(options, boundaries)
    return message(new, options, boundaries)
end

-- Depths of the rows of a grid, south first; _ is land.
local _ = 0 / 0
local function data(rows)
    local list = {}
    for _, row in ipairs(rows) do
        for _, value in ipairs(row) do list[#list + 1] = value end
    end
    return { nx = #rows[1], ny = #rows, data = list }
end

local function slope(x, y) return 10 + x + 0.1 * y end

local shore = data {
    { 1, 2, 3, 4, 5, 6 }, { 1, 2, _, _, 5, 6 }, { 1, 2, _, 4, 5, 6 }, { 9, 9, 9, 9, 9, 9 },
    { 8, 8, 8, 8, 8, 8 },
}

describe('the bed of an ocean', function()
    it('is the same everywhere where depth is a number', function()
        for _, name in ipairs { 'centres', 'faces' } do
            local bed = new({ scheme = name, depth = 7 }, around).bed
            for j = -2, ny + 1 do
                for i = -2, nx + 1 do assert.equal(7, bed:depth_at(i, j)) end
            end
        end
    end)

    it('has depths of a function at corners, and their mean at centres', function()
        local bed = new({ depth = slope }).bed
        for j = 0, ny do
            for i = 0, nx do
                assert.equal(slope(2 * i, -5 + 2 * j), bed.corner[bed:index(i, j)])
            end
        end
        assert.near(slope(g:x_centre(3), g:y_centre(2)), bed:depth_at(3, 2), 1e-14)
    end)

    it('is mirrored by walls, goes on flat through open sides and around periodic ones', function()
        local bed = new({ depth = slope }).bed
        for k = 0, 1 do
            assert.equal(bed:depth_at(k, 3), bed:depth_at(-1 - k, 3))
            assert.equal(bed:depth_at(nx - 1 - k, -1), bed:depth_at(nx + k, 0))
        end
        bed = new({ depth = function(x, y) return slope(x % 12, y) end }, around).bed
        for k = -2, 1 do assert.equal(bed:depth_at(k, 1), bed:depth_at(k + nx, 1)) end
        assert.equal(bed.corner[bed:index(1, 0)], bed.corner[bed:index(1, -2)])
        assert.equal(bed.corner[bed:index(1, ny)], bed.corner[bed:index(1, ny + 1)])
    end)

    it('does not count land for the corners of water', function()
        local bed = new({ depth = shore }).bed
        local function corner(i, j) return bed.corner[bed:index(i, j)] end
        assert.is_true(bed:is_land(2, 1) and bed:is_land(3, 1) and bed:is_land(2, 2))
        assert.equal(27, bed.water)
        assert.near((2 + 3 + 2) / 3, corner(2, 1), 1e-14)
        assert.equal(4, corner(3, 2))
        assert.equal(1, corner(0, 0))
    end)

    it('closes walls and land for a C-grid', function()
        local bed = new({ scheme = 'faces', depth = shore }).bed
        assert.equal(4, bed:depth_at(3, 2))
        for k = -2, ny + 1 do assert.is_true(bed:is_land(-1, k) and bed:is_land(nx, k)) end
        bed = new({ scheme = 'faces', depth = shore }, around).bed
        assert.equal(6, bed:depth_at(-1, 0))
        assert.equal(1, bed:depth_at(0, -2))
    end)

    it('takes numbers at corners as they are', function()
        local rows = {}
        for j = 1, ny + 1 do
            rows[j] = {}
            for i = 1, nx + 1 do rows[j][i] = i + 10 * j end
        end
        local bed = new({ depth = data(rows) }).bed
        assert.equal(1 + 2 + 10 * 3, bed.corner[bed:index(2, 2)])
        bed = new({ scheme = 'faces', depth = data(rows) }).bed
        assert.equal(11 + 5.5 + 2 + 20, bed:depth_at(2, 2))
    end)

    it('is deepened, or becomes land, where one asks for it', function()
        local bed = new({ scheme = 'faces', depth = shore, land = 1, minimum_depth = 3 }).bed
        assert.is_true(bed:is_land(0, 0))
        assert.equal(3, bed:depth_at(1, 0))
        assert.equal(5, bed:depth_at(4, 0))
    end)

    it('lies above still water only where a scheme dries', function()
        local function beach(x) return 3 - x end
        assert.equal(-8, new({ depth = beach }).bed:depth_at(5, 0))
        fails.says(refused { scheme = 'faces', depth = beach }, 'ocean', 'is -2', '(2, 0)',
            'x = 5', 'y = -4', 'scheme')
        local bed = new({ scheme = 'faces', depth = beach, land = 0 }).bed
        assert.is_true(bed:is_land(2, 0) and not bed:is_land(0, 0))
    end)
end)

describe('an ocean refuses', function()
    it('options of finite volumes for other schemes', function()
        for _, scheme in ipairs { 'linear', 'nonlinear' } do
            for option, value in pairs { theta = 1.5, rk = 3 } do
                local ok, err = pcall(mare.ocean, { scheme = scheme, depth = 1, [option] = value })
                assert.is_false(ok)
                fails.says(err.message, ('%s = %s'):format(option, value), 'cdklm',
                    'kurganov_petrova', 'not ' .. scheme)
            end
        end
    end)

    it('depths that are missing or none', function()
        fails.says(refused {}, 'ocean', 'missing', 'number', 'metres')
        fails.says(refused { depth = function() end }, 'ocean', '(0, 0)', 'x = 1', 'y = -4',
            'number')
        fails.says(refused { depth = function(x) return x < 6 and 1 or math.huge end }, 'ocean',
            '(3, 0)', 'depth', 'finite')
        assert.matches('^ocean: depth: 2 numbers of 6 x 5 are missing', refused { depth = {
            nx = 6, ny = 5, data = { unpack(shore.data, 1, 28) } } })
        assert.matches('^ocean: depth of 4 x 5 numbers: the grid has 6 x 5 cells and 7 x 6 corners',
            refused { depth = { nx = 4, ny = 5, data = {} } })
    end)

    it('nothing but land', function()
        fails.says(refused { depth = _ }, 'ocean', 'depth', 'all 6', 'x 5', 'cells')
        fails.says(refused { scheme = 'faces', depth = 0 }, 'ocean', 'depth', 'all 6', 'x 5',
            'cells')
    end)

    it('options that cannot be, naming them', function()
        assert.matches("^ocean: scheme 'fast' %(there are: .*linear", refused { scheme = 'fast' })
        assert.matches("^ocean: unknown field 'dept' %(did you mean 'depth'%?%) %(allowed: .*depth",
            refused { dept = 3 })
        assert.matches("^ocean: friction: kind = 'rough' %(allowed: linear, manning, quadratic%)",
            refused { depth = 1, friction = { kind = 'rough', coefficient = 1 } })
        assert.matches('^ocean: viscosity = %-1, must be from 0', refused { depth = 1,
            viscosity = -1 })
        assert.matches('^ocean: coriolis = 3, must be { f =', refused { depth = 1, coriolis = 3 })
        assert.matches('^ocean: coriolis: f = nil', refused { depth = 1, coriolis = { beta = 1 } })
    end)
end)

local probe = [[
#include "physics/ocean/domain.h"
MR_KERNEL void probe(const MR_GLOBAL real *bed, const MR_GLOBAL real *rows, int row_count,
    int stride, mr_index plane, real dx, real inv_dx, MR_GLOBAL real *out) {
    int i = mr_gid_x() - 2, j = mr_gid_y() - 2, n = mr_groups_x() * mr_groups_y();
    mr_index at = cell_offset(i, j, stride);
    int k = mr_gid_y() * mr_groups_x() + mr_gid_x();
    out[k] = bed[BED_DEPTH * plane + at];
    out[k + n] = coriolis(bed, plane, at, rows, row_count, j);
    out[k + 2 * n] = j > -2
        ? coriolis_south(bed, plane, at, stride, rows, row_count, j) : R(0.0);
    out[k + 3 * n] = row_inv_dx(rows, row_count, j, inv_dx) * row_south(rows, row_count, j, dx);
}
]]

local function state_of(d, part)
    part.device = device
    return state.new(part, { fields = 3, halo = d.grid.halo, precision = d.precision, buffers = 1 })
end

-- What kernels see in part `part` of the domain: a function (k, i, j).
local function seen(d, part)
    local s = state_of(d, part)
    d.scheme:prepare(d, s)
    local width, height = part.nx + 4, part.ny + 4
    local defines = domain.defines(d)
    defines.MARE_REAL = d.precision
    local kernel = device:program(source.text(probe, 'probe.krn', { defines = defines }))
        :kernel 'probe'
    local out = device:buffer { type = d.precision, count = 4 * width * height }
    local values = domain.values(s)
    values.stride, values.plane, values.out = s.layout.stride, s.layout.plane, out
    local arguments = { global = { width, height }, group = { 1, 1 } }
    for _, arg in ipairs(kernel.args) do arguments[arg.name] = values[arg.name] end
    kernel:bind(arguments):run()
    local list = out:totable()
    s:release()
    return function(k, i, j) return list[k * width * height + (j + 2) * width + i + 3] end
end

describe('kernels of an ocean', function()
    local function check(options, f, f_south)
        options.depth = slope
        local d = new(options, around)
        for _, part in ipairs(g:split(1, 1)) do
            local value = seen(d, part)
            for j = -1, ny + 1 do
                for i = -2, nx + 1 do
                    local y = g:y_centre(j)
                    assert.equal(d.bed:depth_at(i, j), value(0, i, j))
                    assert.near(f((i % nx + 0.5) * 2, y), value(1, i, j), 1e-15)
                    assert.near(f_south((i % nx + 0.5) * 2, y - 1), value(2, i, j), 1e-15)
                    assert.equal(1, value(3, i, j))
                end
            end
        end
    end

    it('see the bed, and no rotation where there is none', function()
        check({}, function() return 0 end, function() return 0 end)
    end)

    it('see a parameter that depends on the row', function()
        local function f(_, y) return 1e-4 + 2e-6 * (y - 3) end
        check({ coriolis = { f = 1e-4, beta = 2e-6, y0 = 3 } }, f, f)
    end)

    it('see a parameter that depends on the cell', function()
        local function f(x, y) return 1e-4 + 1e-6 * x + 2e-6 * y end
        check({ coriolis = f }, f, f)
    end)

    it('see widths, areas and rotation of a sphere', function()
        local sphere = grid.new { nx = 8, ny = 6, x = { 0, 8 }, y = { 57, 63 },
            coordinates = 'longitude-latitude' }
        local d = domain.new(mare.ocean { scheme = 'centres', depth = 1, coriolis = 'latitude' },
            sphere, around, 'double')
        local value = seen(d, sphere:split(1, 1)[1])
        for j = -1, 7 do
            local south, centre = math.rad(57 + j), math.rad(57.5 + j)
            assert.near(2 * 7.2921e-5 * math.sin(centre), value(1, 0, j), 1e-19)
            assert.near(2 * 7.2921e-5 * math.sin(south), value(2, 0, j), 1e-19)
            assert.near(math.cos(south) / math.cos(centre), value(3, 0, j), 1e-14)
        end
        local width, height = sphere:cell_size(60)
        local given = state_of(d, sphere:split(1, 1)[1])
        d.scheme:prepare(d, given)
        assert.equal(1 / height, domain.values(given).inv_dy)
        assert.equal(width, domain.values(given).dx)
        fails.says(refused { depth = 1, coriolis = 'latitude' }, 'ocean', "coriolis = 'latitude'",
            'wants', 'longitude')
    end)

    it('see the same on any part', function()
        local big = grid.new { nx = 9, ny = 11, x = { 0, 9 }, y = { 0, 11 } }
        local scheme = mare.ocean { scheme = 'centres', depth = slope,
            coriolis = function(x, y) return x * y end }
        local d = domain.new(scheme, big, walls, 'double')
        local whole = seen(d, big:split(1, 1)[1])
        for _, part in ipairs(big:split(2, 2)) do
            local value = seen(d, part)
            for k = 0, 3 do
                for j = -1, part.ny + 1 do
                    for i = -2, part.nx + 1 do
                        assert.equal(whole(k, part.i0 + i, part.j0 + j), value(k, i, j))
                    end
                end
            end
        end
    end)
end)

describe('the initial state of an ocean', function()
    local function initial(x, y) return 0.5, 2 + x, 3 + y end

    it('has transports at centres, none on land, and no water below the bed', function()
        local cell = mare.ocean { scheme = 'centres', depth = 1 }:conserved(
            new { depth = function(x) return 6 - x end }, initial)
        assert.same({ 0.5, 5.5 * 3, 5.5 * -1 }, { cell(0, 0) })
        assert.same({ 5, 0, 0 }, { cell(5, 0) })
        local d = new { depth = shore }
        assert.same({ 0, 0, 0 }, { d.scheme:conserved(d, initial)(2, 1) })
    end)

    it('has transports of a C-grid on faces, none through closed ones', function()
        local d = new { scheme = 'faces', depth = shore }
        local cell = d.scheme:conserved(d, initial)
        assert.same({ 0.5, 1.5 * 4, 0 }, { cell(1, 0) })
        assert.same({ 0.5, 8 * 12, 8.5 * 6 }, { cell(5, 4) })
        assert.same({ 0, 0, 0 }, { cell(2, 1) })
        assert.equal(0, (select(2, cell(0, 0))))
    end)
end)
