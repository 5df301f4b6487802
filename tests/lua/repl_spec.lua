local repl = require 'mare.repl'

describe('repl', function()
    local session

    before_each(function() session = repl.new() end)

    it('shows the values of expressions and keeps the last one', function()
        assert.same({ 'ok', '2' }, { session:step '1 + 1' })
        assert.same({ 'ok', '4' }, { session:step '_ * 2' })
        assert.same({ 'ok', 'nil\tx' }, { session:step 'nil, "x"' })
        assert.same({ 'ok', '' }, { session:step 'x = 5' })
        assert.same({ 'ok', '5' }, { session:step 'x' })
        assert.is_nil(rawget(_G, 'x'))
        assert.same({ 'ok', '' }, { session:step '' })
    end)

    it('asks for more until a statement is whole', function()
        assert.same({ 'more', '' }, { session:step 'for i = 1, 2 do' })
        assert.same({ 'more', '' }, { session:step 'n = i' })
        assert.same({ 'ok', '' }, { session:step 'end' })
        assert.same({ 'ok', '2' }, { session:step 'n' })
        assert.equal('more', (session:step 'f = {'))
        assert.equal('ok', (session:step '}'))
    end)

    it('survives errors of every kind', function()
        for line, text in pairs{
            ['1 +* 2'] = 'unexpected symbol',
            ['error "oops"'] = 'oops',
            ['error(nil)'] = 'nil',
            ['missing.field'] = "global 'missing'",
            ['mare.device.open "metal"'] = "device 'metal'",
            ['error(setmetatable({}, { __tostring = function() return "odd" end }))'] = 'odd',
        } do
            local status, message = session:step(line)
            assert.equal('error', status)
            assert.truthy(message:find(text, 1, true), message)
        end
        assert.same({ 'ok', '1' }, { session:step '1' })
    end)

    it('has the module at hand', function()
        assert.same({ 'ok', "device 'null:0'" }, { session:step 'mare.device.open "null"' })
    end)
end)
