-- mare.descent(f, start, options): the least value of a function of a few numbers, by its slopes:
-- BFGS (Nocedal and Wright 2006, 6.1) with steps that are cut until the value is less.
--
--     local found = mare.descent(function(x)
--         return (x[1] - 3) ^ 2 + x[2] ^ 2, { 2 * (x[1] - 3), 2 * x[2] }
--     end, { 0, 1 })
--     print(found.x[1], found.value, found.calls)
--
-- f gets a list of numbers and returns its value and a list of its slopes, such as mare.gradient
-- gives. options, with what holds if one is not given: { calls = at most so many of f (100),
-- longest = the length of a step that no step is longer than (1), least = a value at which it ends
-- (-infinity), tolerance = the length of the slope at which it ends, over that at the start (1e-9),
-- each = a function that gets what is found so far, after each step }. Returns { x, value, slope,
-- calls }.

local errors = require 'bindings.errors'

local descent = {}

local function dot(a, b)
    local sum = 0
    for k = 1, #a do sum = sum + a[k] * b[k] end
    return sum
end

local function each(n, f)
    local list = {}
    for k = 1, n do list[k] = f(k) end
    return list
end

local function length(a) return math.sqrt(dot(a, a)) end

local function are_numbers(list)
    local are = type(list) == 'table'
    for k = 1, are and #list or 0 do are = are and type(list[k]) == 'number' end
    return are
end

-- Returns what f gives at a place, checked.
local function look(f, x)
    local value, slope = f(x)
    if type(value) ~= 'number' or not are_numbers(slope) or #slope ~= #x then
        errors.argument('mare.descent: f: a number and a list of %d slopes are wanted, not %s and '
            .. '%s', #x, tostring(value), type(slope) == 'table' and #slope .. ' slopes'
            or tostring(slope))
    end
    return { x = x, value = value, slope = slope }
end

-- Improves the estimate of the inverse of the second derivatives by a step, and how the slope
-- changed with it.
local function improve(inverse, step, change)
    local along = dot(step, change)
    if along <= 0 then return end
    local image = each(#step, function(k) return dot(inverse[k], change) end)
    local scale = 1 + dot(change, image) / along
    for a, row in ipairs(inverse) do
        for b = 1, #step do
            row[b] = row[b]
                + (scale * step[a] * step[b] - image[a] * step[b] - step[a] * image[b]) / along
        end
    end
end

-- Returns the step that leads to the least value if the estimate holds.
local function step_of(inverse, slope, longest)
    local step = each(#slope, function(k) return -dot(inverse[k], slope) end)
    local size = length(step)
    if size <= longest then return step end
    return each(#slope, function(k) return step[k] * longest / size end)
end

-- Returns what is found along a step, or nil where it is not less in so many calls; and the calls.
local function go(f, from, step, calls)
    for call = 1, calls do
        local x = each(#step, function(k) return from.x[k] + step[k] end)
        local found = look(f, x)
        if found.value < from.value then return found, call end
        step = each(#step, function(k) return 0.25 * step[k] end)
    end
    return nil, calls
end

-- f: gives the value and a list of slopes for a list of numbers. start: where it begins. options:
-- { calls, longest, least, tolerance, each }. Returns { x, value, slope, calls }.
function descent.new(f, start, options)
    if type(f) ~= 'function' then
        errors.argument('mare.descent: a function is wanted, not %s', type(f))
    end
    if not are_numbers(start) or #start == 0 then
        errors.argument('mare.descent: start: a list of numbers is wanted, not %s', type(start))
    end
    local o = errors.fields('mare.descent', options or {}, { calls = 'number', longest = 'number',
        least = 'number', tolerance = 'number', each = 'function' })
    local most, longest, n = o.calls or 100, o.longest or 1, #start
    local now, calls = look(f, { unpack(start) }), 1
    local first = length(now.slope)
    if now.value ~= now.value or first - first ~= 0 then
        errors.argument('mare.descent: at the start the value is %g and the length of its slope '
            .. '%g: no way leads down from there', now.value, first)
    end
    local inverse = each(n, function(a)
        return each(n, function(b) return a == b and longest / first or 0 end)
    end)
    while now.value > (o.least or -math.huge) and calls < most
        and length(now.slope) > (o.tolerance or 1e-9) * first do
        local found, used = go(f, now, step_of(inverse, now.slope, longest), most - calls)
        calls = calls + used
        if not found then break end
        improve(inverse, each(n, function(k) return found.x[k] - now.x[k] end),
            each(n, function(k) return found.slope[k] - now.slope[k] end))
        now, found.calls = found, calls
        if o.each then o.each(now) end
    end
    now.calls = calls
    return now
end

return descent
