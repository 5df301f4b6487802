-- The transform in plain Lua, in double: of null devices, which run no kernel, and of the
-- tables that kernels multiply by.

local bound = require 'bindings.array'
local butterflies = require 'mare.fft.butterflies'
local strides = require 'mare.expression.strides'

local host = {}

local to_complex = bound.on_host.to_complex

-- Returns the smallest prime factor of n.
local function factor_of(n)
    for k = 2, math.floor(math.sqrt(n)) do if n % k == 0 then return k end end
    return n
end

local transform

-- Of a prime number of points: one sum for each.
local function of_prime(x, first, step, p)
    local y = {}
    for k = 0, p - 1 do
        local re, im = 0, 0
        for j = 0, p - 1 do
            local c, s = butterflies.root(j * k, p)
            local a = x[first + j * step]
            re, im = re + a.re * c + a.im * s, im + a.im * c - a.re * s
        end
        y[k] = { re = re, im = im }
    end
    return y
end

-- Of a * b points: a transforms of b points, then b of a.
local function of_product(x, first, step, a, b)
    local rows, y = {}, {}
    for j = 0, a - 1 do rows[j] = transform(x, first + j * step, step * a, b) end
    for k = 0, b - 1 do
        local column = {}
        for j = 0, a - 1 do
            local c, s = butterflies.root(j * k, a * b)
            local v = rows[j][k]
            column[j + 1] = { re = v.re * c + v.im * s, im = v.im * c - v.re * s }
        end
        if a <= butterflies.largest then
            column = butterflies.transform(column, a)
            for j = 0, a - 1 do y[k + j * b] = column[j + 1] end
        else
            for j, v in pairs(of_prime(column, 1, 1, a)) do y[k + j * b] = v end
        end
    end
    return y
end

function transform(x, first, step, n)
    if n == 1 then return { [0] = x[first] } end
    local p = factor_of(n)
    if p == n then return of_prime(x, first, step, n) end
    return of_product(x, first, step, p, n / p)
end

-- Returns the transform of x[0] to x[n - 1], tables { re, im }, in the same form.
function host.transform(x, n)
    return transform(x, 0, 1, n)
end

-- ---- steps of plans on null devices ----

-- Returns the value of number k of a line before the transform. line: { data, at, stride,
-- count, read }
local function loaded(step, line, k, batch)
    local value = k < line.count and line.read(line.data[line.at + k * line.stride]) or 0
    if type(value) ~= 'number' then value = { re = value.re, im = value.im } end
    if step.load then value = step.load(value, k, batch) end
    return type(value) == 'number' and { re = value, im = 0 } or value
end

-- Returns the points of a line, from 0.
local function points_of(step, line, batch)
    local x, n = {}, step.n
    local half = step.kind == 'irfft' and math.floor(n / 2) or n
    for k = 0, math.min(half, n - 1) do x[k] = loaded(step, line, k, batch) end
    for k = half + 1, n - 1 do x[k] = { re = x[n - k].re, im = -x[n - k].im } end
    if step.is_inverse then
        for k = 0, n - 1 do x[k] = { re = x[k].im, im = x[k].re } end
    end
    return x
end

local function run_line(step, from, to, batch)
    local y = host.transform(points_of(step, from, batch), step.n)
    for k = 0, to.count - 1 do
        local re, im = y[k].re * step.scale, y[k].im * step.scale
        if step.is_inverse then re, im = im, re end
        local value = step.kind == 'irfft' and re or { re = re, im = im }
        if step.store then value = step.store(value, k, batch) end
        local at = to.at + k * to.stride
        to.data[at] = type(value) == 'number' and value or to_complex(value.re, value.im)
    end
end

-- Returns the first places of all lines of a leaf along an axis, in the order of their
-- numbers.
local function places_of(leaf, along)
    local own, places = strides.own(leaf), { leaf.offset }
    for k = 1, leaf.shape.rank do
        if k ~= along then
            local longer = {}
            for _, place in ipairs(places) do
                for i = 0, leaf.shape[k] - 1 do longer[#longer + 1] = place + i * own[k] end
            end
            places = longer
        end
    end
    return places
end

local function line_of(leaf, along)
    return { data = bound.address(leaf.version.cell, leaf.type.name), at = 0,
        stride = strides.own(leaf)[along], count = leaf.shape[along],
        read = bound.reader(leaf.type.name) }
end

-- Runs a step of a plan on a null device, whose memory is the host's. from, to: leaves, which
-- may be one
function host.run(step, from, to)
    local there, here = places_of(from, step.axis), places_of(to, step.axis)
    local line, result = line_of(from, step.axis), line_of(to, step.axis)
    for k, place in ipairs(there) do
        line.at, result.at = place, here[k]
        run_line(step, line, result, k - 1)
    end
end

return host
