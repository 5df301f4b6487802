-- Arrays on devices: what kernels compute is what the host computes on a null device, and the
-- kernels of all types compile for CUDA.

local array = require 'mare.ndarray.array'
local device = require 'bindings.device'
local fails = require 'tests.fails'
local mare = require 'mare'
local part = require 'tests.kernels.part'
local reduce_text = require 'mare.expression.reduce_text'
local sample = require 'tests.sample'
local source = require 'mare.base.source'
local tree = require 'mare.expression.tree'
local types = require 'mare.expression.types'

local null = device.open 'null'

-- Each entry: name, the error allowed, and a function of a device that returns an array.
local expressions = {
    { 'sums of flat arrays of any size', 0, function(on)
        local a = mare.arange(1003, { device = on }):float():eval()
        return mare.sqrt(a * a + 2 * a) / (1 + a) - a:copy():eval()
    end },
    { 'views that are repeated', 0, function(on)
        local a = mare.arange(120, { device = on }):reshape(4, 5, 6):double():eval()
        local b = a { {}, 2, { nil, nil, -1 } }:unsqueeze(1)
        return a:transpose(2, 1, 0) * 0.5 - b:transpose()
    end },
    { 'whole numbers of all widths', 0, function(on)
        local a = mare.arange(-300, 300, 7, { device = on }):eval()
        return (a:int8() * 5):int32() + a:uint8() % 7 - a:int16() % -5 + a:uint16()
            + mare.bit_xor(a, 21):int64() * 2 ^ 33 + mare.shift_right(a, 2)
            + mare.shift_left(a, a) - (a:double() ^ 7):int32()
    end },
    { 'reals as whole numbers', 0, function(on)
        local a = mare.arange(-40, 40, { device = on }):double():eval()
        local b = (a / (a % 3) * 1e17):eval()
        return mare.logical_and(b:to('int8'):gt(-2), b:to('uint64'):ne(2 ^ 53)):to 'int64'
            + b:to 'int64' - b:float():to 'uint16'
    end },
    { 'truth values', 0, function(on)
        local a = mare.arange(77, { device = on }):float():eval()
        local even = (a % 2):eq(0):eval()
        return mare.where(mare.logical_and(even, a:gt(9)), a, -a):ne(3)
    end },
    { 'halves', 0, function(on)
        local a = mare.linspace(-3, 3, 61, { device = on, type = 'half' }):eval()
        return a * a * a - 1.1 * a
    end },
    { 'complex numbers', 0, function(on)
        local a = mare.arange(9, { device = on }):double():eval()
        local z = a:complex(2 - a):eval()
        return z * z - mare.conj(z) / (z + 7)
    end },
    { 'functions of complex numbers', 1e-13, function(on)
        local a = mare.arange(-4, 5, { device = on }):double():eval()
        local z = a:complex(0.5 - a / 3):eval()
        local w = mare.sqrt(z) * mare.exp(z / 4) - mare.log(z) ^ 2.5 + mare.tanh(z) / mare.cos(z)
        return w:real() + 3 * w:imag()
    end },
    { 'functions', 4e-7, function(on)
        local a = mare.linspace(0.1, 3, 100, { device = on }):eval()
        return mare.sin(a) * mare.exp(-a) + mare.atan2(a, 2) + mare.log1p(a) ^ 1.5 + mare.erf(a)
    end },
}

-- Reductions whose elements are computed to the same bits: so must be the results.
expressions[#expressions + 1] = { 'sums of rows', 0, function(on)
    local a = mare.arange(40007, { device = on }):float():eval()
    local low, high, total = (a / 7 - 0.25 * a):reduce { 'min', 'max', 'sum' }
    return total - a { {}, }:sum() + high * low
end }
expressions[#expressions + 1] = { 'sums of columns and extremes', 0, function(on)
    local a = (mare.arange(3 * 200 * 5, { device = on }):float() % 97 / 7):reshape(3, 200, 5):eval()
    return a:sum { axis = 1 } + a:max { axis = { 0, 1 } } - a:mean { axis = { 2, 0 } }:min()
end }
expressions[#expressions + 1] = { 'compensated sums', 0, function(on)
    local a = (mare.rand({ 3, 40007 }, { seed = 3, device = on }) - 0.3):eval()
    local b = a { {}, { 0, 300 } }:double()
    return a:sum { axis = 1, compensated = true } + a:sum { compensated = true }
        + (b / 7):sum { axis = 0, compensated = true }:sum { compensated = true }
end }
expressions[#expressions + 1] = { 'random numbers', 0, function(on)
    return mare.rand({ 101 }, { seed = 7, device = on }):double()
        + mare.rand({ 101 }, { seed = 8, type = 'double', device = on })
        - mare.randint(-5, 5, { 101 }, { seed = 9, device = on })
        + mare.permutation(101, { seed = 10, device = on })
end }

