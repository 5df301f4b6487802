-- Orbits of z -> z^2 + c from z = 0 in many digits: the reference of a deep
-- zoom, and escape times to compare others with.

local memory = require 'bindings.memory'
local mpfr = require 'bindings.mpfr'

local exact = {}

-- Returns a function that computes z_1, z_2, ... and returns the real and the
-- imaginary part, which the next call overwrites. cx, cy: numbers of
-- bindings/mpfr.lua.
local function iterate(bits, cx, cy)
    local x, y, xy = mpfr.new(bits), mpfr.new(bits), mpfr.new(bits)
    local xx, yy = mpfr.new(bits), mpfr.new(bits)
    return function()
        xy:mul(x, y)
        x:sub(xx:sqr(x), yy:sqr(y)):add(x, cx)
        y:scale(xy, 1):add(y, cy)
        return x, y
    end
end

-- Returns the first n with |z_n| > 2, or 0 if there is none up to `limit`.
function exact.count(bits, cx, cy, limit)
    local step, norm, yy = iterate(bits, cx, cy), mpfr.new(2 * bits), mpfr.new(2 * bits)
    for n = 1, limit do
        local x, y = step()
        if norm:sqr(x):add(norm, yy:sqr(y)):compare(4) > 0 then return n end
    end
    return 0
end

-- Returns a C array of Z_0 = 0, Z_1, ... up to Z_limit or to the first with |Z|
-- > 2, rounded to double, with real and imaginary parts in turn; and the number
-- of Z.
function exact.orbit(bits, cx, cy, limit)
    local step, orbit, length = iterate(bits, cx, cy), memory.array('double', 2 * limit + 2), 1
    repeat
        local x, y = step()
        x, y = x:double(), y:double()
        orbit[2 * length], orbit[2 * length + 1] = x, y
        length = length + 1
    until length > limit or x * x + y * y > 4
    return orbit, length
end

return exact
