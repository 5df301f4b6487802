-- Kernels of transforms: which one a description needs, its tables, and its launch. They
-- are kept with the device; their binaries are in core's cache on disk. A description has
--
--     n            points of the transform; of 'split' and 'pairs' pairs of numbers
--     points       points of the stages: n, or those of a convolution
--     radices      of the stages; radices_back: of those of a convolution's second half;
--                  is_looped: whether both are the same, and one text does both
--     convolution  'bluestein' or 'rader': the algorithm; nil if stages do it all
--     real_length  with 'split': 2 n
--     load, store  { kind, type, unit: 'axis' or 'inner' if the stride of that is 1, f: the
--                  script's function, index(k): its index where that is not k }; of load
--                  also length, the whole length of 'hermitian', and is_padded, and is_even:
--                  whether rows begin at even places; is_paired: whether 'pairs' are aligned
--                  as complex numbers are; of store is_last: whether nothing reads soon what
--                  is stored
--     roots, root_bits, root_level     of a part of a longer transform: see tables.lua
--     batch        the number of the transform, where that is not one of all levels
--     is_reversed  whether groups begin with the last tile: what the kernel before has stored last
--                  is still in a cache
--     crossed      how many rows a group transforms and then the columns through these, of
--                  crossed_of points in all; is_ahead: whether groups stay, and the next rows
--                  come while the last ones are transformed
--     is_rest      whether they are columns behind crossed rows
--     is_whole     whether every tile has as many transforms as the width says
--     depth        of the levels, up to 3: those behind have one transform each
--     is_inverse; real: 'float' or 'double'; index: the type of places in arrays
--     width        transforms that a tile has; on a GPU items: work-items of one;
--                  is_column: whether neighbouring work-items have neighbouring transforms, and
--                  is_turned: whether these are stored as rows; is_warp: whether each is done
--                  within a warp; has_few_roots: see tables.lua
--     many, is_of_columns     of a share of a divided array, whose radices are those of the
--                  whole one: how many times as many transforms that has; whether they are columns
--     numbers      names of what the script's functions get besides
--     filter       with convolution 'filter': the script's function of what is transformed;
--                  aside: that of bytes beside
--     per_unit     groups of a compute unit that have registers, or nil
--     square       how many rows the square has that a processor's row is, or nil;
--                  columns_radices, rows_radices: of its dimensions
--     is_cpu, tables

local bound = require 'bindings.array'
local cpu = require 'mare.stages.cpu'
local errors = require 'bindings.errors'
local expression = require 'mare.expression.launches'
local gpu = require 'mare.stages.gpu'
local interpreted = require 'mare.base.interpreted'
local kept_texts = require 'mare.expression.kept'
local nodes = require 'mare.expression.nodes'
local relay = require 'mare.stages.relay'
local source_of = require 'mare.base.source'
local straight = require 'mare.expression.straight'
local tables = require 'mare.stages.tables'
local tables_of = require 'bindings.tables'

local kernels = { compiled = 0 }

-- ---- which kernel ----

local function end_key(list, part)
    for _, name in ipairs { 'kind', 'unit', 'length', 'is_padded', 'is_paired', 'index_key',
        'is_last' } do
        list[#list + 1] = tostring(part[name])
    end
    list[#list + 1] = part.type.name
end

-- Returns a text that differs if two descriptions differ in more than the script's functions.
local function key_of(d)
    local list = {}
    for _, name in ipairs { 'n', 'points', 'convolution', 'real_length', 'roots', 'root_level',
        'batch', 'is_column', 'is_inverse', 'real', 'index', 'width', 'is_cpu', 'depth', 'is_whole',
        'is_reversed', 'items', 'is_turned', 'is_looped', 'is_ahead', 'crossed', 'crossed_of',
        'per_unit', 'square' } do
        list[#list + 1] = tostring(d[name])
    end
    end_key(list, d.load)
    end_key(list, d.store)
    list[#list + 1] = table.concat(d.radices, ',')
    list[#list + 1] = tostring(d.has_few_roots)
    if d.numbers then list[#list + 1] = table.concat(d.numbers, ',') end
    return table.concat(list, ' ')
end

-- ---- compilation ----

local function written(list)
    if list[2] then return relay.text(list[1], list[2]) end
    return (list[1].is_cpu and cpu or gpu).text(list[1])
end

-- Returns the text of the kernel that one description needs, or of the relay of two, and sets their
-- tables. Nothing of the trees and lines is garbage before the end: to look for it takes a quarter
-- of the time.
local function source(list)
    local collects = collectgarbage 'isrunning'
    for _, d in ipairs(list) do d.tables = d.tables or tables.of(d) end
    collectgarbage 'stop'
    local ok, text = pcall(interpreted, written, list)
    if collects then collectgarbage 'restart' end
    return ok and text or error(text, 0)
end

local on_disk = kept_texts.of('fft', { 'stages', 'dialect' })
local unkept = {}       -- texts by key, to be kept when compilers are at work

-- Returns the text of a kernel from the disk if it is there, else as source does. key: nil, or all
-- that the text follows from
local function source_from_disk(list, key)
    if not key then return source(list) end
    for _, d in ipairs(list) do d.tables = tables.of(d) end
    local text = unkept[key] or on_disk.find(key)
    if not text then
        text = source(list)
        unkept[key] = text
    end
    return text
end

local function keep_texts()
    for key, text in pairs(unkept) do on_disk.keep(key, text) end
    unkept = {}
end

-- Returns the memory with the table of a description.
local function table_of(d, device)
    local numbers = tables.numbers(d.tables, d.is_cpu)
    local size, width = math.max(#numbers, 2), d.real == 'double' and 8 or 4
    local cell = bound.lone(device, d.is_cpu and d.real or 'complex_' .. d.real, size * width)
    if #numbers > 0 then
        bound.upload(cell, d.real, bound.from_table('fft', numbers, d.real), #numbers)
    end
    return cell
end

-- Whether the text of a kernel follows from its key, and another process may want it.
local function is_lasting(list, device)
    for _, d in ipairs(list) do
        if d.load.f or d.store.f or d.filter or d.aside then return false end
    end
    return not device.is_null
end

-- Returns what device:program is asked for.
local function program_of(list, device, key)
    local text = source_from_disk(list, is_lasting(list, device) and key)
    local is_alone = not list[2]        -- relays have other groups
    return source_of.text(text, 'fft', { math = 'strict', defines = { MARE_REAL = list[1].real,
        MR_GROUPS_PER_UNIT = is_alone and list[1].per_unit or nil } })
end

local function compile(list, device, key)
    local d = list[#list]
    if d.real == 'double' and not device.info.has_double then
        errors.argument('fft: %s computes no doubles: convert to float', device.name)
    end
    local program = expression.program(device, program_of(list, device, key))
    keep_texts()
    kernels.compiled = kernels.compiled + 1
    local cells = {}
    for k, one in ipairs(list) do cells[k] = table_of(one, device) end
    return expression.begin({ entry = program:kernel 'transform', tables = cells,
        width = d.width, group = d.is_cpu and 1 or d.width * d.items, is_cpu = d.is_cpu,
        units = device.info.compute_units }, device)
end

local kept = setmetatable({}, expression.by_device)     -- by device, functions and key
local none = {}                                         -- instead of a function

-- Returns the list in which the kernel of one description or two is, and its key there.
local function place_of(list, device)
    local under, keys = tables_of.under, {}
    local found = under(kept, device)
    for k, d in ipairs(list) do
        for _, f in ipairs { d.load.f or none, d.store.f or none, d.filter or none,
            d.aside or none } do
            found = under(found, f, expression.by_device)
        end
        keys[k] = key_of(d)
    end
    return found, table.concat(keys, ' | ')
end

-- Returns the kernel. sequence: nil, or that which it is of: where a kernel must be compiled, all
-- those of the sequence are begun, side by side
local function kernel_of(list, device, sequence)
    local found, key = place_of(list, device)
    if not found[key] then
        local look_ahead = sequence and sequence.look_ahead
        if look_ahead then
            sequence.look_ahead = nil
            look_ahead()
        end
        found[key] = compile(list, device, key)
    end
    return found[key]
end

-- ---- launches ----
--
-- A launch is { d: its description, device, from, to: leaves, levels: numbers of transforms along
-- the three levels, places: for in and out { offset, stride of points, strides of the levels },
-- filled, scale, values: of numbers, by name; aside: the leaf that bytes go to; pass, apart: see
-- axis.lua }.

-- Queues a launch, and drops the memory of its first arguments.
local function run(kernel, device, last)
    bound.run(kernel.handle)
    straight.let_go(kernel, device, last)
end

-- Returns how many tiles a work-item takes.
local function chunk_of(kernel, tiles)
    if not kernel.is_cpu then return 1 end
    return math.max(1, math.ceil(tiles / (8 * kernel.units)))
end

-- Sets the numbers of a launch from argument `at` on. Returns the next argument, tiles and chunk.
local function set_numbers(kernel, at, launch, width)
    local handle, levels = kernel.handle, launch.levels
    local function add(value)
        bound.set_number(handle, at, value)
        at = at + 1
    end
    local tiles = math.ceil(levels[1] / width) * levels[2] * levels[3]
    local chunk = chunk_of(kernel, tiles)
    for _, value in ipairs { levels[1], levels[2], tiles, chunk, launch.filled } do add(value) end
    for _, place in ipairs(launch.places) do
        for k = 1, 5 do add(place[k]) end
    end
    add(launch.scale)
    for _, name in ipairs(launch.d.numbers or {}) do add(launch.values[name]) end
    return at, tiles, chunk
end

local function run_one(launch, sequence)
    local kernel = expression.ready(kernel_of({ launch.d }, launch.device, sequence), launch.device)
    local handle = kernel.handle
    expression.set_memory(kernel, 0, launch.from.version)
    expression.set_memory(kernel, 1, launch.to.version)
    local aside = launch.aside
    if aside then expression.set_memory(kernel, 2, aside.version) end
    local at = aside and 3 or 2
    bound.set_memory(handle, at, kernel.tables[1])
    local _, tiles, chunk = set_numbers(kernel, at + 1, launch, kernel.width)
    local count = math.ceil(tiles / chunk)
    if launch.d.is_ahead then count = math.min(count, kernel.units) end
    bound.set_shape(handle, count * kernel.group, 1, kernel.group, 1)
    run(kernel, launch.device, at - 1)
end

-- Runs two launches as one. both: what relay.of returned
local function run_relay(first, second, both, sequence)
    local device = first.device
    local kernel = expression.ready(kernel_of({ first.d, second.d }, device, sequence), device)
    local handle, words = kernel.handle, both.units + 1
    local cell, bytes = bound.allocate(device, 'uint32', 4 * words), 4 * words
    bound.clear(cell, bytes)
    for k, leaf in ipairs { first.from, first.to, second.from, second.to } do
        expression.set_memory(kernel, k - 1, leaf.version)
    end
    for k, own in ipairs { kernel.tables[1], kernel.tables[2], cell } do
        bound.set_memory(handle, k + 3, own)
    end
    local at, tiles, others
    at, tiles = set_numbers(kernel, 7, first, first.d.width)
    at, others = set_numbers(kernel, at, second, second.d.width)
    for k, value in ipairs { both.units, both.lag, both.tiles[1], both.tiles[2], both.blocks } do
        bound.set_number(handle, at + k - 1, value)
    end
    bound.set_shape(handle, (tiles + others) * kernel.group, 1, kernel.group, 1)
    run(kernel, device, 6)
    bound.free(device, cell, bytes)
end

-- ---- sequences ----

-- A sequence holds a launch back until the next one is known, which may be done together with it.
-- given: nothing; or { look_ahead: a function that goes through all launches of the sequence with
-- another one, of is_ahead, which begins to compile what is missing }; or { texts: a list that gets
-- the texts of kernels, which are not run }
function kernels.sequence(given)
    return { held = nil, count = 0, texts = given.texts, is_ahead = given.is_ahead,
        look_ahead = given.look_ahead }
end

local function emit(sequence, first, second, both)
    local list = { first.d, second and second.d }
    if sequence.texts then
        table.insert(sequence.texts, source(list))
    elseif sequence.is_ahead then
        local found, key = place_of(list, first.device)
        if not found[key] then first.device:prepare(program_of(list, first.device, key)) end
    elseif second then
        run_relay(first, second, both, sequence)
    else
        run_one(first, sequence)
    end
end

local function release(launch)
    nodes.release(launch.from)
    nodes.release(launch.to)
end

-- Queues what a sequence holds back.
function kernels.finish(sequence)
    local held = sequence.held
    if not held then return end
    sequence.held = nil
    emit(sequence, held)
    release(held)
end

-- Queues a launch, or holds it back. sequence: nil if it is alone
function kernels.queue(sequence, launch)
    if not sequence then return run_one(launch) end
    sequence.count = sequence.count + 1
    launch.d.is_reversed = sequence.count % 2 == 0
    local held = sequence.held
    local both = held and relay.of(held, launch)
    if both then
        sequence.held = nil
        emit(sequence, both.first, launch, both)
        return release(held)
    end
    kernels.finish(sequence)
    launch.from.refs = launch.from.refs + 1
    launch.to.refs = launch.to.refs + 1         -- it may be the same leaf
    sequence.held = launch
end

return kernels
