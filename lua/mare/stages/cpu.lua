-- The text of a transform's kernel for processors. A work-item takes a chunk of tiles; a tile is
-- d.width transforms side by side, which become the elements of vectors, or a single one. There are
-- no barriers: the points of a tile are in private memory, and each stage reads them from one pair
-- of arrays and writes them into the other (Stockham).
--
-- In a stage of radix r, m is the number of points of the transforms that are left for the stages
-- after it, and s the number of butterflies with the same roots. Butterfly q < s of those with the
-- roots p < m reads points (p + m k) s + q and writes points (p r + k) s + q, for k < r.

local butterflies = require 'mare.dialect.butterflies'
local ends = require 'mare.stages.ends'
local vectors = require 'mare.stages.vectors'
local points = require 'mare.stages.points'
local square = require 'mare.stages.square'
local writer = require 'mare.dialect.writer'

local cpu = {}

local vector = 16       -- least number of lanes that a loop makes vectors of

local loop = vectors.loop

-- ---- stages ----

-- Declares a variable of the kernel with a complex value. Returns it as a value.
local function declared(w, name, value)
    local re, im = w:values { value.re, value.im }
    w:line('real %s_re = %s, %s_im = %s;', name, re, name, im)
    return { re = points.real(name .. '_re'), im = points.real(name .. '_im') }
end

-- Returns how a stage reads points in private memory: get(at).
local function getter(arrays)
    return function(at) return points.get(arrays, at) end
end

-- Returns how a stage writes points in private memory: put(at, re, im), of texts.
local function putter(w, arrays)
    return function(at, re, im)
        w:line('%s[%s] = %s;', arrays.re, at, re)
        w:line('%s[%s] = %s;', arrays.im, at, im)
    end
end

-- Writes a butterfly of r points. get, put: as those of getter and putter; places: from(k) and
-- to(k), the texts of where point k stands before and after; roots: by k, what point k is
-- multiplied by, where that is not 1
local function butterfly(w, get, put, r, places, roots)
    local x = {}
    for k = 0, r - 1 do x[k + 1] = declared(w, 'x' .. k, get(places.from(k))) end
    local y, values = butterflies.transform(x, r), {}
    for k = 0, r - 1 do
        local v = y[k + 1]
        if roots[k] then v = butterflies.product(v, roots[k]) end
        values[2 * k + 1], values[2 * k + 2] = v.re, v.im
    end
    local texts = { w:values(values) }
    for k = 0, r - 1 do put(places.to(k), texts[2 * k + 1], texts[2 * k + 2]) end
end

-- Declares the roots of butterfly p, and returns them by the number of the point.
local function write_roots(w, d, section, r, m)
    local roots = {}
    for k = 1, m > 1 and r - 1 or 0 do
        roots[k] = declared(w, 'w' .. k, ends.root(d, section, ('%d + p'):format((k - 1) * m)))
    end
    return roots
end

-- Writes a stage in which neighbours with the same roots fill vectors.
local function write_wide(w, d, section, get, put, r, m, s)
    w:open(('for (int p = 0; p < %d; ++p)'):format(m))
    local roots = write_roots(w, d, section, r, m)
    w:open(loop(d, 'q', s))
    butterfly(w, get, put, r, {
        from = function(k) return ('(p + %d) * %d + q'):format(m * k, s) end,
        to = function(k) return ('(p * %d + %d) * %d + q'):format(r, k, s) end,
    }, roots)
    w:close()
    w:close()
end

-- Writes a stage with too few such neighbours: vectors are of all butterflies, t = p s + q.
local function write_narrow(w, d, section, get, put, r, m, s)
    w:open(loop(d, 't', m * s))
    w:line('int p = t / %d;', s)
    local roots = write_roots(w, d, section, r, m)
    butterfly(w, get, put, r, {
        from = function(k) return ('t + %d'):format(m * k * s) end,
        to = function(k) return ('t + p * %d + %d'):format((r - 1) * s, k * s) end,
    }, roots)
    w:close()
end

local a, b = { re = 'a_re', im = 'a_im' }, { re = 'b_re', im = 'b_im' }

-- Declares where the row of the tile is in an array. level: 'in' or 'out'
local function write_row(w, d, level)
    w:line('%s inner = first, %s_at = %s_first + inner * %s_inner;', d.index, level, level, level)
    w:line('%s batch = %s;', d.index, d.batch or 'inner + rest * inners')
end

local least_merged = 2 ^ 15     -- bytes of a row whose ends are merged with stages

