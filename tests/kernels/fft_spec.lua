-- Fourier transforms on devices: beside the transform in plain Lua, by the kernels for processors
-- and by those for GPUs, whose text also compiles for CUDA.

local axis = require 'mare.fft.axis'
local device = require 'bindings.device'
local fails = require 'tests.fails'
local groups = require 'mare.stages.groups'
local mare = require 'mare'
local part = require 'tests.kernels.part'
local plans = require 'mare.fft.plan'
local relay = require 'mare.stages.relay'
local sample = require 'tests.sample'
local shapes = require 'mare.expression.shapes'
local source = require 'mare.base.source'
local types = require 'mare.expression.types'

local null = device.open 'null'
local fft = mare.fft

-- ---- what is compared ----

-- The error of a beside b, relative, in the L2 norm.
local function error_of(a, b)
    assert.same(b.shape, a.shape)
    local x, y = a:flatten():totable(), b:flatten():totable()
    local difference, size = 0, 0
    for k = 1, #y do
        local p, q = x[k], y[k]
        if type(q) == 'number' then
            difference, size = difference + (p - q) ^ 2, size + q ^ 2
        else
            difference = difference + (p.re - q.re) ^ 2 + (p.im - q.im) ^ 2
            size = size + q.re ^ 2 + q.im ^ 2
        end
    end
    return math.sqrt(difference / size)
end

-- Numbers between -0.5 and 0.5, the same on every device.
local function numbers(on, shape, type, is_complex)
    local function part_of(seed)
        return (mare.rand(shape, { seed = seed, device = on, type = 'double' }) - 0.5):to(type)
    end
    return (is_complex and part_of(1):complex(part_of(2)) or part_of(1)):eval()
end

-- Each entry: the function, the shape, whether the numbers are complex, options, the type, the
-- error allowed in units of the rounding times the root of log2 n: 0.75 unless told. Doubles are
-- compared with doubles of null, which are as far from the truth: beside 80 bits fft2 of
-- 2 x 12 x 10 is off by 0.54 on PoCL and 0.62 on null, and the two differ by 0.78.
local cases = {
    { 'fft', { 19, 64 }, true },
    { 'ifft', { 17, 256 }, true, { norm = 'ortho' } },
    { 'fft', { 2, 4096 }, true },
    { 'fft', { 60, 18 }, true, { axes = 0 } },
    { 'fft', { 2, 8, 3 }, true, { axes = 1, n = 13 }, 'double' },
    { 'fft2', { 2, 12, 10 }, true, { norm = 'forward' }, 'double' },
    { 'rfft', { 19, 48 } },
    { 'rfft', { 3, 15 }, false, { n = 21 } },
    { 'irfft', { 19, 25 }, true },
    { 'irfft', { 3, 25 }, true, { n = 35 } },
    { 'irfft2', { 2, 6, 9 }, true },
    { 'fft', { 18, 17 }, true, nil, 'float', 1.3 },
    { 'fft', { 2, 46 }, true, nil, 'float', 1.6 },
    { 'ifft', { 1, 2053 }, true, nil, 'float', 1.6 },      -- a square of 4608 points
    { 'rfft', { 2, 31 }, false, nil, 'float', 1.3 },
    { 'fft', { 17, 3 }, true, { axes = 0 }, 'float', 1.3 },
}

local function log2(n) return math.log(n) / math.log(2) end

local function compare(on, case)
    local name, shape, is_complex, options, type, allowed = unpack(case, 1, 6)
    type = type or 'float'
    local x, y = numbers(on, shape, type, is_complex), numbers(null, shape, type, is_complex)
    local expected = fft[name](y:to(is_complex and 'complex_double' or 'double'), options)
    local unit = (type == 'double' and 2 ^ -53 or 2 ^ -24) * math.sqrt(math.max(1, log2(x.count)))
    allowed = (allowed or 0.75) * (type == 'double' and math.sqrt(2) or 1)
    assert.is_true(error_of(fft[name](x, options), expected) <= allowed * unit)
end

local function with_groups(f, ...)
    axis.has_groups = true
    local ok, failure = pcall(f, ...)
    axis.has_groups = nil
    assert(ok, tostring(failure))
end

-- Functions that depend on the index and the number of the transform.
local function weigh(x, i, batch)
    return { re = x.re * (batch + 1) + i, im = x.im }
end

local function weigh_back(y, k, batch) return { re = y.re, im = y.im * (k + batch) } end

