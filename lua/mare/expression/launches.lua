-- Finds the kernel that an expression needs on a device, and launches it. The kernels
-- of a structure are kept with it, by device, and are used for all sizes; their
-- binaries are in core's cache on disk.

local bound = require 'bindings.array'
local errors = require 'bindings.errors'
local memory = require 'mare.expression.memory'
local ptx_kernel = require 'mare.dialect.ptx_kernel'
local reduce_text = require 'mare.expression.reduce_text'
local source_of = require 'mare.base.source'
local tables = require 'bindings.tables'
local text = require 'mare.expression.text'
local tile_text = require 'mare.expression.tile_text'
local tree = require 'mare.expression.tree'

-- in_ptx: whether kernels of CUDA are written in PTX where they can be
local launches = { compiled = 0, run = 0, in_ptx = true }

local under = tables.under

local group = 256       -- work-items of a group on a GPU

-- ---- compilation ----

-- Returns the text of the kernel that the roots need.
function launches.source(roots, device, desc)
    desc.is_cpu = device.info.kind == 'cpu'
    local plan = tree.of(roots)
    -- Random numbers keep work-items busy, which are not to look for an element, too.
    desc.shows = not desc.rank and plan.types[1].size <= 8 and not text.has_random(plan)
        and launches.can_show(device)
    return (desc.tile and tile_text or text).of(plan, desc), plan
end

local function needs_double(plan)
    for _, input in ipairs(plan.inputs) do
        if input.written == 'double' then return true end
    end
    for _, type in ipairs(plan.types) do
        if type.computed == 'double' then return true end
    end
end

-- Returns a program to keep by its device: neither it nor its kernels keep that.
function launches.program(device, description)
    local made = device:program(description)
    made.device = nil
    return made
end

-- Gives a kernel, { entry: that of the program, ... }, a launch. Returns it.
function launches.begin(kernel, device)
    local launch = kernel.entry:launch()
    kernel.launch, kernel.handle, kernel.n, kernel.shown_at = launch, launch.handle, -1, false
    if kernel.is_programmatic then launch:set_programmatic() end
    if kernel.shows then
        kernel.shown_at = kernel.sizes_at + 1
        kernel.landing = bound.landing(device)
        bound.set_memory(launch.handle, kernel.shown_at, kernel.landing.cell)
        bound.set_number(launch.handle, kernel.shown_at + 1, -1)
        bound.set_number(launch.handle, kernel.shown_at + 2, 0)
    end
    return kernel
end

-- Returns a kernel to launch once: with a launch of its own if that is recorded, since a plan
-- replays launches as they are then.
function launches.ready(kernel, device)
    if not bound.is_recording(device) then return kernel end
    return launches.begin(setmetatable({ is_recorded = true }, { __index = kernel }), device)
end

-- Sets an argument of a kernel to the memory of a version, which stays where it is if the launch is
-- recorded.
function launches.set_memory(kernel, at, version)
    bound.set_memory(kernel.handle, at, version.cell)
    if kernel.is_recorded then memory.stay(version) end
end

-- Returns the program of a text that NVIDIA's driver assembles, where the kernel can be written in
-- PTX and the driver takes it: this takes a third of the time of NVRTC, which is not even loaded.
local function assembled(source, plan, device, desc)
    desc.width = text.width(plan)
    local code = not desc.reductions and launches.in_ptx and device.name:find '^cuda:'
        and os.getenv 'MARE_DEBUG' ~= '1' and ptx_kernel.of(plan, desc)
    if not code then return nil end
    local is_taken, found = pcall(launches.program, device, source_of.text(source, 'expression',
        { math = 'strict', code = code, defines = { MR_BRIEF = 1 } }))
    if is_taken then return found end
    if not (errors.is(found) and found.status == 'MARE_ERROR_BUILD') then error(found, 0) end
    return nil
end