-- Whether stages load and store an end of rows that are larger than the first cache, where a loop
-- more takes as long as a stage. Functions of scripts would be written out for each point of a
-- butterfly.
local function is_merged(d, own)
    return d.width == 1 and not d.convolution and not own.f and #d.radices > 1
        and 2 * d.points * (d.real == 'double' and 8 or 4) >= least_merged
end

local function loads_first(d) return is_merged(d, d.load) end

local function stores_last(d)
    local kind = d.store.kind
    return is_merged(d, d.store) and (kind == 'plain' or kind == 'real' or kind == 'pairs')
end

-- Returns how the first stage reads points: get(at).
local function loader(w, d)
    write_row(w, d, 'in')
    return function(at) return ends.load(d, ('(%s)'):format(at)) end
end

-- Returns how the last stage writes numbers: put(at, re, im).
local function storer(w, d)
    write_row(w, d, 'out')
    return function(at, re, im)
        w:open '/* a number */'
        w:line('real y_re = %s, y_im = %s;', re, im)
        ends.store(w, d, ('(%s)'):format(at), { re = points.real 'y_re', im = points.real 'y_im' })
        w:close()
    end
end

-- Writes a transform of all points. Returns the arrays that they are in then, and the others.
-- is_alone: whether the ends of the array belong to it
local function write_stages(w, d, prefix, radices, from, to, is_alone)
    local left, s = d.points, d.width
    for stage, r in ipairs(radices) do
        local m = left / r
        local write = (s >= vector or m == 1) and write_wide or write_narrow
        w:open '/* a stage */'
        local get = is_alone and stage == 1 and loads_first(d) and loader(w, d) or getter(from)
        local put = is_alone and stage == #radices and stores_last(d) and storer(w, d)
            or putter(w, to)
        write(w, d, prefix .. stage, get, put, r, m, s)
        w:close()
        from, to, left, s = to, from, m, s * r
    end
    return from, to
end

-- Writes a transform of all points by stages or as a square; see write_stages.
local function write_transform(w, d, prefix, radices, from, to, is_alone)
    if d.square then return square.write(w, d, from, to, write_stages) end
    return write_stages(w, d, prefix, radices, from, to, is_alone)
end

-- ---- loops over the points of a tile ----

-- Writes a loop over the first `count` points of all transforms of the tile, in the order in which
-- they lie in the array that they come from (name: 'from') or go to ('to'). body(at) writes what is
-- done with point k, which stands at `at` in private memory.
local function each(w, d, name, count, unit, body)
    local level = name == 'from' and 'in' or 'out'
    local function open_inners(head)
        w:open(head)
        w:line('%s inner = first + l, %s_at = %s_first + inner * %s;', d.index, level, level,
            unit == 'inner' and '1' or level .. '_inner')
        w:line('%s batch = %s;', d.index, d.batch or 'inner + rest * inners')
    end
    w:open(('/* points %s the array */'):format(name))
    if d.width == 1 then
        write_row(w, d, level)
        w:open(loop(d, 'k', count))
        body 'k'
        w:close()
    elseif unit == 'axis' then
        open_inners('for (int l = 0; l < count; ++l)')
        w:open(loop(d, 'k', count))
        body(('k * %d + l'):format(d.width))
        w:close()
        w:close()
    else
        w:open(('for (int k = 0; k < %s; ++k)'):format(count))
        open_inners(loop(d, 'l', 'count'))
        body(('k * %d + l'):format(d.width))
        w:close()
        w:close()
    end
    w:close()
end

-- Writes a loop over the points from `first` on of all transforms of the tile.
local function write_all(w, d, first, body)
    w:open(loop(d, 'at', (d.points - first) * d.width))
    body(first > 0 and ('at + %d'):format(first * d.width) or 'at')
    w:close()
end

-- ---- convolutions ----

local zero = { re = 0, im = 0 }

-- Writes a loop that copies all points but one of a tile of transforms of prime length from one
-- pair of arrays to another. table: where numbers j of points k begin; from_name, to_name: by which
-- of both, 'j' or 'k', they stand in these
local function write_moves(w, d, from, to, table, from_name, to_name)
    w:open(('for (int k = 0; k < %d; ++k)'):format(d.n - 1))
    w:line('int j = (int)w[%d + k];', table)
    w:open(loop(d, 'l', d.width))
    points.set(w, to, ('%s * %d + l'):format(to_name, d.width),
        points.get(from, ('%s * %d + l'):format(from_name, d.width)))
    w:close()
    w:close()
end

local function write_wide_load(w, d)
    if d.convolution ~= 'rader' then return vectors.write_load(w, d, a) end
    vectors.write_load(w, d, b)
    write_moves(w, d, b, a, d.tables.places.at, 'j', 'k')