local long_cases = {
    { shape = { 2, 125 }, axes = 1, load = weigh, store = weigh_back },
    { shape = { 2, 125, 3 }, axes = 1, load = weigh, store = weigh_back, transform = 'ifft' },
    { shape = { 125, 2 }, axes = 0, n = 100, norm = 'ortho' },
    { shape = { 25, 6 }, axes = { 0, 1 } },       -- in two passes, in place
    { shape = { 4, 25 }, load = weigh, store = weigh_back, relays = true },
    { shape = { 3, 4096 }, transform = 'ifft', relays = true, most = 16 },
    { shape = { 25, 64 }, axes = 0, relays = true },
    { shape = { 7, 16, 16 }, axes = { 1, 2 }, relays = true },
    { shape = { 3, 8, 16 }, axes = { 1, 2 }, norm = 'ortho', transform = 'ifft', crosses = true },
}

-- Compares what a plan does on a device with what it does on a null device.
local function compare_plans(on, given)
    local desc, results = {}, {}
    for name, value in pairs(given) do desc[name] = value end
    for k, there in ipairs { on, null } do
        desc.type, desc.device = k == 1 and 'complex_float' or 'complex_double', there
        local x = numbers(there, desc.shape, k == 1 and 'float' or 'double', true)
        results[k] = fft.plan(desc)(x)
    end
    assert.is_true(error_of(results[1], results[2]) < 1e-6)
end

-- Calls f with limits of groups that are given, and with kernels for groups.
local function with_limits(given, f, ...)
    local before = {}
    for name, value in pairs(given) do
        before[name], groups.limits[name] = groups.limits[name], value
    end
    local ok, failure = pcall(with_groups, f, ...)
    for name, value in pairs(before) do groups.limits[name] = value end
    assert(ok, tostring(failure))
end

-- Calls f with kernels of at most `most` points, and relays of arrays of any size where they are
-- wanted. Returns how many relays there were.
local function with_passes(given, f)
    local relays, most_points, of = 0, groups.most_points, relay.of
    relay.of = function(...)
        local both = of(...)
        if both then relays = relays + 1 end
        return both
    end
    groups.most_points = function() return 4 * (given.most or 6) end
    local crossed = groups.crossed
    groups.crossed = function(row) return given.crosses and row == 16 and 2 or nil end
    groups.crossed_rows[16] = given.crosses and { 4, 4, 2, 2 } or nil
    local ok, failure = pcall(with_limits, { most_in_column = given.most or 5, least_of_relays = 1,
        lag_of_relays = 1000, units = 0, line = 128, line_of_short = 128,
        has_relays = function() return given.relays end }, f)
    groups.most_points, relay.of, groups.crossed = most_points, of, crossed
    groups.crossed_rows[16] = nil
    assert(ok, tostring(failure))
    return relays
end

-- Returns what mare.fft.plan is asked for.
local function plan_of(given)
    local desc = {}
    for name, value in pairs(given) do desc[name] = value end
    desc.relays, desc.most, desc.crosses = nil, nil, nil
    return desc
end

-- Kernels of at most five points take 125 in three passes and 25 in two; the first may store
-- columns as rows. Relays do two of them at once, as they do rows and then columns.
local function compare_long(on, given)
    local relays = with_passes(given, function() compare_plans(on, plan_of(given)) end)
    assert.equal(given.relays or false, relays > 0, table.concat(given.shape, ' x '))
end

-- Filters of real and complex numbers, of a length that one kernel takes and of one that none does.
local filters = {
    { shape = { 12, 10 }, type = 'float' },
    { shape = { 2, 8, 9 }, type = 'uint8', result = 'uint8' },
    { shape = { 16 }, type = 'float', axes = -1, result = 'half' },
    { shape = { 34, 6 }, type = 'float' },
    { shape = { 3, 16 }, type = 'complex_float', axes = -1 },
}

