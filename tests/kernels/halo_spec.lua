-- Ghost cells of every kind, on both ends of both axes; saxpy and copy.

local boundary = require 'mare.array.boundary'
local constants = require 'mare.base.constants'
local part = require 'tests.kernels.part'
local tables = require 'bindings.tables'

local nx, ny = 7, 5
local names = tables.keys(boundary.kinds)

local function cells(i, j)
    return 1 + i + 10 * j, 0.5 * i - j, 2 * j + 0.25 * i, 500 + i * j
end

-- What each rule puts beyond the ends of a line of n cells: at(cell) tells those of the line, and
-- `sign` is -1 for the field that is normal to the end.
local beyond = {
    [constants.KIND_KEEP] = function(at, cell) return at(cell) end,
    [constants.KIND_COPY] = function(at, cell, n) return at(cell % n) end,
    [constants.KIND_MIRROR] = function(at, cell, n, sign)
        return sign * at(cell < 0 and -1 - cell or 2 * n - 1 - cell)
    end,
    [constants.KIND_REPEAT] = function(at, cell, n) return at(cell < 0 and 0 or n - 1) end,
}

-- The lines of a part along an axis, of n cells.
local function lines_of(p, axis)
    local x = axis == 'x'
    return { n = x and nx or ny, lines = x and ny or nx + 4, along = x and 1 or p.stride,
        across = x and p.stride or 1, origin = x and p:element(1, 0, 0) or p:element(1, -2, 0) }
end

local function axis_of(p, axis, staggered)
    local l = lines_of(p, axis)
    return { cells = l.n, lines = l.lines, origin = l.origin, along = l.along, across = l.across,
        plane = p.plane, fields = 4, normals = axis == 'x' and 2 or 4,
        staggered = staggered and 1 or 0 }
end

local function fill(p, axis, low_kind, high_kind, staggered)
    local l = lines_of(p, axis)
    part.program(p.device, 'array/halo.krn', { MARE_REAL = p.precision }):kernel 'halo':bind {
        state = p.now, low_cells = p.now, high_cells = p.now, axis = axis_of(p, axis, staggered),
        low = { kind = low_kind, origin = l.origin + (l.n - 2) * l.along, along = l.along,
            across = l.across, plane = p.plane },
        high = { kind = high_kind, origin = l.origin, along = l.along, across = l.across,
            plane = p.plane },
        global = { l.lines, 2 * 4 }, group = { 1, 1 },
    }:run()
end

-- The same for a periodic axis, by a parcel whose strips begin at an element of no even number.
-- Returns the rate in it, of the part's maxima.
local function fill_by_parcel(p, axis, rate)
    local l, lead, group = lines_of(p, axis), 3, 4
    local count = 2 * l.lines * 4
    local program = part.program(p.device, 'array/parcel.krn', { MARE_REAL = p.precision,
        GROUP = group })
    local parcel = p.device:buffer { type = p.precision, count = lead + 2 * count }
    local function strip(first, at)
        return { lines = l.lines, origin = l.origin + first * l.along, along = l.along,
            across = l.across, plane = p.plane, packed_origin = at, packed_along = 1,
            packed_across = 2, packed_plane = 2 * l.lines }
    end
    local function ghosts(at)
        return { kind = constants.KIND_COPY, origin = at, along = 1, across = 2,
            plane = 2 * l.lines }
    end
    program:kernel 'pack':bind { parcel = parcel, fields = 4, first_cells = p.now,
        first = strip(0, lead), second_cells = p.now, second = strip(l.n - 2, lead + count),
        maxima = p.maxima, count = 9, group = { group, 1 },
        global = { group * math.ceil(l.lines / group), 2 * 4 + 1 } }:run()
    program:kernel 'unpack':bind { state = p.now, axis = axis_of(p, axis), low_cells = parcel,
        low = ghosts(lead + count), high_cells = parcel, high = ghosts(lead), clock = p.clock,
        rate = rate, global = { l.lines, 2 * 4 }, group = { 1, 1 } }:run()
    return parcel:totable()[1]
end

