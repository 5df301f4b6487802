-- Random numbers that are the same on every machine, device and decomposition.
-- SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) hashes (seed, index), so
-- value k never depends on how many values were drawn before it.

local bit = require 'bit'
local errors = require 'bindings.errors'

local random = {}

local gamma = 0x9e3779b97f4a7c15ULL

local function mix(z)
    z = bit.bxor(z, bit.rshift(z, 30)) * 0xbf58476d1ce4e5b9ULL
    z = bit.bxor(z, bit.rshift(z, 27)) * 0x94d049bb133111ebULL
    return bit.bxor(z, bit.rshift(z, 31))
end

-- Returns value k = 0, 1, ... of a seed's sequence, uniform in [0, 1) with 53
-- random bits. It is output k of a SplitMix64 generator that starts at state
-- `seed`.
function random.uniform(seed, k)
    if not (tonumber(seed) and type(seed) ~= 'string' and type(k) == 'number') then
        errors.argument('random.uniform(seed, k): two numbers are wanted, not %s and %s',
            type(seed), type(k))
    end
    return tonumber(bit.rshift(mix(seed + gamma * (k + 1)), 11)) * 2 ^ -53
end

-- Returns a smooth periodic function of x, with period x1 - x0. desc: { x = {
-- x0, x1 }, points, seed, first }. Catmull-Rom cubics join `points` values in
-- [-1/2, 1/2) at equal distances; the values are numbers first, first + 1, ...
-- of the seed.
function random.curve(desc)
    errors.fields('random.curve', desc,
        { x = 'table', points = 'number', seed = 'number', first = 'number' })
    for _, name in ipairs { 'points', 'seed', 'first' } do
        errors.wanted('random.curve: ' .. name, 'number', desc[name])
    end
    local ends = errors.wanted('random.curve: x', 'table', desc.x)
    errors.wanted('random.curve: x[1]', 'number', ends[1])
    errors.wanted('random.curve: x[2]', 'number', ends[2])
    local n, x0, spacing = desc.points, desc.x[1], (desc.x[2] - desc.x[1]) / desc.points
    local values = {}
    for k = 0, n - 1 do values[k] = random.uniform(desc.seed, desc.first + k) - 0.5 end
    return function(x)
        local s = (x - x0) / spacing
        local k = math.floor(s)
        local t = s - k
        local a, b = values[(k - 1) % n], values[k % n]
        local c, d = values[(k + 1) % n], values[(k + 2) % n]
        return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
    end
end

return random