local function compare_filters(on, given)
    local m, results, bytes = fft.maths, {}, {}
    local is_plain = given.shape[1] ~= 34 and given.shape[2]
    for k, there in ipairs { on, null } do
        local plan = fft.plan { shape = given.shape, type = given.type, result = given.result,
            device = there, transform = 'filter', axes = given.axes or { -2, -1 },
            numbers = { 'width' },
            filter = function(y, place, _, p)
                local factor = m.exp(-(place * place) * p.width)
                return { re = y.re * factor, im = y.im * factor }
            end,
            aside = is_plain and function(y, place, number)
                return { { place + 16 * number, y.re * 0.1 + 100 } }
            end or nil }
        local x = numbers(there, given.shape, 'double', given.type:find 'complex')
        if given.type == 'uint8' then x = x * 200 + 100 end
        bytes[k] = is_plain and mare.zeros({ 320 }, { type = 'uint8', device = there }):eval()
        results[k] = plan(x:to(given.type):eval(), { numbers = { width = 0.01 },
            aside = bytes[k] or nil })
        if given.result then assert.equal(given.result, results[k].type) end
    end
    if is_plain then
        local a, b = bytes[1]:totable(), bytes[2]:totable()
        for k = 1, #a do assert.is_true(math.abs(a[k] - b[k]) <= 1) end
    end
    local as = given.type:find 'complex' and 'complex_double' or 'double'
    assert.is_true(error_of(results[1]:to(as), results[2]:to(as)) < (given.result and 1e-2 or 1e-6))
end

local function title_of(case)
    return ('%s of %s, n = %s'):format(case[1], table.concat(case[2], ' x '),
        tostring(case[4] and case[4].n or 'whole'))
end

-- What is tried on each device, beside the cases.
local titles = {
    'transforms have the properties of transforms',
    'long transforms take two kernels',
    'long transforms take several passes',
    'what is transformed is filtered and transformed back',
    "Poisson's equation is solved",
    'functions are parts of the kernel',
    'arrays are transformed in place',
    'complex halves are transformed',
    'views are transformed as they lie',
}

