-- Kernels of arithmetic in PTX: what they compute, by a machine of Lua, is what the host does.

local array = require 'mare.ndarray.array'
local mare = require 'mare'
local machine = require 'tests.ptx_machine'
local ptx_kernel = require 'mare.dialect.ptx_kernel'
local shapes = require 'mare.expression.shapes'
local strides = require 'mare.expression.strides'
local text = require 'mare.expression.text'
local tree = require 'mare.expression.tree'

local null = mare.device.open 'null'
local count = 21

local function numbers(type, f)
    local list = {}
    for k = 1, count do list[k] = f(k) end
    return mare.array(list, { device = null, type = type })
end

local a = numbers('float', function(k) return (k * 37 % 11 - 5) / 4 end)
local b = numbers('float', function(k) return k % 4 == 0 and 0 or (k * 29 % 13 - 6) / 8 end)
local x = numbers('double', function(k) return (k * 17 % 7 - 3) / 3 end)
local i = numbers('int32', function(k) return k * 31 % 19 - 9 end)
local j = numbers('int32', function(k) return k % 5 - 2 end)
local u = numbers('uint8', function(k) return k * 97 % 256 end)
local s = numbers('int16', function(k) return k * 9973 % 65536 - 32768 end)
local c = numbers('bool', function(k) return k % 3 == 0 end)
local one = mare.array({ 2.5 }, { device = null })

local h, z = (a * 1.1):to('half'):eval(), a:complex(b):eval()

-- Returns the elements of an array, or the parts of complex ones, as a list from 0.
local function elements(given)
    local data, list = (given.type == 'half' and given:float() or given):data(), {}
    for at = 0, given.count - 1 do
        local value = data[at]
        if given.type:find 'complex' then
            list[2 * at], list[2 * at + 1] = value.re, value.im
        else
            list[at] = type(value) == 'boolean' and (value and 1 or 0) or tonumber(value)
        end
    end
    return list
end

