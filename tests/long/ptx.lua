-- ptx.lua - random expressions on a GPU by kernels in PTX and by NVRTC's: the same bits.
--     build/mare tests/long/ptx.lua [EXPRESSIONS [SEED [DEVICE]]]
-- Fails if one differs, but for what kind of NaN it is, or fewer than half are written in PTX.
-- Another device than CUDA's computes each twice in one way.

local mare = require 'mare'
local launches = require 'mare.expression.launches'
local ptx_kernel = require 'mare.dialect.ptx_kernel'

local count, seed = tonumber(arg[1] or 400), tonumber(arg[2] or 1)
local name, size = arg[3] or 'cuda:0', 1003
local is_there, reason = pcall(mare.device.open, name)
if not is_there then
    print(('not run: %s'):format(tostring(reason)))
    return
end
local devices = { mare.device.open(name), mare.device.open(name) }

-- ---- operands ----

local types = { 'float', 'float', 'float', 'double', 'int32', 'int64', 'uint32', 'uint8', 'int16',
    'bool', 'int8', 'uint64', 'uint16', 'half', 'complex_float', 'complex_double' }

-- Returns an array of a type with some zeros, infinities and NaN.
local function leaf(device, type, k)
    local numbers = mare.arange(size, { device = device })
    if type == 'bool' then return (numbers % 3):eq(0):eval() end
    if type:find 'int' then return ((numbers * 7919) % 211):to(type):eval() end
    local function normal(seed_of)
        local part = type:find 'double' and 'double' or 'float'
        return mare.randn({ size }, { seed = seed_of, type = part, device = device }) * 50
    end
    if type:find 'complex' then return normal(k):complex(normal(k + 100)):eval() end
    local a = mare.where((numbers % 97):eq(k), 0, normal(k)):eval()
    return mare.where((numbers % 89):eq(3), a / (a - a), a):to(type):eval()
end

local function leaves(device)
    local list = {}
    for k, type in ipairs(types) do list[k] = leaf(device, type, k) end
    local large = mare.randn({ 2 * size + 9 }, { seed = 70, device = device }):eval()
    for _, a in ipairs { large { { 5, 5 + size } }, large { { 7, 7 + 2 * size, 2 } },
        large:to 'half' { { 2 * size, size, -1 } }, mare.arange(size, { device = device }),
        mare.array({ 2.5 }, { device = device }) } do
        list[#list + 1] = a
    end
    return list
end

-- ---- expressions ----

local random = math.random
local function pick(list) return list[random(#list)] end

local of_one = { mare.abs, mare.sqrt, mare.floor, mare.ceil, mare.rint, mare.trunc, mare.sign,
    mare.isnan, mare.isfinite, function(a) return -a end, function(a) return a ^ 2 end,
    function(a) return 3 * a + 0.5 end, function(a) return a / 7 end, function(a) return a % 5 end }
for _, type in ipairs { 'float', 'double', 'int32', 'int64', 'uint8', 'int16', 'half' } do
    of_one[#of_one + 1] = function(a) return a:to(type) end
end
local of_two = { mare.minimum, mare.maximum, mare.bit_xor, mare.bit_and, mare.logical_and,
    mare.logical_or, function(a, b) return a + b end, function(a, b) return a - b end,
    function(a, b) return a * b end, function(a, b) return a / b end,
    function(a, b) return a % b end, function(a, b) return mare.where(a:gt(b), a, b) end }
for _, comparison in ipairs { 'lt', 'ge', 'ne', 'eq' } do
    of_two[#of_two + 1] = function(a, b) return a[comparison](a, b) end
end

-- Operations that a type does not have are left out.
local function expression(list)
    local e = pick(list)
    for _ = 1, 1 + random(5) do
        local is_one = random(3) == 1
        local ok, made = pcall(pick(is_one and of_one or of_two), e, not is_one and pick(list))
        if ok then e = made end
    end
    return e
end

-- ---- both ways ----

local in_ptx = 0
local written = ptx_kernel.of
function ptx_kernel.of(...)
    local text = written(...)
    if text then in_ptx = in_ptx + 1 end
    return text
end

local function same(x, y) return x == y or x ~= x and y ~= y end

-- Returns the number of the first element that differs, and both.
local function difference(a, b)
    local p, q = (a.type == 'half' and a:float() or a):data(), (b.type == 'half' and b:float()
        or b):data()
    for k = 0, a.count - 1 do
        local x, y = p[k], q[k]
        local is_same = a.type:find 'complex' and same(x.re, y.re) and same(x.im, y.im)
            or not a.type:find 'complex' and same(x, y)
        if not is_same then return k, x, y end
    end
end

local operands, failed = { leaves(devices[1]), leaves(devices[2]) }, 0
in_ptx = 0
for k = 1, count do
    local made = {}
    for way = 1, 2 do
        launches.in_ptx = way == 1
        math.randomseed(1000 * seed + k)
        made[way] = expression(operands[way]):eval()
    end
    local at, x, y = difference(made[1], made[2])
    if at then
        failed = failed + 1
        print(('seed %d, expression %d, %s: element %d is %s in PTX, %s by NVRTC'):format(seed, k,
            made[1].type, at, tostring(x), tostring(y)))
    end
end
launches.in_ptx = true
print(('%d expressions on %s, %d kernels in PTX, %d differ'):format(count, name, in_ptx, failed))
local is_few = name:find '^cuda' and in_ptx < count / 2
os.exit(failed == 0 and not is_few and 0 or 1)
