-- The text of a transform's kernel for GPUs. A group does d.width transforms, each by d.items
-- work-items, which hold its points in registers. Between stages work-items exchange points through
-- local memory: first the real parts and then the imaginary ones, so that it needs room for one of
-- the two. All loops are written out. groups.lua says how many of all there are.

local banks = require 'mare.stages.banks'
local butterflies = require 'mare.dialect.butterflies'
local ends = require 'mare.stages.ends'
local points = require 'mare.stages.points'
local tables = require 'mare.stages.tables'
local writer = require 'mare.dialect.writer'

local gpu = {}

-- ---- stages ----

-- Whether each work-item has, behind a last stage, with every point k point n - k, too.
local function is_mirrored(d, stage)
    return d.store.kind == 'split' and not d.convolution and stage.count % (2 * d.items) == 0
end

-- Returns a list of the stages: { r, m, s as in cpu.lua, count: of the butterflies of a transform,
-- rounds: butterflies of a work-item, at most; is_mirrored: of the last one }.
local function stages_of(d, radices)
    local list, left, s = {}, d.points, 1
    for k, r in ipairs(radices) do
        local count = d.points / r
        list[k] = { r = r, m = left / r, s = s, count = count, rounds = math.ceil(count / d.items) }
        left, s = left / r, s * r
    end
    list[#list].is_mirrored = is_mirrored(d, list[#list])
    return list
end

-- Returns the text of the number of butterfly u of a work-item. Where they are mirrored, butterfly
-- b of the first half has in the second half that of number count - b, which has points n - k; but
-- butterfly 0, whose points k and n - k are its own, has the middle one, of which the same is true.
local function butterfly_text(d, stage, u)
    local half = stage.rounds / 2
    if not stage.is_mirrored or u < half then return ('item + %d'):format(u * d.items) end
    local text = ('%d - item'):format(stage.count - (u - half) * d.items)
    return u == half and ('item == 0 ? %d : %s'):format(stage.count / 2, text) or text
end

-- Writes for each butterfly of a work-item what body(u) writes: u is its number, from 0, among
-- those of the work-item, and b in the text its number in the transform.
local function each(w, d, stage, body)
    for u = 0, stage.rounds - 1 do
        local is_whole = (u + 1) * d.items <= stage.count
        w:open(is_whole and '/* a butterfly */' or ('if (item + %d < %d)'):format(u * d.items,
            stage.count))
        w:line('int b = %s;', butterfly_text(d, stage, u))
        body(u)
        w:close()
    end
end

-- Returns the roots of 1 that multiply the values of a butterfly, by number.
local function roots_of(w, d, stage, section)
    w:line('int p = %s;', points.quotient('b', stage.s))
    local roots, row = {}, 0
    for k = 1, stage.r - 1 do
        local low = tables.low(d, k)
        if low == 0 then
            roots[k] = ends.root(d, section, ('%d + p'):format(row * stage.m))
            row = row + 1
        else
            roots[k] = butterflies.product(roots[low], roots[k - low])
        end
    end
    return roots
end

-- Returns a function that declares variables for complex values, in their order.
local function keeper(w)
    local count = 0
    return function(list)
        local kept = {}
        for k, value in ipairs(list) do
            count = count + 1
            local re, im = w:values { value.re, value.im }
            local names = { ('u%d_re'):format(count), ('u%d_im'):format(count) }
            w:line('real %s = %s, %s = %s;', names[1], re, names[2], im)
            kept[k] = { re = points.real(names[1]), im = points.real(names[2]) }
        end
        return kept
    end
end

local function write_butterflies(w, d, stage, section, arrays)
    each(w, d, stage, function(u)
        local x, r = {}, stage.r
        for k = 0, r - 1 do x[k + 1] = points.get(arrays, u * r + k) end
        local y, values = butterflies.transform(x, r, keeper(w)), {}
        local roots = stage.m > 1 and roots_of(w, d, stage, section)
        for k = 0, r - 1 do
            local v = y[k + 1]
            if k > 0 and stage.m > 1 then v = butterflies.product(v, roots[k]) end
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

local open_rows, write_line


-- Returns the text of the element of local memory for point `at`, a text, of the transform.
-- is_turning: whether this is the exchange that makes rows of columns
local function shared(d, at, is_turning)
    if d.is_column then
        return ('shared[(%s) * %d + line]'):format(banks.text(d.pad, at),
            banks.apart(d, is_turning))
    end
    return ('shared[line * %d + %s]'):format(d.pad.stride, banks.text(d.pad, at))
end

-- Writes the exchange of both parts. put(part) writes the stores into local memory, take(part) the
-- loads from it.
local function exchange(w, d, put, take)
    local barrier = d.is_warp and 'MR_WARP_BARRIER();' or 'MR_BARRIER();'
    for _, part in ipairs { 're', 'im' } do
        put(part)
        w:line(barrier)
        take(part)
        w:line(barrier)
    end
end

-- Returns a function that gives the text of the element for point first + k step, which is one of
-- r in a range of r step points, or nothing else in it: where the first one stands is computed
-- once, and the others are so many numbers behind it.
local function series(w, d, first, step, r, is_turning)
    local run = d.pad.run
    local function apart(k) return k * step + (run and math.floor(k * step / run) or 0) end
    if not banks.is_regular(run, step, r) then
        return function(k)
            return shared(d, ('(%s + %d)'):format(first, k * step), is_turning)
        end
    end
    w:line('int place = %s;', shared(d, first, is_turning):match '^shared%[(.*)%]$')
    local width = banks.apart(d, is_turning)
    return function(k) return ('shared[place + %d]'):format(apart(k) * width) end
end

local function put_stage(w, d, stage, arrays, is_turning)
    return function(part)
        each(w, d, stage, function(u)
            w:line('int to = b + %s * %d;', points.quotient('b', stage.s), stage.s * (stage.r - 1))
            local at = series(w, d, 'to', stage.s, stage.r, is_turning)
            for k = 0, stage.r - 1 do
                w:line('%s = %s[%d];', at(k), arrays[part], u * stage.r + k)
            end
        end)
    end
end

local function take_stage(w, d, stage, arrays, is_turning)
    return function(part)
        if is_turning then open_rows(w, d) end
        each(w, d, stage, function(u)
            local at = series(w, d, 'b', stage.count, stage.r, is_turning)
            for k = 0, stage.r - 1 do
                w:line('%s[%d] = %s;', arrays[part], u * stage.r + k, at(k))
            end
        end)
        if is_turning then w:close() end
    end
end

-- Writes for all butterflies of the last stage of crossed rows what body(v, line) writes: each
-- work-item has some of all rows, of the same numbers.
local function each_crossed(w, d, stage, body)
    local group = d.width * d.items
    for v = 0, stage.count / group - 1 do
        w:open '/* of all rows */'
        w:line('int b = mr_lid_x() + %d;', v * group)
        body(v)
        w:close()
    end
end

local function take_crossed(w, d, stage, arrays)
    return function(part)
        each_crossed(w, d, stage, function(v)
            for line = 0, d.width - 1 do
                w:open(('/* row %d */'):format(line))
                w:line('int line = %d;', line)
                local at = series(w, d, 'b', stage.count, stage.r)
                for k = 0, stage.r - 1 do
                    w:line('%s[%d] = %s;', arrays[part], (v * d.width + line) * stage.r + k, at(k))
                end
                w:close()
            end
        end)
    end
end

-- Opens a block in which neighbouring work-items have neighbouring points of a column, not
-- neighbouring columns: they store it as a row.
function open_rows(w, d)
    w:open '/* as rows */'
    w:line('int line = %s, item = %s;', points.quotient('mr_lid_x()', d.items),
        points.rest('mr_lid_x()', d.items))
end

-- Writes all stages, whose points are in registers before and after. Of columns that become rows
-- the last one is in a block of open_rows, which stays open.
local function write_stages(w, d, prefix, stages, arrays)
    for k, stage in ipairs(stages) do
        write_butterflies(w, d, stage, prefix .. k, arrays)
        local following = stages[k + 1]
        if following then
            local is_turning = d.is_turned and k == #stages - 1
            local is_crossing = d.crossed and k == #stages - 1
            exchange(w, d, put_stage(w, d, stage, arrays, is_turning), is_crossing
                and take_crossed(w, d, following, arrays)
                or take_stage(w, d, following, arrays, is_turning))
            if is_turning then
                open_rows(w, d)
                write_line(w, d)
            end
        end
    end
end

-- ---- ends ----

-- Writes for all `count` points of a transform, in their order, what body(u) writes: in the text
-- k is the number of point u of the work-item.
local function each_in_order(w, d, count, body)
    for u = 0, math.ceil(count / d.items) - 1 do
        local is_whole = (u + 1) * d.items <= count
        w:open(is_whole and '/* a point */' or ('if (item + %d < %d)'):format(u * d.items, count))
        w:line('int k = item + %d;', u * d.items)
        body(u)
        w:close()
    end
end

-- Reads where the points of all butterflies stand in Rader's order, into places[...], which are
-- registers. part: of the table; step: of the points of a butterfly
local function read_places(w, d, stage, part, step)
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            w:line('places[%d] = (int)w[%d + (b + %d)].%s - 1;', u * stage.r + k,
                d.tables.places.at / 2, k * step, part)
        end
    end)
end

-- Loads points 1 to n - 1 in their order, and brings them into Rader's.
local function load_rader(w, d, stage, arrays)
    each_in_order(w, d, d.points, function(u) points.set(w, arrays, u, ends.load(d, '(k + 1)')) end)
    read_places(w, d, stage, 're', stage.count)
    exchange(w, d, function(part)
        each_in_order(w, d, d.points, function(u)
            w:line('%s = %s[%d];', shared(d, 'k'), arrays[part], u)
        end)
    end, function(part)
        each(w, d, stage, function(u)
            for k = u * stage.r, u * stage.r + stage.r - 1 do
                w:line('%s[%d] = %s;', arrays[part], k, shared(d, ('places[%d]'):format(k)))
            end
        end)
    end)
end

-- Brings points 1 to n - 1 into their order, and stores them.
local function store_rader(w, d, stage, arrays)
    read_places(w, d, stage, 'im', stage.s)
    exchange(w, d, function(part)
        each(w, d, stage, function(u)
            for k = u * stage.r, u * stage.r + stage.r - 1 do
                w:line('%s = %s[%d];', shared(d, ('places[%d]'):format(k)), arrays[part], k)
            end
        end)
    end, function(part)
        each_in_order(w, d, d.points, function(u)
            w:line('%s[%d] = %s;', arrays[part], u, shared(d, 'k'))
        end)
    end)
    w:open 'if (is_inside)'
    each_in_order(w, d, d.points, function(u)
        ends.store(w, d, '(k + 1)', points.get(arrays, u))
    end)
    w:close()
end

local function write_load(w, d, stage, arrays)
    if d.convolution == 'rader' then return load_rader(w, d, stage, arrays) end
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number, at = u * stage.r + k, ('(b + %d)'):format(k * stage.count)
            if k * stage.count >= d.n then
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

-- ---- the roots behind a part of a longer transform ----
--
-- The root of result b + k s is the product of those for b and for k s. Where they differ between
-- the transforms of a group, the latter are computed once for the group, into local memory: to read
-- tables at as many places as a warp has transforms takes longer than all else.

-- Whether a group has such roots in local memory.
local function has_steps(d) return d.root_level == 'inner' end

-- Returns a part of the root for k s, from local memory.
local function step_text(d, stage, part, k)
    local at = d.steps_at + k * d.width + (part == 'im' and stage.r * d.width or 0)
    return ('shared[%d + line]'):format(at)
end

-- Computes the roots for k s of all transforms of the group.
local function write_steps(w, d, stages)
    if not d.roots or not has_steps(d) then return end
    local stage, group = stages[#stages], d.width * d.items
    local count = d.width * stage.r
    for u = 0, math.ceil(count / group) - 1 do
        local is_whole = (u + 1) * group <= count
        w:open(is_whole and '/* roots */' or ('if (mr_lid_x() + %d < %d)'):format(u * group, count))
        w:line('int e = mr_lid_x() + %d, k = e / %d;', u * group, d.width)
        w:line('%s last = inners - 1, number = first + e %% %d;', d.index, d.width)
        w:line 'number = number < last ? number : last;'
        local root = ends.root_of(w, d, 'turn', ('number * (k * %d)'):format(stage.s))
        local re, im = w:values { root.re, root.im }
        w:line('shared[%d + e] = %s;', d.steps_at, re)
        w:line('shared[%d + e] = %s;', d.steps_at + count, im)
        w:close()
    end
    if #stages == 1 then w:line 'MR_BARRIER();' end
end

-- Returns the roots behind the results of a butterfly, by number. For few of them tables are read:
-- that for k s, where it is not in local memory, is the product of those for k % 4 and for the rest
-- of k.
local function roots_behind(w, d, stage)
    if not d.roots then return {} end
    local first = ends.root_behind(w, d, 'turn', 'b')
    local roots, steps = { [0] = first }, {}
    for k = 1, stage.r - 1 do
        local low = k % 4
        if has_steps(d) then
            steps[k] = { re = points.real('step_re', step_text(d, stage, 're', k)),
                im = points.real('step_im', step_text(d, stage, 'im', k)) }
        elseif k < 4 or low == 0 then
            steps[k] = ends.root_behind(w, d, 'turn' .. k, tostring(k * stage.s))
        else
            steps[k] = butterflies.product(steps[low], steps[k - low])
        end
        roots[k] = butterflies.product(first, steps[k])
    end
    return roots
end

-- ---- storing ----

-- Transforms numbers of all rows, of the same place, and stores row j of the results as the one
-- numbered first + j. The roots between rows and columns are those of the group.
local function store_crossed(w, d, stage, arrays)
    local roots = {}
    w:line('int part = (int)first / %d;', d.crossed)
    for j = 1, d.crossed - 1 do
        local root = ends.root(d, 'crossed', ('part * %d'):format(j))
        w:line('real root%d_re = %s, root%d_im = %s;', j, (w:values { root.re }), j,
            (w:values { root.im }))
        roots[j] = { re = points.real(('root%d_re'):format(j)),
            im = points.real(('root%d_im'):format(j)) }
    end
    each_crossed(w, d, stage, function(v)
        for k = 0, stage.r - 1 do
            local x = {}
            for line = 0, d.crossed - 1 do
                x[line + 1] = points.get(arrays, (v * d.crossed + line) * stage.r + k)
            end
            local y = butterflies.transform(x, d.crossed)
            for j = 0, d.crossed - 1 do
                w:open '/* a row */'
                w:line('%s out_at = out_0 + (first + %d) * out_inner + mid * out_mid;', d.index, j)
                ends.store(w, d, ('(b + %d)'):format(k * stage.s),
                    j > 0 and butterflies.product(y[j + 1], roots[j]) or y[1])
                w:close()
            end
        end
    end)
end

-- Inside of one condition, so that the compiler computes once what several results need.
local function write_store(w, d, stage, arrays)
    if d.convolution == 'rader' then return store_rader(w, d, stage, arrays) end
    w:open 'if (is_inside)'
    each(w, d, stage, function(u)
        local roots = roots_behind(w, d, stage)
        for k = 0, stage.r - 1 do
            local at = ('(b + %d)'):format(k * stage.s)
            local is_partly = k * stage.s < d.n and (k + 1) * stage.s > d.n
            if is_partly then w:open(('if (%s < %d)'):format(at, d.n)) end
            if k * stage.s < d.n then
                ends.store(w, d, at, points.get(arrays, u * stage.r + k), roots[k])
            end
            if is_partly then w:close() end
        end
    end)
    w:close()
end

-- Returns the function that gives, for a round of pairs, the texts of the elements for points k and
-- n - k. A round is d.items points behind the one before.
local function pair_places(w, d, partner)
    local run, items = d.pad.run, d.items
    if items < 32 or run and items % run ~= 0 then      -- NVRTC spilled registers of few work-items
        return function() return shared(d, 'k'), shared(d, 'l') end
    end
    local step = run and items + items / run or items
    local function place(at) return shared(d, at):match '^shared%[(.*)%]$' end
    w:line('int near = %s, far = %s;', place 'item', place(('(%d - item)'):format(d.n - items)))
    w:line('int first_far = item == 0 ? %s : far + %d;', place(tostring(partner)), step)
    return function(u)
        return ('shared[near + %d]'):format(u * step), u == 0 and 'shared[first_far]'
            or ('shared[far - %d]'):format((u - 1) * step)
    end
end

-- Writes the numbers k and n - k of a transform of 2 n real numbers from points k and n - k, which
-- one work-item gets for that. Point 0 makes numbers 0 and n; with it goes the middle one of an
-- even number of points, which makes one number.
local function write_split(w, d, stage, arrays)
    local has_middle = d.n % 2 == 0
    local count = has_middle and d.n / 2 or (d.n + 1) / 2
    local rounds, partner = math.ceil(count / d.items), has_middle and d.n / 2 or 0
    local x = { re = 'x_re', im = 'x_im' }
    w:line('real x_re[%d], x_im[%d];', 2 * rounds, 2 * rounds)
    local places = pair_places(w, d, partner)
    local function each_pair(body)
        for u = 0, rounds - 1 do
            w:open((u + 1) * d.items <= count and '/* a pair */'
                or ('if (item + %d < %d)'):format(u * d.items, count))
            w:line('int k = item + %d;', u * d.items)
            body(u)
            w:close()
        end
    end
    exchange(w, d, put_stage(w, d, stage, arrays), function(part)
        each_pair(function(u)
            local near, far = places(u)
            w:line('int l = k == 0 ? %d : %d - k;', partner, d.n)
            w:line('x_%s[%d] = %s;', part, 2 * u, near)
            w:line('x_%s[%d] = %s;', part, 2 * u + 1, far)
        end)
    end)
    local function store_pair(u)
        ends.store_split(w, d, 'k', points.get(x, 2 * u), points.get(x, 2 * u + 1),
            ('(%d - k)'):format(d.n))
    end
    w:open 'if (is_inside)'
    each_pair(function(u)
        if u > 0 then return store_pair(u) end
        w:open 'if (k == 0)'
        ends.store_split(w, d, '0', points.get(x, 0), points.get(x, 0), tostring(d.n))
        if has_middle then ends.store_middle(w, d, tostring(d.n / 2), points.get(x, 1)) end
        w:close()
        w:open 'else'
        store_pair(u)
        w:close()
    end)
    w:close()
end

-- Writes the numbers k and n - k of points k and n - k that a work-item has, see butterfly_text.
-- Work-item 0 has the middle number, too.
local function write_mirrored(w, d, stage, arrays)
    local half, r = stage.rounds / 2, stage.r
    local function store(u, k)
        local other = (u + half) % stage.rounds
        local far = other * r + r - 1 - k
        local own = u * r + (u == 0 and -k % r or r - 1 - k)
        local value = points.get(arrays, far)
        if u % half == 0 then
            w:line('real far_re = item == 0 ? %s[%d] : %s[%d];', arrays.re, own, arrays.re,
                far)
            w:line('real far_im = item == 0 ? %s[%d] : %s[%d];', arrays.im, own, arrays.im,
                far)
            value = { re = points.real 'far_re', im = points.real 'far_im' }
        end
        ends.store_split(w, d, 'k', points.get(arrays, u * r + k), value, ('(%d - k)'):format(d.n))
    end
    w:open 'if (is_inside)'
    each(w, d, stage, function(u)
        for k = 0, (u < half and math.ceil or math.floor)(r / 2) - 1 do
            w:open '/* a pair */'
            w:line('int k = b + %d;', k * stage.s)
            store(u, k)
            w:close()
        end
    end)
    local middle = r % 2 == 0 and r / 2 or half * r + (r - 1) / 2
    w:open 'if (item == 0)'
    ends.store_middle(w, d, tostring(d.n / 2), points.get(arrays, middle))
    w:close()
    w:close()
end

-- ---- convolutions ----

-- Multiplies each point by that of the transform of what is convolved with. In a transform of prime
-- length the sum of all values is the result 0; and the first value is added to point 0 of the
-- product, and so to all points of the convolution. to: the names of the arrays that get the
-- products

local function write_filter(w, d, stage, arrays, to)
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number, at = u * stage.r + k, ('(b + %d)'):format(k * stage.s)
            w:open '/* a number */'
            local value = ends.filtered(d, at, points.get(arrays, number))
            local re, im = w:values { value.re, value.im }
            w:line('real f_re = %s, f_im = %s;', re, im)
            w:line('%s[%d] = f_re, %s[%d] = f_im;', to.re, number, to.im, number)
            if d.aside then
                w:open 'if (is_inside)'
                ends.store_aside(w, d, at, points.get(to, number))
                w:close()
            end
            w:close()
        end
    end)
end

-- Sets the sum of all values, of which `value` is that of all but the first one, and adds this one
-- to point 0 of the product.
local function write_first(w, d, to, value)
    w:open 'if (b == 0)'
    local x, v = ends.load(d, '0'), points.get(to, 0)
    w:line('sum_re = %s;', (w:values { value.re + x.re }))
    w:line('sum_im = %s;', (w:values { value.im + x.im }))
    points.set(w, to, 0, { re = v.re + x.re, im = v.im + x.im })
    w:close()
end

local function write_product(w, d, stage, arrays, to)
    if d.convolution == 'filter' then return write_filter(w, d, stage, arrays, to) end
    each(w, d, stage, function(u)
        for k = 0, stage.r - 1 do
            local number = u * stage.r + k
            w:line('real v%d_re = %s[%d], v%d_im = %s[%d];', k, arrays.re, number, k, arrays.im,
                number)
            local value = { re = points.real(('v%d_re'):format(k)),
                im = points.real(('v%d_im'):format(k)) }
            points.set(w, to, number, butterflies.product(value,
                ends.root(d, 'convolver', ('(b + %d)'):format(k * stage.s))))
            if d.convolution == 'rader' and number == 0 then write_first(w, d, to, value) end
        end
    end)
end

-- Writes a transform, the product and the transform back, which is a transform of values whose
-- parts have changed places. Where the radices are the same ones in reverse order, both transforms
-- are one text, half as long to compile and to fetch; compilers do not know that chunk is 1, and so
-- keep no roots in registers from one to the other. Returns the names of the arrays with the
-- result, and the last stage.
local function write_convolution(w, d, stages, arrays)
    local swapped = { re = arrays.im, im = arrays.re }
    if d.convolution == 'rader' then w:line 'real sum_re = 0, sum_im = 0;' end
    if d.is_looped then
        w:line 'const MR_GLOBAL mr_complex *table = w;'
        w:line 'MR_UNROLL(1)'
        w:open 'for (int way = 0; way < 2; way++)'
        w:line 'const MR_GLOBAL mr_complex *w = table + way * (chunk - 1);'
        write_stages(w, d, 'stage', stages, arrays)
        w:open 'if (way == 0)'
        write_product(w, d, stages[#stages], arrays, swapped)
        w:close()
        w:close()
        return swapped, stages[#stages]
    end
    write_stages(w, d, 'stage', stages, arrays)
    write_product(w, d, stages[#stages], arrays, arrays)
    local back = stages_of(d, d.radices_back)
    write_stages(w, d, 'back', back, swapped)
    return arrays, back[#back]
end

local function complex_size(d) return d.real == 'double' and 16 or 8 end

-- ---- the kernel ----

-- Writes where the transform `line` of the group is in the arrays.
function write_line(w, d)
    w:line('inner = first + line, is_inside = %s;', d.is_whole and '1' or 'inner < inners')
    w:line 'inner = is_inside ? inner : inners - 1;'
    for _, name in ipairs { 'in', 'out' } do
        local unit = (name == 'in' and d.load or d.store).unit
        local row = d.crossed and name == 'in'
            and ('(first / %d + line * %d)'):format(d.crossed, d.crossed_of / d.crossed) or 'inner'
        w:line('%s_at = %s_0 + %s * %s + mid * %s_mid + outer * %s_outer;', name, name, row,
            unit == 'inner' and '1' or name .. '_inner', name, name)
    end
    w:line('batch = %s;', d.batch or 'inner + rest * inners')
end

-- Writes which transform of the group, `line`, the work-item takes part in, as its number `item`,
-- and where that transform is in the arrays. Where inners are no multiple of the width, lines past
-- the last transform do the last one again, and store nothing.
local function write_places(w, d, tile)
    local inner = d.is_column and d.width or d.items
    w:line(d.is_column and 'int line = %s, item = %s;' or 'int item = %s, line = %s;',
        points.rest('mr_lid_x()', inner), points.quotient('mr_lid_x()', inner))
    w:line('%s across = (inners + %d) / %d, tile = %s;', d.index, d.width - 1, d.width, tile)
    local texts = { '0', '0', '0' }     -- a division takes as long as several butterflies
    if d.depth > 1 then texts[1], texts[2] = 'tile / across', 'rest' end
    if d.depth > 2 then texts[2], texts[3] = 'rest % mids', 'rest / mids' end
    w:line('%s rest = %s, mid = %s, outer = %s;', d.index, unpack(texts))
    w:line('%s first = (tile - rest * across) * %d, inner, in_at, out_at, batch;', d.index,
        d.width)
    w:line 'int is_inside;'
    write_line(w, d)
end

local most_plain = 40000        -- bytes of local memory that every device has

-- Declares `count` numbers of local memory.
function gpu.write_local(w, real, count)
    local is_large = count * (real == 'double' and 8 or 4) > most_plain
    w:line(is_large and 'MR_LOCAL_LARGE(real, shared, %d);' or 'MR_LOCAL real shared[%d];', count)
end

-- Chooses the padding, and returns how many numbers of local memory a description needs.
function gpu.local_of(d)
    d.pad = banks.best(d, stages_of(d, d.radices))
    d.steps_at = d.pad.stride * (d.is_column and banks.apart(d, d.is_turned) or d.width)
    local has_some = d.roots and has_steps(d)
    return d.steps_at + (has_some and 2 * d.width * d.radices[#d.radices] or 0)
end

-- ---- a tile ahead ----
--
-- Where registers hold one group a compute unit, which would wait for memory and then let memory
-- wait, groups stay, and take one tile after another: the rows of the next one come into local
-- memory while the last one is transformed.

-- Writes what begins to fetch the rows of a tile. number: its text, as gpu.write_body gets it
local function write_fetch(w, d, number)
    local row = d.n * complex_size(d)
    w:open 'if (mr_lid_x() == 0)'
    w:line('%s across = inners / %d, tile = %s;', d.index, d.width, number)
    local texts = { '0', '0', '0' }
    if d.depth > 1 then texts[1], texts[2] = 'tile / across', 'rest' end
    if d.depth > 2 then texts[2], texts[3] = 'rest % mids', 'rest / mids' end
    w:line('%s rest = %s, mid = %s, outer = %s;', d.index, unpack(texts))
    w:line('%s at = in_0 + (tile - rest * across) * %d * in_inner + mid * in_mid', d.index, d.width)
    w:line '    + outer * in_outer;'
    w:line('mr_bulk_expect(word, %d);', d.width * row)
    for line = 0, d.width - 1 do
        w:line('mr_bulk_fetch(word, ahead + %d, in + at + %d * in_inner, %d);', 2 * line * d.n,
            line, row)
    end
    w:close()
end

-- Returns the text of the number of a tile. number: of it in the order in which tiles are taken
local function tile_of(d, number)
    return d.is_reversed and ('tiles - 1 - (%s)'):format(number) or number
end

-- Writes what waits for the rows of a tile, loads its points, and fetches the next one.
local function load_ahead(w, d, stage, arrays)
    w:line 'mr_bulk_wait(word, turn++);'
    write_load(w, d, stage, arrays)
    w:line 'MR_BARRIER();'
    w:open 'if (number + mr_groups_x() < tiles)'
    write_fetch(w, d, tile_of(d, 'number + mr_groups_x()'))
    w:close()
end

-- Writes what a group does. tile: the text of its number
function gpu.write_body(w, d, tile)
    local stages = stages_of(d, d.radices)
    local most = math.ceil(d.points / d.items)
    for _, stage in ipairs(stages) do most = math.max(most, stage.rounds * stage.r) end
    w:line('real a_re[%d], a_im[%d];', most, most)
    if d.convolution == 'rader' then w:line('int places[%d];', most) end
    write_places(w, d, tile)
    local arrays = { re = 'a_re', im = 'a_im' }
    local load = d.is_ahead and load_ahead or write_load
    load(w, d, stages[1], arrays)
    write_steps(w, d, stages)
    local last = stages[#stages]
    if d.convolution then
        arrays, last = write_convolution(w, d, stages, arrays)
    else
        write_stages(w, d, 'stage', stages, arrays)
    end
    if d.convolution == 'rader' then
        w:open 'if (is_inside && item == 0)'
        ends.store(w, d, '0', { re = points.real 'sum_re', im = points.real 'sum_im' })
        w:close()
    end
    local write = d.crossed and store_crossed or last.is_mirrored and write_mirrored
        or d.store.kind == 'split' and write_split or write_store
    write(w, d, last, arrays)
    if d.is_turned then w:close() end
end

-- Returns the text of a kernel whose groups stay. count: of the numbers in local memory
local function text_ahead(w, d, count)
    w:line('MR_KERNEL MR_GROUP_SIZE(%d, 1, 1)', d.width * d.items)
    w:open(('void transform(%s)'):format(ends.arguments(d)))
    local rows = 2 * d.width * d.n
    w:line('MR_LOCAL_LARGE(real, ahead, %d);', rows + count)
    w:line('MR_LOCAL_PTR real *const shared = ahead + %d;', rows)
    w:line 'MR_LOCAL ulong word[1];'
    w:line 'int turn = 0;'
    w:line 'if (mr_lid_x() == 0) mr_bulk_make(word);'
    w:line 'MR_BARRIER();'
    write_fetch(w, d, tile_of(d, 'mr_group_x()'))
    w:line 'const MR_GLOBAL mr_complex *table = w;'
    w:line 'MR_UNROLL(1)'
    w:open 'for (int number = mr_group_x(); number < tiles; number += mr_groups_x())'
    w:line 'const MR_GLOBAL mr_complex *w = table + number * (chunk - 1);      /* as above */'
    gpu.write_body(w, d, tile_of(d, 'number'))
    w:close()
    w:close()
    return w:text()
end

-- Returns the text of the kernel that d (see kernels.lua) describes.
function gpu.text(d)
    local w, count = writer.new(), gpu.local_of(d)
    if d.is_ahead then return text_ahead(w, d, count) end
    w:line('MR_KERNEL MR_GROUP_SIZE(%d, 1, 1)', d.width * d.items)
    w:open(('void transform(%s)'):format(ends.arguments(d)))
    gpu.write_local(w, d.real, count)
    gpu.write_body(w, d, tile_of(d, 'mr_group_x()'))
    w:close()
    return w:text()
end

return gpu
