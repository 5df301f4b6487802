-- The text of a transform's kernel for GPUs. A group takes d.width transforms, d.items
-- work-items each, which hold their points in registers. Between stages the points change
-- hands through local memory, real parts first and then imaginary ones, so that it holds
-- only half of them. All loops are unrolled as text.

local banks = require 'mare.fft.banks'
local butterflies = require 'mare.fft.butterflies'
local dialect = require 'mare.dialect.nodes'
local ends = require 'mare.fft.ends'
local writer = require 'mare.dialect.writer'

local gpu = {}

local function input(name, text) return dialect.input(name, 'real', text or name) end

local function register(place, number)
    return { re = input('v_re', ('%s[%d]'):format(place.re, number)),
        im = input('v_im', ('%s[%d]'):format(place.im, number)) }
end

local function set(w, place, number, value)
    local re, im = w:values { value.re, value.im }
    w:line('%s[%d] = %s;', place.re, number, re)
    w:line('%s[%d] = %s;', place.im, number, im)
end

-- ---- stages ----

-- Returns what is known of each stage: r, m, s as in cpu.lua, how many butterflies there are
-- and how many a work-item has.
local function stages_of(d, radices)
    local list, left, s = {}, d.points, 1
    for k, r in ipairs(radices) do
        local count = d.points / r
        list[k] = { r = r, m = left / r, s = s, count = count, rounds = math.ceil(count / d.items) }
        left, s = left / r, s * r
    end
    return list
end

-- Writes body(u) for each butterfly of a work-item, whose number is b.
local function each(w, d, stage, body)
    for u = 0, stage.rounds - 1 do
        local is_whole = (u + 1) * d.items <= stage.count
        w:open(is_whole and '/* a butterfly */' or ('if (place + %d < %d)'):format(u * d.items,
            stage.count))
        w:line('int b = place + %d;', u * d.items)
        body(u)
        w:close()
    end
end

local function write_butterflies(w, d, stage, section, place)
    each(w, d, stage, function(u)
        local x, r = {}, stage.r
        for k = 0, r - 1 do x[k + 1] = register(place, u * r + k) end
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
            w:line('%s[%d] = y%d, %s[%d] = y%d;', place.re, u * r + k, 2 * k + 1, place.im,
                u * r + k, 2 * k + 2)
        end
    end)
end

-- ---- exchanges ----

-- Returns the text of the place in local memory of point `at` of the work-item's transform.
local function shared(d, at)
    if d.is_column then return ('shared[(%s) * %d + line]'):format(at, d.width) end
    return ('shared[line * %d + %s]'):format(d.pad.stride, banks.text(d.pad, at))
end

-- Writes the exchange of both parts: put(part) and take(part) write the accesses.
local function exchange(w, put, take)
    for _, part in ipairs { 're', 'im' } do
        put(part)
        w:line 'MR_BARRIER();'
        take(part)
        w:line 'MR_BARRIER();'
    end
end

local function put_stage(w, d, stage, place)
    return function(part)
        each(w, d, stage, function(u)
            w:line('int to = b + b / %d * %d;', stage.s, stage.s * (stage.r - 1))
            for k = 0, stage.r - 1 do
                w:line('%s = %s[%d];', shared(d, ('(to + %d)'):format(k * stage.s)), place[part],
                    u * stage.r + k)
            end
        end)
    end
end

local function take_stage(w, d, stage, place)
    return function(part)
        each(w, d, stage, function(u)
            for k = 0, stage.r - 1 do
                w:line('%s[%d] = %s;', place[part], u * stage.r + k,
                    shared(d, ('(b + %d)'):format(k * stage.count)))
            end
        end)
    end
end

-- Writes all stages, whose points are in registers before and after.
local function write_stages(w, d, prefix, stages, place)
    for k, stage in ipairs(stages) do
        write_butterflies(w, d, stage, prefix .. k, place)
        local following = stages[k + 1]
        if following then
            exchange(w, put_stage(w, d, stage, place), take_stage(w, d, following, place))
        end
    end
end

-- ---- ends ----

