-- The table of scenarios/ARRAYS.md: what NumPy computes in the first column, Mare does in the
-- second; and what stands in the table of writes runs.

local home = require 'bindings.home'
local json = require 'mare.base.json'
local mare = require 'mare'
local trial = require 'tests.scenarios.trial'

local function env()
    local null = mare.device.open 'null'
    local own = setmetatable({}, { __index = mare })
    for _, name in ipairs { 'arange', 'ones', 'linspace', 'rand' } do
        own[name] = function(...)
            local given = { ... }
            given[#given + 1] = type(given[#given]) == 'table' and #given > 1
                and table.remove(given) or {}
            given[#given].device = null
            return mare[name](unpack(given))
        end
    end
    function own.array(list, type) return mare.array(list, { device = null, type = type }) end
    return setmetatable({ mare = own, a = own.arange(12):reshape(3, 4):double(),
        i = own.array({ 2, 0 }, 'int32'), v = own.array({ 3, 1, 2 }, 'double'), x = 5,
        s = own.array({ { 2, 1, 0 }, { 1, 3, 1 }, { 0, 1, 4 } }, 'double') }, { __index = _G })
end

-- Returns the rows of the table with this head, as lists of cells.
local function rows(text, head)
    local list, is_in = {}, false
    for line in text:gmatch '([^\n]*)\n' do
        if line:sub(1, #head) == head then
            is_in = true
        elseif not line:find '^|' then
            is_in = false
        elseif is_in and not line:find '^|%-' then
            local cells = {}
            for cell in line:gmatch '|([^|]*)' do cells[#cells + 1] = cell:match '`(.*)`' or '' end
            list[#list + 1] = cells
        end
    end
    return list
end

local file = assert(io.open(home.root .. '/scenarios/ARRAYS.md'))
local text = file:read '*a'
file:close()

-- Returns the numbers in an array, a number or nested tables, in a row.
local function numbers(value, list)
    list = list or {}
    if mare.array.is(value) then value = value:totable() end
    if type(value) == 'table' then
        for _, one in ipairs(value) do numbers(one, list) end
    else
        list[#list + 1] = type(value) == 'boolean' and (value and 1 or 0) or tonumber(value)
    end
    return list
end

local python_text = [==[
import json, sys
import numpy as np
a, i, v = np.arange(12.).reshape(3, 4), [2, 0], np.array([3., 1., 2.])
s = np.array([[2., 1, 0], [1, 3, 1], [0, 1, 4]])
for line in sys.stdin:
    print(json.dumps([float(x) for x in np.asarray(eval(line)).reshape(-1)]))
]==]

it('the table for users of NumPy computes the same on both sides', function()
    local python = trial.python 'numpy' or pending 'needs Python with numpy'
    if not require('bindings.openblas').is_there() then return pending 'needs OpenBLAS' end
    local folder = trial.new_folder()
    finally(function() trial.remove(folder) end)
    local list, calls = rows(text, '| NumPy'), {}
    assert.truthy(#list > 30)
    for k, cells in ipairs(list) do calls[k] = cells[1] .. '\n' end
    trial.spit(folder .. '/in', table.concat(calls))
    trial.spit(folder .. '/run.py', python_text)
    local status, output = trial.status_of(('%s %s/run.py < %s/in'):format(python, folder, folder))
    assert.equal(0, status, output)
    local k = 0
    for line in output:gmatch '(%[[^\n]*%])\n' do
        k = k + 1
        local cell = list[k][2]
        local value = setfenv(assert(loadstring('return ' .. cell)), env())()
        local made, expected = numbers(value), json.decode(line)
        assert.equal(#expected, #made, cell)
        for n, x in ipairs(expected) do
            assert.truthy(math.abs(made[n] - x) < 1e-6 * math.max(1, math.abs(x)), cell)
        end
    end
    assert.equal(#list, k)
end)

it('what the table of writes says runs', function()
    for _, cells in ipairs(rows(text, '| In place')) do
        local cell = cells[2]:gsub('`.*$', '')
        local own = env()
        own.b, own.c = own.a, own.a
        local chunk = loadstring('return ' .. cell) or assert(loadstring(cell), cell)
        assert.truthy(setfenv(chunk, own)(), cell)
    end
end)
