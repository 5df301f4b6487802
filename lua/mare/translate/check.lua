-- Runs the function of a kernel as plain Lua, in double, and compares: what a kernel
-- writes into arrays of doubles and of whole numbers has to be what Lua writes, to
-- the bit for + - * / sqrt in strict maths.

local errors = require 'bindings.errors'
local signature = require 'mare.translate.signature'
local work = require 'mare.translate.work'

local check = {}

-- An Array stands for a buffer where the function runs as plain Lua: it has x[i], counted
-- from 0, and x.count, and raises an error for an index that is outside.
local Array, own = {}, {}

local function outside(self, k, verb)
    errors.argument("kernel:check: element %s of '%s' is %s, which has %d", tostring(k), self.name,
        verb, self.count)
end

local function index_of(self, k, verb)
    local index = k < 0 and math.ceil(k) or math.floor(k)
    if not (index >= 0 and index < self.count) then outside(self, k, verb) end
    return index
end

function Array.__index(proxy, key)
    local self = rawget(proxy, own)
    if key == 'count' then return self.count end
    local value = self.data[index_of(self, key, 'read')]
    if self.type == 'bool' then return value ~= 0 end
    return tonumber(value)
end

function Array.__newindex(proxy, key, value)
    local self = rawget(proxy, own)
    if type(value) == 'boolean' then value = value and 1 or 0 end
    self.data[index_of(self, key, 'written')] = value
end

local function host_copy(name, buffer)
    if buffer.type == 'half' then
        errors.argument("check: argument '%s' is of type half, which plain Lua does not read", name)
    end
    local memory = buffer.device:host { type = buffer.type, count = buffer.count }
    buffer:download { into = memory }
    return setmetatable({ [own] = { name = name, count = buffer.count, type = buffer.type,
        data = memory:pointer(), memory = memory } }, Array)
end

local function device_copy(buffer)
    local copy = buffer.device:buffer { type = buffer.type, count = buffer.count,
        label = buffer.label }
    copy:copy(buffer)
    return copy
end

-- Calls f(i, ...), f(i, j, ...) or f(i, j, k, ...).
local function call(f, dimensions, place, arguments)
    local i, j, k = unpack(place)
    if dimensions == 1 then return f(i, unpack(arguments, 1, arguments.count)) end
    if dimensions == 2 then return f(i, j, unpack(arguments, 1, arguments.count)) end
    return f(i, j, k, unpack(arguments, 1, arguments.count))
end

-- Calls visit(x, y, z) for all places of a box, x first.
local function each(shape, visit)
    for z = 0, (shape[3] or 1) - 1 do
        for y = 0, (shape[2] or 1) - 1 do
            for x = 0, shape[1] - 1 do visit(x, y, z) end
        end
    end
end

-- Runs all work-items, group by group.
local function run_plain(f, shape, group, arguments)
    local size, groups = { 1, 1, 1 }, { 1, 1, 1 }
    for axis = 1, #shape do
        size[axis] = group and group[axis] or 1
        groups[axis] = math.ceil(shape[axis] / size[axis])
    end
    each(groups, function(gx, gy, gz)
        local items = {}
        each(size, function(x, y, z)
            local place = { gx * size[1] + x, gy * size[2] + y, gz * size[3] + z }
            items[#items + 1] = { item = { x, y, z }, call = function()
                call(f, #shape, place, arguments)
            end }
        end)
        work.run_group({ gx, gy, gz }, size, items)
    end)
end

local function difference(a, b)
    if a == b or (a ~= a and b ~= b) then return 0 end
    local largest = math.max(math.abs(a), math.abs(b))
    local found = math.abs(a - b) / largest
    return found == found and found or math.huge
end

-- Counts what differs between two arrays, and keeps the largest difference.
local function compare(result, name, ours, plain)
    local lua = rawget(plain, own).data
    for k = 0, ours.count - 1 do
        local a, b = tonumber(ours.data[k]), tonumber(lua[k])
        local found = difference(a, b)
        if found > 0 then result.different = result.different + 1 end
        if found > result.largest then
            result.largest, result.argument, result.element = found, name, k
            result.kernel, result.lua = a, b
        end
    end
end

-- Runs both on copies of the arrays: plain Lua first, since it refuses an index outside an
-- array, which a kernel does not notice. Returns { compared = number of elements, different =
-- how many of them are not the same, largest = the largest relative difference, argument and
-- element = where that is, kernel and lua = the two values there }.
function check.run(kernel, shape, parameters, arguments)
    local copies, plain = { count = arguments.count }, { count = arguments.count }
    for k = 1, arguments.count do
        local value = arguments[k]
        copies[k], plain[k] = value, value
        if signature.is_array(value) then
            copies[k], plain[k] = device_copy(value), host_copy(parameters[k].name, value)
        end
    end
    local group = kernel.options.group
    run_plain(kernel.f, shape, type(group) == 'number' and { group } or group, plain)
    kernel(shape, unpack(copies, 1, copies.count))
    local result = { different = 0, largest = 0, compared = 0 }
    for k = 1, arguments.count do
        if signature.is_array(arguments[k]) then
            local ours = rawget(host_copy(parameters[k].name, copies[k]), own)
            compare(result, parameters[k].name, ours, plain[k])
            result.compared = result.compared + ours.count
        end
    end
    return result
end

return check
