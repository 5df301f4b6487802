-- carried.lua - data of the host as arguments of a kernel that is called:
--     fill { dest = mare.out(t), global = #t }
-- uploads what is inp or inout, runs the kernel and waits, downloads what is out or inout, and
-- gives the memory back. The data are an array of Lua's, host or pinned memory, or a C array.

local buffer = require 'bindings.buffer'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local memory = require 'bindings.memory'

local M = {}
local Carried = { no_argument = 'mare.inp, out and inout carry data for a call, kernel { ... }, '
    .. 'which waits for them: a launch wants a number or a buffer' }
Carried.__index = Carried

function Carried:__tostring()
    return ('mare.%s of %d elements: an argument of a kernel that is called, kernel { }'):format(
        self.name, self.count)
end

local is_array = function() return false end

-- Lets arrays on devices be known: is(value) tells them.
function M.take_arrays(is) is_array = is end

local function count_of(name, data, count)
    local _, found
    if type(data) == 'table' and not memory.is_host(data) then
        found = math.max(#data, table.maxn(data))
    else
        _, found = memory.elements(memory.is_host(data) and data.data or data)
    end
    count = count and handle.whole(count, 'mare.' .. name, 'count') or found
    if not count or count == 0 then
        errors.argument('mare.%s: how many elements? Give the count behind the data', name)
    end
    if name ~= 'out' and found and count > found then
        errors.argument('mare.%s: %d elements are wanted, there are %d', name, count, found)
    end
    return count
end

local function carry(name, data, count, up, down)
    local kind = type(data)
    errors.check_argument('mare.' .. name, data)
    if buffer.is(data) or is_array(data) then
        errors.argument('mare.%s: the data are on a device, where the kernel finds them: give the '
            .. '%s as it is, without mare.%s', name, buffer.is(data) and 'buffer' or 'array', name)
    end
    if kind ~= 'table' and kind ~= 'cdata' and kind ~= 'userdata' then
        errors.argument('mare.%s: an array, cdata or host memory is wanted, not %s', name, kind)
    end
    if down and kind ~= 'table' then memory.check_writable('mare.' .. name, data) end
    return setmetatable({ name = name, data = data, up = up, down = down,
        count = count_of(name, data, count) }, Carried)
end

-- Data that a kernel reads, as an argument of kernel { x = mare.inp(t), ... }. count: of the
-- elements, those of the data if it is left out.
function M.inp(data, count) return carry('inp', data, count, true, false) end

-- Data that a kernel writes: y = mare.out({}, 200); an empty table wants the count.
function M.out(data, count) return carry('out', data, count, false, true) end

-- Data that a kernel reads and writes.
function M.inout(data, count) return carry('inout', data, count, true, true) end

local function put(carried, from)
    local data = carried.data
    if type(data) ~= 'table' or memory.is_host(data) then
        from:download { into = data, count = carried.count }
        return
    end
    local numbers = from:download()
    for k = 1, carried.count do data[k] = numbers[k - 1] end
end

-- Adds to `made` a buffer for each value that is carried, with what goes up. Returns the values
-- with the buffers in their place.
local function bring(kernel, values, made)
    local bound = {}
    for name, value in pairs(values) do
        bound[name] = value
        if getmetatable(value) == Carried then
            local arg = kernel.args[(kernel.index[name] or -1) + 1]
            if not (arg and arg.is_buffer) then
                errors.argument("kernel '%s': argument '%s' is mare.%s, but it is no buffer",
                    kernel.name, name, value.name)
            end
            local type_name = arg.type == 'none' and 'bytes' or arg.type
            local lent = buffer.create(kernel.device, { type = type_name, count = value.count,
                label = name })
            made[#made + 1], bound[name] = { lent, value }, lent
            if value.up then lent:upload(value.data, { count = value.count }) end
        end
    end
    return bound
end

local function run(kernel, values, made)
    local launch = kernel:bind(bring(kernel, values, made))
    made.launch = launch
    launch:run()
    for _, pair in ipairs(made) do
        if pair[2].down then put(pair[2], pair[1]) end
    end
    kernel.device:wait()
end

-- Binds, runs on the default stream and waits. values: as for kernel:bind, with carried data. What
-- was made for them goes back, whether that ends well or not.
function M.call(kernel, values)
    errors.wanted(("kernel '%s'"):format(kernel.name), 'table', values)
    local made = {}
    local ok, failure = pcall(run, kernel, values, made)
    if made.launch then made.launch:release() end
    for _, pair in ipairs(made) do pair[1]:release() end
    if not ok then error(failure, 0) end
end

return M
