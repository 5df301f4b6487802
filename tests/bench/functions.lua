-- functions.lua - kernels and equations in Lua beside the same written by hand, in one run.
--     mare tests/bench/functions.lua [DEVICE [kernels|peers|solvers|all]]
-- Each kernel runs in Lua and by hand over the same arrays, in turn; `ratio` is the rate in Lua
-- over that by hand, `different` how many elements do not have the same bits. Solvers are timed as
-- solvers.lua does: gas with HLL, built in and in Lua, with light sources and a side by function,
-- and a conducting gas of nine fields against the copy. `peers` are the kernels and, beside them,
-- those of Numba and Warp (functions_peers.py), as far as the Python of $MARE_PYTHON, or python3,
-- has them; set MARE_CACHE to an empty folder to see what Mare's first call takes.

local bandwidth = require 'mare.measure.bandwidth'
local gas = require 'tests.gas_in_lua'
local home = require 'bindings.home'
local json = require 'dkjson'
local mare = require 'mare'
local rate = require 'tests.bench.rate'
local record = require 'tests.bench.record'
local scenario = require 'mare.live.scenario'
local source = require 'mare.base.source'
local system = require 'bindings.system'
local words = require 'tests.bench.words'

local device = words.device(arg[1])
local which = words.choice('functions: part', arg[2] or 'all',
    { 'kernels', 'peers', 'solvers', 'all' })
local is_gpu = device.info.kind == 'gpu'

-- ---- kernels ----

local count = 2 ^ record.few(is_gpu and 26 or 20, 10)
local side = 2 ^ record.few(is_gpu and 13 or 9, 5)
local group, most = 256, record.few(256, 8)

local kernels = {
    { name = 'saxpy', size = count, group = group, arguments = { 2.5, 'x', 'y' },
        lua = function(i, a, x, y) y[i] = a * x[i] + y[i] end,
        hand = [[MR_KERNEL MR_GROUP_SIZE(256, 1, 1)
void hand(int n, real a, const MR_GLOBAL real *x, MR_GLOBAL real *y) {
    int i = mr_gid_x();
    if (i < n) y[i] = a * x[i] + y[i];
}]] },
    { name = 'mandelbrot', size = count, group = group, arguments = { 'y', side, most },
        lua = function(i, y, width, deepest)
            local cx, cy = (i % width) * 3 / width - 2, math.floor(i / width) * 2 / width - 1
            local a, b, n = 0, 0, 0
            while n < deepest and a * a + b * b <= 4 do
                a, b = a * a - b * b + cx, 2 * a * b + cy
                n = n + 1
            end
            y[i] = n
        end,
        hand = [[MR_KERNEL MR_GROUP_SIZE(256, 1, 1)
void hand(int n, MR_GLOBAL real *y, int width, int deepest) {
    int i = mr_gid_x();
    if (i >= n) return;
    real cx = (real)(i % width) * R(3.0) / (real)width - R(2.0);
    real cy = floor((real)i / (real)width) * R(2.0) / (real)width - R(1.0);
    real a = R(0.0), b = R(0.0);
    int k = 0;
    while (k < deepest && a * a + b * b <= R(4.0)) {
        real next = a * a - b * b + cx;
        b = R(2.0) * a * b + cy;
        a = next;
        ++k;
    }
    y[i] = (real)k;
}]] },
    { name = 'stencil of 9 points', size = count, group = group, arguments = { 'x', 'y', side },
        lua = function(i, x, y, width)
            local s = 0.25 * x[i]
            if i > width and i < x.count - width - 1 then
                s = s + 0.125 * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width])
                    + 0.0625 * (x[i - width - 1] + x[i - width + 1] + x[i + width - 1]
                        + x[i + width + 1])
            end
            y[i] = s
        end,
        hand = [[MR_KERNEL MR_GROUP_SIZE(256, 1, 1)
void hand(int n, const MR_GLOBAL real *x, MR_GLOBAL real *y, int w) {
    int i = mr_gid_x();
    if (i >= n) return;
    real s = R(0.25) * x[i];
    if (i > w && i < n - w - 1)
        s = s + R(0.125) * (x[i - 1] + x[i + 1] + x[i - w] + x[i + w])
            + R(0.0625) * (x[i - w - 1] + x[i - w + 1] + x[i + w - 1] + x[i + w + 1]);
    y[i] = s;
}]] },
    { name = 'sums of groups', size = count, group = group, arguments = { 'x', 'y' },
        lua = function(i, x, y)
            local part = mare.work.shared('float', 256)
            local k = mare.work.item()
            part[k] = x[i]
            mare.work.barrier()
            local half = 128
            while half > 0 do
                if k < half then part[k] = part[k] + part[k + half] end
                mare.work.barrier()
                half = bit.rshift(half, 1)
            end
            if k == 0 then y[mare.work.group()] = part[0] end
        end,
        hand = [[MR_KERNEL MR_GROUP_SIZE(256, 1, 1)
void hand(int n, const MR_GLOBAL real *x, MR_GLOBAL real *y) {
    MR_LOCAL real part[256];
    int i = mr_gid_x(), k = mr_lid_x();
    part[k] = x[i];
    MR_BARRIER();
    for (int half_of = 128; half_of > 0; half_of >>= 1) {
        if (k < half_of) part[k] = part[k] + part[k + half_of];
        MR_BARRIER();
    }
    if (k == 0) y[mr_group_x()] = part[0];
}]] },
}

