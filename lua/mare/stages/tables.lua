-- The constants that a kernel reads: roots of one, chirps, the transforms that convolutions
-- multiply by. They are computed in double and rounded once. A table is a list of sections; in
-- the memory of a CPU a section has first its real parts and then its imaginary ones, in that of
-- a GPU pairs.

local butterflies = require 'mare.dialect.butterflies'
local constant = require 'mare.dialect.constant'
local ends = require 'mare.stages.ends'
local factors = require 'mare.stages.factors'
local host = require 'mare.stages.host'

local tables = {}

-- Returns exp(-2 pi i k / n).
local function root(k, n)
    local c, s = butterflies.root(k, n)
    return c, -s
end

-- ---- sections ----

-- Adds a section of `count` numbers value(i), from 0, each real and imaginary part.
local function add(list, name, count, value)
    list[#list + 1] = { name = name, count = count, value = value, at = list.size }
    list[name] = list[#list]
    list.size = list.size + 2 * count
end

-- Returns the lesser one of two numbers whose sum is k and whose roots have w^k as their product; 0
-- if that is read. Read are w, w^2, w^4, w^8, ...; or, where other roots follow and few products
-- are wanted for the sake of errors, w, w^2, w^3, w^4, w^8, w^12, ...
function tables.low(d, k)
    if not d.has_few_roots then return 0 end
    if d.roots then return k > 4 and k % 4 or 0 end
    return k - 2 ^ (select(2, math.frexp(k)) - 1)
end

-- Adds a section for each stage of a transform of n points: its rows, of m numbers, are the roots
-- that are read, which multiply values k of butterflies p.
local function add_stages(list, prefix, d, radices)
    local left = d.points
    for stage, r in ipairs(radices) do
        local m, whole, values = left / r, left, {}
        for k = 1, r - 1 do
            if tables.low(d, k) == 0 then values[#values + 1] = k end
        end
        if m > 1 then
            add(list, prefix .. stage, #values * m, function(i)
                return root(values[math.floor(i / m) + 1] * (i % m), whole)
            end)
        end
        left = m
    end
end

-- Adds the sections of a row that is a square: of both dimensions, and of what is between them.
local function add_square(list, d)
    local rows, columns = d.square, d.points / d.square
    add_stages(list, 'columns', { points = rows }, d.columns_radices)
    add_stages(list, 'rows', { points = columns }, d.rows_radices)
    add(list, 'square', d.points, function(i)
        return root(math.floor(i / columns) * (i % columns), d.points)
    end)
end

-- Returns exp(-pi i k^2 / n). Since 2 j k is j^2 + k^2 - (j - k)^2, a transform is a convolution
-- with such numbers.
local function chirp(k, n) return root(k * k % (2 * n), 2 * n) end

-- Returns number k of the m numbers that Bluestein's algorithm convolves n points with.
local function conjugate_chirp(k, n, m)
    local distance = math.min(k, m - k)
    if distance >= n then return 0, 0 end
    local re, im = chirp(distance, n)
    return re, -im
end

tables.chirp, tables.conjugate_chirp = chirp, conjugate_chirp

-- Returns a function that gives the transform of the m numbers value(k), over m.
local function convolver(m, value)
    local x_re, x_im = {}, {}
    for k = 0, m - 1 do x_re[k], x_im[k] = value(k) end
    local re, im = host.transform(x_re, x_im, m)
    return function(i) return re[i] / m, im[i] / m end
end

local function add_bluestein(list, n, m)
    add(list, 'chirp', n, function(k) return chirp(k, n) end)
    add(list, 'convolver', m, convolver(m, function(k) return conjugate_chirp(k, n, m) end))
end

local function add_rader(list, p)
    local g = factors.generator(p)
    local there, back = { [0] = 1 }, { [0] = 1 }
    local inverse = factors.power(g, p - 2, p)
    for q = 1, p - 2 do
        there[q], back[q] = there[q - 1] * g % p, back[q - 1] * inverse % p
    end
    add(list, 'places', p - 1, function(q) return there[q], back[q] end)
    add(list, 'convolver', p - 1, convolver(p - 1, function(q) return root(back[q], p) end))
end

-- Adds two sections whose products are all roots of n: number e is number e % 2^bits of the
-- first times number e / 2^bits of the second.
local function add_roots(list, n, bits)
    local step = 2 ^ bits
    add(list, 'fine', step, function(i) return root(i, n) end)
    add(list, 'coarse', math.ceil(n / step), function(i) return root(i * step, n) end)
end

-- Adds a section for each constant part of the script's function of an end, 'load' or 'store'. On a
-- GPU two neighbouring values are one number of it.
local function add_constants(list, d, name)
    local own = d[name]
    if not own.f or own.index then return end
    local is_complex = own.type.complex
    if name == 'store' then is_complex = own.kind ~= 'real' and own.kind ~= 'pairs' end
    local count = (d.real_length or d.n) + 1
    for k, value in ipairs(constant.found_in(own.f, is_complex, ends.numbers(d.numbers))) do
        if d.is_cpu then
            add(list, name .. k, count, function(i) return value(i), 0 end)
        else
            add(list, name .. k, math.ceil(count / 2), function(i)
                return value(2 * i), value(2 * i + 1)
            end)
        end
    end
end

-- Returns the sections that a kernel needs, by number and by name. d: see kernels.lua
function tables.of(d)
    local list = { size = 0 }
    if d.square then
        add_square(list, d)
    else
        add_stages(list, 'stage', d, d.radices)
        if d.convolution and not d.is_looped then add_stages(list, 'back', d, d.radices_back) end
    end
    if d.convolution == 'bluestein' then add_bluestein(list, d.n, d.points) end
    if d.convolution == 'rader' then add_rader(list, d.n) end
    if d.real_length then
        add(list, 'halves', d.n, function(k) return root(k, d.real_length) end)
    end
    if d.crossed then
        add(list, 'crossed', d.crossed_of, function(k) return root(k, d.crossed_of) end)
    end
    if d.roots then add_roots(list, d.roots, d.root_bits) end
    for _, name in ipairs { 'load', 'store' } do add_constants(list, d, name) end
    return list
end

-- Returns the numbers of a table as a Lua array.
function tables.numbers(list, is_cpu)
    local numbers = {}
    for _, section in ipairs(list) do
        for i = 0, section.count - 1 do
            local re, im = section.value(i)
            if is_cpu then
                numbers[section.at + i + 1], numbers[section.at + section.count + i + 1] = re, im
            else
                numbers[section.at + 2 * i + 1], numbers[section.at + 2 * i + 2] = re, im
            end
        end
    end
    return numbers
end

return tables
