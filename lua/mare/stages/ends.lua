-- The ends of a transform's kernel: how points are made of an array's elements when they are
-- loaded, and elements of points when they are stored. Both are trees of the dialect, so that
-- functions of scripts can be parts of them.
--
-- Kinds of loading: 'plain', of numbers real or complex; 'pairs', where numbers 2 k and
-- 2 k + 1 are the parts of point k; 'hermitian', where numbers past the middle are
-- conjugates of those before it; 'split', the half of such a transform, of which 'pairs'
-- come back. Kinds of storing: 'plain', 'half' (up to the middle), 'real', 'pairs' and
-- 'split', which makes of points k and n - k the numbers k and n - k.

local butterflies = require 'mare.dialect.butterflies'
local constant = require 'mare.dialect.constant'
local dialect = require 'mare.dialect.nodes'
local m = require 'mare.dialect.maths'

local ends = {}

local function input(name, type, text) return dialect.input(name, type, text) end

-- ---- the kernel's arguments ----

local function layout(list, name, index)
    for _, level in ipairs { '0', 'n', 'inner', 'mid', 'outer' } do
        list[#list + 1] = ('%s %s_%s'):format(index, name, level)
    end
end

-- Returns the declarations of the arguments, which kernels.lua sets in this order: the arrays,
-- which may be one, that of bytes beside, the table w, sizes, and the layout of each array.
function ends.arguments(d)
    local element = d.is_cpu and 'real' or 'mr_complex'
    local list = { ('const MR_GLOBAL %s *in'):format(d.load.type.stored),
        ('MR_GLOBAL %s *out'):format(d.store.type.stored),
        ('const MR_GLOBAL %s *MR_RESTRICT w'):format(element) }
    if d.aside then table.insert(list, 3, 'MR_GLOBAL uchar *aside') end
    for _, name in ipairs { 'inners', 'mids', 'tiles', 'chunk', 'filled' } do
        list[#list + 1] = ('%s %s'):format(d.index, name)
    end
    layout(list, 'in', d.index)
    layout(list, 'out', d.index)
    list[#list + 1] = 'real scale'
    for _, name in ipairs(d.numbers or {}) do list[#list + 1] = 'real number_' .. name end
    return table.concat(list, ', ')
end

-- Returns what functions of scripts get as the numbers of a call, by their names.
function ends.numbers(names)
    local list = {}
    for _, name in ipairs(names or {}) do list[name] = input('number_' .. name, 'real',
        'number_' .. name) end
    return list
end

-- Returns complex number `at`, a text, of a section of the table.
function ends.root(d, name, at)
    local section = d.tables[name]
    local function part(re, im) return { re = input('root_re', 'real', re),
        im = input('root_im', 'real', im) } end
    if d.is_cpu then
        return part(('w[%d + %s]'):format(section.at, at),
            ('w[%d + %s]'):format(section.at + section.count, at))
    end
    return part(('w[%d + %s].re'):format(section.at / 2, at),
        ('w[%d + %s].im'):format(section.at / 2, at))
end

-- ---- loading ----

local function element_text(type, at, part)
    if type.name == 'half' then return ('mr_half_load(in, %s)'):format(at) end
    if type.name == 'complex_half' then
        return ('mr_%s_half(((const MR_GLOBAL uint *)in)[%s])'):format(
            part == '.im' and 'second' or 'first', at)
    end
    local text = ('in[%s]%s'):format(at, part)
    return type.kind < 2 and '(real)' .. text or text
end

-- Returns element k of a section of real numbers. half: nil, or { pair, part }: k is the part 're'
-- or 'im' of that pair, a text
local function constant_at(d, section, k, half)
    local text = ('w[%d + %s]'):format(section.at, k)
    if half and not d.is_cpu then
        text = ('w[%d + %s].%s'):format(section.at / 2, half.pair, half.part)
    elseif not d.is_cpu then
        text = ('((const MR_GLOBAL real *)w)[%d + %s]'):format(section.at, k)
    end
    return input('constant', 'real', text)
end

-- Returns what the script's function of an end, 'load' or 'store', makes of a value, whose index is
-- the text k. What depends on that alone is read from the table. half: as above
local function applied(d, name, value, k, half)
    local own = d[name]
    local index = own.index and own.index(k) or k
    local i = input('i', 'int32', ('(int)(%s)'):format(index))
    local result = own.f(value, i, input('number', 'int32', '(int)batch'),
        ends.numbers(d.numbers))
    if own.index then return result end
    return constant.replaced(result, i, function(number)
        return constant_at(d, d.tables[name .. number], k, half)
    end)
end

-- Returns what the script's function makes of number k of a transform that is filtered.
function ends.filtered(d, k, value)
    local i, number = input('i', 'int32', ('(int)(%s)'):format(k)),
        input('number', 'int32', '(int)batch')
    local result = d.filter(value, i, number, ends.numbers(d.numbers))
    if dialect.is(result) or type(result) == 'number' then
        return { re = dialect.wrap(result, 'filter'), im = dialect.wrap(0, 'filter') }
    end
    return result
end

-- Stores bytes beside the result: those that the script's function makes of number k.
function ends.store_aside(w, d, k, value)
    if not d.aside then return end
    local i, number = input('i', 'int32', ('(int)(%s)'):format(k)),
        input('number', 'int32', '(int)batch')
    for _, pair in ipairs(d.aside(value, i, number, ends.numbers(d.numbers))) do
        local at, byte = w:values { pair[1], m.min(m.max(pair[2], 0), 255) }
        w:line('aside[%s] = (uchar)(%s);', at, byte)
    end
end

-- Returns the text of an element that is a half of a pair, where pairs are aligned, or nil.
local function text_of_half(d, name, half)
    if not d[name].is_paired then return nil end
    local array = name == 'load' and '(const MR_GLOBAL mr_complex *)(in + in_at)'
        or '(MR_GLOBAL mr_complex *)(out + out_at)'
    return ('(%s)[%s].%s'):format(array, half.pair, half.part)
end

-- Returns the text of a part of element k of a row that has come into local memory.
local function ahead_text(d, k, part)
    return ('((const MR_LOCAL_PTR mr_complex *)ahead)[line * %d + (%s)]%s'):format(d.n, k, part)
end

-- Returns element k of the array, or what the script's function makes of it. half: as above
local function element(d, k, half)
    local from = d.load
    local index = from.index and from.index(k) or k
    local at = (from.unit == 'axis' and 'in_at + %s' or 'in_at + (%s) * in_n'):format(k)
    local function part(name, suffix)
        local own = half and text_of_half(d, 'load', half)
            or d.is_ahead and ahead_text(d, k, suffix) or element_text(from.type, at, suffix)
        if from.is_padded then own = ('((%s) < filled ? %s : R(0.0))'):format(index, own) end
        return input(name, 'real', own)
    end
    local value = from.type.complex and { re = part('e_re', '.re'), im = part('e_im', '.im') }
        or part('e', '')
    return from.f and applied(d, 'load', value, k, half) or value
end

-- Returns a complex value of one that may be real.
local function complex(value)
    if dialect.is(value) or type(value) == 'number' then
        return { re = dialect.wrap(value, 'load'), im = dialect.wrap(0, 'load') }
    end
    return value
end

-- Returns an imaginary part, but 0 at point 0, where both numbers that make it are real: the
-- first and the middle one of a transform of real numbers.
local function none_at_first(value, k)
    return m.where(m.eq(input('point', 'int32', k), 0), 0, value)
end

local load = {}

function load.plain(d, k) return complex(element(d, k)) end

function load.pairs(d, k)
    local function part(index, name)
        return complex(element(d, index:format(k), { pair = k, part = name })).re
    end
    return { re = part('2 * (%s)', 're'), im = part('2 * (%s) + 1', 'im') }
end

function load.hermitian(d, k)
    local half = math.floor(d.load.length / 2)
    local is_low = ('(%s) <= %d'):format(k, half)
    local place = ('(%s ? (%s) : %d - (%s))'):format(is_low, k, d.load.length, k)
    local value = complex(element(d, place))
    return { re = value.re, im = m.where(input('is_low', 'bool', is_low), value.im, -value.im) }
end

-- Makes of x, the transform of 2 h real numbers, with the root w of 1 the points (x[k] + conj x[h
-- - k]) + i conj(w^k) (x[k] - conj x[h - k]).
function load.split(d, k)
    local a, b = complex(element(d, k)), complex(element(d, ('(%d - (%s))'):format(d.n, k)))
    local w = ends.root(d, 'halves', k)
    local a_im, b_im = none_at_first(a.im, k), none_at_first(b.im, k)
    local re, im = a.re - b.re, a_im + b_im
    local turned = { re = m.fma(w.re, re, w.im * im), im = m.fma(w.re, im, -(w.im * re)) }
    return { re = (a.re + b.re) - turned.im, im = (a_im - b_im) + turned.re }
end

local function swapped(value) return { re = value.im, im = value.re } end

-- Returns point k (a text) of the transform as trees { re, im }. An inverse transform is the
-- transform of values whose parts have changed places.
function ends.load(d, k)
    local value = load[d.load.kind](d, k)
    if d.is_inverse then value = swapped(value) end
    if d.convolution == 'bluestein' then
        value = butterflies.product(value, ends.root(d, 'chirp', k))
    end
    return value
end

-- ---- storing ----

-- Returns the text of a real number as one of the type that is stored: the nearest there is.
local function converted(w, type, value)
    if type.kind == 2 then return (w:values { value }) end
    local least = type.signed and -2 ^ (type.bits - 1) or 0
    local nearest = m.min(m.max(m.floor(value + 0.5), least), least + 2 ^ type.bits - 1)
    return ('(%s)(%s)'):format(type.stored, (w:values { nearest }))
end

local function write(w, d, k, value, half)
    local to, text = d.store, half and text_of_half(d, 'store', half)
    if text then return w:line('%s = %s;', text, (w:values { value })) end
    local at = (to.unit == 'axis' and 'out_at + %s' or 'out_at + (%s) * out_n'):format(k)
    if to.type.complex then
        local re, im = w:values { value.re, value.im }
        if to.type.name == 'complex_half' then
            return w:line('((MR_GLOBAL uint *)out)[%s] = mr_halves(%s, %s);', at, re, im)
        elseif to.is_last then
            return w:line('mr_store_last(out, %s, %s, %s);', at, re, im)
        end
        w:line('out[%s].re = %s;', at, re)
        w:line('out[%s].im = %s;', at, im)
    elseif to.type.name == 'half' then
        w:line('mr_half_store(out, %s, %s);', at, (w:values { value }))
    else
        w:line('out[%s] = %s;', at, converted(w, to.type, value))
    end
end

-- Stores what the script's function makes of number k, which is scaled. half: as of element
local function finish(w, d, k, value, half)
    local to = d.store
    if to.f then
        value = applied(d, 'store', value, k, half)
        value = to.type.complex and complex(value) or value
    end
    write(w, d, k, value, half)
end

-- Returns the root of 1 that belongs, in a part of a longer transform, to its point k. name: that
-- of a variable that it declares
function ends.root_behind(w, d, name, k)
    return ends.root_of(w, d, name, ('(int)(%s) * (%s)'):format(d.root_level, k))
end

-- Returns a root of 1 by its number, a text, as the product of two of the table. name: that of a
-- variable that it declares
function ends.root_of(w, d, name, number)
    w:line('int %s = (int)(%s);', name, number)
    local fine = ends.root(d, 'fine', ('(%s & %d)'):format(name, 2 ^ d.root_bits - 1))
    local coarse = ends.root(d, 'coarse', ('(%s >> %d)'):format(name, d.root_bits))
    return butterflies.product(fine, coarse)
end

local scale = input('scale', 'real', 'scale')

local store = {}

function store.plain(w, d, k, value, factor)
    factor = factor or scale
    finish(w, d, k, { re = value.re * factor, im = value.im * factor })
end

function store.half(w, d, k, value)
    w:open(('if (%s <= %d)'):format(k, math.floor(d.n / 2)))
    store.plain(w, d, k, value)
    w:close()
end

function store.real(w, d, k, value) finish(w, d, k, value.re * scale) end

function store.pairs(w, d, k, value)
    local function put(index, part)
        finish(w, d, index:format(k), value[part] * scale, { pair = k, part = part })
    end
    put('2 * (%s)', 're')
    put('2 * (%s) + 1', 'im')
end

-- Writes what becomes of point k, whose value is given as trees. root: nil, or what
-- ends.root_behind returns for it
function ends.store(w, d, k, value, root)
    if d.convolution == 'bluestein' then
        value = butterflies.product(value, ends.root(d, 'chirp', k))
    end
    if d.roots then
        value = butterflies.product(value, root or ends.root_behind(w, d, 'turn', k))
    end
    store[d.store.kind](w, d, k, d.is_inverse and swapped(value) or value)
end

-- Returns twice the numbers k and n - k of the transform of 2 n real numbers, of points k and n - k
-- of that of n pairs.
local function split(d, k, a, b)
    local root = ends.root(d, 'halves', k)
    local even = { re = a.re + b.re, im = a.im - b.im }
    local odd = butterflies.product({ re = a.im + b.im, im = b.re - a.re }, root)
    return { re = even.re + odd.re, im = even.im + odd.im },
        { re = even.re - odd.re, im = odd.im - even.im }
end

-- Returns these numbers, scaled.
function ends.split(d, k, a, b)
    local first, last = split(d, k, a, b)
    local half = scale * 0.5
    return { re = first.re * half, im = first.im * half },
        { re = last.re * half, im = last.im * half }
end

-- Writes these numbers. at_last: the text of n - k
function ends.store_split(w, d, k, a, b, at_last)
    local first, last = split(d, k, a, b)
    local half = scale * 0.5
    store.plain(w, d, k, first, half)
    store.plain(w, d, at_last, last, half)
end

-- Writes the middle one of an even number of these, of the point in the middle.
function ends.store_middle(w, d, k, value)
    store.plain(w, d, k, { re = value.re, im = -value.im })
end

return ends
