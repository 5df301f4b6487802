-- Measures y = a x + y, which memory limits, and products of matrices, which arithmetic limits:
-- by work-items alone, with tiles in local memory, by Mare's own kernel, and by the library that
-- Mare finds (mare doctor). It prints a table of rates and of errors.

local mare = require 'mare'

local o = mare.options {
    title = 'Rates of linear algebra',
    help = 'saxpy and products of matrices, from naive kernels to the library of the device.',
    mare.options.device,
    { name = 'elements', default = 2 ^ 22, range = { 1, 2 ^ 30 }, help = 'elements of x and y' },
    { name = 'n', default = 512, range = { 1, 32768 }, help = 'rows and columns of the matrices' },
    { name = 'seconds', default = 0.2, type = 'number', help = 'time of each measurement' },
    { name = 'quiet', default = false, help = 'print nothing' },
}
local print = o.quiet and function() end or print
local device = mare.options.apply('device', mare.device.open, o.device)

local source = [[
    MR_KERNEL void saxpy(int n, real a, const MR_GLOBAL real *x, MR_GLOBAL real *y) {
        int i = mr_gid_x();
        if (i < n) y[i] = mr_fma(a, x[i], y[i]);
    }

    /* Each work-item reads a row of a and a column of b from memory. */
    MR_KERNEL void naive(int n, const MR_GLOBAL real *a, const MR_GLOBAL real *b,
                         MR_GLOBAL real *c) {
        int i = mr_gid_y(), j = mr_gid_x();
        if (i >= n || j >= n) return;
        real sum = 0;
        for (int k = 0; k < n; ++k) sum = mr_fma(a[i * n + k], b[k * n + j], sum);
        c[i * n + j] = sum;
    }

    /* A group reads each element of a tile once, for SIDE rows or columns. */
    MR_KERNEL MR_GROUP_SIZE(SIDE, SIDE, 1)
    void tiled(int n, const MR_GLOBAL real *a, const MR_GLOBAL real *b, MR_GLOBAL real *c) {
        MR_LOCAL real ta[SIDE * SIDE];
        MR_LOCAL real tb[SIDE * SIDE];
        int x = mr_lid_x(), y = mr_lid_y(), i = mr_gid_y(), j = mr_gid_x();
        real sum = 0;
        for (int k = 0; k < n; k += SIDE) {
            ta[y * SIDE + x] = i < n && k + x < n ? a[i * n + k + x] : 0;
            tb[y * SIDE + x] = j < n && k + y < n ? b[(k + y) * n + j] : 0;
            MR_BARRIER();
            for (int l = 0; l < SIDE; ++l)
                sum = mr_fma(ta[y * SIDE + l], tb[l * SIDE + x], sum);
            MR_BARRIER();
        }
        if (i < n && j < n) c[i * n + j] = sum;
    }
]]

local side = 16
local program = device:program { source = source, name = 'blas.krn', defines = { SIDE = side } }

-- Returns the seconds of one call, the least of three batches.
local function time(work)
    local start, stop, calls, best = device:event(), device:event(), 1, math.huge
    local function batch()
        start:record()
        for _ = 1, calls do work() end
        stop:record()
        return start:elapsed_ms(stop) / 1000 / calls
    end
    batch()
    calls = math.max(1, math.min(1000, math.floor(o.seconds / 3 / batch())))
    for _ = 1, 3 do best = math.min(best, batch()) end
    return best
end

local rows = {}

-- Measures work() and adds a row. error: the largest one of its result
local function report(name, work, amount, unit, error)
    local rate = amount / time(work)
    rows[#rows + 1] = { name = name, rate = rate, unit = unit, error = error }
    print(('%-36s %10.4g G%-7s largest error %.2g'):format(name, rate / 1e9, unit, error))
end

local function random(sizes, seed)
    return mare.rand(sizes, { seed = seed, device = device }):eval()
end

local function largest(a) return mare.abs(a):max():item() end

-- ---- y = a x + y ----

do
    local n, a = o.elements, 0.75
    local x, y, z = random({ n }, 1), random({ n }, 2), random({ n }, 2)
    local expected = (a * x + y):eval()
    local launch = program:kernel 'saxpy':bind { n = n, a = a, x = x, y = z, global = n }
    print(('%s: y = a x + y, %d elements'):format(device.name, n))
    launch:run()
    local error = largest(z - expected)
    report('saxpy, a kernel', function() launch:run() end, 12 * n, 'B/s', error)
    y:assign(a * x + y)
    error = largest(y - expected)
    report('saxpy, y:assign(a * x + y)', function() y:assign(a * x + y) end, 12 * n, 'B/s', error)
end

-- ---- products of matrices ----

do
    local n = o.n
    local a, b, c = random({ n, n }, 3), random({ n, n }, 4), random({ n, n }, 5)
    local flops, exact = 2 * n ^ 3, device.info.has_double and 'double' or 'float'
    local expected = a:to(exact):matmul(b:to(exact), { library = 'own' }):eval()
    print(('products of %d x %d matrices'):format(n, n))
    local function wrong(made) return largest(made - expected) / n end
    local function measure(name, launch)
        launch:run()
        report(name, function() launch:run() end, flops, 'FLOP/s', wrong(c))
    end
    local wide = math.ceil(n / side) * side
    local arguments = { n = n, a = a, b = b, c = c, global = { wide, wide },
        group = { side, side } }
    measure('naive', program:kernel 'naive':bind(arguments))
    measure(('tiles of %d x %d'):format(side, side), program:kernel 'tiled':bind(arguments))
    local libraries = { 'own' }
    local found = mare.blas.library(device)
    if found ~= 'own' then libraries[2] = found end
    for _, library in ipairs(libraries) do
        local made = a:matmul(b, { library = library })
        report(library == 'own' and 'matmul, own kernel' or 'matmul, ' .. library, function()
            a:matmul(b, { library = library }):eval()
        end, flops, 'FLOP/s', wrong(made))
    end
end

return { rows = rows }
