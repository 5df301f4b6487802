-- How a group of a GPU transforms: radices, work-items of a transform, transforms side by side.
-- The shapes of powers of two are measured on an H200; others are found by counting how often
-- work-items exchange points and how many are idle.

local groups = {}

-- By the points of a transform: those that a work-item holds, and the radices; items: work-items of
-- a group, if not as many as others have; per_unit: groups of a compute unit that have registers,
-- of floats, if not as many as the compiler chooses. Of rows:
groups.rows = {
    [2] = { 2, 2 }, [4] = { 4, 4 }, [8] = { 4, 4, 2 }, [16] = { 4, 4, 4 }, [32] = { 4, 4, 4, 2 },
    [64] = { 4, 4, 4, 4 }, [128] = { 8, 8, 4, 4 },
    [256] = { 8, 8, 8, 4 }, [512] = { 8, 8, 8, 8 },
    [1000] = { 10, 10, 10, 10, items = 200, per_unit = 3 },
    [1024] = { 16, 16, 16, 4 }, [2048] = { 16, 16, 16, 8 }, [4096] = { 16, 16, 16, 16 },
    [2187] = { 27, 9, 9, 27 },
    [8192] = { 32, 32, 32, 8 }, [16384] = { 32, 32, 32, 16 },
}

-- Of rows of pairs of real numbers, whose transforms are complex, or made real by a function.
groups.pairs = {
    float = { [128] = { 8, 8, 4, 4, per_unit = 16 },
        [512] = { 16, 16, 16, 2, items = 32, per_unit = 20 },
        [2048] = { 16, 16, 16, 8, per_unit = 5 } },
    double = { [512] = { 16, 16, 8, 4, items = 128 } },
}
groups.spectra = { [512] = { 16, 16, 8, 4, items = 32, per_unit = 18 } }

-- Of columns, whose neighbours fill a group, so that work-items hold more.
groups.columns = {
    [32] = { 8, 8, 4 }, [64] = { 8, 8, 8 }, [128] = { 16, 16, 8 }, [256] = { 16, 16, 16 },
    [512] = { 16, 16, 8, 4 }, [1024] = { 32, 32, 32 },
}

-- Of rows that are crossed (fft/axis.lua), as groups.rows; the last radix divides the points of a
-- work-item as often as a group has rows.
groups.crossed_rows = {
    [1024] = { 16, 16, 16, 4 }, [2048] = { 32, 16, 16, 8 }, [4096] = { 32, 32, 16, 8 },
}

-- By the points of columns, how many rows a group transforms.
groups.crossed_columns = { [1024] = 4, [2048] = 4, [4096] = 4 }

local warp = 32

groups.limits = {
    items_of_rows = 64, items_of_columns = 1024,    -- work-items of a group,
    items_of_large = 256,       -- of which each holds more than 16 points of columns that stay,
    items_of_rest = 512,        -- and of those behind crossed rows
    most_items = 640,           -- of a transform, where it has the choice
    most_local = 116000,        -- bytes of a group, so that a compute unit holds two
    line = 128,                 -- bytes of neighbours that columns are read in,
    line_of_short = 256,        -- of at most 128 points
    few_roots_from = 256,      -- points of rows from which on not all roots are read
    most_in_column = 1024,      -- points of the passes of a long transform
    most_of_columns = 4096,     -- points of columns that one kernel transforms
    most_of_two_texts = 4096,   -- points of a convolution whose two transforms are two texts
    least_width = 4,            -- columns of a group, where there are few: 32 bytes of floats
    units = 66,                 -- half as many as the GPU has that shapes are measured on
    least_ahead = 2 ^ 17,       -- bytes of a tile from which on groups stay
    least_of_relays = 2 ^ 26,   -- bytes of an array from which on kernels are done in relays,
    lag_of_relays = 2 ^ 23,     -- that the first is ahead of the second, roughly,
    most_of_relays = 2 ^ 23,    -- that a unit has at most
}
local limits = groups.limits

-- Whether a device has words that groups share (MR_SCOPES) and lets groups that wait go on.
function limits.has_relays(device)
    local arch = tonumber((device.info.arch or ''):match '^sm_(%d+)')
    return device.name:find '^cuda:' ~= nil and arch ~= nil and arch >= 70
end

-- Whether rows come into local memory by themselves (mr_bulk_fetch).
function limits.has_bulk(device)
    local arch = tonumber((device.info.arch or ''):match '^sm_(%d+)')
    return device.name:find '^cuda:' ~= nil and arch ~= nil and arch >= 90
end

-- ---- radices ----

-- Returns what radices cost: each stage of them, and the work-items that are idle.
local function cost_of(n, radices)
    local items, cost = n / radices[1], 0
    for _, r in ipairs(radices) do
        cost = cost + 1 + math.ceil(n / r / items) * r * items / n
    end
    return cost
end

