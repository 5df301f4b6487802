-- jacobi.lua - Jacobi's iteration over several devices in the ways of usual programs, such as those
-- of NVIDIA's multi-gpu-programming-models, written with Mare's devices: what an exchange costs
-- there, beside `mare bench scaling`. A part is rows above each other, around.
--     mare tests/bench/jacobi.lua [DEVICE,DEVICE...] [N,N...] [SECONDS]
--   copies    a step, then rows are copied from the neighbours
--   overlap   edge rows first, on streams of their own, which copy while the others are computed
--   stores    the kernel stores its edge rows with the neighbours, too; events order the devices
--   plan      the same, sixteen steps recorded
--   staged    in ranks of MPI: a step, then rows pass through the host
-- N x N cells a part (weak), and in all (strong). All ways must come to the bits of one device.

local devices = require 'bindings.device'
local here = require 'mare.ranks.here'
local launch = require 'tests.ranks.launch'
local links = require 'mare.links'
local own_device = require 'mare.ranks.own_device'
local reach = require 'mare.links.reach'
local record = require 'tests.bench.record'
local system = require 'bindings.system'
local zlib = require 'bindings.zlib'
require 'mare'

local text = [[
MR_FN real next_value(const MR_GLOBAL real *a, mr_index at, int i, int nx) {
    if (i == 0 || i == nx - 1) return a[at];
    return R(0.25) * (a[at - 1] + a[at + 1] + (a[at - nx] + a[at + nx]));
}

MR_KERNEL void begin(MR_GLOBAL real *to, int nx, int rows, int first, int all) {
    int i = mr_gid_x(), j = mr_gid_y();
    if (i < nx && j < rows + 2)
        to[(mr_index)j * nx + i] = (real)((i * 7 + (first + j - 1 + all) % all * 13) % 101);
}

/* Rows from .. from + rows - 1. */
MR_KERNEL void jacobi(const MR_GLOBAL real *from, MR_GLOBAL real *to, int nx, int first, int rows) {
    int i = mr_gid_x(), j = mr_gid_y();
    if (i >= nx || j >= rows) return;
    mr_index at = (mr_index)(first + j) * nx + i;
    to[at] = next_value(from, at, i, nx);
}

MR_KERNEL void jacobi_and_store(const MR_GLOBAL real *from, MR_GLOBAL real *to,
    MR_GLOBAL real *low, MR_GLOBAL real *high, int nx, int rows) {
    int i = mr_gid_x(), j = mr_gid_y() + 1;
    if (i >= nx || j > rows) return;
    mr_index at = (mr_index)j * nx + i;
    real value = next_value(from, at, i, nx);
    to[at] = value;
    if (j == 1) low[(mr_index)(rows + 1) * nx + i] = value;
    if (j == rows) high[i] = value;
}
]]

