-- Butterflies: Fourier transforms of few points as functions of Lua on complex values { re, im }.
-- Given nodes they make the trees that kernels are written from; given numbers they compute. A
-- product and the sum that takes it are one fma, which rounds once on every device.

local m = require 'mare.dialect.maths'

local butterflies = {}

-- ---- complex values ----

local function add(a, b) return { re = a.re + b.re, im = a.im + b.im } end
local function subtract(a, b) return { re = a.re - b.re, im = a.im - b.im } end

-- Returns -i a.
local function turned(a) return { re = a.im, im = -a.re } end

-- Returns a times w.
function butterflies.product(a, w)
    return { re = m.fma(a.re, w.re, -(a.im * w.im)), im = m.fma(a.re, w.im, a.im * w.re) }
end

-- Returns the cosine and sine of k / n of a turn. They are found from an angle of at most an
-- eighth of a turn, so that both are right to the last bit or the one before.
function butterflies.root(k, n)
    k = k % n
    local eighth = math.floor(8 * k / n)
    local function of(j)                -- of j / 8 n of a turn, at most an eighth
        local angle = 2 * math.pi * j / (8 * n)
        return math.cos(angle), math.sin(angle)
    end
    local rest = 8 * k - eighth * n
    local c, s = of(eighth % 2 == 0 and rest or n - rest)
    if eighth % 4 == 1 or eighth % 4 == 2 then c, s = s, c end
    if eighth >= 2 and eighth <= 5 then c = -c end
    return c, eighth >= 4 and -s or s
end

-- Returns a times exp(-2 pi i k / n), with constants for numbers.
local function rotated(a, k, n)
    k = k % n
    if k == 0 then return a end
    if 4 * k == n then return turned(a) end
    if 2 * k == n then return { re = -a.re, im = -a.im } end
    if 4 * k == 3 * n then return { re = -a.im, im = a.re } end
    local c, s = butterflies.root(k, n)
    if 8 * k == n then return { re = (a.re + a.im) * c, im = (a.im - a.re) * c } end
    if 8 * k == 3 * n then return { re = (a.im - a.re) * -c, im = (a.re + a.im) * c } end
    return { re = m.fma(a.re, c, a.im * s), im = m.fma(a.im, c, a.re * -s) }
end

-- ---- transforms ----

local function of_two(x)
    return { add(x[1], x[2]), subtract(x[1], x[2]) }
end

local function of_four(x)
    local a, b, c = add(x[1], x[3]), subtract(x[1], x[3]), add(x[2], x[4])
    local d = turned(subtract(x[2], x[4]))
    return { add(a, c), add(b, d), subtract(a, c), subtract(b, d) }
end

-- Transforms an odd prime number p of points. Cosines multiply the sums of x[k] and x[p - k], sines
-- their differences.
local function of_prime(x, p)
    local half, sums, differences, all = (p - 1) / 2, {}, {}, x[1]
    for k = 1, half do
        sums[k], differences[k] = add(x[k + 1], x[p + 1 - k]), subtract(x[k + 1], x[p + 1 - k])
        all = add(all, sums[k])
    end
    local y = { all }
    for j = 1, half do
        local even, odd = x[1], nil
        for k = 1, half do
            local c, s = butterflies.root(j * k, p)
            even = { re = m.fma(sums[k].re, c, even.re), im = m.fma(sums[k].im, c, even.im) }
            local d = differences[k]
            odd = odd and { re = m.fma(d.im, s, odd.re), im = m.fma(d.re, -s, odd.im) }
                or { re = d.im * s, im = d.re * -s }
        end
        y[j + 1], y[p + 1 - j] = add(even, odd), subtract(even, odd)
    end
    return y
end

-- Returns a factor of r that a butterfly begins with.
local function factor_of(r)
    if r % 4 == 0 then return 4 end
    for k = 2, r do if r % k == 0 then return k end end
end

local transform

-- Transforms a b points by b transforms of a points and then a of b.
local function of_product(x, a, b, keep)
    local rows, y = {}, {}
    for j = 0, b - 1 do
        local column = {}
        for k = 0, a - 1 do column[k + 1] = x[k * b + j + 1] end
        rows[j] = transform(column, a, keep)
        for k = 1, a - 1 do rows[j][k + 1] = rotated(rows[j][k + 1], j * k, a * b) end
        if keep then rows[j] = keep(rows[j]) end
    end
    for k = 0, a - 1 do
        local row = {}
        for j = 0, b - 1 do row[j + 1] = rows[j][k + 1] end
        for j, value in ipairs(transform(row, b, keep)) do y[k + a * (j - 1) + 1] = value end
    end
    return y
end

-- Returns the transform of the values x[1] to x[r], for r with the factors 2, 3, 5, 7, 11
-- and 13: y[k + 1] is the sum of x[j + 1] exp(-2 pi i j k / r). keep: nil, or a function that is
-- given intermediate values, which depend on no others that are still to come, and returns them,
-- for kernels to hold few at a time
function transform(x, r, keep)
    if r == 1 then return x end
    if r == 2 then return of_two(x) end
    if r == 4 then return of_four(x) end
    local a = factor_of(r)
    return a == r and of_prime(x, r) or of_product(x, a, r / a, keep)
end

butterflies.transform = transform

return butterflies
