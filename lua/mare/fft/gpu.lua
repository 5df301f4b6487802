-- The text of a transform's kernel for GPUs. A group does d.width transforms, each by d.items
-- work-items, which hold its points in registers. Between stages work-items exchange points through
-- local memory: first the real parts and then the imaginary ones, so that it needs room for one of
-- the two. All loops are written out.

local banks = require 'mare.fft.banks'
local butterflies = require 'mare.fft.butterflies'
local ends = require 'mare.fft.ends'
local points = require 'mare.fft.points'
local writer = require 'mare.dialect.writer'

local gpu = {}

-- ---- stages ----

-- Returns a list of the stages: { r, m, s as in cpu.lua, count: of the butterflies of a transform,
-- rounds: butterflies of a work-item, at most }.
local function stages_of(d, radices)
    local list, left, s = {}, d.points, 1
    for k, r in ipairs(radices) do
        local count = d.points / r
        list[k] = { r = r, m = left / r, s = s, count = count, rounds = math.ceil(count / d.items) }
        left, s = left / r, s * r
    end
    return list
end

-- Writes for each butterfly of a work-item what body(u) writes: u is its number, from 0, among
-- those of the work-item, and b in the text its number in the transform.
local function each(w, d, stage, body)
    for u = 0, stage.rounds - 1 do
        local is_whole = (u + 1) * d.items <= stage.count
        w:open(is_whole and '/* a butterfly */' or ('if (item + %d < %d)'):format(u * d.items,
            stage.count))
        w:line('int b = item + %d;', u * d.items)
        body(u)
        w:close()
    end
end

local function write_butterflies(w, d, stage, section, arrays)
    each(w, d, stage, function(u)
        local x, r = {}, stage.r
        for k = 0, r - 1 do x[k + 1] = points.get(arrays, u * r + k) end
        local y, values = butterflies.transform(x, r), {}
        if stage.m > 1 then w:line('int p = b / %d;', stage.s) end
        for k = 0, r - 1 do
            local v = y[k + 1]
            if k > 0 and stage.m > 1 then
                local at = ('%d + p'):format((k - 1) * stage.m)
                v = butterflies.product(v, ends.root(d, section, at))
            end
            values[2 * k + 1], values[2 * k + 2] = v.re, v.im
        end
        local texts = { w:values(values) }
        for k = 1, 2 * r do w:line('real y%d = %s;', k, texts[k]) end
        for k = 0, r - 1 do
            w:line('%s[%d] = y%d, %s[%d] = y%d;', arrays.re, u * r + k, 2 * k + 1, arrays.im,
                u * r + k, 2 * k + 2)
        end
    end)
end

-- ---- exchanges ----

-- Returns the text of the element of local memory for point `at`, a text, of the transform.
local function shared(d, at)
    if d.is_column then return ('shared[(%s) * %d + line]'):format(at, d.width) end
    return ('shared[line * %d + %s]'):format(d.pad.stride, banks.text(d.pad, at))
end

-- Writes the exchange of both parts. put(part) writes the stores into local memory, take(part) the
-- loads from it.
local function exchange(w, put, take)
    for _, part in ipairs { 're', 'im' } do
        put(part)
        w:line 'MR_BARRIER();'
        take(part)
        w:line 'MR_BARRIER();'
    end
end

local function put_stage(w, d, stage, arrays)
    return function(part)
        each(w, d, stage, function(u)
            w:line('int to = b + b / %d * %d;', stage.s, stage.s * (stage.r - 1))
            for k = 0, stage.r - 1 do
                w:line('%s = %s[%d];', shared(d, ('(to + %d)'):format(k * stage.s)), arrays[part],
                    u * stage.r + k)
            end
        end)
    end
end

local function take_stage(w, d, stage, arrays)
    return function(part)
        each(w, d, stage, function(u)
            for k = 0, stage.r - 1 do
                w:line('%s[%d] = %s;', arrays[part], u * stage.r + k,
                    shared(d, ('(b + %d)'):format(k * stage.count)))
            end
        end)
    end
end

-- Writes all stages, whose points are in registers before and after.
local function write_stages(w, d, prefix, stages, arrays)
    for k, stage in ipairs(stages) do
        write_butterflies(w, d, stage, prefix .. k, arrays)
        local following = stages[k + 1]
        if following then
            exchange(w, put_stage(w, d, stage, arrays), take_stage(w, d, following, arrays))
        end
    end
end

-- ---- ends ----

local function write_load(w, d, stage, arrays)
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number, at = u * stage.r + k, ('(b + %d)'):format(k * stage.count)
            if d.convolution == 'rader' then
                w:open '/* a number */'
                w:line('int j = (int)w[%d + %s].re;', d.tables.places.at / 2, at)
                points.set(w, arrays, number, ends.load(d, 'j'))
                w:close()
            elseif k * stage.count >= d.n then
                points.set(w, arrays, number, { re = 0, im = 0 })
            elseif (k + 1) * stage.count > d.n then
                w:open(('if (%s < %d)'):format(at, d.n))
                points.set(w, arrays, number, ends.load(d, at))
                w:close()
                w:open 'else'
                points.set(w, arrays, number, { re = 0, im = 0 })
                w:close()
            else
                points.set(w, arrays, number, ends.load(d, at))
            end
        end
    end)
end

local function write_store(w, d, stage, arrays)
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local at = ('(b + %d)'):format(k * stage.s)
            local count = d.convolution == 'rader' and d.points or d.n
            w:open(('if (is_inside && %s < %d)'):format(at, count))
            if d.convolution == 'rader' then
                w:line('int j = (int)w[%d + %s].im;', d.tables.places.at / 2, at)
                at = 'j'
            end
            ends.store(w, d, at, points.get(arrays, u * stage.r + k))
            w:close()
        end
    end)
