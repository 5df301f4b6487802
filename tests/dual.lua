-- Dual numbers in plain Lua: a value and how it changes with each input. They are an oracle for
-- derivatives of functions without comparisons.

local dual = {}

local Dual = {}
Dual.__index = Dual

local function new(value, change)
    return setmetatable({ value = value, change = change }, Dual)
end

local function parts(a)
    if type(a) == 'number' then return a, { 0, 0 } end
    return a.value, a.change
end

-- Returns the dual number of a result and its derivatives by a and b.
local function made(value, a, by_a, b, by_b)
    local change = {}
    for k = 1, 2 do change[k] = by_a * a[k] + (b and by_b * b[k] or 0) end
    return new(value, change)
end

local function operator(f)
    return function(a, b)
        local x, dx = parts(a)
        local y, dy = parts(b)
        local value, by_x, by_y = f(x, y)
        return made(value, dx, by_x, dy, by_y)
    end
end

Dual.__add = operator(function(x, y) return x + y, 1, 1 end)
Dual.__sub = operator(function(x, y) return x - y, 1, -1 end)
Dual.__mul = operator(function(x, y) return x * y, y, x end)
Dual.__div = operator(function(x, y) return x / y, 1 / y, -x / (y * y) end)
Dual.__pow = operator(function(x, n) return x ^ n, n * x ^ (n - 1), 0 end)
function Dual.__unm(a) return made(-a.value, a.change, -1) end

local slopes = {
    sin = math.cos, cos = function(x) return -math.sin(x) end, exp = math.exp,
    log = function(x) return 1 / x end, sqrt = function(x) return 0.5 / math.sqrt(x) end,
    tanh = function(x) return 1 - math.tanh(x) ^ 2 end,
}
local maths = {}
for name, slope in pairs(slopes) do
    maths[name] = function(a)
        local x, dx = parts(a)
        return made(math[name](x), dx, slope(x))
    end
end

-- Returns the derivatives of a function of two numbers at a point.
function dual.gradient(f, point)
    local own = getfenv(f)
    setfenv(f, setmetatable({ math = maths }, { __index = own }))
    local result = f(new(point[1], { 1, 0 }), new(point[2], { 0, 1 }))
    setfenv(f, own)
    return result.change
end

return dual
