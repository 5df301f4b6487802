-- Scans, sorts and elements by their numbers: what kernels compute, by work-items and by groups,
-- is what the host computes on a null device, to the bit.

local device = require 'bindings.device'
local kernels = require 'mare.ordering.kernels'
local mare = require 'mare'
local part = require 'tests.kernels.part'
local sample = require 'tests.sample'

local null = device.open 'null'

-- Numbers with equal ones among them, and NaN and zeros of both signs where a type has them.
local function numbers(on, n, type)
    local words = mare.randint(0, 1000, { n }, { seed = 5, device = on })
    if type == 'float' or type == 'double' then
        local x = (words - 500):to(type) / 7
        return mare.where((words % 97):eq(3), 0 / 0, mare.where((words % 89):eq(1), -0.0, x)):eval()
    end
    return (words - 500):to(type):eval()
end

-- Returns what f() makes, by a plan that is replayed after what `meanwhile` computes, and that.
local function replayed(on, f, meanwhile)
    if on.is_null then return f(), meanwhile() end
    local made
    local plan = on.stream:record(function() made = f():eval() end)
    local other = meanwhile():eval()
    plan:run()
    return made, other
end

-- Each entry: a name and a function of a device that returns arrays.
local cases = {
    { 'running sums of several blocks', function(on)
        local a = mare.rand({ 9001 }, { seed = 3, device = on }):eval()
        return replayed(on, function() return a:cumsum() end, function()
            return a { { 1 } }:reshape(2, 4500):cumsum { axis = 1 }
        end)
    end },
    { 'running extremes and products', function(on)
        local a = numbers(on, 300, 'float')
        local b = (mare.rand({ 30, 200 }, { seed = 4, device = on }) + 0.5)
        return a:cummax(), a { { 5 } }:cummin(), b:cumprod { axis = 0 }
    end },
    { 'sorts of reals', function(on)
        local a = numbers(on, 9001, 'float')
        return a:argsort(), a:sort(), a:argsort { descending = true }
    end },
    { 'sorts of rows', function(on)
        local a = numbers(on, 3 * 1700 * 2, 'int16'):reshape(3, 1700, 2)
        return a:sort { axis = 1 }, a:argsort { axis = 0 }
    end },
    { 'sorts of long words', function(on)
        local a = mare.randint(-2 ^ 31, 2 ^ 31, { 5000 }, { seed = 8, type = 'int64', device = on })
        return (a * 2 ^ 21):sort(), (a * 2 ^ 21):argsort()
    end },
    { 'elements by their numbers', function(on)
        local a = mare.arange(5000, { device = on }):double():reshape(10, 20, 25)
        local at = mare.randint(-20, 20, { 6, 7 }, { seed = 9, device = on })
        local z = a:complex(1 - a)
        return a:take(at, { axis = 1 }), a:take(at), a:compress((a % 7):lt(3)), z:take(at):real()
    end },
    { 'values into elements', function(on)
        local a = mare.zeros({ 500 }, { device = on }):eval()
        local at = mare.randint(-4, 4, { 9000 }, { seed = 2, device = on })
        local x = mare.rand({ 9000 }, { seed = 1, device = on })
        local b = a:copy():put(at, x)
        return b, a:add(at, x), b:copy():put({ 3, -2 }, 7), b:half():add(at, 0.25)
    end },
    { 'searches, histograms and what is different', function(on)
        local a = numbers(on, 3000, 'float')
        local values, counts, inverse = a:unique { counts = true, inverse = true }
        local bins, edges = mare.where(a:isnan(), 0, a):histogram(13)
        return values, counts, inverse, bins, edges,
            (values:searchsorted(a, { right = true }))
    end },
}

local function bits_of(value)
    return value == value and ('%.17g'):format(tonumber(value)) or 'nan'
end

local function compare(name, made, expected)
    for k, e in ipairs(expected) do
        local title = ('%s, result %d'):format(name, k)
        assert.equal(e.type, made[k].type, title)
        assert.same(e.shape, made[k].shape, title)
        local x, y = made[k]:flatten():totable(), e:flatten():totable()
        for i = 1, #y do
            if x[i] ~= y[i] or x[i] == 0 then
                assert.equal(bits_of(y[i]), bits_of(x[i]), ('%s, element %d'):format(title, i - 1))
            end
        end
    end
end

local expected = {}

for _, d in ipairs(part.devices()) do
    for _, in_groups in ipairs { false, true } do
        if not d.is_null and d.info.has_double and (in_groups or d.info.kind == 'cpu') then
            for _, entry in ipairs(sample(cases, 1)) do
                local name, f = unpack(entry)
                it(('%s on %s by %s'):format(name, d.name, in_groups and 'groups' or 'work-items'),
                    function()
                        finally(function() kernels.in_groups, kernels.may_wait = nil, nil end)
                        expected[name] = expected[name] or { f(null) }
                        kernels.in_groups = in_groups
                        kernels.may_wait = sample({ false, true }, 1)[1]
                        compare(name, { f(d) }, expected[name])
                    end)
            end
        end
    end
end
