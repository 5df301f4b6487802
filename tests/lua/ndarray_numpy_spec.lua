-- Expressions of many shapes and types beside NumPy: 2000 of them in long tests, a few here; and
-- 1000 programs of views and writes.

local json = require 'mare.base.json'
local mare = require 'mare'
local numpy = require 'tests.numpy'
local sample = require 'tests.sample'
local tables = require 'bindings.tables'
local trial = require 'tests.scenarios.trial'

local draw = numpy.draw(17)

local function one_of(list) return numpy.one_of(draw, list) end

-- ---- expressions, as texts for NumPy and as arrays ----

local types = { 'bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'half',
    'float', 'float', 'float', 'double', 'double' }
local shapes = { { 4, 6 }, { 1, 6 }, { 6 }, { 4, 1 }, { 2, 4, 6 }, { 1 } }

local function leaf()
    local made, text, shape = numpy.array(draw, one_of(types), one_of(shapes), 100, 12.5)
    text = ('["array", %s]'):format(text)
    local way = draw(6)
    if way == 0 and #shape == 2 and shape[1] == shape[2] then
        return made:transpose(), ('["transpose", %s]'):format(text)
    elseif way == 1 then
        local places = {}
        for k = 1, #shape - 1 do places[k] = {} end
        places[#shape] = { nil, nil, -1 }
        return made(places), ('["flip", %s]'):format(text)
    end
    return made, text
end

local numbers = { 2, 3, 0.5, 7, 1.25 }
local of_two = {
    add = function(a, b) return a + b end, sub = function(a, b) return a - b end,
    mul = function(a, b) return a * b end, div = function(a, b) return a / b end,
    mod = function(a, b) return a % b end, minimum = mare.minimum, maximum = mare.maximum,
    hypot = mare.hypot,
}
local of_one = { sqrt = mare.sqrt, sin = mare.sin, tanh = mare.tanh, atan = mare.atan,
    abs = mare.abs, neg = function(a) return -a end }
for _, name in ipairs { 'lt', 'le', 'gt', 'ge', 'eq', 'ne' } do
    of_two[name] = function(a, b) return a[name](a, b) end
end

local function names_of(list)
    local names = {}
    for name in pairs(list) do names[#names + 1] = name end
    table.sort(names)
    return names
end
local two, one = names_of(of_two), names_of(of_one)

local expression

-- Exact operations only below these, whose values jump.
local jumps = { mod = true, lt = true, le = true, gt = true, ge = true, eq = true, ne = true }

local function operation(depth)
    local way = draw(10)
    if way < 2 then
        local name = one_of(one)
        local a, text = expression(depth - 1)
        return of_one[name](a), ('["%s", %s]'):format(name, text)
    elseif way < 3 then
        local a, text_a = leaf()
        local b, text_b = leaf()
        local c, text_c = expression(depth - 1)
        return mare.where(a:lt(b), c, 3), ('["where", ["lt", %s, %s], %s, ["number", 3]]'):format(
            text_a, text_b, text_c)
    end
    local name = one_of(two)
    local below = jumps[name] and 0 or depth - 1
    local a, text_a = expression(below)
    if way < 5 then
        local value = one_of(numbers)
        return of_two[name](a, value), ('["%s", %s, ["number", %.17g]]'):format(name, text_a, value)
    end
    local b, text_b = expression(below)
    return of_two[name](a, b), ('["%s", %s, %s]'):format(name, text_a, text_b)
end

function expression(depth)
    if depth == 0 then return leaf() end
    return operation(depth)
end

-- Returns `count` arrays and their texts; expressions that Mare refuses are left out.
local function expressions(count)
    local list, refused = {}, 0
    while #list < count do
        local ok, made, text = pcall(expression, 1 + draw(3))
        if ok then
            list[#list + 1] = { made = made, text = text }
        else
            assert.truthy(tostring(made):find('shapes do not fit', 1, true)
                or tostring(made):find('does not fit', 1, true)
                or tostring(made):find('convert one', 1, true), tostring(made))
            refused = refused + 1
        end
    end
    return list, refused
end

-- ---- programs of views and of what is written into them ----

-- Each returns the text of a step on array `a`, number `at` of a list, and the array that it makes.
local steps = {}

steps[1] = function(a, at)
    local places, texts = {}, {}
    for k, size in ipairs(a.shape) do
        local by = one_of { 1, 1, 2, -1, -2 }
        places[k] = { draw(size), draw(size), by }
        texts[k] = ('[%d, %d, %d]'):format(unpack(places[k]))
    end
    local made = a(places)
    if made.count == 0 then return end
    return ('["slice", %d, %s]'):format(at, table.concat(texts, ', ')), made
end
steps[2] = function(a, at)
    if a.rank < 2 then return end
    local place = draw(2 * a.shape[1]) - a.shape[1]
    return ('["row", %d, %d]'):format(at, place), a { place }
end
steps[3] = function(a, at) return ('["turn", %d]'):format(at), a:transpose() end
steps[4] = function(a, at)
    local axis = draw(a.rank)
    return ('["flip", %d, %d]'):format(at, axis), a:flip(axis)
end
steps[5] = function(a, at) return ('["scaled", %d, 3]'):format(at), a * 3 + 2 end
steps[6] = function(a, at)
    a:assign(at - 7)
    return ('["fill", %d, %d]'):format(at, at - 7)
end
steps[7] = function(a, at, made)
    local from, by = draw(#made), 1 + draw(2)
    if tostring(made[from + 1].shape) ~= tostring(a.shape) then return end
    a:assign(by == 1 and made[from + 1] or made[from + 1] * by)
    return ('["assign", %d, %d, %d]'):format(at, from, by)
end
steps[8] = function(a, at)
    local place = draw(2 * a.count) - a.count
    a:put({ place }, at)
    return ('["put", %d, %d, %d]'):format(at, place, at)
end

local function program()
    local made, texts = {}, { '"program"' }
    for k = 1, 2 do
        local shape, by = one_of { { 24 }, { 4, 6 }, { 2, 3, 4 } }, 1 + draw(2)
        made[k] = mare.arange(24, { device = numpy.null }):reshape(shape)
        if by > 1 then made[k] = made[k] * by end
        texts[#texts + 1] = ('["numbers", [%s], %d]'):format(table.concat(shape, ', '), by)
    end
    for _ = 1, 4 + draw(12) do
        local at = draw(#made)
        local text, new = one_of(steps)(made[at + 1], at, made)
        texts[#texts + 1], made[#made + 1] = text, new
    end
    for k, a in ipairs(made) do made[k] = a:flatten() end
    return { made = mare.concatenate(made), text = ('[%s]'):format(table.concat(texts, ', ')) }
end

-- ---- comparison ----

-- Returns the error that an expression may have by the narrowest of its reals; functions of whole
-- numbers are floats.
local function tolerance_of(text)
    if text:find('"half"', 1, true) then return 4e-3 end
    for name in text:gmatch '"array", "(%w+)"' do
        if name ~= 'double' then return 4e-6 end
    end
    return 1e-13
end

local function is_close(a, b, allowed)
    if a ~= a or b ~= b then return a ~= a and b ~= b end
    return a == b or math.abs(a - b) <= allowed * math.max(1, math.abs(a), math.abs(b))
end

local function number_of(text)
    if text == 'True' then return 1 elseif text == 'False' then return 0 end
    if text == 'nan' then return 0 / 0 elseif text:find 'inf' then
        return text:find '-' and -math.huge or math.huge
    end
    return tonumber(text)
end

local function compare(entry, line)
    local expected = json.decode(line)
    assert.equal(expected.type, entry.made.type, entry.text)
    assert.same(expected.shape, { unpack(entry.made.shape) }, entry.text)
    local values = entry.made:flatten():totable()
    local is_real = expected.type == 'half' or expected.type == 'float' or expected.type == 'double'
    local allowed = is_real and tolerance_of(entry.text) or 0
    for k, text in ipairs(expected.values) do
        local value = values[k]
        if type(value) == 'boolean' then value = value and 1 or 0 end
        assert.truthy(is_close(value, number_of(text), allowed),
            ('%s: element %d is %.17g, not %s'):format(entry.text, k - 1, value, text))
    end
end

it('arrays compute what NumPy computes, in the types of the rule', function()
    local python = trial.python 'numpy' or pending 'needs Python with numpy'
    local list, refused = expressions(sample(2000, 120))
    for _ = 1, sample(1000, 20) do list[#list + 1] = program() end
    local texts = tables.column(list, 'text')
    for k, line in ipairs(numpy.answers(python, 'ndarray_numpy.py', texts)) do
        compare(list[k], line)
    end
    assert.truthy(refused < 2 * #list)
end)