end

local function write_plain_load(w, d)
    if d.convolution == 'rader' then
        each(w, d, 'from', d.n - 1, d.load.unit, function(at)
            w:line('int j = (int)w[%d + k];', d.tables.places.at)
            points.set(w, a, at, ends.load(d, 'j'))
        end)
    else
        each(w, d, 'from', d.n, d.load.unit, function(at)
            points.set(w, a, at, ends.load(d, 'k'))
        end)
        if d.points > d.n then
            write_all(w, d, d.n, function(at) points.set(w, a, at, zero) end)
        end
    end
end

-- Writes an end of a tile: by whole vectors where the tile has as many columns, or by rows.
local function write_either(w, d, end_, by_vectors, plainly)
    if d.width == 1 or not vectors.takes(d, end_) then return plainly() end
    if end_.unit == 'axis' then return by_vectors() end
    w:open(('if (count == %d)'):format(d.width))
    by_vectors()
    w:close()
    w:open 'else'
    plainly()
    w:close()
end

local function write_load(w, d)
    write_either(w, d, d.load, function() write_wide_load(w, d) end,
        function() write_plain_load(w, d) end)
end

-- Writes what the script's function makes of all numbers.
local function write_filter(w, d, from, to)
    each(w, d, 'within', d.n, 'inner', function(at)
        local value = ends.filtered(d, 'k', points.get(from, at))
        points.set(w, to, at, value)
        ends.store_aside(w, d, 'k', points.get(to, at))
    end)
end

-- Multiplies by the transform of what is convolved with.
local function write_product(w, d, from, to)
    if d.convolution == 'filter' then return write_filter(w, d, from, to) end
    local is_one = d.width == 1
    w:open(is_one and loop(d, 'k', d.points) or ('for (int k = 0; k < %d; ++k)'):format(d.points))
    local root = declared(w, 'c', ends.root(d, 'convolver', 'k'))
    if not is_one then w:open(loop(d, 'l', d.width)) end
    local at = is_one and 'k' or ('k * %d + l'):format(d.width)
    points.set(w, to, at, butterflies.product(points.get(from, at), root))
    if not is_one then w:close() end
    w:close()
end

local sums = { re = 'c_re', im = 'c_im' }

-- Point 0 of a transform of prime length is the sum of all values: of the first one and of the
-- others, which is point 0 of their transform.
local function write_first(w, d, arrays)
    w:line('real c_re[%d], c_im[%d];', d.width, d.width)
    each(w, d, 'from', 1, d.load.unit, function(at)
        local x = declared(w, 'x', ends.load(d, 'k'))
        local v = points.get(arrays, at)
        points.set(w, sums, at, { re = v.re + x.re, im = v.im + x.im })
    end)
end

-- Adds the first value to point 0 of the product, and so to all points of the convolution.
local function write_offset(w, d, arrays)
    each(w, d, 'from', 1, d.load.unit, function(at)
        local x, v = declared(w, 'x', ends.load(d, 'k')), points.get(arrays, at)
        points.set(w, arrays, at, { re = v.re + x.re, im = v.im + x.im })
    end)
end

local function write_convolution(w, d, from, to)
    if d.convolution == 'rader' then write_first(w, d, from) end
    write_product(w, d, from, to)
    if d.convolution == 'rader' then write_offset(w, d, to) end
    -- With real and imaginary parts exchanged a transform is an inverse one.
    local arrays, others = write_transform(w, d, 'back', d.radices_back, { re = to.im, im = to.re },
        { re = from.im, im = from.re })
    return { re = arrays.im, im = arrays.re }, { re = others.im, im = others.re }
end

-- ---- storing ----

-- Writes numbers k and n - k of points `at` and `last`.
local function write_pair(w, d, arrays, at, last)
    local x = declared(w, 'x', points.get(arrays, at))
    local y = declared(w, 'y', points.get(arrays, last))
    ends.store_split(w, d, 'k', x, y, ('(%d - k)'):format(d.n))
end

-- Point 0 of a row comes by itself, so that the loop reads points one behind the other.
local function write_split_row(w, d, arrays)
    w:open '/* numbers of the row */'
    write_row(w, d, 'out')
    w:open '/* the first and the last one */'
    w:line 'int k = 0;'
    write_pair(w, d, arrays, '0', '0')
    w:close()
    w:open(loop(d, 'e', math.floor(d.n / 2)))
    w:line 'int k = e + 1;'
    write_pair(w, d, arrays, 'k', ('%d - k'):format(d.n))
    w:close()
    w:close()
