-- Relays: two kernels, of which the second one reads what the first one writes, in one launch that
-- goes over the array in units, so that the second kernel finds what it reads in the second-level
-- cache. A unit is a part of the array that both kernels transform by itself: a transform of
-- several passes, some columns of such ones, an image.
--
-- Groups take numbers in order. Those of the first kernel come `lag` units before those of the
-- second one, each of which waits until its unit is written. It waits for groups of lesser numbers
-- alone, which have begun before it, so that it ends.

local gpu = require 'mare.stages.gpu'
local ends = require 'mare.stages.ends'
local groups = require 'mare.stages.groups'
local writer = require 'mare.dialect.writer'

local relay = {}

-- ---- which launches ----

local function tiles_of(launch)
    local levels = launch.levels
    return math.ceil(levels[1] / launch.d.width) * levels[2] * levels[3]
end

-- Returns the first launch with as many work-items in a group as the second one has, or nil.
local function with_group_of(first, second)
    local a, b = first.d, second.d
    local group = b.width * b.items
    if a.width * a.items == group then return first end
    if a.crossed then return nil end
    local d = {}
    for name, value in pairs(a) do d[name] = value end
    if a.points == b.points then
        d.radices, d.items, d.width = b.radices, b.items, b.width
    else
        d.width = group / a.items
        local has_room = groups.has_room(a, first.device, d.width)
        if d.width % 1 ~= 0 or d.width < a.width or not has_room then return nil end
    end
    d.is_whole, d.is_warp = first.levels[1] % d.width == 0, groups.is_in_warp(d)
    local changed = {}
    for name, value in pairs(first) do changed[name] = value end
    changed.d = d
    return changed
end

-- Returns the units of two passes of one transform: { tiles of a unit in each, blocks }.
local function units_of_passes(first, second)
    local pass = first.pass
    if second.pass.done ~= pass.done * pass.n or second.pass.rest ~= 1 then return nil end
    local columns, a, b = pass.done * first.apart, first.d.width, second.d.width
    if columns == 1 then
        if first.places[1][2] ~= pass.rest then return nil end
        return { math.ceil(pass.rest / a), math.ceil(pass.n / b), 1 }
    end
    if a ~= b or columns % a ~= 0 or first.levels[1] ~= columns then return nil end
    return { pass.rest, pass.n, columns / a }
end

-- Returns the units of rows and then columns of images.
local function units_of_images(first, second)
    local row, n = second.levels[1], second.d.n
    local out, into = first.places[2], second.places[1]
    if second.pass or first.pass or first.d.is_column or second.d.load.is_padded
        or second.filled ~= n or second.d.points ~= n then
        return nil
    end
    if out[2] ~= 1 or out[3] ~= row or into[2] ~= row or into[3] ~= 1 or first.levels[2] ~= 1
        or first.levels[3] ~= 1 or second.levels[3] ~= 1 or n % first.d.width ~= 0
        or first.levels[1] ~= n * second.levels[2] then
        return nil
    end
    return { n / first.d.width, math.ceil(row / second.d.width), 1 }
end

-- Returns the units of rows that are crossed and the rest of their columns.
local function units_of_crossed(first, second)
    local q = first.d.crossed
    if second.levels[2] * second.levels[3] ~= first.levels[2] then return nil end
    return { first.levels[1] / q, math.ceil(second.levels[1] / second.d.width), 1 }
end

-- Whether a compute unit holds so few groups of a kernel that none can wait for others.
local function is_large(d) return d.points > 16 * d.items end

local function is_worth_it(first, second)
    return groups.limits.has_relays(first.device) and first.to == second.from
        and first.d.index == 'int' and second.d.index == 'int'
        and not (first.d.aside or second.d.aside or first.d.is_ahead or second.d.is_ahead)
        and not is_large(second.d)
        and first.to.shape.count * first.to.type.size * (second.d.many or 1)
            >= groups.limits.least_of_relays
end

-- Returns how two launches, which follow each other, are done as one: { first: the first one, with
-- the group of the second one, units, lag, tiles: of a unit in each, blocks: see relay.text }; nil
-- if they are not.
function relay.of(first, second)
    if not is_worth_it(first, second) then return nil end
    first = with_group_of(first, second)
    if not first then return nil end
    local units_of = first.d.crossed and units_of_crossed
        or first.pass and second.pass and units_of_passes or units_of_images
    local found = units_of(first, second)
    if not found then return nil end
    local units = tiles_of(first) / found[1]
    if units % 1 ~= 0 or units ~= tiles_of(second) / found[2] then return nil end
    local bytes = first.to.shape.count * first.to.type.size / units
    local lag = math.max(1, math.floor(groups.limits.lag_of_relays / bytes))
    local all = units * (second.d.many or 1)
    if all < 3 or bytes > groups.limits.most_of_relays then return nil end
    second.d.store.is_last = second.d.store.type.complex
    return { first = first, units = units, lag = math.min(lag, units),
        tiles = { found[1], found[2] }, blocks = found[3] }