local function compare(a, b, allowed)
    assert.equal(b.type, a.type)
    assert.same(b.shape, a.shape)
    local x, y = a:flatten():totable(), b:flatten():totable()
    for k = 1, #y do
        if type(y[k]) == 'cdata' then
            assert.same({ y[k].re, y[k].im }, { x[k].re, x[k].im })
        elseif allowed == 0 then
            assert.equal(y[k], x[k])
        else
            assert.truthy(math.abs(x[k] - y[k]) <= allowed * math.max(1, math.abs(y[k])))
        end
    end
end

for _, d in ipairs(part.devices()) do
    for _, entry in ipairs(sample(expressions, 4)) do
        local name, allowed, f = unpack(entry)
        if not d.is_null and d.info.has_double then
            it(('arrays compute %s on %s'):format(name, d.name), function()
                for _, in_groups in ipairs(sample({ false, true }, 1)) do
                    if d.info.kind == 'cpu' then reduce_text.in_groups = in_groups end
                    finally(function() reduce_text.in_groups = nil end)
                    compare(f(d), f(null), allowed)
                end
            end)
        end
    end
end

-- Units in the last place of float that functions may be off by, as scenarios/ARRAYS.md says:
-- OpenCL's bounds, which CUDA's are within. first, last: where they are tried
local bounds = {
    { first = -20, last = 20, cbrt = 2, expm1 = 3, exp = 3, exp2 = 3, sin = 4, cos = 4, tan = 5,
        atan = 5, sinh = 4, cosh = 4, tanh = 5, asinh = 4, erf = 16 },
    { first = -0.999, last = 0.999, asin = 4, acos = 4, atanh = 5, log1p = 2, erfc = 16 },
    { first = 1.001, last = 30, sqrt = 0, log = 3, log2 = 3, log10 = 3, acosh = 4, tgamma = 16,
        hypot = 4, atan2 = 6, pow = 16 },
}

local of_two = {
    hypot = function(a) return a:hypot(3) end,
    atan2 = function(a) return a:atan2(7) end,
    pow = function(a) return a ^ 1.75 end,
}

-- Returns the largest distance of floats from doubles, in units in the last place of float.
local function distance(floats, doubles)
    local worst = 0
    for k, x in ipairs(doubles) do
        local _, exponent = math.frexp(x)
        worst = math.max(worst, math.abs(floats[k] - x) / 2 ^ math.max(exponent - 24, -149))
    end
    return worst
end

