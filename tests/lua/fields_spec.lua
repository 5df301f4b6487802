-- Fields over the parts of a grid: whatever goes through them is the same however the grid is
-- split, on a device without kernels too, where it needs none.

local device = require 'bindings.device'
local fails = require 'tests.fails'
local fields = require 'mare.array.fields'
local garbage = require 'tests.lua.garbage'
local grid = require 'mare.array.grid'
local memory = require 'bindings.memory'

local open = device.open
local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local nx, ny, halo = 23, 17, 2
local splits = { { 1, 1 }, { 2, 2 }, { 3, 2 } }

-- Parts round robin over the devices.
local function new(devices, split, more)
    local g = grid.new { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, 1 }, halo = halo }
    local parts = g:split(unpack(split))
    for k, part in ipairs(parts) do part.device = devices[(k - 1) % #devices + 1] end
    local desc = { grid = g, parts = parts, names = { 'a', 'b' }, precision = 'double',
        halo = halo, buffers = 2 }
    for key, value in pairs(more or {}) do desc[key] = value end
    return fields.new(desc)
end

local function value(i, j) return 100 * i + j, i - 0.5 * j end

local function filled(...)
    local f = new(...)
    f:fill(value)
    return f
end

-- Field k of all cells as a Lua array.
local function cells_of(f, k)
    local host, list = memory.array('double', nx * ny), {}
    f:download(k, host)
    for n = 1, nx * ny do list[n] = host[n - 1] end
    return list
end

local function expected(compute)
    local list = {}
    for n = 0, nx * ny - 1 do list[n + 1] = compute(n % nx, math.floor(n / nx)) end
    return list
end

local function second(i, j) return (select(2, value(i, j))) end

-- A kernel of one's own, with the arguments that map knows.
local program = { name = 'mine.krn', source = [[
MR_KERNEL
void blend(const MR_GLOBAL double *src, mr_index origin, int stride, mr_index plane,
    const MR_GLOBAL double *more, MR_GLOBAL double *out, double factor, int columns, int rows) {
    int i = mr_gid_x(), j = mr_gid_y();
    mr_index at = origin + (mr_index)j * stride + i;
    if (i < columns && j < rows) out[at] = src[at] * factor + src[at + plane] + more[at];
}

MR_KERNEL
void ends(const MR_GLOBAL double *src, mr_index origin, int stride, MR_GLOBAL double *out,
    int columns, int rows) {
    int i = mr_gid_x(), j = mr_gid_y();
    mr_index at = origin + (mr_index)j * stride + i;
    if (i < columns && j < rows) out[at] = src[at - 1] + src[at + stride];
}

MR_KERNEL
void mark(MR_GLOBAL double *to, int i0) { if (mr_gid_x() == 0) to[i0] = 1.0 + i0; }

MR_KERNEL
void take(const MR_GLOBAL double *foreign, MR_GLOBAL double *to, int i0) {
    if (mr_gid_x() == 0) to[i0] = foreign[i0];
}

MR_KERNEL
void count(MR_GLOBAL double *sums, int i0, int nx) {
    if (mr_gid_x() == 0) sums[i0] += nx;
}
]] }

for _, kind in ipairs { 'null:0', name } do
    describe('fields on ' .. kind, function()
        local devices = { open(kind), open(kind) }      -- handles of one count as two devices

        for _, split in ipairs(splits) do
            local how = (' in %d x %d parts'):format(split[1], split[2])

            it('are filled and read back' .. how, function()
                local f = filled(devices, split)
                assert.same(expected(value), cells_of(f, 1))
                assert.same(expected(second), cells_of(f, 2))
                f:hold_in 'other'
                assert.same(expected(value), cells_of(f, 1))
                f:release()
            end)

            it('are saved and loaded with their ghost cells' .. how, function()
                local f = filled(devices, split)
                local host = f:host { count = f:saved_count() + 5 }
                f:save(host, 'now', 5)
                local at = 5
                for _, k in ipairs { 1, 2 } do
                    for j = -halo, ny + halo - 1 do
                        for i = -halo, nx + halo - 1 do
                            assert.equal((select(k, value(i, j))), host.data[at])
                            at = at + 1
                        end
                    end
                end
                local g = new(devices, { 2, 1 })
                g:load(host, 'now', 5)
                assert.same(expected(second), cells_of(g, 2))
                f:release()
                g:release()
            end)

            it('say where everything is' .. how, function()
                local f, seen = filled(devices, split), 0
                for _, part in ipairs(f:native()) do
                    local data = part.buffer:totable()
                    for j = 0, part.ny - 1 do
                        for i = 0, part.nx - 1 do
                            local at = part.offset + j * part.stride + i + 1
                            local a, b = value(part.i0 + i, part.j0 + j)
                            assert.equal(a, data[at])
                            assert.equal(b, data[at + part.plane])
                            seen = seen + 1
                        end
                    end
                end
                assert.equal(nx * ny, seen)
                f:release()
            end)
        end

        it('refuse a field that is not there', function()
            local f = new(devices, { 1, 1 })
            assert.error_matches(function() f:index 'c' end, "no field 'c' %(there are: a, b%)")
            local launch = f:stencil { program = program, kernel = 'ends', values = { out = f } }
            fails(function() launch:run() end, nil, 'nothing', 'fills')
            launch:release()
            f:release()
        end)
    end)
end

describe('of fields', function()
    local devices = { open(name), open(name) }

    for _, split in ipairs(splits) do
        local how = (' in %d x %d parts'):format(split[1], split[2])

        it('a map follows the buffer that holds them' .. how, function()
            local f, out = filled(devices, split), new(devices, split)
            f.moves = true
            local more = f:like { names = { 'c' }, precision = 'double', halo = halo }
            more:fill(function(i, j) return 1e4 * i * j end)
            local launch = f:map { program = program, kernel = 'blend',
                values = { more = more, out = out, factor = 0.5 } }
            local function blended(i, j)
                local a, b = value(i, j)
                return a * 0.5 + b + 1e4 * i * j
            end
            launch:run()
            assert.same(expected(blended), cells_of(out, 1))
            f:hold_in 'other'
            f:fill(function(i) return i, 0 end)
            launch:run()
            assert.same(expected(function(i, j) return i * 0.5 + 1e4 * i * j end),
                cells_of(out, 1))
            for _, object in ipairs { launch, f, out, more } do object:release() end
        end)

        it('a stencil sees halos that are filled' .. how, function()
            local f, out = filled(devices, split), new(devices, split)
            local scheme = { name = 'none', normal = { x = {}, y = {} } }
            local halos = f:exchange({ west = 'periodic', east = 'periodic', south = 'periodic',
                north = 'periodic' }, scheme)
            function f.fill_halos() halos:run(true) end
            local launch = f:stencil { program = program, kernel = 'ends', field = 'b',
                values = { out = out } }
            launch:run()
            assert.same(expected(function(i, j)
                return second((i - 1) % nx, j) + second(i, (j + 1) % ny)
            end), cells_of(out, 2))
            for _, object in ipairs { launch, halos, f, out } do object:release() end
        end)

        it('sums of rows have the bits of the order of the grid' .. how, function()
            local f = new(devices, split)
            f:fill(function(i, j) return 1 / (1 + i + 3 * j), math.sin(i * j) end)
            local sums = f:reduce { { values = f, field = 'b' }, { values = f, field = 'a' } }
            sums:take()
            local data = sums:wait()
            for j = 0, ny - 1 do
                local lanes, total = {}, 0
                for i = 0, nx - 1 do lanes[i % 32] = (lanes[i % 32] or 0) + math.sin(i * j) end
                for lane = 0, 31 do total = total + (lanes[lane] or 0) end
                assert.equal(total, data[j])
            end
            sums:release()
            f:release()
        end)

        it('boxes and points are gathered' .. how, function()
            local f = filled(devices, split)
            local cells = { i0 = 3, j0 = 2, nx = 6, ny = 5, step = 3 }
            local box = f:gather { cells = cells, slots = 2,
                planes = { { name = 'b', field = 'b' }, { name = 'a', field = 'a' } } }
            local points = f:gather { points = { { 22, 16 }, { 0, 0 }, { 11, 8 } },
                planes = { { name = 'a', field = 'a' } } }
            box:take(1)
            points:take(1)
            f:fill(function() return 0, 0 end)
            box:take(2)
            box:wait(1)
            local planes = box:data(1)
            for n = 0, cells.nx * cells.ny - 1 do
                local i, j = 3 + 3 * (n % 6), 2 + 3 * math.floor(n / 6)
                assert.equal((value(i, j)), planes.a[n])
                assert.equal(second(i, j), planes.b[n])
            end
            local data = points:wait(1)
            for n, at in ipairs { { 22, 16 }, { 0, 0 }, { 11, 8 } } do
                assert.equal((value(at[1], at[2])), data[n - 1])
            end
            assert.equal(0, box:wait(2)[7])
            for _, object in ipairs { box, points, f } do object:release() end
        end)

        it('what devices have each is shared and collected' .. how, function()
            local f = new(devices, split)
            local held = #f.devices
            local r = f:replicate { type = 'double', count = nx, label = 'columns',
                collected = true, values = nil }
            r:fill(0)
            local launch = f:map { program = program, kernel = 'count', values = { sums = r },
                global = function() return 1 end }
            launch:run()
            r:collect()
            local list, total = r:at(1):totable(), 0
            for _, x in ipairs(list) do total = total + x end
            assert.equal(held * nx, #list)
            assert.equal(nx * split[2], total)
            r:share(function(s) return s.part.i0, 1 end)
            r:exchange()
            for _, part in ipairs(f:native()) do
                local rows = r:on(part):totable()
                assert.is_true(rows[part.i0 + 1] > 0)
            end
            for _, object in ipairs { launch, r, f } do object:release() end
        end)
    end

    it('what parts did is adopted by other devices', function()
        local f = new(devices, { 2, 1 })
        local function table_of(list)
            return f:replicate { type = 'double', count = nx, label = 'marks', values = list }
        end
        local zeros = {}
        for k = 1, nx do zeros[k] = 0 end
        local to, foreign = table_of(zeros), table_of()
        local function one() return 1 end
        local launch = f:map { program = program, kernel = 'mark', values = { to = to },
            global = one }
        local others = to:adopt { program = program, kernel = 'take', foreign = foreign,
            values = { to = to, foreign = foreign }, global = one }
        launch:run()
        others:run()
        for _, part in ipairs(f:native()) do
            local marks = to:on(part):totable()
            for k = 1, nx do
                assert.equal((k == 1 or k == 12) and k or 0, marks[k])
            end
        end
        for _, object in ipairs { launch, others, to, foreign, f } do object:release() end
    end)

    it('others over the same parts may lie packed', function()
        local f = new(devices, { 3, 2 })
        local sums = f:like { names = { 'x', 'y', 'z' }, precision = 'double', packed = true }
        assert.equal(3 * nx * ny, sums:saved_count())
        for _, part in ipairs(sums:native()) do
            assert.equal(part.nx, part.stride)
            assert.equal(part.nx * part.ny, part.plane)
            assert.equal(0, part.offset)
            assert.equal(3 * part.nx * part.ny, part.buffer.count)
        end
        sums:release()
        f:release()
    end)

    -- Where LuaJIT interprets a loop, each call of core leaves a status. No table may be left.
    it('leave no tables behind when they run', function()
        local f, out = filled(devices, { 2, 2 }), new(devices, { 2, 2 })
        f.moves = true
        local launch = f:map { program = program, kernel = 'ends', values = { out = out } }
        local r = f:replicate { type = 'double', count = 4, label = 'shares' }
        r:share(function(s) return s.part.index - 1, 1 end)
        local box = f:gather { planes = { { name = 'a', field = 'a' } } }
        local runs, calls, status = 100, 30, 32
        for _, work in ipairs { function() r:exchange() end, function() launch:run() end,
            function() box:take(1) end } do
            local left = garbage(function() for _ = 1, runs do work() end end)
            assert.is_true(left <= runs * calls * status, left)
        end
        for _, object in ipairs { launch, r, box, f, out } do object:release() end
    end)

    it('are given back whole', function()
        local function work()
            local f = filled(devices, { 2, 2 })
            local sums, box = f:reduce { { values = f, field = 'a' } },
                f:gather { planes = { { name = 'a', field = 'a' } } }
            sums:take()
            sums:wait()
            box:take(1)
            box:wait(1)
            for _, object in ipairs { sums, box, f } do object:release() end
        end
        local function buffers()
            collectgarbage()
            collectgarbage()
            local count = 0
            for _, object in ipairs(device.objects()) do
                if object.kind == 'buffer' then count = count + 1 end
            end
            return count
        end
        work()
        local before = buffers()
        for _ = 1, 3 do work() end
        assert.equal(before, buffers())
    end)
end)
