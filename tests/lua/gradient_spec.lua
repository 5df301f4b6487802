-- mare.gradient against finite differences, against dual numbers in plain Lua, and as kernels.

local dual = require 'tests.dual'
local fails = require 'tests.fails'
local mare = require 'mare'

local scale, settings = 1.5, { shift = 0.25 }

local function squared(a) return a * a end

local function sign(a)
    if a < 0 then return -1 end
    return 1
end

-- Smooth ones, which dual numbers go through too, then those with branches.
local smooth = {
    function(u, v) return u * u + scale * math.sin(v) / (1 + u * u) end,
    function(u, v) return math.exp(-u * v) * math.sqrt(2 + u) - squared(u - v) ^ 3 end,
    function(u, v)
        local sum, power = 0, 1
        for k = 1, 5 do
            power = power * u
            sum = sum + power / k - settings.shift * v
        end
        return sum / v
    end,
    function(u, v) return math.log(1 + u * u) + math.cos(u) * math.tanh(v) - v / u end,
}
local branched = {
    function(u, v)
        if u > v then return scale * u * v end
        local w = u - v
        if w * w > 0.5 then w = w * squared(w) end
        return w + math.abs(u)
    end,
    function(u, v) return u > 0 and math.sqrt(u) * v or u * u * math.max(v, 0.5) end,
    function(u, v) return sign(u) * u ^ 3 + math.min(u * v, math.floor(v) + 2) end,
    function(u, v)
        local is_high = v > 1
        return (u > 0 and v > 0 or u < -1) and u * v or not is_high and u - v or 2 * v
    end,
}
local points = { { 0.7, 0.3 }, { -0.4, 1.3 }, { 1.9, -0.8 }, { -1.6, -0.6 }, { 0.2, 2.4 } }

local function near(wanted, got, tolerance, what)
    assert.is_true(math.abs(got - wanted) <= tolerance * math.max(1, math.abs(wanted)),
        ('%s: %.17g is wanted, not %.17g'):format(what, wanted, got))
end

local function difference(f, u, v)
    local h = 1e-5
    return (f(u + h, v) - f(u - h, v)) / (2 * h), (f(u, v + h) - f(u, v - h)) / (2 * h)
end

describe('the gradient of a function of numbers', function()
    it('is that of finite differences, on each branch', function()
        for _, list in ipairs { smooth, branched } do
            for n, f in ipairs(list) do
                local slope = mare.gradient(f)
                for k, p in ipairs(points) do
                    local a, b = slope(unpack(p))
                    local c, d = difference(f, unpack(p))
                    near(c, a, 1e-7, ('function %d, point %d, by u'):format(n, k))
                    near(d, b, 1e-7, ('function %d, point %d, by v'):format(n, k))
                end
            end
        end
    end)

    it('is that of dual numbers, but for rounding', function()
        for n, f in ipairs(smooth) do
            local slope = mare.gradient(f)
            for _, p in ipairs(points) do
                local a, b = slope(unpack(p))
                local wanted = dual.gradient(f, p)
                near(wanted[1], a, 1e-13, n .. ' by u')
                near(wanted[2], b, 1e-13, n .. ' by v')
            end
        end
    end)

    it('looks at numbers outside when it runs, and is by those that are asked for', function()
        local rate = 2
        local slope = mare.gradient(function(u, v) return rate * u * v + math.pi * u end,
            { by = { 'v' } })
        assert.equal(6, (slope(3, 5)))
        rate = 4
        assert.equal(12, (slope(3, 5)))
        assert.truthy(mare.gradient.text(slope):find('outside.rate', 1, true))
        assert.equal(1, select('#', slope(3, 5)))
        local t, t_a = { a = 2 }, 10
        assert.equal(22, mare.gradient(function(u) return t.a * u + t_a * u * u end)(1))
        rate = 'x'
        fails(function() slope(3, 5) end, 'MARE_ERROR_ARGUMENT', "'rate'", 'string')
    end)

    it('computes nothing that the function would not', function()
        local slope = mare.gradient(function(u) return u > 0 and math.sqrt(u) or 0 end)
        assert.equal(0, (slope(-1)))
        assert.equal(0.25, (slope(4)))
    end)

    it('is a function as any other for mare.map', function()
        local slope = mare.gradient(smooth[1])
        local by_u, by_v = mare.map(slope)(mare.array({ 0.7, -0.4 }, { type = 'double' }),
            mare.array({ 0.3, 1.3 }, { type = 'double' }))
        for k, p in ipairs { points[1], points[2] } do
            local a, b = slope(unpack(p))
            near(a, by_u:at(k - 1), 1e-15, 'by u')
            near(b, by_v:at(k - 1), 1e-15, 'by v')
        end
    end)
end)

-- ---- kernels ----

local wide = 0.5

-- A step of a current over a bottom with a drag, with ends of another kind.
local function step(i, u, s, r, width, new, total)
    if i >= width and i < u.count - width then
        local slope = u[i + 1] - u[i - width]
        new[i] = u[i] - wide * slope - r * u[i] * math.abs(u[i]) + s[i] * s[i]
        total[i] = u[i] * s[i + 1]
    else
        new[i] = 2 * u[i]
        total[i] = 0
    end
end

local n = 12
local function list(f)
    local t = { count = n }
    for i = 0, n - 1 do t[i] = f(i) end
    return t
end
local u = list(function(i) return math.sin(i) end)
local s = list(function(i) return 0.1 * math.cos(3 * i) end)
local weights = { list(function(i) return 1 / (1 + i) end), list(function(i) return i % 3 end) }

