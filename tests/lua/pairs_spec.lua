-- What Mare keeps LuaJIT from: its wrong code for next() (bindings/pairs.lua), and squares whose
-- bits depend on whether they are compiled (bindings/luajit/pow.h).

local fails = require 'tests.fails'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'

-- Dies in two of three starts where next() is compiled by the LuaJIT of Debian 12, which places
-- its code at random: the shape of the registers at next() is what matters.
local program = [[
    local after, pair = next, { x = 5, y = 6 }
    local a, b, c, d, e = { x = 1, y = 1 }, { x = 1, y = 2 }, { x = 1, y = 3 }, { x = 1, y = 4 },
        { x = 1, y = 5 }
    local f, g, h, i, j = { x = 1, y = 6 }, { x = 1, y = 7 }, { x = 1, y = 8 }, { x = 1, y = 9 },
        { x = 1, y = 10 }
    for _ = 1, 300 do
        if d.y > b.y then h.x = 1 end
        local _, value = after(pair, 'x')
        g.x = value
        b.z = g
        d.x = f
        c.x = a
        g.z = b
        h.z = e
        e = e.y and g or e
        if j.y > g.y then h.x = 1 end
        j.z = d
        d.z = e
    end
    print 'lived'
]]

describe('pairs and next', function()
    it('run in compiled loops', function()
        local folder = trial.new_folder()
        local script = folder .. '/pairs.lua'
        trial.spit(script, program)
        for _ = 1, 8 do
            local status, text = trial.status_of(("'%s' %s"):format(home.launcher, script))
            assert.equal(0, status, text)
            fails.says(text, 'lived')
        end
        trial.remove(folder)
    end)

    it('go through all fields once', function()
        local given, found = { 1, 2, x = 3, [0.5] = 4 }, {}
        for key, value in pairs(given) do found[key] = value end
        assert.same(given, found)
        assert.is_nil(next {})
        assert.is_nil((next({ 7 }, 1)))
    end)

    it('refuse what is no table where they are called', function()
        fails(function() pairs(3) end, nil, 'bad argument', 'pairs', 'table', 'number')
        fails(function() next 'x' end, nil, 'bad argument', 'next', 'table', 'string')
    end)
end)

describe('x ^ 2', function()
    it('has the bits of x * x, interpreted or compiled', function()
        local function differ(first)
            local count = 0
            for k = first, first + 3000 do
                local x = 1 / k
                if x ^ 2 ~= x * x or math.pow(x, 2) ~= x * x then count = count + 1 end
            end
            return count
        end
        assert.equal(0, differ(3))
        jit.off(differ)
        assert.equal(0, differ(3))
    end)
end)
