-- Arrays: what they are to a script, in numbers that a null device computes on the host.

local fails = require 'tests.fails'
local mare = require 'mare'
local sample = require 'tests.sample'
local launches = require 'mare.expression.launches'

local null = mare.device.open 'null'

-- Makes arrays on the null device.
local function on_null(f)
    return function(sizes, options)
        options = options or {}
        options.device = null
        return f(sizes, options)
    end
end
local array, zeros, ones = on_null(mare.array.new), on_null(mare.zeros), on_null(mare.ones)
local function arange(n) return mare.arange(n, { device = null }) end

local function is(expected, a)
    assert.same(expected, a:totable())
end

describe('an array', function()
    it('is cdata with a shape, a type and a length', function()
        local a = arange(12):reshape(3, 4):float()
        assert.equal('cdata', type(a))
        assert.equal(3, #a)
        assert.same({ 3, 4 }, { unpack(a.shape) })
        assert.equal('{ 3, 4 }', tostring(a.shape))
        assert.same({ 2, 12, 'float', null }, { a.rank, a.count, a.type, a.device })
        assert.is_true(a == a)
        assert.is_false(a == arange(3))
    end)

    it('comes from a table and becomes one', function()
        is({ { 1, 2 }, { 3, 4 } }, array { { 1, 2 }, { 3, 4 } })
        is({ true, false }, array { true, false })
        assert.equal('bool', array({ true }).type)
        assert.equal('float', array({ 1 }).type)
        assert.equal(7, array(7):totable())
        assert.equal('double', array({ 1 }, { type = 'double' }).type)
    end)

    it('is joined with others, shifted, and compared with its neighbours', function()
        local a = arange(6):reshape(2, 3)
        is({ { 0, 1, 2, 0 }, { 3, 4, 5, 1 } },
            mare.concatenate({ a, a { 0, { 0, 2 } }:unsqueeze(1) }, { axis = -1 }))
        assert.equal('float', mare.concatenate({ a, a / 2 }).type)
        is({ { 0, 3 }, { 1, 4 }, { 2, 5 } }, mare.stack({ a { 0 }, a { 1 } }, { axis = 1 }))
        is({ { 2, 0, 1 }, { 5, 3, 4 } }, a:roll(-2, 1))
        is({ { 3, 4, 5 }, { 0, 1, 2 } }, a:roll(3))
        is({ { 1, 3 }, { 7, 9 } }, (a * a):diff())
        is({ { 9, 15, 21 } }, (a * a):diff(0))
        fails(function() mare.concatenate { a, arange(3) } end, 'MARE_ERROR_ARGUMENT', '{ 2, 3 }',
            '{ 3 }')
        fails(function() mare.stack(a) end, nil, 'list of arrays')
        fails(function() mare.stack {} end, nil, 'stack: at least one array')
        fails(function() mare.concatenate { a, 3 } end, nil, 'concatenate', 'place 2, not a number')
        fails(function() mare.stack({ a, a }, { axis = 4 }) end, nil, 'axis 4', '-3 to 2')
        fails(function() a:roll(0 / 0) end, nil, 'steps = nan')
        fails(function() array(7):diff() end, nil, 'diff: axis -1, the shape is {}: there is none')
        fails(function() return a[a:gt(1)] end, nil, 'a { mask }')
    end)

    it('comes from memory of the host and from buffers, which it shares', function()
        local host = null:host { type = 'int16', count = 3 }
        for k = 0, 2 do host.data[k] = k - 1 end
        is({ -1, 0, 1 }, array(host))
        local buffer = null:buffer { type = 'double', count = 4 }
        buffer:upload { 1, 2, 3, 4 }
        local a = mare.array(buffer):reshape(2, 2)
        assert.equal('double', a.type)
        a { 0, 1 }:assign(9)
        assert.same({ 1, 9, 3, 4 }, buffer:totable())
        assert.equal(3, a:at(1, 0))
        assert.same({ 1, 9, 3, 4 }, a:buffer():totable())
        local copy = null:program { name = 'copy.krn', source = [[
MR_KERNEL void copy(MR_GLOBAL const double *from, MR_GLOBAL double *to) { to[0] = from[0]; }
]] }:kernel 'copy'
        copy:bind { from = a:transpose(), to = a, global = 1 }
        fails(function() copy:bind { from = a, to = a:transpose(), global = 1 } end, nil,
            "'to'", ':copy()')
        local numbers = arange(4)
        numbers { { 1, 3 } }:buffer():upload { 7, 8 }
        is({ 0, 7, 8, 3 }, numbers)
        -- A kernel cannot load two doubles at once where no 16 bytes begin.
        local odd = mare.array(buffer:view(1))
        assert.truthy((odd + 1):source():find 'rows')
        assert.is_nil((mare.array(buffer:view(2)) + 1):source():find 'rows')
        odd:assign(odd * 2)
        assert.same({ 1, 18, 6, 8 }, buffer:totable())
    end)

    it('is made of nothing', function()
        is({ { 0, 0 } }, zeros { 1, 2 })
        is({ 1, 1 }, ones(2))
        is({ 0.5 }, mare.full({ 1 }, 0.5, { device = null }))
        is({ 2, 5, 8 }, mare.arange(2, 9, 3, { device = null }))
        assert.equal('int32', arange(3).type)
        assert.equal('float', mare.arange(0, 1, 0.5, { device = null }).type)
        is({ 0, 0.25, 0.5, 0.75, 1 }, mare.linspace(0, 1, 5, { device = null }))
        is({ { 1, 0, 0 }, { 0, 1, 0 } }, mare.eye(2, 3, { device = null }))
        is({}, zeros { 0 })
        is({ {}, {} }, zeros { 2, 0 })
    end)

    it('tells what it has not', function()
        local a = arange(6):reshape(2, 3)
        fails(function() return a.shap end, 'MARE_ERROR_ARGUMENT', 'shap', 'shape')
        fails(function() return a.T end, nil, 'a:transpose()')
        fails(function() return mare.round end, nil, 'mare.rint')
        fails(function() return a:norm { ord = 1 } end, nil, 'norm: ', 'ord')
        fails(function() return a:reshape(4, -1, 2) end, nil, '6 elements', '{ 4, 0, 2 } has 0')
        fails(function() return a[1] end, nil, 'a{ 1 }')
        fails(function() a.x = 1 end, nil, ':assign')
        fails(function() return a < 1 end, nil, 'lt')
        fails(function() return a + ones(4) end, nil, 'int32 { 2, 3 }', 'float { 4 }')
        fails(function() return a + 'x' end, nil, "'+'", 'string')
        fails(function() return mare.zeros({ 2 }, { type = 'flot' }) end, nil, 'flot', 'float')
        fails(function() return mare.zeros(2, 3) end, nil, 'zeros: 3 stands', '{ 2, 3 }')
        fails(function() return mare.randint(0, 6, 2, 3) end, nil, 'randint: 3', '{ 2, 3 }')
        fails(function() return mare.array({ 1 }, 'int8') end, nil, "{ type = 'int8' }")
        fails(function() return array({ 0.5 }, { type = 'int64' }) end, nil, 'does not fit int64')
        fails(function() return mare.array { 1, nil, 3 } end, nil, 'no element 2 along axis 0')
        fails(function() return array { { 1, 2 }, { 3 } } end, nil, '{ 2, 2 }')
        fails(function() return mare.zeros { 2 ^ 40, 2 ^ 40 } end, nil, '2^53')
        fails(function() return a:reshape(4, 2) end, nil, '6', '8')
        fails(function() return a { 2 } end, nil, 'index 2', '{ 2, 3 }')
        fails(function() return a { { 0, 1, 0 } } end, nil, 'step of 0')
        fails(function() return a:at(0, 3) end, nil, 'axis 1')
        fails(function() return a:item() end, nil, '{ 2, 3 }')
        fails(function() return a:transpose(0, 0) end, nil, 'twice')
        fails(function() return a:expand(5, 3) end, nil, '{ 5, 3 }')
        fails(function() return a:to 'flot' end, nil, 'flot')
        fails(function() return a + 2 ^ 40 end, nil, 'int32', '1099511627776')
        fails(function() return a:int8() + 300 end, nil, 'int8')
        fails(function() return mare.logical_and(a, a) end, nil, 'truth values', 'int32')
        fails(function() return a:int64() + a:uint64() end, nil, 'int64', 'uint64')
    end)
end)

describe('several reductions', function()
    local a = (arange(3 * 70):reshape(3, 70) % 31):eval()

    it('are one launch, and give what each gives', function()
        local kinds = { 'int8', 'half', 'float', 'bool' }
        for k, type in ipairs(kinds) do
            local x = a:to(type):eval()
            local options = { { axis = 0 }, { axis = 1, keep = true }, {}, { axis = { 0, 1 } } }
            local before = launches.run
            local mean, least, greatest, sum = x:reduce({ 'mean', 'min', 'max', 'sum' }, options[k])
            assert.equal(1, launches.run - before)
            for name, made in pairs { mean = mean, min = least, max = greatest, sum = sum } do
                local expected = x[name](x, options[k])
                assert.equal(expected.type, made.type)
                assert.same(expected.shape, made.shape)
                is(expected:totable(), made)
            end
        end
    end)

    it('are refused by name and number', function()
        fails(function() a:reduce { 'median' } end, 'MARE_ERROR_ARGUMENT', 'median', 'mean')
        fails(function() a:reduce {} end, nil, '0 reductions')
        fails(function() zeros { 0 }:reduce { 'sum', 'min' } end, nil, '{ 0 }', 'no elements')
        assert.equal(3000, (3000 * ones(60)):half():mean():item())
    end)
end)

describe('expressions', function()
    it('take the types that the rule says', function()
        local int, float = arange(3), ones(3)
        for text, made in pairs {
            int32 = int + 1, float = int + 0.5, double = float + float:double(),
            int16 = int:int8() + int:uint8(), half = int:int64() + float:half(),
            bool = int:gt(1), complex_float = float:complex(0) * int,
            complex_double = float:complex(0) + float:double(),
        } do
            assert.equal(text, made.type)
        end
        assert.equal('float', (int / int).type)
        assert.equal('float', int:sqrt().type)
        assert.equal('int32', (int:gt(1) + int:gt(1)).type)
        assert.equal('float', (float * 512.5).type)
        assert.equal('half', (float:half() * 512.5).type)
        assert.equal('int32', (int ^ 2).type)
        assert.equal('float', (int ^ 0.5).type)
    end)

    it('are computed by one kernel, whatever their sizes', function()
        local function f(n)
            local a, b, c = ones(n), ones(n) * 2, arange(n):float()
            a:eval(); b:eval(); c:eval()
            local before = launches.run
            local made = mare.sqrt(a * a + b * b + c * c) / (1 + a)
            made:eval()
            assert.equal(before + 1, launches.run)
            return made
        end
        local made, compiled = f(3), launches.compiled
        local expected = array { math.sqrt(5) / 2, math.sqrt(6) / 2, 1.5 }
        assert.truthy((made - expected):abs():at(0) < 2e-7)
        f(2)
        f(7)
        assert.equal(compiled, launches.compiled)
    end)

    it('wrap whole numbers and keep their remainders as Lua does', function()
        is({ 0, 100, -56 }, arange(3):int8() * 100)
        is({ 0, 100, 200, 44 }, arange(4):uint8() * 100)
        is({ 2147483647 }, array({ -2147483648 }, { type = 'int32' }) - 1)
        is({ 1, 2, 0 }, (array { -5, -4, -3 }):int32() % 3)
        is({ -2, -1 }, (array { 1, 2 }):int32() % -3)
        is({ 0, 0 }, arange(2) % 0)
        is({ 0.5, 2.5 }, array { -2.5, 2.5 } % 3)
        is({ -371520463 }, array({ 1000000007 }, { type = 'int32' }) ^ 2)
    end)

    it('choose, compare and combine', function()
        local a = arange(6):reshape(2, 3)
        is({ { 0, -1, -2 }, { 3, 4, 5 } }, mare.where(a:ge(3), a, -a))
        is({ { 1, 1, 1 }, { 0, 0, 0 } }, mare.where(a:lt(3), 1, 0))
        is({ { false, true, false }, { false, true, false } },
            mare.logical_or(a:eq(1), mare.logical_and(a:gt(3), a:le(4))))
        is({ { true, false, true }, { true, true, true } }, mare.logical_not(a:eq(1)))
        is({ { 1, 1, 2 }, { 3, 4, 4 } }, a:clip(1, 4))
        is({ { 0, 1, 0 }, { 1, 0, 1 } }, mare.bit_and(a, 1))
        local c = a:ge(3)
        is({ { false, true, true }, { true, true, true } },
            mare.logical_not(mare.where(c, a:lt(0), a:lt(1))))
    end)

    it('convert whole numbers by their low bits', function()
        local function converted(value, from, to)
            return tostring(array({ value }, { type = from }):to(to)):match '%[(.-)%]'
        end
        assert.equal('18446744073709551614', converted(-2, 'int32', 'uint64'))
        assert.equal('246', converted(4000000246, 'uint32', 'uint8'))
        assert.equal('29174', converted(3392631286, 'uint32', 'int16'))
        assert.equal('-44', converted(-300, 'int64', 'int8'))
    end)

    it('shift out all bits where the shift is as wide as the number', function()
        local by = array({ 31, 32, -1, 64 }, { type = 'int32' })
        is({ -2147483648, 0, 0, 0 }, mare.shift_left(ones(4):int32() * 3, by))
        is({ -1, -1, -1, -1 }, mare.shift_right(by * 0 - 5, by))
        is({ 0, 0, 0, 0 }, mare.shift_right(by * 0 + 5, by))
        is({ 0, 128 }, mare.shift_left(arange(2):uint8(), 7))
        is({ 0, 0 }, mare.shift_right(arange(2):uint32() + 7, 32))
        is({ 0, 0 }, mare.shift_left(arange(2):int64(), 64))
    end)

    it('convert reals to the nearest whole number that a type has, and NaN to 0', function()
        local a = array { -1.9, 300, 3e9, -math.huge, 1e30, 0 / 0 }
        is({ -1, 300, 2147483647, -2147483648, 2147483647, 0 }, a:to 'int32')
        is({ 0, 300, 3000000000, 0, 4294967295, 0 }, a:double():to 'uint32')
        is({ -1, 127, 127, -128, 127, 0 }, a:to 'int8')
        is({ 0, 255, 255, 0, 255, 0 }, a:half():to 'uint8')
        assert.truthy(tostring(a:to 'int64'):find('-9223372036854775808  9223372036854775807', 1,
            true))
        assert.truthy(tostring(a:to 'uint64'):find('0 18446744073709551615', 1, true))
    end)

    it('go together with those of the device that is open', function()
        local w = mare.worker(function(channel)
            local own = require 'mare'
            local device = own.device.open()
            local sum = own.ones({ 3 }, { device = device }) + own.ones { 3 }
            channel:send(sum:sum():item())
            device:release()
            channel:send(own.ones({ 4 }):sum():item())
        end)
        assert.equal(6, w:receive())
        assert.equal(4, w:receive())
        w:stop()
    end)

    it('take complex numbers', function()
        local z = arange(3):complex(1) * arange(3):complex(2)
        is({ -2, -1, 2 }, z:real())
        is({ 0, 3, 6 }, z:imag())
        is({ 1, 5 }, mare.abs(array({ 1, 3 }):complex(array { 0, 4 })))
        is({ true }, (ones(1):complex(2) / ones(1):complex(2)):eq(1))
        is({ true }, (ones(1):complex(2) / 2):eq(ones(1):complex(2) * 0.5))
        local one = array({ 0, -1, 0 }, { type = 'double', device = null }):complex(0)
        is({ 1, math.exp(-1), 1 }, mare.exp(one):real())
        is({ 0, 1, 0 }, mare.sqrt(one):imag())
        is({ 0, 0, 0 }, (one ^ 0.5):real())
        is({ 1, 1, 1 }, (one ^ 0):real())
        is({ true, false, true }, (one ^ (one - 2)):isnan())
        is({ false, true, false }, (one / array { 1, 0, 1 }):isnan())
    end)

    it('divide complex numbers whose squares are no numbers', function()
        local small, large = array { 1e-30, 1e25, 1 }, array { 2e-30, 2e25, 1 }
        local q = small:complex(small) / small:complex(large)
        local expected = array({ 0.6, 0.6, 1 }):complex(array { -0.2, -0.2, 0 })
        is({ true, true, true }, mare.abs(q - expected):lt(1e-6))
        is({ { math.huge, -math.huge } }, mare.stack { (array { 3 }:complex(-4) / 0):real(),
            (array { 3 }:complex(-4) / 0):imag() }:transpose())
    end)

    it('take infinite complex numbers as C does', function()
        local x, y = array { 1000, -1000, math.huge, 0 }, array { 0, 0, 0, 1000 }
        local inf = math.huge
        is({ inf, inf, inf }, mare.cosh(x:complex(y)) { { 0, 3 } }:real())
        is({ inf, -inf, inf }, 1 / mare.cosh(x:complex(y)) { { 0, 3 } }:imag())
        is({ -inf }, 1 / mare.cos(x:complex(y)) { { 3, 4 } }:imag())
        local root = mare.sqrt(array({ 0, -inf }):complex(array { -inf, 1 }))
        is({ inf, 0 }, root:real())
        is({ -inf, inf }, root:imag())
    end)

    it('round doubles to halves once', function()
        local x = array({ 1.00048828125 + 1e-9, -65519.99999, 65520, 2 ^ -25 * 1.0000001 },
            { type = 'double' })
        is({ 1.0009765625, -65504, math.huge, 2 ^ -24 }, x:half())
        is({ 1.0009765625 }, array({ 1.00048828125 + 1e-9 }, { type = 'half' }))
    end)

    it('give several results by one kernel', function()
        local x, y = array { 3, 6 }, array { 4, 8 }
        local before = launches.run
        local r, s, n = mare.fuse(function(a, b) return mare.hypot(a, b), a + b, #a end)(x, y)
        assert.equal(before + 1, launches.run)
        is({ 5, 10 }, r)
        is({ 7, 14 }, s)
        assert.equal(2, n)
        assert.equal(before + 1, launches.run)
    end)

    it('store what is used a second time', function()
        local a = ones(4):eval()
        local shared = (a + 1):sqrt()
        local first, second, third = shared * 2, shared * 3, shared * 4
        first:eval()
        second:eval()
        assert.truthy(third:source():find('element(float x1, float s1, float *y1)', 1, true))
        assert.truthy(math.abs(third:at(3) - 4 * math.sqrt(2)) < 1e-6)
    end)

    it('of any length are cut into kernels', function()
        local a = ones(2)
        local sum, product = a, a
        for _ = 1, 300 do sum = sum + a end
        for _ = 1, 40 do product = product * product end
        local wide = a
        for k = 1, 60 do wide = wide + array { k, k } end
        is({ 301, 301 }, sum)
        is({ 1, 1 }, product)
        is({ 1831, 1831 }, wide)
    end)

    it('show their kernel', function()
        local text = (2 * ones(3):eval() + arange(3):eval()):source()
        assert.truthy(text:find('s1 * x1 + (float)x2', 1, true), text)
        assert.truthy(text:find('MR_KERNEL', 1, true))
    end)
end)

describe('reductions', function()
    local a = arange(12):reshape(3, 4):float()

    it('go along all axes or some', function()
        is(66, a:sum())
        is({ 12, 15, 18, 21 }, a:sum { axis = 0 })
        is({ { 6 }, { 22 }, { 38 } }, a:sum { axis = -1, keep = true })
        is(66, a:sum { axis = { 0, 1 } })
        is({ 4, 5, 6, 7 }, a:mean(0))
        is({ 0, 840, 7920 }, a:prod(1))
        is({ 0, 4, 8 }, a:min(1))
        is({ 8, 9, 10, 11 }, a:transpose():max { axis = 1 })
        is({ 2, 2, 2, 2 }, a:argmax { axis = 0 })
        is(11, a:argmax())
        is({ false, true, true }, a:gt(3):any(1))
        is(true, a:all() and a:ge(0):all())
        is({ false, true, true }, a:all(1))
        is(506, a:dot(a))
        assert.truthy(math.abs(a:var():item() - 143 / 12) < 1e-5)
        local h = a:half()
        is({ 12, 15, 18, 21 }, h:sum { axis = 0 })
        assert.same({ 66, 11, 0, 11, 66 }, { h:sum():item(), h:max():item(), h:min():item(),
            h:argmax():item(), h:sum({ compensated = true }):item() })
    end)

    it('are of products of whole numbers that doubles cannot hold', function()
        for name, most in pairs { uint16 = 2 ^ 16 - 1, int32 = 2 ^ 31 - 1, uint32 = 2 ^ 32 - 1 } do
            local row = array({ { most, most, most, most - 1 } }, { type = name })
            is({ { 7 } }, row:matmul(row:transpose()))
        end
    end)

    it('fuse what they read', function()
        local b = ones { 4 }:eval()
        a:eval()
        local before = launches.run
        is(90, (a + 2 * b):sum())
        assert.equal(before + 1, launches.run)
    end)

    it('have the types of the rule', function()
        assert.equal('int64', arange(3):sum().type)
        assert.equal('uint64', arange(3):uint8():sum().type)
        assert.equal('int64', a:gt(1):sum().type)
        assert.equal('half', a:half():sum().type)
        assert.equal('float', arange(3):mean().type)
        assert.equal('int32', arange(3):min().type)
        assert.equal('double', a:sum({ type = 'double' }).type)
        local z = a:complex(2 * a):sum { axis = 0 }
        assert.equal('complex_float', z.type)
        is((2 * a:sum { axis = 0 }):totable(), z:imag())
        assert.equal(50005000, arange(10001):sum():item())
    end)

    it('of nothing are what they must be, or refused', function()
        local none = zeros { 0, 2 }
        is({ 0, 0 }, none:sum(0))
        is(1, none:prod())
        is(false, none:any())
        is(true, none:all())
        fails(function() return none:max() end, nil, 'max', '{ 0, 2 }')
        fails(function() return a:sum { axis = 2 } end, nil, 'axis 2')
        fails(function() return a:sum { axes = 2 } end, nil, 'axes')
        fails(function() return a:complex(a):prod() end, nil, 'complex_float')
    end)

    it('are as exact as those of twice the digits where they are compensated', function()
        local exact = { compensated = true }
        local x = array { 1, 1e8, 3, -1e8, 2 ^ -20 }
        is(4 + 2 ^ -20, x:sum(exact))
        local long = mare.rand({ 200, 300 }, { seed = 4, device = null }) + 100
        local double = long:double():sum { axis = 0 }
        is(double:float():totable(), long:sum { axis = 0, compensated = true })
        assert.equal(long:double():sum():float():item(), long:sum(exact):item())
        local y = array { 1e8, -1e8, 1, 1 }
        assert.same({ 0, 2 }, { y:sum():item(), y:sum(exact):item() })
        assert.equal(math.huge, array { 1, math.huge }:sum(exact):item())
        assert.equal(x:double():dot(x):float():item(), x:dot(x, exact):item())
        fails(function() arange(3):sum(exact) end, nil, 'compensated', 'int64')
        fails(function() x:prod(exact) end, nil, 'compensated')
    end)

    it('keep a NaN', function()
        local b = array { 1, 0 / 0, 3 }
        assert.is_true(b:min():isnan():item())
        assert.is_true(b:max():isnan():item())
        assert.equal(1, b:argmax():item())
    end)
end)

describe('random numbers', function()
    it('are those of Random123', function()
        local philox = require 'mare.dialect.philox'
        local all = 2 ^ 32 - 1
        assert.same({ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
            { philox.block(0, 0, 0, 0, 0, 0) })
        assert.same({ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
            { philox.block(all, all, all, all, all, all) })
        assert.same({ 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 },
            { philox.block(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
                0x299f31d0) })
    end)

    local function rand(sizes, seed) return mare.rand(sizes, { seed = seed, device = null }) end

    it('belong to a seed and an element', function()
        local word = require('mare.dialect.philox').word(2, 5, 0)
        assert.equal(math.floor(word / 256) / 2 ^ 24, rand({ 4 }, 5):at(2))
        is(rand({ 3, 4 }, 5):flatten():totable(), rand({ 12 }, 5))
        assert.is_false((rand({ 4 }, 5):eq(rand({ 4 }, 6))):any():item())
        assert.is_false(mare.rand({ 1 }, { device = null }):item()
            == mare.rand({ 1 }, { device = null }):item())
    end)

    it('order numbers at random, each order as often as another', function()
        local function order(n, seed)
            return mare.permutation(n, { seed = seed, device = null }):totable()
        end
        local seen, firsts = {}, { 0, 0, 0 }
        for _, k in ipairs(order(500, 1)) do seen[k + 1] = true end
        assert.equal(500, #seen)
        assert.same(order(500, 1), order(500, 1))
        assert.are_not.same(order(500, 1), order(500, 2))
        for seed = 1, 600 do
            local first = order(3, seed)[1] + 1
            firsts[first] = firsts[first] + 1
        end
        for k = 1, 3 do assert.truthy(math.abs(firsts[k] - 200) < 60, firsts[k]) end
        assert.same({}, order(0, 1))
        fails(function() mare.permutation(2.5, { device = null }) end, nil, 'permutation', '2.5')
    end)

    it('have the distributions that they are said to have', function()
        local u, n = rand({ 20000 }, 1), mare.randn({ 20000 }, { seed = 2, device = null })
        assert.truthy(math.abs(u:mean():item() - 0.5) < 0.01)
        assert.truthy(math.abs(u:var():item() - 1 / 12) < 0.003)
        assert.truthy(u:min():item() >= 0 and u:max():item() < 1)
        assert.truthy(math.abs(n:mean():item()) < 0.03)
        assert.truthy(math.abs(n:std():item() - 1) < 0.03)
        local die = mare.randint(1, 7, { 6000 }, { seed = 3, device = null })
        assert.same({ 'int32', 1, 6 }, { die.type, die:min():item(), die:max():item() })
        assert.truthy(math.abs(die:eq(4):sum():item() - 1000) < 120)
        fails(function() mare.rand({ 2 }, { seed = -1, device = null }) end, nil, 'seed', '-1')
        fails(function() mare.randint(3, 3, { 2 }, { device = null }) end, nil, 'at least 1')
    end)
end)

describe('views', function()
    local function a() return arange(24):reshape(2, 3, 4) end

    it('are slices with steps and places from the end', function()
        is({ { 0, 1, 2, 3 }, { 4, 5, 6, 7 }, { 8, 9, 10, 11 } }, a() { 0 })
        is({ 13, 17 }, a() { 1, { 0, 2 }, 1 })
        is({ { 3, 2, 1, 0 } }, a() { 0, { 0, 1 }, { nil, nil, -1 } })
        is({ { 11, 9 } }, a() { 0, { -1 }, { -1, nil, -2 } })
        is({}, a() { 0, 0, { 3, 1 } })
        is({ { 2, 10 }, { 14, 22 } }, a() { {}, { 0, nil, 2 }, 2 })
        assert.equal(23, a() { -1, -1, -1 }:item())
    end)

    it('have other shapes and orders', function()
        is({ { 0, 3 }, { 1, 4 }, { 2, 5 } }, arange(6):reshape(2, 3):transpose())
        assert.same({ 4, 2, 3 }, { unpack(a():transpose(2, 0, 1).shape) })
        assert.same({ 6, 4 }, { unpack(a():reshape(-1, 4).shape) })
        is({ { 1, 1 }, { 2, 2 } }, array { { 1 }, { 2 } }:expand(2, 2))
        is({ 2, 1, 0 }, arange(3):flip())
        is({ 0, 3, 1, 4, 2, 5 }, arange(6):reshape(2, 3):transpose():flatten())
        assert.same({ 2 }, { unpack(ones { 1, 2, 1 }:squeeze().shape) })
        assert.same({ 2, 1 }, { unpack(ones { 2 }:unsqueeze(1).shape) })
        is({ { 5, 2 }, { 4, 1 }, { 3, 0 } }, arange(6):reshape(2, 3):flip():transpose())
    end)

    it('show the memory of their array, without a copy', function()
        local b = arange(4):float():eval()
        local v = b { { 1, 3 } }
        v:assign(9)
        is({ 0, 9, 9, 3 }, b)
        b:assign(1)
        is({ 1, 1 }, v)
        b:reshape(2, 2):transpose() { 0 }:assign(array { 5, 6 })
        is({ 5, 1, 6, 1 }, b)
    end)
end)

describe('assignment', function()
    it('show numbers that were never stored, and are written with them', function()
        local z = mare.arange(6, { device = null })
        local pending, turned = z { { 1, 4 } } + 10, z:reshape(2, 3):transpose()
        assert.equal(5, turned:at(2, 1))
        assert.equal(3, z { { 1, 6, 2 } }:at(1))
        is({ 1, 2, 3 }, z { { 1, 4 } })
        z { { 1, 4 } }:assign(7)
        is({ 0, 7, 7, 7, 4, 5 }, z)
        is({ { 0, 7 }, { 7, 4 }, { 7, 5 } }, turned)
        turned:put({ 0 }, 8)
        is({ 8, 7, 7, 7, 4, 5 }, z)
        is({ 11, 12, 13 }, pending)
        is({ 2 ^ 31 - 9, 2 ^ 31 - 8 }, mare.arange(2 ^ 31 - 1, { device = null }) { { -8, -6 } })
    end)

    it('leaves what was made before as it is', function()
        local a, b = ones(3):eval(), arange(3)
        local pending = a + b
        local computed = (a * 2):eval()
        a:assign(0)
        is({ 1, 2, 3 }, pending)
        is({ 2, 2, 2 }, computed)
        is({ 0, 0, 0 }, a)
        local deep = mare.sqrt(mare.sqrt(a + 16))
        a { 0 }:assign(7)
        is({ 2, 2, 2 }, deep)
        a:assign(a + 1)
        is({ 8, 1, 1 }, a)
    end)

    it('leaves what was made before from a buffer as it is', function()
        local buffer = null:buffer { type = 'float', count = 2 }
        buffer:upload { 1, 2 }
        local a = mare.array(buffer)
        local pending = a * 10
        a:assign(a + 1)
        is({ 10, 20 }, pending)
        assert.same({ 2, 3 }, buffer:totable())
    end)

    it('takes overlapping views of its own', function()
        local a = arange(5):eval()
        a { { 1, 5 } }:assign(a { { 0, 4 } })
        is({ 0, 0, 1, 2, 3 }, a)
        a { { nil, nil, -1 } }:assign(a + 0)
        is({ 3, 2, 1, 0, 0 }, a)
    end)

    it('repeats, converts and masks', function()
        local a = zeros { 2, 3 }
        a:assign(arange(3))
        is({ { 0, 1, 2 }, { 0, 1, 2 } }, a)
        a { 1 }:assign { 0, 1, 2 }
        is({ { 0, 1, 2 }, { 0, 1, 2 } }, a)
        a:assign(-1, { where = a:gt(0) })
        is({ { 0, -1, -1 }, { 0, -1, -1 } }, a)
        fails(function() arange(3):assign(0.5) end, nil, 'int32', '0.5')
        fails(function() arange(3):assign(ones(3)) end, nil, 'float', 'int32')
        fails(function() ones(3):assign { 1, 2 } end, nil, '{ 2 }', '{ 3 }')
    end)

    it('leaves copies alone', function()
        local a = ones(2)
        local b, c = a:copy(), (a + 1):copy()
        a:assign(5)
        is({ 1, 1 }, b)
        is({ 2, 2 }, c)
    end)
end)

describe('memory', function()
    local function settled()
        collectgarbage()
        collectgarbage()
        return (null:pool())
    end

    it('of temporaries goes back by itself', function()
        local a = ones(1000):eval()
        local before, most = settled(), 0
        for _ = 1, sample(30000, 10000) do
            (a + 1):eval()
            most = math.max(most, (null:pool()))
        end
        assert.truthy(most < before + 8192 * 2 * 4000, most)
        assert.equal(before, settled())
    end)

    it('of what is never computed is none', function()
        local a = ones(1000):eval()
        local before = settled()
        for _ = 1, 20000 do local _ = mare.sqrt(a + 1) * 2 end
        assert.equal(before, null:pool())
    end)

    it('outlives an array as long as something reads it', function()
        local a = ones(4):eval()
        local pending, view = a + 1, a { { 0, 2 } }
        a = nil         -- luacheck: ignore
        settled()
        is({ 2, 2, 2, 2 }, pending)
        is({ 1, 1 }, view)
    end)
end)

describe('printing', function()
    it('is NumPy\'s', function()
        assert.equal('[[0 1 2]\n [3 4 5]]\nint32 { 2, 3 } on null:0',
            tostring(arange(6):reshape(2, 3)))
        assert.equal('[0.  0.5 1. ]\nfloat { 3 } on null:0',
            tostring(mare.linspace(0, 1, 3, { device = null })))
        assert.equal('7 int32 {} on null:0', tostring(array(7):int32()))
        fails.says(tostring(array({ 9007199254740993LL, -3 }, { type = 'int64' })),
            '[9007199254740993               -3]')
        local function printed(list, type)
            local a = mare.array(list, { type = type, device = null })
            return (tostring(a):gsub('\n.*', ''))
        end
        assert.equal('[0.1        0.33333334 0.25              inf]',
            printed { 0.1, 1 / 3, 0.25, 1 / 0 })
        assert.equal('[1.e+20 1.e+00]', printed { 1e20, 1 })
        assert.equal('[1.2345679e+00 9.9999997e-06           nan]',
            printed { 1.23456789, 1e-5, 0 / 0 })
        assert.equal('[ 0.33333333 -0.3       ]', printed({ 1 / 3, -0.1 - 0.2 }, 'double'))
        assert.equal('[ 1.  +0.1i -0.25-2.i ]',
            (tostring(array { 1, -0.25 }:complex(array { 0.1, -2 })):gsub('\n.*', '')))
        local corner = tostring(arange(4000):reshape(40, 100))
        fails.says(corner, '[[   0    1    2 ...   97   98   99]', '\n ...\n', '3997 3998 3999]]')
    end)
end)
