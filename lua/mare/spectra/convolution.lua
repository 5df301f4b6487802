-- Convolutions and correlations of arrays by their transforms, with the names and modes of SciPy.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local factors = require 'mare.stages.factors'

local convolution = {}

local modes = { full = true, same = true, valid = true }

-- Checks the arguments. Returns the shapes of a and b, and the mode.
local function checked(what, a, b, given)
    given = errors.fields(what, given or {}, { mode = 'any' })
    local mode = given.mode or 'full'
    if not modes[mode] then
        errors.argument("%s: mode = '%s' (allowed: full, same, valid)", what, tostring(mode))
    end
    local node = array.hold(a, what)
    local shape = array.drop(node, node.shape)
    node = array.hold(b, what)
    local other = array.drop(node, node.shape)
    if shape.rank ~= other.rank or shape.count == 0 or other.count == 0 then
        errors.argument('%s: %s and %s: as many axes and at least one element are wanted', what,
            tostring(shape), tostring(other))
    end
    return shape, other, mode
end

-- Returns where the wanted elements of all m + n - 1 begin along an axis, and where they end.
local range = {
    full = function(m, n) return 0, m + n - 1 end,
    same = function(m, n) return math.floor((n - 1) / 2), math.floor((n - 1) / 2) + m end,
    valid = function(m, n) return math.min(m, n) - 1, math.max(m, n) end,
}

-- Checks that along all axes the same one of a and b is longer.
local function check_valid(what, shape, other)
    local is_longer, is_shorter = false, false
    for k = 1, shape.rank do
        is_longer, is_shorter = is_longer or shape[k] > other[k], is_shorter or shape[k] < other[k]
    end
    if is_longer and is_shorter then
        errors.argument("%s: mode 'valid' of %s and %s: one must hold the other", what,
            tostring(shape), tostring(other))
    end
end

-- Returns the convolution of a with b, or with what `turned` makes of it. fft: the module
local function convolved(fft, what, a, b, given, turned)
    local shape, other, mode = checked(what, a, b, given)
    if mode == 'valid' then check_valid(what, shape, other) end
    local axes, lengths, wanted = {}, {}, {}
    for k = 1, shape.rank do
        local first, last = range[mode](shape[k], other[k])
        axes[k], lengths[k] = k - 1, factors.good(shape[k] + other[k] - 1)
        wanted[k] = { first, last }
    end
    if turned then b = turned(b) end
    local options = { axes = axes, n = lengths }
    local is_real = not (a.type:find 'complex' or b.type:find 'complex')
    local there, back = fft.fft, fft.ifft
    if is_real then there, back = fft.rfft, fft.irfft end
    return back(there(a, options) * there(b, options), options)(wanted)
end

local function turned_around(b)
    local turned = b:flip()
    return b.type:find 'complex' and turned:conj() or turned
end

-- Adds the functions to the module.
function convolution.add(fft)
    -- Returns the sums of a[j] b[k - j] for all k, along all axes. mode: 'full' (default), 'same',
    -- the middle, as large as a, or 'valid', of which no term is outside of an array. Complex if a
    -- or b is:
    --     local smooth = mare.fft.convolve(x, kernel, { mode = 'same' })
    function fft.convolve(a, b, given)
        return convolved(fft, 'fft.convolve', a, b, given)
    end

    -- Returns the sums of a[k + j] conj(b[j]); modes as of convolve, and 'full' begins with the
    -- last element of b at the first of a.
    function fft.correlate(a, b, given)
        return convolved(fft, 'fft.correlate', a, b, given, turned_around)
    end
end

return convolution
