-- python_arrays.lua - arrays of mare.array as the Python package asks for them: operations by name,
-- and their memory.

local array = require 'mare.ndarray.array'
local assign = require 'mare.ndarray.assign'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local floordiv = require 'mare.launcher.python_floor'
local bound = require 'bindings.array'
local mare = require 'mare'
local ndarray = require 'mare.ndarray'
local shapes = require 'mare.expression.shapes'
local transfer = require 'mare.ndarray.transfer'
local types = require 'mare.expression.types'
local values = require 'bindings.values'

local arrays = { is = array.is }

-- ---- operations ----

local methods = array.methods

local function is_whole(x)
    if array.is(x) then return array.node(x).type.kind == 1 end
    return type(x) == 'number' and x % 1 == 0
end

-- Returns a to the power of whole numbers from 0, as whole numbers.
local function whole_power(a, exponents)
    if exponents:lt(0):any():item() then
        errors.argument 'whole numbers have no whole powers below 0: convert to a float type'
    end
    local most = exponents:max():item()
    local power, square = exponents * 0 + 1, exponents * 0 + a
    for bit = 0, 62 do
        if 2 ^ bit > most then break end
        local is_set = mare.bit_and(mare.shift_right(exponents, bit), 1):eq(1)
        power, square = mare.where(is_set, power * square, power), square * square
    end
    return power
end

local function power(a, b)
    local is_array = array.is(b) and array.node(b).shape.count > 0
    if is_array and is_whole(a) and is_whole(b) then return whole_power(a, b) end
    return a ^ b
end

-- Returns the elements of these places, with new axes, and of an array of indices along an axis.
local function at(a, places, added, axis, chosen)
    local found = a(places)
    for _, new in ipairs(added) do found = found:unsqueeze(new) end
    if not chosen then return found end
    return found:take(chosen, { axis = axis })
end

-- Gives the elements that a mask chooses the values of an array, in their order.
local function set_chosen(a, mask, value)
    local places = mare.arange(#mask:flatten(), { device = array.node(a).device })
        { mask:flatten() }
    if #places ~= #value:flatten() then
        errors.argument('a mask chooses %d elements, but %d values are given', #places,
            #value:flatten())
    end
    if #places > 0 then a:put(places, value:flatten()) end
end

local function limited(a, least, most)
    if least then a = mare.maximum(a, least) end
    return most and mare.minimum(a, most) or a
end

-- ---- truth values, which NumPy adds and multiplies as such ----

local function is_truth(x)
    return type(x) == 'boolean' or array.is(x) and array.node(x).type == types.bool
end

-- Returns an operand as an array of truth values, on the device of another one.
local function truth(x, other)
    return array.is(x) and x or mare.array({ x }, { type = 'bool',
        device = array.node(other).device }):reshape()
end

-- Makes of a function of numbers, and one of truth values, one that takes both.
local function of_both(f, of_truths)
    return function(a, b)
        if not (is_truth(a) and is_truth(b)) then return f(a, b) end
        return of_truths(truth(a, b), truth(b, a))
    end
end

local function refused(what)
    return function()
        errors.argument('%s of truth values: NumPy has none; ~a, a ^ b and a.astype(int) are there',
            what)
    end
end

local function of_one(f, what)
    return function(a)
        if is_truth(a) then refused(what)() end
        return f(a)
    end
end

arrays.operations = setmetatable({
    add = of_both(function(a, b) return a + b end, mare.logical_or),
    sub = of_both(function(a, b) return a - b end, refused 'the difference'),
    mul = of_both(function(a, b) return a * b end, mare.logical_and),
    minimum = of_both(mare.minimum, mare.logical_and),
    maximum = of_both(mare.maximum, mare.logical_or),
    sign = of_one(mare.sign, 'the sign'),
    div = function(a, b) return a / b end,
    mod = function(a, b) return a % b end,
    pow = power,
    neg = of_one(function(a) return -a end, 'the negative'),
    pos = function(a) return a end,
    invert = function(a) return -a - 1 end,
    square = function(a) return a * a end,
    reciprocal = function(a) return 1 / a end,
    floordiv = floordiv,
    at = at,
    limited = limited,
    chosen = methods.compress,
    set_chosen = set_chosen,
    to_device = function(a, name) return a:to(array.device(name, 'to_device')) end,
    set_where = function(a, mask, value) a:assign(value, { where = mask }) end,
    set = function(a, places, value) return a(places):assign(value) and a end,
}, { __index = function(_, name)
    return methods[name] or ndarray[name]
end })

-- ---- memory ----

-- Computes an array now if it is still to be computed of memory that others share.
function arrays.settle(a) assign.settle_shared(array.node(a)) end

-- Returns an array of bytes of the host, of a type, in a shape; of no bytes, an empty one. device:
-- a name, or an array that is there
function arrays.upload(type_name, bytes, sizes, device)
    if array.is(device) then device = array.node(device).device end
    if not bytes then return mare.zeros(sizes, { type = type_name, device = device }) end
    local _, _, data = bound.elements(bytes, 'array')
    return creation.uploaded(array.device(device, 'array'), types.named(type_name, 'array'), data,
        shapes.given('array', sizes))
end

-- Returns an array in the memory of a buffer.
function arrays.adopt(buffer, sizes) return mare.array(buffer):reshape(sizes) end

-- Returns a buffer on a device.
function arrays.place(device) return mare.zeros({ 1 }, { device = device }):buffer() end

-- Returns type, device and the sizes of its shape.
function arrays.about(a)
    local node = array.node(a)
    return node.type.name, node.device.name, unpack(node.shape)
end

-- Returns the elements in their order as bytes on the host.
function arrays.bytes(a)
    local data, count, type = transfer.read(a, 'numpy')
    return values.bytes(data, count * type.size)
end

-- Returns the buffer of an array and its shape. It keeps its memory from now on.
function arrays.buffer(a)
    return a:buffer(), unpack(array.node(a).shape)
end

return arrays
