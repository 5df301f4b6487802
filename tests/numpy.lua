-- numpy.lua - what specs that compare arrays with NumPy share: random choices, arrays as text for a
-- Python script, and the call of that script.
--
--     local draw = numpy.draw(17)              -- of a seed
--     local a, text, shape, type = numpy.array(draw, 'int8', { 2, 3 }, 50, 8)
--     for k, line in ipairs(numpy.answers(python, 'ndarray_numpy.py', texts)) do ... end

local mare = require 'mare'
local random = require 'mare.base.random'
local trial = require 'tests.scenarios.trial'

local numpy = { null = mare.device.open 'null' }

-- Returns a function of n that draws a whole number from 0 to n - 1.
function numpy.draw(seed)
    local drawn = 0
    return function(n)
        drawn = drawn + 1
        return math.floor(random.uniform(seed, drawn) * n)
    end
end

function numpy.one_of(draw, list) return list[1 + draw(#list)] end

-- Returns an array on the null device, its type, its shape and its values as texts for Python, the
-- shape and the type. Whole numbers are below `whole` (unsigned) or from -whole / 2 on, reals
-- multiples of 1/8 from -`real` to below `real`.
function numpy.array(draw, type, shape, whole, real)
    local count, values = 1, {}
    for _, size in ipairs(shape) do count = count * size end
    for k = 1, count do
        values[k] = type == 'bool' and draw(2) or type:find '^u' and draw(whole)
            or type:find 'int' and draw(whole) - whole / 2 or (draw(16 * real) - 8 * real) / 8
    end
    local given = values
    if type == 'bool' then
        given = {}
        for k, value in ipairs(values) do given[k] = value == 1 end
    end
    return mare.array(given, { type = type, device = numpy.null }):reshape(shape),
        ('"%s", [%s], [%s]'):format(type, table.concat(shape, ', '), table.concat(values, ', ')),
        shape, type
end

-- Returns the lines that a script beside the specs prints for these texts. python: the interpreter
function numpy.answers(python, script, texts)
    local folder = trial.new_folder()
    trial.spit(folder .. '/in', table.concat(texts, '\n') .. '\n')
    local here = debug.getinfo(1, 'S').source:match '^@(.*)/' or '.'
    local status, output = trial.status_of(("'%s' '%s/lua/%s' < %s/in"):format(python, here, script,
        folder))
    trial.remove(folder)
    assert(status == 0, output)
    local lines = {}
    for line in output:gmatch '({[^\n]*})\n' do lines[#lines + 1] = line end
    assert(#lines == #texts, output)
    return lines
end

return numpy