for _, d in ipairs(part.devices()) do
    if not d.is_null and d.info.has_double then
        local drawn = {}
        for _, title in ipairs(sample(titles, 4)) do drawn[title] = true end
        local function some(title, f)
            if drawn[title] then it(title .. ' on ' .. d.name, f) end
        end

        for _, case in ipairs(sample(cases, 2)) do
            it(title_of(case) .. ' on ' .. d.name, function() compare(d, case) end)
        end
        if d.info.kind == 'cpu' then
            for _, case in ipairs(sample(cases, 2)) do
                it(title_of(case) .. ' in groups on ' .. d.name, function()
                    with_groups(compare, d, case)
                end)
            end
        end

        -- Of one length with small factors and a prime.
        some('transforms have the properties of transforms', function()
            for _, n in ipairs(sample({ 34, 60, 17 }, 1)) do
                local x, y = numbers(d, { n }, 'float', true), numbers(d, { n }, 'float')
                local k = mare.arange(n, { device = d })
                local function root(turns) return mare.cos(turns):complex(-mare.sin(turns)) end
                local turn, of_x = 2 * math.pi / n, fft.fft(x)
                local impulse = fft.fft(k:eq(3):float())
                assert.is_true(error_of(impulse, root(k * 3 % n * turn):eval()) < 1e-6)
                local shifted = mare.zeros({ n }, { device = d, type = 'complex_float' }):eval()
                shifted { { 5, n } }:assign(x { { 0, n - 5 } })
                shifted { { 0, 5 } }:assign(x { { n - 5, n } })
                assert.is_true(error_of(fft.fft(shifted), (of_x * root(k * 5 % n * turn)):eval())
                    < 1e-6)
                local sum = (of_x:abs() ^ 2):sum():item() / (x:abs() ^ 2):sum():item()
                assert.is_true(math.abs(sum / n - 1) < 1e-6)
                assert.is_true(error_of(fft.fft(2 * x + y), (2 * of_x + fft.fft(y)):eval()) < 1e-6)
                local whole, half = fft.fft(y), math.floor(n / 2) + 1
                local back = whole { { nil, n - half, -1 } }:conj()
                assert.is_true(error_of(whole { { 1, half } }, back) < 1e-6)
                assert.is_true(error_of(fft.rfft(y), whole { { 0, half } }) < 1e-6)
            end
        end)

        some('long transforms take two kernels', function()
            local n, at, k = 2 ^ 18, 12345, 54321
            local x = mare.arange(n, { device = d }):eq(at)
            local y = fft.fft(x)
            local angle = 2 * math.pi * (at * k % n) / n
            local value = y:at(k)
            assert.is_true(math.abs(value.re - math.cos(angle)) < 1e-6)
            assert.is_true(math.abs(value.im + math.sin(angle)) < 1e-6)
            assert.is_true((fft.ifft(y):real() - x:float()):abs():max():item() < 1e-6)
        end)

        some('long transforms take several passes', function()
            for _, desc in ipairs(sample(long_cases, 1)) do compare_long(d, desc) end
        end)

        some('what is transformed is filtered and transformed back', function()
            for _, given in ipairs(sample(filters, 1)) do
                for _, in_groups in ipairs(sample({ false, true }, 1)) do
                    if in_groups then with_groups(compare_filters, d, given)
                    else compare_filters(d, given) end
                end
            end
        end)

        some("Poisson's equation is solved", function()
            local f = numbers(null, { 3, 4, 5 }, 'double')
            local expected = fft.poisson(f, { order = 'second' })
            local solved = fft.poisson(numbers(d, { 3, 4, 5 }, 'float'), { order = 'second' })
            assert.is_true(error_of(solved, expected) < 1e-6)
        end)

        some('functions are parts of the kernel', function()
            local m, turn = fft.maths, 2 * math.pi / 40
            local function window(i) return 0.5 - 0.5 * m.cos(i * turn) end
            local power = fft.plan { shape = { 3, 40 }, type = 'int16', transform = 'rfft',
                device = d, load = function(x, i, batch) return x * window(i) + batch end,
                store = function(y, k)
                    return (y.re ^ 2 + y.im ^ 2) * m.where(m.gt(k, 0), 2, 1)
                end }
            local x = (mare.rand({ 3, 40 }, { seed = 3, device = d }) * 1000):int16():eval()
            local y = power(x)
            local i, batch = mare.arange(40, { device = d }), mare.arange(3, { device = d })
            local whole = fft.rfft(x * (0.5 - 0.5 * mare.cos(i * turn)) + batch:unsqueeze(1))
            local factor = mare.where(mare.arange(21, { device = d }):gt(0), 2, 1)
            assert.equal('float', y.type)
            assert.is_true(error_of(y, (whole:abs() ^ 2 * factor):eval()) < 1e-6)
        end)

        some('arrays are transformed in place', function()
            local x = numbers(d, { 3, 64 }, 'float', true)
            local expected, later = fft.fft(x), x + 0
            local plan = fft.plan { shape = { 3, 64 }, device = d }
            assert.equal(x, plan(x, { out = x }))
            assert.equal(0, (x - expected):abs():max():item())
            assert.is_true(error_of(fft.ifft(x), later) < 1e-6)     -- what x was before
            local y = x:copy():eval()
            x:buffer()
            local recorded = d.stream:record(function() plan(x, { out = y }) end)
            x:assign(later)
            recorded:run(2)
            assert.equal(0, (y - expected):abs():max():item())
        end)

        some('complex halves are transformed', function()
            local x = numbers(d, { 3, 64, 2 }, 'half')
            local parts = x:float()
            local whole = parts { {}, {}, 0 }:complex(parts { {}, {}, 1 })
            local plan = fft.plan { shape = { 3, 64 }, type = 'complex_half', device = d,
                norm = 'ortho' }
            local y = plan(x)
            assert.same({ 'half', { 3, 64, 2 } }, { y.type, y.shape })
            parts = y:float()
            assert.is_true(error_of(parts { {}, {}, 0 }:complex(parts { {}, {}, 1 }),
                fft.fft(whole, { norm = 'ortho' })) < 2 ^ -12)
            if d.name:find '^cuda' then     -- OpenCL has no buffers that begin so
                local odd = mare.array(d:buffer { type = 'half', count = 385 }:view(1))
                odd = odd:reshape(3, 64, 2):assign(x)
                assert.equal(0, (plan(odd) - y):abs():max():item())
                fails(function() plan(x, { out = odd }) end, 'MARE_ERROR_ARGUMENT', 'is a part')
            end
            plan(x, { out = x })
            assert.equal(0, (x - y):abs():max():item())
        end)

        some('views are transformed as they lie', function()
            local x = numbers(d, { 3, 4, 8, 10 }, 'float', true)
            local view = x { {}, { 0, 4, 2 }, {}, { 9, nil, -3 } }:transpose(3, 0, 2, 1)
            local y, z = fft.fft(view, { axes = 2 }), fft.fft(view:copy(), { axes = 2 })
            assert.equal(0, (y - z):abs():max():item())
            assert.is_true(error_of(fft.ifft(y, { axes = 2 }), view) < 1e-6)
        end)
    end
end

