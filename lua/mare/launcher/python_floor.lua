-- python_floor.lua - quotients of arrays rounded down, a // b of Python, as NumPy has them. There
-- are three ways: of reals, of whole numbers that a real holds, and of those of 64 bits.

local array = require 'mare.ndarray.array'
local mare = require 'mare'
local types = require 'mare.expression.types'

local function is_at_most_whole(x)
    if type(x) == 'number' then return x % 1 == 0 end
    return array.is(x) and (array.node(x).type.kind == 1 or array.node(x).type == types.bool)
end

-- Returns a function to the widest reals that the device of one of two operands computes with.
local function widener(a, b)
    local one = array.is(a) and a or b
    local wide = array.node(one).device.info.has_double and 'double' or 'float'
    return function(x) return array.is(x) and x:to(wide) or x end
end

-- Returns the quotient of whole numbers of 64 bits. Doubles have 53 bits: of a multiple of b what
-- they miss is one again, and small. The multiple is the one towards 0, as the one below may be no
-- number of 64 bits.
local function of_64_bits(a, b, type, widened)
    local rest, zero = (a + b * 0) % b, b * 0
    local is_below = mare.logical_and(rest:ne(0), (a + zero):lt(0):ne(rest:lt(0)))
    local multiple = a - mare.where(is_below, rest - b, rest)
    local nearly = mare.rint(widened(multiple) / widened(b)):to(type)
    local missed = (multiple - nearly * b):to 'int64'
    return nearly + mare.rint(widened(missed) / widened(b)):to('int64'):to(type)
        - is_below:to(type)
end

-- Returns the quotient of reals, which fits to a % b: 1 // 0.1 is 9, as 0.1 is stored a bit larger.
local function of_reals(a, b)
    local rest = a % b
    local nearest = mare.rint((a - rest) / b)
    local found = mare.where(mare.isinf(rest), -1, nearest)     -- -1 // inf
    if type(b) == 'number' then return b == 0 and a / b or found end
    return mare.where(b:eq(0), a / b, found)
end

-- Returns a quotient rounded down, in the type of a / b for reals; whole numbers stay whole, and
-- over 0 they are 0.
return function(a, b)
    if not (is_at_most_whole(a) and is_at_most_whole(b)) then return of_reals(a, b) end
    local type, widened = (a + b).type, widener(a, b)
    if b == 0 then return (a * 0):to(type) end
    local found = types[type].bits == 64 and of_64_bits(a, b, type, widened)
        or mare.floor(widened(a) / widened(b)):to('int64'):to(type)
    return array.is(b) and mare.where(b:ne(0), found, 0) or found
end
