-- gradients.lua - mare.gradient of random functions and kernels, against finite differences.
--     build/mare tests/long/gradients.lua [FUNCTIONS [SEED]]
-- Fails if one is wrong, or fewer than 80 % are accepted.

local mare = require 'mare'
local text = require 'mare.parse.text'

local count, seed = tonumber(arg[1] or 400), tonumber(arg[2] or 1)
math.randomseed(seed)
local random = math.random

-- ---- functions ----

local function pick(list) return list[random(#list)] end

local operations = {
    '(%s + %s)', '(%s - %s)', '(%s * %s)', '(%s / (1.5 + (%s) ^ 2))', 'math.sin(%s - %s)',
    'math.sqrt(1 + %s ^ 2 + %s ^ 2)', 'math.max(%s, %s)', 'math.min(%s, %s)', 'helper(%s, %s)',
    '(u > %s and %s or u)',
}

local function expression(names, depth)
    if depth == 0 or random() < 0.2 then
        return random() < 0.7 and pick(names) or ('(%.2f)'):format(random() * 4 - 2)
    end
    return (pick(operations)):format(expression(names, depth - 1), expression(names, depth - 1))
end

local statement = {
    function(names, target) return ('%s = 0.5 * %s + %s'):format(target, target,
        expression(names, 2)) end,
    function(names, target)
        return ('for k = 1, %d do %s = math.sin(%s + %s / k) end'):format(random(3), target, target,
            expression(names, 1))
    end,
    function(names, target)
        return ('if %s > %s then %s = %s end'):format(expression(names, 1), expression(names, 1),
            target, expression(names, 2))
    end,
    function(names, target)
        return ('if %s <= 0.3 or not (v > %s) then %s = %s else %s = %s end'):format(pick(names),
            expression(names, 1), target, expression(names, 2), target, expression(names, 2))
    end,
}

-- Returns lines that compute with u and v, and the names that they leave.
local function lines()
    local list, names = {}, { 'u', 'v' }
    for k = 1, random(5) do
        if random() < 0.4 then
            list[#list + 1] = ('local w%d = %s'):format(k, expression(names, 2))
            names[#names + 1] = 'w' .. k
        else
            list[#list + 1] = pick(statement)(names, pick(names))
        end
    end
    return table.concat(list, '\n'), names
end

local helper = [[
local outer = 1.25
local function helper(a, b)
    if a > b then return a * b + outer end
    return b - a * outer
end
]]

local function load(name, body)
    text.keep(name, body)
    return assert(loadstring(body, name))()
end

local function random_function(name)
    local body, names = lines()
    return load(name, ('%sreturn function(u, v)\n%s\nreturn u * v + %s\nend'):format(helper, body,
        expression(names, 2)))
end

local function random_kernel(name)
    local body, names = lines()
    return load(name, ([[%sreturn function(i, a, b, r, new)
    if i >= 2 and i < a.count - 2 then
        local u, v = a[i - %d] * r + a[i], b[i + %d] - a[i + 1]
        %s
        new[i] = %s
    else
        new[i] = r * b[i]
    end
end]]):format(helper, random(0, 2), random(-2, 2), body, expression(names, 2)))
end

-- ---- differences ----

local n = 8

local function array(f)
    local t = { count = n }
    for i = 0, n - 1 do t[i] = f(i) end
    return t
end

-- Returns the derivative of f, nil where differences do not agree: near an edge.
local function difference(f)
    local function at(h) return (f(h) - f(-h)) / (2 * h) end
    local wide, narrow = at(1e-5), at(3e-6)
    if math.abs(wide - narrow) > 1e-5 * math.max(1, math.abs(wide)) then return nil end
    return wide
end

local function agree(got, wanted)
    return not wanted or math.abs(got - wanted) <= 3e-5 * math.max(1, math.abs(wanted))
end

local function check_function(f)
    local slope, good = mare.gradient(f), true
    for _ = 1, 6 do
        local u, v = random() * 3 - 1.5, random() * 3 - 1.5
        local by_u, by_v = slope(u, v)
        good = good and agree(by_u, difference(function(h) return f(u + h, v) end))
            and agree(by_v, difference(function(h) return f(u, v + h) end))
    end
    return good
end

local function check_kernel(f)
    local back, good = mare.gradient(f, { by = { 'a', 'b', 'r' } }), true
    local given = { array(function() return random() * 3 - 1.5 end),
        array(function() return random() * 3 - 1.5 end), 0.7 }
    local weights, bars = array(random), {}
    for k = 1, 3 do bars[k] = array(function() return 0 end) end
    for i = 0, n - 1 do back(i, given[1], given[2], given[3], weights, unpack(bars)) end
    local function quantity()
        local new, sum = { count = n }, 0
        for i = 0, n - 1 do f(i, given[1], given[2], given[3], new) end
        for i = 0, n - 1 do sum = sum + weights[i] * new[i] end
        return sum
    end
    local function by(table, key)
        local old = table[key]
        local slope = difference(function(h)
            table[key] = old + h
            return quantity()
        end)
        table[key] = old
        return slope
    end
    local sum = 0
    for i = 0, n - 1 do
        good = good and agree(bars[1][i], by(given[1], i)) and agree(bars[2][i], by(given[2], i))
        sum = sum + bars[3][i]
    end
    return good and agree(sum, by(given, 3))
end

-- ---- all ----

local counts = { accepted = 0, wrong = 0 }
for k = 1, count do
    local name = ('=random %d of seed %d'):format(k, seed)
    local is_kernel = k % 2 == 0
    local f = (is_kernel and random_kernel or random_function)(name)
    local ok, result = pcall(is_kernel and check_kernel or check_function, f)
    if ok then
        counts.accepted = counts.accepted + 1
        if not result then
            counts.wrong = counts.wrong + 1
            print('wrong: ' .. name)
            print(text.of(f).source)
        end
    elseif not tostring(result):find 'a derivative cannot go more than' then
        error(result, 0)
    end
end
print(('%d functions and kernels: %d accepted, %d wrong'):format(count, counts.accepted,
    counts.wrong))
assert(counts.wrong == 0 and counts.accepted >= 0.8 * count)