end

local function write_split(w, d, arrays)
    if d.width == 1 then return write_split_row(w, d, arrays) end
    each(w, d, 'to', math.floor(d.n / 2) + 1, d.store.unit, function(at)
        write_pair(w, d, arrays, at, ('(k == 0 ? 0 : %d - k) * %d + l'):format(d.n, d.width))
    end)
end

-- Writes the numbers 0 to n of a tile of transforms of real numbers into arrays.
local function write_split_beside(w, d, from, to)
    local function at(k) return ('%s * %d + l'):format(k, d.width) end
    w:open(('for (int k = 0; k <= %d; ++k)'):format(math.floor(d.n / 2)))
    w:open(loop(d, 'l', d.width))
    local x = declared(w, 'x', points.get(from, at 'k'))
    local y = declared(w, 'y', points.get(from, at(('(k == 0 ? 0 : %d - k)'):format(d.n))))
    local first, last = ends.split(d, 'k', x, y)
    points.set(w, to, at 'k', first)
    points.set(w, to, at(('(%d - k)'):format(d.n)), last)
    w:close()
    w:close()
end

-- Writes the storing of a tile by vectors. others: the arrays that are free
local function write_wide_store(w, d, arrays, others)
    if d.store.kind == 'split' then
        write_split_beside(w, d, arrays, others)
        return vectors.write_store(w, d, others, d.n + 1, 'R(1.0)')
    elseif d.convolution ~= 'rader' then
        return vectors.write_store(w, d, arrays, d.n, 'scale')
    end
    w:open(loop(d, 'l', d.width))
    points.set(w, others, 'l', points.get(sums, 'l'))
    w:close()
    write_moves(w, d, arrays, others, d.tables.places.at + d.tables.places.count, 'k', 'j')
    vectors.write_store(w, d, others, d.n, 'scale')
end

local function write_plain_store(w, d, arrays)
    if d.store.kind == 'split' then return write_split(w, d, arrays) end
    if d.convolution == 'rader' then
        each(w, d, 'to', 1, d.store.unit, function(at)
            ends.store(w, d, 'k', points.get(sums, at))
        end)
        each(w, d, 'to', d.n - 1, d.store.unit, function(at)
            w:line('int j = (int)w[%d + k];', d.tables.places.at + d.tables.places.count)
            ends.store(w, d, 'j', points.get(arrays, at))
        end)
    else
        each(w, d, 'to', d.n, d.store.unit, function(at)
            ends.store(w, d, 'k', points.get(arrays, at))
        end)
    end
end

local function write_store(w, d, arrays, others)
    write_either(w, d, d.store, function() write_wide_store(w, d, arrays, others) end,
        function() write_plain_store(w, d, arrays) end)
end

-- ---- the kernel ----

-- Returns the text of the kernel that d (see kernels.lua) describes.
function cpu.text(d)
    local w = writer.new()
    vectors.write_functions(w, d)
    w:line 'MR_KERNEL'
    w:open(('void transform(%s)'):format(ends.arguments(d)))
    for _, name in ipairs { 'a', 'b' } do
        local size = math.max(d.points, d.n + 1) * d.width
        w:line('MR_ALIGNED(64) real %s_re[%d], %s_im[%d];', name, size, name, size)
    end
    if d.square then square.write_memory(w, d) end
    w:line('%s begin = (%s)mr_gid_x() * chunk;', d.index, d.index)
    w:line('%s end = mr_min(begin + chunk, tiles);', d.index)
    w:line('%s across = (inners + %d) / %d;', d.index, d.width - 1, d.width)
    w:open(('for (%s tile = begin; tile < end; ++tile)'):format(d.index))
    w:line('%s rest = tile / across, mid = rest %% mids, outer = rest / mids;', d.index)
    w:line('%s first = (tile - rest * across) * %d;', d.index, d.width)
    if d.width > 1 then
        w:line('int count = (int)mr_min((%s)%d, inners - first);', d.index, d.width)
    end
    for _, end_ in ipairs { 'in', 'out' } do
        w:line('%s %s_first = %s_0 + mid * %s_mid + outer * %s_outer;', d.index, end_, end_, end_,
            end_)
    end
    if not loads_first(d) then write_load(w, d) end
    local from, to = write_transform(w, d, 'stage', d.radices, a, b, true)
    if d.convolution then from, to = write_convolution(w, d, from, to) end
    if not stores_last(d) then write_store(w, d, from, to) end
    w:close()
    w:close()
    return w:text()
end

return cpu