-- Returns the radices of n, none above `most`, that cost least.
local function cheapest(n, most)
    local best, least, list = { 1 }, nil, {}
    local function try(left, cap)
        if left == 1 and #list > 0 then
            local cost = cost_of(n, list)
            if not least or cost < least then best, least = { unpack(list) }, cost end
        end
        if least and 2 * (#list + 1) >= least then return end
        for r = math.min(cap, left), 2, -1 do
            if left % r == 0 then
                list[#list + 1] = r
                try(left / r, r)
                list[#list] = nil
            end
        end
    end
    try(n, most)
    return best
end

-- Whether there are so few transforms that compute units wait for each other. many: how many
-- times as many there are on all devices; nil: 1
local function is_few(levels, many)
    return levels[1] * levels[2] * levels[3] * (many or 1) < 32 * limits.units
end

-- Whether radices are those of columns.
local function is_like_column(d) return d.is_column or d.is_of_columns end

-- Returns the known shape of a description, or nil.
local function known(d, levels)
    local n = d.points
    if d.crossed then return groups.crossed_rows[n] end
    if not is_like_column(d) or is_few(levels, d.many) and groups.rows[n] then
        local of_pairs = d.real_length and (d.store.type.complex and groups.pairs[d.real]
            or groups.spectra)
        return of_pairs and of_pairs[n] or groups.rows[n]
    end
    return groups.columns[n] or groups.rows[n]
end

-- Sets the radices, whose product is d.points, and how many work-items take part in a transform.
-- Returns the known shape, or an empty one.
local function set_radices(d, levels)
    local n, shape = d.points, known(d, levels)
    if shape then
        d.radices, d.items = { unpack(shape, 2) }, n / shape[1]
        return shape
    end
    d.radices = cheapest(n, n > 8192 and d.real == 'float' and 32 or 16)
    d.items = n / d.radices[1]
    while d.items > limits.most_items do d.items = math.ceil(d.items / 2) end
    return {}
end

-- Returns radices in an order that is the same from both ends, or nil if there is none.
local function symmetric(radices)
    local counts, list, middle = {}, {}, nil
    for _, r in ipairs(radices) do counts[r] = (counts[r] or 0) + 1 end
    for _, r in ipairs(radices) do
        if counts[r] > 1 then
            counts[r] = counts[r] - 2
            list[#list + 1] = r
        elseif counts[r] == 1 then
            counts[r] = 0
            if middle then return nil end
            middle = r
        end
    end
    local half = #list
    list[#list + 1] = middle
    for k = half, 1, -1 do list[#list + 1] = list[k] end
    return list
end

-- ---- groups ----

local function size_of(real) return real == 'double' and 8 or 4 end

-- Returns the most points of a transform, of which local memory holds one part at a time.
function groups.most_points(device, real)
    local most = math.min(device.info.max_local_memory, limits.most_local)
    return math.floor(math.min(most / 1.1, 90000) / size_of(real))
end

-- Returns the most points of a column, of which several neighbours are wanted side by side.
function groups.most_in_column(device, real)
    return math.min(limits.most_in_column, groups.most_points(device, real) / 4)
end

-- Returns how many transforms a group does: of columns enough to read a line of the cache, but
-- fewer where that would leave compute units without a group.
local function width_of(d, device, levels, items)
    local inners = levels[1]
    local most = math.min(device.info.max_local_memory, limits.most_local)
        / (1.1 * d.points * size_of(d.real))
    if not d.is_column then return math.max(1, math.floor(math.min(items / d.items, most))) end
    local line = d.points <= 128 and limits.line_of_short or limits.line
    local width = line / (2 * size_of(d.real))
    local is_large = not d.is_turned and d.points > 16 * d.items
    local most_items = is_large and (d.is_rest and limits.items_of_rest or limits.items_of_large)
        or limits.items_of_columns
    while width > 1 and (width > most or width * d.items > most_items or width >= 2 * inners) do
        width = width / 2
    end
    if is_few(levels) then width = math.min(width, limits.least_width) end
    return width
end

-- Returns how many rows of `row` points a group transforms of those whose columns have n, or nil.
function groups.crossed(row, n, real)
    local q, shape = groups.crossed_columns[n], groups.crossed_rows[row]
    if not q or not shape or real ~= 'float' then return nil end
    local rounds = shape[1] / shape[#shape]
    return rounds % q == 0 and q or rounds % 2 == 0 and q % 2 == 0 and 2 or nil
end

-- Whether each transform is done within a warp.
function groups.is_in_warp(d)
    return not d.is_column and not d.crossed and d.items <= warp and warp % d.items == 0
end

-- Whether local memory has room for so many transforms of a description.
function groups.has_room(d, device, width)
    local most = math.min(device.info.max_local_memory, limits.most_local)
    return 1.1 * width * d.points * size_of(d.real) <= most
end

-- Whether groups are to stay, and to have the next tile come while they transform one: where a
-- compute unit has room for one group alone, and local memory for a tile more. Rows come by 16
-- bytes.
local function is_ahead(d, device)
    local bytes, load = d.width * d.points * size_of(d.real), d.load
    return limits.has_bulk(device) and 2 * bytes >= limits.least_ahead and d.is_whole
        and not d.crossed and 3.1 * bytes + 64 <= device.info.max_local_memory and not d.is_column
        and not d.convolution and load.is_even and load.kind == 'plain' and not load.is_padded
        and load.type.name == 'complex_' .. d.real and 2 * d.n * size_of(d.real) % 16 == 0
end

-- Completes the description d (kernels.lua) of transforms, levels[1] of which are neighbours.
function groups.set(d, device, levels)
    d.is_column = d.load.unit ~= 'axis' and levels[1] > 1
    local shape = set_radices(d, levels)
    d.per_unit = d.real == 'float' and not d.is_column and shape.per_unit or nil
    d.is_turned = d.is_column and d.store.unit == 'axis' and d.store.kind == 'plain'
        and not d.convolution and #d.radices > 1
    local both = d.points > limits.most_of_two_texts and d.convolution and symmetric(d.radices)
    if both then d.radices, d.is_looped = both, true end
    d.width = width_of(d, device, levels, shape.items or limits.items_of_rows)
    if d.crossed then d.width = d.crossed end
    d.is_whole = levels[1] % d.width == 0
    d.is_ahead = is_ahead(d, device)
    d.is_warp = groups.is_in_warp(d)
    d.has_few_roots = d.points >= limits.few_roots_from or is_like_column(d)
        or d.convolution ~= nil
end

return groups