end

-- Writes the numbers k and n - k of a transform of 2 n real numbers from points k and n - k, which
-- one work-item gets for that.
local function write_split(w, d, stage, arrays)
    local half = math.floor(d.n / 2) + 1
    local rounds = math.ceil(half / d.items)
    w:line('real x_re[%d], x_im[%d];', 2 * rounds, 2 * rounds)
    local function each_pair(body)
        for u = 0, rounds - 1 do
            w:open(('if (item + %d < %d)'):format(u * d.items, half))
            w:line('int k = item + %d, l = k == 0 ? 0 : %d - k;', u * d.items, d.n)
            body(u)
            w:close()
        end
    end
    exchange(w, put_stage(w, d, stage, arrays), function(part)
        each_pair(function(u)
            w:line('x_%s[%d] = %s;', part, 2 * u, shared(d, 'k'))
            w:line('x_%s[%d] = %s;', part, 2 * u + 1, shared(d, 'l'))
        end)
    end)
    w:open 'if (is_inside)'
    each_pair(function(u)
        local x = { re = 'x_re', im = 'x_im' }
        ends.store_split(w, d, 'k', points.get(x, 2 * u), points.get(x, 2 * u + 1),
            ('(%d - k)'):format(d.n))
    end)
    w:close()
end

-- ---- convolutions ----

-- Multiplies each point by that of the transform of what is convolved with. In a transform of prime
-- length the sum of all values is the result 0; and the first value is added to point 0 of the
-- product, and so to all points of the convolution.
local function write_product(w, d, stage, arrays)
    if d.convolution == 'rader' then w:line 'real sum_re = 0, sum_im = 0;' end
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number = u * stage.r + k
            local is_first = d.convolution == 'rader' and number == 0
            if is_first then
                w:open 'if (b == 0)'
                local x, v = ends.load(d, '0'), points.get(arrays, 0)
                local re, im = w:values { v.re + x.re, v.im + x.im }
                w:line('sum_re = %s;', re)
                w:line('sum_im = %s;', im)
                w:close()
            end
            points.set(w, arrays, number, butterflies.product(points.get(arrays, number),
                ends.root(d, 'convolver', ('(b + %d)'):format(k * stage.s))))
            if is_first then
                w:open 'if (b == 0)'
                local x, v = ends.load(d, '0'), points.get(arrays, 0)
                points.set(w, arrays, 0, { re = v.re + x.re, im = v.im + x.im })
                w:close()
            end
        end
    end)
end

local function write_convolution(w, d, stages, arrays)
    write_product(w, d, stages[#stages], arrays)
    local back = stages_of(d, d.radices_back)
    write_stages(w, d, 'back', back, { re = arrays.im, im = arrays.re })
    if d.convolution == 'rader' then
        w:open 'if (is_inside && item == 0)'
        ends.store(w, d, '0', { re = points.real 'sum_re', im = points.real 'sum_im' })
        w:close()
    end
    return back
end

-- ---- the kernel ----

-- Writes which transform of the group, `line`, the work-item takes part in, as its number `item`,
-- and where that transform is in the arrays. Where inners are no multiple of the width, lines past
-- the last transform do the last one again, and store nothing.
local function write_places(w, d)
    if d.is_column then
        w:line('int line = mr_lid_x() %% %d, item = mr_lid_x() / %d;', d.width, d.width)
    else
        w:line('int line = mr_lid_x() / %d, item = mr_lid_x() %% %d;', d.items, d.items)
    end
    w:line('%s across = (inners + %d) / %d, tile = mr_group_x();', d.index, d.width - 1, d.width)
    w:line('%s rest = tile / across, mid = rest %% mids, outer = rest / mids;', d.index)
    w:line('%s inner = (tile - rest * across) * %d + line;', d.index, d.width)
    w:line 'int is_inside = inner < inners;'
    w:line 'inner = is_inside ? inner : inners - 1;'
    for _, name in ipairs { 'in', 'out' } do
        local unit = (name == 'in' and d.load or d.store).unit
        w:line('%s %s_at = %s_0 + inner * %s + mid * %s_mid + outer * %s_outer;', d.index, name,
            name, unit == 'inner' and '1' or name .. '_inner', name, name)
    end
    w:line('%s batch = %s;', d.index, d.batch or 'inner + rest * inners')
end

-- Returns the text of the kernel that d (see kernels.lua) describes.
function gpu.text(d)
    local w, stages, most = writer.new(), stages_of(d, d.radices), 1
    for _, stage in ipairs(stages) do most = math.max(most, stage.rounds * stage.r) end
    d.pad = banks.best(d, stages)
    w:line('MR_KERNEL MR_GROUP_SIZE(%d, 1, 1)', d.width * d.items)
    w:open(('void transform(%s)'):format(ends.arguments(d)))
    w:line('MR_LOCAL real shared[%d];', d.width * (d.is_column and d.points or d.pad.stride))
    w:line('real a_re[%d], a_im[%d];', most, most)
    write_places(w, d)
    local arrays = { re = 'a_re', im = 'a_im' }
    write_load(w, d, stages[1], arrays)
    write_stages(w, d, 'stage', stages, arrays)
    if d.convolution then stages = write_convolution(w, d, stages, arrays) end
    local write = d.store.kind == 'split' and write_split or write_store
    write(w, d, stages[#stages], arrays)
    w:close()
    return w:text()
end

return gpu