-- Returns the sum of all that a run in plain Lua writes, each times its weight.
local function quantity(r)
    local new, total, sum = { count = n }, { count = n }, 0
    for i = 0, n - 1 do step(i, u, s, r, 2, new, total) end
    for i = 0, n - 1 do sum = sum + weights[1][i] * new[i] + weights[2][i] * total[i] end
    return sum
end

local function slope_by(array, i)
    local h, old = 1e-6, array[i]
    array[i] = old + h
    local above = quantity(0.3)
    array[i] = old - h
    local below = quantity(0.3)
    array[i] = old
    return (above - below) / (2 * h)
end

local function zeros() return list(function() return 0 end) end

describe('the gradient of a kernel', function()
    it('is that of finite differences, for each element that it reads', function()
        local back = mare.gradient(step, { by = { 'u', 's', 'r' } })
        local by_u, by_s, by_r, sum = zeros(), zeros(), zeros(), 0
        for i = 0, n - 1 do
            back(i, u, s, 0.3, 2, weights[1], weights[2], by_u, by_s, by_r)
        end
        for i = 0, n - 1 do
            near(slope_by(u, i), by_u[i], 1e-8, 'by u ' .. i)
            near(slope_by(s, i), by_s[i], 1e-8, 'by s ' .. i)
            sum = sum + by_r[i]
        end
        near((quantity(0.3 + 1e-6) - quantity(0.3 - 1e-6)) / 2e-6, sum, 1e-8, 'by r')
    end)

    it('gives the same numbers as a kernel', function()
        local function array(t)
            local values = {}
            for i = 0, n - 1 do values[i + 1] = t[i] end
            return mare.array(values, { type = 'double' })
        end
        local back = mare.kernel(mare.gradient(step, { by = { 'u', 's', 'r' } }))
        local found = back:check(n, array(u), array(s), 0.3, 2, array(weights[1]),
            array(weights[2]), array(zeros()), array(zeros()), array(zeros()))
        assert.equal(0, found.different)
    end)
end)

describe('descent', function()
    local function valley(x)
        local a, b = 1 - x[1], x[2] - x[1] * x[1]
        return a * a + 100 * b * b, { -2 * a - 400 * x[1] * b, 200 * b }
    end

    it('goes down a bent valley to its end (Rosenbrock 1960)', function()
        local steps = 0
        local found = mare.descent(valley, { -1.2, 1 },
            { each = function() steps = steps + 1 end })
        near(1, found.x[1], 1e-6, 'x')
        near(1, found.x[2], 1e-6, 'y')
        assert.is_true(found.calls < 80 and steps < found.calls, tostring(found.calls))
    end)

    it('ends after so many calls, and says what it wants', function()
        assert.equal(7, mare.descent(valley, { -1.2, 1 }, { calls = 7 }).calls)
        fails(function() mare.descent(function() return 1 end, { 0 }) end, 'MARE_ERROR_ARGUMENT',
            'a list of 1 slopes')
        fails(function() mare.descent(valley, 3) end, 'MARE_ERROR_ARGUMENT', 'start', 'number')
        fails(function() mare.descent(3, { 1 }) end, 'MARE_ERROR_ARGUMENT', 'a function')
        for _, value in ipairs { 0 / 0, 1 } do
            local function lost() return value, { value == 1 and 1 / 0 or 1 } end
            fails(function() mare.descent(lost, { 0 }) end, 'MARE_ERROR_ARGUMENT', 'at the start')
        end
        fails(function() mare.descent(valley, { '1', 2 }) end, 'MARE_ERROR_ARGUMENT', 'start')
        fails(function() mare.descent(function() return 1, { 'a' } end, { 0 }) end,
            'MARE_ERROR_ARGUMENT', 'a list of 1 slopes')
    end)
end)

describe('a gradient is refused', function()
    local function says(f, by, ...)
        fails(function() mare.gradient(f, { by = by }) end, 'MARE_ERROR_ARGUMENT', ...)
    end

    it('where an array is read and overwritten', function()
        says(function(i, a) a[i] = 2 * a[i] end, { 'a' }, 'gradient_spec.lua:',
            "'a' is read and written")
        says(function(i, a, b)
            b[i] = a[i]
            b[i] = b[i] * a[i]
        end, { 'a' }, "'b' is")
    end)

    it('where it cannot be told who reads an element', function()
        says(function(i, a, b) b[i] = a[2 * i] end, { 'a' }, 'index', "'i'")
        says(function(i, a, k, b) b[i] = a[i + k[i]] end, { 'a' }, 'index')
        says(function(i, a, b) b[i] = a[0] end, { 'a' }, 'index')
        says(function(i, a, b) b[i] = a[i + 0.5] end, { 'a' }, 'index', '0.5', 'whole')
    end)

    it('where it cannot be followed', function()
        says(function(a)
            while a > 1 do a = a / 2 end
            return a
        end, nil, 'gradient_spec.lua:', 'cannot go through while')
        says(function(a) return a, a * a end, nil, 'returns one number')
        says(function(a) return a % 2 end, nil, "'modulo' has no derivative")
        says(function(a) return math.log(a, 2) end, nil, '1 argument with 2')
        local function halved(a) return a > 1 and halved(a / 2) or a end
        says(halved, nil, 'calls itself')
        says(function(i, a, b) b[i] = a[i] end, nil, 'by = { names }')
        says(function(a) return a end, { 'w' }, "'w' is no parameter")
    end)
end)
