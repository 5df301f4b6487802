-- Tests functions of Lua as kernels: what they compute is what plain Lua computes, and
-- what they cannot be is refused by name and line.

-- luacheck: ignore 311 431 231 (kernels name their arguments as the spec does; some are wrong)

local fails = require 'tests.fails'
local mare = require 'mare'
local sample = require 'tests.sample'
local text = require 'mare.parse.text'
local try = require 'tests.functions_case'

local device = mare.device.open(os.getenv 'MARE_TEST_DEVICE' or 'auto')
local count = 100

local function array(type, f)
    local b, values = device:buffer { type = type, count = count, label = type }, {}
    for k = 1, count do values[k] = f(k - 1) end
    b:upload(values)
    return b
end

local function ramp(type) return array(type, function(k) return k end) end

local function refused(words, f, ...)
    local given, given_count = { ... }, select('#', ...)
    fails(function() mare.kernel(f)(count, unpack(given, 1, given_count)) end,
        'MARE_ERROR_ARGUMENT', words)
end

describe('a kernel in Lua', function()
    it('computes what is asked', function()
        local x, y = ramp 'float', ramp 'float'
        local scale = mare.kernel(function(i, s, x, y)
            if i < x.count then y[i] = s * x[i] + y[i] end
        end)
        scale(x.count, 2.0, x, y)
        local out = y:download()
        for k = 0, count - 1 do assert.equal(3 * k, out[k]) end
        scale(x.count, 0.5, x, y)
        assert.equal(3.5 * 7, y:download()[7])
        assert.equal(1, #scale.compiled)        -- another number compiles nothing
    end)

    it('reads numbers outside it at each call', function()
        local x, shift = ramp 'float', 1
        local add = mare.kernel(function(i, x) x[i] = x[i] + shift end)
        add(count, x)
        shift = 2.5
        add(count, x)
        assert.equal(5 + 3.5, x:download()[5])
        assert.equal(1, #add.compiled)
        local t = { a = { b = 1 }, a_b = 20, list = { 1, 2, 4 } }
        local all = mare.kernel(function(i, y)
            local sum = t.a.b + t.a_b
            for k = 1, 3 do sum = sum + t.list[k] end
            y[i] = sum
        end)
        all(count, x)
        assert.equal(28, x:download()[5])
        t.list[2] = 3
        all(count, x)
        assert.equal(29, x:download()[5])
    end)

    it('stops at the number of work-items', function()
        local x = array('int32', function() return 0 end)
        mare.kernel(function(i, x) x[i] = i + 1 end)(37, x)
        local out = x:download()
        assert.equal(37, out[36])
        assert.equal(0, out[37])
    end)

    it('has two and three dimensions', function()
        local x = array('int32', function() return -1 end)
        mare.kernel(function(i, j, x, nx) x[j * nx + i] = 10 * j + i end)({ 5, 4 }, x, 5)
        assert.equal(32, x:download()[3 * 5 + 2])
        mare.kernel(function(i, j, k, x) x[(k * 3 + j) * 3 + i] = i + 3 * j + 9 * k end)(
            { 3, 3, 3 }, x)
        local out = x:download()
        for k = 0, 26 do assert.equal(k, out[k]) end
    end)

    it('counts with a number that is compared with a counter alone', function()
        local x = ramp 'float'
        local function until_most(i, x, most, start)
            local n = start * 0
            while n < most do n = n + 1 end
            local k = 0
            while k < most and k < start do k = k + 1 end
            x[i] = start + k
        end
        local text = mare.kernel(until_most):source(count, x, 5, 1)
        assert.truthy(text:find('int most, real start', 1, true), text)
        assert.truthy(mare.kernel(until_most):source(count, x, 5.5, 1):find('real most', 1, true))
    end)

    local gravity = 9.81
    local function higher(a, b)
        if a > b then return a * gravity, 1 end
        return b, 2
    end
    local function square(v) return v ^ 2 + gravity end

    it('is what plain Lua is, to the bit in double', function()
        local x, y = array('double', function(k) return 10 * math.sin(k) end), ramp 'double'
        local steps = 4
        local result = mare.kernel(function(i, s, x, y)
            local sum = 0
            local weights = { 1, 2, 0.5 }
            for k = 0, steps - 1 do sum = sum + x[(i + k) % x.count] * weights[2] end
            local a, b = higher(sum, x[i])
            a, b = a + 1, b
            b, b = b, 0             -- the first stays
            local v = s > 0 and a or -a
            while v > 10 do
                v = v / 2
                if v == 11 then break end
            end
            repeat local u = v - 1 v = u until u < 0
            y[i] = math.max(square(v + 1), math.sqrt(math.abs(sum))) - math.pi * (1 / 3) + i / 2 * b
            for k = 3, 1, -1 do y[i] = y[i] + k % 2 + (-i) % 3 + v % 0.7 + math.floor(v) end
        end):check(count, 1, x, y)
        assert.equal(2 * count, result.compared)
        assert.equal(0, result.different)
    end)

    it('computes places before it assigns, and stands a modulus of 0', function()
        local x = ramp 'int32'
        local result = mare.kernel(function(i, x)
            local k = i
            k, x[k] = k + 1, 7
            x[i], k = x[i] + k, 0
        end):check(count, x)
        assert.equal(0, result.different)
        mare.kernel(function(i, x) x[i] = i % (i * 0) + math.fmod(i, i * 0) + i % (i - i - 1) end)(
            count, x)
        assert.equal(0, x:download()[5])
    end)

    it('has the functions of math', function()
        local x, y = ramp 'double', ramp 'double'
        local result = mare.kernel(function(i, x, y)
            local a = x[i] / 10 + 0.1
            y[i] = math.sin(a) + math.exp(-a) * math.log(a + i) + math.atan2(a, i + 1)
                + a ^ 1.5 + i ^ 0.5 + math.fmod(a, 3) + math.cosh(a / 10) + math.floor(a)
        end):check(count, x, y)
        assert.is_true(result.largest < 1e-14, result.largest)
    end)

    it('computes with integers as the bit library does', function()
        local m = ramp 'int32'
        local result = mare.kernel(function(i, m)
            m[i] = bit.bxor(bit.lshift(m[i], 3), bit.rshift(-i, 28)) + bit.band(i, 12) - (-7) % 4
        end):check(count, m)
        assert.equal(0, result.different)
    end)

    it('stores every type of memory', function()
        local out, narrow = ramp 'float', device:buffer { type = 'half', count = count }
        local add = mare.kernel(function(i, a, b) b[i] = a[i] + 1 end)
        for _, type in ipairs { 'int8', 'uint8', 'int16', 'uint16', 'int64' } do
            add(count, ramp(type), out)
            assert.equal(100, out:download()[99], type)
        end
        add(count, out, narrow)
        add(count, narrow, out)
        assert.equal(102, out:download()[99])
        local flags = array('bool', function(k) return k % 2 == 1 end)
        mare.kernel(function(i, b) b[i] = not b[i] or i == 1 end)(count, flags)
        mare.kernel(function(i, b, out) out[i] = b[i] and 1 or 0 end)(count, flags, out)
        local values = out:download()
        assert.same({ 1, 1, 1, 0 }, { values[0], values[1], values[2], values[3] })
    end)

    it('shows its text with the lines of Lua', function()
        local x = ramp 'float'
        local k = mare.kernel(function(i, x)
            x[i] = 2 * x[i]
        end, { name = 'double_it' })
        local line = debug.getinfo(k.f, 'S').linedefined + 1
        local wanted = ('x[i] = R(2.0) * x[i];  // %d'):format(line)
        assert.truthy(k:source(count, x):find(wanted, 1, true))
        assert.truthy(tostring(k):find 'double_it')
    end)

    local work = mare.work
    local function put(t, k, v) t[k] = t[k] + v end

    it('shares memory in a group', function()
        local x, y = ramp 'double', ramp 'double'
        local result = mare.kernel(function(i, x, y)
            local tile = mare.work.shared('double', 20)
            local k = work.item(0)
            tile[k] = x[i]
            work.barrier()
            y[i] = tile[tile.count - 1 - k] + work.group() * work.size()
        end, { group = 20 }):check(count, x, y)
        assert.equal(0, result.different)
    end)

    it('adds to what others add to', function()
        local x, h = ramp 'int32', array('int32', function() return 0 end)
        local histogram = mare.kernel(function(i, x, h)
            local bins = work.shared('int32', 4)
            local k = work.item()
            if k < 4 then bins[k] = 0 end
            work.barrier()
            work.add(bins, x[i] % 4, 1)
            work.barrier()
            if k < 4 then
                put(bins, k, 1)
                work.add(h, k, bins[k])
            end
        end, { group = 50 })
        assert.equal(0, histogram:check(count, x, h).different)
        histogram(count, x, h)
        assert.equal(27, h:download()[3])
    end)

    it('writes the least and the most of what others write', function()
        local h = array('int32', function(k) return k == 0 and 5 or 0 end)
        local k = mare.kernel(function(i, h)
            work.least(h, 0, i - 3)
            work.most(h, i % 4, i)
        end)
        assert.equal(0, k:check(1, h).different)
        k(count, h)
        local out = h:download()
        assert.same({ 97, 98, 99 }, { out[1], out[2], out[3] })
    end)

    it('takes names that CUDA C or OpenCL C give to something else', function()
        local x, NULL, INFINITY = ramp 'float', 1, 2
        local function round(v) return math.floor(v + 0.5) end
        local function isnan(v) return v ~= v end
        local function float4(v) return 4 * v end
        local double = mare.kernel(function(i, read_only)
            local size_t, as_int, nullptr = read_only[i], NULL, INFINITY
            if not isnan(size_t) then
                read_only[i] = round(float4(size_t) + 0.1) + as_int - nullptr + 1
            end
        end)
        double(count, x)
        assert.equal(4 * (count - 1), x:download()[count - 1])
    end)

    it('takes arrays, and writes none whose elements lie apart', function()
        local x, y = mare.arange(1000):float(), mare.ones { 1000 }
        local before = y + 1
        local scale = mare.kernel(function(i, s, x, y)
            if i < x.count then y[i] = s * x[i] + y[i] end
        end)
        scale(x.count, 2.0, x, y)
        assert.equal(2 * 999 + 1, y:at(999))
        assert.equal(2, before:at(999))         -- what was made from y keeps its values
        scale(10, 1, x { { 0, 20, 2 } }, y)
        assert.equal(2 * 9 + 1 + 18, y:at(9))
        for _, from in ipairs { x, x { { 0, 20, 2 } } } do
            fails(function() scale(10, 1, from, y { { 0, 20, 2 } }) end, 'MARE_ERROR_ARGUMENT',
                "'y'", 'do not lie one after another')
        end
    end)

    it('refuses an index outside of an array where that is asked for', function()
        local x, y = ramp 'float', ramp 'float'
        local function beside(t, i) return t[i + 5] end
        local weights, places = { 1, 1, 1 }, { 3, 4 }
        local k = mare.kernel(function(i, x, y)
            local place = places[i < 98 and 1 or 2]
            y[i] = beside(x, i) * weights[place]
        end, { checked = true })
        k(count - 5, x, y)
        assert.equal(count - 1, y:download()[count - 6])
        local line = debug.getinfo(beside, 'S').linedefined
        fails(function() k(count - 4, x, y) end, 'MARE_ERROR_ARGUMENT', "element 100 of 't'",
            ('translate_spec.lua:%d'):format(line))
        places[1] = 4
        fails(function() k(1, x, y) end, 'MARE_ERROR_ARGUMENT', "element 4 of 'weights'")
        places[1] = 3
        k(count - 5, x, y)
        fails(function() k:bind(count, x, y) end, 'MARE_ERROR_ARGUMENT', 'bind')
    end)

    it('is bound as cheaply as a hand-written one', function()
        local x = ramp 'float'
        local launch = mare.kernel(function(i, x) x[i] = x[i] + 1 end):bind(count, x)
        for _ = 1, 3 do launch:run() end
        assert.equal(3, x:download()[0])
    end)
end)

describe('a map', function()
    local factor = 2
    it('calls a function for each element', function()
        local f = mare.map(function(a, b)
            if a > b then return a * factor, a > 3 end
            return b, false
        end)
        local p, q = f(mare.arange(12):float():reshape(3, 4), mare.arange(4):float())
        assert.same({ { 0, 1, 2, 3 }, { 8, 10, 12, 14 }, { 16, 18, 20, 22 } }, p:totable())
        assert.same({ 'float', 'bool' }, { p.type, q.type })
        assert.same({ false, true, true, true }, { q:at(0, 3), q:at(1, 0), q:at(1, 1), q:at(2, 3) })
        factor = 3
        assert.equal(33, (f(mare.arange(12):float(), 1)):at(11))
        local wave = mare.map(function(u, v) return u * u + math.sin(v) end)
        local w = wave(mare.arange(3):double(), mare.ones { 3 }):at(2)
        assert.is_true(math.abs(w - 4 - math.sin(1)) < 1e-14, w)
        fails(function() f(1, 2) end, 'MARE_ERROR_ARGUMENT', 'at least one array')
        fails(function() f(mare.ones { 3 }, mare.ones { 2 }) end, 'MARE_ERROR_ARGUMENT', 'fit')
        fails(function() f(mare.ones { 3 }) end, 'MARE_ERROR_ARGUMENT', '2 arguments')
        fails(function() mare.map(function(a) if a > 1 then return end end)(mare.ones { 3 }) end,
            'MARE_ERROR_ARGUMENT', 'returns something')
    end)
end)

describe('a function', function()
    it('is told from others on its line', function()
        local list = { function(i, x) x[i] = 1 end, function(i, x) x[i] = 2 end }
        assert.truthy(text.of(list[1]).source:find('= 1', 1, true))
        assert.truthy(text.of(list[2]).source:find('= 2', 1, true))
    end)

    it('is refused where its text has changed', function()
        local path = os.tmpname()
        local function write(value)
            local file = assert(io.open(path, 'w'))
            file:write(('return function(i, x) x[i] = %d end\n'):format(value))
            file:close()
        end
        write(1)
        local f, g = dofile(path), dofile(path)
        assert.truthy(text.of(f).source:find('= 1', 1, true))
        write(2)
        fails(function() return text.of(g) end, 'MARE_ERROR_ARGUMENT', 'has changed')
        os.remove(path)
    end)
end)

describe('what no kernel can be', function()
    local x
    before_each(function() x = x or ramp 'float' end)
    local outside, work = 1, mare.work

    it('is refused by name and line', function()
        refused('string', function(i, x) x[i] = 'text' end, x)
        refused('x.count', function(i, x) x[i] = #x end, x)
        refused('iterators', function(i, x) for _, v in pairs(x) do x[i] = v end end, x)
        refused("'outside'", function(_, _) outside = 2 end, x)
        refused("'nothing' is nil", function(i, x) x[i] = nothing end, x)    -- luacheck: ignore
        refused('print', function(i, x) x[i] = print(i) end, x)
        refused('condition', function(i, x) if x[i] then x[i] = 1 end end, x)
        refused('inside the function', function(i, x)
            local function f() return 1 end
            x[i] = f()
        end, x)
        refused('boolean', function(i, x) x[i] = x[i] > 1 end, x)
        refused('options.group', function(i, x)
            x[i] = 1
            work.barrier()
        end, x)
        refused('int32', function(i, x) work.add(x, i, 1) end, x)
        refused('as it stands in the text', function(i, x)
            local tile = work.shared('float', x.count)
            x[i] = tile[i]
        end, x)
        refused('returns nothing', function(i, x) return x[i] end, x)
        refused('fixed list', function(...) return ... end)
        refused('of C', string.rep)
        local deep = { { 1 }, { 2 } }
        refused("'deep' is a table: kernels take its elements by keys", function(i, x)
            x[i] = deep[i][1]
        end, x)
        refused('holds a boolean here', function(i, x)
            local a = 1
            a = i > 2
            x[i] = a
        end, x)
        refused(('translate_spec.lua:%d'):format(debug.getinfo(1, 'l').currentline + 1),
            function(i, x) x[i] = {} end, x)
    end)

    local function itself(a) return a > 1 and itself(a - 1) or a end  -- luacheck: ignore
    local function round_and_round(a)
        if a > 1 then return round_and_round(a - 1) end
        return a
    end

    it('may not call itself', function()
        refused('calls itself', function(i, x) x[i] = round_and_round(x[i]) end, x)
    end)

    it('writes nothing outside an array that it checks', function()
        local k = mare.kernel(function(i, x) x[i] = 1 end)
        fails(function() k:check(count + 1, x) end, 'MARE_ERROR_ARGUMENT', "element 100 of 'x'",
            'has 100')
        fails(function() mare.kernel(k.f, { precision = 'quad' }) end, 'MARE_ERROR_ARGUMENT',
            'quad', 'double, float')
    end)

    it('has arguments of other types', function()
        refused("'s': a number, a boolean or a buffer", function(i, s, x) x[i] = s end, 'text', x)
        refused('2 arguments behind the work-items', function(i, s, x) x[i] = s end, x)
        refused('complex', function(i, x) x[i] = 1 end,
            device:buffer { type = 'complex_float', count = 4, label = 'complex' })
    end)
end)

describe('random functions', function()
    local seeds = {}
    for k = 1, 300 do seeds[k] = k end

    it('are the same as plain Lua in double, or are refused', function()
        for _, seed in ipairs(sample(seeds, 5)) do
            local result, what = try(seed)
            assert.is_true(result ~= 'wrong', ('case %d: %s'):format(seed, what))
        end
    end)
end)
