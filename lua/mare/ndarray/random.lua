-- Random numbers: Philox4x32-10 (Salmon and others, SC 2011) of a seed and the number of the
-- element, so that an element has the same bits on every device, whatever was drawn before.
-- Philox makes four words of a counter and a key: element n takes word n % 4 of those of the
-- counter { n / 4, 0 } and the key that is the seed.
--
-- They are expressions: random numbers are computed where they are used, and take no memory until
-- they are stored.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local nodes = require 'mare.expression.nodes'
local operations = require 'mare.expression.operations'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local random = {}

local allowed = { type = 'string', device = 'any', seed = 'number', rows = 'table' }

-- Returns type, device and the seed of a call; without one each call has another.
local function settings(what, given, default)
    creation.check_options(what, given)
    given = errors.fields(what, given or {}, allowed)
    local seed = given.seed
    if not seed then seed = creation.new_seed() end
    if seed % 1 ~= 0 or seed < 0 or seed >= 2 ^ 53 then
        errors.argument('%s: seed %s: a whole number from 0 below 2^53 is wanted', what,
            tostring(seed))
    end
    local type, on = creation.settings(what, { type = given.type, device = given.device }, default)
    return type, on, seed
end

-- Returns { shape, first }: of what is drawn, and the number of its first element.
local function drawn_of(what, sizes, options)
    local shape, first = creation.rows(what, shapes.given(what, sizes), options and options.rows)
    return { shape = shape, first = first }
end

-- Returns a word for each element. Words of one seed that have another `sequence`, a number below
-- 128, are independent.
local function words(on, drawn, seed, sequence)
    local shape = drawn.shape
    local numbers = array.hold(creation.numbers(on, types.int64, shape, drawn.first), 'random')
    local low, high = seed % 2 ^ 32, math.floor(seed / 2 ^ 32) + sequence * 2 ^ 24
    local op = drawn.first == 0 and operations.random_word
        or drawn.first % 4 == 0 and operations.random_word_from or operations.random_word_any
    local key = nodes.operation(op, types.uint32, types.int64, shape, on, numbers, low, high)
    return array.drop(numbers, array.of(key))
end

-- Returns uniform reals in (0, 1]: a float is (word / 256 + 1) / 2^24, a double has the 32 bits
-- of a word and 20 of another one: (word + (other / 2^12 + 1) / 2^20) / 2^32.
local function open_uniform(on, drawn, seed, type, sequence)
    if type == types.double then
        local low = array.binary(operations.shift_right, words(on, drawn, seed, sequence + 64), 12)
        local high = words(on, drawn, seed, sequence):double()
        return (high + (low:double() + 1) * 2 ^ -20) * 2 ^ -32
    end
    local word = array.binary(operations.shift_right, words(on, drawn, seed, sequence), 8)
    return (word:float() + 1) * 2 ^ -24
end

local function real_type(what, type)
    if type.kind ~= 2 then
        errors.argument("%s: type '%s': half, float or double is wanted", what, type.name)
    end
    return type == types.half and types.float or type
end

-- Returns uniform random numbers from 0 to below 1: mare.rand({ 1000 }, { seed = 1 }).
-- Floats are multiples of 2^-24, doubles of 2^-52. Without a seed each call of a
-- process has its own.
function random.rand(sizes, options)
    local type, on, seed = settings('rand', options)
    local drawn = drawn_of('rand', sizes, options)
    local computed = real_type('rand', type)
    local open = open_uniform(on, drawn, seed, computed, 0)
    return (open - (computed == types.double and 2 ^ -52 or 2 ^ -24)):to(type.name)
end

-- Returns random numbers of the standard normal distribution, by Box and Muller's
-- transform: mare.randn({ 1000 }, { seed = 1 }).
function random.randn(sizes, options)
    local type, on, seed = settings('randn', options)
    local drawn = drawn_of('randn', sizes, options)
    local computed = real_type('randn', type)
    local radius = (-2 * open_uniform(on, drawn, seed, computed, 1):log()):sqrt()
    return (radius * (open_uniform(on, drawn, seed, computed, 2) * (2 * math.pi)):cos())
        :to(type.name)
end

-- Returns random whole numbers from `first` to below `stop`, as int32 if nothing else
-- is said: mare.randint(0, 6, { 10 }, { seed = 1 }). The range has at most 2^32
-- numbers; their probabilities are the same to within 2^-32.
function random.randint(first, stop, sizes, options)
    errors.wanted('randint: first', 'number', first)
    errors.wanted('randint: stop', 'number', stop)
    local type, on, seed = settings('randint', options, 'int32')
    local range = stop - first
    if first % 1 ~= 0 or stop % 1 ~= 0 or range < 1 or range > 2 ^ 32 then
        errors.argument('randint: from %s to below %s: whole numbers are wanted, at least 1 and '
            .. 'at most 2^32 of them', tostring(first), tostring(stop))
    end
    types.check(type, first, 'randint')
    types.check(type, stop - 1, 'randint')
    local word = words(on, drawn_of('randint', sizes, options), seed, 3):uint64()
    local scaled = array.binary(operations.shift_right, word * range, 32):int64()
    return (scaled + first):to(type.name)
end

-- Returns the numbers 0 to count - 1 as int32, in random order: mare.permutation(10, { seed = 1 }).
-- a:take(mare.permutation(#a), { axis = 0 }) has the rows of a in random order. They are the places
-- of sorted words of 64 bits.
function random.permutation(count, options)
    options = errors.fields('permutation', options or {}, { device = 'any', seed = 'number' })
    errors.wanted('permutation', 'number', count)
    if count % 1 ~= 0 or count < 0 or count >= 2 ^ 31 then
        errors.argument('permutation: %s: a whole number from 0 below 2^31 is wanted',
            tostring(count))
    end
    local _, on, seed = settings('permutation', options, 'int32')
    local line = { shape = shapes.line(count), first = 0 }
    local high = words(on, line, seed, 4):uint64() * 2 ^ 32
    return (high + words(on, line, seed, 5):uint64()):argsort()
end

return random