-- Returns { launch, handle, numbers_at, sizes_at, ... } of a kernel's text.
local function compile(source, plan, name, device, desc)
    if needs_double(plan) and not device.info.has_double then
        errors.argument('%s computes no doubles: convert to float', device.name)
    end
    local program = assembled(source, plan, device, desc)
        or launches.program(device, source_of.text(source, 'expression',
            { math = 'strict', defines = { MR_BRIEF = desc.is_brief and 1 or nil } }))
    launches.compiled = launches.compiled + 1
    local outputs = desc.reductions and #desc.reductions or #plan.types
    local memories = outputs
    for _, leaf in ipairs(plan.leaves) do
        if not leaf.is_number then memories = memories + 1 end
    end
    return launches.begin({ entry = program:kernel(name), is_cpu = desc.is_cpu,
        is_programmatic = desc.reductions and device.info.has_programmatic,
        outputs = outputs, numbers_at = memories, sizes_at = memories + #plan.numbers,
        numbers = #plan.numbers, width = text.width(plan), units = device.info.compute_units,
        shows = desc.shows }, device)
end

local function elementwise(roots, device, desc)
    local source, plan = launches.source(roots, device, desc)
    return compile(source, plan, 'elementwise', device, desc)
end

-- The metatable of lists by device: they do not keep a device alive.
launches.by_device = { __mode = 'k' }

-- Returns the kernel of flat arrays. mask: bits of the leaves that are a single
-- element
function launches.flat(sig, roots, device, mask, is_wide)
    local kept = under(under(under(sig, 'flat', launches.by_device), device), is_wide)
    local found = kept[mask]
    if not found then
        local ones = {}
        for k = 1, 24 do ones[k] = math.floor(mask / 2 ^ (k - 1)) % 2 == 1 or nil end
        found = elementwise(roots, device, { ones = ones, is_wide = is_wide, is_brief = true })
        kept[mask] = found
    end
    return launches.ready(found, device)
end

-- Returns the kernel of strided arrays with `rank` axes. tile: see tiles.of
function launches.strided(sig, roots, device, rank, is_wide, tile)
    local kept = under(under(under(sig, 'strided', launches.by_device), device), is_wide)
    if tile then kept = under(under(kept, tile.key), tile.side) end
    local found = kept[rank]
    if not found then
        found = elementwise(roots, device, { rank = rank, is_wide = is_wide, tile = tile })
        found.tile = tile
        kept[rank] = found
    end
    return launches.ready(found, device)
end

-- Returns the kernel of a reduction. desc: see reduce_text.of; its key tells its reductions
function launches.reduction(sig, roots, device, desc)
    local kept = under(under(sig, desc.key, launches.by_device), device)
    kept = under(under(under(under(kept, desc.is_wide), desc.is_unit), desc.scheme), desc.kept)
    local found = kept[desc.reduced]
    if not found then
        desc.is_cpu = reduce_text.by_items(device)
        local plan = tree.of(roots)
        found = compile(reduce_text.of(plan, desc), plan, 'reduce', device, desc)
        found.desc = desc
        kept[desc.reduced] = found
    end
    return launches.ready(found, device)
end

-- ---- shapes of launches ----

-- On a CPU a work-item takes at least this many elements.
local least_chunk = 4096

-- Returns how many of n elements a work-item of a CPU takes: a few work-items for
-- each core, each with whole vectors.
local function chunk_of(n, units)
    local chunk = math.max(math.ceil(n / (4 * units)), least_chunk)
    return math.min(math.ceil(chunk / 64) * 64, 2 ^ 30)
end

-- Sets the size of a flat kernel.
function launches.set_count(kernel, n)
    if kernel.n == n then return end
    local at = kernel.sizes_at
    bound.set_number(kernel.handle, at, n)
    if kernel.is_cpu then
        local chunk = chunk_of(n, kernel.units)
        bound.set_number(kernel.handle, at + 1, chunk)
        bound.set_shape(kernel.handle, math.ceil(n / chunk), 1, 1, 1)
    else
        bound.set_shape(kernel.handle, math.ceil(n / kernel.width), 1, group, 1)
    end
    kernel.n = n
end

local most_groups = 2 ^ 20

-- Sets the number of tiles and the shape of a kernel that computes them.
local function set_tiles(kernel, at, sizes, rows)
    local tile = kernel.tile
    local tiles = math.ceil(sizes[1] / tile.side) * math.ceil(sizes[tile.axis] / tile.side)
        * (rows / sizes[tile.axis])
    bound.set_number(kernel.handle, at, tiles)
    bound.set_shape(kernel.handle, math.min(tiles, most_groups) * group, 1, group, 1)
