-- A long row of a convolution on a processor as a square: point j of n = rows times columns is
-- point (j / columns, j % columns). Columns are transformed side by side, as many as a vector has,
-- multiplied by roots of one and turned; then the rows, which are columns now. What is at work fits
-- the first cache, and the row goes through the second one twice instead of once a stage. PoCL on
-- AVX-512, rows of 10007 points: 47 -> 33 ms of processor time for 2^22 points.

local butterflies = require 'mare.dialect.butterflies'
local ends = require 'mare.stages.ends'
local points = require 'mare.stages.points'
local vectors = require 'mare.stages.vectors'

local square = {}

local least = 2 ^ 12    -- points of a row from which on it is a square

-- Returns how many rows the square of n points has, no more than columns, both multiples of the
-- elements of a vector; nil if there is none. Of floats: doubles, by PoCL on AVX-512, take longer.
function square.rows_of(n, real)
    local width = vectors.count(real)
    if real ~= 'float' or n < least or n % (width * width) ~= 0 then return nil end
    local units, rows = n / width / width, 1
    for k = 1, math.floor(math.sqrt(units)) do
        if units % k == 0 then rows = k end
    end
    return rows * width
end

-- Returns the description of the transforms side by side of one dimension.
local function of_dimension(d, n)
    return { points = n, width = vectors.count(d.real), real = d.real, tables = d.tables,
        is_cpu = true }
end

local c, e = { re = 'c_re', im = 'c_im' }, { re = 'e_re', im = 'e_im' }

-- Declares the memory of transforms side by side.
function square.write_memory(w, d)
    local size = math.max(d.square, d.points / d.square) * vectors.count(d.real)
    for _, arrays in ipairs { c, e } do
        w:line('MR_ALIGNED(64) real %s[%d], %s[%d];', arrays.re, size, arrays.im, size)
    end
end

-- Writes a loop over all n points of the transforms side by side: body(at) writes what is done with
-- point k of transform l, which is at `at`.
local function each(w, d, n, body)
    local width = vectors.count(d.real)
    w:open(('for (int k = 0; k < %d; ++k)'):format(n))
    w:open(vectors.loop(d, 'l', width))
    body(('k * %d + l'):format(width))
    w:close()
    w:close()
end

-- Writes the transforms of n points each along one dimension, which are `apart` in the arrays
-- `from`. put(arrays): writes where they go
local function write_dimension(w, d, name, n, apart, from, write_stages, put)
    local place = ('k * %d + line + l'):format(apart)
    w:open(('for (int line = 0; line < %d; line += %d)'):format(apart, vectors.count(d.real)))
    each(w, d, n, function(at) points.set(w, c, at, points.get(from, place)) end)
    put(write_stages(w, of_dimension(d, n), name, d[name .. '_radices'], c, e), place)
    w:close()
end

-- Writes the multiplication of columns by roots, and how they become rows.
local function write_turned(w, d, arrays, to, rows, columns)
    each(w, d, rows, function(at)
        local root = ends.root(d, 'square', ('k * %d + line + l'):format(columns))
        points.set(w, arrays, at, butterflies.product(points.get(arrays, at), root))
    end)
    local width = vectors.count(d.real)
    w:open(('for (int k = 0; k < %d; k += %d)'):format(rows, width))
    for _, part in ipairs { 're', 'im' } do
        w:line('turn_square(%s + line * %d + k, %s + k * %d);', to[part], rows, arrays[part],
            width)
    end
    w:close()
end

-- Writes the transform of all points, which are in `from` and stay there; `to` is overwritten.
-- Returns both. write_stages: that of cpu.lua
function square.write(w, d, from, to, write_stages)
    local rows, columns = d.square, d.points / d.square
    write_dimension(w, d, 'columns', rows, columns, from, write_stages, function(arrays)
        write_turned(w, d, arrays, to, rows, columns)
    end)
    write_dimension(w, d, 'rows', columns, rows, to, write_stages, function(arrays, place)
        each(w, d, columns, function(at) points.set(w, from, place, points.get(arrays, at)) end)
    end)
    return from, to
end

return square
