-- exact_transform.lua - elements of the Fourier transform of real numbers in quadruple precision,
-- as sums by MPFR, which fft.lua compares transforms with.

local mpfr = require 'bindings.mpfr'

local BITS = 113                -- of a quadruple's significand

-- Cosine and sine of 2 pi k / n for k = 0 .. n - 1, arrays from 0.
local function roots_of(n)
    local pi, angle, cosine, sine = mpfr.new(BITS + 16):pi(), mpfr.new(BITS + 16), {}, {}
    for k = 0, n - 1 do
        cosine[k], sine[k] = mpfr.new(BITS), mpfr.new(BITS)
        angle:mul(pi, mpfr.new(BITS, 2 * k / n)):sine_and_cosine(sine[k], cosine[k])
    end
    return cosine, sine
end

-- x: an array from 0 of n numbers, a power of two; count: of elements, evenly spaced up to n / 2.
-- Returns { { k, re, im }, ... }, each rounded to a double.
return function(x, n, count)
    local cosine, sine = roots_of(n)
    local re, im, value, list = mpfr.new(BITS), mpfr.new(BITS), mpfr.new(BITS), {}
    for j = 1, count do
        local k = math.floor((j - 1) * (n / 2) / count) + 1
        re:set(0)
        im:set(0)
        for i = 0, n - 1 do
            local root = i * k % n
            value:set(x[i])
            re:fma(value, cosine[root], re)
            im:fma(value, sine[root], im)
        end
        list[j] = { k, re:double(), -im:double() }
    end
    return list
end