-- ---- on a null device: the definition ----

it('transforms are what their definition says', function()
    for _, n in ipairs { 1, 2, 5, 12, 17 } do
        local x = numbers(null, { n }, 'double', true)
        local y, given = fft.fft(x):totable(), x:totable()
        for k = 0, n - 1 do
            local re, im = 0, 0
            for j = 0, n - 1 do
                local c, s = math.cos(2 * math.pi * j * k / n), math.sin(2 * math.pi * j * k / n)
                re = re + given[j + 1].re * c + given[j + 1].im * s
                im = im + given[j + 1].im * c - given[j + 1].re * s
            end
            assert.is_true(math.abs(re - y[k + 1].re) + math.abs(im - y[k + 1].im) < 1e-13)
        end
    end
end)

it('transforms along all axes have inverses', function()
    local x = numbers(null, { 2, 3, 4 }, 'double')
    local y = fft.rfftn(x)
    assert.same({ 2, 3, 3 }, y.shape)
    assert.is_true(error_of(fft.irfftn(y), x) < 1e-15)
    assert.is_true(error_of(fft.ifftn(fft.fftn(x)):real(), x) < 1e-15)
end)

-- ---- CUDA ----

it('passes are done in relays where these are wanted', function()
    for _, given in ipairs(long_cases) do
        local desc = plan_of(given)
        desc.device = null
        local relays = with_passes(given, function() fft.plan(desc):source() end)
        assert.equal(given.relays or false, relays > 0, table.concat(given.shape, ' x '))
    end
end)

it('shares of divided arrays are transformed with the radices of the whole one', function()
    local function points(columns, share)      -- of a work-item
        local plan = plans.of { what = 'fft', transform = 'fft', device = null, axes = { 0 },
            shape = shapes.of({ 64, columns }, 2), type = types.complex_float, share = share }
        return plan:source()[1]:match 'real a_re%[(%d+)%]'
    end
    assert.same({ '8', '4' }, { points(2400), points(1200) })
    assert.same({ '8', '4' }, { points(1200, { many = 2 }), points(2400, { many = 1 / 2 }) })
end)

it('rows come ahead into local memory where they are whole 16 bytes', function()
    local function come(n)
        return fft.plan { shape = { 1, n }, type = 'complex_float', device = null }:source()[1]
            :match 'mr_bulk_expect%(word, (%d+)%)'
    end
    with_limits({ least_ahead = 1, has_bulk = function() return true end }, function()
        assert.same({ '27648' }, { come(3456), come(3375) })
    end)
end)

it('kernels of transforms compile for CUDA', function()
    local function check(desc)
        desc.device = null
        for _, text in ipairs(fft.plan(desc):source()) do
            local program = source.text(text, 'fft', { math = 'strict',
                defines = { MARE_REAL = desc.type:find 'double' and 'double' or 'float' } })
            local ok, message = pcall(device.check, 'cuda:sm_90', program)
            if not ok and message.status == 'MARE_ERROR_UNAVAILABLE' then pending 'no NVRTC' end
            assert.truthy(ok, tostring(message))
        end
    end
    local list = {
        { shape = { 8, 256 }, type = 'complex_float' },
        { shape = { 1000 }, type = 'complex_double', transform = 'ifft' },
        { shape = { 8, 100 }, type = 'half', transform = 'rfft' },
        { shape = { 8, 33 }, type = 'complex_float', transform = 'irfft', axes = 0 },
        { shape = { 2 ^ 16 }, type = 'complex_float' },
        { shape = { 1009 }, type = 'complex_float' },
        { shape = { 1007 }, type = 'float', transform = 'rfft' },
        { shape = { 8, 1024 }, type = 'float', transform = 'rfft',
            load = function(x, i) return x * fft.maths.cos(i) end },
        { shape = { 8, 64 }, type = 'complex_half' },
        { shape = { 10007 }, type = 'complex_float' },
        { shape = { 16, 1024 }, type = 'complex_float', axes = 0 },
    }
    for _, desc in ipairs(sample(list, 2)) do check(desc) end
    local function has() return true end
    for _, case in ipairs(sample({
        { { 64, 2 ^ 16 }, { least_of_relays = 1, has_relays = has } },
        { { 8, 64 }, { least_ahead = 1, has_bulk = has } },
    }, 1)) do
        with_limits(case[2], check, { shape = case[1], type = 'complex_float' })
    end
end)

-- ---- refusals ----

