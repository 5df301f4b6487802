-- Functions of complex numbers, as trees of their parts, { re, im }. Their cuts, and what they are
-- at zeros and infinities on the axes, are those of C99's annex G; elsewhere infinite parts may
-- give NaN. A function is off by a few times what those of its parts are, relative to its own size.

local m = require 'mare.dialect.maths'

local complex = {}

local function of(re, im) return { re = re, im = im } end

-- Returns a factor times b, and 0 where b is 0, so that an infinite factor makes no NaN.
local function times(factor, b) return m.where(m.eq(b, 0), b, factor * b) end

-- Smith's quotient (1962), as NumPy has it, whose steps do not leave the range of numbers where the
-- quotient is within it; a number over 0 has infinite parts, or NaN for parts that are 0.
function complex.quotient(a, b)
    local is_wide = m.ge(m.abs(b.re), m.abs(b.im))
    local function either(x, y) return m.where(is_wide, x, y) end
    local large, small = either(b.re, b.im), either(b.im, b.re)
    local ratio = m.where(m.eq(large, 0), 0, small / large)
    local divisor = m.where(m.eq(large, 0), m.abs(large), large + small * ratio)
    local first, second = either(a.re, a.im), either(a.im, a.re)
    local cross = second - first * ratio
    return of((first + second * ratio) / divisor, either(cross, -cross) / divisor)
end

function complex.exp(z)
    local size = m.exp(z.re)
    return of(size * m.cos(z.im), times(size, m.sin(z.im)))
end

-- The logarithm of the size of z, which near 1 is found from what it differs by.
local function log_size(z)
    local x, y = m.abs(z.re), m.abs(z.im)
    local large, small = m.where(m.lt(x, y), y, x), m.where(m.lt(x, y), x, y)
    local size = m.hypot(x, y)
    local is_near = m.logical_and(m.gt(size, 0.5), m.lt(size, 2))
    return m.where(is_near, m.log1p((large - 1) * (large + 1) + small * small) * 0.5, m.log(size))
end

function complex.log(z) return of(log_size(z), m.atan2(z.im, z.re)) end

-- Returns the logarithm to a base, of which `factor` is 1 / log(base).
function complex.log_to(factor)
    return function(z)
        local log = complex.log(z)
        return of(log.re * factor, log.im * factor)
    end
end

-- Of numbers whose size is a quarter of the largest at most, or infinite.
function complex.sqrt(z)
    local root = m.sqrt((m.abs(z.re) + m.hypot(z.re, z.im)) * 0.5)
    local is_infinite = m.logical_and(m.eq(z.im, z.im), m.ne(z.im - z.im, 0))
    local other = m.where(m.eq(root, 0), 0, m.where(is_infinite, root, m.abs(z.im) / (2 * root)))
    local is_left = m.lt(z.re, 0)
    return of(m.where(is_left, other, root), m.copysign(m.where(is_left, root, other), z.im))
end

function complex.sinh(z)
    return of(times(m.sinh(z.re), m.cos(z.im)), times(m.cosh(z.re), m.sin(z.im)))
end

-- Of the product in the second part either may be 0 while the other is infinite or NaN.
function complex.cosh(z)
    local a, b = m.sinh(z.re), m.sin(z.im)
    local second = m.where(m.eq(b, 0), m.where(m.lt(a, 0), -b, b),
        m.where(m.eq(a, 0), m.where(m.lt(b, 0), -a, a), a * b))
    return of(m.cosh(z.re) * m.cos(z.im), second)
end

-- Kahan, "Branch cuts for complex elementary functions" (1987); where cosh^2 would overflow, its
-- limit.
function complex.tanh(z)
    local t, s = m.tan(z.im), m.sinh(z.re)
    local beta, rho = 1 + t * t, m.sqrt(1 + s * s)
    local below = 1 + beta * s * s
    local is_far = m.gt(m.abs(z.re), 20)
    local far = 4 * m.sin(z.im) * m.cos(z.im) * m.exp(-2 * m.abs(z.re))
    return of(m.where(is_far, m.copysign(1, z.re), beta * rho * s / below),
        m.where(is_far, far, t / below))
end

-- Returns -i f(i z) of an odd function.
local function turned(f)
    return function(z)
        local w = f(of(-z.im, z.re))
        return of(w.im, -w.re)
    end
end

complex.sin, complex.tan = turned(complex.sinh), turned(complex.tanh)

function complex.cos(z) return complex.cosh(of(-z.im, z.re)) end

-- Returns exp(b log(a)); 0 to a power is 1 where the power is 0, 0 where its real part is above 0,
-- else NaN.
function complex.pow(a, b)
    local log = complex.log(a)
    local power = complex.exp(of(b.re * log.re - b.im * log.im, b.re * log.im + b.im * log.re))
    local is_zero = m.logical_and(m.logical_and(m.eq(a.re, 0), m.eq(a.im, 0)), m.gt(b.re, 0))
    local is_one = m.logical_and(m.eq(b.re, 0), m.eq(b.im, 0))
    local function chosen(value, one)
        return m.where(is_one, one, m.where(is_zero, 0, value))
    end
    return of(chosen(power.re, 1), chosen(power.im, 0))
end

return complex