end

local strip = 64        -- elements that a work-item of a CPU takes across the memory of a leaf

-- Whether some leaf has its neighbours along another axis than the innermost one.
local function go_across(layouts, rank)
    for k = 2, rank > 1 and #layouts or 1 do
        local along, next_one = math.abs(layouts[k][2]), math.abs(layouts[k][3])
        if next_one > 0 and next_one < along then return true end
    end
    return false
end

-- is_across: so that a work-item of a CPU takes a strip of all rows, in which the cache lines that
-- it reads for one row are still there for the next
local function strided_shape(kernel, inner, rows, is_across)
    if kernel.is_cpu and is_across then
        local strips = math.ceil(inner / strip)
        return strip, strips, math.max(1, math.min(rows, math.ceil(kernel.units / strips))), 1, 1
    end
    if kernel.is_cpu then
        local chunk = chunk_of(inner, kernel.units)
        local at_once = math.max(1, math.floor(least_chunk / inner))
        return chunk, math.ceil(inner / chunk),
            math.max(1, math.min(math.ceil(rows / at_once), 8 * kernel.units)), 1, 1
    end
    local along = 4
    while along < group and along < inner do along = 2 * along end
    local across = group / along
    return nil, inner, math.min(rows, 65535 * across), along, across
end

-- Sets the sizes of a strided kernel and the strides of what it reads and writes.
-- sizes: along the axes, the last first; layouts: { offset, stride of each axis }
-- of the outputs' places and of each leaf
function launches.set_layout(kernel, sizes, layouts)
    local handle, at, rows = kernel.handle, kernel.sizes_at, 1
    local function add(value)
        bound.set_number(handle, at, value)
        at = at + 1
    end
    for d, size in ipairs(sizes) do
        add(size)
        if d > 1 then rows = rows * size end
    end
    if kernel.tile then
        set_tiles(kernel, at, sizes, rows)
        at = at + 1
    else
        add(rows)
        local chunk, x, y, group_x, group_y = strided_shape(kernel, sizes[1], rows,
            go_across(layouts, #sizes))
        if chunk then add(chunk) end
        bound.set_shape(handle, x, y, group_x, group_y)
    end
    for _, layout in ipairs(layouts) do
        for d = 1, #sizes + 1 do add(layout[d]) end
    end
end

-- Sets the sizes of a reduction. axes: { results, count, blocks }; layout: { kept,
-- reduced, leaves }, sizes and strides
function launches.set_reduction(kernel, axes, layout)
    local handle, at = kernel.handle, kernel.sizes_at
    local function add(value)
        bound.set_number(handle, at, value)
        at = at + 1
    end
    local desc = kernel.desc
    local span = reduce_text.span(desc, axes.results, axes.blocks, kernel.units)
    add(axes.results)
    add(axes.count)
    add(axes.blocks)
    if span then add(span) end
    for _, size in ipairs(layout.kept) do add(size) end
    for _, size in ipairs(layout.reduced) do add(size) end
    for _, list in ipairs(layout.leaves) do
        for _, value in ipairs(list) do add(value) end
    end
    bound.set_shape(handle, reduce_text.shape(desc, axes.results, axes.blocks, span))
end

launches.wanted = false         -- the element that the next launch is to show, if it can
launches.has_shown = false      -- whether it does

-- Returns whether kernels of a device can write into memory of the host, so that a single element
-- is there without a copy. A null device says so for the sake of tests, which compile its texts.
function launches.can_show(device)
    return device.is_null or device.name:find '^cuda:' ~= nil
end

-- Runs a kernel that also shows the wanted element, which is one of its first result's.
local function show(kernel)
    local handle, at, landing = kernel.handle, kernel.shown_at + 1, kernel.landing
    landing.number = landing.number % 2 ^ 31 + 1
    bound.set_number(handle, at, launches.wanted)
    bound.set_number(handle, at + 1, landing.number)
    bound.run(handle)
    bound.set_number(handle, at, -1)
    launches.has_shown = true
end

function launches.queue(kernel)
    launches.run = launches.run + 1
    if launches.wanted and kernel.shown_at then
        show(kernel)
    else
        bound.run(kernel.handle)
    end
end

return launches