-- The value of a cell of a line, ghost cells too. sign: as of `beyond`
local function on_line(at, cell, n, low_kind, high_kind, sign)
    if cell >= 0 and cell < n then return at(cell) end
    local kind = cell < 0 and low_kind or high_kind
    return assert(beyond[kind], 'this rule is not in `beyond`')(at, cell, n, sign)
end

-- x comes first, over interior rows; then y, over the full width.
local function expected(q, i, j, low_kind, high_kind)
    local function first(row)
        local function at(column) return (select(q, cells(column, row))) end
        if row < 0 or row >= ny then return at(i) end
        return on_line(at, i, nx, low_kind, high_kind, q == 2 and -1 or 1)
    end
    return on_line(first, j, ny, low_kind, high_kind, q == 3 and -1 or 1)
end

local function check_all_cells(values, low_kind, high_kind)
    for j = -2, ny + 1 do
        for i = -2, nx + 1 do
            for q = 1, 4 do
                local place = ('field %d, cell %d %d'):format(q, i, j)
                assert.equal(expected(q, i, j, low_kind, high_kind), values(q, i, j), place)
            end
        end
    end
end

for _, device in ipairs(part.devices()) do
    local function new_part()
        return part.new { device = device, nx = nx, ny = ny, dx = 1, dy = 1, cells = cells }
    end

    describe('halo on ' .. device.name, function()
        for k, low_name in ipairs(names) do
            local high_name = names[k % #names + 1]
            local title = ('fills ends of kinds %s and %s, corners too'):format(low_name, high_name)
            it(title, function()
                local low_kind = boundary.kinds[low_name].rule
                local high_kind = boundary.kinds[high_name].rule
                local p = new_part()
                fill(p, 'x', low_kind, high_kind)
                fill(p, 'y', low_kind, high_kind)
                check_all_cells(p:values(), low_kind, high_kind)
            end)
        end

        it('comes by parcels, with which the clock ticks', function()
            local p = new_part()
            p.clock:upload { 0, 0, 1, 0.5, 0, 0, 0, 0, 0, 0 }
            p.maxima:upload { 1, 2, 1, 1, 1, 1, 1, 3, 1, 9 }
            assert.equal(3, fill_by_parcel(p, 'x', 4))
            assert.equal(0, fill_by_parcel(p, 'y', 5))
            check_all_cells(p:values(), constants.KIND_COPY, constants.KIND_COPY)
            local now = p.clock:totable()
            assert.same({ 0.125, 0.1, 1 }, { now[1], now[2], now[5] })
        end)

        it('mirrors what lies on faces about the face of the wall', function()
            local p = new_part()
            fill(p, 'x', constants.KIND_MIRROR, constants.KIND_MIRROR, true)
            local values = p:values()
            for j = 0, ny - 1 do
                for _, i in ipairs { -2, -1, nx + 1 } do
                    local from = i < 0 and -i or 2 * nx - i
                    assert.equal(-select(2, cells(from, j)), values(2, i, j))
                    from = i < 0 and -1 - i or 2 * nx - 1 - i
                    assert.equal(select(3, cells(from, j)), values(3, i, j))
                end
                assert.equal(0, values(2, nx, j))
            end
        end)
    end)

    describe('small kernels on ' .. device.name, function()
        it('copy and add exactly n elements', function()
            local x, y, z = {}, {}, {}
            for k = 1, 103 do x[k], y[k], z[k] = k, 1000 - k, k <= 101 and 1000 + k or 1000 - k end
            local a = device:buffer { type = 'float', count = 103 }
            local b = device:buffer { type = 'float', count = 103 }
            a:upload(x)
            b:upload(y)
            local saxpy = part.program(device, 'measure/saxpy.krn',
                { MARE_REAL = 'float' }):kernel 'saxpy'
            saxpy:bind { n = 101, a = 2, x = a, y = b, global = { 101 }, group = { 16 } }:run()
            assert.same(z, b:totable())
            local defines = { MARE_REAL = 'float', W = 4, GROUP = 8 }
            local copy_kernel = part.program(device, 'measure/copy.krn', defines):kernel 'copy'
            copy_kernel:bind { dst = a, src = b, count = 102, global = { 26 }, group = { 8 } }:run()
            z[103] = 103
            assert.same(z, a:totable())
        end)
    end)
end
