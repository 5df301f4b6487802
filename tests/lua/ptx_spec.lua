-- Kernels of arithmetic in PTX: what they compute, by a machine of Lua, is what the host does.

local array = require 'mare.ndarray.array'
local mare = require 'mare'
local machine = require 'tests.ptx_machine'
local ptx_kernel = require 'mare.dialect.ptx_kernel'
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

-- Returns the kernel, and what it is written from.
local function kernel_of(roots)
    local nodes, ones = {}, {}
    for k, root in ipairs(roots) do nodes[k] = array.node(root) end
    local plan = tree.of(nodes)
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
    for k, leaf in ipairs(leaves) do ones[k] = leaf.shape.count == 1 or nil end
    local desc = { ones = ones, width = text.width(plan), shows = plan.types[1].size <= 8 }
    return ptx_kernel.of(plan, desc), leaves, values, desc.width
end

-- Returns the results of expressions, by the machine, as lists.
local function run(roots, wanted)
    local kernel, leaves, values, width = kernel_of(roots)
    local memory, parameters = {}, { n = count, wanted = wanted or -1, launch = 7 }
    local function add(name, list)
        memory[#memory + 1] = list
        parameters[name] = #memory * 2 ^ 40
    end
    for k in ipairs(roots) do add('out' .. k, {}) end
    for k, leaf in ipairs(leaves) do
        local list = {}
        if leaf.version then
            local data = array.of(leaf):data()
            for at = 0, leaf.shape.count - 1 do
                list[at] = data[at]
                if type(data[at]) == 'boolean' then list[at] = data[at] and 1 or 0 end
            end
            add('a' .. k, list)
        end
    end
    for k, value in ipairs(values) do parameters['s' .. k] = value end
    add('shown', {})
    machine(kernel, parameters, memory, math.ceil(count / width))
    return memory
end

local function check(...)
    local roots = { ... }
    local found = run(roots)
    for k, root in ipairs(roots) do
        for at, value in ipairs(root:totable()) do
            local own = found[k][at - 1]
            if type(value) == 'boolean' then value = value and 1 or 0 end
            assert.is_true(own == value or own ~= own and value ~= value,
                ('%s: element %d is %s, not %s'):format(root.type, at - 1, tostring(own),
                    tostring(value)))
        end
    end
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

    it('shows the wanted element with the number of the launch', function()
        local found = run({ a + b }, 20)
        local shown = found[#found]
        assert.same({ (a + b):at(20), 7, 0, 7 }, { shown[0], shown[1], shown[2], shown[3] })
        found = run({ a - b })
        assert.same({}, found[#found])
    end)

    it('is not written where an operation has no instruction with the same bits', function()
        local z = a:complex(b):eval()
        for _, e in ipairs { mare.sin(a), a % b, z * z, a:to 'half' + 1, mare.atan2(a, b),
            mare.rand({ count }, { seed = 1, device = null }), a * 1 / 3 ^ 0.3 + a ^ 0.3 } do
            assert.is_nil((kernel_of { e }))
        end
        assert.truthy((kernel_of { a * 0.1 }))
        assert.is_nil(((kernel_of { a * 0.1 }):find 'fma'))
    end)
end)
