-- Writes the kernels that reduce the values of an expression along axes. The order
-- of a reduction is that of the elements' numbers along the reduced axes, whatever
-- the device, its groups and the strides:
--
--     'rows'     blocks of 16384 elements; in a block 1024 lanes, each of which takes
--                every 1024th element one after the other; then lanes l and l + 512,
--                l and l + 256, ... become one
--     'columns'  runs of 64 elements one after the other, each result by one
--                work-item: where the last axis stays, or there are no more than 64
--     'stacks'   columns and then the results of 64 runs, by a group: the same order
--
-- and then the results of the blocks, or runs, in the same way. Several reductions of
-- the same values are one kernel, which gives the names of each its number.
--
-- A compensated sum also adds what each addition rounds away (Knuth's two-sum), and is
-- followed by a reduction `rest`, whose results are these.

local tables = require 'bindings.tables'
local text = require 'mare.expression.text'
local tree = require 'mare.expression.tree'
local types = require 'mare.expression.types'
local writer = require 'mare.dialect.writer'

-- in_groups: whether groups reduce, as on a GPU. nil: unless the device is a processor; for tests
local reduce_text = { block = 16384, lanes = 1024, run = 64, stack = 64 * 64, in_groups = nil }

local group = 256           -- work-items of a group on a GPU
local abreast = 32          -- results of a group that takes stacks
local at_once = 8           -- elements that a work-item loads before it combines them
local columns = 256         -- results that a work-item on a CPU computes together,
local most_span = 8         -- and at most so many of these, along one row after the other

-- ---- combinations of two values ----

-- What each returns for a and b, or for an extreme how the wanted one compares with the other.
local combinations = {
    sum = 'a + b', product = 'a * b', any = 'a | b', all = 'a & b', least = '<=', greatest = '>=',
}

-- Returns the type of the values that reduction k combines.
local function held(k, reduction)
    local written = tree.written(reduction.type)
    return reduction.name == 'compensated' and ('sum%d'):format(k) or written
end

-- Writes the type of a compensated sum and the function that adds two.
local function write_compensated(w, k, written)
    w:line('typedef struct sum%d { %s high, low; } sum%d;', k, written, k)
    w:open(('MR_FN sum%d combine%d(sum%d a, sum%d b)'):format(k, k, k, k))
    w:line('sum%d all;', k)
    w:line 'all.high = a.high + b.high;'
    w:line('%s given = all.high - a.high;', written)
    w:line 'all.low = (a.high - (all.high - given)) + (b.high - given) + (a.low + b.low);'
    w:line 'if (all.high - all.high != 0) all.low = 0;       /* infinite, or NaN */'
    w:line 'return all;'
    w:close()
end

-- Writes the function that combines two values of reduction k. A NaN stays.
local function write_combine(w, k, name, type)
    local written = tree.written(type)
    if name == 'rest' then return end
    if name == 'compensated' then return write_compensated(w, k, written) end
    w:open(('MR_FN %s combine%d(%s a, %s b)'):format(written, k, written, written), { 'a', 'b' })
    if name == 'least' or name == 'greatest' then
        w:line('return %sa %s b ? a : b;', type.kind == 2 and 'a != a || ' or '',
            combinations[name])
    else
        w:line('return %s;', combinations[name])
    end
    w:close()
end

-- Writes a line for each reduction, where @ is its number and T its type.
local function each(w, desc, line)
    for k, reduction in ipairs(desc.reductions) do
        if reduction.name ~= 'rest' then
            w:line('%s', (line:gsub('@', k):gsub('%f[%w]T%f[%W]', held(k, reduction))))
        end
    end
end

-- ---- elements ----

local function place(k, desc)
    local list = { ('p%d_0'):format(k) }
    for d = 1, desc.kept do list[#list + 1] = ('i%d * p%d_%d'):format(d, k, d) end
    for d = 1, desc.reduced do list[#list + 1] = ('j%d * p%d_%d'):format(d, k, desc.kept + d) end
    if desc.is_unit == true then list[#list] = 'j1' end
    if type(desc.is_unit) == 'string' then
        list[2] = desc.is_unit:byte(k) == 49 and 'i1' or '0'
    end
    return table.concat(list, ' + ')
end

-- Writes the lines that give i1, i2, ... from a number `from`, the sizes of the axes
-- being n1, n2, ... or r1, r2, ...
local function write_places(w, count, index, name, size, from)
    if count > 1 then w:line('%s %s_rest = %s;', index, name, from) end
    for d = 1, count - 1 do
        w:line('%s %s%d = %s_rest %% %s%d;', index, name, d, name, size, d)
        w:line('%s_rest /= %s%d;', name, size, d)
    end
    w:line('%s %s%d = %s;', index, name, count, count > 1 and name .. '_rest' or from)
end

-- Writes the lines that declare value1, ...: element number `number` along the reduced
-- axes, converted to the types of the results.
local function write_element(w, plan, desc, index, number)
    write_places(w, desc.reduced, index, 'j', 'r', number)
    local places = {}
    for k in ipairs(plan.leaves) do places[k] = place(k, desc) end
    text.write_operands(w, plan, places)
    for k, reduction in ipairs(desc.reductions) do
        if plan.types[1] == types.bool and reduction.type == types.bool then
            w:line('int value%d = y1;', k)
        elseif reduction.name == 'compensated' then
            w:line('sum%d value%d = { (%s)y1, 0 };', k, k, tree.written(reduction.type))
        elseif reduction.name ~= 'rest' then
            local written = tree.written(reduction.type)
            w:line('%s value%d = (%s)y1;', written, k, written)
        end
    end
end

-- ---- kernels ----

-- Whether a work-item computes several results: of columns on a CPU.
local function has_span(desc) return desc.is_cpu and desc.scheme ~= 'rows' end

local function arguments_of(plan, desc, index)
    local list = text.arguments(plan, tables.column(desc.reductions, 'type'))
    list[#list + 1] = index .. ' results'
    list[#list + 1] = index .. ' count'
    list[#list + 1] = index .. ' blocks'
    if has_span(desc) then list[#list + 1] = 'int span' end
    for d = 1, desc.kept do list[#list + 1] = ('%s n%d'):format(index, d) end
    for d = 1, desc.reduced do list[#list + 1] = ('%s r%d'):format(index, d) end
    for k in ipairs(plan.leaves) do
        for d = 0, desc.kept + desc.reduced do
            list[#list + 1] = ('%s p%d_%d'):format(index, k, d)
        end
    end
    return list
end

-- Stores the results of all reductions, which are in `name` and a number.
local function write_results(w, desc, name, at)
    local parts = { compensated = '.high', rest = '.low' }
    for k, reduction in ipairs(desc.reductions) do
        local value = name:gsub('@', reduction.name == 'rest' and k - 1 or k)
        w:line('%s z%d = %s%s;', tree.written(reduction.type), k, value,
            parts[reduction.name] or '')
        text.write_store(w, reduction.type, 'out' .. k, at, 'z' .. k)
    end
end

-- Writes that a work-item takes its elements of a row of lanes. In a loop over lanes, whose number
-- the compiler knows, all loads go ahead of what needs them.
local function write_lanes_of_item(w, plan, desc, index, guard)
    w:open(('MR_LANES(l, %d)'):format(reduce_text.lanes / group))
    if guard then w:open(('if (k + me + l * %d < n)'):format(group)) end
    write_element(w, plan, desc, index, ('(first + k + me + l * %d)'):format(group))
    each(w, desc, 'all@[l] = k == 0 ? value@ : combine@(all@[l], value@);')
    if guard then w:close() end
    w:close()
end

-- A work-item's own lanes, l and l + 512, then l and l + 256, become one without the others.
local function write_rows_on_gpu(w, plan, desc, index)
    local lanes, own = reduce_text.lanes, reduce_text.lanes / group
    each(w, desc, ('MR_LOCAL T lanes@[%d];'):format(group))
    w:line('int me = mr_lid_x(), k = 0, n = count - first < %d ? (int)(count - first) : %d;',
        reduce_text.block, reduce_text.block)
    each(w, desc, ('T all@[%d];'):format(own))
    w:line 'MR_UNROLL(2)'
    w:open(('for (; k + %d <= n; k += %d)'):format(lanes, lanes))
    write_lanes_of_item(w, plan, desc, index)
    w:close()
    write_lanes_of_item(w, plan, desc, index, true)
    local step = own / 2
    while step >= 1 do
        w:open(('MR_LANES(l, %d)'):format(step))
        each(w, desc, ('if (me + (l + %d) * %d < n) all@[l] = combine@(all@[l], all@[l + %d]);')
            :format(step, group, step))
        w:close()
        step = step / 2
    end
    each(w, desc, 'if (me < n) lanes@[me] = all@[0];')
    w:line 'MR_BARRIER();'
    w:open(('for (int step = %d; step > 0; step /= 2)'):format(group / 2))
    w:open 'if (me < step && me + step < n)'
    each(w, desc, 'lanes@[me] = combine@(lanes@[me], lanes@[me + step]);')
    w:close()
    w:line 'MR_BARRIER();'
    w:close()
    w:open 'if (me == 0)'
    write_results(w, desc, 'lanes@[0]', 'result * blocks + block')
    w:close()
end

-- Writes that a lane takes element k + l.
local function write_lane(w, plan, desc, index)
    write_element(w, plan, desc, index, '(first + k + l)')
    each(w, desc, 'lanes@[l] = k == 0 ? value@ : combine@(lanes@[l], value@);')
end

-- Loops over a number of lanes that the compiler knows become vectors: a sum takes a sixth of the
-- time.
local function write_rows_on_cpu(w, plan, desc, index)
    local lanes, vector = reduce_text.lanes, 16
    each(w, desc, ('T lanes@[%d];'):format(lanes))
    w:line('int k = 0, step = %d, n = count - first < %d ? (int)(count - first) : %d;', lanes / 2,
        reduce_text.block, reduce_text.block)
    w:open(('for (; k + %d <= n; k += %d)'):format(lanes, lanes))
    w:open(('MR_LANES(l, %d)'):format(lanes))
    write_lane(w, plan, desc, index)
    w:close()
    w:close()
    w:open 'for (int l = 0; k + l < n; ++l)'
    write_lane(w, plan, desc, index)
    w:close()
    w:open(('for (; n >= %d && step >= %d; step /= 2)'):format(lanes, vector))
    w:open(('for (int m = 0; m < step; m += %d)'):format(vector))
    w:open(('MR_LANES(l, %d)'):format(vector))
    each(w, desc, 'lanes@[m + l] = combine@(lanes@[m + l], lanes@[m + l + step]);')
    w:close()
    w:close()
    w:close()
    w:open 'for (; step > 0; step /= 2)'
    w:open 'for (int l = 0; l < step && l + step < n; ++l)'
    each(w, desc, 'lanes@[l] = combine@(lanes@[l], lanes@[l + step]);')
    w:close()
    w:close()
    write_results(w, desc, 'lanes@[0]', 'result * blocks + block')
end

-- Global size: a group, or on a CPU a work-item, for each block of each result.
local function write_rows(w, plan, desc, index)
    w:line('%s at = %s;', index, desc.is_cpu and 'mr_gid_x()' or 'mr_group_x()')
    w:line('%s result = at / blocks, block = at - result * blocks;', index)
    w:line('%s first = block * %d;', index, reduce_text.block)
    write_places(w, desc.kept, index, 'i', 'n', 'result')
    local write = desc.is_cpu and write_rows_on_cpu or write_rows_on_gpu
    write(w, plan, desc, index)
end

-- Writes that all[l] becomes the value of result begin + l, of `wide` ones, from element `first` to
-- before `stop`. Rows are read along their memory: one after the other took half as long.
local function write_wide_run(w, plan, desc, index)
    each(w, desc, ('T all@[%d];'):format(columns * most_span))
    local function take(at)
        write_places(w, desc.kept, index, 'i', 'n', ('(begin + %s)'):format(at))
        write_element(w, plan, desc, index, 'k')
        each(w, desc, ('all@[%s] = k == first ? value@ : combine@(all@[%s], value@);'):format(at,
            at))
        w:close()
    end
    w:open(('for (%s k = first; k < stop; ++k)'):format(index))
    w:line 'int m = 0;'
    w:open(('for (; m + %d <= wide; m += %d)'):format(columns, columns))
    w:open(('MR_LANES(l, %d)'):format(columns))
    take 'm + l'
    w:close()
    w:open 'for (; m < wide; ++m)'
    take 'm'
    w:close()
end

local function write_columns_on_cpu(w, plan, desc, index)
    write_wide_run(w, plan, desc, index)
    w:open 'MR_LANES(l, wide)'
    write_results(w, desc, 'all@[l]', 'block * results + begin + l')
    w:close()
end

-- As columns; the results of its runs are combined in `total`.
local function write_stacks_on_cpu(w, plan, desc, index)
    local run = reduce_text.run
    each(w, desc, ('T total@[%d];'):format(columns * most_span))
    w:line('%s low = first, high = stop;', index)
    w:open(('for (; first < high; first += %d)'):format(run))
    w:line('stop = first + %d < high ? first + %d : high;', run, run)
    write_wide_run(w, plan, desc, index)
    w:open 'MR_LANES(l, wide)'
    each(w, desc, 'total@[l] = first == low ? all@[l] : combine@(total@[l], all@[l]);')
    w:close()
    w:close()
    w:open 'MR_LANES(l, wide)'
    write_results(w, desc, 'total@[l]', 'block * results + begin + l')
    w:close()
end

local function write_columns_on_gpu(w, plan, desc, index)
    w:line('%s result = mr_gid_x();', index)
    w:open 'if (result < results)'
    write_places(w, desc.kept, index, 'i', 'n', 'result')
    each(w, desc, 'T all@ = { 0 };')
    w:open(('for (%s k = first; k < stop; ++k)'):format(index))
    write_element(w, plan, desc, index, 'k')
    each(w, desc, 'all@ = k == first ? value@ : combine@(all@, value@);')
    w:close()
    write_results(w, desc, 'all@', 'block * results + result')
    w:close()
end

-- Global size: the results along x, on a CPU `span` of them for each work-item; the
-- runs, or stacks of them, along y.
local function write_columns(w, plan, desc, index)
    local length = reduce_text[desc.scheme == 'stacks' and 'stack' or 'run']
    w:open(('for (%s block = mr_gid_y(); block < blocks; '
        .. 'block += mr_groups_y() * mr_group_size_y())'):format(index))
    w:line('%s first = block * %d;', index, length)
    w:line('%s stop = first + %d < count ? first + %d : count;', index, length, length)
    if desc.is_cpu then
        w:line('%s begin = (%s)mr_gid_x() * span;', index, index)
        w:line 'int wide = results - begin < span ? (int)(results - begin) : span;'
    end
    local write = desc.scheme == 'stacks' and write_stacks_on_cpu
        or desc.is_cpu and write_columns_on_cpu or write_columns_on_gpu
    write(w, plan, desc, index)
    w:close()
end

-- Writes that `all` becomes the value of a run from `begin` to before `stop`.
local function write_run(w, plan, desc, index)
    each(w, desc, 'T all@ = { 0 };')
    w:line('%s k = begin;', index)
    w:open(('for (; k + %d <= stop; k += %d)'):format(at_once, at_once))
    each(w, desc, ('T next@[%d];'):format(at_once))
    w:open(('MR_LANES(l, %d)'):format(at_once))
    write_element(w, plan, desc, index, '(k + l)')
    each(w, desc, 'next@[l] = value@;')
    w:close()
    w:open(('MR_LANES(l, %d)'):format(at_once))
    each(w, desc, 'all@ = k + l == begin ? next@[l] : combine@(all@, next@[l]);')
    w:close()
    w:close()
    w:line 'MR_UNROLL(1)'
    w:open 'for (; k < stop; ++k)'
    write_element(w, plan, desc, index, 'k')
    each(w, desc, 'all@ = k == begin ? value@ : combine@(all@, value@);')
    w:close()
end

-- Global size: a group for each stack of 32 results. Its warps take runs in turn, of which the
-- first one combines the results.
local function write_stacks_on_gpu(w, plan, desc, index)
    local run, stack, teams = reduce_text.run, reduce_text.stack, group / abreast
    each(w, desc, ('MR_LOCAL T runs@[%d];'):format(stack / run * abreast))
    w:line('int lane = mr_lid_x() %% %d, team = mr_lid_x() / %d;', abreast, abreast)
    w:line('%s across = (results + %d) / %d, block = mr_group_x() / across;', index, abreast - 1,
        abreast)
    w:line('%s result = (mr_group_x() - block * across) * %d + lane;', index, abreast)
    w:line('%s first = block * %d;', index, stack)
    w:line('%s last = first + %d < count ? first + %d : count;', index, stack, stack)
    w:line('int n = (int)(last - first + %d) / %d;', run - 1, run)
    w:line 'bool is_result = result < results;'
    write_places(w, desc.kept, index, 'i', 'n', '(is_result ? result : 0)')
    w:open(('for (int j = team; j < n; j += %d)'):format(teams))
    w:line('%s begin = first + j * %d, stop = begin + %d < last ? begin + %d : last;', index, run,
        run, run)
    write_run(w, plan, desc, index)
    each(w, desc, ('runs@[j * %d + lane] = all@;'):format(abreast))
    w:close()
    w:line 'MR_BARRIER();'
    w:open 'if (team == 0 && is_result)'
    each(w, desc, 'T all@ = runs@[lane];')
    w:open 'for (int j = 1; j < n; ++j)'
    each(w, desc, ('all@ = combine@(all@, runs@[j * %d + lane]);'):format(abreast))
    w:close()
    write_results(w, desc, 'all@', 'block * results + result')
    w:close()
end

local function write_stacks(w, plan, desc, index)
    local write = desc.is_cpu and write_columns or write_stacks_on_gpu
    write(w, plan, desc, index)
end

local writers = { rows = write_rows, columns = write_columns, stacks = write_stacks }

-- Returns the text of a kernel `reduce`, which on a GPU may begin before the launch before it has
-- ended, as the pass over the results of blocks does. desc: reductions, { name, a key of
-- `combinations`; type of the result } each; scheme; kept, reduced: how many axes; is_unit: see
-- evaluate.lua; is_cpu; is_wide
function reduce_text.of(plan, desc)
    local w, index = writer.new(), desc.is_wide and 'mr_index' or 'int'
    text.write_function(w, plan)
    for k, one in ipairs(desc.reductions) do write_combine(w, k, one.name, one.type) end
    w:line ''
    w:line 'MR_KERNEL'
    w:open(('void reduce(%s)'):format(table.concat(arguments_of(plan, desc, index), ', ')))
    if not desc.is_cpu then
        w:line 'mr_start_dependents();'
        w:line 'mr_wait_for_previous();'
    end
    writers[desc.scheme](w, plan, desc, index)
    w:close()
    return w:text()
end

-- Returns how many results a work-item computes, or nil if it is one at most: many, as long as all
-- cores have some.
function reduce_text.span(desc, results, blocks, units)
    if not has_span(desc) then return nil end
    local span = columns * most_span
    while span > columns and math.ceil(results / span) * blocks < 8 * units do span = span / 2 end
    return span
end

-- Returns the work-items along x and y and those of a group. span: see reduce_text.span
function reduce_text.shape(desc, results, blocks, span)
    if desc.scheme == 'rows' then
        if desc.is_cpu then return results * blocks, 1, 1, 1 end
        return results * blocks * group, 1, group, 1
    end
    if span then return math.ceil(results / span), blocks, 1, 1 end
    if desc.scheme == 'stacks' then
        return math.ceil(results / abreast) * blocks * group, 1, group, 1
    end
    return results, math.min(blocks, 65535), group, 1
end

local local_bytes = 32768   -- of the results of runs

-- Whether a processor's work-items reduce, each by itself.
function reduce_text.by_items(device)
    if reduce_text.in_groups ~= nil then return not reduce_text.in_groups end
    return device.info.kind == 'cpu'
end

local small = 65536         -- elements that a processor reduces before another launch has begun

-- Whether stacks are reduced at once rather than their runs, and then these results: for which
-- there must be enough of them. On a GPU so few runs that no warp takes two are enough.
function reduce_text.goes_by_stacks(device, reductions, results, count)
    if device.is_null or count <= reduce_text.run then return false end
    local bytes, units = 0, device.info.compute_units
    for _, one in ipairs(reductions) do
        if one.name == 'compensated' or one.name == 'rest' then return false end
        bytes = bytes + math.max(one.type.size, 4) * reduce_text.stack / reduce_text.run * abreast
    end
    local tall = math.ceil(count / reduce_text.stack)
    if reduce_text.by_items(device) then
        return results * count <= small
            or math.ceil(results / columns / most_span) * tall >= 4 * units
    end
    local is_short = count <= reduce_text.run * group / abreast
    return bytes <= local_bytes
        and (is_short or math.ceil(results / abreast) * tall >= 4 * units)
end

return reduce_text
