-- Expression trees and the text that they become; errors of those who write expressions.

local cells = require 'mare.dialect.cells'
local m = require 'mare.dialect.maths'
local nodes = require 'mare.dialect.nodes'
local writer = require 'mare.dialect.writer'

local function argument(name, type) return nodes.input(name, type or 'real', name) end

local a, b, c, d = argument 'a', argument 'b', argument 'c', argument 'd'
local x = nodes.input('x', 'real', 'src[at]', { 'src', 'at' })
local i, k, wide = argument('i', 'int32'), argument('k', 'int64'), argument('wide', 'double')

-- The lines that trees become; the last gives their values.
local function lines_of(...)
    local w = writer.new()
    w:line('use(%s);', table.concat({ w:values { ... } }, ', '))
    return w:text()
end

local function text_of(tree)
    return lines_of(tree):match '^use%((.*)%);\n$'
end

describe('the text of a tree', function()
    it('has the parentheses that keep its order, and no other', function()
        assert.equal('a - b - c', text_of(a - b - c))
        assert.equal('a - (b - c)', text_of(a - (b - c)))
        assert.equal('a * b + c', text_of(a * b + c))
        assert.equal('a * (b + c)', text_of(a * (b + c)))
        assert.equal('a / b / c', text_of(a / b / c))
        assert.equal('a / (b * c)', text_of(a / (b * c)))
        assert.equal('a + (b + c)', text_of(a + (b + c)))
        assert.equal('-a * b', text_of(-a * b))
        assert.equal('-(a * b)', text_of(-(a * b)))
        assert.equal('-(-a)', text_of(-(-a)))
        assert.equal('a - -b', text_of(a - -b))
        assert.equal('a < b + c', text_of(m.lt(a, b + c)))
        assert.equal('!(a < b) & (c > d)',
            text_of(m.logical_and(m.logical_not(m.lt(a, b)), m.gt(c, d))))
        assert.equal('mr_select(a != b, a + b, -c)', text_of(m.where(m.ne(a, b), a + b, -c)))
        assert.equal('MR_ROOT * mr_sqrt(a) * b', text_of(m.times_root(m.sqrt(a)) * b))
        assert.equal('b * (MR_ROOT * (a * c))', text_of(b * m.times_root(a * c)))
    end)

    it('writes numbers of Lua in the type of what they meet', function()
        assert.equal('R(0.5) * a', text_of(0.5 * a))
        assert.equal('a - R(1.0)', text_of(a - 1))
        assert.equal('R(-1e+30) + a', text_of(-1e30 + a))
        assert.equal('R(0.1) * a', text_of(0.1 * a))
        assert.equal('R(0.33333333333333331) * a', text_of(1 / 3 * a))
        assert.equal('2 * i', text_of(2 * i))
        assert.equal('R(0.5) * i', text_of(0.5 * i))
        assert.equal('2.0 * wide', text_of(2 * wide))
        assert.equal('mr_select(i > 2, R(1.0), R(0.0))', text_of(m.where(m.gt(i, 2), 1, 0)))
        assert.equal('mr_fma(R(2.0), i, a)', text_of(m.fma(2, i, a)))
        assert.error_matches(function() text_of(a * (0 / 0)) end, 'as a parameter')
    end)

    it('has types as Lua has numbers: a quotient is real', function()
        assert.equal('real', (a + b).type)
        assert.equal('int32', (i + 1).type)
        assert.equal('int64', (i * k).type)
        assert.equal('real', (i + 0.5).type)
        assert.equal('real', (i / i).type)
        assert.equal('double', (a * wide).type)
        assert.equal('bool', m.lt(i, a).type)
        assert.equal('int32', (m.lt(i, a) + m.gt(i, a)).type)
        assert.equal('(real)i / k', text_of(i / k))
        assert.equal('R(1.0) / i', text_of(1 / i))
        assert.equal('(real)wide + a', text_of(m.real(wide) + a))
        assert.equal('sqrt(wide)', text_of(m.sqrt(wide)))
        assert.equal('(char)(i + k)', text_of(m.int8(i + k)))
        assert.equal('(i & 3) + i % 4', text_of(m.bit_and(i, 3) + m.remainder(i, 4)))
        assert.error_matches(function() return m.rcp(wide) end, "'rcp' is for reals, not for do")
        assert.error_matches(function() return m.bit_and(i, a) end, 'for whole numbers, not for')
        assert.error_matches(function() return m.logical_not(a) end, "for a boolean, not for real")
        assert.error_matches(function() return m.where(a, b, c) end, 'boolean and two numbers, not')
    end)

    it('expands whole powers, and takes no others', function()
        assert.equal('a * a * a', text_of(a ^ 3))
        assert.equal('a', text_of(a ^ 1))
        for _, power in ipairs { 0.5, -1, 9, a } do
            assert.error_matches(function() return a ^ power end, 'a whole power from 1 to 8')
        end
    end)

    it('names what is used twice, once', function()
        assert.is_true(rawequal(a + b * c, a + b * c))
        assert.is_false(rawequal(a - b, b - a))
        assert.equal('real t1 = a + b;\nuse(t1 * t1);\n', lines_of((a + b) ^ 2))
        assert.equal('real x = src[at];\nuse(x * x + a * a);\n', lines_of(x * x + a * a))
        assert.equal('real t1 = a * b;\nuse(t1 + c, t1 + d);\n', lines_of(a * b + c, a * b + d))
        assert.equal('int t1 = a < b;\nuse(mr_select(t1, a, mr_select(!t1, b, c)));\n',
            lines_of(m.where(m.lt(a, b), a, m.where(m.logical_not(m.lt(a, b)), b, c))))
    end)

    it('tells -0 from 0', function()
        assert.is_false(rawequal(a + 0, a + -0.0))
        assert.equal('a + R(-0.0)', text_of(a + -0.0))
    end)

    it('names operands of macros that repeat them, and what is long', function()
        assert.equal('real t1 = a + b;\nuse(mr_max(t1, c));\n', lines_of(m.max(a + b, c)))
        assert.equal('real mine = a * c;\nuse(mr_select(a > R(0.0), mine, R(0.0)));\n',
            lines_of(m.where(m.gt(a, 0), nodes.named('mine', a * c), 0)))
        assert.equal(2, nodes.named('mine', 2))
        local sum = a
        for _ = 1, 40 do sum = sum + b * c end
        local lines = lines_of(sum)
        for line in lines:gmatch '[^\n]+' do assert.is_true(#line <= 100, line) end
    end)

    it('avoids names that are taken, and those of C', function()
        local w = writer.new()
        local named = nodes.input('src', 'real', 'src[at]')
        local int = nodes.input('int', 'real', 'src[1]')
        w:open('void f(real *src)', { 'src', 'src_2' })
        w:line('src[0] = %s;', (w:values { named * named + int * int }))
        w:close()
        assert.equal('void f(real *src) {\n    real src_3 = src[at];\n    real int_2 = src[1];\n'
            .. '    src[0] = src_3 * src_3 + int_2 * int_2;\n}\n', w:text())
        w:open 'void g(void)'
        w:line('use(%s);', (w:values { x * x }))
        w:close()
        assert.truthy(w:text():find('    real x = src[at];\n    use(x * x);\n}\n', 1, true))
    end)

    it('forgets trees that nobody holds', function()
        local grown = setmetatable({}, { __mode = 'k' })
        local function grow(from, to)
            for n = from, to do
                local sum, root = a + n, m.sqrt(a * n)
                grown[sum], grown[root], grown[sum * b - root] = n, n, n
                grown[m.where(m.gt(sum, 0), root, b)] = n
            end
        end
        local function left()
            collectgarbage()
            collectgarbage()
            local count = 0
            for _ in pairs(grown) do count = count + 1 end
            return count
        end
        grow(1, 2000)
        assert.equal(0, left())
        local held = a + 7
        grow(1, 10)
        assert.equal(7, grown[held])
        assert.equal(1, left())
    end)
end)

describe('functions of expressions', function()
    it('compute on numbers', function()
        assert.equal(2, m.sqrt(4))
        assert.equal(7, m.fma(2, 3, 1))
        assert.equal(0.25, m.rcp(4))
        assert.equal(-3, m.copysign(3, -0.0))
        assert.near(-2, m.cbrt(-8), 1e-15)
        assert.is_true(m.logical_and(m.lt(1, 2), m.ge(2, 2)))
        assert.is_true(m.logical_or(m.eq(1, 2), m.logical_not(false)))
        assert.equal(5, m.where(m.le(1, 0), 4, 5))
        assert.equal(-2, m.int32(-2.7))
    end)

    it('choose cells', function()
        local function field(i_, j_) return 10 * i_ + j_ end
        local q = cells.new { h = field }
        assert.equal(21, m.where(true, q:at(2, 1), q).h)
        assert.equal(1, m.where(false, q:at(2, 1), q):at(0, 1).h)
    end)
end)

describe('an error in an expression', function()
    local fields = { rho = function() return x end, E = function() return a end }

    local function fails(f, ...)
        local q, p = cells.new(fields), cells.names('parameter', { gamma = b, kind = 'none' })
        local ok, failure = pcall(cells.value, "variable 'mach'", f, q, p)
        assert.is_false(ok)
        for _, text in ipairs { "variable 'mach': ", ... } do
            assert.truthy(tostring(failure):find(text, 1, true), tostring(failure))
        end
    end

    it('names the variable, what is wrong and what there is', function()
        fails(function(q) return q.rho * q.v end, "no field 'v' (there are: E, rho)")
        fails(function(q, p) return q.rho * p.gama end,
            "no parameter 'gama' (there are: gamma, kind)")
        fails(function() end, 'result: a value or a number is wanted, not nil')
        fails(function(q, p) return q.rho + p.kind end, "operand 2 of '+'", 'not string')
        fails(function(q) return m.sqrt(q.rho, nil) + m.fma(q.rho, 2) end,
            "operand 3 of 'fma': a value or a number is wanted, not nil")
        local way = 'compared by lt, le, gt, ge, eq and ne'
        fails(function(q) return q.rho < q.E and 1 or 2 end, way)
        fails(function(q) return q.rho > 0 and 1 or 2 end, way)
        fails(function(q) return q.rho == q.E end, way)
        fails(function(q) return q:at(0.5, 0).rho end, 'whole numbers of cells')
        fails(function(q) return q.at(1, 0).rho end, 'q:at(i, j)')
        fails(function(q) q.rho = 1 end, "a cell is not to be changed: 'rho'")
        fails(function() error 'my own' end, 'my own')
    end)
end)