local function buffers()
    local x = device:buffer { type = 'float', count = count, label = 'x' }
    local y = device:buffer { type = 'float', count = count, label = 'y' }
    local z = device:buffer { type = 'float', count = count, label = 'z' }
    local data = device:host { type = 'float', count = count }
    local values = data:pointer()
    for k = 0, count - 1 do values[k] = (k * 37 % 1009) / 1009 end
    x:upload(values)
    data:release()
    y:fill(1)
    z:fill(1)
    return x, y, z
end

local function different(y, z)
    local a, b, found = y:download(), z:download(), 0
    for k = 0, math.min(count, 2 ^ 20) - 1 do if a[k] ~= b[k] then found = found + 1 end end
    return found
end

local function given(case, x, y)
    local list = {}
    for k, value in ipairs(case.arguments) do
        list[k] = value == 'x' and x or value == 'y' and y or value
    end
    return list
end

local function by_hand(case, list)
    local kernel = device:program(source.text(case.hand, case.name,
        { defines = { MARE_REAL = 'float' }, math = 'strict' })):kernel 'hand'
    local values = { global = case.size, group = case.group }
    for k, argument in ipairs(kernel.args) do
        values[argument.name] = k == 1 and case.size or list[k - 1]
    end
    return kernel:bind(values)
end

