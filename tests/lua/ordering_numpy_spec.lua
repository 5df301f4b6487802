-- Scans, sorts, searches, histograms and indices beside NumPy: a few here, 400 in long tests.

local json = require 'mare.base.json'
local numpy = require 'tests.numpy'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

local draw = numpy.draw(23)

local function one_of(list) return numpy.one_of(draw, list) end

local types = { 'bool', 'int8', 'uint8', 'int16', 'int32', 'uint32', 'int64', 'half', 'float',
    'double' }
local shapes = { { 7 }, { 1 }, { 4, 6 }, { 3, 1, 5 }, { 2, 4, 6 }, { 90 } }

-- Returns an array, the text for NumPy, the shape and the type.
local function leaf(type, shape)
    type, shape = type or one_of(types), shape or one_of(shapes)
    local made, text = numpy.array(draw, type, shape, 20, 4)
    return made, ('[%s]'):format(text), shape, type
end

local function is_truth(type) return type == 'bool' end

-- Each returns an array and the text of a call for NumPy, or nothing if the arrays that were drawn
-- do not suit.
local cases = {}

for _, name in ipairs { 'cumsum', 'cumprod', 'cummax', 'cummin', 'sort', 'argsort' } do
    cases[#cases + 1] = function()
        local a, text, shape, type = leaf()
        if name == 'cumprod' and not is_truth(type) then
            a, text = leaf('int8', { 6 })
            shape = { 6 }
        end
        local axis = draw(#shape)
        return a[name](a, { axis = axis }), ('["%s", %s, %d]'):format(name, text, axis)
    end
end

local function places(n, count)
    local list = {}
    for k = 1, count do list[k] = draw(2 * n) - n end
    return list, ('[%s]'):format(table.concat(list, ', '))
end

cases[#cases + 1] = function()
    local a, text, shape = leaf()
    local axis = draw(#shape)
    local list, at = places(shape[axis + 1], 1 + draw(9))
    return a:take(list, { axis = axis }), ('["take", %s, %s, %d]'):format(text, at, axis)
end
cases[#cases + 1] = function()
    local a, text = leaf()
    local list, at = places(a.count, 1 + draw(9))
    local mode = one_of { 'wrap', 'clip' }
    list[1] = 1000
    at = at:gsub('^%[%-?%d+', '[1000')
    return a:take(list, { mode = mode }), ('["take_%s", %s, %s]'):format(mode, text, at)
end
for _, name in ipairs { 'put', 'add' } do
    cases[#cases + 1] = function()
        local a, text, _, type = leaf()
        if is_truth(type) and name == 'add' then return nil end
        local list, at = places(a.count, 1 + draw(30))
        local b, values = leaf(type, { #list })
        return a:copy()[name](a:copy(), list, b), ('["%s", %s, %s, %s]'):format(name, text, at,
            values)
    end
end
cases[#cases + 1] = function()
    local a, text, shape = leaf()
    local own = {}
    for k = 1, 1 + draw(#shape) do own[k] = shape[k] end
    local mask, mask_text = leaf('bool', own)
    return a { mask }, ('["compress", %s, %s]'):format(text, mask_text)
end
cases[#cases + 1] = function()
    local a, text = leaf()
    return a:flatnonzero(), ('["flatnonzero", %s]'):format(text)
end
for k, name in ipairs { 'unique', 'unique_counts', 'unique_inverse' } do
    cases[#cases + 1] = function()
        local a, text = leaf()
        return (select(math.min(k, 2), a:unique { counts = k == 2, inverse = k == 3 })),
            ('["%s", %s]'):format(name, text)
    end
end
cases[#cases + 1] = function()
    local a, text, _, type = leaf(nil, { 9 })
    local b, values = leaf(type)
    local right = draw(2) == 1
    return a:sort():searchsorted(b, { right = right }),
        ('["searchsorted", %s, %s, %d]'):format(text, values, right and 1 or 0)
end
cases[#cases + 1] = function()
    local a, text, shape = leaf(one_of { 'int32', 'float', 'double', 'uint8' })
    local counts, edges = a:histogram(4, { range = { -2, 2 } })
    if draw(2) == 0 then return counts, ('["histogram", %s]'):format(text) end
    local weights, values = leaf('double', shape)
    return a:histogram(edges, { weights = weights }), ('["weighted", %s, %s]'):format(text, values)
end

-- ---- comparison ----

local function number_of(value)
    if type(value) == 'boolean' then return value and 1 or 0 end
    return tonumber(value)
end

local function compare(made, text, line)
    local expected = json.decode(line)
    assert.equal(expected.kind, made.type:gsub('%d+$', ''), text)
    assert.same(expected.shape, { unpack(made.shape) }, text)
    local values = made:flatten():totable()
    for k, wanted in ipairs(expected.values) do
        local value = number_of(values[k])
        local allowed = made.type == 'half' and 2e-3 or 0
        assert.truthy(math.abs(value - wanted) <= allowed * math.max(1, math.abs(wanted)),
            ('%s: element %d is %.17g, not %.17g'):format(text, k - 1, value, wanted))
    end
end

it('arrays are scanned, sorted, searched and indexed as NumPy does it', function()
    local python = trial.python 'numpy' or pending 'needs Python with numpy'
    local list, texts, round = {}, {}, 0
    while #list < sample(400, 40) do
        local made, text = cases[1 + round % #cases]()
        round = round + 1
        if made then
            list[#list + 1] = made
            texts[#list] = text
        end
    end
    for k, line in ipairs(numpy.answers(python, 'ordering_numpy.py', texts)) do
        compare(list[k], texts[k], line)
    end
end)
