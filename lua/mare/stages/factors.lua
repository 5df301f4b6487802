-- Lengths: which factors they have, and which radices transforms of them take.

local factors = {}

local small_primes = { 2, 3, 5, 7, 11, 13 }

-- Takes factors of n from a list as often as they go, in the order of the list. Returns them, and
-- what is left of n.
local function taken(n, list)
    local found = {}
    for _, factor in ipairs(list) do
        while n % factor == 0 do
            found[#found + 1] = factor
            n = n / factor
        end
    end
    return found, n
end

-- Whether n has no prime factors but the small ones.
function factors.is_smooth(n)
    return select(2, taken(n, small_primes)) == 1
end

function factors.is_prime(n)
    for k = 2, math.floor(math.sqrt(n)) do if n % k == 0 then return false end end
    return n > 1
end

-- Returns a length of at least n that is fast: the least power of 2 times 1, 3, 5, 9, 15, 25, 27 or
-- 45, and a multiple of 16 from there on.
function factors.good(n)
    local least
    for _, odd in ipairs { 1, 3, 5, 9, 15, 25, 27, 45 } do
        local length = odd
        while length < n do length = 2 * length end
        local is_even = length % 16 == 0 or length < 16
        if is_even and (not least or length < least) then least = length end
    end
    return least
end

-- Returns two factors of n as near to each other as can be, the lesser first, both no more than
-- `most`; nil if there are none.
local function halves(n, most)
    for k = math.floor(math.sqrt(n)), 1, -1 do
        if n % k == 0 then return n / k <= most and { k, n / k } or nil end
    end
end

-- Returns two factors of n that are no more than `most`, or else three; nil if there are none.
function factors.split(n, most)
    local found = halves(n, most)
    if found then return found end
    local best
    for k = 2, math.min(most, math.floor(n ^ (1 / 3) + 0.5)) do
        local rest = n % k == 0 and halves(n / k, most)
        if rest and (not best or rest[2] <= best[3]) then best = { k, rest[1], rest[2] } end
    end
    return best
end

-- ---- powers modulo a prime ----

-- Returns base ^ exponent modulo p, which is below 2^26.
function factors.power(base, exponent, p)
    local result = 1
    while exponent > 0 do
        if exponent % 2 == 1 then result = result * base % p end
        base, exponent = base * base % p, math.floor(exponent / 2)
    end
    return result
end

-- Returns the least number whose powers are all numbers from 1 to p - 1, of a prime p.
function factors.generator(p)
    local divisors = {}
    for q = 2, p - 1 do
        if (p - 1) % q == 0 and factors.is_prime(q) then divisors[#divisors + 1] = q end
    end
    local function generates(g)
        for _, q in ipairs(divisors) do
            if factors.power(g, (p - 1) / q, p) == 1 then return false end
        end
        return true
    end
    local g = 2
    while not generates(g) do g = g + 1 end
    return g
end

-- ---- radices ----

-- Returns the radices of a power of two for a processor. The 16 first makes the following stages
-- have whole vectors; a register holds half as many doubles, so that their radices are smaller.
-- Measured with PoCL on AVX-512, rows of 1024 and 4096 points, processor time: of floats 0.9 of
-- that of radices 4 alone and 0.94 of that of 16 4 4 ...; of doubles radices 4 take 0.87 to 0.92 of
-- the time of 16 4 4 ... for 256 to 4096 points, 0.76 for 16384. Of floats they take 0.77 of that
-- of 16 8 8 ... for 16384 points, 0.86 for 65536, but 1.08 for 8192.
local function of_power_of_two(n, is_double)
    if is_double or n > 8192 then return (taken(n, { 4, 2 })) end
    if n < 128 then return (taken(n, { 16, 8, 4, 2 })) end
    local radices = taken(n / 16, { 8, 4, 2 })
    table.insert(radices, 1, 16)
    return radices
end

-- Returns the radices of 2^bits for transforms side by side on a processor: as few as registers
-- allow, as alike as can be. is_alone: whether there are no others
local function alike(bits, is_double, is_alone)
    local most = is_double and 2.75 or is_alone and 3.67 or 4
    local stages, radices = math.ceil(bits / most), {}
    for k = 0, stages - 1 do radices[k + 1] = 2 ^ math.floor((bits + k) / stages) end
    return radices
end

-- Returns the radices, whose product is n, for a processor. is_beside: whether transforms go side
-- by side, one in each element of a vector; the least come first then, since each butterfly of the
-- first stage reads roots of its own. By PoCL on AVX-512, processor time: of floats, 256 points by
-- 4 8 8 in 0.87 of the time of 16 16, 1024 by 8 8 16 in 0.91 of that of 16 8 8, 2048 by 8 16 16 in
-- 0.86; of doubles, 256 by 4 8 8 in 0.88 of that of 4 4 4 4, 1024 by 4 4 8 8 in 0.93.
function factors.on_cpu(n, is_double, is_beside)
    local odd = n
    while odd % 2 == 0 do odd = odd / 2 end
    local radices = {}
    if n > odd then
        local bits = math.floor(math.log(n / odd) / math.log(2) + 0.5)
        radices = is_beside and alike(bits, is_double, odd == 1)
            or of_power_of_two(n / odd, is_double)
    end
    for _, r in ipairs((taken(odd, { 9, 5, 7, 3, 11, 13 }))) do radices[#radices + 1] = r end
    if #radices == 0 then radices[1] = 1 end
    if is_beside then table.sort(radices) end
    return radices
end

return factors
