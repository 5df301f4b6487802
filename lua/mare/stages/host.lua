-- The transform in plain Lua, in double: of null devices, which run no kernel, and of the
-- tables that kernels multiply by.

local bound = require 'bindings.array'
local butterflies = require 'mare.dialect.butterflies'
local strides = require 'mare.expression.strides'

local host = {}

local to_complex, half_of = bound.on_host.to_complex, bound.on_host.half_of

-- Returns the smallest prime factor of n.
local function factor_of(n)
    for k = 2, math.floor(math.sqrt(n)) do if n % k == 0 then return k end end
    return n
end

-- Does a stage of radix r for transforms of `left` points, of which there are s: see cpu.lua.
local function stage(n, left, s, r, cosines, sines, from_re, from_im, to_re, to_im)
    local m, step = left / r, n / r
    for p = 0, m - 1 do
        for q = 0, s - 1 do
            for j = 0, r - 1 do
                local re, im = 0, 0
                for k = 0, r - 1 do
                    local w, at = j * k % r * step, (p + m * k) * s + q
                    local c, d, a, b = cosines[w], sines[w], from_re[at], from_im[at]
                    re, im = re + a * c + b * d, im + b * c - a * d
                end
                local w, at = p * j * s, (p * r + j) * s + q
                local c, d = cosines[w], sines[w]
                to_re[at], to_im[at] = re * c + im * d, im * c - re * d
            end
        end
    end
end

-- Returns the transform of n complex numbers as arrays of the real and the imaginary parts, from
-- 0. The arrays that are given are overwritten.
function host.transform(re, im, n)
    local cosines, sines, other_re, other_im = {}, {}, {}, {}
    for k = 0, n - 1 do cosines[k], sines[k] = butterflies.root(k, n) end
    local left, s = n, 1
    while left > 1 do
        local r = factor_of(left)
        stage(n, left, s, r, cosines, sines, re, im, other_re, other_im)
        re, im, other_re, other_im = other_re, other_im, re, im
        left, s = left / r, s * r
    end
    return re, im
end

-- ---- steps of plans on null devices ----

-- Returns the value of number k of a line before the transform. line: { data, at, stride,
-- count, get, put }
local function loaded(step, line, k, batch)
    local value = k < line.count and line.get(line.at + k * line.stride) or 0
    if type(value) == 'boolean' then value = value and 1 or 0 end
    if type(value) ~= 'number' then value = { re = value.re, im = value.im } end
    if step.load then value = step.load(value, k, batch, step.values) end
    return type(value) == 'number' and { re = value, im = 0 } or value
end

-- Returns the real and the imaginary parts of the points of a line, from 0.
local function points_of(step, line, batch)
    local re, im, n = {}, {}, step.n
    local half = step.kind == 'irfft' and math.floor(n / 2) or n
    for k = 0, math.min(half, n - 1) do
        local x = loaded(step, line, k, batch)
        re[k], im[k] = x.re, x.im
    end
    for k = half + 1, n - 1 do re[k], im[k] = re[n - k], -im[n - k] end
    if step.is_inverse then return im, re end
    return re, im
end

-- Replaces the numbers of a transform by those of the inverse of what the script's function makes
-- of them, not scaled, and stores bytes beside.
local function filtered(step, re, im, batch)
    for k = 0, step.n - 1 do
        local value = step.filter({ re = re[k], im = im[k] }, k, batch, step.values)
        if type(value) == 'number' then value = { re = value, im = 0 } end
        re[k], im[k] = value.re, value.im
        if step.aside then
            local data = bound.address(step.aside_leaf.version.cell, 'uint8')
            for _, pair in ipairs(step.aside(value, k, batch, step.values)) do
                data[pair[1]] = math.min(math.max(pair[2], 0), 255)
            end
        end
    end
    im, re = host.transform(im, re, step.n)
    return re, im
end

-- Returns the nearest number of a type.
local function converted(to, value)
    if to.kind == 2 then return to.name == 'half' and half_of(value) or value end
    local least = to.signed and -2 ^ (to.bits - 1) or 0
    return math.min(math.max(math.floor(value + 0.5), least), least + 2 ^ to.bits - 1)
end

local function run_line(step, from, to, batch)
    local point_re, point_im = points_of(step, from, batch)
    local y_re, y_im = host.transform(point_re, point_im, step.n)
    if step.filter then y_re, y_im = filtered(step, y_re, y_im, batch) end
    for k = 0, to.count - 1 do
        local re, im = y_re[k] * step.scale, y_im[k] * step.scale
        if step.is_inverse then re, im = im, re end
        local value = step.kind == 'irfft' and re or { re = re, im = im }
        if step.store then value = step.store(value, k, batch, step.values) end
        to.put(to.at + k * to.stride, value)
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
    local line = { at = 0, stride = strides.own(leaf)[along], count = leaf.shape[along] }
    local is_halved, name = leaf.type.name == 'complex_half', leaf.type.name
    local data = bound.address(leaf.version.cell, is_halved and 'half' or name)
    local read = bound.reader(is_halved and 'half' or name)
    function line.get(i)
        if is_halved then return { re = read(data[2 * i]), im = read(data[2 * i + 1]) } end
        return read(data[i])
    end
    function line.put(i, value)
        if is_halved then
            data[2 * i], data[2 * i + 1] = half_of(value.re), half_of(value.im)
        elseif type(value) == 'number' then
            data[i] = converted(leaf.type, value)
        else
            data[i] = to_complex(value.re, value.im)
        end
    end
    return line
end

-- Runs a step of a plan on a null device, whose memory is the host's. from, to: leaves, or twice
-- the same leaf
function host.run(step, from, to)
    local there, here = places_of(from, step.axis), places_of(to, step.axis)
    local line, result = line_of(from, step.axis), line_of(to, step.axis)
    for k, place in ipairs(there) do
        line.at, result.at = place, here[k]
        run_line(step, line, result, k - 1)
    end
end

return host
