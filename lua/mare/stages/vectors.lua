-- How the points of a processor's tiles come out of an array and go back into it by whole vectors.
-- Of rows that are transformed side by side, as many numbers of each as a vector has elements are
-- loaded, and the square of them is turned in registers, so that numbers of all rows stand side by
-- side. Of columns, which are neighbours in the array, only the parts of numbers are to be parted.

local vectors = {}

-- Returns how many elements a vector has.
function vectors.count(real) return real == 'double' and 8 or 16 end

-- Points of a row up to which the next tile is asked for ahead: a processor finds by itself only
-- what long rows read next. 2^22 points by PoCL on AVX-512, processor time: rows of 16 take 3.8
-- instead of 7.3 ms, of 64 9.1 instead of 10.4, of 128 7.9 instead of 8.3.
local most_ahead = 128

-- Returns the head of a loop over `name` from 0 to below `count`, which becomes vectors. Those of
-- the prelude's loops have sixteen elements, which are two registers of doubles.
function vectors.loop(d, name, count)
    return ('%s(%s, %s)'):format(d.real == 'double' and 'MR_EIGHTS' or 'MR_LANES', name, count)
end

-- ---- which ends ----

-- Whether an end, d.load or d.store, is complex numbers as they are, or pairs of real ones.
local function is_simple(d, end_)
    local type = end_.kind == 'pairs' and d.real or 'complex_' .. d.real
    return not end_.f and end_.type.name == type and not end_.is_padded
        and d.convolution ~= 'bluestein' and d.convolution ~= 'filter'
end

-- Whether an end goes by whole vectors.
function vectors.takes(d, end_)
    if not is_simple(d, end_) or end_ == d.store and d.roots then return false end
    if end_.unit == 'inner' then return end_.kind == 'plain' and not d.convolution end
    return end_.unit == 'axis' and d.n >= vectors.count(d.real) / 2
        and (end_.kind == 'plain' or end_.kind == 'pairs'
            or end_ == d.store and end_.kind == 'split')
end

-- ---- functions of the kernel ----

-- Returns the numbers of the elements of a and b that a vector of n gets: of the first one of two
-- vectors that change every second run of `step` elements, or of the second one.
local function chosen(n, step, is_second)
    local list = {}
    for k = 0, n - 1 do
        local is_high = math.floor(k / step) % 2 == 1
        list[k + 1] = is_second and (is_high and n + k or k + step)
            or is_high and n + k - step or k
    end
    return table.concat(list, ', ')
end

-- Returns the numbers of n elements that lie two apart.
local function every_second(n, first)
    local list = {}
    for k = 0, n - 1 do list[k + 1] = 2 * k + first end
    return table.concat(list, ', ')
end

-- Writes what turns the square of v0, v1, ...: the four quarters of it, and of each quarter.
local function write_turn(w, n)
    local step = n / 2
    while step >= 1 do
        for k = 0, n - 1 do
            if math.floor(k / step) % 2 == 0 then
                w:line('TURN_%d(v%d, v%d)', step, k, k + step)
            end
        end
        step = step / 2
    end
end

local function write_macros(w, n)
    local step = n / 2
    while step >= 1 do
        w:line('#define TURN_%d(a, b) { mr_row t = a; \\', step)
        for _, name in ipairs { 'a', 'b' } do
            w:line('    %s = __builtin_shufflevector(t, b, \\', name)
            w:line('        %s); %s', chosen(n, step, name == 'b'), name == 'a' and '\\' or '}')
        end
        step = step / 2
    end
end

-- Returns the text of vector k of those that alternate between the parts.
local function part(k, n)
    return ('*(mr_part *)(%s + %d)'):format(k % 2 == 0 and 're' or 'im', math.floor(k / 2) * n)
end

local function write_row_load(w, d, n)
    w:open(('MR_FN void load_rows(real *re, real *im, const MR_GLOBAL real *from, mr_index apart, '
        .. '%s last)'):format(d.index))
    for k = 0, n - 1 do
        w:line('mr_row v%d = *(const MR_GLOBAL mr_part *)(from + mr_min(%d, last) * apart);', k, k)
    end
    for k = 0, d.n <= most_ahead and n - 1 or -1 do
        w:line('mr_prefetch(from + %d * apart);', n + k)
    end
    write_turn(w, n)
    for k = 0, n - 1 do w:line('%s = v%d;', part(k, n), k) end
    w:close()
end

local function write_row_store(w, d, n)
    w:open(('MR_FN void store_rows(MR_GLOBAL real *to, mr_index apart, %s last, real *re, '
        .. 'real *im, real scale)'):format(d.index))
    for k = 0, n - 1 do w:line('mr_row v%d = %s * scale;', k, part(k, n)) end
    write_turn(w, n)
    for k = 0, n - 1 do
        w:line('if (last >= %d) *(MR_GLOBAL mr_part *)(to + %d * apart) = v%d;', k, k, k)
    end
    w:close()
end

local function write_column_load(w, _, n)
    w:open 'MR_FN void load_columns(real *re, real *im, const MR_GLOBAL real *from)'
    w:line('mr_row v0 = *(const MR_GLOBAL mr_part *)from;')
    w:line('mr_row v1 = *(const MR_GLOBAL mr_part *)(from + %d);', n)
    w:line('mr_prefetch(from + %d);', 2 * n)        -- the columns of the next tile
    w:line('mr_prefetch(from + %d);', 3 * n)
    for k, name in ipairs { 're', 'im' } do
        w:line('*(mr_part *)%s = __builtin_shufflevector(v0, v1,', name)
        w:line('    %s);', every_second(n, k - 1))
    end
    w:close()