-- Times two launches in turn. Returns the median seconds of both, the least and the most of the
-- second, and the median of the first over the second.
local function in_turn(first, second)
    local by, own, ratios = {}, {}, {}
    for k = 1, record.few(5, 1) do
        by[k] = record.time(device, function() first:run() end, 0.06, 3)
        own[k] = record.time(device, function() second:run() end, 0.06, 3)
        ratios[k] = by[k] / own[k]
    end
    return record.median(by), record.median(own), own[1], own[#own], record.median(ratios)
end

local function compare(case)
    local x, y, z = buffers()
    local lua, list = mare.kernel(case.lua, { group = case.group }), given(case, x, y)
    local began = system.now()
    lua:source(case.size, unpack(list))
    local translation = system.now() - began
    lua(case.size, unpack(list))
    device.stream:wait()
    local first_call = system.now() - began
    local hand, bound = by_hand(case, given(case, x, z)), lua:bind(case.size, unpack(list))
    hand:run()
    local off = different(y, z)
    local by, own, fastest, slowest, ratio = in_turn(hand, bound)
    collectgarbage()        -- the copies on the host, else within the calls
    local calls, start = record.few(1000, 3), system.now()
    for _ = 1, calls do lua(group, unpack(list)) end
    local call_cost = (system.now() - start) / calls
    device.stream:wait()
    record.write(device, { benchmark = 'functions', kernel = case.name, count = count,
        seconds = own, fastest = fastest, slowest = slowest, seconds_by_hand = by, ratio = ratio,
        different = off, translation_seconds = translation, first_call_seconds = first_call,
        call_seconds = call_cost }, ('%-9s %-22s %9.4g ms, %.3f of by hand, %d bits differ, '
        .. 'translated in %.2g ms, a call %.3g us, the first %.3g ms'):format(device.name,
        case.name, 1e3 * own, ratio, off, 1e3 * translation, 1e6 * call_cost,
        1e3 * first_call))
    for _, buffer in ipairs { x, y, z } do buffer:release() end
    bound:release()
    hand:release()
end

-- ---- peers ----

local function row(name, kernel, of)
    return ('%-9s %-22s %9.4g ms, a call %.3g us, the first %.3g ms'):format(name, kernel,
        1e3 * of.seconds, 1e6 * of.call, 1e3 * of.first_call)
end

-- Measures the kernels by a library of Python, or says why it is not there.
local function by_python(name)
    local path = os.tmpname()
    local pipe = io.popen(("'%s' '%s/tests/bench/functions_peers.py' %s %s %d %d %d %d 2>%s")
        :format(os.getenv 'MARE_PYTHON' or 'python3', home.root, name, device.name:match '%d+$',
            count, side, most, record.few(1000, 3), path))
    local found, last = json.decode(pipe:read '*a'), 'it printed nothing'
    pipe:close()
    for line in io.lines(path) do last = line:find '%S' and line or last end
    os.remove(path)
    if not found then return print(('%s: not here: %s'):format(name, last)) end
    for _, case in ipairs(kernels) do
        local of = found[case.name]
        if of then
            record.write(device, { benchmark = 'functions', kernel = case.name, count = count,
                peer = name, version = found.version, seconds = of.seconds,
                call_seconds = of.call, first_call_seconds = of.first_call },
                row(name, case.name, of))
        end
    end
    print(('  %s: %s'):format(name, found.version))
end

local function peers()
    for _, case in ipairs(kernels) do compare(case) end
    for _, name in ipairs(device.name:find '^cuda' and { 'numba', 'warp' } or {}) do
        by_python(name)
    end
end

-- ---- solvers ----

local function water()
    return mare.equations {
        name = 'water_in_lua', parameters = { g = 9.81 },
        fields = { 'h', mare.vector 'm' }, primitives = { 'h', mare.vector 'u' },
        primitive = function(q) return q.h, q.m.n / q.h, q.m.t / q.h end,
        conserved = function(w) return w.h, w.h * w.u.n, w.h * w.u.t end,
        flux = function(w, p)
            local m = w.h * w.u.n
            return m, m * w.u.n + 0.5 * p.g * w.h * w.h, m * w.u.t
        end,
        speed = function(w, p)
            local c = math.sqrt(p.g * w.h)
            return w.u.n - c, w.u.n + c
        end,
    }
end

-- Light sources, one the same everywhere and one of the place.
local function gravity(q) return 0, 0, -9.81 * q.rho, -9.81 * q.m.y end

local function whirl(q, x, y)
    local pull = 1e-3 * (x - y) * q.rho
    return 0, pull, -pull, 1e-3 * (x - y) * (q.m.x - q.m.y)
end

local function west(q) return q.rho, q.u.x, q.u.y, q.p end

local copy

local function report(name, r, n, base)
    local t_eff = r.cells_per_second * r.bytes_per_cell
    r.benchmark, r.solver, r.nx, r.precision = 'functions', name, n, 'float'
    r.ratio = base and r.cells_per_second / base or nil
    r.copy_bandwidth, r.share_of_copy = copy, copy and t_eff / copy
    record.write(device, r, ('%-9s %-22s %5d² %9.4g Gcells/s%s%s'):format(device.name, name, n,
        r.cells_per_second / 1e9, base and (', %.3f of built in'):format(r.ratio) or '',
        copy and (', %.2f of copy'):format(r.share_of_copy) or ''))
    collectgarbage()
    return r.cells_per_second
end

-- Smooth states that the device computes.
local initial = {
    euler = function(x, y)
        local s = math.sin(2 * math.pi * y)
        return 1.5 + 0.5 * s, 0.5 * s, 0.01 * math.sin(4 * math.pi * x), 2.5
    end,
    water = function(x, y)
        return 60 + math.sin(2 * math.pi * x) * math.sin(2 * math.pi * y), 0, 0
    end,
}

local function measured(name, equations, scheme, n, base, boundaries)
    local r, reason = rate.measure(device, { name = name, equations = equations, scheme = scheme,
        initial = initial[equations], boundaries = boundaries }, 'float', n)
    if not r then return print(name, reason) end
    return report(name, r, n, base)
end

local function solvers()
    copy = bandwidth.measure(device)
    local n = record.few(is_gpu and 8192 or 512, 32)
    local euler = measured('euler hll', 'euler', function()
        return mare.euler { gamma = 5 / 3, flux = 'hll' }
    end, n)
    local own = measured('euler in lua', 'euler', gas, n, euler)
    measured('euler in lua, gravity', 'euler', function() return gas { source = gravity } end, n,
        own)
    measured('euler in lua, source', 'euler', function() return gas { source = whirl } end, n, own)
    measured('euler in lua, side', 'euler', gas, n, own, { west = west, east = 'outflow',
        south = 'periodic', north = 'periodic' })
    local shallow = measured('water hll', 'water', function()
        return mare.shallow_water { flux = 'hll' }
    end, n)
    measured('water in lua', 'water', water, n, shallow)
    local half = record.few(is_gpu and 4096 or 256, 32)
    local found = scenario.load('orszag_tang', { nx = half, ny = half }).desc
    report('mhd, nine fields', rate.of(device, { grid = found.grid, scheme = found.scheme,
        boundaries = found.boundaries, initial = found.initial, devices = { device },
        options = { precision = 'float', cfl = 0.4 } }), half)
end

if which == 'peers' then peers() end
if which == 'kernels' or which == 'all' then
    for _, case in ipairs(kernels) do compare(case) end
end
if which == 'solvers' or which == 'all' then solvers() end