local names, sizes = {}, {}
for name in (arg[1] or devices.open().name):gmatch '[^,]+' do names[#names + 1] = name end
for n in (arg[2] or (record.is_small and '32' or '1024')):gmatch '%d+' do
    sizes[#sizes + 1] = tonumber(n)
end
local seconds, rounds = record.few(tonumber(arg[3] or 0.2), 0), record.few(5, 1)
local rest, together = record.few(0.07, 0), 16

local kernels = setmetatable({}, { __mode = 'k' })
local function kernel(device, name)
    kernels[device] = kernels[device] or device:program { source = text, name = 'jacobi.krn',
        defines = { MARE_REAL = 'float' } }
    return kernels[device]:kernel(name)
end

-- ---- parts ----

local group = { 64, 4 }

local function new_part(device, nx, rows, first, all)
    local self = { device = device, nx = nx, rows = rows, stream = device.stream }
    for k = 0, 1 do
        self[k] = device:buffer { type = 'float', count = (rows + 2) * nx }
        kernel(device, 'begin'):bind { to = self[k], nx = nx, rows = rows, first = first,
            all = all, global = { nx, rows + 2 }, group = group }:run()
    end
    self.done, self.edges, self.inner, self.fetched = device:event(), device:event(),
        device:event(), device:event()
    for _, event in ipairs { self.done, self.edges, self.inner, self.fetched } do
        event:record()
    end
    return self
end

-- Binds a step over some rows, for either buffer that it may start from.
local function bind_rows(p, first, rows)
    local list = {}
    for k = 0, 1 do
        list[k] = kernel(p.device, 'jacobi'):bind { from = p[k], to = p[1 - k], nx = p.nx,
            first = first, rows = rows, global = { p.nx, rows }, group = group }
    end
    return list
end

-- Copies the edge rows of the neighbours into those of buffer k beyond the part.
local function fetch(p, k, stream)
    local nx, rows = p.nx, p.rows
    p[k]:copy(p.low[k], { src_offset = p.low.rows * nx, offset = 0, count = nx,
        stream = stream })
    p[k]:copy(p.high[k], { src_offset = nx, offset = (rows + 1) * nx, count = nx,
        stream = stream })
end

local function wait_for_neighbours(p, event, stream)
    stream:wait_event(p.low[event])
    stream:wait_event(p.high[event])
end

-- ---- the ways: each returns step(k), which queues a step from buffer k ----

local ways = {}

function ways.copies(parts)
    for _, p in ipairs(parts) do p.all = bind_rows(p, 1, p.rows) end
    return function(k)
        for _, p in ipairs(parts) do
            wait_for_neighbours(p, 'edges', p.stream)      -- have read the rows to be written
            p.all[k]:run()
            p.done:record()
        end
        for _, p in ipairs(parts) do
            wait_for_neighbours(p, 'done', p.stream)
            fetch(p, 1 - k, p.stream)
            p.edges:record()
        end
    end
end

function ways.overlap(parts)
    for _, p in ipairs(parts) do
        p.side = p.device:stream {}
        p.south, p.north = bind_rows(p, 1, 1), bind_rows(p, p.rows, 1)
        p.rest = bind_rows(p, 2, p.rows - 2)
    end
    return function(k)
        for _, p in ipairs(parts) do
            p.side:wait_event(p.inner)
            wait_for_neighbours(p, 'fetched', p.side)
            p.south[k]:run(p.side)
            p.north[k]:run(p.side)
            p.edges:record(p.side)
            p.stream:wait_event(p.fetched)
            p.rest[k]:run()
            p.inner:record()
        end
        for _, p in ipairs(parts) do
            wait_for_neighbours(p, 'edges', p.side)
            fetch(p, 1 - k, p.side)
            p.fetched:record(p.side)
        end
        for _, p in ipairs(parts) do p.stream:wait_event(p.fetched) end
    end
end

function ways.stores(parts)
    for _, p in ipairs(parts) do
        p.all = {}
        for k = 0, 1 do
            p.all[k] = kernel(p.device, 'jacobi_and_store'):bind { from = p[k], to = p[1 - k],
                low = p.low[1 - k], high = p.high[1 - k], nx = p.nx, rows = p.rows,
                global = { p.nx, p.rows }, group = group }
        end
    end
    return function(k, is_first)
        for _, p in ipairs(parts) do
            if #parts > 1 and not is_first then wait_for_neighbours(p, 'done', p.stream) end
        end
        for _, p in ipairs(parts) do
            p.all[k]:run()
            if #parts > 1 then p.done:record() end
        end
    end
end

function ways.plan(parts)
    local step = ways.stores(parts)
    local plan = parts[1].stream:record(function()
        for k = 2, #parts do parts[1].stream:join(parts[k].stream) end
        for k = 1, together do step((k - 1) % 2, k == 1) end
    end, 'steps of Jacobi')
    return nil, plan
end

function ways.staged(parts)
    local p, rank, size = parts[1], here.rank, here.size
    local all, moves = bind_rows(p, 1, p.rows), { [0] = {}, {} }
    local low, high, width = (rank - 1) % size, (rank + 1) % size, 4 * p.nx
    for k = 0, 1 do
        local function add(way, row, other, tag)
            moves[k][#moves[k] + 1] = way == 'send' and links.send('staged', { buffer = p[k],
                type = 'float', count = p.nx, region = { width = width, height = 1,
                    src_offset = row * width } }, other, tag, 'rows')
                or links.receive('staged', { device = p.device, type = 'float', count = p.nx,
                    buffer = p[k]:view(row * p.nx, p.nx) }, other, tag, 'rows')
        end
        add('send', 1, low, 40 + k)
        add('send', p.rows, high, 50 + k)
        add('receive', 0, low, 50 + k)
        add('receive', p.rows + 1, high, 40 + k)
    end
    return function(k)
        all[k]:run()
        for _, one in ipairs(moves[1 - k]) do one:pack() end
        p.stream:wait()
        for _, one in ipairs(moves[1 - k]) do one:start() end
        for _, one in ipairs(moves[1 - k]) do one:finish() end
    end
end

-- ---- measuring ----

-- Makes the parts of this rank: nx columns, `all` rows over so many parts.
local function make_parts(opened, count, nx, all)
    local parts, rows = {}, all / count
    for k = 1, here.size > 1 and 1 or count do
        local at = here.size > 1 and here.rank or k - 1
        parts[k] = new_part(opened[(k - 1) % #opened + 1], nx, rows, at * rows, all)
    end
    for k, p in ipairs(parts) do
        p.low, p.high = parts[(k - 2) % #parts + 1], parts[k % #parts + 1]
    end
    return parts
end

local function wait(parts)
    for _, p in ipairs(parts) do
        p.stream:wait()
        if p.side then p.side:wait() end
    end
end

-- Returns f(steps), an even number, which takes them and waits.
local function runner(way, parts)
    local step, plan = ways[way](parts)
    return function(steps)
        if plan then plan:run(steps / together) end
        for k = 1, plan and 0 or steps do step((k - 1) % 2) end
        wait(parts)
    end
end

local function checksum(parts)
    local list = {}
    for k, p in ipairs(parts) do
        local data = p[0]:download { offset = p.nx, count = p.rows * p.nx }
        list[k] = zlib.crc32(0, data:pointer(), 4 * p.rows * p.nx)
    end
    return table.concat(list, ' ')
end

local function median_us(run)
    run(2 * together)
    local start = system.now()
    run(2 * together)
    local steps = together * math.max(1, math.ceil(seconds / rounds / (system.now() - start) * 2))
    steps = here.broadcast(steps)
    local found = {}
    for k = 1, rounds do
        system.sleep(rest)
        here.all(true)
        start = system.now()
        run(steps)
        found[k] = 1e6 * (system.now() - start) / steps
    end
    return record.median(found)
end

-- Raises where a way does not compute what one device does, on few cells.
local function small_check(opened, way, count)
    local nx, all = 48, 12 * count
    local parts = make_parts(opened, count, nx, all)
    local run = runner(way, parts)
    run(2 * together)
    local mine = checksum(parts)
    local one = here.alone(function()
        local whole = make_parts({ opened[1] }, 1, nx, all)
        runner('stores', whole)(2 * together)
        local sums = {}
        for k = 1, count do
            local data = whole[1][0]:download { offset = nx + (k - 1) * 12 * nx, count = 12 * nx }
            sums[k] = tostring(zlib.crc32(0, data:pointer(), 4 * 12 * nx))
        end
        return sums
    end)
    local expected = here.size > 1 and one[here.rank + 1] or table.concat(one, ' ')
    if mine ~= expected then error(('%s: other bits than one device'):format(way), 0) end
end

-- Measures a way, and writes the record. one: microseconds of a step on one device
local function report(opened, way, kind, n, count, one)
    local rows = kind == 'weak' and count * n or n
    local us = median_us(runner(way, make_parts(opened, count, n, rows)))
    collectgarbage()
    if here.rank > 0 then return end
    local of_one = one / us / (kind == 'weak' and 1 or count)
    record.write(opened[1], { benchmark = 'jacobi', way = way, kind = kind, n = n, parts = count,
        ranks = here.size, us = us, one_us = one, of_one = of_one },
        ('%-10s jacobi %-8s %-6s %5d^2, %d parts: %8.2f us, %5.1f %% of one (%.2f us)'):format(
        opened[1].name, way, kind, n, count, us, 100 * of_one, one))
    io.stdout:flush()
end

local list = here.size > 1 and { 'staged' } or { 'copies', 'overlap', 'stores', 'plan' }

local function measure()
    local opened, count = {}, math.max(2, here.size > 1 and here.size or #names)
    local own = own_device(names)
    for k = 1, here.size > 1 and 1 or count do opened[k] = devices.open(own[(k - 1) % #own + 1]) end
    if here.size == 1 then
        for _, a in ipairs(opened) do
            for _, b in ipairs(opened) do
                if not reach(a, b) then return print 'the devices do not reach each other' end
            end
        end
    end
    for _, way in ipairs(list) do small_check(opened, way, count) end
    for _, n in ipairs(sizes) do
        local one = here.alone(function()
            return median_us(runner('plan', make_parts({ opened[1] }, 1, n, n)))
        end)
        for _, way in ipairs(list) do
            for _, kind in ipairs { 'weak', 'strong' } do
                report(opened, way, kind, n, count, one)
            end
        end
    end
end

measure()
if here.size == 1 then
    local launcher
    launch.each(function(found) launcher = found end)
    if not launcher then return print 'no launcher of MPI was found' end
    local command = launch.command(launcher, math.max(2, #names),
        "arg = { ... } require 'tests.bench.jacobi'", table.concat({ table.concat(names, ','),
            table.concat(sizes, ','), seconds }, ' '))
    io.stdout:flush()
    os.execute(command)
end