-- Returns the leaves and the numbers that the nodes of expressions read, in their order.
local function read_by(nodes)
    local leaves, seen, values = {}, {}, {}
    local function visit(node)
        if type(node) == 'number' then
            values[#values + 1] = node
        elseif not seen[node] then
            seen[node] = true
            if not node.op then leaves[#leaves + 1] = node end
            for k = 1, 3 do if node.op and node[k] then visit(node[k]) end end
        end
    end
    for _, node in ipairs(nodes) do visit(node) end
    return leaves, values
end

-- Returns the kernel of expressions, and what it reads. rank: of a strided one
local function kernel_of(roots, rank)
    local nodes, ones = {}, {}
    for k, root in ipairs(roots) do nodes[k] = array.node(root) end
    local plan, leaves, values = tree.of(nodes), read_by(nodes)
    for k, leaf in ipairs(leaves) do ones[k] = leaf.shape.count == 1 or nil end
    local desc = { rank = rank, ones = ones, width = text.width(plan),
        shows = not rank and plan.types[1].size <= 8 }
    return ptx_kernel.of(plan, desc), leaves, values, desc.width
end

-- Returns memory and parameters of a kernel, of which the results are the first.
local function arguments(count_of_results, leaves, values)
    local memory, parameters = {}, {}
    local function add(name, list)
        memory[#memory + 1] = list
        parameters[name] = #memory * 2 ^ 40
    end
    for k = 1, count_of_results do add('out' .. k, {}) end
    for k, leaf in ipairs(leaves) do
        if leaf.version then
            add('a' .. k, elements(array.of_version(leaf.version,
                shapes.line(leaf.version.count))))
        end
    end
    for k, value in ipairs(values) do parameters['s' .. k] = value end
    add('shown', {})
    return memory, parameters
end

-- Returns what a flat kernel leaves in memory, whose last part shows the wanted element.
local function run(roots, wanted)
    local kernel, leaves, values, width = kernel_of(roots)
    local memory, parameters = arguments(#roots, leaves, values)
    parameters.n, parameters.wanted, parameters.launch = count, wanted or -1, 7
    machine(kernel, parameters, memory, math.ceil(count / width))
    return memory
end

local function compare(root, found)
    local wanted = elements(root)
    for at = 0, #wanted do
        local own, value = found[at], wanted[at]
        assert.is_true(own == value or own ~= own and value ~= value, ('%s: element %d is %s, '
            .. 'not %s'):format(root.type, at, tostring(own), tostring(value)))
    end
end

local function check(...)
    local roots = { ... }
    local found = run(roots)
    for k, root in ipairs(roots) do compare(root, found[k]) end
end

-- The same of a strided kernel, whose result lies one element after another.
local function check_strided(root)
    local shape = array.node(root).shape
    local kernel, leaves, values = kernel_of({ root }, shape.rank)
    local memory, parameters = arguments(1, leaves, values)
    local function add(name, offset, list)
        parameters[name .. '_0'] = offset
        for d = 1, shape.rank do parameters[name .. '_' .. d] = list[shape.rank + 1 - d] end
    end
    for d = 1, shape.rank do parameters['n' .. d] = shape[shape.rank + 1 - d] end
    parameters.rows = shape.count / shape[shape.rank]
    add('q', 0, strides.dense(shape))
    for k, leaf in ipairs(leaves) do add('p' .. k, leaf.offset, strides.repeated(leaf, shape)) end
    machine(kernel, parameters, memory, shape[shape.rank] + 3, 2)
    compare(root, memory[1])
end

-- Functions, since an expression is a leaf once it was computed.
local expressions = {
    function() return ((a * b + a - b) * b + a) * 2.5 end,
    function() return mare.sqrt(a * a + b * b + one) / (1 + a) end,
    function() return mare.sqrt(x * x + a) / x - 1 end,
    function() return a + b, a * b, i + 1 end,
    function() return i * 3 + j % 5 - i % j end,
    function() return mare.where(a:gt(b), a, -b), mare.where(c, a:gt(0.5), b:lt(0.25)) end,
    function() return mare.minimum(a, b / b) + mare.maximum(a, 0.5) end,
    function() return mare.floor(a * 3) + mare.ceil(b) - mare.trunc(a) * mare.rint(2 * b) end,
    function() return mare.abs(a - b) + mare.abs(i), mare.sign(a - b) + mare.sign(j) end,
    function() return mare.isnan(a / b), mare.isfinite(a / b), mare.isinf(a / b) end,
    function() return u + u, u / 255, s * s - 3 end,
    function() return (a * 7):to 'int32' + 1, (i * 100):to 'uint8', i:to 'int8' - u end,
    function() return (a / b * 3e9):to 'int32', (x / b * 1e10):to 'int32', (x / a):to 'int8' end,
    function() return a:to 'double' * x, x:to 'float' + i, c * a + c end,
    function() return mare.logical_and(a:ge(b), mare.logical_not(c)) end,
    function() return mare.logical_or(c, a:eq(b)) end,
    function() return mare.bit_and(i, 6) + mare.bit_xor(i, j) * mare.bit_or(u, 1) end,
    function() return mare.arange(count, { device = null }) * 2 + i, u:ne(i), c:eq(i:gt(0)) end,
}

describe('a kernel in PTX', function()
    it('computes what the host does', function()
        for _, f in ipairs(expressions) do check(f()) end
    end)

    it('reads and writes halves and complex numbers', function()
        check(h + 1.5, h * a, a:to 'half', h * h - h)
        check(z * z + 2 - z, z / (z + 3), z:conj() * b, z:real() - z:imag(), z:eq(z))
        check(z:to 'complex_double' * x)
    end)

    it('goes through strided arrays', function()
        local grid = a { { 0, 20 } }:reshape(4, 5)
        check_strided(grid { {}, { 1, 4 } } * 2 - b { 3 })
        check_strided(a { { nil, nil, -2 } } + i { { 0, 11 } })
        check_strided(grid:reshape(2, 2, 5):transpose(2, 0, 1) + mare.arange(2, { device = null }))
        check_strided(z { { 0, 20 } }:reshape(4, 5):transpose() * 2)
        check_strided(h { { 1, 9, 2 } } * c { { 1, 9, 2 } })
    end)

    it('shows the wanted element with the number of the launch', function()
        local found = run({ a + b }, 20)
        local shown = found[#found]
        assert.same({ (a + b):at(20), 7, 0, 7 }, { shown[0], shown[1], shown[2], shown[3] })
        found = run({ a - b })
        assert.same({}, found[#found])
    end)

    it('is not written where an operation has no instruction with the same bits', function()
        for _, e in ipairs { mare.sin(a), a % b, z ^ 0.5, mare.abs(z), mare.atan2(a, b),
            mare.rand({ count }, { seed = 1, device = null }), a ^ 0.3 } do
            assert.is_nil((kernel_of { e }))
        end
        assert.truthy((kernel_of { a * 0.1 }))
        assert.is_nil(((kernel_of { a * 0.1 }):find 'fma'))
    end)
end)
