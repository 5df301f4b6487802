-- Tests the core of a session without a terminal: the results of lines, and
-- that nothing ends it.

require 'mare'
local repl = require 'mare.session.repl'

local session

before_each(function() session = repl.new() end)

local function value_of(line)
    local status, text = session:step(line)
    assert.equal('ok', status, text)
    return text
end

describe('a session', function()
    it('shows the values of expressions and keeps the last nine', function()
        assert.equal('2', value_of '1 + 1')
        assert.equal('4', value_of '_ * 2')
        assert.equal('6', value_of '_1 + _2')
        assert.equal('"x"\t2', value_of '= "x", 2')
        assert.equal('6', value_of '_2')
        assert.equal('', value_of 'x = 5')
        assert.equal('5', value_of 'x')
        assert.equal('nil\t1', value_of 'nil, 1')
        assert.equal('5', value_of '_')
        assert.is_nil(rawget(_G, 'x'))
        assert.equal('', value_of '')
        for k = 1, 12 do session:step(tostring(k)) end
        assert.equal('12\t4\tnil', value_of '_1, _9, _10')
    end)

    it('asks for more until a statement is whole', function()
        assert.same({ 'more', '' }, { session:step 'for i = 1, 2 do' })
        assert.same({ 'more', '' }, { session:step 'n = i' })
        assert.same({ 'ok', '' }, { session:step 'end' })
        assert.equal('2', value_of 'n')
        for first, last in pairs { ['f = {'] = '}', ['s = [['] = ']]', ['g('] = ')' } do
            assert.equal('more', (session:step(first)))
            assert.not_equal('more', (session:step(last)))
        end
    end)

    it('keeps what a line calls local', function()
        session:step 'local a, b = 3, 4'
        session:step 'local function sum(...) local s = 0 for _, v in ipairs { ... } do s = s + v'
        session:step 'end return s end'
        assert.equal('7', value_of 'sum(a, b)')
        session:step 'local a'
        assert.equal('nil', value_of 'a')
        session:step 'local a == 1'
        assert.equal('nil', value_of 'a')
        session:step 'x = 1; local y, z = 2, 3; local function f() local y = 7; return y + z end'
        session:step 'if x then local x = 5 end; local v, w -- local'
        assert.equal('1\t2\t10\tnil', value_of 'x, y, f(), w')
    end)

    it('survives errors of every kind', function()
        for line, text in pairs{
            ['1 +* 2'] = "near '*'", ['x +* 2'] = "near '*'", ['local a = = 4'] = "near '='",
            ['x y'] = "near 'y'", ['error(nil)'] = 'called with nil',
            ['error({})'] = 'called with table',
            ['end'] = 'expected near',
            ['error "oops"'] = 'oops',
            ['\27LJ\2\0'] = 'wrong mode',
            ['missing.field'] = "global 'missing'",
            ['mare.device.open "metal"'] = "device 'metal'",
            ['error(setmetatable({}, { __tostring = function() return "odd" end }))'] = 'odd',
            ['error(setmetatable({}, { __tostring = function() error "twice" end }))'] = 'an error',
            ['(function f() return f() + 1 end)()'] = 'expected',
            ['setmetatable({}, { __index = function() error "deep" end }).x'] = 'deep',
        } do
            local status, message = session:step(line)
            assert.equal('error', status, line)
            assert.truthy(message:find(text, 1, true), message)
        end
        session:step 'function deep(n) return 1 + deep(n + 1) end'
        local status, message = session:step 'deep(1)'
        assert.equal('error', status)
        assert.truthy(message:find 'stack overflow', message)
        assert.equal('1', value_of '1')
    end)

    it('names the stack frames of files, not those of lines or of Mare', function()
        local path = os.tmpname()
        local file = assert(io.open(path, 'w'))
        file:write 'function outer()\n    require("mare").grid { nx = 0 }\nend\n'
        file:close()
        session:step(('dofile %q'):format(path))
        local status, message = session:step 'outer()'
        os.remove(path)
        _G.outer = nil
        assert.equal('error', status)
        assert.truthy(message:find(path .. ':2', 1, true), message)
        assert.is_nil(message:find('lua/mare/array/grid.lua', 1, true), message)
        assert.is_nil(message:find('input:1', 1, true), message)
    end)

    it('tells the results of a text as they come', function()
        local told = {}
        local function tell(text) told[#told + 1] = text end
        session.environment.note = tell
        assert.equal('ok', (session:run('1\nnote "by itself"\n2', tell)))
        assert.same({ '1', 'by itself', '2' }, told)
        assert.equal('error', (session:run('3\nerror "no"\n4', tell)))
        assert.truthy(told[5]:find '^no')
        assert.is_nil(told[6])
    end)

    it('has the module at hand', function()
        assert.truthy(value_of 'mare':find('grid', 1, true))
        assert.truthy(value_of 'mare.device.open "null"':find('^device null:0'))
    end)
end)