end

local function write_column_store(w, _, n)
    w:open 'MR_FN void store_columns(MR_GLOBAL real *to, real *re, real *im, real scale)'
    w:line 'mr_row v0 = *(mr_part *)re * scale, v1 = *(mr_part *)im * scale;'
    for half = 0, 1 do
        local list = {}
        for k = 0, n - 1 do
            list[k + 1] = half * n / 2 + math.floor(k / 2) + k % 2 * n
        end
        w:line('*(MR_GLOBAL mr_part *)(to + %d) = __builtin_shufflevector(v0, v1,', half * n)
        w:line('    %s);', table.concat(list, ', '))
    end
    w:close()
end

-- Writes a function that turns a square in private memory.
local function write_square(w, d, n)
    w:open 'MR_FN void turn_square(real *to, real *from)'
    for k = 0, n - 1 do w:line('mr_row v%d = *(mr_part *)(from + %d);', k, k * n) end
    write_turn(w, n)
    for k = 0, n - 1 do w:line('*(mr_part *)(to + %d) = v%d;', k * d.square, k) end
    w:close()
end

-- Writes what the text of a kernel needs in front.
function vectors.write_functions(w, d)
    local n, list = vectors.count(d.real), {}
    if d.real == 'double' then
        w:line '#define MR_EIGHTS(l, n) \\'
        w:line '    _Pragma("clang loop vectorize(enable) vectorize_width(8)") \\'
        w:line '    _Pragma("clang loop interleave(disable) unroll(disable)") \\'
        w:line '    for (int l = 0; l < (n); ++l)'
    end
    if d.square then
        list[1] = write_square
    elseif d.width > 1 then
        list[1] = vectors.takes(d, d.load)
            and (d.load.unit == 'axis' and write_row_load or write_column_load) or nil
        list[#list + 1] = vectors.takes(d, d.store)
            and (d.store.unit == 'axis' and write_row_store or write_column_store) or nil
    end
    if #list == 0 then return end
    w:line('typedef real mr_row __attribute__((ext_vector_type(%d)));', n)
    w:line('typedef real mr_part __attribute__((ext_vector_type(%d), aligned(sizeof(real))));', n)
    write_macros(w, n)
    for _, write in ipairs(list) do write(w, d, n) end
end

-- ---- calls ----

-- Writes a loop over pieces of rows of `count` complex numbers; the last piece may have some of the
-- numbers of the one before. body(): writes what is done with the piece from number k on
local function each_piece(w, d, count, body)
    local piece = d.width / 2
    w:open(('for (int piece = 0; piece < %d; ++piece)'):format(math.ceil(count / piece)))
    w:line('int k = mr_min(piece * %d, %d);', piece, count - piece)
    body()
    w:close()
end

-- Writes a loop over numbers k of all columns.
local function each_number(w, count, body)
    w:open(('for (int k = 0; k < %d; ++k)'):format(count))
    body()
    w:close()
end

-- Returns the arrays' texts from number k on, those of an inverse transform exchanged.
local function parts_of(d, arrays)
    local re, im, n = arrays.re, arrays.im, vectors.count(d.real)
    if d.is_inverse then re, im = im, re end
    return ('%s + k * %d'):format(re, n), ('%s + k * %d'):format(im, n)
end

-- Returns the texts of the address of number k of the first transform, and of how many real numbers
-- rows are apart.
local function address(name, end_, const)
    local is_row, is_pairs = end_.unit == 'axis', end_.kind == 'pairs'
    local number = is_row and (is_pairs and '2 * k' or 'k') or ('k * %s_n'):format(name)
    local first = is_row and ('first * %s_inner'):format(name) or 'first'
    return ('(%sMR_GLOBAL real *)(%s + %s_first + %s + %s)'):format(const, name, name, first,
        number),
        (is_pairs and '(mr_index)' or '2 * (mr_index)') .. name .. '_inner'
end

-- Writes the loading of all numbers of a tile into arrays { re, im }.
function vectors.write_load(w, d, arrays)
    local re, im = parts_of(d, arrays)
    local from, apart = address('in', d.load, 'const ')
    if d.load.unit == 'axis' then
        return each_piece(w, d, d.n, function()
            w:line('load_rows(%s, %s, %s, %s, count - 1);', re, im, from, apart)
        end)
    end
    each_number(w, d.n, function() w:line('load_columns(%s, %s, %s);', re, im, from) end)
end

-- Writes the storing of one number of all rows, which a piece of its own would take longer for.
local function write_number(w, re, im, to, apart, k, scale)
    w:open 'for (int l = 0; l < count; ++l)'
    w:line('int k = %d;', k)
    w:line('MR_GLOBAL real *to = %s + l * (%s);', to, apart)
    w:line('to[0] = (%s)[l] * %s;', re, scale)
    w:line('to[1] = (%s)[l] * %s;', im, scale)
    w:close()
end

-- Writes the storing of `count` numbers. scale: the text of what they are multiplied by
function vectors.write_store(w, d, arrays, count, scale)
    local re, im = parts_of(d, arrays)
    local to, apart = address('out', d.store, '')
    if d.store.unit ~= 'axis' then
        return each_number(w, count, function()
            w:line('store_columns(%s, %s, %s, %s);', to, re, im, scale)
        end)
    end
    local is_one_more = count % (d.width / 2) == 1
    each_piece(w, d, is_one_more and count - 1 or count, function()
        w:line('store_rows(%s, %s, count - 1, %s, %s, %s);', to, apart, re, im, scale)
    end)
    if is_one_more then write_number(w, re, im, to, apart, count - 1, scale) end
end

return vectors