local function write_load(w, d, stage, place)
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number, at = u * stage.r + k, ('(b + %d)'):format(k * stage.count)
            if d.convolution == 'rader' then
                w:open '/* a place */'
                w:line('int j = (int)w[%d + %s].re;', d.tables.places.at / 2, at)
                set(w, place, number, ends.load(d, 'j'))
                w:close()
            elseif k * stage.count >= d.n then
                set(w, place, number, { re = 0, im = 0 })
            elseif (k + 1) * stage.count > d.n then
                w:open(('if (%s < %d)'):format(at, d.n))
                set(w, place, number, ends.load(d, at))
                w:close()
                w:open 'else'
                set(w, place, number, { re = 0, im = 0 })
                w:close()
            else
                set(w, place, number, ends.load(d, at))
            end
        end
    end)
end

local function write_store(w, d, stage, place)
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local at = ('(b + %d)'):format(k * stage.s)
            local count = d.convolution == 'rader' and d.points or d.n
            w:open(('if (is_inside && %s < %d)'):format(at, count))
            if d.convolution == 'rader' then
                w:line('int j = (int)w[%d + %s].im;', d.tables.places.at / 2, at)
                at = 'j'
            end
            ends.store(w, d, at, register(place, u * stage.r + k))
            w:close()
        end
    end)
end

-- Writes the numbers of a transform of pairs, each from two points.
local function write_split(w, d, stage, place)
    local half = math.floor(d.n / 2) + 1
    local rounds = math.ceil(half / d.items)
    w:line('real x_re[%d], x_im[%d];', 2 * rounds, 2 * rounds)
    local function each_pair(body)
        for u = 0, rounds - 1 do
            w:open(('if (place + %d < %d)'):format(u * d.items, half))
            w:line('int k = place + %d, l = k == 0 ? 0 : %d - k;', u * d.items, d.n)
            body(u)
            w:close()
        end
    end
    exchange(w, put_stage(w, d, stage, place), function(part)
        each_pair(function(u)
            w:line('x_%s[%d] = %s;', part, 2 * u, shared(d, 'k'))
            w:line('x_%s[%d] = %s;', part, 2 * u + 1, shared(d, 'l'))
        end)
    end)
    w:open 'if (is_inside)'
    each_pair(function(u)
        local x = { re = 'x_re', im = 'x_im' }
        ends.store_split(w, d, 'k', register(x, 2 * u), register(x, 2 * u + 1),
            ('(%d - k)'):format(d.n))
    end)
    w:close()
end

-- ---- convolutions ----

-- Multiplies point b + k s by its number of the other factor. The first value of a prime
-- length is added to all by way of point 0, and point 0 of the result is their sum.
local function write_product(w, d, stage, place)
    if d.convolution == 'rader' then w:line 'real sum_re = 0, sum_im = 0;' end
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number = u * stage.r + k
            local is_first = d.convolution == 'rader' and number == 0
            if is_first then
                w:open 'if (b == 0)'
                local x, v = ends.load(d, '0'), register(place, 0)
                local re, im = w:values { v.re + x.re, v.im + x.im }
                w:line('sum_re = %s;', re)
                w:line('sum_im = %s;', im)
                w:close()
            end
            set(w, place, number, butterflies.product(register(place, number),
                ends.root(d, 'convolver', ('(b + %d)'):format(k * stage.s))))
            if is_first then
                w:open 'if (b == 0)'
                local x, v = ends.load(d, '0'), register(place, 0)
                set(w, place, 0, { re = v.re + x.re, im = v.im + x.im })
                w:close()
            end
        end
    end)
end

local function write_convolution(w, d, stages, place)
    write_product(w, d, stages[#stages], place)
    local back = stages_of(d, d.radices_back)
    write_stages(w, d, 'back', back, { re = place.im, im = place.re })
    if d.convolution == 'rader' then
        w:open 'if (is_inside && place == 0)'
        ends.store(w, d, '0', { re = input 'sum_re', im = input 'sum_im' })
        w:close()
    end
    return back
end

-- ---- the kernel ----

local function write_places(w, d)
    local across, along = d.is_column and 'mr_lid_x() %% %d' or 'mr_lid_x() / %d',
        d.is_column and 'mr_lid_x() / %d' or 'mr_lid_x() %% %d'
    local count = d.is_column and d.width or d.items
    w:line('int line = ' .. across .. ', place = ' .. along .. ';', count, count)
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
    local place = { re = 'a_re', im = 'a_im' }
    write_load(w, d, stages[1], place)
    write_stages(w, d, 'stage', stages, place)
    if d.convolution then stages = write_convolution(w, d, stages, place) end
    local write = d.store.kind == 'split' and write_split or write_store
    write(w, d, stages[#stages], place)
    w:close()
    return w:text()
end

return gpu