it('what cannot be transformed is named', function()
    local function refused(f, ...) fails(f, 'MARE_ERROR_ARGUMENT', ...) end
    local x = mare.zeros({ 4, 6 }, { device = null })
    refused(function() fft.fft(mare.zeros({ 4, 0 }, { device = null })) end, 'fft.fft', 'length 0',
        'axis 1')
    refused(function() fft.fft(x, { n = 0 }) end, 'length 0')
    refused(function() fft.fft2(x, { n = 3 }) end, '1 lengths', '2 axes')
    refused(function() fft.irfft(mare.zeros({ 1 }, { device = null })) end, 'length 0')
    refused(function() fft.fft2(x, { axes = { 1, -1 } }) end, 'axis 1', 'twice')
    refused(function() fft.fft(x, { axes = 2 }) end, 'axis 2', '{ 4, 6 }')
    refused(function() fft.fft2(mare.zeros({ 4 }, { device = null })) end, '{ 4 }', '2 axes')
    refused(function() fft.rfft(x:complex(1)) end, 'real', 'complex_float')
    refused(function() fft.fft(x, { norm = 'both' }) end, 'both', 'ortho')
    refused(function() fft.fft(x, { axis = 1 }) end, 'axis', 'axes')
    refused(function() fft.fft { 1, 2 } end, 'array', 'table')
    local plan = fft.plan { shape = { 4, 6 }, type = 'float', device = null }
    refused(function() plan(x:double()) end, 'double', 'float')
    refused(function() plan(mare.zeros({ 6, 4 }, { device = null })) end, '{ 4, 6 }', '{ 6, 4 }')
    refused(function() plan(mare.zeros({ 4, 6 }, { device = device.open 'null' })) end, 'null:0')
    refused(function() plan(x, { out = x }) end, 'out is float', 'complex_float { 4, 6 }')
    refused(function() plan(x, { into = x }) end, 'into', 'out')
    local z = mare.zeros({ 6, 4 }, { device = null, type = 'complex_float' }):eval()
    plan = fft.plan { shape = { 4, 6 }, device = null }
    refused(function() plan(z:transpose(), { out = z:transpose() }) end, 'part of an array')
    refused(function() fft.plan { shape = { 4 }, type = 'quad' } end, 'quad')
    local function same(y) return y end
    refused(function() fft.plan { shape = { 4 }, transform = 'filter' } end, 'without a function')
    refused(function() fft.plan { shape = { 4 }, filter = same } end, "transform = 'filter'")
    refused(function() fft.plan { shape = { 4 }, device = null, result = 'half' } end, 'half',
        'complex')
    local filter = fft.plan { shape = { 4 }, device = null, transform = 'filter', filter = same,
        numbers = { 'width' } }
    local c = mare.zeros({ 4 }, { device = null, type = 'complex_float' })
    refused(function() filter(c) end, 'numbers.width')
    refused(function() filter(c, { numbers = { width = 1, height = 2 } }) end, 'height', 'width')
    refused(function() filter(c, { numbers = { width = 1 }, aside = c }) end, 'no function aside')
    local halved = fft.plan { shape = { 4 }, type = 'complex_half', device = null }
    refused(function() halved(x) end, 'complex_half', 'float { 4, 6 }')
    local wide = mare.zeros({ 4, 3 }, { type = 'half', device = null })
    local four = mare.ones({ 4, 2 }, { type = 'half', device = null })
    refused(function() halved(four, { out = wide { {}, { 0, 2 } } }) end, 'out is a part')
    refused(function() fft.plan { shape = { 4 }, device = null, type = 'complex_double',
        result = 'complex_half' } end, 'complex_half')
    refused(function() fft.plan { shape = { 4 }, device = null, type = 'complex_half',
        backend = 'cufft' } end, 'cufft')
    refused(function() fft.plan { shape = { 4 }, transform = 'dct' } end, 'dct', 'rfft')
    refused(function() fft.fft(x, { n = 'six' }) end, 'n', 'string')
    refused(function() fft.fft(x, { load = function() end }) end, 'load', 'nil')
    refused(function() fft.fft(x, { load = function() return 'x' end }) end, 'load', 'string')
    refused(function() fft.fft(x, { store = function(y) return { re = y.re } end }) end,
        'store: im')
    refused(function() fft.rfft(x, { load = function(v) return { re = v, im = v } end }) end,
        'load', 'complex')
end)