end

-- ---- the text ----

-- The last arguments of a relay.
local names = { 'units', 'lag', 'tiles_a', 'tiles_b', 'blocks' }

-- Splits the declarations of a kernel's arguments: pointers to both arrays, the table, the others.
-- Each is { with a prefix to the name, the name }.
local function declarations(d, prefix)
    local list = {}
    for text in (ends.arguments(d) .. ', '):gmatch '(.-), ' do
        local type, name = text:match '^(.-)([%w_]+)$'
        list[#list + 1] = { type .. prefix .. name, prefix .. name }
    end
    return list
end

local function write_part(w, d, name)
    w:open(('MR_FN void %s(%s, MR_LOCAL_PTR real *shared, int number)'):format(name,
        ends.arguments(d)))
    gpu.write_body(w, d, 'number')
    w:close()
end

-- Writes a call of a part for tile j of a unit. Units whose tiles lie between those of others come
-- in blocks of so many.
local function write_call(w, name, list, tiles)
    local texts = {}
    for k, one in ipairs(list) do texts[k] = one[2] end
    w:line('%s(%s, shared, unit / blocks * blocks * %s + unit %% blocks + j * blocks);', name,
        table.concat(texts, ', '), tiles)
end

-- Writes which unit and which tile of it number t is, and whether it is one of the second kernel.
local function write_number(w, is_reversed)
    w:line 'int t = (int)taken[0], head = lag * tiles_a, both = tiles_a + tiles_b;'
    w:line 'int middle = (units - lag) * both, unit, j, is_second;'
    w:open 'if (t < head)'
    w:line 'unit = t / tiles_a, j = t - unit * tiles_a, is_second = 0;'
    w:close()
    w:open 'else if (t < head + middle)'
    w:line 't -= head, unit = t / both, j = t - unit * both, is_second = j >= tiles_a;'
    w:line 'if (is_second) j -= tiles_a;'
    w:line 'else unit += lag;'
    w:close()
    w:open 'else'
    w:line 't -= head + middle, unit = t / tiles_b, j = t - unit * tiles_b, is_second = 1;'
    w:line 'unit += units - lag;'
    w:close()
    if is_reversed then w:line 'unit = units - 1 - unit;' end
end

-- Returns the text of a kernel that does two, of descriptions with as many work-items.
-- Its arguments: the arrays of both, their tables, words that are 0: the next number, and the tiles
-- of each unit that are written; the other arguments of both; units, lag, tiles and blocks.
function relay.text(a, b)
    local w = writer.new()
    local count = math.max(gpu.local_of(a), gpu.local_of(b))
    write_part(w, a, 'first_part')
    write_part(w, b, 'second_part')
    local lists, all = { declarations(a, 'a_'), declarations(b, 'b_') }, {}
    for _, at in ipairs { { 1, 2 }, { 3, 3 } } do
        for _, list in ipairs(lists) do
            for k = at[1], at[2] do all[#all + 1] = list[k][1] end
        end
    end
    all[#all + 1] = 'MR_GLOBAL uint *words'
    for _, list in ipairs(lists) do
        for k = 4, #list do all[#all + 1] = list[k][1] end
    end
    for _, name in ipairs(names) do all[#all + 1] = 'int ' .. name end
    w:line('MR_KERNEL MR_GROUP_SIZE(%d, 1, 1)', b.width * b.items)
    w:open(('void transform(%s)'):format(table.concat(all, ', ')))
    gpu.write_local(w, b.real, count)
    w:line 'MR_LOCAL uint taken[1];'
    w:line 'if (mr_lid_x() == 0) taken[0] = mr_atomic_add(words, 1u);'
    w:line 'MR_BARRIER();'
    write_number(w, a.is_reversed)
    w:open 'if (is_second)'
    w:line 'if (mr_lid_x() == 0) while (mr_load_acquire(words + 1 + unit) < (uint)tiles_a) {}'
    w:line 'MR_BARRIER();'
    write_call(w, 'second_part', lists[2], 'tiles_b')
    w:close()
    w:open 'else'
    write_call(w, 'first_part', lists[1], 'tiles_a')
    w:line 'MR_BARRIER();'
    w:open 'if (mr_lid_x() == 0)'
    w:line 'mr_fence();'
    w:line '(void)mr_atomic_add(words + 1 + unit, 1u);'
    w:close()
    w:close()
    w:close()
    return w:text()
end

return relay
