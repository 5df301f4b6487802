-- Arrays whose rows are divided among devices have the bits of those on one device. Null devices
-- compute by Lua; one test runs on a device that has kernels.

local devices = require 'tests.devices'
local fails = require 'tests.fails'
local mare = require 'mare'

local function null() return mare.device.open 'null' end

local home = null()
local three = { null(), null(), null() }
local on = mare.divide(three)

-- mare's functions, of one device.
local one = setmetatable({}, { __index = mare })
for _, name in ipairs { 'rand', 'randn', 'arange', 'ones', 'linspace', 'eye', 'randint', 'zeros',
    'full' } do
    one[name] = function(...)
        local given = { ... }
        local last = given[#given]
        if #given > 1 and type(last) == 'table' then last.device = home
        else given[#given + 1] = { device = home } end
        return mare[name](unpack(given))
    end
end
one.array = function(a) return a end

local function same(wanted, found)
    if type(found) == 'table' then found = found:gather() end
    assert.equal(wanted.type, found.type)
    assert.equal(tostring(wanted.shape), tostring(found.shape))
    local a, b = wanted:flatten():totable(), found:flatten():totable()
    for k, x in ipairs(a) do
        if b[k] ~= x and (x == x or b[k] == b[k]) then
            error(('element %d is %.17g, not %.17g'):format(k - 1, b[k], x), 2)
        end
    end
end

-- Calls f with the functions of both, and compares the arrays that it returns.
local function both(f, ...)
    local wanted, found = { f(one, ...) }, { f(on, ...) }
    for k, array in ipairs(wanted) do same(array, found[k]) end
end

-- Too few rows for all devices, and as many as have runs and blocks in two shares.
local rows = { 2, 400, 4000 }

local function expression(m, n)
    local a = m.rand({ n, 5 }, { seed = 3 }):eval()
    local b = m.arange(n):float():unsqueeze(1)
    return mare.sqrt(a * a + b) / 2 - mare.where(a:gt(0.5), a, 3) ^ 2, a
end

describe('divided arrays', function()
    it('are made as those on one device', function()
        for _, n in ipairs(rows) do
            both(function(m)
                return m.randn({ n, 2 }, { seed = 4, type = 'double' }), m.linspace(0, 1, n),
                    m.randint(0, 9, { n }, { seed = 5 }), m.arange(1, 1 + n / 4, 0.25),
                    m.rand({ n }, { seed = 1, type = 'half' }), m.full({ n, 2 }, 3)
            end)
        end
        both(function(m) return m.eye(7, 5), m.zeros { 4 }, m.arange(-3) end)
        same(one.arange(8):reshape(4, 2) + 1, on.array(one.arange(8):reshape(4, 2)) + 1)
        same(mare.array({ { 1, 2 } }, { device = home }), on.array { { 1, 2 } })
    end)

    it('compute elements and reductions to the same bits', function()
        for _, n in ipairs(rows) do
            both(function(m)
                local c, a = expression(m, n)
                return c, c:sum(), c:sum { axis = 0 }, c:sum { axis = 1 },
                    c:sum { axis = 0, keep = true }, c:mean(), c:var { axis = 0 }, c:std(),
                    c:norm(), c:dot(a), c - c:mean { axis = 0 }, a:clip(0.2, 0.3):prod { axis = 1 }
            end)
        end
    end)

    it('reduce what is pending where blocks lie in one share each', function()
        both(function(m)
            local a = m.arange(1536):unsqueeze(1) + one.arange(3)
            return (a % 7 * 0.1):sum { axis = 0 }, (a * 3):max { axis = 0 }
        end)
    end)

    it('find extremes and truths', function()
        for _, n in ipairs(rows) do
            both(function(m)
                local c = expression(m, n)
                local low, mean = c:reduce { 'min', 'mean' }
                return c:max(), c:argmax { axis = 0 }, c:argmin(), c:argmax { axis = 1 }, low,
                    mean, c:gt(3):any { axis = 0 }, c:lt(99):all(), c:int32():sum { axis = 0 }
            end)
        end
    end)

    it('reduce other axes, too', function()
        both(function(m)
            local a = m.rand({ 20, 3, 100 }, { seed = 2 })
            return a:sum { axis = { 0, 1 } }, a:sum { axis = 1 }, a:sum { axis = { 1, 2 } },
                a:max { axis = -1, keep = true }
        end)
        local a = on.rand({ 20, 3, 100 }, { seed = 2 })
        fails(function() a:sum { axis = { 0, 2 } } end, nil, '16384', 'gather')
    end)

    it('are written, masked and converted', function()
        both(function(m)
            local a, number = m.ones { 6, 2 }, m.arange(6):unsqueeze(1)
            local b = 2 * a
            a:assign(number:float(), { where = number:gt(2) })
            a:assign(a + 1)
            return a, b, a:int32(), a:copy():double()
        end)
        local a = on.arange(6)
        assert.same({ 0, 2, 4, 6, 8, 10 }, (2 * a):totable())
        assert.equal(3, a:data()[3])
        same(one.arange(6) + 0, a:each(function(rows_here, first)
            return mare.arange(first, first + #rows_here, 1, { device = rows_here.device })
        end))
        assert.equal('int32 { 6 }, rows 0 to 1, 2 to 3, 4 to 5', tostring(a))
        assert.equal('int32 { 1 }, rows none, 0 to 0, none', tostring(on.arange(1)))
        assert.equal(6, a.count)
    end)

    it('refuse by name what is not for them', function()
        local a = on.ones { 6, 2 }
        fails(function() a:take { 1 } end, nil, 'take', 'gather', 'each')
        fails(function() mare.divide 'metal' end, nil, 'divide: device', 'no such back end')
        fails(function() return a.smu end, nil, 'smu')
        fails(function() return a + one.ones { 6, 2 } end, nil, '{ 6, 2 }', 'array')
        fails(function() return a + on.ones { 6 } end, nil, '{ 6 }', 'rows')
        fails(function() return a + mare.divide(three).ones { 6, 2 } end, nil, 'two calls')
        fails(function() a:sum { compensated = true } end, nil, 'compensated')
        fails(function() return a:eq 'x' end, nil, 'string')
        fails(function() a:unsqueeze(0) end, nil, 'first axis')
        local function first_row(rows_here) return rows_here { { 0, 1 } } end
        fails(function() a:each(first_row) end, nil, '2 rows')
        local function twice(x) return 2 * x end
        fails(function() mare.map(twice)(a) end, nil, 'divided', 'gather', 'each')
        fails(function() mare.fft.poisson(a) end, nil, 'poisson', 'divided', 'gather')
        local set = mare.kernel(function(i, x) x[i] = 1 end)
        fails(function() set(6, a) end, nil, 'divided', 'each')
        fails(function() mare.kernel(function(i, x, y) x[i] = y[i] end)(6, one.zeros(6), a) end,
            nil, "'y'", 'divided', 'each')
        fails(function() on.rand({ 3 }, { rows = { 0, 1 } }) end, nil, 'rows')
        fails(function() mare.rand({ 3 }, { rows = { 1, 4 } }) end, nil, '1, 4', '{ 3 }')
        fails(function() on.full({}, 1) end, nil, 'axes')
        fails(function() on.array(a, 3) end, nil, 'options')
        fails(function() a.eval() end, nil, 'eval', 'colon')
        fails(function() mare.divide(3) end, nil, 'number')
        fails(function() return a { { 0, 3 } } end, nil, 'views', 'gather')
        fails(function() mare.fft.plan { shape = { 2 }, type = 'float' }(a) end, nil, 'gather')
        local types = { 'float', 'double' }
        fails(function() a:each(function(own) return own:to(table.remove(types)) end) end, nil,
            'float', 'double')
    end)

    it('add complex numbers', function()
        local a = on.arange(6):float()
        assert.equal('15+15i', tostring(a:complex(a):sum():item()))
        assert.equal('2.5+2.5i', tostring(a:complex(a):mean():item()))
    end)

    it('are transformed along all axes', function()
        local complex = function(m, shape)
            return m.rand(shape, { seed = 1 }):complex(m.rand(shape, { seed = 2 }))
        end
        both(function(m)
            return mare.fft.fft2(complex(m, { 6, 10 })):abs(),
                mare.fft.fft(complex(m, { 6, 4 })):imag(),
                mare.fft.fftn(complex(m, { 4, 5, 6 })):real(),
                mare.fft.rfft(m.rand({ 6, 4 }, { seed = 1 }), { axes = 0 }):abs(),
                mare.fft.irfft(complex(m, { 5, 4 }), { axes = { 1, 0 }, norm = 'forward' }),
                mare.fft.fft2(complex(m, { 6, 4, 3 }), { axes = { 0, 2 }, n = { 8, 3 } }):abs()
        end)
        local x = on.rand({ 8 })
        local axes = { -1 }
        mare.fft.fft(on.rand { 4, 2 }, { axes = axes })
        assert.equal(-1, axes[1])
        fails(function() mare.fft.fft(x) end, nil, 'one axis', ':gather()')
        fails(function() mare.fft.fft2(on.rand({ 4, 4 }), { axes = { 0, 0 } }) end, nil, 'twice')
        fails(function() mare.fft.fft(on.rand({ 4, 4 }), { load = type }) end, nil, 'load')
    end)

    it('are computed by kernels, too', function()
        local found = devices()[1] or pending 'no device runs kernels'
        local device, other = mare.device.open(found.name), mare.device.open(found.name)
        local function sum(m, options)
            options.seed = 6
            return (m.rand({ 5000, 3 }, options) * 2):sum { axis = 0 }
        end
        same(sum(mare, { device = device }), sum(mare.divide { device, other }, {}))
    end)
end)
