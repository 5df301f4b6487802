-- Writes random functions of Lua that a kernel takes, and some that it does not.
--     local text, is_refused = random_functions(seed)

local out, depth, names, integers, is_refused, loops

local function pick(list) return list[math.random(#list)] end

local function number()
    return pick { '1', '2', '0.5', '3', '-1.25', '7', '0.1', '1e3', '10 / 4' }
end

local real, whole, condition

function whole(level)
    local kind = math.random(level > 2 and 3 or 7)
    if kind == 1 then return tostring(math.random(0, 9)) end
    if kind <= 3 then return #integers > 0 and pick(integers) or 'i' end
    local a, b = whole(level + 1), whole(level + 1)
    if kind == 4 then return ('(%s + %s)'):format(a, b) end
    if kind == 5 then return ('(%s - %s)'):format(a, b) end
    if kind == 6 then return ('%s %% %d'):format(a:find '^[%w_]+$' and a or '(' .. a .. ')',
        math.random(2, 9)) end
    return ('bit.band(%s, %d)'):format(a, math.random(1, 15))
end

local function element()
    return ('%s[(%s) %% %s.count]'):format(pick { 'x', 'y' }, whole(1), 'x')
end

-- No '^': where plain Lua is not compiled it is pow(), which now and then differs by a bit from
-- the product or the root that it is else.
local calls = {
    function(a) return ('math.sqrt(math.abs(%s))'):format(a) end,
    function(a, b) return ('math.min(%s, %s)'):format(a, b) end,
    function(a, b, c) return ('math.max(%s, %s, %s)'):format(a, b, c) end,
    function(a) return ('math.floor(%s)'):format(a) end,
    function(a) return ('math.abs(%s)'):format(a) end,
    function(a, b) return ('helper(%s, %s)'):format(a, b) end,
    function(a, b) return ('(second(%s, %s))'):format(a, b) end,
    function(a) return ('math.max(%s, -7)'):format(a) end,
    function(a, b) return ('math.min(%s, 0.5 * %s)'):format(a, b) end,
    function(a) return ('-%s'):format(a:find '^-' and '(' .. a .. ')' or a) end,
    function(a, b) return ('(%s) %% (math.abs(%s) + 1)'):format(a, b) end,
    function(a, b) return ('(%s) / (math.abs(%s) + 1)'):format(a, b) end,
}

function real(level)
    local kind = math.random(level > 2 and 4 or 10)
    if kind == 1 then return number() end
    if kind == 2 then return element() end
    if kind == 3 then return pick { 'factor', 'settings.shift', 'math.pi', 'a' } end
    if kind == 4 then return #names > 0 and pick(names) or element() end
    local a, b = real(level + 1), real(level + 1)
    if kind <= 7 then return ('(%s %s %s)'):format(a, pick { '+', '-', '*' }, b) end
    if kind == 8 then return ('((%s) and %s or %s)'):format(condition(level + 1), a, b) end
    return pick(calls)(a, b, real(level + 2))
end

function condition(level)
    local test = ('%s %s %s'):format(real(level + 1), pick { '<', '>', '<=', '>=', '==', '~=' },
        real(level + 1))
    local kind = math.random(6)
    if level > 2 or kind <= 3 then return test end
    if kind == 4 then return ('not (%s)'):format(test) end
    return ('(%s) %s %s'):format(test, kind == 5 and 'and' or 'or', condition(level + 1))
end

local function put(format, ...)
    out[#out + 1] = ('    '):rep(depth + 1) .. format:format(...)
end

local block

local function inside(f)
    local before, before_integers = #names, #integers
    depth = depth + 1
    f()
    depth = depth - 1
    while #names > before do table.remove(names) end
    while #integers > before_integers do table.remove(integers) end
end

local counter = 0

local function new_name()
    counter = counter + 1
    return pick { 'u', 'v', 'w', 'int', 'float' } .. (math.random(2) == 1 and counter or '')
end

local statements = {
    function()
        local name, value = new_name(), real(0)
        put('local %s = %s + 0.5', name, value)
        names[#names + 1] = name
    end,
    function()
        if #names == 0 then return end
        put('%s = %s', pick(names), real(0))
    end,
    function()
        if #names < 2 then return end
        put('%s, %s = %s, %s', names[1], names[2], real(1), real(1))
    end,
    function()
        put('if %s then', condition(0))
        inside(block)
        if math.random(2) == 1 then
            put 'else'
            inside(block)
        end
        put 'end'
    end,
    function()
        if loops >= 2 then return end
        loops = loops + 1
        local k = 'k' .. loops
        put('for %s = %d, %s do', k, math.random(0, 2), pick { '3', '5', 'steps', '4 - 1' })
        inside(function()
            integers[#integers + 1] = k
            block()
            if math.random(3) == 1 then put('if %s then break end', condition(1)) end
        end)
        put 'end'
        loops = loops - 1
    end,
    function()
        if loops >= 2 then return end
        local name = 'n' .. #out
        put('local %s = 0', name)
        put('repeat')
        loops = loops + 1
        inside(function()
            put('%s = %s + 1', name, name)
            block()
        end)
        loops = loops - 1
        put('until %s > %d or %s', name, math.random(1, 4), condition(1))
        integers[#integers + 1] = name
    end,
    function() put('z[i] = z[i] * 0.5 + %s', real(0)) end,
    function() put('m[i] = %s', whole(0)) end,
}

local refusals = { "local s = 'text'", 'z[i] = #x', 'for k, v in pairs(x) do end', 'factor = 3',
    'z[i] = a .. 1', 'local function f() end', 'z[i] = nothing', 'z[i] = x.size', 'print(i)',
    'z[i] = i and 1 or 2', 'while true do goto done end ::done::' }

function block()
    for _ = 1, math.random(1, 3) do pick(statements)() end
    if math.random(250) == 1 and not is_refused then
        put('%s', pick(refusals))
        is_refused = true
    end
end

-- Returns the text of a chunk that returns function(i, a, x, y, z, m), where x, y and z
-- are of reals and m is of integers, and whether a kernel refuses it.
return function(seed)
    math.randomseed(seed)
    out, depth, names, integers, is_refused, loops, counter = {}, 0, {}, {}, false, 0, 0
    put 'if i >= x.count then return end'
    for _ = 1, math.random(2, 4) do block() end
    put('z[i] = z[i] + %s', #names > 0 and pick(names) or real(0))
    return table.concat {
        'local factor, steps, settings = 1.75, 4, { shift = 0.125 }\n',
        'local function helper(p, q) if p > q then return p - q end return q * 0.5 end\n',
        'local function second(p, q) return p + 1, q + 2 end\n',
        'return function(i, a, x, y, z, m)\n', table.concat(out, '\n'), '\nend\n',
    }, is_refused
end
