-- Tests plain values as text, which checkpoints and threads use.

local fails = require 'tests.fails'
local literal = require 'mare.base.literal'

describe('plain values', function()
    it('come back with every bit', function()
        local value = { 1, -0.1, 1 / 3, 2 ^ 60, math.huge, -math.huge, 'a "b"\n\\\0\r\26\255', true,
            { x = false, ['y z'] = { 5e-324 }, [7.5] = 1 } }
        assert.same(value, literal.decode(literal.encode(value)))
        local nan = literal.decode(literal.encode { 0 / 0 })[1]
        assert.is_true(nan ~= nan)
    end)

    it('are nothing else', function()
        fails(function() literal.encode { print } end, nil, 'cannot be', 'function', 'kept')
        for _, text in ipairs { 'os.exit()', '{', '', 'nil', '{nil,}', '{1,}x', '{["a"=1,}', '0x10',
            '{[0/0]=1,}', '"\\999"', '"', '1e', '--', '("x").rep', 'print', ('{'):rep(1e5),
            '(function() while true do end end)()' } do
            assert.is_nil(literal.decode(text))
        end
        local within = {}
        within[1] = within
        assert.error_matches(function() literal.encode(within) end, 'holds itself')
    end)
end)
