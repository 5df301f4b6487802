-- Indices, masks, scans and sorts of arrays on a null device: what is written where, what waits,
-- what is refused.

local fails = require 'tests.fails'
local mare = require 'mare'

local null = mare.device.open 'null'

local function array(list, type) return mare.array(list, { type = type, device = null }) end

describe('indices', function()
    it('take elements, and axes give way to theirs', function()
        local a = mare.arange(6, { device = null }):reshape(2, 3)
        assert.same({ 5, 0 }, a:take { -1, 0 }:totable())
        assert.same({ { 0, 4 }, { 3, 1 } }, a:take(array({ { 0, 4 }, { 3, 1 } }, 'int8')):totable())
        assert.same({ 1, 4 }, a:take(1, { axis = 1 }):totable())
        assert.same({ { 3, 4, 5 }, { 3, 4, 5 } }, a { array({ 1, -1 }, 'int32') }:totable())
        assert.same({ 0, 2 }, { unpack(a:take(array({}, 'int32')):reshape(0, 2).shape) })
    end)

    it('put and add, also through views and into what is still to be read', function()
        local a = mare.zeros({ 2, 3 }, { device = null }):eval()
        local before = a + 1
        a:put({ 0, 0 }, array { 4, 5 })
        assert.same({ { 5, 0, 0 }, { 0, 0, 0 } }, a:totable())
        assert.same({ { 1, 1, 1 }, { 1, 1, 1 } }, before:totable())
        a { {}, 2 }:add({ 0, 1, 1 }, 2)
        assert.same({ { 5, 0, 2 }, { 0, 0, 4 } }, a:totable())
        a:put(array({ 1, 0 }, 'int32'), a { 0, { 0, 2 } })
        assert.same({ { 0, 5, 2 }, { 0, 0, 4 } }, a:totable())
    end)

    it('of truth values choose, as a copy that is not written by mistake', function()
        local a = mare.arange(6, { device = null }):reshape(2, 3)
        local some = a { a:gt(2) }
        assert.same({ 3, 4, 5 }, some:totable())
        assert.same({ { 3, 4, 5 } }, a:compress(array { false, true }):totable())
        fails(function() some:assign(0) end, 'MARE_ERROR_ARGUMENT', 'where = mask', ':copy()')
        assert.same({ 0, 0, 0 }, some:copy():assign(0):totable())
        assert.same({ 3, 4, 5 }, a:gt(2):flatnonzero():totable())
    end)

    it('are refused by value and range', function()
        local a = mare.arange(6, { device = null }):reshape(2, 3)
        fails(function() a:take { 6 } end, 'MARE_ERROR_ARGUMENT', 'index 6', '-6 to 5')
        fails(function() a:take({ -3 }, { axis = 0 }) end, nil, 'index -3', '-2 to 1')
        fails(function() a:take({ 0 }, { mode = 'wrpa' }) end, nil, 'wrpa', 'wrap')
        fails(function() a:take(a:float()) end, nil, 'whole numbers', 'float')
        fails(function() a:take(a:gt(1)) end, nil, 'bool', 'compress')
        fails(function() a:compress(a) end, nil, 'truth values', 'int32')
        fails(function() a:compress(array { true, true, false }) end, nil, '{ 3 }', '{ 2, 3 }')
        fails(function() a:put({ 0, 1 }, array({ 1, 2, 3 }, 'int32')) end, nil, '{ 3 }', '{ 2 }')
        fails(function() a:put({ 0 }, array { 1 }) end, nil, 'float', 'int32')
        fails(function() a:gt(1):add({ 0 }, true) end, nil, 'bool')
        fails(function() return a { a:gt(1), 0 } end, nil, 'by itself')
    end)
end)

describe('scans and sorts', function()
    it('go along an axis, and of none along all', function()
        local a = array { { 3, 1 }, { 2, 4 } }
        assert.same({ 3, 4, 6, 10 }, a:cumsum():totable())
        assert.same({ { 3, 1 }, { 5, 5 } }, a:cumsum(0):totable())
        assert.same({ { 3, 1 }, { 6, 4 } }, a:cumprod { axis = 0 }:totable())
        assert.same({ { 1, 3 }, { 2, 4 } }, a:sort():totable())
        assert.same({ { 1, 0 }, { 0, 1 } }, a:argsort(0):totable())
        assert.same({ 'int64', 'float', 'double', 'int32' }, { array({ 1 }, 'int8'):cumsum().type,
            a:cumsum().type, a:cumsum { type = 'double' }.type, a:argsort().type })
    end)

    it('have NaN behind all numbers, and equal elements in their order', function()
        local a = array { 1, 0 / 0, -1 / 0, 1 / 0, 1, 0, -0.0 }
        assert.same({ 2, 5, 6, 0, 4, 3, 1 }, a:argsort():totable())
        assert.same({ 1, 3, 0, 4, 5, 6, 2 }, a:argsort { descending = true }:totable())
        assert.equal(6, a:cummax():isnan():sum():item())
        local values, counts = array({ 0 / 0, 2, 0 / 0 }):unique { counts = true }
        assert.same({ 2, 2 }, { values.count, tonumber(counts:at(1)) })
    end)

    it('know arrays of nothing and of one element', function()
        local none, one = array({}, 'int32'), array { 7 }
        for _, a in ipairs { none:cumsum(), none:sort(), none:argsort(), none:unique() } do
            assert.equal(0, a.count)
        end
        assert.same({ 7 }, one:unique():totable())
        assert.same({ 1 }, one:histogram(1):totable())
        assert.same({ 0, 0 }, none:histogram(2):totable())
        fails(function() array(3):sort() end, nil, 'without axes')
    end)

    it('refuse what has no order', function()
        local z = array { 1 }:complex(2)
        fails(function() z:sort() end, 'MARE_ERROR_ARGUMENT', 'sort', 'complex_float')
        fails(function() z:cumsum() end, nil, 'cumsum', 'complex_float')
        fails(function() array { { 1 } }:searchsorted(1) end, nil, '{ 1, 1 }')
        fails(function() array { 1 }:histogram(0) end, nil, '0 bins')
        fails(function() array { 1 }:histogram(2, { range = { 2, 1 } }) end, nil, '2 to 1')
    end)
end)