for _, d in ipairs(part.devices()) do
    if not d.is_null then
        it('functions are off by no more than is said, on ' .. d.name, function()
            for _, case in ipairs(bounds) do
                local names, rest = {}, { first = true, last = true }
                for name in pairs(case) do if not rest[name] then names[#names + 1] = name end end
                local function all(a)
                    local list = {}
                    for k, name in ipairs(names) do list[k] = (of_two[name] or mare[name])(a) end
                    return unpack(list)
                end
                local n = 1500
                local a = mare.linspace(case.first, case.last, n, { device = d }):eval()
                local exact = { all(mare.array(a:data(), { device = null }):double()) }
                for k, made in ipairs { mare.fuse(all)(a) } do
                    local worst = distance(made:totable(), exact[k]:totable())
                    -- Half a unit more is the rounding of a value to float.
                    assert.truthy(worst <= case[names[k]] + 0.5, names[k] .. ' ' .. worst)
                end
            end
        end)
    end
end

for _, d in ipairs(part.devices()) do
    if not d.is_null then
        it('arrays in plans are replayed whatever is computed meanwhile, on ' .. d.name, function()
            local function record(x, r)
                local total
                local plan = d.stream:record(function()
                    r:assign(x + x)
                    total = (x + x):sum():eval()
                end)
                return plan, total
            end
            for _, n in ipairs { 5, 40000 } do      -- large results leave a launch no memory
                local x, r = mare.ones({ n }, { device = d }):eval(), mare.ones(n, { device = d })
                r:eval()
                for round = 1, 2 do
                    local plan, total = record(x, r)
                    local late = x - r
                    x:assign(round)
                    r:assign(0)
                    local other = mare.full({ n }, 7, { device = d }):eval()
                    assert.equal(14 * n, (other + other):sum():item())
                    plan:run(2)
                    assert.same({ 2 * n * round, 2 * round, round == 1 and 0 or -1 },
                        { total:item(), r:at(-1), late:at(0) })
                end
            end
        end)
    end
end

it('arrays of a null device are not recorded', function()
    local x = mare.ones({ 3 }, { device = null })
    fails(function() null.stream:record(function() x:sum() end) end, 'MARE_ERROR_ARGUMENT', 'null',
        'no plan')
end)

-- Computed often, an expression goes a way of its own: straight.lua.
for _, d in ipairs(part.devices()) do
    it('arrays compute the same when they are computed again, on ' .. d.name, function()
        local function f(a, b) return 2 * a + (b - a):abs() * b end
        local function check(a, b, x, y, n)
            local made, expected = f(a, b):eval(), 2 * x + math.abs(y - x) * y
            assert.same({ expected, expected, n }, { made:at(0), made:at(-1), made.count })
        end
        local one = mare.full({ 1 }, 9, { device = d }):eval()
        for n = 1, 12 do
            local a, b = mare.full({ n }, n, { device = d }), mare.full({ n }, 3, { device = d })
            a:eval()
            b:eval()
            check(a, b, n, 3, n)
            check(a, a, n, n, n)
            check(a, one, n, 9, n)
            check(a { { nil, nil, -1 } }, b, n, 3, n)
            local early = (a - b):abs() + a
            local late = early * 2
            early:eval()        -- what `late` is made of is a leaf by now
            assert.equal(2 * (math.abs(n - 3) + n), late:at(0))
            local shared = b - a
            local first, second = (2 * shared):eval(), (3 * shared):eval()
            assert.same({ 6 - 2 * n, 9 - 3 * n }, { first:at(0), second:at(-1) })
        end
    end)

    it('kernels of expressions keep no device, ' .. d.name, function()
        local kept = setmetatable({}, { __mode = 'v' })
        kept[1] = device.open(d.name)
        for n = 2, 4 do
            local x = mare.ones(n, { device = kept[1] }):eval()
            assert.equal(2 * n, (x + x):sum():item())
            assert.same({ 2, 2 }, (x + x):reshape(n, 1) { { 0, 2 }, 0 }:totable())
        end
        assert.equal(1, mare.ones(3, { device = kept[1] }):take({ 2 }):item())
        collectgarbage()
        collectgarbage()
        assert.is_nil(kept[1])
    end)
end

it('kernels of expressions compile for CUDA', function()
    for _, entry in ipairs(sample(expressions, 4)) do
        local text = source.text(entry[3](null):source(), entry[1],
            { math = 'strict', defines = { MR_BRIEF = 1 } })
        local ok, message = pcall(device.check, 'cuda:sm_90', text)
        if not ok and message.status == 'MARE_ERROR_UNAVAILABLE' then pending 'no NVRTC' end
        assert.truthy(ok, tostring(message))
    end
end)

it('kernels of reductions compile for CUDA', function()
    local a = mare.ones({ 4, 5 }, { device = null })
    local nodes = { float = a * 2, bool = a:gt(3), int64 = a:to 'int64' }
    for type, handle in pairs(nodes) do
        local plan = tree.of { array.node(handle) }
        local schemes = { compensated = { 'rows', 'columns' }, sum = { 'rows', 'stacks' },
            any = { 'columns', 'stacks' }, all = { 'rows', 'columns' },
            least = { 'columns', 'stacks' } }
        local names = { float = { 'compensated', 'sum' }, bool = { 'any', 'all' },
            int64 = { 'sum', 'least' } }
        for _, name in ipairs(sample(names[type], 1)) do
            for _, scheme in ipairs(schemes[name]) do
                local one = { name = name, type = types[type] }
                local second = name == 'compensated' and { name = 'rest', type = one.type } or one
                local text = reduce_text.of(plan, { reductions = { one, second }, kept = 2,
                    scheme = scheme, reduced = 3, is_wide = type == 'int64' })
                local ok, message = pcall(device.check, 'cuda:sm_90',
                    source.text(text, name, { math = 'strict' }))
                if not ok and message.status == 'MARE_ERROR_UNAVAILABLE' then pending 'no NVRTC' end
                assert.truthy(ok, tostring(message))
            end
        end
    end
end)
